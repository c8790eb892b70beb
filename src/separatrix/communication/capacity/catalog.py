"""The families of config files, one file each in ``families``, and the presets, one table each in ``presets``."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, cast

from separatrix.catalog import Catalog, discover
from separatrix.communication.capacity import families as folder
from separatrix.communication.capacity.family import Family, decoder_fields
from separatrix.communication.capacity.layers import ModelDescription
from separatrix.errors import SeparatrixError, UnknownNameError

LISTED = "separatrix capacity, with nothing after it, lists all"
"""Where to see every name."""


@cache
def config_families() -> Catalog[Family[Any]]:
    """All families of config files by name.

    >>> "mamba" in config_families()
    True
    """
    return discover("config", folder, "FAMILY", Family)


@cache
def model_types() -> Mapping[str, Family[Any]]:
    """Which family a ``model_type`` belongs to; two families of one type are an error.

    >>> model_types()["falcon_mamba"].name
    'mamba'
    """
    found: dict[str, Family[Any]] = {}
    for family in config_families().values():
        for name in family.model_types:
            if name in found:
                raise SeparatrixError(f"model_type {name!r} is claimed by {found[name].name} and {family.name}")
            found[name] = family
    return MappingProxyType(found)


def unknown(kind: str, given: str, known: Iterable[str]) -> str:
    """That a name is not known, with the nearest few and how to see all: they are too many for a line.

    >>> unknown("model_type", "mambo", model_types())
    "unknown model_type 'mambo'; nearest: mamba, mamba2, jamba; separatrix capacity, with nothing after it, lists all"
    """
    nearest = UnknownNameError(kind, given, known).nearest
    near = f"; nearest: {', '.join(nearest)}" if nearest else ""
    return f"unknown {kind} {given!r}{near}; {LISTED}"


def family_of(raw: Mapping[str, Any], where: str) -> Family[Any]:
    """The family of a config, by its ``model_type`` or, without one, by its fields; ``where`` names it in messages."""
    given = raw.get("model_type")
    by_hand = 'any other model can be described by hand: {"model_type": "layers", "layers": […]}, see docs/capacity.md'
    if given is None or given == "":
        for family in config_families().values():
            if family.recognises(raw):
                return family
        raise SeparatrixError(f"{where}: the field model_type is missing; {LISTED}; {by_hand}")
    if not isinstance(given, str) or given not in model_types():
        raise SeparatrixError(f"{where}: {unknown('model_type', str(given)[:60], model_types())}; {by_hand}")
    return model_types()[given]


def described(raw: Mapping[str, Any], where: str, source: str = "") -> ModelDescription:
    """The model that the fields of a config describe; ``where`` names it in messages.

    Of a model that reads more than text, whose own kind is not known, the decoder in its ``text_config`` is described.

    >>> mixed = {"model_type": "llava", "text_config": {"model_type": "gru", "hidden_size": 64}}
    >>> described(mixed, "mixed").state_numbers
    64
    """
    inner: object = raw.get("text_config")
    kind = cast("Mapping[str, Any]", inner).get("model_type") if isinstance(inner, Mapping) else None
    own = raw.get("model_type")
    if not isinstance(own, str) or own in model_types() or not isinstance(kind, str) or kind not in model_types():
        return family_of(raw, where).describe(raw, where, source)
    found = model_types()[kind].describe(decoder_fields(raw), where, source)
    note = f"sizes of its decoder, model_type {kind} in text_config; what reads images or sound is not counted"
    return replace(found, notes=(*found.notes, note))


@dataclass(frozen=True)
class Preset:
    """A published model: its sizes in the spelling of its own config file, and where they were read."""

    name: str
    source: str
    config: Mapping[str, Any]
    note: str = ""

    def describe(self) -> ModelDescription:
        """The model, through the same validation as a file."""
        found = described(self.config, self.name, self.source)
        return replace(found, notes=(*found.notes, self.note)) if self.note else found


@cache
def presets() -> Catalog[Preset]:
    """All presets by name.

    >>> presets()["mamba-130m"].describe().state_numbers
    700416
    """
    found: list[Preset] = []
    tables = [each for each in files(__package__ or "").joinpath("presets").iterdir() if each.name.endswith(".json")]
    for table in tables:
        entries: dict[str, Any] = json.loads(table.read_text(encoding="utf-8"))
        found += [
            Preset(name, entry["source"], MappingProxyType(entry["config"]), entry.get("note", ""))
            for name, entry in entries.items()
        ]
    return Catalog("preset", found)
