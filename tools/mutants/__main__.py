"""Thousands of planted faults against the checker: ``python -m tools.mutants`` prints the table of the docs and
``--write docs/reliability.md`` puts it there.

Every mutant is a certified network with one random change (``changes``), at a length at which all inputs can be
tried. What is true of it is found here without the checker: the network is run on every input, and its answers are
compared with the task's own slow ``solve``. Then the whole checker judges it, and every method by itself:

* accepted: it must be right on every input;
* refuted: the input that the checker names is run here and must come out wrong;
* rejected: the file cannot be read, does not fit the task, or a statement of the certificate is not so;
* left open: over the real numbers, where running in balls does not tell two numbers apart that may be equal.

A mutant that is wrong and accepted, or one that only fails on some input and is rejected without naming it, is a defect
and ends the run with exit code 1.

At longer lengths, where not all inputs can be tried, mutants are judged by sampled inputs (``judging``); a mutant that
no method decides is rejected there without an input.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.progress import track
from tools.mutants.campaign import KINDS, Campaign, cases, longer_cases
from tools.mutants.changes import BOUND
from tools.mutants.judging import DEFECTS, OUTCOMES, SAMPLED, Judged
from tools.pages import fill_section, keep, markdown_table

MARK = "mutants"
Counts = dict[str, Counter[str]]
"""How often each outcome was found, by the kind of change."""


def table(found: Mapping[str, Mapping[str, int]], outcomes: dict[str, str]) -> str:
    """The table in Markdown, one row a kind; ``outcomes`` are headings by outcome."""
    rows = {kind: [counts.get(each, 0) for each in outcomes] for kind, counts in found.items()}
    rows["all"] = [sum(column) for column in zip(*rows.values(), strict=True)]
    return markdown_table(
        ["changed", "mutants", *outcomes.values()], [[kind, sum(counts), *counts] for kind, counts in rows.items()]
    )


def page(record: Mapping[str, Any]) -> str:
    """The section of the page, from the record of a campaign."""
    short, longer = record["short"], record["longer"]
    wrong = [sum(counts.get(DEFECTS[0], 0) for counts in part["found"].values()) for part in (short, longer)]
    sampled = {each: each for each in OUTCOMES if each != "left open"} | {
        "still right, accepted": f"accepted, right on {longer['samples']} samples",
        "rejected": "rejected or not decided",
    }
    return "\n\n".join(
        [
            f"Of {short['count']} mutants of {short['networks']} certified networks, {wrong[0]} were wrongly accepted. "
            f"Methods were asked {short['asked']} times, each by itself. (`python -m tools.mutants --seed "
            f"{record['seed']}`, {record['seconds']:.0f} s of one core with the second table.)",
            table(short["found"], {each: each for each in OUTCOMES}),
            "At longer lengths (where there are too many inputs to try all) "
            f"{longer['count']} mutants of {longer['networks']} networks were compared with sampled inputs. "
            f"That is evidence and no proof; {wrong[1]} were seen to be wrongly accepted.",
            table(longer["found"], sampled),
        ]
    )


def attack(campaign: Campaign, count: int, kinds: Sequence[str], what: str) -> tuple[Counts, int, list[str]]:
    """Outcomes by kind, how often a method was asked, and defects in words."""
    found, asked, defects = Counts({kind: Counter() for kind in kinds}), 0, list[str]()
    for kind, changed, each in track(campaign.run(count, kinds), what, total=count, transient=True):
        found[kind][each.outcome] += 1
        asked += each.methods
        if is_defect(each):
            defects.append(f"{kind}: {changed}: {each.outcome}: {each.defect}")
    return found, asked, defects


def is_defect(each: Judged) -> bool:
    """Whether a mutant was judged wrongly."""
    return bool(each.defect) or each.outcome in DEFECTS


def main() -> int:
    """Run the campaign; exit code 1 if a mutant was judged wrongly."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=5000, help="how many mutants at lengths with few inputs")
    parser.add_argument("--longer", type=int, default=950, help="how many at longer lengths")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    parser.add_argument("--kind", choices=KINDS, help="mutants of one kind alone")
    parser.add_argument("--write", type=Path, help="put the tables into this page")
    arguments = parser.parse_args()
    started = time.process_time()
    short = KINDS if arguments.kind is None else [arguments.kind]
    long = [kind for kind in short if kind in BOUND]
    with tempfile.TemporaryDirectory() as folder:
        starts, longer_starts = cases(), longer_cases()
        campaign = Campaign(Path(folder), arguments.seed, starts)
        found, asked, defects = attack(campaign, arguments.count, short, "mutants")
        longer = Campaign(Path(folder), arguments.seed, longer_starts, longer=True) if long else campaign
        evidence, _, more = attack(longer, arguments.longer if long else 0, long, "longer mutants")
    seconds = time.process_time() - started
    record = {
        "seed": arguments.seed,
        "seconds": round(seconds, 1),
        "short": {"count": arguments.count, "networks": len(starts), "asked": asked, "found": found},
        "longer": {"count": arguments.longer, "networks": len(longer_starts), "samples": SAMPLED, "found": evidence},
    }
    text = page(record)
    print(text)
    print("\n".join([*defects, *more]), file=sys.stderr)
    if arguments.write:
        keep(MARK, record, arguments.write)
        fill_section(arguments.write, MARK, text)
    return 1 if defects or more else 0


if __name__ == "__main__":
    sys.exit(main())
