"""A folder full of traps, and one call in a process of its own inside it.

The process is forked, so that a call costs no start-up; it has its own process group, real output files and real
signals. A call that works longer than it may is interrupted as by Ctrl-C and must end within a grace time.
"""

import gc
import hashlib
import json
import os
import shutil
import signal
import sqlite3
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
GRACE = 30.0
"""Seconds that an interrupted call has to save and end."""
FURNITURE = (
    ("certify", "index-lookup", "--length", "8", "--out", "good"),
    ("train", "index-lookup", "LSTM-(1,4)", "--length", "4", "--steps", "1", "--examples", "8", "--batch", "2",
     "--store", "good.sqlite", "--json"),
)  # fmt: skip
FUNCTIONS = """
import time

def majority(x):
    return 2 * sum(x) > len(x)

def raises(x):
    raise RuntimeError("a fault of the\\nuser's own")

def sleeps(x):
    time.sleep(1000)

def wrong(x):
    return object()
"""


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


def furnish(folder: Path) -> None:
    """Fill an empty folder: a good certificate, broken ones, unreadable and wrong files, a link that leads outside."""
    folder.mkdir(parents=True)
    good = folder / "good"
    for arguments in FURNITURE:
        # In processes of their own, as the calls: a process that has used torch's threads cannot be forked.
        if (made := call(arguments, folder, "file", 120.0)).code != 0:
            raise RuntimeError(f"the folder for the calls could not be furnished: {made}")
    for name, change in (("cut", lambda data: data[: len(data) // 2]), ("flipped", _flipped)):
        shutil.copytree(good, folder / name)
        weights = next((folder / name).glob("*.safetensors"))
        weights.write_bytes(change(weights.read_bytes()))
    (folder / "folder").mkdir()
    (folder / "closed").mkdir(mode=0o555)
    (folder / "outside").symlink_to("/proc/self/nothing")
    (folder / "empty.json").write_text("")
    (folder / "deep.json").write_text("[" * 100_000)
    (folder / "nan.json").write_text(json.dumps({"model_type": "gpt2", "n_embd": float("nan"), "n_layer": -3}))
    (folder / "binary.toml").write_bytes(bytes(range(256)) * 20)
    (folder / "several.toml").write_text('name = 3\ntask = "no such"\n[axes]\nlenght = [0, -1]\nsteps = []\n')
    (folder / "text.sqlite").write_text("this is no database\n" * 400)
    with sqlite3.connect(folder / "newer.sqlite") as newer:
        newer.execute("create table groups (anything)")
        newer.execute("pragma user_version = 999999")
    newer.close()
    (folder / "raises.py").write_text(FUNCTIONS)
    (folder / "syntax.py").write_text("def f(x:\n")


def _flipped(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 0x40]) + data[middle + 1 :]


def contents(folder: Path) -> dict[str, str]:
    """Every file below a folder with the hash of what it holds; links are not followed."""
    return {
        str(path.relative_to(folder)): (
            "link"
            if path.is_symlink()
            else hashlib.sha256(path.read_bytes()).hexdigest()
            if path.is_file()
            else "folder"
        )
        for path in sorted(folder.rglob("*"))
    }


def call(
    arguments: Sequence[str], folder: Path, output: Output, seconds: float, main: Callable[[], object] = cli.main
) -> Outcome:
    """Make one call inside ``folder``; its outputs go to files beside it. ``main`` is what a call runs."""
    out, err = folder.with_name("out"), folder.with_name("err")
    started = time.monotonic()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        _live(arguments, folder, output, out, err, main)
    interrupted, deadline = False, started + seconds
    while True:
        ended, status, usage = os.wait4(child, os.WNOHANG)
        if ended:
            break
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL if interrupted else signal.SIGINT)
            interrupted, deadline = True, time.monotonic() + GRACE
        time.sleep(0.002)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # workers that a killed call left behind
    return Outcome(
        tuple(arguments), output, os.waitstatus_to_exitcode(status),
        out.read_text(encoding="utf-8", errors="replace"), err.read_text(encoding="utf-8", errors="replace"),
        interrupted, usage.ru_maxrss << 10, time.monotonic() - started,
    )  # fmt: skip


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
