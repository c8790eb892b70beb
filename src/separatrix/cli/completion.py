"""What the shell offers when Tab is pressed: names from the catalogs that begin so. Catalogs load only then."""

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, TypeAlias

Complete: TypeAlias = Callable[[str], list[tuple[str, str]]]
"""From the beginning of a name to the names that begin so, each with its title."""


def completing(names: Callable[[], Iterable[tuple[str, str]]]) -> Complete:
    """Return a function that offers some names, which load when it is called.

    >>> completing(lambda: [("dyck", "Bounded Dyck languages"), ("mqar", "Recall")])("dy")
    [('dyck', 'Bounded Dyck languages')]
    """

    def complete(incomplete: str) -> list[tuple[str, str]]:
        return [(name, title) for name, title in names() if name.startswith(incomplete)]

    return complete


def catalog_names(room: str, catalog: str) -> Iterable[tuple[str, str]]:
    """Yield the names of a room's catalog, with the titles of those that have one.

    >>> dict(catalog_names("arithmetic", "families"))["trace"] != ""
    True
    """
    found: Any = getattr(import_module(f"separatrix.{room}"), catalog)
    entries: Any = found() if callable(found) else found
    for name in entries:
        yield name, "" if isinstance(entries, tuple) else getattr(entries[name], "title", "")


def experiment_names() -> Iterable[tuple[str, str]]:
    """Yield the names of experiments, with their titles; from their table, because the catalog takes longer."""
    from separatrix.catalog_names import names_in_table

    for each in names_in_table("training/experiments/experiments.toml", ("name", "title")):
        yield each["name"], each["title"]


complete_task = completing(lambda: catalog_names("tasks", "tasks"))
complete_construction = completing(lambda: catalog_names("constructions", "constructions"))
complete_experiment = completing(experiment_names)
complete_figure = completing(lambda: [*experiment_names(), ("state-limit", "Learned against impossible")])
complete_family = completing(lambda: catalog_names("arithmetic", "families"))
complete_numbers = completing(lambda: catalog_names("bounds", "NUMBERS"))
complete_model = completing(lambda: catalog_names("bounds", "MODELS"))
complete_preset = completing(lambda: catalog_names("capacities", "presets"))
