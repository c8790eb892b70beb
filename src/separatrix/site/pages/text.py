"""What templates write the same way everywhere: numbers, addresses, code, and the words of badges and verdicts.

Thousands have commas, powers of two raised exponents, percentages one digit.
"""

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from separatrix.site.pages.formulas import equation, prose

if TYPE_CHECKING:
    from markupsafe import Markup

VERSION_SLOT = "<!--version-->"
"""Replaced by the version that made the results, which the frame of a page knows."""
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: int | None) -> str:
    """Write a whole number with commas, a dash for none.

    >>> number(1048576), number(None)
    ('1,048,576', '–')
    """
    return "–" if value is None else f"{value:,}"


def task_address(name: str) -> str:
    """Return the page of a task; a server shows ``index.html`` for the folder itself, so no task may have it.

    >>> task_address("index-lookup"), task_address("index")
    ('tasks/index-lookup.html', 'tasks/index-task.html')
    """
    return f"tasks/{'index-task' if name == 'index' else name}.html"


def length_text(value: int) -> str:
    """Write a length, as a power of two where it is one.

    >>> length_text(1024), length_text(12)
    ('2¹⁰ = 1,024', '12')
    """
    exponent = value.bit_length() - 1
    return f"2{str(exponent).translate(RAISED)} = {value:,}" if value == 1 << exponent and value > 8 else f"{value:,}"


def short(value: int) -> str:
    """Write a number on an axis.

    >>> [short(1 << power) for power in (4, 12, 20, 31)]
    ['16', '4k', '1M', '2G']
    """
    power = (value.bit_length() - 1) // 10
    return f"{value >> 10 * power}{'kMGTPE'[power - 1] if power else ''}"


def percent(share: float) -> str:
    """Write a share as a percentage.

    >>> percent(0.9987)
    '99.9 %'
    """
    return f"{100 * share:.1f} %"


def counted(count: int, thing: str) -> str:
    """Write a number of things.

    >>> counted(1, "bit"), counted(1500, "bit")
    ('1 bit', '1,500 bits')
    """
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def points(value: float, kind: str) -> str:
    """Write a percentage, or a difference of two with its sign."""
    return f"{value:+z.1f}" if kind == "difference" else f"{value:.1f}"


def slug(verdict: str) -> str:
    """Return the class of a verdict in the style."""
    return verdict.replace(" ", "-")


def cut(text: str, most: int = 160) -> str:
    """Return the start of a long text."""
    return text if len(text) <= most else f"{text[:most]}…"


def code(text: str) -> "Markup":
    """Set text as code; words with hyphens, such as options, are kept whole, for a browser would break them there.

    >>> str(code("certify --length 4"))
    '<code>certify <span>--length</span> 4</code>'
    """
    from markupsafe import Markup, escape

    whole = re.sub(r"\S*-\S*", r"<span>\g<0></span>", str(escape(text)))
    return Markup(f"<code>{whole}</code>")


def with_code(text: str) -> "Markup":
    """Set what is between backticks as code.

    >>> str(with_code("`a < b` runs it"))
    '<code>a &lt; b</code> runs it'
    """
    from markupsafe import Markup, escape

    pieces = re.split(r"`([^`]+)`", text)
    return Markup("").join(code(each) if place % 2 else escape(each) for place, each in enumerate(pieces))


def with_errata(markup: str, root: str) -> str:
    """Lead the numbers of errata in the text of a page to their entries; ``root`` leads to the top of the site.

    What is in links, code and scripts is left alone.

    >>> with_errata("corrected (E11), <code>E11</code>", "../")
    'corrected (<a href="../errata.html#E11">E11</a>), <code>E11</code>'
    """
    pieces = re.split(r"(<(a|code|script|h\d)\b.*?</\2>|<[^>]*>)", markup, flags=re.DOTALL)
    # Text, the piece that is left alone, the name of its tag, and again.
    for place in range(0, len(pieces), 3):
        pieces[place] = re.sub(r"\bE[1-9]\d?\b", rf'<a href="{root}errata.html#\g<0>">\g<0></a>', pieces[place])
    return "".join(piece for place, piece in enumerate(pieces) if place % 3 != 2)


def figure_slot(name: str) -> "Markup":
    """Return the place of a figure, which the frame of a page fills."""
    from markupsafe import Markup

    return Markup(f"<!--figure:{name}-->")


def files_slot(name: str) -> "Markup":
    """Return the place of links to the files of a figure, without the figure itself."""
    from markupsafe import Markup

    return Markup(f"<!--files:{name}-->")


FILTERS: Mapping[str, Callable[..., object]] = {
    each.__name__: each
    for each in (
        number, task_address, length_text, percent, counted, points, slug, cut, code, with_code, equation, prose,
    )
}  # fmt: skip


def words() -> dict[str, Any]:
    """Return the words and signs that templates name."""
    from markupsafe import Markup

    from separatrix.site.origin import MEANINGS
    from separatrix.site.pages.cells import MARK_OF, TITLES, UNKNOWN
    from separatrix.site.sections.separation import SIGNS
    from separatrix.training import RULE

    return {
        "MEANINGS": MEANINGS, "MARKS": MARKS, "MARK_OF": MARK_OF, "TITLES": TITLES, "UNKNOWN": UNKNOWN, "SIGNS": SIGNS,
        "RULE": RULE, "VERSION": Markup(VERSION_SLOT), "figure": figure_slot, "files": files_slot,
    }  # fmt: skip


MARKS = {"proved": "✓", "verified": "≡", "measured": "∘", "recorded": "▤", "formula": "ƒ", "printed": "¶"}
"""A sign on each badge, so that nothing depends on colour."""
