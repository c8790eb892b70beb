"""``python -m tools.calls``: generated calls of the command line, each judged by the contract of its endings.

A call ends with exit code 0, 1 or 2, or 130 when it was interrupted for taking long; bad input is one line; nothing is
printed as a traceback, no temporary file stays, a refused call changes no file, JSON is valid JSON, and a call with
``--max-memory`` stays below it. ``--count 600 --seed 0`` repeats a campaign; ``--write docs/reliability.md`` puts its
table there. Exit code 1 if a call broke the contract.
"""

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings, strategies
from tools.calls.generated import calls, verbs
from tools.calls.sandbox import Outcome, Output, call, contents, furnish
from tools.pages import fill_section, keep, markdown_table

from separatrix.cli.limits import parse_bytes
from separatrix.errors import SeparatrixError

OUTPUTS: tuple[Output, ...] = ("file",) * 8 + ("closed pipe", "full disk")
PAGE_SECTION = "calls"
SETTINGS = settings(
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
SLACK = 96 << 20
"""Bytes beside the limit: what the interpreter holds for itself before and after the limited work."""


@dataclass
class Campaign:
    """What became of the calls so far."""

    endings: dict[str, Counter[str]] = field(default_factory=dict)
    broken: list[tuple[Outcome, list[str]]] = field(default_factory=list)
    held: int = 0
    """Bytes that a forked process holds before it does anything."""

    def judge(self, outcome: Outcome, before: dict[str, str], after: dict[str, str]) -> None:
        """Count one call, and keep it if it broke the contract."""
        verb = outcome.arguments[0] if outcome.arguments and outcome.arguments[0] in verbs() else "(no verb)"
        ending = "interrupted" if outcome.interrupted else str(outcome.code)
        self.endings.setdefault(verb, Counter())[ending] += 1
        if found := defects(outcome, before, after, self.held):
            self.broken.append((outcome, found))


def defects(outcome: Outcome, before: dict[str, str], after: dict[str, str], held: int) -> list[str]:
    """In what a call broke the contract; empty if it kept it."""
    found: list[str] = []
    allowed = (0, 1, 2, 130) if outcome.interrupted else (0, 1, 2)
    if outcome.code not in allowed:
        found.append(f"exit code {outcome.code}")
    if "Traceback" in outcome.err or "Exception ignored" in outcome.err:
        found.append("a traceback")
    lines = [line for line in outcome.err.splitlines() if not line.startswith("note:")]
    if outcome.code == 2:
        if len(lines) != 1 or not lines[0].startswith("separatrix: "):
            found.append(f"bad input ends in {len(lines)} lines")
        if outcome.output == "file" and outcome.out:
            found.append("bad input prints a result")
        changed = sorted(name for name, kept in before.items() if after.get(name) != kept)
        if changed:
            found.append(f"a refused call changed {', '.join(changed)}")
    partial = [name for name in after if name.endswith((".partial", ".tmp", "-journal"))]
    if partial:
        found.append(f"left {', '.join(partial)}")
    if (
        "--json" in outcome.arguments
        and outcome.code in (0, 1)
        and outcome.output == "file"
        and "--help" not in outcome.out
    ):
        found += _json_defects(outcome)
    limit = _limit(outcome)
    if limit is not None and outcome.peak > max(limit, held) + SLACK:
        found.append(f"{outcome.peak >> 20} MiB with --max-memory {limit >> 20} MiB")
    return found


def _json_defects(outcome: Outcome) -> list[str]:
    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        json.loads(outcome.out, parse_constant=refuse)
    except ValueError as error:
        return [f"no valid JSON: {error}"]
    return []


def _limit(outcome: Outcome) -> int | None:
    if "--max-memory" not in outcome.arguments[:-1] or outcome.code == 2:
        return None
    try:
        return parse_bytes(outcome.arguments[outcome.arguments.index("--max-memory") + 1])
    except SeparatrixError:
        return None


def campaign(count: int, number: int, seconds: float, folder: Path) -> Campaign:
    """Make ``count`` calls below ``folder`` and judge each; a call may work ``seconds`` before it is interrupted."""
    template, place = folder / "template", folder / "place"
    furnish(template)
    made = Campaign()
    made.held = call(["--version"], template, "file", 60.0).peak
    untouched = contents(template)
    shutil.copytree(template, place, symlinks=True)

    def attack(arguments: tuple[str, ...], output: Output) -> None:
        outcome = call(arguments, place, output, seconds)
        after = contents(place)
        made.judge(outcome, untouched, after)
        if after != untouched:
            _remove(place)
            shutil.copytree(template, place, symlinks=True)

    table = verbs()
    for place_of_verb, (verb, parameters) in enumerate(sorted(table.items())):
        share = (count + place_of_verb) // len(table)
        drawn = given(calls(verb, parameters), strategies.sampled_from(OUTPUTS))(attack)
        if share:
            seed(f"{number} {verb}")(settings(SETTINGS, max_examples=share)(drawn))()
    return made


def _remove(folder: Path) -> None:
    for path in [folder, *(each for each in folder.rglob("*") if each.is_dir() and not each.is_symlink())]:
        path.chmod(0o755)
    shutil.rmtree(folder)


def page(record: Mapping[str, Any]) -> str:
    """The section of the page, from the record of a campaign."""
    kinds = {"0": "exit 0", "1": "exit 1", "2": "exit 2", "interrupted": "interrupted after a while"}
    rows = [
        [verb, sum(endings.values()), *(endings.get(kind, 0) for kind in kinds)]
        for verb, endings in sorted(record["endings"].items())
    ]
    said = f"`python -m tools.calls --count {record['count']} --seed {record['seed']}`, {record['seconds']:.0f} s"
    return (
        f"Of {sum(row[1] for row in rows)} calls ({said}), {record['broken']} broke the contract.\n\n"
        + markdown_table(["verb", "calls", *kinds.values()], rows)
    )


def main() -> int:
    """Run a campaign."""
    parser = argparse.ArgumentParser(prog="python -m tools.calls", description="generated calls of the command line")
    parser.add_argument("--count", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=4.0, help="how long a call may work before it is interrupted")
    parser.add_argument("--write", type=Path, help="put the table into this page")
    given_options = parser.parse_args()
    import torch  # noqa: F401 - once here, not once in every call

    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        made = campaign(given_options.count, given_options.seed, given_options.seconds, Path(folder))
    record = {
        "count": given_options.count,
        "seed": given_options.seed,
        "seconds": round(time.monotonic() - started, 1),
        "broken": len(made.broken),
        "endings": made.endings,
    }
    text = page(record)
    if given_options.write:
        keep(PAGE_SECTION, record, given_options.write)
        fill_section(given_options.write, PAGE_SECTION, text)
    print(text)
    for outcome, found in made.broken:
        print(f"\n{'; '.join(found)}\n  separatrix {outcome.arguments!r} to {outcome.output}, code {outcome.code}")
        print("\n".join(f"  | {line[:300]}" for line in outcome.err.splitlines()[-12:]))
    return 1 if made.broken else 0


if __name__ == "__main__":
    sys.exit(main())
