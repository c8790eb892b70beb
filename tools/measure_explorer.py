"""How fast the explorer answers to a moving slider at N = 256, for every construction.

    python -m tools.measure_explorer [--write docs/explorer.md] [--length 256]

Starts a server of its own on a free port, with a store in a temporary folder, and moves the score scale η, or the
precision Kc where no score depends on η, from a third below the theorem's own value to a third above: at each step the
page's two requests, one after the other, until their replies are there. Prints a Markdown table with the time that was
waited and, since other work may share the machine, the processor time that the server's processes took.
"""

import argparse
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any

import httpx
import psutil
from tools.pages import keep, markdown_table, replace_table
from tools.running_server import running_server

from separatrix.constructions import constructions

PERCENTS = (66, 80, 95, 105, 120, 133)
WARM_UP = 3.0
"""Seconds in which the server's processes import what they need."""


RECORD = "explorer"
HEADINGS = (
    "attention and margin: median wait", "longest", "median work", "most",
    "verdict for all inputs: median wait", "longest", "median work", "most",
)  # fmt: skip


def sliders(client: httpx.Client, length: int) -> dict[str, str | list[float]]:
    """Return for every construction the milliseconds, or why there are none."""
    rows: dict[str, str | list[float]] = {}
    for name in constructions():
        setting: dict[str, Any] = {"construction": name, "length": length}
        first = client.post("/api/look", json={"setting": setting}).json()
        if "error" in first:
            rows[name] = first["error"]
            continue
        own = first["own_gain"]
        waited: dict[str, list[float]] = {"look": [], "verdict": []}
        worked: dict[str, list[float]] = {"look": [], "verdict": []}
        for percent in PERCENTS:
            change = {"exponent": 2 + percent % 4} if own is None else {"gain": str(Fraction(own) * percent / 100)}
            for kind in waited:
                before, started = processor_seconds(), time.perf_counter()
                client.post(f"/api/{kind}", json={"setting": {**setting, **change}})
                waited[kind].append(time.perf_counter() - started)
                worked[kind].append(processor_seconds() - before)
        both = [found[kind] for kind in waited for found in (waited, worked)]
        rows[name] = [round(1000 * each, 1) for found in both for each in (median(found), max(found))]
    return rows


def processor_seconds() -> float:
    """What all processes of the server have used so far."""
    used = 0.0
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            times = process.cpu_times()
            used += times.user + times.system
    return used


def measure(address: str, length: int) -> dict[str, Any]:
    """Return the record of a run."""
    time.sleep(WARM_UP)
    with httpx.Client(base_url=address, timeout=600) as client:
        return {"length": length, "milliseconds": sliders(client, length)}


def table(record: Mapping[str, Any]) -> str:
    """The table of the page, from the record of a run."""
    rows = [
        [name, found, *[""] * (len(HEADINGS) - 1)]
        if isinstance(found, str)
        else [name, *(f"{each:.0f}" for each in found)]
        for name, found in record["milliseconds"].items()
    ]
    text = markdown_table([f"slider at N = {record['length']}, milliseconds", *HEADINGS], rows)
    return text.replace("|  |", "| |").replace("|  |", "| |")


def main() -> None:
    """Measure and print, or write."""
    parser = argparse.ArgumentParser(description="How fast the explorer answers to a moving slider.")
    parser.add_argument("--length", type=int, default=256)
    parser.add_argument("--write", type=Path, help="a page that has such a table")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, running_server(Path(folder) / "runs.sqlite") as address:
        record = measure(address, given.length)
    if given.write is None:
        print(table(record))
    else:
        keep(RECORD, record, given.write)
        replace_table(given.write, table(record))


if __name__ == "__main__":
    main()
