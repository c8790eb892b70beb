"""What is done to the bytes of a file, whatever its format, and what is put in its place.

A :class:`Mutant` changes one file in place. Byte mutants cut, flip, zero, double, drop and mix bytes, at the places a
format calls interesting and at random ones; place mutants put something there that is not a plain file of this kind: a
folder, a pipe, a device, a socket, a link that leads nowhere, round in a circle or out of the folder, a picture, a file
of a terabyte without content, one that may not be read.
"""

import gzip
import os
import random
import socket
import struct
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

TERABYTE = 1 << 40


@dataclass(frozen=True)
class Mutant:
    """One change of a file: its kind, what it is in words, and how it is made."""

    kind: str
    what: str
    apply: Callable[[Path], None]


def written(kind: str, what: str, data: bytes) -> Mutant:
    """The file with another content."""

    def apply(path: Path) -> None:
        path.write_bytes(data)

    return Mutant(kind, what, apply)


def byte_mutants(data: bytes, interesting: Sequence[int], chance: random.Random) -> Iterator[Mutant]:
    """Endlessly many: first every cut at an interesting place, then all kinds in turn."""
    places = sorted({place for place in (0, 1, *interesting, len(data) - 1) if 0 <= place < len(data)})
    for place in places:
        yield written("cut", f"cut to {place} of {len(data)} bytes", data[:place])
    while True:
        place = _place(data, interesting, chance)
        yield written("cut", f"cut to {place} of {len(data)} bytes", data[:place])
        bit = 1 << chance.randrange(8)
        flipped = data[:place] + bytes([data[place] ^ bit]) + data[place + 1 :]
        yield written("bit", f"bit {bit} of byte {place} flipped", flipped)
        place, end = _range(data, interesting, chance)
        yield written("zeroed", f"bytes {place} to {end} zeroed", data[:place] + bytes(end - place) + data[end:])
        place, end = _range(data, interesting, chance)
        yield written("doubled", f"bytes {place} to {end} doubled", data[:end] + data[place:])
        place, end = _range(data, interesting, chance)
        yield written("dropped", f"bytes {place} to {end} dropped", data[:place] + data[end:])
        place, end = _range(data, interesting, chance)
        noise = chance.randbytes(end - place)
        yield written("noise", f"bytes {place} to {end} random", data[:place] + noise + data[end:])
        tail = chance.choice((b"\0", b"\n", b" ", b"x", bytes(4096), chance.randbytes(100), data))
        yield written("longer", f"{len(tail)} bytes more", data + tail)


def _place(data: bytes, interesting: Sequence[int], chance: random.Random) -> int:
    near = chance.choice(interesting) + chance.randrange(-4, 5) if interesting and chance.random() < 0.5 else -1
    return near if 0 <= near < len(data) else chance.randrange(len(data))


def _range(data: bytes, interesting: Sequence[int], chance: random.Random) -> tuple[int, int]:
    place = _place(data, interesting, chance)
    return place, min(len(data), place + chance.choice((1, 2, 4, 8, 16, 100, 512, 4096)))


def picture() -> bytes:
    """A whole PNG of one point."""

    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b"")


def place_mutants(data: bytes) -> list[Mutant]:
    """Everything that can lie where a file is expected."""
    other_kinds = {
        "empty": b"",
        "a picture": picture(),
        "packed with gzip": gzip.compress(data, mtime=0),
        "a text": b"This is a text.\n" * 40,
        "in UTF-16": data.decode("latin-1").encode("utf-16"),
        "a mark of byte order before it": b"\xef\xbb\xbf" + data,
        "a pickle": b"cbuiltins\nprint\n(Vunpickled\ntR.",
        "an archive": b"PK\x03\x04" + bytes(26),
        "a megabyte of zeros": bytes(1 << 20),
        "a megabyte of brackets": b"[" * (1 << 20),
        "a megabyte of nested objects": b'{"a":' * (1 << 18),
        "a number of a megabyte": b"9" * (1 << 20),
    }
    nodes: dict[str, Callable[[Path], None]] = {
        "a folder": Path.mkdir,
        "a pipe": os.mkfifo,
        "/dev/zero": lambda path: path.symlink_to("/dev/zero"),
        "/dev/full": lambda path: path.symlink_to("/dev/full"),
        "/dev/null": lambda path: path.symlink_to("/dev/null"),
        "/proc/self/mem": lambda path: path.symlink_to("/proc/self/mem"),
        "a socket": _socket,
        "a link to nothing": lambda path: path.symlink_to("nothing/at/all"),
        "a link to itself": lambda path: path.symlink_to(path.name),
        "a link to a folder": lambda path: path.symlink_to("/"),
        "nothing": lambda path: None,
        "a terabyte of nothing": lambda path: _sparse(path, data, TERABYTE),
        "two gigabytes of nothing after it": lambda path: _sparse(path, data, 1 << 31),
    }
    found = [
        *(written("another kind", what, content) for what, content in other_kinds.items()),
        *(Mutant("no plain file", what, _replacing(make)) for what, make in nodes.items()),
        Mutant("a link that leads out", "the same content outside the folder", _link_outside),
    ]
    if os.geteuid() != 0:  # nothing is unreadable to root
        found.append(Mutant("no plain file", "it may not be read", lambda path: path.chmod(0)))
    return found


def _replacing(make: Callable[[Path], None]) -> Callable[[Path], None]:
    def apply(path: Path) -> None:
        path.unlink()
        make(path)

    return apply


def _socket(path: Path) -> None:
    # Bound by a relative name: the names of sockets are short.
    before = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(before)


def _sparse(path: Path, data: bytes, size: int) -> None:
    path.write_bytes(data)
    os.truncate(path, size)


def _link_outside(path: Path) -> None:
    with tempfile.NamedTemporaryFile(delete=False, dir=outside(path), suffix=path.suffix) as copy:
        copy.write(path.read_bytes())
    path.unlink()
    path.symlink_to(copy.name)


def outside(path: Path) -> Path:
    """A folder that is no part of the one in which calls are made."""
    folder = next(each for each in path.parents if each.name == "place").with_name("outside")
    folder.mkdir(exist_ok=True)
    return folder
