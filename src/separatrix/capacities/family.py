"""A family of config files: the one reader and the one validator of the table ``families.toml``.

An entry of the table says which fields of a file decide the memory, which kind each layer is, and what a layer of each
kind keeps, all as formulas (:mod:`separatrix.capacities.formula`). Fields that do not change the memory
(dropout, activation, token ids) are not looked at. What enters from a file is validated strictly: a size is a whole
number above 0, never a text, a float or a truth value. ``docs/capacity.md`` describes how to add an entry.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

from separatrix.capacities.fields import (
    LAYER_FIELD,
    Field,
    at,
    check_heads,
    format_name,
    inside_of,
    shortened,
    stated_format,
    trained_length,
    wrong,
)
from separatrix.capacities.formula import Value, names, value, whole, words
from separatrix.capacities.layers import Evidence, Kind, LayerDescription, ModelDescription, Per, StatePart
from separatrix.capacities.number_formats import FORMATS, WIDEST, guessed_bits
from separatrix.errors import SeparatrixError
from separatrix.wording import counted

TRANSFORMERS = "transformers 5.22"
STATE_FIELDS = ("mamba_ssm_cache_dtype", "mamba_ssm_dtype")
"""Where a file asks for a format of its running states; ``transformers`` 5.22 follows neither, other programs do."""
BOTH_WAYS = ("use_bidirectional_attention", "is_encoder_decoder", "prefix_lm", "bidirectional")
"""Where a file says that positions read later ones."""
ONLY_IMAGES = "vision"
"""That only the tokens of an image do."""
IMAGES_NOTE = "tokens of one image read each other in both directions; what is said is about texts without images."
ENCODED = ("is_encoder_decoder", "add_cross_attention")
"""Where a file says that each layer also reads what an encoder made of a text."""


@dataclass(frozen=True, kw_only=True)
class PartRule:
    """An array that a layer keeps, as formulas."""

    name: str
    numbers: str
    per: Per = "sequence"
    size: str = "1"
    running: bool = False
    number_format: str = ""
    or_wider: bool = False
    unread: str = "0"
    when: str = "True"

    @property
    def formulas(self) -> tuple[str, ...]:
        """All formulas of the part."""
        return (self.numbers, self.size, self.unread, self.when)


@dataclass(frozen=True, kw_only=True)
class LayerRule:
    """A kind of layer, as formulas; ``window`` counts earlier positions."""

    kind: Kind
    name: str
    width: str = "hidden_size"
    heads: str = "0"
    head_width: str = "0"
    key_value_heads: str = "0"
    window: str | None = None
    softmax: bool = True
    parts: tuple[PartRule, ...] = ()

    @property
    def formulas(self) -> tuple[str, ...]:
        """All formulas of the layer and of what it keeps."""
        own = (self.width, self.heads, self.head_width, self.key_value_heads, self.window or "0")
        return (*own, *(each for part in self.parts for each in part.formulas))


@dataclass(frozen=True, kw_only=True)
class Check:
    """Sizes that must fit together, and what to say where they do not; ``{formula}`` in the text is its value."""

    that: str
    say: str


@dataclass(frozen=True, kw_only=True)
class Family:
    """One entry of the table.

    ``model_types`` are the values of the field ``model_type`` that belong to it; ``only`` what is another default for
    one of them. ``layers`` is the formula of the list of layers; ``places`` the kinds that each name in it means.
    ``shared``: so many of the last layers read the cache of an earlier one. ``state`` is the formula of the state in
    words, ``source`` where it is from, ``evidence`` how it was checked, ``not_run`` types of which no model was run.
    ``rotary``: whether rotary positions turn the keys. ``recognised_by``: fields that a file without ``model_type``
    has. ``state_space``: its recurrent layers are state-space models of Mamba's kind.
    """

    name: str
    title: str
    model_types: tuple[str, ...]
    layers: str
    state: str
    source: str
    code: str = TRANSFORMERS
    evidence: Evidence = "executed"
    not_run: tuple[str, ...] = ()
    places: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    rules: Mapping[str, LayerRule] = field(default_factory=dict[str, LayerRule])
    fields: Mapping[str, Field] = field(default_factory=dict[str, Field])
    only: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    checks: tuple[Check, ...] = ()
    notes: tuple[Check, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict[str, str])
    depth: str = "num_hidden_layers"
    shared: str = "0"
    passes: str = "1"
    causal: str = "True"
    state_format: str = "''"
    state_space: bool = False
    rotary: bool = True
    recognised_by: tuple[str, ...] = ()

    def describe(self, raw: Mapping[str, Any], name: str, source: str = "", given_type: str = "") -> ModelDescription:
        """The model that a config describes; raises :class:`SeparatrixError` naming every field that is wrong."""
        own = raw.get("model_type")
        reader = Reader(self, raw, given_type or (own if isinstance(own, str) else "") or self.model_types[0])
        try:
            return self._described(reader, name, source)
        except _Incomplete as error:
            kind = reader.model_type
            raise SeparatrixError(f"{name} is not a complete {kind} config: {error}") from None
        except SeparatrixError as error:  # sizes that do not fit together: say whose they are
            raise SeparatrixError(f"{name}: {error}") from None

    def _described(self, reader: "Reader", name: str, source: str) -> ModelDescription:
        for refused, why in self.refused.items():
            if (found := inside_of(reader.raw, refused)) is not None and found is not False:
                raise SeparatrixError(f"{refused} is {shortened(found)}: {why}")
        needed = (self.layers, self.depth, self.shared, self.passes)
        reader.require(needed, (each for rule in self.rules.values() for each in rule.formulas))
        kinds = self._kinds(reader)
        used = dict.fromkeys(each for kind in kinds for each in kind)
        reader.require(each for kind in used for each in self.rules[kind].formulas)
        for check in self.checks:
            if not reader.value(check.that):
                raise SeparatrixError(reader.filled(check.say))
        layers = _grouped(self._layers(reader, kinds))
        if not layers:
            raise SeparatrixError("the pattern of layers has none that mixes positions; correct it")
        if any(reader.raw.get(each) for each in ENCODED):
            layers = tuple(replace(layer, softmax=False) for layer in layers)
        notes = tuple(reader.filled(note.say) for note in self.notes if reader.value(note.that))
        both = [found for each in BOTH_WAYS if (found := reader.raw.get(each))]
        ahead = any(each != ONLY_IMAGES for each in both) or reader.raw.get("is_causal") is False
        return ModelDescription(
            name=name,
            family=self.name,
            layers=layers,
            passes=int(reader.value(self.passes)),
            trained_length=trained_length(reader.raw),
            number_format=format_name(stated_format(reader.raw)),
            state_format=format_name(reader.value(self.state_format)) or _wider(reader.raw),
            source=source,
            evidence="published" if reader.model_type in self.not_run else self.evidence,
            code=self.code.partition(" ")[0],
            state_space=self.state_space,
            causal=bool(reader.value(self.causal)) and not ahead,
            ahead=ahead,
            notes=(*notes, *([IMAGES_NOTE] if ONLY_IMAGES in both else []), *_not_followed(reader.raw, layers)),
        )

    def _kinds(self, reader: "Reader") -> list[tuple[str, ...]]:
        """The kinds of each layer in turn."""
        found: list[tuple[str, ...]] = []
        for place in cast("list[object]", reader.value(self.layers)):
            if not isinstance(place, str) or place not in self.places:
                known = ", ".join(self.places)
                raise SeparatrixError(f"a layer is {shortened(place)}; the layers of {self.name} are: {known}")
            found.append(self.places[place])
        if len(found) != (depth := int(reader.value(self.depth))):
            read = names(self.layers)
            listed = reader.listing(next((each for each in read if isinstance(reader.value(each), list)), read[0]))
            raise SeparatrixError(f"{listed} lists {counted(len(found), 'layer')} but num_hidden_layers is {depth}")
        return found

    def _layers(self, reader: "Reader", kinds: Sequence[tuple[str, ...]]) -> Iterable[LayerDescription]:
        # Where none would be left to read from, transformers shares nothing.
        kept = len(kinds) - int(reader.value(self.shared))
        kept = kept if kept > 0 else len(kinds)
        known: dict[object, LayerDescription] = {}
        for number, kind in enumerate(kinds):
            own = reader.of_layer(number)
            for each in kind:
                key = (each, id(own) if own is not reader else 0, number < kept)
                if key not in known:
                    known[key] = own.layer(self.rules[each])
                    if number >= kept:
                        known[key] = replace(known[key], state=(), cache=(), shared=True)
                yield known[key]


class _Incomplete(SeparatrixError):
    """Fields that are missing or wrong."""


class Reader:
    """The fields of one file, as a family reads them."""

    def __init__(self, family: Family, raw: Mapping[str, Any], model_type: str) -> None:
        self.family = family
        self.raw = raw
        self.model_type = model_type
        self._known: dict[str, Value] = {"model_type": model_type}
        self._open: list[str] = []

    def of_layer(self, number: int) -> "Reader":
        """The fields of a layer that has some of its own."""
        return self._own_readers.get(number, self)

    @cached_property
    def _own_readers(self) -> dict[int, "Reader"]:
        given = self.raw.get(LAYER_FIELD)
        if not isinstance(given, Mapping):
            return {}
        entries = cast("Mapping[str, Any]", given)
        found: dict[int, Reader] = {}
        alike: dict[str, Reader] = {}
        for key, own in entries.items():
            if str(key).isdigit() and isinstance(own, Mapping):
                fields = cast("Mapping[str, Any]", own)
                reader = Reader(self.family, {**self.raw, **fields}, self.model_type)
                found[int(key)] = alike.setdefault(repr(sorted(fields.items())), reader)
        return found

    def value(self, formula: str) -> Value:
        """What a formula of the family comes to."""
        return value(formula, self._lookup)

    def whole(self, formula: str) -> int:
        """What a formula comes to, which must be a whole number from 0."""
        return whole(formula, self.value(formula))

    def filled(self, text: str) -> str:
        """A sentence with the values of the formulas in its braces."""
        pieces = text.split("{")
        rest = (piece.partition("}") for piece in pieces[1:])
        shown = (self.value(formula) for formula, _, _ in (each.partition("}") for each in pieces[1:]))
        numbers = (
            f"{each:,}" if isinstance(each, int) and not isinstance(each, bool) else str(each)[:60] for each in shown
        )
        return pieces[0] + "".join(number + after for number, (_, _, after) in zip(numbers, rest, strict=True))

    def listing(self, name: str) -> str:
        """The list in the file that says which layers there are: of this name, or one that it is made from."""
        found, spelled = self._given(self._rule(name))
        others = names(self._rule(name).default or "0") if found is None else ()
        lists = [each for each in others if self._rule(each).kind in ("sizes", "texts")]
        return spelled or next((found for each in lists if (found := self._given(self._rule(each))[1])), name)

    def require(self, formulas: Iterable[str], others: Iterable[str] = ()) -> None:
        """Refuse a file that lacks a field or has a wrong one, and name all of them at once, with those of others."""
        problems = self._problems(formulas)
        if not problems:
            return
        # A field inside another one is of a variant that most files are not.
        problems.update({name: text for name, text in self._problems(others).items() if text or "." not in name})
        missing = [name for name, text in problems.items() if not text]
        parts = [f"missing {', '.join(missing)}"] if missing else []
        raise _Incomplete("; ".join(parts + [text for text in problems.values() if text]))

    def _problems(self, formulas: Iterable[str]) -> dict[str, str]:
        """The fields that these formulas need and that are missing (an empty text) or wrong."""
        problems: dict[str, str] = {}
        todo = [name for formula in formulas for name in names(formula)]
        seen: set[str] = set()
        while todo:
            name = todo.pop(0)
            if name in seen or name == "model_type":
                continue
            seen.add(name)
            rule = self._rule(name)
            found, spelled = self._given(rule)
            if found is not None:
                if text := wrong(rule, found):
                    problems[spelled] = f"{spelled} is {shortened(found)}: {text}"
            elif rule.default is None:
                problems[rule.spelled[0] if rule.spelled else name] = ""
            elif not (rule.null and spelled):
                todo += names(rule.default)
        return problems

    def _rule(self, name: str) -> Field:
        if name not in self.family.fields:
            raise SeparatrixError(f"the table of families reads {name!r} for {self.family.name} without declaring it")
        rule = self.family.fields[name]
        own = self.family.only.get(self.model_type, {})
        return replace(rule, default=own[name]) if name in own else rule

    def _given(self, rule: Field) -> tuple[object, str]:
        """What a file says, and how it spells it; a field that is null or missing is None."""
        first: tuple[object, str] = (None, "")
        for spelled in () if rule.kind == "made" else rule.spelled or (rule.name,):
            outer, _, inner = spelled.partition(".")
            if inner and (around := self.raw.get(outer)) is not None and not isinstance(around, Mapping):
                raise _Incomplete(f"{outer} is {shortened(around)}: an object is needed")
            found, there = at(self.raw, spelled)
            if first[0] is None and there and (found is not None or not first[1]):
                first = (found, spelled)
            elif rule.renamed and found not in (None, first[0]):
                both = f"{first[1]} is {shortened(first[0])} and {spelled} is {shortened(found)}"
                raise _Incomplete(f"{both}, but they are names of one size; correct one")
        return first

    def _lookup(self, name: str) -> Value:
        if name in self._known:
            return self._known[name]
        rule = self._rule(name)
        found, spelled = self._given(rule)
        # The default of a type is for files that leave a size out; what null means is the same for all types.
        if found is None and spelled and rule.kind not in ("texts", "sizes"):
            rule = self.family.fields[name]
        if found is None and rule.null and spelled:
            result = None
        elif found is None:
            if rule.default is None or name in self._open:
                raise _Incomplete(f"missing {rule.spelled[0] if rule.spelled else name}")
            self._open.append(name)
            try:
                result = self.value(rule.default)
            finally:
                self._open.remove(name)
        elif text := wrong(rule, found):
            raise _Incomplete(f"{spelled} is {shortened(found)}: {text}")
        else:
            result = found
        self._known[name] = result
        return result

    def layer(self, rule: LayerRule) -> LayerDescription:
        """One layer of a kind."""
        window = None if rule.window is None else self.whole(rule.window)
        heads, groups, head_width = map(self.whole, (rule.heads, rule.key_value_heads, rule.head_width))
        check_heads(self.raw, heads, groups, head_width, rotary=self.family.rotary)
        parts = [self._part(part) for part in rule.parts if self.value(part.when)]
        alone = window == 0
        return LayerDescription(
            kind="attention" if alone else rule.kind,
            name=f"{self.filled(rule.name)}{' to the position itself, all positions kept' if alone else ''}",
            width=self.whole(rule.width),
            heads=heads,
            head_width=head_width,
            key_value_heads=groups,
            window=window or None,
            softmax=rule.softmax and not alone,
            state=tuple(part for part in parts if not part.grows),
            cache=tuple(part for part in parts if part.grows),
            uncached=not parts,
        )

    def _part(self, rule: PartRule) -> StatePart:
        size, per, unread = self.whole(rule.size), rule.per, self.whole(rule.unread)
        numbers, formula = self.whole(rule.numbers), words(rule.numbers, self._lookup)
        if per == "window" and size == 0:
            if self.family.code != TRANSFORMERS:
                raise SeparatrixError("a window of 1 is the position itself alone; give 2 or more, or no window")
            # It cuts a cache to its last w − 1 positions, and an array to its last 0 is the whole array.
            per = "token"
        entries = {"window": size, "rest": size - 1}.get(per)
        if entries is not None:
            product = f"({formula})" if " + " in formula else formula
            numbers, formula = numbers * entries, f"{product} × {entries}"
        return StatePart(
            rule.name, numbers, formula, rule.running, rule.number_format, per, size, unread, rule.or_wider
        )  # fmt: skip


def _grouped(layers: Iterable[LayerDescription]) -> tuple[LayerDescription, ...]:
    """One description for all layers that are alike, those of bounded memory first."""
    counts: dict[LayerDescription, int] = {}
    for layer in layers:
        counts[layer] = counts.get(layer, 0) + 1
    found = (replace(layer, count=count) for layer, count in counts.items())
    return tuple(sorted(found, key=lambda layer: not layer.bounded))


def _wider(raw: Mapping[str, Any]) -> str:
    """The format of running states that a file asks for, where it has more bits than the one that code keeps."""
    asked = next((found for each in STATE_FIELDS if (found := format_name(raw.get(each)))), "")
    return asked if FORMATS.get(asked.lower(), guessed_bits(asked)) > FORMATS[WIDEST] else ""


def _not_followed(raw: Mapping[str, Any], layers: Sequence[LayerDescription]) -> tuple[str, ...]:
    """That a file asks for a format of running states that is not the one that is counted."""
    asked = next((found for each in STATE_FIELDS if (found := format_name(raw.get(each)))), "")
    if asked in ("", "auto", "float32") or not any(part.running for layer in layers for part in layer.state):
        return ()
    if _wider(raw):
        return (f"its config requests states in {asked}, which is counted; transformers 5.22 keeps float32.",)
    return (
        f"its config requests states in {asked} ({' or '.join(STATE_FIELDS)}); transformers 5.22 keeps "
        "float32 nevertheless, which is counted. Where a program follows the config, give --precision.",
    )
