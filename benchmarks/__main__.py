"""``python -m benchmarks [NAME …] [--write FILE]``: run benchmarks, print them, write a page.

Without names the quick ones are run, which fill docs/benchmarks.md. The others take minutes and fill a page of their
own (``constructions``: docs/construction-sizes.md, ``frontier``: docs/frontier.md) or a section of a page, between its
markers (``models``: docs/architectures.md, ``training`` and ``peers``: docs/training.md).
"""

import argparse
import platform
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from rich.console import Console
from tools.pages import fill_section, keep, recorded

from benchmarks.report import FIGURES, Report
from separatrix.files import write_atomically
from separatrix.provenance import versions

NAMES = ("samplers", "sign-codes", "fixed-point", "constructions", "frontier", "models", "training", "peers")
"""Each is a module here with a function ``reports``; it is imported only when it is run."""
QUICK = NAMES[:3]
OWN_PAGES = ("constructions", "frontier")
"""Benchmarks that fill a page alone; ``TITLE`` and ``INTRO`` of their modules open it."""
SECTIONS = ("models", "training", "peers")
"""Benchmarks that fill a section of a page that people write; ``ABOUT`` of their modules opens it."""
OWN_MACHINES = ("models",)
"""Benchmarks whose tables say themselves where they were made, because that can be several machines."""
OWN_RECORDS = ("frontier",)
"""Benchmarks that keep more than their tables: ``kept_reports`` of their modules makes those from what was kept."""
GENERAL = (
    "Benchmarks",
    "Ratios compare two things measured in the same run, with the memory allocator in the same state; absolute "
    "numbers depend on the machine.",
)


def module_of(name: str) -> ModuleType:
    """The module of a benchmark."""
    return import_module(f"benchmarks.{name.replace('-', '_')}")


def main() -> int:
    """Run the chosen benchmarks; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*NAMES, []], help="which benchmarks; the quick ones if left out")
    parser.add_argument("--write", type=Path, help="also write the tables to this Markdown file")
    arguments = parser.parse_args()
    names: Sequence[str] = arguments.names or QUICK
    if arguments.write and len(names) > 1 and set(names) & set(SECTIONS):
        parser.error(f"{' and '.join(SECTIONS)} fill sections of different pages; write one at a time")
    console = Console()
    found: list[Report] = []
    for name in names:
        for report in module_of(name).reports():
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
        if names[0] not in OWN_MACHINES:
            keep(record_name(names), record_of(command, [] if names[0] in OWN_RECORDS else found), arguments.write)
        if names[0] in SECTIONS:
            fill_section(arguments.write, f"benchmark {names[0]}", section(names[0], command, found))
        else:
            write_atomically(arguments.write, page(names, command, found))
    return 0


def machine() -> dict[str, Any]:
    """Where and with what is measured."""
    return {"machine": f"{platform.machine()} {platform.system()}", "versions": versions()}


def record_name(names: Sequence[str]) -> str:
    """Under which name the record of these benchmarks is kept."""
    return f"benchmark-{names[0]}" if len(names) == 1 else "benchmarks"


def record_of(command: str, reports: list[Report]) -> dict[str, Any]:
    """What is kept of a run: how it was made, and every table."""
    return {"command": command, **machine(), "reports": [report.plain() for report in reports]}


def text_from_record(*names: str) -> str:
    """The page or section of these benchmarks as the kept record has it."""
    record = recorded(record_name(names))
    reports = [Report.from_plain(each) for each in record["reports"]]
    if names[0] in OWN_RECORDS:
        reports = list(module_of(names[0]).kept_reports())
    if names[0] in SECTIONS:
        return section(names[0], record["command"], reports, record)
    return page(names, record["command"], reports, record)


def made_by(command: str, where: Mapping[str, Any] | None = None) -> str:
    """How and with what the numbers were made; on this machine if ``where`` is not given."""
    made = where or machine()
    listed = ", ".join(f"{name} {number}" for name, number in made["versions"].items())
    return f"Made by `{command}` on {made['machine']}, single-threaded unless a row says otherwise, with {listed}."


def page(names: Sequence[str], command: str, reports: list[Report], where: Mapping[str, Any] | None = None) -> str:
    """The documentation page with all tables and how they were made."""
    title, about = GENERAL
    if len(names) == 1 and names[0] in OWN_PAGES:
        module = module_of(names[0])
        title, about = module.TITLE, module.INTRO
    tables = [report.markdown() for report in reports]
    return "\n".join([f"# {title}\n\n{about}\n\n{made_by(command, where)}\n", *tables])


def section(name: str, command: str, reports: list[Report], where: Mapping[str, Any] | None = None) -> str:
    """A section of a page: what is measured, how it was made, and the tables one heading lower."""
    tables = [report.markdown(level=3) for report in reports]
    made = f"Made by `python -m benchmarks {name}`." if name in OWN_MACHINES else made_by(command, where)
    return "\n".join([f"{module_of(name).ABOUT}\n\n{made}\n", *tables])


if __name__ == "__main__":
    sys.exit(main())
