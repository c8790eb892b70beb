"""What a user installs and waits for: ``python -m tools.footprint [--tests FILE] [--write docs/reliability.md]``.

Four measurements, kept as one record: how long a command takes that computes nothing, and which modules it loads; how
many modules each room has and which rooms they import (the graph that import-linter holds to its contracts); how large
the wheel is and what it unpacks to; which tests take longest. The tests are not run here: ``--tests`` names the file
that ``pytest --junitxml FILE`` wrote, and without it their part stays as it was recorded. Times are medians of
``--repeats`` fresh processes, to be taken on a machine that does nothing else.

What must stay so is held by ``tests/test_package.py``: which packages a command may load, how large the wheel may be.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import grimp
from hatchling.builders.wheel import WheelBuilder
from tools.pages import RECORDS, ROOT, fill_section, keep, markdown_table

from separatrix.provenance import versions

MARK = "footprint"
"""The name of the record and of the section of docs/reliability.md."""
PACKAGE = "separatrix"
CALLS = (("--help",), ("list", "tasks"))
"""Commands that compute nothing, so that all of their time is starting."""
SLOWEST = 10
HEAVIEST = 4
WIDEST_NAME = 100
REPEATS = 15
LOADED = """
import json, sys
from separatrix.cli.app import run
codes = [run(call) for call in {calls}]
print(json.dumps([codes, sorted(sys.modules)]))
"""


# -- starting --------------------------------------------------------------------------------------------


def modules_after(*calls: Sequence[str]) -> tuple[list[int], list[str]]:
    """Exit codes of commands in one fresh process, and the modules that it has loaded then."""
    program = LOADED.format(calls=[list(call) for call in calls])
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    codes, names = json.loads(ended.stdout.splitlines()[-1])
    return codes, names


def packages(modules: Iterable[str]) -> set[str]:
    """The packages of these modules that do not come with Python, without those that are private to another."""
    tops = {name.partition(".")[0] for name in modules} - set(sys.stdlib_module_names) - {"cython_runtime"}
    return {name for name in tops if not name.startswith("_")}


def seconds_of(command: Sequence[str], repeats: int) -> float:
    """The median time of a command in fresh processes, after one that brings its files into memory."""
    times: list[float] = []
    for _ in range(repeats + 1):
        started = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        times.append(time.perf_counter() - started)
    return statistics.median(times[1:])


def import_seconds(report: str) -> dict[str, float]:
    """Seconds by package, without what a package imports of others, from what ``python -X importtime`` prints."""
    found: Counter[str] = Counter()
    for line in report.splitlines():
        own, _, rest = line.removeprefix("import time:").partition("|")
        name = rest.partition("|")[2].strip().partition(".")[0]
        if line.startswith("import time:") and own.strip().isdigit():
            found[name if name not in sys.stdlib_module_names else "Python's own"] += int(own)
    return {name: microseconds / 1e6 for name, microseconds in found.items()}


def heaviest(call: Sequence[str], repeats: int) -> list[tuple[str, float]]:
    """The packages whose own modules take longest to import, with the median of their seconds."""
    command = [sys.executable, "-X", "importtime", "-m", PACKAGE, *call]
    times: dict[str, list[float]] = defaultdict(list)
    for _ in range(repeats):
        ended = subprocess.run(command, capture_output=True, text=True, check=True)
        for name, seconds in import_seconds(ended.stderr).items():
            times[name].append(seconds)
    medians = {name: statistics.median(each) for name, each in times.items()}
    return sorted(medians.items(), key=lambda item: -item[1])[:HEAVIEST]


def starting(call: Sequence[str], repeats: int) -> dict[str, Any]:
    """What one command takes and loads."""
    script = str(Path(sys.executable).with_name(PACKAGE))
    _, names = modules_after(call)
    return {
        "call": " ".join([PACKAGE, *call]),
        "seconds": round(seconds_of([script, *call], repeats), 3),
        "modules": len(names),
        "own_modules": sum(name.partition(".")[0] == PACKAGE for name in names),
        "packages": sorted(packages(names) - {PACKAGE}),
        "heaviest": [[name, round(seconds, 3)] for name, seconds in heaviest(call, max(1, repeats // 3))],
    }


# -- files, imports, tests -------------------------------------------------------------------------------


def wheel() -> dict[str, int]:
    """Bytes of the wheel, and bytes and files of what it unpacks to."""
    builder = WheelBuilder(str(ROOT))
    files = [Path(each.path) for each in builder.recurse_included_files()]
    with tempfile.TemporaryDirectory() as folder:
        (built,) = builder.build(directory=folder, versions=["standard"])
        packed = Path(built).stat().st_size
    return {"wheel": packed, "installed": sum(each.stat().st_size for each in files), "files": len(files)}


def room_of(module: str) -> str:
    """The room that a module is in; the modules next to the rooms are the shared ones."""
    _, _, rest = module.partition(".")
    room = rest.partition(".")[0]
    return room if (ROOT / "src" / PACKAGE / room / "__init__.py").exists() and room else "shared"


def import_graph() -> list[dict[str, Any]]:
    """For each room: its modules, and how often they import modules of each room, their own among them."""
    graph = grimp.build_graph(PACKAGE, cache_dir=None)
    modules = Counter(room_of(name) for name in graph.modules)
    imports: dict[str, Counter[str]] = defaultdict(Counter)
    for name in graph.modules:
        imports[room_of(name)].update(room_of(other) for other in graph.find_modules_directly_imported_by(name))
    return [
        {
            "room": room,
            "modules": count,
            "imports": dict(sorted(imports[room].items(), key=lambda item: (-item[1], item[0]))),
        }
        for room, count in sorted(modules.items())
    ]


def timed_tests(report: str) -> dict[str, Any]:
    """From the XML that ``pytest --junitxml`` writes: how many tests, their seconds by folder, and the slowest."""
    suites = ElementTree.fromstring(report)
    cases = list(suites.iter("testcase"))
    times = [(float(case.get("time", 0)), f"{case.get('classname')}::{case.get('name')}") for case in cases]
    folders: dict[str, float] = defaultdict(float)
    for seconds, name in times:
        places = name.partition("::")[0].split(".")
        folders["/".join(places[:2]) if len(places) > 2 else places[0]] += seconds
    return {
        "tests": len(cases),
        "seconds": round(sum(seconds for seconds, _ in times), 1),
        "elapsed": round(max((float(each.get("time", 0)) for each in suites.iter("testsuite")), default=0.0), 1),
        "folders": {name: round(seconds, 1) for name, seconds in sorted(folders.items(), key=lambda each: -each[1])},
        "slowest": [[name, round(seconds, 1)] for seconds, name in sorted(times, reverse=True)[:SLOWEST]],
    }


# -- the page --------------------------------------------------------------------------------------------


def _cell(name: str) -> str:
    """The name of a test with its parameters, as far as it fits into a cell of a table."""
    short = name if len(name) <= WIDEST_NAME else f"{name[:WIDEST_NAME]}…"
    return short.replace("|", "\\|").replace("`", "'")


def page(record: Mapping[str, Any]) -> str:
    """The section of docs/reliability.md."""
    made = ", ".join(f"{name} {record['versions'][name]}" for name in (PACKAGE, "python"))
    size = record["size"]
    started = [
        [
            f"`{each['call']}`", ", ".join(each["packages"]),
            ", ".join(f"{name} {1000 * seconds:.0f} ms" for name, seconds in each["heaviest"]),
            f"{1000 * each['seconds']:.0f}", each["modules"], each["own_modules"],
        ]
        for each in record["starting"]
    ]  # fmt: skip
    rooms = [
        [
            f"`{each['room']}`",
            ", ".join(f"{name} {count}" for name, count in each["imports"].items() if name != each["room"]) or "none",
            each["modules"], each["imports"].get(each["room"], 0),
        ]
        for each in record["rooms"]
    ]  # fmt: skip
    headings = ("command", "packages that it loads", "longest to import", "ms", "modules", "of ours")
    parts = [
        f"Made by `{record['command']}` with {made}. Python itself takes {1000 * record['python_seconds']:.0f} ms to "
        f"start; times are medians of {record['repeats']} fresh processes.",
        markdown_table(headings, started, left=3),
        f"The wheel has {size['wheel'] / 1e6:.2f} MB; it unpacks to {size['files']} files of "
        f"{size['installed'] / 1e6:.2f} MB.",
        markdown_table(("room", "imports of other rooms", "modules", "imports inside"), rooms, left=2),
    ]
    tests = record.get("tests")
    if tests is not None:
        parts += [
            f"`make test` ran {tests['tests']:,} tests in {tests['elapsed']:.0f} s. Their seconds by folder: "
            + ", ".join(f"{name} {seconds:.0f}" for name, seconds in tests["folders"].items())
            + ". The slowest:",
            markdown_table(("test", "seconds"), ([f"`{_cell(name)}`", seconds] for name, seconds in tests["slowest"])),
        ]
    return "\n\n".join(parts)


def main(arguments: Sequence[str]) -> int:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=REPEATS, help="fresh processes for each time")
    parser.add_argument("--tests", type=Path, help="what  pytest --junitxml FILE  wrote")
    parser.add_argument("--write", type=Path, help="the page whose section is filled, beside its records")
    asked = parser.parse_args(arguments)
    record: dict[str, Any] = {
        "command": " ".join(["python -m tools.footprint", *arguments]),
        "versions": versions(),
        "repeats": asked.repeats,
        "python_seconds": round(seconds_of([sys.executable, "-c", "pass"], asked.repeats), 3),
        "starting": [starting(call, asked.repeats) for call in CALLS],
        "size": wheel(),
        "rooms": import_graph(),
    }
    kept = (RECORDS if asked.write is None else asked.write.parent / RECORDS.name) / f"{MARK}.json"
    if asked.tests is not None:
        record["tests"] = timed_tests(asked.tests.read_text(encoding="utf-8"))
    elif kept.exists() and (before := json.loads(kept.read_text(encoding="utf-8")).get("tests")):
        record["tests"] = before
    print(page(record))
    if asked.write is not None:
        keep(MARK, record, asked.write)
        fill_section(asked.write, MARK, page(record))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
