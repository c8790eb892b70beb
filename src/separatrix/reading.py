"""Reading files that may be anything: whatever is there ends in its content or in one line.

What lies where a file is expected may be a folder, a pipe that nobody writes to, a device that never ends, a file of a
terabyte, or text that is nearly JSON. Everything here looks before it reads, reads no more than the caller expects,
and raises :class:`SeparatrixError` that names the path and the remedy.

JSON is read strictly: a repeated key, NaN and numbers beyond a float are refused, because the next program
would read something else in the same file.
"""

import json
import math
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from separatrix.errors import SeparatrixError

LARGEST_HEADER = 16 << 20
"""Bytes of the header of a safetensors file; a hundred thousand tensors fit."""
_KINDS: tuple[tuple[Callable[[int], bool], str], ...] = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_LONG_EXPONENT = re.compile(r"[eE]\+?\d{3}")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def read_file(path: Path, largest: int, remedy: str) -> bytes:
    """The content of a plain file of at most ``largest`` bytes; ``remedy`` ends the message where there is none.

    >>> read_file(Path("/dev/zero"), 1 << 20, "give a certificate file")
    Traceback (most recent call last):
    separatrix.errors.SeparatrixError: cannot read /dev/zero: it is a device, not a file; give a certificate file
    """
    return _read(path, largest, remedy, tensors=False)


def read_tensors(path: Path, largest: int, remedy: str) -> bytes:
    """The content of a safetensors file; its header is compared with its size before the rest is read.

    >>> read_tensors(Path("/dev/zero"), 1 << 20, "give a network file")
    Traceback (most recent call last):
    separatrix.errors.SeparatrixError: cannot read /dev/zero: it is a device, not a file; give a network file
    """
    return _read(path, largest, remedy, tensors=True)


def check_plain(path: Path, remedy: str) -> os.stat_result:
    """What the system knows about a plain file; anything else is refused, also what is not there.

    >>> check_plain(Path("/"), "give a file")
    Traceback (most recent call last):
    separatrix.errors.SeparatrixError: cannot read /: it is a folder, not a file; give a file
    """
    try:
        about = path.stat()
    except (OSError, ValueError) as error:
        raise _unreadable(path, error, remedy) from error
    _refuse_others(path, about, remedy)
    return about


def contained(folder: Path, name: str, remedy: str) -> Path:
    """The file ``name`` inside a folder; a name or a link that leads out of it is refused.

    >>> contained(Path("folder"), "weights/a.safetensors", "train again").as_posix()
    'folder/weights/a.safetensors'
    >>> contained(Path("folder"), "../a.safetensors", "train again")
    Traceback (most recent call last):
    separatrix.errors.SeparatrixError: folder/../a.safetensors leads out of folder, which is not followed; train again
    """
    try:
        path = (folder / name).resolve()
        inside = "\0" not in name and path.is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):  # a link to itself
        inside = False
    if not inside:
        raise SeparatrixError(f"{_shown(folder / name)} leads out of {folder}, which is not followed; {remedy}")
    return folder / name


def parse_json(data: bytes | str, infinite: bool = False) -> Any:
    """The value of a JSON text in UTF-8; raises ValueError, and nothing else, for every other text.

    ``infinite`` allows NaN and infinities, which some model configs have.

    >>> parse_json(b'{"length": 8}')
    {'length': 8}
    >>> parse_json('{"length": 8, "length": 4}')
    Traceback (most recent call last):
    ValueError: 'length' appears twice
    """
    if not isinstance(data, bytes | str):  # pyright: ignore[reportUnnecessaryIsInstance] - it may come from a database
        raise ValueError("it is not text")
    text = data if isinstance(data, str) else data.decode("utf-8")
    # Python callbacks for every number are slow, so they are made only where one could be infinite.
    strict: dict[str, Any] = {} if infinite else {"parse_constant": _refuse_constant}
    if not infinite and _LONG_EXPONENT.search(text):
        strict["parse_float"] = _finite
    try:
        found: Any = json.loads(text, object_pairs_hook=_unique, **strict)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if _SURROGATE.search(text):
        json.dumps(found, ensure_ascii=False).encode("utf-8")
    return found


def _read(path: Path, largest: int, remedy: str, *, tensors: bool) -> bytes:
    # Looked at before it is opened, because opening a device may do something, and after it, because it may be another.
    check_plain(path, remedy)
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
            about = os.fstat(stream.fileno())
            _refuse_others(path, about, remedy)
            if about.st_size > largest:
                raise SeparatrixError(f"{_shown(path)} is larger than {_size(largest)}; {remedy}")
            if tensors:
                _check_header(path, stream.read, about.st_size, remedy)
                stream.seek(0)
            # What the system makes up while it is read (/proc) has no size.
            data = stream.read() if about.st_size else stream.read(min(largest, 1 << 20) + 1)
    except OSError as error:
        raise _unreadable(path, error, remedy) from error
    if len(data) > largest:
        raise SeparatrixError(f"{_shown(path)} is larger than {_size(largest)}; {remedy}")
    return data


def _check_header(path: Path, read: Callable[[int], bytes], size: int, remedy: str) -> None:
    """Refuse a safetensors file whose size is not what its header says."""
    length = read(8)
    number = int.from_bytes(length, "little")
    if len(length) < 8 or number > min(LARGEST_HEADER, size - 8):
        raise SeparatrixError(f"{_shown(path)} is not a whole safetensors file: its header is cut off; {remedy}")
    text = read(number)
    try:
        header: Any = parse_json(text)
        tensors = [cast("dict[str, Any]", header[name]) for name in header if name != "__metadata__"]
        end = max((int(each["data_offsets"][1]) for each in tensors), default=0)
    except (ValueError, KeyError, TypeError, IndexError, OverflowError) as error:
        raise SeparatrixError(f"{_shown(path)} is not a safetensors file: its header is damaged; {remedy}") from error
    if 8 + number + end != size:
        raise SeparatrixError(
            f"{_shown(path)} is not a whole safetensors file: it has {size} bytes, its header says {8 + number + end}; "
            f"{remedy}"
        )


def kind_in_words(mode: int) -> str:
    """What lies somewhere that is not a plain file, from the mode that the system tells.

    >>> kind_in_words(Path("/dev/null").stat().st_mode)
    'a device, not a file'
    """
    return next((f"{words}, not a file" for is_kind, words in _KINDS if is_kind(mode)), "not a file")


def _refuse_others(path: Path, about: os.stat_result, remedy: str) -> None:
    if not stat.S_ISREG(about.st_mode):
        raise SeparatrixError(f"cannot read {_shown(path)}: it is {kind_in_words(about.st_mode)}; {remedy}")


def _unreadable(path: Path, error: OSError | ValueError, remedy: str) -> SeparatrixError:
    reason = error.strerror if isinstance(error, OSError) else error
    return SeparatrixError(f"cannot read {_shown(path)}: {reason or type(error).__name__}; {remedy}")


def _shown(path: Path) -> str:
    text = str(path)
    return text if len(text) <= 200 and text.isprintable() else repr(text[:200])


def _size(number: int) -> str:
    return f"{number >> 30} GiB" if number >= 1 << 30 else f"{number >> 20} MiB"


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)[:40]!r} appears twice")
    return found


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is not a number")


def _finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise ValueError(f"{text[:40]} is beyond what a float holds")
    return value
