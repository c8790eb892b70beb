"""The glossary as a page of the atlas, from the text that the documentation shows.

The text is Markdown of a few kinds: headings, tables, and in lines code, emphasis and links. It is kept next to the
site's files, because a package that is installed has no documentation; a test compares the two.
"""

import re
from html import escape

from separatrix.site.html import asset
from separatrix.site.pages.shell import Page
from separatrix.site.pages.text import code

FILE = "glossary.md"
PATH, TITLE = "glossary.html", "Glossary"
PAGES = {"errata.md": "errata.html", "sign-codes.md": "sign-codes.html"}
"""Pages of the documentation that the atlas has as well.

Other links are left out: their text stays, unless it is in brackets of its own to say where to read on."""


def glossary_page() -> Page:
    """Return the page."""
    return Page(PATH, TITLE, "The words that the atlas uses without explaining them each time.", converted(asset(FILE)))


def converted(text: str) -> str:
    """Return headings of the second level and tables as HTML; the title and what is before the first heading are not.

    >>> converted("# T\\n\\n## A\\n\\n| word | is |\\n|---|---|\\n| N | a *length* |\\n").count("<td>")
    2
    """
    rows: list[list[str]] = []
    lines = "".join(text.partition("\n## ")[1:]).splitlines()
    made: list[str] = []
    for line in [*lines, ""]:
        if line.startswith("|"):
            rows.append([each.strip() for each in re.split(r"(?<!\\)\|", line.strip("|"))])
            continue
        if rows:
            made.append(_table(rows))
            rows = []
        if line.startswith("## "):
            made.append(f"<h2>{escape(line[3:])}</h2>")
        elif line:
            made.append(f"<p>{inline(line)}</p>")
    return "".join(made)


def _table(rows: list[list[str]]) -> str:
    head = "".join(f'<th scope="col">{inline(each)}</th>' for each in rows[0])
    body = "".join(f"<tr>{''.join(f'<td>{inline(each)}</td>' for each in row)}</tr>" for row in rows[2:])
    whole = f'<table class="glossary"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'
    return f'<div class="scroll" tabindex="0">{whole}</div>'


def inline(text: str) -> str:
    """Return code, links and emphasis of one line as HTML.

    >>> inline("`a|b`, *so*, [the errata](errata.md), [more](other.md)")
    '<code>a|b</code>, <em>so</em>, <a href="errata.html">the errata</a>, more'
    >>> inline("codes ([sign codes](sign-codes.md)), numbers ([precision](other.md))")
    'codes (<a href="sign-codes.html">sign codes</a>), numbers'
    """
    pieces = re.split(r"`([^`]+)`", text.replace("\\|", "|"))
    return "".join(code(piece) if place % 2 else _words(piece) for place, piece in enumerate(pieces))


def _words(text: str) -> str:
    def link(found: re.Match[str]) -> str:
        address = PAGES.get(found[2])
        return found[1] if address is None else f'<a href="{address}">{found[1]}</a>'

    def pointer(found: re.Match[str]) -> str:
        return found[0] if found[1] in PAGES else ""

    pointed = re.sub(r" \(\[[^\]]+\]\(([^)]+)\)\)", pointer, escape(text))
    linked = re.sub(r"\[([^\]]+)\]\(([^)]+)\)", link, pointed)
    return re.sub(r"\*([^*]+)\*", r"<em>\1</em>", linked)
