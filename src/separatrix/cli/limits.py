"""``--max-memory`` as a real limit, shared by every verb that can need much memory.

Two guards are behind the option. Before the work a verb compares its own estimate with the limit (for certifications
``certificates.memory.check_memory``). During the work the operating system refuses memory beyond it: on Linux the soft
limit of the process's private writable memory (``RLIMIT_DATA``) is lowered to what it holds now plus what is left to
the limit, and put back afterwards. Python then raises ``MemoryError``, which ends here in one line. macOS accepts such
limits and ignores them, so there, and where there are none, only the estimate counts, and a verb that was given the
option says so.

What the limit cannot soften: python-flint ends the process with its own message when it is refused memory; its numbers
are small next to numpy's arrays, so that the arrays meet the limit first.

Training has no such option. It allocates what the model needs, and on a CPU Linux would grant more than there is and
end the process, or another one, without a word. :func:`within_free_memory` makes the system refuse instead.
"""

import re
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from separatrix.cli.output import notes
from separatrix.errors import SeparatrixError

DEFAULT = "8G"
LEAST_LEFT = 1 << 20
"""A process that already holds more than the limit still needs a little to say so."""
CONTROL_GROUP = Path("/sys/fs/cgroup")
"""Where a container reads its own limit."""
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}

MaxMemoryOption = Annotated[
    str | None,
    typer.Option("--max-memory", help=f"Stop rather than use more, such as 500M or 16G; {DEFAULT} if not given."),
]


def parse_bytes(text: str) -> int:
    """Return a size such as 8G, 500M or 1048576."""
    found = re.fullmatch(r"(\d{1,12}) *([KMGT]?)I?B?", text.strip().upper())
    if found is None:
        raise SeparatrixError(f"{text!r} is not a size; write one such as 8G or 500M")
    return int(found[1]) * UNITS[found[2]]


def memory_limit(given: str | None, default: str = DEFAULT) -> int:
    """Return the limit in bytes; says on standard error when a limit is given that this system does not enforce."""
    limit = parse_bytes(default if given is None else given)
    if given is not None and not enforceable():
        notes().print(f"note: {sys.platform} does not enforce --max-memory; only the estimate is compared with it")
    return limit


def enforceable() -> bool:
    """Return whether this system refuses memory beyond a limit: Linux does."""
    return sys.platform == "linux"


@contextmanager
def limited_memory(limit: int) -> Generator[None]:
    """Let the process grow to ``limit`` bytes of resident memory and no further, where that can be enforced."""
    if not enforceable():
        yield
        return
    try:
        with _growing_by(max(limit - _now("VmRSS"), LEAST_LEFT)):
            yield
    except MemoryError as error:
        size = f"{limit / (1 << 30):.3g} GiB"
        raise SeparatrixError(
            f"stopped: this needs more than the {size} of --max-memory; choose a smaller length or raise --max-memory"
        ) from error


@contextmanager
def within_free_memory() -> Generator[None]:
    """Let the process, and each that it starts, take what memory is free now and no more, where that can be enforced.

    >>> with within_free_memory():
    ...     len(bytes(1000))
    1000
    """
    if not enforceable():
        yield
        return
    with _growing_by(max(free_bytes(), LEAST_LEFT)):
        yield


def free_bytes() -> int:
    """Return the memory that Linux could hand out now: of the machine, or of the control group where that has less."""
    free = _now("MemAvailable", Path("/proc/meminfo"))
    try:
        most, used = [
            int((CONTROL_GROUP / f"memory.{name}").read_text(encoding="ascii")) for name in ("max", "current")
        ]
        stat = (CONTROL_GROUP / "memory.stat").read_text(encoding="ascii").split()
        used -= int(stat[stat.index("inactive_file") + 1])  # pages of files, which are let go when they are in the way
    except (OSError, ValueError):  # no such group, or no limit ("max")
        return free
    return max(0, min(free, most - used))


@contextmanager
def _growing_by(allowed: int) -> Generator[None]:
    """Refuse private writable memory beyond what is held now and ``allowed`` bytes more."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    ceilings = [each for each in (soft, hard) if each != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min([_now("VmData") + allowed, *ceilings]), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _now(name: str, file: Path = Path("/proc/self/status")) -> int:
    """Return a number of a file of /proc in bytes."""
    for line in file.read_text(encoding="ascii").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) << 10
    raise SeparatrixError(f"{file} has no {name}; this Linux does not say how much memory is in use")
