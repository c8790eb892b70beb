"""Reading ``atlas.json`` back into the types that its schema is made of."""

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from separatrix.site import ordered_sections
from separatrix.site.pages.cells import Grid
from separatrix.site.pages.found import Found


def read_sections(sections: Mapping[str, Any]) -> dict[str, Any]:
    """Return the results of all sections from their JSON."""
    return {
        each.name: TypeAdapter(each.results_type).validate_python(sections[each.name]) for each in ordered_sections()
    }


def grid_of(sections: Mapping[str, Any]) -> Grid:
    """Return the cells of the table from the JSON of all sections."""
    return Grid(Found.of(read_sections(sections)))
