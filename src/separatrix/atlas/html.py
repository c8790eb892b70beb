"""The page around the sections: one self-contained HTML file, readable without JavaScript, light and dark.

Colours keep a contrast of at least 4.5:1 on their background in both schemes (WCAG AA).
"""

import re
from collections.abc import Iterable, Sequence
from html import escape

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #ffffff; --soft: #57606a; --line: #d0d7de; --tint: #f3f5f8;
        --link: #0550ae; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --paper: #0d1117; --soft: #9aa6b2; --line: #30363d; --tint: #161b22; --link: #79c0ff; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem clamp(1rem, 4vw, 3rem) 4rem; max-width: 76rem; color: var(--ink);
       background: var(--paper); font: 1rem/1.55 system-ui, sans-serif; }
h1 { font-size: 2rem; margin: 0 0 .25rem; } h2 { margin: 3rem 0 .75rem; border-bottom: 1px solid var(--line); }
a { color: var(--link); } p.lead { color: var(--soft); max-width: 48rem; margin-top: 0; }
nav ul { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .4rem 1.25rem; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: .92rem; min-width: 40rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; }
td:first-child { white-space: nowrap; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--soft); padding-bottom: .5rem; }
code, pre { font: .88rem/1.4 ui-monospace, "DejaVu Sans Mono", monospace; }
pre { background: var(--tint); padding: .75rem 1rem; overflow-x: auto; border-radius: .4rem; }
details { border-bottom: 1px solid var(--line); padding: .35rem 0; } summary { cursor: pointer; font-weight: 600; }
summary span { font-weight: 400; color: var(--soft); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; }
dt { color: var(--soft); } dd { margin: 0; } figure { margin: 1.5rem 0; max-width: 48rem; }
figure svg { width: 100%; height: auto; background: #ffffff; border-radius: .4rem; }
figcaption { color: var(--soft); font-size: .92rem; }
footer { margin-top: 4rem; color: var(--soft); font-size: .88rem; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
@media print { nav { display: none; } details > * { display: block; } }
"""


def table(
    headings: Sequence[str],
    rows: Iterable[Sequence[object]],
    caption: str = "",
    numbers: Sequence[int] = (),
    links: Sequence[str] = (),
) -> str:
    """An HTML table; cells are text and are escaped, columns in ``numbers`` are aligned to the right.

    ``links`` gives the first cell of each row a target.
    """

    def cell(tag: str, column: int, value: object) -> str:
        kind = ' class="number"' if column in numbers else ""
        scope = ' scope="col"' if tag == "th" else ""
        return f"<{tag}{scope}{kind}>{escape(str(value))}</{tag}>"

    head = "".join(cell("th", column, heading) for column, heading in enumerate(headings))
    lines = ["".join(cell("td", column, value) for column, value in enumerate(row)) for row in rows]
    for number, target in enumerate(links):
        before, inside, after = re.split(r"(?<=<td>)(.*?)(?=</td>)", lines[number], maxsplit=1)
        lines[number] = f'{before}<a href="{escape(target)}">{inside}</a>{after}'
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f'<div class="scroll"><table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


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
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>"
        f'<header><h1>{escape(title)}</h1><p class="lead">{escape(lead)}</p>'
        f'<nav aria-label="Sections"><ul>{links}</ul></nav></header>'
        f"<main>{body}</main><footer><p>{escape(footer)}</p></footer></body></html>\n"
    )
