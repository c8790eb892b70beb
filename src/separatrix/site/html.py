"""The site's templates (Jinja2, autoescaped), its shared files, and a single page that needs nothing else.

A template is given results and records; what it names and is not there raises. Line breaks of a template between two
tags are not spaces on the page.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from separatrix.extras import require

if TYPE_CHECKING:
    from jinja2 import Environment


@cache
def environment() -> "Environment":
    """Return the templates of ``pages/templates`` with the filters and words that they use."""
    require("a page", "jinja2")
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from separatrix.site.pages import text

    made: Any = Environment(
        loader=PackageLoader("separatrix.site.pages"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    made.filters.update(text.FILTERS)
    made.globals.update(text.words())
    return made


def render(template: str, **given: Any) -> str:
    """Fill a template."""
    return compact(environment().get_template(template).render(given))


def piece(macro: str, *given: Any, source: str = "macros.html", **named: Any) -> str:
    """Fill one macro of a template."""
    return compact(str(getattr(environment().get_template(source).module, macro)(*given, **named)))


def compact(markup: str) -> str:
    r"""Remove the line breaks of templates, but for those that a reader sees.

    >>> compact("<ul>\n  <li>one\n  two</li>\n</ul><pre>a\n  b</pre>")
    '<ul><li>one two</li></ul><pre>a\n  b</pre>'
    """
    pieces = re.split(r"(<(pre|script|style)\b.*?</\2>)", markup, flags=re.DOTALL)
    for place in range(0, len(pieces), 3):
        pieces[place] = re.sub(r"\s*\n\s*", " ", re.sub(r">\s*\n\s*<", "><", pieces[place]))
    return "".join(each for place, each in enumerate(pieces) if place % 3 != 2).strip()


def table(
    headings: Sequence[str],
    rows: Iterable[Sequence[object]],
    caption: str = "",
    numbers: Sequence[int] = (),
    links: Sequence[str] = (),
    commands: Sequence[int] = (),
) -> str:
    """Return an HTML table; columns in ``numbers`` are aligned to the right.

    ``links`` gives the first cell of each row a target; columns in ``commands`` are set as code.

    >>> table(("N", "width"), [(16, 5)], numbers=(0, 1), links=["#a"]).count("<a href=")
    1
    """
    return piece("table", headings, list(rows), caption, numbers, links, commands)


def asset(name: str) -> str:
    """Return the text of a file that all pages of the site share, such as its style."""
    return files("separatrix.site.pages").joinpath("assets", name).read_text(encoding="utf-8")


def page(title: str, lead: str, sections: Iterable[tuple[str, str, str]], footer: str) -> str:
    """Return a whole page from (anchor, heading, HTML body) of its sections; it carries its style inside."""
    parts, style = list(sections), asset("site.css")
    return render("single.html", title=title, lead=lead, sections=parts, footer=footer, style=style) + "\n"
