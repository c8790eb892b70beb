"""Building the atlas: run every section, then write data, figures and pages, each file whole or not at all.

A section that is being written can be built and looked at alone (``only``), without waiting for the others.
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from separatrix.catalog import Catalog, discover
from separatrix.files import write_atomically
from separatrix.provenance import provenance
from separatrix.site.html import asset
from separatrix.site.interactive import SCRIPT, plotly_script
from separatrix.site.pages import search
from separatrix.site.pages.site import ASSETS, composed_figures, rendered
from separatrix.site.section import Advance, Figure, RecordedSection, Section
from separatrix.table import Sources

COMPOSED = "composed"
"""The key of the figures that need the results of several sections."""
COMMAND = "separatrix atlas"


@dataclass(frozen=True)
class Atlas:
    """What one build produced: plain results, and the figures of each section.

    ``only`` are the sections that were built where not all were; there are no pages but theirs then.
    """

    results: Mapping[str, Any]
    figures: Mapping[str, list[Figure]]
    only: tuple[Section, ...] = ()


@cache
def sections() -> Catalog[Section]:
    """All sections by name.

    >>> sections()["sign-codes"].title
    'Sign codes'
    """
    folder = import_module("separatrix.site.sections")
    return discover("section", folder, "SECTION", Section)  # type: ignore[type-abstract]


def ordered_sections() -> list[Section]:
    """All sections in their order.

    >>> ordered_sections()[0].name
    'separation'
    """
    return sorted(sections().values(), key=lambda section: (section.order, section.name))


def units() -> int:
    """How many times :func:`build` calls ``advance`` for the whole atlas: units of work, figures of each section,
    and those of several.

    >>> units() > 2 * len(sections())
    True
    """
    return sum(section.units for section in ordered_sections()) + len(sections()) + 1


def build(
    advance: Advance, sources: Sources | None = None, command: str = COMMAND, only: Sequence[Section] = ()
) -> Atlas:
    """Run every section, or only some, and draw; ``advance`` is called once for each unit of work.

    >>> class Squares(Section):
    ...     units = 1
    ...
    ...     def collect(self, advance):
    ...         advance("squared")
    ...         return {"rows": [number**2 for number in range(4)]}
    ...
    ...     def table(self, results):
    ...         return None
    >>> atlas = build(print, only=[Squares(name="squares", title="Squares", order=1)])
    squared
    drew squares
    >>> atlas.results["sections"]
    {'squares': {'rows': [0, 1, 4, 9]}}
    """
    started = time.perf_counter()
    chosen = only or ordered_sections()
    plain = _collected(chosen, advance, sources or Sources())
    figures = _drawn(chosen, plain, advance)
    if not only:
        figures[COMPOSED] = composed_figures(plain)
        advance("drew sizes against N")
    record = dict(provenance(command, arithmetic="integers and fractions", seed=0, started=started))
    return Atlas({"provenance": record, "sections": plain}, figures, tuple(only))


def _collected(chosen: Sequence[Section], advance: Advance, sources: Sources) -> dict[str, Any]:
    """The results of every section by its name, as JSON has them."""
    collected = {
        section.name: section.collect_from(sources, advance)
        if isinstance(section, RecordedSection)
        else section.collect(advance)
        for section in chosen
    }
    # What is drawn and shown is what atlas.json will hold, and nothing that JSON would lose.
    return json.loads(json.dumps(collected))


def _drawn(chosen: Sequence[Section], results: Mapping[str, Any], advance: Advance) -> dict[str, list[Figure]]:
    """The figures of every section by its name."""
    figures: dict[str, list[Figure]] = {}
    for section in chosen:
        figures[section.name] = section.figures(results[section.name])
        advance(f"drew {section.title.lower()}")
    return figures


def render(atlas: Atlas) -> dict[str, str]:
    """All pages as HTML, by path below the site's folder; of an atlas of some sections their own pages.

    >>> class Squares(Section):
    ...     units = 0
    ...
    ...     def collect(self, advance):
    ...         return {"rows": [number**2 for number in range(4)]}
    ...
    ...     def body(self, results):
    ...         return f"<p>{results['rows']}</p>"
    ...
    ...     def table(self, results):
    ...         return None
    >>> squares = Squares(name="squares", title="Squares", order=1, page="squares")
    >>> pages = render(build(lambda what: None, only=[squares]))
    >>> list(pages), "<p>[0, 1, 4, 9]</p>" in pages["squares.html"]
    (['squares.html'], True)
    """
    return rendered(atlas.results, atlas.only or ordered_sections(), atlas.figures, whole=not atlas.only)


def write(atlas: Atlas, out: Path) -> list[Path]:
    """Write ``atlas.json``, ``figures/*``, ``assets/*`` and all pages below ``out``; returns the paths.

    ``index.html`` comes last: when it is there, everything it leads to is.

    >>> from tempfile import TemporaryDirectory
    >>> class Numbers(Section):
    ...     units = 0
    ...
    ...     def collect(self, advance):
    ...         return {"rows": [1, 2, 3]}
    ...
    ...     def table(self, results):
    ...         return None
    >>> atlas = build(lambda what: None, only=[Numbers(name="numbers", title="Numbers", order=1, page="numbers")])
    >>> with TemporaryDirectory() as folder:
    ...     written = write(atlas, Path(folder))
    ...     all(path.is_file() for path in written), written[0].name, written[-1].name
    (True, 'atlas.json', 'numbers.html')
    """
    written: list[Path] = []

    def put(path: Path, content: str | bytes) -> None:
        write_atomically(path, content)
        written.append(path)

    put(out / "atlas.json", json.dumps(atlas.results, ensure_ascii=False, separators=(",", ":")) + "\n")
    for figures in atlas.figures.values():
        for figure in figures:
            put(out / "figures" / f"{figure.name}.svg", figure.svg)
            put(out / "figures" / f"{figure.name}.png", figure.png)
    for name in ASSETS:
        put(out / "assets" / name, asset(name))
    put(out / "assets" / SCRIPT, plotly_script())
    pages = render(atlas)
    put(out / search.PATH, search.search_index(pages))
    for path, page in pages.items():
        put(out / path, page)
    return written
