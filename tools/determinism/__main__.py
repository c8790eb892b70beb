"""``python -m tools.determinism``: the same commands in processes that differ in what must not matter.

Every command of ``cases`` runs in several processes with other hash seeds, other numbers of threads (OMP_NUM_THREADS
and its relatives), and in the opposite order, so that nothing that one leaves behind in a process can show in the next.

* Certificates, bounds, protocols, profiles, codes, samples and frontiers must be the same, byte for byte.
* Trainings on a CPU with the same number of threads must be the same, bit for bit: with every executor, any hash seed
  and whatever the environment says about threads. With *another* number of threads sums are added in another order, so
  that last bits may differ; how often they do, and by how much, is reported and is no defect.

``--write docs/reliability.md`` puts the table there, ``--short`` takes fewer commands. Exit code 1 if anything differs
that must not.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.pages import fill_section, keep, markdown_table

from separatrix.files import write_atomically

PAGE_SECTION = "determinism"
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
SHORT_MODELS = 1


@dataclass(frozen=True)
class Process:
    """One process: its hash seed, what the environment says about threads, and what it trains with."""

    hash_seed: int
    environment_threads: int
    order: int = 1
    threads: tuple[int, ...] = (1,)
    executor: str = "local"

    def results(self, part: str, folder: Path, short: bool) -> dict[str, Any]:
        """Run one part of the cases in it, or take what it gave before in this folder."""
        kept = folder.with_suffix(".json")
        if kept.exists():
            return json.loads(kept.read_text())
        command = [sys.executable, "-m", "tools.determinism", "--part", part, "--folder", str(folder)]
        command += [
            "--order",
            str(self.order),
            "--threads",
            ",".join(map(str, self.threads)),
            "--executor",
            self.executor,
        ]
        command += ["--short"] if short else []
        changed = {"PYTHONHASHSEED": str(self.hash_seed), **dict.fromkeys(THREADS, str(self.environment_threads))}
        changed["PYTHONPATH"] = str(Path(__file__).parents[2])
        done = subprocess.run(command, env={**os.environ, **changed}, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-2000:]}")
        write_atomically(kept, done.stdout.splitlines()[-1])
        return json.loads(kept.read_text())


ASKING = (Process(0, 1), Process(4242, 4, -1))
TRAINING = (
    Process(0, 1, threads=(1, 2)),
    Process(4242, 2, -1, threads=(1, 2)),
    Process(7, 2, executor="processes"),
    Process(99, 2, executor="turns"),
    Process(1, 3, executor="ray"),
)
"""The first two train everything twice, with one thread and with two."""


@dataclass
class Row:
    """One kind of command: how many, in how many processes, how many ended with a result, how many differed."""

    kind: str
    commands: int = 0
    processes: int = 0
    done: int = 0
    different: int = 0


def compared(found: list[dict[str, Any]]) -> tuple[list[Row], list[str]]:
    """All processes against the first."""
    rows: dict[str, Row] = {}
    wrong: list[str] = []
    for name, first in found[0].items():
        row = rows.setdefault(first["kind"], Row(first["kind"], processes=len(found)))
        row.commands += 1
        row.done += first["code"] == 0
        others = [number for number, other in enumerate(found) if other[name] != first]
        if others:
            row.different += 1
            parts = [
                key for key, value in first["result"].items() if found[others[0]][name]["result"].get(key) != value
            ]
            wrong.append(f"separatrix {name}: {', '.join(parts)} differs in process {others[0]}")
    return list(rows.values()), wrong


def across_threads(one: dict[str, Any], several: dict[str, Any]) -> str:
    """How far trainings with other numbers of threads are from each other, in words."""
    same = total = 0
    gap = 0.0
    for name, first in one.items():
        model = name.split()[2]
        second = next(each for other, each in several.items() if other.split()[2] == model)
        for run, mine in first["result"].items():
            theirs = second["result"][run]
            total, same = total + 1, same + (mine == theirs)
            gap = max(gap, abs(float(mine["result"][3]) - float(theirs["result"][3])))
    return f"{same} of {total} runs have the same bits with 1 and with 2 threads; losses differ by at most {gap:.0e}"


def campaign(folder: Path, short: bool, executors: list[str]) -> tuple[list[Row], list[str], str]:
    """Everything; the rows of the table, what is wrong, and what is only to be reported."""
    chosen = [each for each in TRAINING if each.executor in executors]
    # In short, one process does both: most of the time goes into starting them.
    trained = [each.results("all" if short else "train", folder / f"train-{n}", short) for n, each in enumerate(chosen)]
    asked = (
        [{name: each for name, each in found.items() if each["kind"] != "train"} for found in trained]
        if short
        else [each.results("ask", folder / f"ask-{n}", short) for n, each in enumerate(ASKING)]
    )
    rows, wrong = compared(asked)
    for threads in sorted({number for each in chosen for number in each.threads}):
        found = [_with_threads(each, threads) for each in trained]
        more, differing = compared([each for each in found if each])
        names = dict.fromkeys(each.executor for each in chosen if threads in each.threads)
        for row in more:
            row.kind = f"train on a CPU, {threads} thread{'s' if threads > 1 else ''} ({', '.join(names)})"
        rows, wrong = rows + more, wrong + differing
    return rows, wrong, across_threads(_with_threads(trained[0], 1), _with_threads(trained[0], 2))


def _with_threads(found: dict[str, Any], threads: int) -> dict[str, Any]:
    """The trainings with so many threads, by their commands up to where they say on what they run."""
    wanted = f" --threads {threads} "
    return {name.split(" --store")[0]: each for name, each in found.items() if wanted in name}


def page(record: Mapping[str, Any]) -> str:
    """The section of the page, from the record of a campaign."""
    total = sum(each["commands"] for each in record["rows"])
    head = (
        f"{total} commands (`python -m tools.determinism{' --short' if record['short'] else ''}`), "
        f"{record['wrong']} of them not the same in every process."
    )
    names = {"kind": "command", "commands": "commands", "done": "ended with a result", "processes": "processes each",
             "different": "different"}  # fmt: skip
    rows = [[each[name] for name in names] for each in record["rows"]]
    told = f"Across numbers of threads, where nothing is promised: {record['across']}."
    return "\n\n".join([head, markdown_table(names.values(), rows), told])


def child(part: str, folder: Path, order: int, threads: str, executor: str, short: bool) -> int:
    """One process of a campaign: print what came out as one line of JSON."""
    from tools.determinism.cases import MODELS, asking, certifying, live, training

    cases = [*certifying(not short), *asking(not short)] if part in ("ask", "all") else []
    if part in ("train", "all"):
        models = MODELS[:SHORT_MODELS] if short else MODELS
        cases += [case for number in threads.split(",") for case in training(int(number), executor, models)]
    print(json.dumps(live(folder, cases[::order])))
    return 0


def main() -> int:
    """Run the campaign; exit code 1 if anything differs that must not."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.determinism", description="the same commands, other processes"
    )
    parser.add_argument("--short", action="store_true", help="fewer commands and processes")
    parser.add_argument("--executors", default="local,processes,turns,ray", help="those that train")
    parser.add_argument("--keep", type=Path, help="a folder that remembers processes that are done, to go on from")
    parser.add_argument("--write", type=Path, help="put the table into this page")
    for name, kind, value in (("part", str, ""), ("folder", Path, None), ("order", int, 1), ("threads", str, "1")):
        parser.add_argument(f"--{name}", type=kind, default=value, help=argparse.SUPPRESS)
    parser.add_argument("--executor", default="local", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part:
        return child(given.part, given.folder, given.order, given.threads, given.executor, given.short)
    with tempfile.TemporaryDirectory() as folder:
        rows, wrong, told = campaign(given.keep or Path(folder), given.short, given.executors.split(","))
    record = {
        "short": given.short,
        "wrong": len(wrong),
        "across": told,
        "rows": [vars(each) for each in rows],
    }
    if given.write:
        keep(PAGE_SECTION, record, given.write)
        fill_section(given.write, PAGE_SECTION, page(record))
    print(page(record))
    print("\n".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
