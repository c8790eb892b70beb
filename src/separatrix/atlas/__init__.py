"""The atlas: one page that shows who can, who cannot and why, built from what the rooms compute."""

from separatrix.atlas.build import Atlas, build, ordered_sections, render, sections, write
from separatrix.atlas.section import Figure, Section

__all__ = ["Atlas", "Figure", "Section", "build", "ordered_sections", "render", "sections", "write"]
