"""What is done to the meaning of a file: values of JSON, TOML and safetensors headers, with all around them whole.

A change is made in the parsed value and written again; what no value can say (NaN, numbers of a thousand digits, keys
twice) is put into the text through a mark.
"""

import copy
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tools.files.damage import Mutant, written

MARK = "\u2063raw\u2063"
"""Stands in strings that are replaced by a raw text; no file of ours holds it."""
VALUES: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 2, 3, 7, 255, 10**6, 2**31, 2**53 + 1, 2**63, 2**64, -(2**63), 10**30, 10**400, 0.5,
    -0.0, 1e308, 1e-320, "", " ", "x", "0", "-1", "nan", "../../../../etc/passwd", "/etc/passwd", "/dev/zero", ".",
    "a\0b", "\ud800", "\u202e", "💥", "a" * 100_000, "a\nb", [], {}, [[]], [None], ["x"], [1, 2, 3], [0] * 2000,
    {"a": 1}, {"": None}, [[[[[[[[]]]]]]]],
)  # fmt: skip
RAW = (
    "NaN", "Infinity", "-Infinity", "1e999", "-1e999", "9" * 5000, "-" + "9" * 300, "0." + "3" * 5000, "[" * 3000,
    "[" * 900 + "]" * 900, '{"a":' * 900 + "1" + "}" * 900, "1e-999", "00", "+1", "0x10", "1_000", "'x'", "undefined",
    '"\\ud83d"', '"\\u0000"', '"\\x"', "// comment",
)  # fmt: skip
"""What no value can say."""
TOML_RAW = (
    "nan", "inf", "-inf", "1e400", "9" * 5000, "1979-05-27T07:32:00Z", "1979-05-27", "07:32:00", "[" * 3000,
    "[" * 200 + "]" * 200, "{a = " * 100 + "1" + "}" * 100, "0x10", "0o7", "1_000", "'''x\ny'''", "null", '"\\ud800"',
    "[" + ", ".join(map(str, range(60_000))) + "]", "[" + ", ".join(map(str, range(1, 9000))) + "]",
)  # fmt: skip
Path_ = tuple[Any, ...]


def paths(value: Any, at: Path_ = ()) -> Iterator[Path_]:
    """Where there is something to change, the whole first."""
    yield at
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in entries:
        yield from paths(each, (*at, key))


def changed(value: Any, chance: random.Random, raw: tuple[str, ...]) -> tuple[str, str, Any, str | None]:
    """Kind, words, the changed value, and the text that its mark represents."""
    copied = copy.deepcopy(value)
    places = list(paths(copied))
    place = chance.choice(places[1:] or places)
    if not place:
        return "value", "the whole", chance.choice(VALUES), None
    holder = copied
    for key in place[:-1]:
        holder = holder[key]
    where, kind = ".".join(map(str, place)), chance.randrange(6)
    if kind == 0 and isinstance(holder, dict):
        del holder[place[-1]]
        return "missing", f"{where} is missing", copied, None
    if kind == 1 and isinstance(holder, dict):
        again = json.dumps(chance.choice(VALUES), ensure_ascii=True)
        first = json.dumps(holder[place[-1]], ensure_ascii=True)
        holder[place[-1]] = MARK
        return "twice", f"{where} appears twice", copied, f"{first}, {json.dumps(str(place[-1]))}: {again}"
    if kind == 2:
        text = chance.choice(raw)
        holder[place[-1]] = MARK
        return "no value", f"{where} is {text[:30]}", copied, text
    if kind == 3 and isinstance(holder, dict):
        holder[chance.choice(("", "extra", "__proto__", "a" * 1000, "\0"))] = holder.pop(place[-1])
        return "missing", f"{where} has another name", copied, None
    if kind == 4:
        other = chance.choice(places[1:])
        found = value
        for key in other:
            found = found[key]
        holder[place[-1]] = copy.deepcopy(found)
        return "value", f"{where} is that of {'.'.join(map(str, other))}", copied, None
    replacement = chance.choice(VALUES)
    holder[place[-1]] = replacement
    return "value", f"{where} is {str(replacement)[:30]!r}", copied, None


def json_text(value: Any, raw: str | None) -> str:
    """The value as JSON, the mark in it replaced."""
    text = json.dumps(value, ensure_ascii=True)
    return text if raw is None else text.replace(json.dumps(MARK), raw)


def json_mutants(data: bytes, chance: random.Random, wrap: Callable[[str], bytes] = str.encode) -> Iterator[Mutant]:
    """Endlessly many changes of the values of a JSON file; ``wrap`` makes a file of a changed text."""
    value = json.loads(data)
    while True:
        kind, what, other, raw = changed(value, chance, RAW)
        yield written(kind, what, wrap(json_text(other, raw)))


def toml_mutants(value: dict[str, Any], chance: random.Random) -> Iterator[Mutant]:
    """Endlessly many changes of the values of a TOML file of tables that hold no tables but inline ones."""
    while True:
        kind, what, other, raw = changed(value, chance, TOML_RAW)
        if not isinstance(other, dict):
            yield written(kind, what, json_text(other, raw).encode())
            continue
        yield written(kind, what, toml_text(other, raw).encode("utf-8", "surrogatepass"))


def toml_text(value: dict[str, Any], raw: str | None = None) -> str:
    """The value as TOML."""
    plain = [f"{json.dumps(key)} = {_inline(each)}" for key, each in value.items() if not isinstance(each, dict)]
    for table, entries in value.items():
        if isinstance(entries, dict):
            plain += [f"[{json.dumps(table)}]", *(f"{json.dumps(key)} = {_inline(e)}" for key, e in entries.items())]
    text = "\n".join(plain) + "\n"
    return text if raw is None else text.replace(json.dumps(MARK), raw)


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_inline(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return json.dumps(value)


# -- safetensors ---------------------------------------------------------------------------------------------


def header_end(data: bytes) -> int:
    """Where the header of a safetensors file ends."""
    return 8 + int.from_bytes(data[:8], "little")


def tensor_mutants(data: bytes, chance: random.Random) -> Iterator[Mutant]:
    """Endlessly many changes of a safetensors file: its length field, tensors, offsets, types and description."""
    end = header_end(data)
    header, body = json.loads(data[8:end]), data[end:]
    metadata = header.get("__metadata__", {})
    described = {key: json.loads(text) for key, text in metadata.items() if text.startswith("{")}

    def packed(text: str, size: int | None = None) -> bytes:
        encoded = text.encode("utf-8", "surrogatepass")
        encoded += b" " * (-len(encoded) % 8)
        return (len(encoded) if size is None else size).to_bytes(8, "little") + encoded + body

    for size in (0, 1, 2, end - 9, end - 7, len(data) - 8, len(data), 10**8, 10**8 + 1, 2**31, 2**63 - 1, 2**64 - 1):
        yield written("header", f"header of {size} bytes", size.to_bytes(8, "little") + data[8:])
    # A file that is as large as its header says.
    for size in (10**8, 3 * 10**8):
        yield Mutant("header", f"a header of {size} spaces", _spaces(size, packed(json.dumps(header))))
    yield written("header", "thirty thousand tensors", _many(header, packed))
    names = [name for name in header if name != "__metadata__"]
    while True:
        other = copy.deepcopy(header)
        name = chance.choice(names)
        first, last = header[name]["data_offsets"]
        offsets: tuple[Any, ...] = (
            [first, last + 8], [first + 8, last + 8], [last, first], [0, len(body)], [-8, last], [first, 2**63],
            [2**64, 2**65], [first], [], [first, last, last], ["0", "8"], [first + 0.5, last], None,
            header[chance.choice(names)]["data_offsets"],
        )  # fmt: skip
        choice = chance.choice(offsets)
        other[name]["data_offsets"] = choice
        yield written("offsets", f"{name} lies at {choice}", packed(json.dumps(other)))
        other = copy.deepcopy(header)
        shapes: tuple[Any, ...] = ([2**32, 2**32], [-1], [0], [], [1] * 70, [2**63], [2**40], None, "x", [1.5], [[1]])
        choice = chance.choice(shapes)
        other[name]["shape"] = choice
        yield written("shape", f"{name} has shape {str(choice)[:30]}", packed(json.dumps(other)))
        other = copy.deepcopy(header)
        choice = chance.choice(("F64", "I64", "F32", "U8", "BOOL", "BF16", "F8_E4M3", "F4", "C64", "Q4", "", None, 3))
        other[name]["dtype"] = choice
        yield written("dtype", f"{name} has type {choice}", packed(json.dumps(other)))
        twice = json.dumps({**header, MARK: 1}).replace(
            f"{json.dumps(MARK)}: 1", f"{json.dumps(name)}: {json.dumps(header[chance.choice(names)])}"
        )
        yield written("twice", f"{name} appears twice", packed(twice))
        kind, what, changed_header, raw = changed(header, chance, RAW)
        yield written(kind, f"header: {what}", packed(json_text(changed_header, raw)))
        for key in described:
            kind, what, value, raw = changed(described[key], chance, RAW)
            other = {**header, "__metadata__": {**metadata, key: json_text(value, raw)}}
            yield written(kind, f"description: {what}", packed(json.dumps(other)))


def _spaces(size: int, whole: bytes) -> Callable[[Path], None]:
    def apply(path: Path) -> None:
        end = header_end(whole)
        path.write_bytes(size.to_bytes(8, "little") + whole[8:end].ljust(size) + whole[end:])

    return apply


def _many(header: dict[str, Any], packed: Callable[[str], bytes]) -> bytes:
    empty = {f"empty.{number}": {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]} for number in range(30_000)}
    return packed(json.dumps({**header, **empty}))
