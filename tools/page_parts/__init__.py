"""Every part of the documentation that a script writes: README, CONTRIBUTING and docs, module by module.

A module lists its parts as ``PARTS``. Results of measurements come from docs/records, everything else is computed when
the parts are filled or checked, so only what takes well under a second belongs here. ``CHECKED`` are tables that other
tests compute row by row.
"""

from functools import cache
from importlib import import_module

from tools.pages import Part

MODULES = ("campaigns", "speed", "codes", "networks", "trained", "communication", "learning", "program")
CHECKED = {
    "docs/bounds.md": ("| bound | claim |", "| reduction | source |"),
    "docs/protocols.md": ("| network | N | p |",),
    "docs/constructions.md": ("| construction | softmax |",),
}
"""Headers of tables that ``tests/bounds/test_bounds_page.py``, ``test_protocols_page.py`` and
``tests/constructions/test_attention.py`` hold against what they compute."""
LEFT_ALONE = {
    "docs/gpu-notes.md": "a diary of predictions and of runs on a machine that the tests do not have",
    "docs/reference/command-line.md": "written by tools/write_cli_reference.py, held against it by test_docs_site.py",
}
"""Pages whose numbers are not looked at, and why."""


@cache
def parts() -> tuple[Part, ...]:
    """All of them."""
    return tuple(part for name in MODULES for part in import_module(f"tools.page_parts.{name}").PARTS)
