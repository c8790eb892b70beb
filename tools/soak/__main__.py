"""``python -m tools.soak [--cycles 200] [--write docs/reliability.md]``: try to make a sweep lose or double a run.

Four campaigns on a sweep of 16 small runs: kill -9 and resume across executors, two drivers on one store, the clock set
back, a disk that is full at every write. Each ends with the same command undisturbed and compares what is recorded with
an undisturbed sweep bit for bit: results, curves and weights. Everything that happens is reported on standard error;
the table goes to standard output and into the page. Exit code 1 when anything was lost, doubled, changed or left over.

``--log PAGE`` puts the log of the kills into a page.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tools.pages import fill_section, keep, markdown_table
from tools.soak.campaigns import Outcome, Soak, available_executors, timed
from tools.soak.commands import MODELS, sweep_file
from tools.soak.disk import private_mounts
from tools.soak.stores import Damage

from separatrix.provenance import versions

CAMPAIGNS = ("kills", "together", "clock", "disk")
HEADINGS = ("campaign", "what was done", "times", "runs", "lost", "twice", "different", "left behind", "seconds")
LOGGED = ("undisturbed", "kill", "last")
"""Events of which the log of the kills tells."""


def disk(folder: Path, stride: int, tell: Callable[..., None]) -> Outcome:
    """Full disks, in a process that may mount file systems of its own; not run where the system allows none."""
    found = Outcome("a full disk at every write", "")
    if not private_mounts():
        found.what = "not run: this system allows no file systems of one's own (unshare, mount)"
        return found
    file = sweep_file(folder / "disk.toml", 16, MODELS[:1])
    command = ["unshare", "-rm", sys.executable, "-m", "tools.soak.disk", str(file), str(folder / "disk"), str(stride)]
    with timed(found), subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        counts = {"size": 0, "nr_inodes": 0}
        for line in process.stdout:
            attempt: dict[str, Any] = json.loads(line)
            tell(**attempt)
            failed = attempt["code"] != 0
            found.disturbances += failed
            counts[attempt["happened"]] += failed
            found.damage += Damage(*attempt["damage"])
            found.wrong += [
                f"{attempt['happened']}={attempt[attempt['happened']]}: {each}" for each in attempt["wrong"]
            ]
    found.wrong += [f"the disk campaign ended with {process.returncode}"] if process.returncode else []
    found.what = f"no room for a page of 4 KiB ({counts['size']} ×), no room for a file ({counts['nr_inodes']} ×)"
    return found


def page(record: Mapping[str, Any]) -> str:
    """The section of the page, from the record of the campaigns: how it was made, the table, and what went wrong."""
    made = ", ".join(f"{name} {number}" for name, number in record["versions"].items() if name != "python-flint")
    fields = ("campaign", "what", "disturbances", "runs", "lost", "twice", "different", "left_behind")
    rows = [[*(each[name] for name in fields), f"{each['seconds']:.0f}"] for each in record["outcomes"]]
    wrong = [f"- {each['campaign']}: {reason}" for each in record["outcomes"] for reason in each["wrong"]]
    ending = "\n".join(["What went wrong:", "", *wrong]) if wrong else "Every ending was a good one."
    return f"Made by `{record['command']}` with {made}.\n\n{markdown_table(HEADINGS, rows, left=2)}\n\n{ending}"


def log_of(record: Mapping[str, Any]) -> str:
    """The kills as a table, with what was recorded after each."""
    whole = next(each for each in record["events"] if each["happened"] == "undisturbed")
    rows = ["| kill | executor | killed | after, s | exit code | runs recorded |", "|---:|---|---|---:|---:|---|"]
    number = 0
    for each in record["events"]:
        if each["happened"] == "kill":
            number += 1
            cells = (number, each["executor"], each["victim"], each["after"], each["code"], each["recorded"])
            rows.append(f"| {' | '.join(map(str, cells))} |")
        elif each["happened"] == "last":
            bad = sum(each["damage"][1:])
            same = "all equal the undisturbed ones, bit for bit" if not bad else f"{each['damage'][1:]} damaged"
            rows.append(f"| – | local | not killed | – | {each['code']} | {each['recorded']}: {same} |")
    return (
        f"Made by `{record['command']}`: a sweep of {whole['runs']} runs that takes {whole['seconds']:.1f} s "
        "undisturbed.\n\n" + "\n".join(rows)
    )


def main() -> int:
    """Run the campaigns; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.soak", description=__doc__)
    parser.add_argument("--cycles", type=int, default=200, help="kill/resume cycles; the others take a fifth of them")
    parser.add_argument("--steps", type=int, default=800, help="training steps of the sweep")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default=",".join(CAMPAIGNS), help=f"of {', '.join(CAMPAIGNS)}")
    parser.add_argument("--executors", default=",".join(available_executors()), help="those that are used")
    parser.add_argument("--stride", type=int, default=1, help="pages and files between two full disks")
    parser.add_argument("--write", type=Path, help="put the table into this page, between its markers")
    parser.add_argument("--log", type=Path, help="put the log of the kills into this page, between its markers")
    parser.add_argument("--json", action="store_true", help="print one JSON object with all that happened")
    given = parser.parse_args()
    command = " ".join(["python -m tools.soak", *sys.argv[1:]])
    wanted, events = given.only.split(","), list[dict[str, Any]]()
    unknown = [each for each in wanted if each not in CAMPAIGNS]
    if unknown:
        parser.error(f"no campaign {unknown[0]!r}; choose of {', '.join(CAMPAIGNS)}")

    def tell(**facts: Any) -> None:
        events.append(facts)
        sys.stderr.write(f"[{time.strftime('%H:%M:%S')}] {json.dumps(facts)}\n")
        sys.stderr.flush()

    with tempfile.TemporaryDirectory() as name:
        folder, outcomes, fewer = Path(name), list[Outcome](), max(1, given.cycles // 5)
        soak = Soak(folder, given.steps, given.seed, tell)
        if "kills" in wanted:
            outcomes.append(soak.kills(given.cycles, tuple(given.executors.split(","))))
        if "together" in wanted:
            outcomes.append(soak.together(fewer))
        if "clock" in wanted:
            outcomes.append(soak.clock(fewer))
        if "disk" in wanted:
            outcomes.append(disk(folder, given.stride, tell))
    passed = all(each.passed for each in outcomes)
    told = {"command": command, "versions": versions()}
    record = {"passed": passed, "outcomes": [each.as_dict() for each in outcomes], **told}
    if given.json:
        print(json.dumps({**record, "events": events}))
    else:
        print(page(record))
    if given.write:
        keep("soak", record, given.write)
        fill_section(given.write, "soak", page(record))
    if given.log:
        log = {**told, "events": [each for each in events if each["happened"] in LOGGED]}
        keep("kill-log", log, given.log)
        fill_section(given.log, "kill log", log_of(log))
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
