"""Building the atlas: run every section, then write data, figures and page, each file whole or not at all."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from separatrix.atlas import sections as folder
from separatrix.atlas.html import page
from separatrix.atlas.section import Advance, Figure, Section
from separatrix.catalog import Catalog, discover
from separatrix.files import write_atomically
from separatrix.provenance import provenance

TITLE = "Separatrix atlas"
LEAD = (
    "What sequence models can and cannot represent. Every number on this page was computed by the command in the "
    "footer; the same data for machines is in atlas.json, the figures are in the folder figures."
)


@dataclass(frozen=True)
class Atlas:
    """What one build produced."""

    results: Mapping[str, Any]
    figures: Mapping[str, list[Figure]]


@cache
def sections() -> Catalog[Section]:
    """All sections by name."""
    return discover("section", folder, "SECTION", Section)  # type: ignore[type-abstract]


def ordered_sections() -> list[Section]:
    """All sections as they stand on the page."""
    return sorted(sections().values(), key=lambda section: (section.order, section.name))


def build(advance: Advance) -> Atlas:
    """Run every section; ``advance`` is called once for each unit of work."""
    started = time.perf_counter()
    collected = {section.name: section.collect(advance) for section in ordered_sections()}
    figures = {section.name: section.figures(collected[section.name]) for section in ordered_sections()}
    record = provenance("separatrix atlas", arithmetic="integers and fractions", seed=0, started=started)
    return Atlas({"provenance": record, "sections": collected}, figures)


def write(atlas: Atlas, out: Path) -> list[Path]:
    """Write ``atlas.json``, ``figures/*`` and ``index.html`` below ``out``; returns the paths."""
    written: list[Path] = []

    def put(path: Path, content: str | bytes) -> None:
        write_atomically(path, content)
        written.append(path)

    put(out / "atlas.json", json.dumps(atlas.results, ensure_ascii=False, indent=1) + "\n")
    for figures in atlas.figures.values():
        for figure in figures:
            put(out / "figures" / f"{figure.name}.svg", figure.svg)
            put(out / "figures" / f"{figure.name}.png", figure.png)
    # The page last: when it is there, everything it names is.
    put(out / "index.html", render(atlas))
    return written


def render(atlas: Atlas) -> str:
    """The page as HTML."""
    parts: list[tuple[str, str, str]] = []
    for section in ordered_sections():
        pictures = "".join(
            f'<figure role="img" aria-label="{escape(figure.caption, quote=True)}">{figure.svg}'
            f"<figcaption>{escape(figure.caption)}</figcaption></figure>"
            for figure in atlas.figures[section.name]
        )
        parts.append((section.name, section.title, section.body(atlas.results["sections"][section.name]) + pictures))
    record = atlas.results["provenance"]
    versions = ", ".join(f"{name} {number}" for name, number in record["versions"].items())
    made = f"Made by: {record['command']} at {record['made_at']} in {record['seconds']} s"
    return page(TITLE, LEAD, parts, f"{made} with {versions}; seed {record['seed']}.")
