"""The fields of a config file: what each may hold, and those that files of every family share.

What enters from a file is validated strictly: a size is a whole number above 0, never a text, a float or a truth value.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

FORMAT_FIELDS = ("dtype", "torch_dtype")
"""Where a file names the format of its numbers; ``transformers`` takes the first where both are there."""
LENGTH_FIELDS = ("max_position_embeddings", "n_positions", "n_ctx", "context_length", "max_seq_len", "model_max_length")
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


def _size_or_none(given: object) -> int | None:
    # Only shown, so a file is not refused for it: some write -1 or 1e30 for "no limit".
    return given if isinstance(given, int) and not isinstance(given, bool) and 0 < given <= LARGEST else None


def trained_length(raw: Mapping[str, Any]) -> int | None:
    """The context length that a file names.

    >>> trained_length({"n_positions": 1024}), trained_length({"max_position_embeddings": -1})
    (1024, None)
    """
    return next((found for each in LENGTH_FIELDS if (found := _size_or_none(raw.get(each)))), None)


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
    return given.strip().removeprefix("torch.")[:40] if isinstance(given, str) else ""


def decoder_fields(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields of the decoder of a file that holds them in ``text_config``; the format is often outside.

    >>> decoder_fields({"dtype": "float32", "text_config": {"hidden_size": 8, "dtype": None}})
    {'hidden_size': 8, 'dtype': 'float32'}
    """
    inner: object = raw.get("text_config")
    if not isinstance(inner, Mapping):
        return raw
    found = cast("Mapping[str, Any]", inner)
    return {**found, FORMAT_FIELDS[0]: stated_format(found) or stated_format(raw)}
