"""Network files taken apart and put together again, entry by entry, so that a test can write what no builder would."""

import copy
import hashlib
import json
import struct
from typing import Any

from separatrix.constructions import Options, constructions
from separatrix.networks.store import to_bytes
from separatrix.provers import prove

CODES = {"I64": ("q", 8), "U8": ("B", 1)}


class File:
    """The structure of a network file and its tensors: name to type, shape and numbers."""

    def __init__(self, data: bytes) -> None:
        size = int.from_bytes(data[:8], "little")
        header, body = json.loads(data[8 : 8 + size]), data[8 + size :]
        self.structure: dict[str, Any] = json.loads(header.pop("__metadata__")["separatrix"])
        self.tensors: dict[str, tuple[str, list[int], list[int]]] = {}
        for name, entry in header.items():
            start, stop = entry["data_offsets"]
            code, width = CODES[entry["dtype"]]
            numbers = list(struct.unpack(f"<{(stop - start) // width}{code}", body[start:stop]))
            self.tensors[name] = (entry["dtype"], entry["shape"], numbers)

    def header(self) -> tuple[dict[str, Any], bytes]:
        """The header as an object, and the body."""
        header: dict[str, Any] = {"__metadata__": {"separatrix": json.dumps(self.structure)}}
        body = b""
        for name, (kind, shape, numbers) in self.tensors.items():
            more = struct.pack(f"<{len(numbers)}{CODES[kind][0]}", *numbers)
            header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(body), len(body) + len(more)]}
            body += more
        return header, body

    def to_bytes(self) -> bytes:
        """The file."""
        header, body = self.header()
        return joined(json.dumps(header), body)

    def copy(self) -> "File":
        """An independent copy."""
        return copy.deepcopy(self)


def joined(header: str, body: bytes) -> bytes:
    """A file from its header's text and its body."""
    shown = header.encode()
    return len(shown).to_bytes(8, "little") + shown + body


def proved(name: str, length: int, parameters: dict[str, Any] | None = None, **options: Any) -> tuple[dict, bytes]:
    """The proof file of a construction, and its network file."""
    built = constructions()[name].build(length, Options(parameters=parameters or {}, **options))
    found = prove(built.network, built.task, length, built.arithmetic)
    assert found is not None
    return found.content, to_bytes(built.network)


def claimed(content: dict[str, Any], data: bytes, **changes: Any) -> dict[str, Any]:
    """The same claim about another file."""
    return {**copy.deepcopy(content), "sha256": hashlib.sha256(data).hexdigest(), **changes}
