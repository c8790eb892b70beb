"""``python -m benchmarks [NAME …] [--write docs/benchmarks.md]``: run benchmarks, print them, write the page."""

import argparse
import platform
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.console import Console

from benchmarks import constructions, fixed_point, samplers, sign_codes
from benchmarks.report import Report
from separatrix.files import write_atomically
from separatrix.provenance import versions

MODULES: dict[str, Callable[[], Iterator[Report]]] = {
    "samplers": samplers.reports,
    "sign-codes": sign_codes.reports,
    "fixed-point": fixed_point.reports,
    "constructions": constructions.reports,
}

QUICK = ("samplers", "sign-codes", "fixed-point")
"""What runs when no name is given; ``constructions`` takes minutes and fills docs/constructions.md."""


def main() -> int:
    """Run the chosen benchmarks; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*MODULES, []], help="which benchmarks; the quick ones if left out")
    parser.add_argument("--write", type=Path, help="also write the tables to this Markdown file")
    arguments = parser.parse_args()
    console = Console()
    found: list[Report] = []
    for name in arguments.names or QUICK:
        for report in MODULES[name]():
            report.show(console)
            found.append(report)
    if arguments.write:
        write_atomically(arguments.write, page(found))
    return 0


def page(reports: list[Report]) -> str:
    """The documentation page with all tables and how they were made."""
    command = "python -m benchmarks --write docs/benchmarks.md"
    listed = ", ".join(f"{name} {number}" for name, number in versions().items())
    intro = (
        "# Benchmarks\n\n"
        f"Made by `make bench`, which runs `{command}`, on {platform.machine()} {platform.system()}, single-threaded "
        f"unless a row says otherwise, with {listed}. Ratios compare two things measured in the same run; absolute "
        "numbers depend on the machine.\n"
    )
    return "\n".join([intro, *[report.markdown() for report in reports]])


if __name__ == "__main__":
    sys.exit(main())
