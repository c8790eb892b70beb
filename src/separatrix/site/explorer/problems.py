"""What is wrong with a request, in plain words: the field as the page calls it, what was given, and what is expected.

The page's names are the titles of the fields in ``requests``; what has none keeps its own name.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from separatrix.site.explorer import requests

MOST = 5
"""Faults that are told."""
LONGEST = 40
"""Characters of a given value that are repeated."""
BOUNDS = {"greater_than_equal": ("at least", "ge"), "less_than_equal": ("at most", "le"),
          "greater_than": ("above", "gt"), "less_than": ("below", "lt")}  # fmt: skip
KINDS = {"int_type": "a whole number", "int_from_float": "a whole number", "int_parsing": "a whole number",
         "float_type": "a number", "float_parsing": "a number", "finite_number": "a number",
         "string_type": "a text", "bool_type": "true or false", "dict_type": "a list of names and values",
         "model_attributes_type": "an object", "model_type": "an object"}  # fmt: skip
NOT_JSON = ("json_invalid", "json_type")


def _titles() -> dict[str, str]:
    models = [each for each in vars(requests).values() if isinstance(each, type) and issubclass(each, BaseModel)]
    return {name: field.title for each in models for name, field in each.model_fields.items() if field.title}


TITLES = _titles()


def in_words(errors: Sequence[Mapping[str, Any]]) -> str:
    """The faults of a request that pydantic found, in one line.

    >>> in_words([{"type": "less_than_equal", "loc": ("body", "setting", "exponent"), "msg": "", "input": 99,
    ...            "ctx": {"le": 16}}])
    'Precision Kc is 99; choose at most 16'
    """
    # A union names each of its members; one sentence about the field is enough.
    told = dict.fromkeys(_told(each) for each in errors[:MOST])
    return "; ".join(told).replace("\n", " ").encode(errors="replace").decode()


def _told(error: Mapping[str, Any]) -> str:
    kind, about = str(error["type"]), error.get("ctx", {})
    own = [str(part) for part in error["loc"] if not isinstance(part, int)]
    # Below a field stand keys of its own and the members of a union; its title is the last one known.
    known = [TITLES[part] for part in own if part in TITLES]
    name = known[-1] if known else own[-1] if own else "the request"
    given = _shown(error.get("input"))
    if kind in NOT_JSON:
        return "the request is not JSON"
    if kind == "missing":
        return f"{'the request' if own in ([], ['body']) else own[-1]} is missing"
    if kind == "extra_forbidden":
        return f"there is no field {own[-1][:LONGEST] if own else given}"
    if kind in BOUNDS:
        word, key = BOUNDS[kind]
        return f"{name} is {given}; choose {word} {about.get(key)}"
    if kind in KINDS:
        return f"{name} is {given}; it has to be {KINDS[kind]}"
    if kind in ("literal_error", "enum"):
        return f"{name} is {given}; choose {about.get('expected')}"
    if kind == "string_pattern_mismatch":
        return f"{name} is {given}, which is no name; use letters, digits and hyphens"
    if kind in ("string_too_long", "too_long"):
        return f"{name} is too long; at most {about.get('max_length')} are taken"
    return f"{name}: {error['msg']}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
