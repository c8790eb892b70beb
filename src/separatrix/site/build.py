"""Building the atlas: run every section, then write data, figures and pages, each file whole or not at all.

What sections collect is written by one renderer (:func:`separatrix.answer.plain`); the schema of the data is made from
the types of the results.

A section that is being written can be built and looked at alone (``only``), without waiting for the others.
"""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from separatrix.answer import plain
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
    """What one build produced: the results and the figures of each section.

    ``only`` are the sections that were built where not all were; there are no pages but theirs then.
    """

    provenance: Mapping[str, Any]
    sections: Mapping[str, Any]
    """The results by the name of the section."""
    figures: Mapping[str, list[Figure]]
    only: tuple[Section[Any], ...] = ()

    @property
    def results(self) -> dict[str, Any]:
        """All of it but the figures, as JSON has it."""
        return {"provenance": dict(self.provenance), "sections": plain(self.sections)}


@cache
def sections() -> Catalog[Section[Any]]:
    """Return all sections by name.

    >>> sections()["sign-codes"].title
    'Sign codes'
    """
    folder = import_module("separatrix.site.sections")
    return discover("section", folder, "SECTION", Section)  # type: ignore[type-abstract]


def ordered_sections() -> list[Section[Any]]:
    """Return all sections in their order.

    >>> ordered_sections()[0].name
    'separation'
    """
    return sorted(sections().values(), key=lambda section: (section.order, section.name))


def units() -> int:
    """Return how many times :func:`build` calls ``advance`` for the whole atlas: units of work, figures of each
    section, and those of several.

    >>> units() > 2 * len(sections())
    True
    """
    return sum(section.units for section in ordered_sections()) + len(sections()) + 1


def build(
    advance: Advance, sources: Sources | None = None, command: str = COMMAND, only: Sequence[Section[Any]] = ()
) -> Atlas:
    """Run every section, or only some, and draw; ``advance`` is called once for each unit of work.

    >>> class Squares(Section[dict[str, list[int]]]):
    ...     def collect(self, advance):
    ...         advance("squared")
    ...         return {"rows": [number**2 for number in range(4)]}
    >>> atlas = build(print, only=[Squares(name="squares", title="Squares", order=1)])
    squared
    drew squares
    >>> atlas.sections
    {'squares': {'rows': [0, 1, 4, 9]}}
    """
    started = time.perf_counter()
    chosen = only or ordered_sections()
    recorded = sources or Sources()
    results = {
        section.name: section.collect_from(recorded, advance)
        if isinstance(section, RecordedSection)
        else section.collect(advance)
        for section in chosen
    }
    figures: dict[str, list[Figure]] = {}
    for section in chosen:
        figures[section.name] = section.figures(results[section.name])
        advance(f"drew {section.title.lower()}")
    if not only:
        figures[COMPOSED] = composed_figures(results)
        advance("drew sizes against N")
    made = provenance(command, arithmetic="integers and fractions", seed=0, started=started)
    return Atlas(made, results, figures, tuple(only))


def schema(chosen: Iterable[Section[Any]]) -> dict[str, Any]:
    """Return the JSON schema of ``atlas.json``, from the types of the sections' results.

    >>> sorted(schema([])["properties"])
    ['provenance', 'sections']
    """
    from pydantic import TypeAdapter

    adapters: list[tuple[str, Literal["serialization"], TypeAdapter[Any]]] = [
        (each.name, "serialization", TypeAdapter(each.results_type)) for each in chosen
    ]
    found, shared = TypeAdapter.json_schemas(adapters, ref_template="#/$defs/{model}")
    sections = {
        "type": "object",
        "properties": {name: each for (name, _), each in found.items()},
        "required": [name for name, *_ in adapters],
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"provenance": {"type": "object"}, "sections": sections},
        "required": ["provenance", "sections"],
        **shared,
    }


def render(atlas: Atlas) -> dict[str, str]:
    """Return all pages as HTML, by path below the site's folder; of an atlas of some sections their own pages.

    >>> class Squares(Section[dict[str, list[int]]]):
    ...     def collect(self, advance):
    ...         return {"rows": [number**2 for number in range(4)]}
    ...
    ...     def body(self, results):
    ...         return f"<p>{results['rows']}</p>"
    >>> squares = Squares(name="squares", title="Squares", order=1, page="squares")
    >>> pages = render(build(lambda what: None, only=[squares]))
    >>> list(pages), "<p>[0, 1, 4, 9]</p>" in pages["squares.html"]
    (['squares.html'], True)
    """
    chosen = atlas.only or ordered_sections()
    return rendered(atlas.sections, atlas.provenance, chosen, atlas.figures, whole=not atlas.only)


def write(atlas: Atlas, out: Path) -> list[Path]:
    """Write ``atlas.json`` with its schema, ``figures/*``, ``assets/*`` and all pages below ``out``; return the paths.

    ``index.html`` comes last: when it is there, everything it leads to is.

    >>> from tempfile import TemporaryDirectory
    >>> class Numbers(Section[dict[str, list[int]]]):
    ...     def collect(self, advance):
    ...         return {"rows": [1, 2, 3]}
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
    put(out / "atlas.schema.json", json.dumps(schema(atlas.only or ordered_sections()), indent=1) + "\n")
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
