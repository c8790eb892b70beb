"""The small pieces that pages are made of: numbers, badges, origins, lists, commands, figures.

Everything here turns plain data into HTML; text is escaped, numbers are written the same way everywhere: thousands by
commas, powers of two with raised exponents, percentages with one digit.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from separatrix.site.origin import MEANINGS
from separatrix.site.section import Figure, Results

VERSION_SLOT = "<!--version-->"
"""Replaced by the version that made the results, which the shell of a page knows."""
MARKS = {"proved": "✓", "verified": "≡", "measured": "∘", "recorded": "▤", "formula": "ƒ", "printed": "¶"}
"""A sign on each badge, so that nothing depends on colour."""
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: int) -> str:
    """A whole number with commas.

    >>> number(1048576)
    '1,048,576'
    """
    return f"{value:,}"


def task_address(name: str) -> str:
    """The page of a task; a server shows ``index.html`` for the folder itself, so no task may have it.

    >>> task_address("index-lookup"), task_address("index")
    ('tasks/index-lookup.html', 'tasks/index-task.html')
    """
    return f"tasks/{'index-task' if name == 'index' else name}.html"


def length_text(value: int) -> str:
    """A length, as a power of two where it is one.

    >>> length_text(1024), length_text(12)
    ('2¹⁰ = 1,024', '12')
    """
    exponent = value.bit_length() - 1
    return f"2{str(exponent).translate(RAISED)} = {value:,}" if value == 1 << exponent and value > 8 else f"{value:,}"


def percent(share: float) -> str:
    """A share as a percentage.

    >>> percent(0.9987)
    '99.9 %'
    """
    return f"{100 * share:.1f} %"


def counted(count: int, thing: str) -> str:
    """A number of things in words.

    >>> counted(1, "bit"), counted(1500, "bit")
    ('1 bit', '1,500 bits')
    """
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def badge(kind: str) -> str:
    """What kind of evidence is behind a number."""
    word, meaning = MEANINGS[kind]
    return (
        f'<span class="badge badge-{kind}" title="{escape(meaning, quote=True)}">'
        f'<span aria-hidden="true">{MARKS[kind]}</span> {escape(word)}</span>'
    )


def origin_line(origin: Results) -> str:
    """Where a number or a figure comes from: badge, reach, arithmetic, seed, version and the command.

    What is printed in a paper was not computed here, so it has its source alone.
    """
    if origin["kind"] == "printed":
        return f'<p class="origin" data-origin="printed">{badge("printed")} <span>{escape(origin["reach"])}</span></p>'
    parts = [
        origin["reach"],
        f"arithmetic: {origin['arithmetic']}" if origin["arithmetic"] else "",
        "" if origin["seed"] is None else f"seed {origin['seed']}",
    ]
    version = f"separatrix {escape(origin['version']) if origin['version'] else VERSION_SLOT}"
    words = " · ".join([*(escape(each) for each in parts if each), version])
    return (
        f'<p class="origin" data-origin="{origin["kind"]}">{badge(origin["kind"])} <span>{words}</span> '
        f"{code(origin['command'])}</p>"
    )


def code(text: str) -> str:
    """Text as code; words with hyphens, such as options, are kept whole, for a browser would break them there.

    >>> code("certify --length 4")
    '<code>certify <span>--length</span> 4</code>'
    """
    whole = re.sub(r"\S*-\S*", r"<span>\g<0></span>", escape(text))
    return f"<code>{whole}</code>"


def command_block(command: str) -> str:
    """A command to copy."""
    return f'<pre class="command">{code(command)}</pre>'


def with_code(text: str) -> str:
    """Text in which what is between backticks is code.

    >>> with_code("`a < b` runs it")
    '<code>a &lt; b</code> runs it'
    """
    pieces = re.split(r"`([^`]+)`", text)
    return "".join(code(piece) if place % 2 else escape(piece) for place, piece in enumerate(pieces))


def with_errata(markup: str, root: str) -> str:
    """HTML in whose text the numbers of errata lead to their entries; ``root`` leads to the top of the site.

    What is in links, code and scripts is left alone.

    >>> with_errata("corrected (E11), <code>E11</code>", "../")
    'corrected (<a href="../errata.html#E11">E11</a>), <code>E11</code>'
    """
    pieces = re.split(r"(<(a|code|script|h\d)\b.*?</\2>|<[^>]*>)", markup, flags=re.DOTALL)
    # Text, the piece that is left alone, the name of its tag, and again.
    for place in range(0, len(pieces), 3):
        pieces[place] = re.sub(r"\bE[1-9]\d?\b", rf'<a href="{root}errata.html#\g<0>">\g<0></a>', pieces[place])
    return "".join(piece for place, piece in enumerate(pieces) if place % 3 != 2)


def index_list(entries: Iterable[tuple[str, str, str]]) -> str:
    """Links to the parts of a page: (anchor, title, a quiet remark)."""
    lines = "".join(
        f'<li><a href="#{escape(anchor)}">{escape(title)}</a> <span class="quiet">{escape(remark)}</span></li>'
        for anchor, title, remark in entries
    )
    return f'<ol class="index">{lines}</ol>'


def definitions(facts: Mapping[str, str]) -> str:
    """Terms and what they are; empty ones are left out."""
    listed = "".join(f"<dt>{escape(key)}</dt><dd>{escape(value)}</dd>" for key, value in facts.items() if value)
    return f"<dl>{listed}</dl>" if listed else ""


def sign_list(items: Iterable[tuple[bool, str, Results]]) -> str:
    """Evidence: whether it holds, what it says, its origin."""
    lines = "".join(
        f'<li class="{"holds" if holds else "fails"}">{badge(origin["kind"])} '
        f"{'' if holds else '<strong>refuted:</strong> '}{with_code(text)}</li>"
        for holds, text, origin in items
    )
    return f'<ul class="evidence">{lines}</ul>' if lines else ""


def missing(text: str, command: str = "") -> str:
    """An empty state: what is not there, and how to make it."""
    return f'<div class="missing"><p>{escape(text)}</p>{command_block(command) if command else ""}</div>'


def part(anchor: str, heading: str, body: str) -> str:
    """A part of a page under a heading."""
    return (
        f'<section id="{anchor}" aria-labelledby="{anchor}-heading"><h2 id="{anchor}-heading">{escape(heading)}</h2>'
        f"{body}</section>"
    )


def figure_slot(name: str) -> str:
    """Where a figure of this name is to be."""
    return f"<!--figure:{name}-->"


def files_slot(name: str) -> str:
    """Where links to the files of a figure are to be, without the figure itself."""
    return f"<!--files:{name}-->"


def files_html(figure: Figure, root: str) -> str:
    """Links to the files of a figure."""
    return " · ".join(
        f'<a href="{root}figures/{escape(figure.name)}.{suffix}">{suffix.upper()}</a>' for suffix in ("svg", "png")
    )


def figure_html(figure: Figure, root: str) -> str:
    """A figure with its caption, links to its files, and its origin; ``root`` leads to the top of the site."""
    drawn = figure.inline or figure.svg
    kind = "figure" if figure.inline else "figure on-white"
    # The width it was drawn at, in points: text keeps about its size whatever the width of the page.
    size = re.search(r'viewBox="0 0 ([\d.]+)', drawn)
    style = f' style="--drawn:{float(size[1]):.0f}"' if size else ""
    caption = escape(figure.caption)
    return (
        f'<figure class="{kind}" id="figure-{escape(figure.name)}"{style}><div class="canvas" role="img" '
        f'aria-label="{escape(figure.caption, quote=True)}" tabindex="0">{drawn}</div>'
        f'<figcaption>{caption} <span class="files">{files_html(figure, root)}</span></figcaption>'
        f"{origin_line(figure.origin) if figure.origin else ''}</figure>"
    )


def link_list(links: Sequence[tuple[str, str]]) -> str:
    """Links side by side: (text, address)."""
    return ", ".join(f'<a href="{escape(address)}">{escape(text)}</a>' for text, address in links)


def plain_rows(rows: Iterable[Sequence[Any]]) -> list[list[str]]:
    """Cells of a table as text, whole numbers with commas."""
    return [[number(each) if type(each) is int else "–" if each is None else str(each) for each in row] for row in rows]
