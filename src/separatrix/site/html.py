"""Tables as HTML, the site's shared files, and a single page that needs nothing else, for single figures.

The site's own pages share their style as a file; a page made here carries it inside. Colours keep a contrast of at
least 4.5:1 on their background, light and dark (WCAG AA).
"""

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files


def table(
    headings: Sequence[str],
    rows: Iterable[Sequence[object]],
    caption: str = "",
    numbers: Sequence[int] = (),
    links: Sequence[str] = (),
    commands: Sequence[int] = (),
) -> str:
    """An HTML table; cells are text and are escaped, columns in ``numbers`` are aligned to the right.

    ``links`` gives the first cell of each row a target; columns in ``commands`` are set as code.

    >>> table(("N", "width"), [(16, 5)], numbers=(0, 1), links=["#a"]).count("<a href=")
    1
    """
    right = set(numbers)

    def cell(tag: str, column: int, value: object, target: str | None = None) -> str:
        kind = ' class="number"' if column in right else ""
        scope = ' scope="col"' if tag == "th" else ""
        inside = escape(f"{value:,}" if type(value) is int and column in right else str(value))
        inside = f"<code>{inside}</code>" if tag == "td" and column in commands else inside
        inside = inside if target is None else f'<a href="{escape(target)}">{inside}</a>'
        return f"<{tag}{scope}{kind}>{inside}</{tag}>"

    head = "".join(cell("th", column, heading) for column, heading in enumerate(headings))
    body = ""
    for place, row in enumerate(rows):
        target = links[place] if place < len(links) else None
        line = "".join(cell("td", column, value, None if column else target) for column, value in enumerate(row))
        body += f"<tr>{line}</tr>"
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    whole = f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="scroll" tabindex="0">{whole}</div>'


def asset(name: str) -> str:
    """The text of a file that all pages of the site share, such as its style."""
    return files("separatrix.site.pages").joinpath("assets", name).read_text(encoding="utf-8")


def page(title: str, lead: str, sections: Iterable[tuple[str, str, str]], footer: str) -> str:
    """The whole page from (anchor, heading, HTML body) of its sections; ``lead`` and ``footer`` are plain text."""
    parts = list(sections)
    links = "".join(f'<li><a href="#{escape(anchor)}">{escape(heading)}</a></li>' for anchor, heading, _ in parts)
    body = "".join(
        f'<section id="{escape(anchor)}"><h2>{escape(heading)}</h2>{html}</section>' for anchor, heading, html in parts
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{asset('site.css')}</style></head><body>"
        f'<header class="top"><nav aria-label="Sections"><ul>{links}</ul></nav></header>'
        f'<main id="main"><div class="heading"><h1>{escape(title)}</h1><p class="lead">{escape(lead)}</p></div>{body}'
        f'</main><footer class="bottom"><p>{escape(footer)}</p></footer></body></html>\n'
    )
