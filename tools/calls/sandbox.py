"""One call in a process of its own, inside a folder.

The process is forked, so that a call costs no start-up; it has its own process group, real output files and real
signals. A call that works longer than it may is interrupted as by Ctrl-C and must end within a grace time. Where the
campaign is run by the superuser, to whom no folder is closed, calls are made by one who may only write in their folder.
"""

import ctypes
import gc
import hashlib
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from separatrix import cli

Output: TypeAlias = Literal["file", "closed pipe", "full disk"]
GRACE = 300.0
"""Seconds after which an interrupted call is taken to hang; to save and end takes one or two."""
IDLE = 4.0
"""How many times as long as it may work a call may take in all, as one does that waits, or that others keep waiting."""
NOBODY = 65534
"""Whoever owns nothing."""


@dataclass(frozen=True)
class Outcome:
    """How a call ended."""

    arguments: tuple[str, ...]
    output: Output
    code: int
    out: str
    err: str
    interrupted: bool
    peak: int
    """Bytes of resident memory at most."""
    seconds: float


def contents(folder: Path) -> dict[str, str]:
    """Every file below a folder with the hash of what it holds; links are not followed."""
    return {str(path.relative_to(folder)): _content(path) for path in sorted(folder.rglob("*"))}


def _content(path: Path) -> str:
    if path.is_symlink():
        return "link"
    if not path.is_file():
        return "folder"
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except PermissionError:
        return "closed"


def call(
    arguments: Sequence[str], folder: Path, output: Output, seconds: float, main: Callable[[], object] = cli.main,
    until_output: bool = False, idle: float = IDLE,
) -> Outcome:  # fmt: skip
    """Make one call inside ``folder``; its outputs go to files next to it. ``main`` is what a call runs.

    It is interrupted after ``seconds`` of work, which on a busy machine take up to ``idle`` times as long, or
    ``until_output`` when it has said something.
    """
    out, err = folder.with_name("out"), folder.with_name("err")
    for file in (out, err):
        file.write_bytes(b"")
    started = time.monotonic()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        _live(arguments, folder, output, out, err, main)
    interrupted_at: float | None = None
    while True:
        ended, status, usage = os.wait4(child, os.WNOHANG)
        if ended:
            break
        now = time.monotonic()
        if interrupted_at is None:
            said = until_output and out.stat().st_size > 0
            if said or (now - started > seconds and (now - started > idle * seconds or _worked(child) > seconds)):
                os.kill(child, signal.SIGINT)
                interrupted_at = now
        elif now - interrupted_at > GRACE:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.002 if now - started < 1 else 0.02)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # workers that a killed call left behind
    return Outcome(
        tuple(arguments), output, os.waitstatus_to_exitcode(status),
        out.read_text(encoding="utf-8", errors="replace"), err.read_text(encoding="utf-8", errors="replace"),
        interrupted_at is not None, usage.ru_maxrss << 10, time.monotonic() - started,
    )  # fmt: skip


def _worked(process: int) -> float:
    """Seconds that a process has had a core, so far as the system says; else as many as one likes."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return float("inf")
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _live(
    arguments: Sequence[str], folder: Path, output: Output, out: Path, err: Path, main: Callable[[], object]
) -> None:
    """The child: everything from here to its end is the call."""
    code = 70
    try:
        os.setpgid(0, 0)
        os.chdir(folder)
        os.environ.pop("SEPARATRIX_STORE", None)
        os.environ.update(COLUMNS="100", HOME=str(folder.parent / "home"))
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        os.dup2(os.open(err, flags), 2)
        os.dup2(os.open(out, flags), 1)
        if output == "full disk":
            os.dup2(os.open("/dev/full", os.O_WRONLY), 1)
        elif output == "closed pipe":
            reading, writing = os.pipe()
            os.dup2(writing, 1)
            os.close(writing)
            os.close(reading)
        give_up_power()
        # As an interpreter that starts here would: streams of these descriptors, not of those the parent had.
        sys.stdout, sys.stderr = (os.fdopen(number, "w", encoding="utf-8") for number in (1, 2))
        gc.callbacks.clear()  # of the parent's, which would be interrupted in the call's place
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.argv = ["separatrix", *arguments]
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 70
    except BaseException:  # what escapes is what a user would see
        traceback.print_exc()
    try:
        sys.stdout.flush()
    except OSError:
        code = 120  # as the interpreter ends when its last output cannot be written
    finally:
        sys.stderr.flush()
        os._exit(code)


def hand_over(folder: Path) -> None:
    """Let those who make the calls own a folder and all that lies in it, where the campaign is run by the superuser."""
    if os.geteuid() == 0:
        for path in [folder, *folder.rglob("*")]:
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)


def give_up_power() -> None:
    """Keep of the superuser's rights only that of reading: Python itself may lie in the superuser's own folder."""
    if os.geteuid() != 0 or sys.platform != "linux":
        return
    reading, keep_capabilities, dumpable, ambient, raise_one = 2, 8, 4, 47, 2  # numbers of linux/capability.h, prctl.h
    system = ctypes.CDLL(None)
    system.prctl(keep_capabilities, 1, 0, 0, 0)
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    version, bit = 0x20080522, 1 << reading
    kept = system.capset((ctypes.c_uint32 * 2)(version, 0), (ctypes.c_uint32 * 6)(bit, bit, bit, 0, 0, 0))
    if kept != 0 or system.prctl(ambient, raise_one, reading, 0, 0) != 0:
        raise OSError("the superuser's rights could not be given up")
    system.prctl(dumpable, 1, 0, 0, 0)
