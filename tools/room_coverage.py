"""Is every line of a room run by the room's own tests? ``python -m tools.room_coverage`` ends with 1 if one is not.

For each room that others rely on for proofs (``arithmetic``, ``certificates``, ``communication``, and the kernel, a
package of its own) the tests of its folder are run under coverage, one process after the other, and every line that
none of them runs is named. What a test of another room runs does not count, and neither does what only another process
runs. Branches are counted too: a condition that always went the same way is listed but does not end in 1, because some
of them guard loops that end by a theorem. ``--write docs/reliability.md`` keeps the record and fills the section;
``--rooms`` measures fewer and leaves the others as they were recorded.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.pages import RECORDS, fill_section, keep, markdown_table

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("arithmetic", "certificates", "communication", "kernel")
SOURCES = {"kernel": "src/separatrix_kernel"}
"""Where a room is that is a package of its own."""
MARK = "coverage"
"""The name of the record and of the section of docs/reliability.md."""


def room_record(report: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    """What coverage's JSON says about a room: counts, and by file the lines and branches that no test takes."""
    files: Mapping[str, Any] = report["files"]
    return {
        "files": len(files),
        "lines": sum(each["summary"]["num_statements"] for each in files.values()),
        "branches": sum(each["summary"]["num_branches"] for each in files.values()),
        "not_run": {name: each["missing_lines"] for name, each in files.items() if each["missing_lines"]},
        "not_taken": {name: each["missing_branches"] for name, each in files.items() if each["missing_branches"]},
        "seconds": round(seconds),
    }


def measured(room: str) -> dict[str, Any]:
    """Run the room's own tests under coverage; a failing test ends here."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        data = f"--data-file={folder}/data"
        coverage = [sys.executable, "-m", "coverage"]
        tests = ["-m", "pytest", "-q", "-p", "no:xdist", f"tests/{room}"]
        ended = subprocess.run(
            [*coverage, "run", "--branch", f"--source={SOURCES.get(room, f'src/separatrix/{room}')}", data, *tests],
            cwd=ROOT,
            check=False,
        )
        if ended.returncode:
            raise SystemExit(f"tests/{room} failed; mend them before their coverage is measured")
        written = Path(folder) / "report.json"
        subprocess.run([*coverage, "json", data, "-q", "-o", str(written)], cwd=ROOT, check=True)
        report = json.loads(written.read_text(encoding="utf-8"))
    return room_record(report, time.perf_counter() - started)


def _all(room: Mapping[str, Any], what: str) -> int:
    """How many lines or branches of a room are in one of its lists."""
    return sum(map(len, room[what].values()))


def page(record: Mapping[str, Any]) -> str:
    """The section of docs/reliability.md, from the record of all rooms."""
    lines = sum(each["lines"] for each in record.values())
    missing = sum(_all(each, "not_run") for each in record.values())
    headings = ["room", "files", "lines", "not run", "branches", "not taken", "seconds"]
    rows = [
        [
            f"`{room}`", each["files"], f"{each['lines']:,}", _all(each, "not_run"), f"{each['branches']:,}",
            _all(each, "not_taken"), each["seconds"],
        ]
        for room, each in record.items()
    ]  # fmt: skip
    return (
        f"Of {lines:,} lines of code in {len(record)} rooms, {missing} are run by none of the room's own tests.\n\n"
        + markdown_table(headings, rows)
    )


def named(record: Mapping[str, Any]) -> Iterator[str]:
    """Every line that is not run and every branch that is not taken, one row for each file."""
    for each in record.values():
        yield from (f"{name}: not run: {', '.join(map(str, lines))}" for name, lines in each["not_run"].items())
        for name, branches in each["not_taken"].items():
            yield f"{name}: not taken: {', '.join(f'{start} to {end}' for start, end in branches)}"


def main(arguments: Sequence[str]) -> int:
    """Measure, print, keep; 1 where a line is not run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rooms", nargs="+", choices=ROOMS, default=ROOMS)
    parser.add_argument("--write", type=Path, help="the page whose section is filled, next to its records")
    asked = parser.parse_args(arguments)
    found = {room: measured(room) for room in asked.rooms}
    print("\n".join([*named(found), page(found)]))
    if asked.write is not None:
        kept = asked.write.parent / RECORDS.name / f"{MARK}.json"
        before = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
        both = {**before, **found}
        record = {room: both[room] for room in ROOMS if room in both}
        keep(MARK, record, asked.write)
        fill_section(asked.write, MARK, page(record))
    return int(any(each["not_run"] for each in found.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
