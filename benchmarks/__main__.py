"""``python -m benchmarks [NAME …] [--write FILE]``: run benchmarks, print them, write a page.

Without names the quick ones are run, which fill docs/benchmarks.md. ``constructions`` takes a few minutes and fills
docs/construction-sizes.md, ``frontier`` takes longer and fills docs/frontier.md.
"""

import argparse
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rich.console import Console

from benchmarks import constructions, fixed_point, frontier, samplers, sign_codes
from benchmarks.report import FIGURES, Report
from separatrix.files import write_atomically
from separatrix.provenance import versions

MODULES: dict[str, Callable[[], Iterator[Report]]] = {
    "samplers": samplers.reports,
    "sign-codes": sign_codes.reports,
    "fixed-point": fixed_point.reports,
    "constructions": constructions.reports,
    "frontier": frontier.reports,
}
QUICK = ("samplers", "sign-codes", "fixed-point")
OWN_PAGES = {
    "constructions": (constructions.TITLE, constructions.INTRO),
    "frontier": (frontier.TITLE, frontier.INTRO),
}
"""Titles and openings of the pages that one benchmark fills alone."""
GENERAL = (
    "Benchmarks",
    "Ratios compare two things measured in the same run, with the memory allocator in the same state; absolute "
    "numbers depend on the machine.",
)


def main() -> int:
    """Run the chosen benchmarks; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*MODULES, []], help="which benchmarks; the quick ones if left out")
    parser.add_argument("--write", type=Path, help="also write the tables to this Markdown file")
    arguments = parser.parse_args()
    console = Console()
    names: Sequence[str] = arguments.names or QUICK
    found: list[Report] = []
    for name in names:
        for report in MODULES[name]():
            report.show(console)
            found.append(report)
    if arguments.write:
        command = " ".join(["python -m benchmarks", *arguments.names, f"--write {arguments.write}"])
        folder: Path = arguments.write.parent
        for report in found:
            for figure in report.figures:
                write_atomically(folder / FIGURES / f"{figure.name}.svg", figure.svg)
            for path, content in report.files.items():
                write_atomically(folder / path, content)
        write_atomically(arguments.write, page(names, command, found))
    return 0


def page(names: Sequence[str], command: str, reports: list[Report]) -> str:
    """The documentation page with all tables and how they were made."""
    title, about = OWN_PAGES[names[0]] if len(names) == 1 and names[0] in OWN_PAGES else GENERAL
    listed = ", ".join(f"{name} {number}" for name, number in versions().items())
    made = (
        f"Made by `{command}` on {platform.machine()} {platform.system()}, single-threaded unless a row says "
        f"otherwise, with {listed}."
    )
    return "\n".join([f"# {title}\n\n{about}\n\n{made}\n", *[report.markdown() for report in reports]])


if __name__ == "__main__":
    sys.exit(main())
