"""Strict readers: JSON without surprises, and safetensors files with the standard library alone.

Everything that is read comes from an adversary. A file has one meaning or none: duplicate keys, floats, unknown or
missing fields, a bool where a number is due, tensors that overlap, leave gaps or are never used, all end in a refusal.
So does a claim that would take hours or a whole memory: sizes are bounded here, and work that can grow faster than the
files is counted (``Budget``).
"""

import hashlib
import json
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

LARGEST_FILE = 1 << 28
LARGEST_TEXT = 1 << 26
MOST_EMPTY = 1 << 24
MOST_AXES = 3
ITEM_BYTES = {"I64": 8, "U8": 1, "F32": 4}
ITEM_CODES = {"I64": "q", "U8": "B", "F32": "f"}


class RefusedError(Exception):
    """The claim is not accepted; the message names the obligation that failed, or what could not be read."""


def require(condition: bool, message: str) -> None:
    """Refuse unless the condition holds."""
    if not condition:
        raise RefusedError(message)


class Budget:
    """Steps that may be taken before a claim is refused, so that none keeps its reader waiting for ever."""

    def __init__(self, most: int, what: str) -> None:
        self.left, self.refusal = most, f"there are more than {most} {what}, too many to check"

    def spend(self, steps: int) -> None:
        """Refuse when all is spent."""
        self.left -= steps
        if self.left < 0:
            raise RefusedError(self.refusal)


def read_bytes(path: Path) -> bytes:
    """The content of a plain file of a sensible size."""
    try:
        require(path.is_file() and path.stat().st_size <= LARGEST_FILE, f"{path} is not a file below 256 MiB")
        return path.read_bytes()
    except OSError as error:
        raise RefusedError(f"{path} cannot be read: {error.strerror}") from error


def hashed(stated: Any, data: bytes, what: str) -> str:
    """The hash of a file, which must be the stated one."""
    digest = hashlib.sha256(data).hexdigest()
    require(text(stated, "the hash") == digest, f"{what} SHA-256 {digest}, not the stated one")
    return digest


def parse(data: bytes | str, what: str) -> Any:
    """JSON in UTF-8 with integers as its only numbers and no key twice."""

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        require(len({key for key, _ in found}) == len(found), f"{what} repeats a key")
        return dict(found)

    def number(text: str) -> Any:
        raise RefusedError(f"{what} holds {text[:20]}; integers are its only numbers")

    require(len(data) <= LARGEST_TEXT, f"{what} is longer than {LARGEST_TEXT} bytes")
    try:
        shown = data.decode("utf-8") if isinstance(data, bytes) else data
        return json.loads(shown, object_pairs_hook=pairs, parse_float=number, parse_constant=number)
    except (ValueError, RecursionError) as error:
        raise RefusedError(f"{what} is not JSON") from error


def fields(value: Any, what: str, names: Iterable[str], optional: Iterable[str] = ()) -> dict[str, Any]:
    """An object with exactly these fields, the optional ones perhaps absent."""
    require(isinstance(value, dict), f"{what} is not an object")
    found = cast("dict[str, Any]", value)
    needed = set(names)
    for name in sorted(needed - found.keys()):
        raise RefusedError(f"{what} lacks the field {name!r}")
    for name in sorted(found.keys() - needed - set(optional)):
        raise RefusedError(f"{what} has the unknown field {name!r}")
    return found


def integer(value: Any, what: str, least: int | None = None, most: int | None = None) -> int:
    """A whole number in a range; true and false are not numbers."""
    require(type(value) is int, f"{what} is not a whole number")
    low = least is None or value >= least
    require(low and (most is None or value <= most), f"{what} is {str(value)[:40]}, out of range")
    return cast("int", value)


def text(value: Any, what: str, choices: Iterable[str] | None = None) -> str:
    """A string, perhaps one of some."""
    require(type(value) is str, f"{what} is not a text")
    require(choices is None or value in set(choices), f"{what} is {str(value)[:40]!r}, which is not known")
    return cast("str", value)


def truth(value: Any, what: str) -> bool:
    """True or false."""
    require(type(value) is bool, f"{what} is neither true nor false")
    return cast("bool", value)


def items(value: Any, what: str, length: int | None = None) -> list[Any]:
    """A list, perhaps of a given length."""
    require(type(value) is list, f"{what} is not a list")
    found = cast("list[Any]", value)
    require(length is None or len(found) == length, f"{what} has {len(found)} entries, not {length}")
    return found


def integers(value: Any, what: str, least: int | None = None, most: int | None = None) -> list[int]:
    """A list of whole numbers in a range."""
    return [integer(each, f"an entry of {what}", least, most) for each in items(value, what)]


def interval(value: Any, what: str, most: int | None = None) -> tuple[int, int]:
    """A half-open range of numbers from 0 on: [first, stop]."""
    first, stop = integers(items(value, what, 2), what, 0, most)
    require(first <= stop, f"{what} ends before it begins")
    return first, stop


class Tensors:
    """The arrays of a safetensors file by name, each to be taken exactly once, and the structure in its header."""

    def __init__(self, data: bytes) -> None:
        size = int.from_bytes(data[:8], "little")
        require(len(data) >= 8 and size <= len(data) - 8, "the network file is shorter than its header says")
        header = parse(data[8 : 8 + size], "the header of the network file")
        require(isinstance(header, dict), "the header of the network file is not an object")
        entries = cast("dict[str, Any]", header)
        about = fields(entries.pop("__metadata__", None), "the network file's metadata", ["separatrix"])
        self.structure = parse(text(about["separatrix"], "the structure"), "the structure")
        self._body = memoryview(data)[8 + size :]
        self._empty = Budget(MOST_EMPTY, "rows and columns of tensors without numbers")
        self._left = {name: self._entry(value, name) for name, value in entries.items()}
        self._check_layout()

    def _entry(self, value: Any, name: str) -> tuple[str, list[int], int, int]:
        entry = fields(value, f"tensor {name!r}", ["dtype", "shape", "data_offsets"])
        kind = text(entry["dtype"], f"the type of tensor {name!r}", ITEM_BYTES)
        shape = integers(entry["shape"], f"the shape of tensor {name!r}", 0, len(self._body))
        require(len(shape) <= MOST_AXES, f"tensor {name!r} has more than {MOST_AXES} axes")
        start, stop = interval(entry["data_offsets"], f"the place of tensor {name!r}")
        count = 1
        for each in shape:
            count *= each
        # An axis of a tensor without numbers takes no bytes, but a reader would walk along it.
        self._empty.spend(0 if count else sum(shape))
        require(stop - start == count * ITEM_BYTES[kind], f"tensor {name!r} has another size than its shape says")
        return kind, shape, start, stop

    def _check_layout(self) -> None:
        """Every byte belongs to exactly one tensor."""
        at = 0
        for start, stop in sorted((entry[2], entry[3]) for entry in self._left.values()):
            require(start == at, "the tensors of the network file overlap or leave a gap")
            at = stop
        require(at == len(self._body), "the network file has bytes that no tensor uses")

    def take(self, name: Any, kind: str, axes: int, what: str) -> tuple[list[int], tuple[Any, ...]]:
        """The shape and the numbers of a tensor of this type with so many axes; nobody may take it again."""
        label = text(name, what)
        require(label in self._left, f"{what} names the tensor {label[:40]!r}, which is absent or already used")
        found, shape, start, stop = self._left.pop(label)
        require(found == kind and len(shape) == axes, f"{what} is {found} with {len(shape)} axes, not {kind}, {axes}")
        count = (stop - start) // ITEM_BYTES[kind]
        return shape, struct.unpack(f"<{count}{ITEM_CODES[kind]}", self._body[start:stop])

    def finish(self) -> None:
        """Refuse a file with tensors that nothing has taken."""
        for name in sorted(self._left):
            raise RefusedError(f"tensor {name[:40]!r} is not part of the network")
