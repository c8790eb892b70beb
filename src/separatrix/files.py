"""Writing files so that nothing is ever half-written: to a temporary name in the same folder, then renamed."""

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
        raise SeparatrixError(
            f"cannot write {path}: {error.strerror or error}; check that the folder exists, is writable and has room"
        ) from error
    finally:
        if partial is not None:
            Path(partial).unlink(missing_ok=True)


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
