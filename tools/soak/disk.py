"""Sweeps on disks that are full at every write: ``unshare -rm python -m tools.soak.disk SWEEP.toml FOLDER STRIDE``.

A file system of its own in memory gives out room page by page (4096 bytes) and name by name (inodes). With room for 0,
1, 2, … pages more than there is, until the sweep fits, every write that takes room fails in one of the attempts; with
0, 1, 2, … names every new file does. After each failure, which must be one line and exit code 2, room is made and the
same command goes on; what it ends with is compared with an undisturbed sweep.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.soak.commands import ended, forked, prepare, sweep
from tools.soak.stores import Damage, contents, damage, leftovers, results

PAGE = 4096
PLENTY = {"size": 64 << 20, "nr_inodes": 4096}
FAILED = 2


def private_mounts() -> bool:
    """Whether this system lets us mount a file system that only our own process sees."""
    if shutil.which("unshare") is None:
        return False
    tried = subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/tmp"], capture_output=True)
    return tried.returncode == 0


def mounted(folder: Path, **limits: int) -> None:
    """An empty file system with these limits."""
    options = ",".join(f"{name}={value}" for name, value in {**PLENTY, **limits}.items())
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(folder)], check=True)


def made_larger(folder: Path) -> None:
    """Make room."""
    options = ",".join(["remount", *(f"{name}={value}" for name, value in PLENTY.items())])
    subprocess.run(["mount", "-o", options, str(folder)], check=True)


def attempt(file: Path, store: Path, told: Path) -> int:
    """The command, with its standard error in a file."""

    def work() -> int:
        os.dup2(os.open(told, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), 2)
        return sweep(file, store)

    return ended(forked(work))


def one(file: Path, folder: Path, undisturbed: dict[str, Any], **limits: int) -> dict[str, Any]:
    """A sweep on a disk with these limits, then with room: codes, what was reported, what was damaged."""
    mounted(folder, **limits)
    store, told = folder / "runs.sqlite", folder.with_suffix(".errors")
    try:
        code = attempt(file, store, told)
        message = told.read_text(encoding="utf-8")
        made_larger(folder)
        before = results(store)
        wrong: list[str] = [] if code in (0, FAILED) else [f"exit code {code}"]
        if code == FAILED and not (message.startswith("separatrix: ") and message.count("\n") == 1):
            wrong.append(f"told {message!r}")
        last = attempt(file, store, told)
        wrong += [] if last == 0 else [f"exit code {last} with room: {told.read_text(encoding='utf-8')!r}"]
        after = results(store)
        wrong += [f"result {name} was gone or changed" for name in before if after.get(name) != before[name]]
        what = damage(store, undisturbed, counted=False) if last == 0 else Damage(lost=len(undisturbed))
        return {"code": code, "told": message.strip(), "wrong": wrong, "damage": list(what.numbers()), **limits}
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def ladder(limit: str, unit: int, first: int) -> Iterator[dict[str, int]]:
    """The limits to try, in steps of one unit."""
    for count in range(first, 10**6):
        yield {limit: count * unit}


def climb(file: Path, folder: Path, undisturbed: dict[str, Any], limit: str, unit: int, stride: int) -> None:
    """Try ever more room until the sweep fits; tells each attempt as a line of JSON.

    A tmpfs with a size or number of names of 0 has no limit at all, so that the ladder begins above: at a page, and at
    the name that the folder itself needs.
    """
    for number, limits in enumerate(ladder(limit, unit, 1)):
        if number % stride == 0:
            found = one(file, folder, undisturbed, **limits)
            sys.stdout.write(f"{json.dumps({'happened': limit, **found})}\n")
            sys.stdout.flush()
            if found["code"] == 0:
                return


def main(words: list[str]) -> None:
    """SWEEP.toml FOLDER STRIDE: climb both ladders in steps of STRIDE units."""
    file, folder, stride = Path(words[0]), Path(words[1]), int(words[2])
    folder.mkdir(exist_ok=True)
    prepare(file)
    mounted(folder)
    store = folder / "runs.sqlite"
    ended(forked(lambda: sweep(file, store)))
    undisturbed = contents(store)
    assert leftovers(store) == []
    subprocess.run(["umount", str(folder)], check=True)
    climb(file, folder, undisturbed, "size", PAGE, stride)
    climb(file, folder, undisturbed, "nr_inodes", 1, stride)


if __name__ == "__main__":
    main(sys.argv[1:])
