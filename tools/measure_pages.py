"""Measurements that single sentences and small tables of the docs tell of: ``python -m tools.measure_pages [NAME …]``.

Each is kept in docs/records under its name, and the pages are filled from there:

* ``quick-costs``: how long the papers' experiments take at most at their quick scale, as ``separatrix sweep --dry-run``
  finds it, but in seconds of processor time on one thread, which do not depend on what else the machine does;
* ``profile-times``: ``separatrix profile`` of three predicates on 24 bits, each in a process of its own;
* ``state-bits``: an LSTM is trained on brackets, and its state rounded (``separatrix runs bits``);
* ``facts``: BHBK24's Facts 1 to 4 at every n that fits.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tools.pages import keep

from separatrix.provenance import versions

COMMAND = Path(sys.executable).with_name("separatrix")
QUICK = (
    "figure2-left", "figure2-curves", "figure2-dyck", "figure3", "figure4-random", "figure4-ncp", "eq-one",
    "qsa-attention",
)  # fmt: skip
PREDICATES = """
import numpy

TABLE = numpy.random.default_rng(0).integers(2, size=1 << 24, dtype=numpy.uint8)

def majority(x):
    return 2 * x.sum(axis=1) > x.shape[1]

def equality(x):
    half = x.shape[1] // 2
    return (x[:, :half] == x[:, x.shape[1] - half :]).all(axis=1)

def random(x):
    return TABLE[x @ (1 << numpy.arange(x.shape[1]))]
"""
LENGTH = 24
TRAINED = ("dyck", "LSTM-(1,16)", "--length", "12", "--lr", "1e-2")


def quick_costs() -> dict[str, Any]:
    """Seconds of processor time of each experiment at its quick scale, at most."""
    import torch

    from separatrix.training import planning
    from separatrix.training.experiments.catalog import experiments

    found: dict[str, float] = {}
    with patch.object(planning.time, "perf_counter", time.process_time):
        torch.set_num_threads(1)
        for name in QUICK:
            sweep = experiments()[name].sweep("quick")
            seconds = planning.plan(sweep.groups(sweep.cells(), False), {}, [], torch.device("cpu"), {}).seconds
            assert seconds is not None
            found[name] = round(seconds, 1)
            print(f"{name}: {seconds:.0f} s", file=sys.stderr)
    return {"seconds": found, "versions": versions()}


def profile_times() -> dict[str, Any]:
    """Processor seconds and the most memory of each predicate."""
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "predicates.py"
        file.write_text(PREDICATES, encoding="utf-8")
        for name in ("majority", "equality", "random"):
            words = ["profile", f"{file}:{name}", "--length", str(LENGTH), "--json"]
            with subprocess.Popen([COMMAND, *words], stdout=subprocess.DEVNULL) as process:
                _, status, used = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            assert process.returncode == 0
            found[name] = {
                "cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
                "gigabytes": round(used.ru_maxrss * 1024 / 1e9, 2),
            }
            print(f"{name}: {found[name]}", file=sys.stderr)
    return {"length": LENGTH, "predicates": found, "versions": versions()}


def told(*words: str) -> Any:
    """What a command prints with ``--json``."""
    return json.loads(subprocess.run([COMMAND, *words, "--json"], check=True, capture_output=True, text=True).stdout)


def state_bits() -> dict[str, Any]:
    """Train, round the state, and tell the accuracy for each number of bits."""
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "runs.sqlite")
        told("train", *TRAINED, "--store", store, "--executor", "local")
        (run,) = told("runs", "list", "--store", store)["runs"]
        return told("runs", "bits", run["name"], "--store", store)


def facts() -> dict[str, Any]:
    """What was found about every fact at its largest n."""
    from separatrix.communication.facts import verify_facts

    reports = verify_facts()
    assert all(report.holds for report in reports)
    return {
        "holds": len(reports),
        "reports": [
            {
                "fact": each.fact,
                "n": each.n,
                "found": [[check.method, check.found, check.bits] for check in each.checks],
            }
            for each in reports
        ],
    }


MEASUREMENTS: dict[str, Callable[[], dict[str, Any]]] = {
    "quick-costs": quick_costs,
    "profile-times": profile_times,
    "state-bits": state_bits,
    "facts": facts,
}


def main() -> int:
    """Measure what is named, or all."""
    parser = argparse.ArgumentParser(prog="python -m tools.measure_pages", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*MEASUREMENTS, []], help="which; all if left out")
    for name in parser.parse_args().names or list(MEASUREMENTS):
        keep(name, MEASUREMENTS[name]())
        print(f"kept docs/records/{name}.json; now run  python -m tools.fill_pages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
