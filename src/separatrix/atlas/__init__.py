"""The atlas: a site that shows who can, who cannot and why, built from what the rooms compute."""

from separatrix.atlas.build import Atlas, build, ordered_sections, render, sections, units, write
from separatrix.atlas.recorded import Sources
from separatrix.atlas.section import Figure, RecordedSection, Section

__all__ = [
    "Atlas",
    "Figure",
    "RecordedSection",
    "Section",
    "Sources",
    "build",
    "ordered_sections",
    "render",
    "sections",
    "units",
    "write",
]
