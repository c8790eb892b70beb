"""``python -m tools.calls``: generated calls of the command line, each judged by the contract of its endings.

A call ends with exit code 0, 1 or 2, or 130 when it was interrupted for taking long; bad input is one line; nothing is
printed as a traceback, no temporary file stays, a refused call changes and makes no file, what is written is there and
whole, ``--json`` is one JSON object, and a call with ``--max-memory`` stays below it. Half of the calls of every verb
have settings that fit together, a third have one wild one among them, the others are wild (see ``generated``).
``--count 600 --seed 0`` repeats a campaign; ``--write docs/reliability.md`` puts its table there; ``--verb`` calls one
verb only. Exit code 1 if a call broke the contract.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings, strategies
from tools.calls.furniture import furnish, lay_out
from tools.calls.generated import SHARES, Kind, calls, verbs
from tools.calls.judge import defects, verb_of
from tools.calls.sandbox import Outcome, Output, call, contents
from tools.pages import fill_section, keep, markdown_table

OUTPUTS: tuple[Output, ...] = ("file",) * 8 + ("closed pipe", "full disk")
PAGE_SECTION = "calls"
SERVING = "serve"
PATIENCE = {"atlas": (0.5, 1.0, 2.0)}
"""Verbs that take long: after how many seconds of work they are interrupted."""
WHOLE_ATLAS = 240.0
"""Seconds for the one call of ``atlas`` in a campaign that is not interrupted: it takes a minute or two."""
WHOLE_COUNT = 500
"""Campaigns of so many calls have it."""
SETTINGS = settings(
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)


@dataclass
class Campaign:
    """What became of the calls so far."""

    endings: dict[str, Counter[str]] = field(default_factory=dict)
    fitting: dict[str, Counter[str]] = field(default_factory=dict)
    """The endings of those calls whose settings fit together."""
    broken: list[tuple[Outcome, list[str]]] = field(default_factory=list)
    calls: list[tuple[Kind, Outcome]] = field(default_factory=list)
    held: int = 0
    """Bytes that a forked process holds before it does anything."""

    def judge(
        self, kind: Kind, outcome: Outcome, before: dict[str, str], after: dict[str, str], folder: Path | None = None
    ) -> None:
        """Count one call, and keep it if it broke the contract."""
        verb = verb_of(outcome)
        # A server that was ended by Ctrl-C and says 0 has done its work.
        ending = "interrupted" if outcome.interrupted and outcome.code not in (0, 1) else str(outcome.code)
        self.endings.setdefault(verb, Counter())[ending] += 1
        if kind == "fitting":
            self.fitting.setdefault(verb, Counter())[ending] += 1
        self.calls.append((kind, outcome))
        if found := defects(outcome, before, after, self.held, folder):
            self.broken.append((outcome, found))
            print(told(outcome, found), file=sys.stderr)


def told(outcome: Outcome, found: Sequence[str]) -> str:
    """What a call broke, its words and the end of what it said."""
    lines = [f"  | {line[:300]}" for line in outcome.err.splitlines()[-12:]]
    return "\n".join(
        [f"{'; '.join(found)}\n  separatrix {outcome.arguments!r} to {outcome.output}, code {outcome.code}", *lines]
    )


def shared_out(count: int) -> dict[Kind, int]:
    """How many calls of each kind a verb gets, of ``count``; one that fits comes first.

    >>> shared_out(33)
    {'fitting': 17, 'one wild': 11, 'wild': 5}
    """
    whole = sum(SHARES.values())
    fitting = -(-count * SHARES["fitting"] // whole)
    one_wild = min(count - fitting, -(-count * SHARES["one wild"] // whole))
    return {"fitting": fitting, "one wild": one_wild, "wild": count - fitting - one_wild}


def campaign(count: int, number: int, seconds: float, folder: Path, only: Sequence[str] = ()) -> Campaign:
    """Make ``count`` calls below ``folder`` and judge each; a call may work ``seconds`` before it is interrupted."""
    template, place = folder / "template", folder / "place"
    furnished = furnish(template)
    made = Campaign()
    made.held = call(["--version"], template, "file", 60.0).peak
    lay_out(template, place)
    untouched = contents(place)

    def attack(kind: Kind, arguments: tuple[str, ...], output: Output, patience: float) -> None:
        # A server has a result when it says where it listens; then it is ended as a person would.
        outcome = call(arguments, place, output, patience, until_output=SERVING in arguments)
        after = contents(place)
        made.judge(kind, outcome, untouched, after, place)
        if after != untouched:
            lay_out(template, place)

    table = sorted(only or verbs())
    for place_of_verb, verb in enumerate(table):
        whole_atlas = verb == "atlas" and count >= WHOLE_COUNT
        for kind, share in shared_out((count + place_of_verb) // len(table) - whole_atlas).items():
            drawn = given(
                strategies.just(kind),
                calls(verb, kind, furnished),
                strategies.sampled_from(OUTPUTS),
                strategies.sampled_from(PATIENCE.get(verb, (seconds,))),
            )(attack)
            if share:
                seed(f"{number} {verb} {kind}")(settings(SETTINGS, max_examples=share)(drawn))()
        if whole_atlas:
            attack("fitting", ("atlas", "--out", "new", "--records", "exports", "--json"), "file", WHOLE_ATLAS)
    return made


def page(record: Mapping[str, Any]) -> str:
    """The section of the page, from the record of a campaign."""
    kinds = {"0": "exit 0", "1": "exit 1", "2": "exit 2", "interrupted": "interrupted after a while"}
    headings = ["verb", "calls", *kinds.values()]
    rows = [
        [verb, sum(endings.values()), *(endings.get(kind, 0) for kind in kinds)]
        for verb, endings in sorted(record["endings"].items())
    ]
    fitting = record.get("fitting")
    if fitting is not None:
        headings += ["with settings that fit", "of these exit 0 or 1"]
        for row in rows:
            endings = fitting.get(row[0], {})
            row += [sum(endings.values()), endings.get("0", 0) + endings.get("1", 0)]
    said = f"`python -m tools.calls --count {record['count']} --seed {record['seed']}`, {record['seconds']:.0f} s"
    return (
        f"Of {sum(row[1] for row in rows)} calls ({said}), {record['broken']} broke the contract.\n\n"
        + markdown_table(headings, rows)
    )


def main() -> int:
    """Run a campaign."""
    parser = argparse.ArgumentParser(prog="python -m tools.calls", description="generated calls of the command line")
    parser.add_argument("--count", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=4.0, help="how long a call may work before it is interrupted")
    parser.add_argument("--write", type=Path, help="put the table into this page")
    parser.add_argument("--verb", action="append", default=[], help="only calls of this verb; may be repeated")
    parser.add_argument("--refused", action="store_true", help="also print fitting calls that reached no result")
    given_options = parser.parse_args()
    import matplotlib.pyplot  # noqa: F401 - once here, not once in every call
    import torch  # noqa: F401

    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        made = campaign(
            given_options.count, given_options.seed, given_options.seconds, Path(folder), given_options.verb
        )
    record = {
        "count": given_options.count,
        "seed": given_options.seed,
        "seconds": round(time.monotonic() - started, 1),
        "broken": len(made.broken),
        "endings": made.endings,
        "fitting": made.fitting,
    }
    text = page(record)
    if given_options.write:
        keep(PAGE_SECTION, record, given_options.write)
        fill_section(given_options.write, PAGE_SECTION, text)
    print(text)
    for kind, outcome in made.calls if given_options.refused else ():
        if kind == "fitting" and outcome.output == "file" and outcome.code not in (0, 1):
            print(f"\n{outcome.seconds:.1f} s: {outcome.arguments!r}\n  | {outcome.err[-400:]}")
    return 1 if made.broken else 0


if __name__ == "__main__":
    sys.exit(main())
