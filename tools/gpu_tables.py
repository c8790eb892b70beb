"""The table of speeds of docs/gpu-notes.md, from what ``benchmarks.gpu`` measured on a machine with a GPU.

    python -m benchmarks.gpu --json gpu.jsonl                         # there
    python -m tools.gpu_tables gpu.jsonl --write docs/gpu-notes.md    # here

A file holds one JSON object a line: a card with what it does at best, then the rows that were measured on it, then
perhaps another card, when the command ran again. All of them are kept in docs/records/gpu-speeds.jsonl, and the section
between ``<!-- gpu speeds -->`` and ``<!-- end of gpu speeds -->`` is made from there. A row that was measured several
times shows the lowest and the highest; baseline, ratio and shares are those of the last run that had a baseline.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.pages import RECORDS, fill_section, markdown_table

from separatrix.files import write_atomically

SECTION = "gpu speeds"
RECORD = "gpu-speeds.jsonl"
HEADINGS = (
    "model", "N", "members", "model-steps/s", "baseline in the same run", "ratio", "asked", "TFLOP/s", "of the card",
    "GB/s, at least", "of the card", "GiB",
)  # fmt: skip
Row = Mapping[str, Any]
Key = tuple[str, int, int, str]


def read(text: str) -> list[tuple[Row, list[Row]]]:
    """The cards of a file in the order in which they were measured, each with its rows; failed rows are left out."""
    runs: list[tuple[Row, list[Row]]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        record = json.loads(line)
        if "card" in record:
            runs.append((record, []))
        elif not runs:
            raise ValueError(f"line {number} is a row before any card; name a file of  python -m benchmarks.gpu --json")
        elif "error" not in record:
            runs[-1][1].append(record)
    return runs


def page(runs: Sequence[tuple[Row, Sequence[Row]]]) -> str:
    """The section: which cards, and a table of all rows by model and length."""
    found: dict[Key, list[tuple[Row, Row]]] = {}
    for card, rows in runs:
        for row in rows:
            key = (str(row["model"]), int(row["length"]), int(row["members"]), str(row["precision"]))
            found.setdefault(key, []).append((card, row))
    used = [card for card, rows in runs if rows]
    cards = [
        f"{name} with torch {torch} ({_span(same, 'bf16_tflops')} TFLOP/s in a bfloat16 product, "
        f"{_span(same, 'copy_gb_per_s')} GB/s in a copy)"
        for name, torch in dict.fromkeys((str(card["card"]), str(card["torch"])) for card in used)
        if (same := [card for card in used if (card["card"], card["torch"]) == (name, torch)])
    ]
    order = list(dict.fromkeys(key[0] for key in found))
    keys = sorted(found, key=lambda key: (order.index(key[0]), key[1:]))
    made = f"Measured by `python -m benchmarks.gpu` on {'; '.join(cards)}; all products in {_precisions(found)}."
    return f"{made}\n\n{markdown_table(HEADINGS, [cells(key, found[key]) for key in keys])}"


def _span(cards: Sequence[Row], key: str) -> str:
    """The lowest and the highest of several runs, or the one that all have."""
    shown = [speed(find(card[key] for card in cards)) for find in (min, max)]
    return " to ".join(dict.fromkeys(shown))


def _precisions(found: Mapping[Key, object]) -> str:
    return " or ".join(sorted({key[3] for key in found}))


def cells(key: Key, measured: Sequence[tuple[Row, Row]]) -> list[str]:
    """One line of the table."""
    speeds = sorted(row["model_steps_per_second"] for _, row in measured)
    compared = [each for each in measured if each[1].get("ratio")]
    card, row = (compared or list(measured))[-1]
    shown = [speed(speeds[0])] if speed(speeds[0]) == speed(speeds[-1]) else [speed(speeds[0]), speed(speeds[-1])]
    against = f"{speed(row['baseline'])}, {row['baseline_is']}" if compared else "–"
    return [
        key[0],
        str(key[1]),
        str(key[2]),
        " to ".join(shown),
        against,
        f"{row['ratio']:.1f}×" if compared else "–",
        f"{row['wanted']:.0f}×" if row["wanted"] else "–",
        f"{row['tflops']:.1f}",
        f"{100 * row['tflops'] / card['bf16_tflops']:.0f} %",
        f"{row['gb_per_s_at_least']:,.0f}",
        f"{100 * row['gb_per_s_at_least'] / card['copy_gb_per_s']:.0f} %",
        f"{row['memory_gib']:.1f}",
    ]


def speed(value: float) -> str:
    """Three figures at least."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def kept() -> str:
    """The section as the kept rows have it."""
    return page(read((RECORDS / RECORD).read_text(encoding="utf-8")))


def main() -> int:
    """Print the section of these files, or keep them and fill the page."""
    parser = argparse.ArgumentParser(prog="python -m tools.gpu_tables", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--write", type=Path, help="keep the rows next to this page and fill its section")
    given = parser.parse_args()
    lines = "".join(file.read_text(encoding="utf-8").rstrip("\n") + "\n" for file in given.files)
    text = page(read(lines))
    if given.write is None:
        print(text)
    else:
        write_atomically(given.write.parent / RECORDS.name / RECORD, lines)
        fill_section(given.write, SECTION, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
