"""The families of config files, a table (``families.toml``), and the presets, one table each in ``presets``."""

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any, cast

from separatrix.capacities.by_hand import BY_HAND
from separatrix.capacities.family import Check, Family, LayerRule, PartRule
from separatrix.capacities.fields import INNER_FIELDS, Field, decoder_fields, one_attention, printed, shortened
from separatrix.capacities.layers import LayerDescription, ModelDescription
from separatrix.catalog import Catalog
from separatrix.errors import SeparatrixError, UnknownNameError

LISTED = "separatrix capacity, with nothing after it, lists all"
"""Where to see every name."""


TABLE = "families.toml"
OF_AN_ENTRY = ("only", "types", "not_run", "notes", "recognised_by")


@cache
def config_families() -> Catalog[Family]:
    """All families of config files by name.

    >>> "mamba" in config_families()
    True
    """
    return Catalog("family", [*families_of(tomllib.loads(_text(TABLE))), BY_HAND])


def families_of(table: Mapping[str, Any]) -> list[Family]:
    """The families that a table describes; an entry that is ``like`` another begins with all that the other has."""
    entries: dict[str, dict[str, Any]] = {}
    for name, entry in table["families"].items():
        base: dict[str, Any] = entries[entry["like"]] if "like" in entry else table["every"]
        own = {key: part for key, part in entry.items() if key != "like"}
        # What an entry is called and whom it describes is its own; what it reads adds to what the other reads.
        left = {key: part for key, part in base.items() if key not in OF_AN_ENTRY}
        merged = {**left, **own}
        for part in ("fields", "rules", "places"):
            merged[part] = {**base.get(part, {}), **own.get(part, {})}
        entries[name] = merged
    for entry in entries.values():
        own = entry.get("only", {})
        entry["only"] = {
            kind: {**table["defaults"].get(kind, {}), **own.get(kind, {})}
            for kind in entry["types"]
            if kind in table["defaults"] or kind in own
        }
    return [_family(name, entry) for name, entry in entries.items()]


def _family(name: str, entry: Mapping[str, Any]) -> Family:
    given = dict(entry)
    for part in ("checks", "notes"):
        given[part] = tuple(Check(**each) for each in given.get(part, ()))
    given["fields"] = {key: _field(key, each) for key, each in given["fields"].items()}
    given["rules"] = {key: _rule(each) for key, each in given["rules"].items()}
    given["places"] = {key: tuple(each) for key, each in given["places"].items()}
    for part in ("recognised_by", "not_run"):
        given[part] = tuple(given.get(part, ()))
    return Family(name=name, model_types=tuple(given.pop("types")), **given)


def _rule(entry: Mapping[str, Any]) -> LayerRule:
    given: dict[str, Any] = {**entry, "parts": tuple(PartRule(**part) for part in entry.get("parts", ()))}
    return LayerRule(**given)


def _field(name: str, entry: str | Mapping[str, Any]) -> Field:
    if isinstance(entry, str):
        return Field(name=name, default=entry)
    given: dict[str, Any] = {**entry, "spelled": tuple(entry.get("spelled", ()))}
    return Field(name=name, **given)


def _text(name: str) -> str:
    return files(__package__ or "").joinpath(name).read_text(encoding="utf-8")


@cache
def inside() -> Mapping[str, str]:
    """Types of files that hold their decoder in ``text_config``, and the type of that decoder.

    >>> inside()["gemma3"]
    'gemma3_text'
    """
    return MappingProxyType(tomllib.loads(_text(TABLE))["inside"])


@cache
def refused_types() -> Mapping[str, str]:
    """Types that are known and not described, and why.

    >>> "blt" in refused_types()
    True
    """
    return MappingProxyType(tomllib.loads(_text(TABLE))["refused"])


@cache
def model_types() -> Mapping[str, Family]:
    """Which family a ``model_type`` belongs to; two families of one type are an error.

    >>> model_types()["falcon_mamba"].name
    'mamba'
    """
    found: dict[str, Family] = {}
    for family in config_families().values():
        for name in family.model_types:
            if name in found:
                raise SeparatrixError(f"model_type {name!r} is claimed by {found[name].name} and {family.name}")
            found[name] = family
    return MappingProxyType(found)


def unknown(kind: str, given: str, known: Iterable[str]) -> str:
    """That a name is not known, with the nearest few and how to see all: they are too many for a line.

    >>> unknown("model_type", "mambo", model_types())
    "unknown model_type 'mambo'; nearest: mamba, mamba3, mamba2; separatrix capacity, with nothing after it, lists all"
    """
    nearest = UnknownNameError(kind, given, known).nearest
    near = f"; nearest: {', '.join(nearest)}" if nearest else ""
    return f"unknown {kind} {given!r}{near}; {LISTED}"


def family_of(raw: Mapping[str, Any], where: str) -> Family:
    """The family of a config, by its ``model_type`` or, without one, by its fields; ``where`` names it in messages."""
    given = raw.get("model_type")
    by_hand = 'any other model can be described by hand: {"model_type": "layers", "layers": […]}, see docs/capacity.md'
    if given is None or given == "":
        for family in config_families().values():
            if family.recognised_by and all(each in raw for each in family.recognised_by):
                return family
        raise SeparatrixError(f"{where}: the field model_type is missing; {LISTED}; {by_hand}")
    if not isinstance(given, str) or given not in model_types():
        raise SeparatrixError(f"{where}: {unknown('model_type', str(given)[:60], model_types())}; {by_hand}")
    return model_types()[given]


def described(raw: Mapping[str, Any], where: str, source: str = "") -> ModelDescription:
    """The model that the fields of a config describe; ``where`` names it in messages.

    Of a model that reads more than text the decoder in its ``text_config`` is described. A type that is not known is
    read as a decoder with the usual fields where the file has them, and a note says so.

    >>> mixed = {"model_type": "llava", "text_config": {"model_type": "gru", "hidden_size": 64}}
    >>> described(mixed, "mixed").state_numbers
    64
    >>> usual = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    >>> described({"model_type": "new", **usual}, "new").layers[0].head_width
    16
    """
    own = raw.get("model_type")
    if isinstance(own, str) and own in refused_types():
        raise SeparatrixError(f"{where}: model_type {own} is not described: {refused_types()[own]}")
    raw = one_attention(raw, where)
    inner = next((raw[each] for each in INNER_FIELDS if isinstance(raw.get(each), Mapping)), None)
    if isinstance(own, str) and own not in model_types() and isinstance(inner, Mapping):
        fields = decoder_fields(raw)
        kind = fields.get("model_type") or inside().get(own)
        if isinstance(kind, str) and (kind in model_types() or _usual(fields)):
            found = _known_or_usual(fields, kind, where, source)
            note = f"sizes of its decoder, of model_type {printed(kind)}; what reads images or sound is not counted"
            return replace(found, notes=(*found.notes, note))
    if isinstance(own, str) and own in inside():
        return _known_or_usual(raw, inside()[own], where, source)
    if isinstance(own, str) and own and own not in model_types() and _usual(raw):
        return _known_or_usual(raw, own, where, source)
    return family_of(raw, where).describe(raw, where, source)


USUAL_FIELDS = ("hidden_size", "num_hidden_layers", "num_attention_heads")
STATE_WORDS = ("ssm", "mamba", "conv", "linear", "lru", "rwkv", "state", "recurrent", "lstm", "delta", "retention")
"""Parts of field names that speak of a state next to attention, or in its place."""
OTHER_NAMES = {"num_kv_heads": "num_key_value_heads", "kv_channels": "head_dim"}
"""Names that some types have for usual fields; described types read them only where their code does."""


def _usual(raw: Mapping[str, Any]) -> bool:
    return all(raw.get(each) is not None for each in USUAL_FIELDS)


def _known_or_usual(raw: Mapping[str, Any], kind: str, where: str, source: str) -> ModelDescription:
    """By the family of a type, or as a decoder with the usual fields.

    What is guessed errs to the side of more memory, so that nothing is called impossible for it: it is not known to be
    causal, nor its heads to be those of Theorem 4, so that no budget of its caches and no layer is judged. A window
    counts only where the file says which layers have it, and next to layers of bounded memory, a single layer (which
    may be run several times), layers of an unknown kind and fields that speak of states there is always something of
    which it is not known what it keeps.
    """
    if kind in model_types():
        return model_types()[kind].describe(raw, where, source, kind)
    listed = raw.get("layer_types")
    names = cast("list[object]", listed) if isinstance(listed, list) else []
    plain = {"full_attention", "attention", "sliding_attention", "chunked_attention"}
    strange = sorted({printed(str(each)) for each in names if str(each) not in plain})
    states = [] if names else [each for each in raw if any(word in each.lower() for word in STATE_WORDS)]
    renamed = {usual: raw.get(name) for name, usual in OTHER_NAMES.items() if raw.get(usual) is None}
    kinds = ["full_attention" if printed(str(each)) in strange else each for each in names]
    fields = {**raw, **renamed, "layer_types": kinds or None}
    found = model_types()["llama"].describe(fields, where, source, "llama")
    note = f"model_type {shortened(kind)} is not known; it is read by the usual fields of a decoder, a guess"
    unknown = sum(printed(str(each)) in strange for each in names)
    kept = _without(found.layers, unknown)
    if strange or states or found.depth == 1 or not any(layer.cache for layer in kept):
        why = f"layers of type {', '.join(strange)}" if strange else f"the fields {', '.join(map(printed, states[:3]))}"
        why = why if strange or states else f"a model of type {printed(kind)}"
        open_layer = LayerDescription(kind="unstated", name=why, count=max(unknown, 1))
        found = replace(found, layers=(*kept, open_layer))
        note += f"; what else {why} may keep is not known and is left out of every number"
    layers = tuple(replace(layer, softmax=False) for layer in found.layers)
    return replace(
        found, family="usual fields", evidence="guess", causal=False, layers=layers, notes=(*found.notes, note)
    )


def _without(layers: tuple[LayerDescription, ...], number: int) -> tuple[LayerDescription, ...]:
    """The layers less so many whose cache grows."""
    found: list[LayerDescription] = []
    for layer in layers:
        left = layer.count - number if layer.cache else layer.count
        if left > 0:
            found.append(replace(layer, count=left))
    return tuple(found)


@dataclass(frozen=True)
class Preset:
    """A published model: its sizes in the spelling of its own config file, and where they were read.

    ``parameters``: how many it has; ``weights``: the bytes of its files, where they are in fewer bits than it computes
    in.
    """

    name: str
    source: str
    config: Mapping[str, Any]
    note: str = ""
    parameters: int | None = None
    weights: int | None = None

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
            Preset(name=name, config=MappingProxyType(entry.pop("config")), **entry) for name, entry in entries.items()
        ]
    return Catalog("preset", found)
