"""The whole site: every page from the results of the sections, every figure, and the files they share."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from separatrix.errors import SeparatrixError
from separatrix.site.pages import glossary
from separatrix.site.pages.architecture_page import architecture_page
from separatrix.site.pages.cells import Grid
from separatrix.site.pages.charts import width_figure
from separatrix.site.pages.found import Found
from separatrix.site.pages.front import front_page
from separatrix.site.pages.lists import about_page, architectures_page, tasks_folder_page, tasks_page
from separatrix.site.pages.shell import Frame, Link, Page
from separatrix.site.pages.task_page import task_page
from separatrix.site.pages.text import figure_slot, files_slot, with_errata
from separatrix.site.section import Figure, Section

ERRATA = "errata.html"
"""The page to which the numbers of errata lead, where it is there."""
ASSETS = ("site.css", "site.js", "mark.svg")


def composed_figures(sections: Mapping[str, Any]) -> list[Figure]:
    """Draw the figures that need the results of several sections."""
    found = Found.of(sections)
    grid = Grid(found)
    drawn = (width_figure(row.task, row.title, found.numbers, grid) for row in found.separation.rows)
    return [figure for figure in drawn if figure is not None]


def section_pages(
    results: Mapping[str, Any], sections: Sequence[Section[Any]], figures: Mapping[str, Sequence[Figure]]
) -> Iterator[Page]:
    """Yield the pages that sections have of their own."""
    for section in sections:
        if section.page:
            yield section_page(section, results[section.name], figures.get(section.name, ()))


def shared_pages(found: Found, provenance: Mapping[str, Any], own: Iterable[Page]) -> Iterator[Page]:
    """Yield every page, the front page last: when it is there, everything it leads to is."""
    grid = Grid(found)
    yield tasks_page(found)
    yield tasks_folder_page(found)
    for row in found.separation.rows:
        yield task_page(row, found, grid)
    yield architectures_page(found.architectures)
    for row in found.architectures.rows:
        yield architecture_page(row, found)
    yield from own
    yield glossary.glossary_page()
    yield about_page(found, provenance)
    yield front_page(found, grid)


def section_page(section: Section[Any], results: Any, figures: Sequence[Figure]) -> Page:
    """Return a section's own page: its body, then the figures that the body does not place itself."""
    body = section.body(results)
    placed = (figure_slot, files_slot)
    rest = [figure.name for figure in figures if not any(str(slot(figure.name)) in body for slot in placed)]
    main = "".join(map(figure_slot, rest)) + body
    return Page(f"{section.page}.html", section.title, section.lead, main)


def rendered(
    results: Mapping[str, Any],
    provenance: Mapping[str, Any],
    sections: Sequence[Section[Any]],
    figures: Mapping[str, Sequence[Figure]],
    whole: bool = True,
) -> dict[str, str]:
    """Return all pages as HTML, by path; without the ``whole`` site only those of these sections."""
    by_name = {figure.name: figure for group in figures.values() for figure in group}
    own = own_links(sections)
    frame = Frame(links(sections) if whole else own, provenance)
    has_errata = whole and ERRATA in {link.path for link in own}
    pages = section_pages(results, sections, figures)
    made: dict[str, str] = {}
    for page in shared_pages(Found.of(results), provenance, pages) if whole else pages:
        if page.path in made:
            raise SeparatrixError(f"two pages of the atlas would be {page.path}; rename the section or the entry")
        linked = replace(page, main=with_errata(page.main, page.root)) if has_errata and page.path != ERRATA else page
        made[page.path] = frame.render(linked, by_name)
    return made  # fmt: skip


def own_links(sections: Sequence[Section[Any]]) -> list[Link]:
    """Return every section that has a page."""
    return [Link(section.title, f"{section.page}.html", section.menu) for section in sections if section.page]


def links(sections: Sequence[Section[Any]]) -> list[Link]:
    """Return the navigation of the whole site."""
    return [
        Link("Table", "index.html", "Atlas"),
        Link("Tasks", "tasks.html", "Atlas"),
        Link("Architectures", "architectures.html", "Atlas"),
        *own_links(sections),
        Link(glossary.TITLE, glossary.PATH, "About"),
        Link("About this atlas", "about.html", "About"),
    ]
