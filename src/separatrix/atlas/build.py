"""Building the atlas: run every section, then write data, figures and pages, each file whole or not at all."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from separatrix.atlas import sections as folder
from separatrix.atlas.html import asset
from separatrix.atlas.section import Advance, Figure, RecordedSection, Section, Sources
from separatrix.atlas.site.site import ASSETS, composed_figures, rendered
from separatrix.catalog import Catalog, discover
from separatrix.files import write_atomically
from separatrix.provenance import provenance

COMPOSED = "composed"
"""The key of the figures that need the results of several sections."""
COMMAND = "separatrix atlas"


@dataclass(frozen=True)
class Atlas:
    """What one build produced: plain results, and the figures of each section."""

    results: Mapping[str, Any]
    figures: Mapping[str, list[Figure]]


@cache
def sections() -> Catalog[Section]:
    """All sections by name."""
    return discover("section", folder, "SECTION", Section)  # type: ignore[type-abstract]


def ordered_sections() -> list[Section]:
    """All sections in their order."""
    return sorted(sections().values(), key=lambda section: (section.order, section.name))


def units() -> int:
    """How many times :func:`build` calls ``advance``."""
    return sum(section.units for section in ordered_sections()) + len(sections()) + 1


def build(advance: Advance, sources: Sources | None = None, command: str = COMMAND) -> Atlas:
    """Run every section and draw; ``advance`` is called once for each unit of work, :func:`units` times in all."""
    started = time.perf_counter()
    plain = collect(advance, sources)
    figures = draw(plain, advance)
    record = dict(provenance(command, arithmetic="integers and fractions", seed=0, started=started))
    return Atlas({"provenance": record, "sections": plain}, figures)


def collect(advance: Advance, sources: Sources | None = None) -> dict[str, Any]:
    """The results of every section by its name, as JSON has them."""
    known = sources or Sources()
    collected = {
        section.name: section.collect_from(known, advance)
        if isinstance(section, RecordedSection)
        else section.collect(advance)
        for section in ordered_sections()
    }
    # What is drawn and shown is what atlas.json will hold, and nothing that JSON would lose.
    return json.loads(json.dumps(collected))


def draw(results: Mapping[str, Any], advance: Advance) -> dict[str, list[Figure]]:
    """The figures of every section by its name, and those that need several under :data:`COMPOSED`."""
    figures: dict[str, list[Figure]] = {}
    for section in ordered_sections():
        figures[section.name] = section.figures(results[section.name])
        advance(f"drew {section.title.lower()}")
    figures[COMPOSED] = composed_figures(results)
    advance("drew sizes against N")
    return figures


def render(atlas: Atlas) -> dict[str, str]:
    """All pages as HTML, by path below the site's folder."""
    return rendered(atlas.results, ordered_sections(), atlas.figures)


def write(atlas: Atlas, out: Path) -> list[Path]:
    """Write ``atlas.json``, ``figures/*``, ``assets/*`` and all pages below ``out``; returns the paths.

    ``index.html`` comes last: when it is there, everything it leads to is.
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
    for path, page in render(atlas).items():
        put(out / path, page)
    return written
