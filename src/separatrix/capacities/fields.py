"""The fields of a config file: what each may hold, and those that files of every family share.

What enters from a file is validated strictly: a size is a whole number above 0, never a text, a float or a truth value.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

from separatrix.errors import SeparatrixError

FORMAT_FIELDS = ("dtype", "torch_dtype")
"""Where a file names the format of its numbers; ``transformers`` takes the first where both are there."""
LENGTH_FIELDS = ("max_position_embeddings", "n_positions", "n_ctx", "context_length", "max_seq_len", "model_max_length")
INNER_FIELDS = ("text_config", "decoder")
"""Where files of models that read more than text hold the fields of their decoder."""
LAYER_FIELD = "per_layer_config"
"""Where files of transformers give a layer a field of its own."""
USUAL_NAMES = frozenset({"hidden_size", "num_hidden_layers", "num_attention_heads"})
"""Names that ``transformers`` gives the sizes of every decoder, next to those of its family."""
LARGEST = 10**9
DEEPEST = 10**5

FieldKind: TypeAlias = Literal["size", "depth", "count", "factor", "flag", "sizes", "texts", "text", "any", "made"]
"""What a field may hold; ``made``: nothing in a file, its formula alone."""


@dataclass(frozen=True, kw_only=True)
class Field:
    """One field: its spellings, the usual one first, what it may hold, and a formula for files that lack it.

    ``null``: a file that says null means None, not the default (a window that is switched off).
    """

    name: str
    kind: FieldKind = "size"
    spelled: tuple[str, ...] = ()
    default: str | None = None
    null: bool = False

    @property
    def renamed(self) -> bool:
        """Whether the usual name stands for the family's own: which one a program takes then depends on their order."""
        return bool(self.spelled) and self.spelled[0] not in USUAL_NAMES and not USUAL_NAMES.isdisjoint(self.spelled)


def at(raw: Mapping[str, Any], spelled: str) -> tuple[object, bool]:
    """A field, further in where its name has dots, and whether it is there at all."""
    found: object = raw
    for step in spelled.split("."):
        if not isinstance(found, Mapping) or step not in found:
            return None, False
        found = cast("Mapping[str, object]", found)[step]
    return found, True


def inside_of(raw: Mapping[str, Any], spelled: str) -> object:
    """A field, None where it is missing."""
    return at(raw, spelled)[0]


def wrong(rule: Field, given: object) -> str:
    """What is wrong with a value, empty where nothing is."""
    most = DEEPEST if rule.kind == "depth" else LARGEST
    match rule.kind:
        case "size" | "depth" | "count":
            return wrong_number(given, 0 if rule.kind == "count" else 1, most)
        case "factor":
            if isinstance(given, bool) or not isinstance(given, int | float) or not 0 < given <= LARGEST:
                return f"a number above 0 and up to {LARGEST} is needed"
        case "flag":
            return "" if isinstance(given, bool) else "true or false is needed"
        case "text":
            return "" if isinstance(given, str) else "a text is needed"
        case "texts" | "sizes":
            if not isinstance(given, list) or len(cast("list[object]", given)) > DEEPEST:
                return f"a list of at most {DEEPEST} is needed"
            entries = cast("list[object]", given)
            if rule.kind == "texts":
                return "" if all(isinstance(each, str) for each in entries) else "a list of texts is needed"
            return next((text for each in entries if (text := wrong_number(each, 0, LARGEST))), "")
        case "any" | "made":
            return ""
    return ""


def wrong_number(given: object, least: int, most: int) -> str:
    """What is wrong with a whole number, empty where nothing is."""
    if isinstance(given, bool) or not isinstance(given, int):
        return "an integer is needed"
    if given < least:
        return f"it must be greater than {least - 1}"
    return "" if given <= most else f"it must be less than or equal to {most}"


def shortened(given: object) -> str:
    """A value as messages show it, cut short."""
    text = repr(given)
    return text if len(text) <= 40 else f"{text[:37]}..."


def printed(text: str) -> str:
    """A text of a file as notes and tables show it: cut short, and quoted where a terminal could obey it.

    >>> printed("bfloat16"), printed("\\x1b[31m")
    ('bfloat16', "'\\\\x1b[31m'")
    """
    short = text[:40]
    return short if short.isprintable() else repr(short)


def _size_or_none(given: object) -> int | None:
    # Only shown, so a file is not refused for it: some write -1 or 1e30 for "no limit".
    return given if isinstance(given, int) and not isinstance(given, bool) and 0 < given <= LARGEST else None


def trained_length(raw: Mapping[str, Any]) -> int | None:
    """The context length that a file names.

    >>> trained_length({"n_positions": 1024}), trained_length({"max_position_embeddings": -1})
    (1024, None)
    """
    return next((found for each in LENGTH_FIELDS if (found := _size_or_none(raw.get(each)))), None)


def check_heads(raw: Mapping[str, Any], heads: int, groups: int, width: int, *, rotary: bool) -> None:
    """Refuse heads that keys and values do not divide, and rotary positions that turn a single number of a head.

    Rotary positions turn numbers in pairs; of a single one ``transformers`` makes two, so that keys are wider than
    their heads.
    """
    if groups and heads % groups:
        raise SeparatrixError(f"{groups} heads of keys and values do not divide {heads} heads; correct one of them")
    nested = raw.get("rope_parameters")
    stated = cast("Mapping[str, object]", nested) if isinstance(nested, Mapping) else raw
    part = stated.get("partial_rotary_factor", raw.get("partial_rotary_factor"))
    turned = width * part if isinstance(part, int | float) and 0 < part <= 1 else width
    if rotary and heads and 1 <= turned < 2:
        raise SeparatrixError(
            f"heads of width {width}, of which rotary positions turn one number, are not described; give wider heads"
        )


def stated_format(raw: Mapping[str, Any]) -> str:
    """The format of the numbers as a file names it: ``dtype``, or ``torch_dtype`` where that is missing or null.

    >>> stated_format({"torch_dtype": None, "dtype": "float32"}), stated_format({"torch_dtype": "bfloat16"})
    ('float32', 'bfloat16')
    """
    return next((raw[name] for name in FORMAT_FIELDS if isinstance(raw.get(name), str) and raw[name]), "")


def format_name(given: object) -> str:
    """The name of a format of numbers; what is not a name gives none.

    >>> format_name("torch.bfloat16"), format_name(16)
    ('bfloat16', '')
    """
    return printed(given.strip().removeprefix("torch.")) if isinstance(given, str) else ""


def decoder_fields(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields of the decoder of a file that holds them further in; the format is often outside.

    >>> decoder_fields({"dtype": "float32", "text_config": {"hidden_size": 8, "dtype": None}})
    {'hidden_size': 8, 'dtype': 'float32'}
    """
    inner = next((raw[each] for each in INNER_FIELDS if isinstance(raw.get(each), Mapping)), None)
    if inner is None:
        return raw
    found = cast("Mapping[str, Any]", inner)
    return {**found, FORMAT_FIELDS[0]: stated_format(found) or stated_format(raw)}


def one_attention(raw: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    """A file of flash-linear-attention whose attention layers are named once, each with its own sizes.

    ``attn`` may be one kind of attention layers or a list of kinds. In the result it is one, of all layers, with those
    that have a window in ``windowed``; layers of other kinds have their sizes in ``per_layer_config``.

    >>> listed = [{"layers": [1], "num_heads": 4, "window_size": 8}, {"layers": [3], "num_heads": 2}]
    >>> found = one_attention({"attn": listed}, "a file")
    >>> found["attn"]["layers"], found["attn"]["windowed"], found["per_layer_config"]["3"]["attn"]["num_heads"]
    ([1, 3], [1], 2)
    """
    given: object = raw.get("attn")
    if not isinstance(given, list | Mapping):
        return raw
    listed = cast("list[object]", given if isinstance(given, list) else [given])
    own: dict[int, Mapping[str, Any]] = {}
    for entry in listed:
        shown = shortened(entry)
        kind: Mapping[str, Any] = cast("Mapping[str, Any]", entry) if isinstance(entry, Mapping) else {}
        layers: object = kind.get("layers")
        if not isinstance(layers, list):
            raise SeparatrixError(f"{where}: attn has {shown}; each of its kinds is an object with layers")
        for number in cast("list[object]", layers):
            if wrong_number(number, 0, DEEPEST) or number in own:
                raise SeparatrixError(f"{where}: attn names layer {shortened(number)}; each is a number, named once")
            own[cast("int", number)] = kind
    if not own:
        return {**raw, "attn": {"layers": []}}
    windowed = [number for number, kind in own.items() if kind.get("window_size")]
    merged = {**next(iter(own.values())), "layers": list(own), "windowed": windowed}
    alone = {} if len(listed) == 1 else {LAYER_FIELD: {str(number): {"attn": kind} for number, kind in own.items()}}
    return {**raw, "attn": merged, **alone}
