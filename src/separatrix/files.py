"""Writing files so that nothing is ever half-written: to a temporary name in the same folder, then renamed."""

import errno
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from separatrix.errors import SeparatrixError
from separatrix.reading import kind_in_words


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a whole file or nothing; parent folders are made. A failure ends in one line that names the file.

    Devices and pipes are refused: a file would take their place.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomically(Path(folder) / "new" / "notes.txt", "done")
    ...     [each.name for each in Path(folder, "new").iterdir()]
    ['notes.txt']
    """
    _check_place(path)
    data = content.encode("utf-8") if isinstance(content, str) else content
    partial: str | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".partial")
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        # mkstemp makes private files; what we publish should be as readable as any new file of this user.
        mask = os.umask(0)
        os.umask(mask)
        Path(partial).chmod(0o666 & ~mask)
        Path(partial).replace(path)
        _sync(path.parent)
    except OSError as error:
        raise _refused(path, error) from error
    finally:
        if partial is not None:
            Path(partial).unlink(missing_ok=True)


def check_writable(path: Path) -> None:
    """Raise what :func:`write_atomically` would, before the work whose result it is to hold; nothing is left behind.

    Asked of the folder that is there already: a small file is written in it and taken away again.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     check_writable(Path(folder) / "new" / "notes.txt")
    ...     list(Path(folder).iterdir())
    []
    """
    _check_place(path)
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        folder = next(each for each in path.absolute().parents if each.exists())
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".", suffix=".partial") as stream:
            stream.write(bytes(4096))
            stream.flush()
            os.fsync(stream.fileno())
    except (OSError, ValueError) as error:
        raise _refused(path, error) from error


def _refused(path: Path, error: OSError | ValueError) -> SeparatrixError:
    said = getattr(error, "strerror", None) or error
    return SeparatrixError(f"cannot write {path}: {said}; check that the folder exists, is writable and has room")


def _check_place(path: Path) -> None:
    """Refuse to put a file in the place of what is none; ``/dev/stdout`` is a link to whatever is open."""
    remedy = "give the name of a file"
    try:
        open_elsewhere = path.is_symlink() and str(path.readlink()).startswith("/proc/")
        mode = path.stat().st_mode
    except (OSError, ValueError):  # nothing is there, or writing will tell what is wrong
        return
    if open_elsewhere:
        raise SeparatrixError(f"cannot write {path}: it is a link to what a process has open; {remedy}")
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise SeparatrixError(f"cannot write {path}: it is {kind_in_words(mode)}; {remedy}")


def _sync(folder: Path) -> None:
    """Bring new names to the disk, so that a power cut cannot take them back; not every system can do that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
