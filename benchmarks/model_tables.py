"""The tables of ``benchmarks.models`` from its records, which may come from another machine.

    python -m benchmarks.model_tables FILE [FILE …] [--write docs/architectures.md]

FILE holds one JSON object a line, as ``python -m benchmarks.models --json FILE`` appends them: first the machine, then
rows as they were measured. With ``--write`` the files are kept next to the page (``records/models-DEVICE.jsonl``) and
its section is filled from all that are kept, so that the tables of a CPU and of a GPU can be made at different places.
A file that was cut off gives the rows that it has.
"""

import argparse
import json
import math
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

from rich.console import Console

from benchmarks.report import Report
from separatrix.provenance import versions

Record: TypeAlias = dict[str, Any]
"""One line of a file: the machine, or a row of one of the tables."""
ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/architectures.md"
RECORDS = "records/models-{device}.jsonl"
"""Where the records of a device are kept, from the page."""
DEVICES = ("cpu", "cuda")
CLOCK = {"cpu": " (CPU time of one thread)", "cuda": ""}
MISSING = "–"


def machine_record(device: Any) -> Record:
    """Where and with what is measured; ``device`` is a torch.device."""
    import torch

    more: dict[str, str] = {}
    for package in ("triton", "transformers"):
        try:
            more[package] = version(package)
        except PackageNotFoundError:
            continue
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else f"{platform.machine()} {platform.system()}"
    return {"table": "machine", "device": device.type, "name": name, "versions": {**versions(), **more}}


def json_lines(records: Sequence[Record]) -> str:
    """One JSON object a line."""
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in records)


def read_records(path: Path) -> list[Record]:
    """The records of a file; a last line that was cut off is left out."""
    records: list[Record] = []
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        try:
            records.append(json.loads(line))
        except json.JSONDecodeError:
            if number < len(lines):
                raise ValueError(f"line {number} of {path} is not JSON; delete it and measure its row again") from None
    if records and records[0].get("table") != "machine":
        raise ValueError(f"{path} does not begin with a machine; name a file of  python -m benchmarks.models --json")
    return records


def kept_records(without: Sequence[str] = (), page: Path = PAGE) -> Iterator[list[Record]]:
    """The records kept next to the page, device by device."""
    for device in DEVICES:
        path = page.parent / RECORDS.format(device=device)
        if device not in without and path.exists():
            yield read_records(path)


def milliseconds(value: float) -> str:
    """Three figures where that is more than two places."""
    return f"{value:.3f}" if value < 1 else f"{value:.2f}"


def mebibytes(value: int | None) -> str:
    """Bytes in MiB."""
    return MISSING if value is None else f"{value / 2**20:.1f}"


def tables(records: Sequence[Record]) -> list[Report]:
    """All tables of one device, those that have rows; the records go into a file next to the page."""
    device = str(records[0]["device"])
    made = f"Measured on {records[0]['name']} with " + ", ".join(
        f"{name} {number}" for name, number in records[0]["versions"].items()
    )
    found = [
        table(device, made, [each for each in records if each["table"] == kind])
        for kind, table in (("baselines", baseline_table), ("growth", growth_table), ("one-read", one_read_table))
        if any(each["table"] == kind for each in records)
    ]
    for report in found[:1]:
        report.files[RECORDS.format(device=device)] = json_lines(records)
    return found


def baseline_table(device: str, made: str, records: Sequence[Record]) -> Report:
    """Ensembles against single eager models."""
    members = [int(each["members"]) for each in records[0]["ours"]]
    columns = [f"{each} member{'s' * (each > 1)}" for each in members]
    peaks = ("peak MiB", "baseline peak MiB") if device == "cuda" else ()
    peak_text = "; peak is the most that is allocated at a time, for one member" if peaks else ""
    report = Report(
        f"Models against eager single models ({device})",
        f"One layer, batch {records[0]['batch']}, one position read; milliseconds for one model's forward and backward "
        f"pass{CLOCK[device]}, and MiB kept for the backward pass{peak_text}. Faster and MiB are those of "
        f"{columns[-1]}. {made}.",
        ("model", "N", *columns, "baseline", "ms", "faster", "MiB", "baseline MiB", *peaks),
    )
    for record in sorted(records, key=lambda each: (str(each["model"]).casefold(), each["length"])):
        ours: Mapping[str, Any] = record["ours"][-1]
        cells = [milliseconds(each["milliseconds"]) for each in record["ours"]]
        theirs: Mapping[str, Any] | None = record.get("baseline")
        if theirs is None:
            # The only baseline that does not fit.
            cells += ["N³ scores do not fit", MISSING, MISSING, mebibytes(ours["kept_bytes"]), MISSING]
        else:
            cells += [
                theirs["what"], milliseconds(theirs["milliseconds"]),
                f"{theirs['milliseconds'] / ours['milliseconds']:.1f}×",
                mebibytes(ours["kept_bytes"]), mebibytes(theirs["kept_bytes"]),
            ]  # fmt: skip
        if peaks:
            cells += [mebibytes(ours["peak_bytes"]), mebibytes(None if theirs is None else theirs["peak_bytes"])]
        report.add(record["model"], record["length"], *cells)
    return report


def growth_table(device: str, made: str, records: Sequence[Record]) -> Report:
    """Time and memory of linear-time models from length to length."""
    lengths = [int(each["length"]) for each in records[0]["ours"]]
    report = Report(
        f"Growth with length ({device})",
        f"One layer, batch {records[0]['batch']}, every position read, forward and backward{CLOCK[device]}. The "
        "exponent is the logarithm to base 2 of the factor by which doubling the length multiplies the time or the "
        f"memory kept for the backward pass: 1 is linear. {made}.",
        ("model", *[f"ms at {length}" for length in lengths], f"MiB at {lengths[-1]}", "time exponents",
         "memory exponents"),
    )  # fmt: skip
    for record in sorted(records, key=lambda each: str(each["model"]).casefold()):
        costs: list[Record] = record["ours"]
        report.add(
            record["model"],
            *[f"{each['milliseconds']:.1f}" for each in costs],
            mebibytes(costs[-1]["kept_bytes"]),
            *[exponents(costs, what) for what in ("milliseconds", "kept_bytes")],
        )
    return report


def exponents(costs: Sequence[Record], what: str) -> str:
    """The powers of the length with which a cost grows from each length to the next."""
    return ", ".join(
        f"{math.log(after[what] / before[what]) / math.log(after['length'] / before['length']):.2f}"
        for before, after in pairwise(costs)
    )


def one_read_table(device: str, made: str, records: Sequence[Record]) -> Report:
    """One position read against every position computed by the same layer's parallel form."""
    lengths = [int(each["length"]) for each in records[0]["ours"]]
    report = Report(
        f"One position read against all ({device})",
        f"One layer, batch {records[0]['batch']}, forward and backward{CLOCK[device]}. The same model in its parallel "
        "form, once with one position read and once with every position computed and read, in the same run; "
        f"exponents as above, of the time with one read. {made}.",
        ("model", *[f"ms at {length}" for length in lengths], *[f"all, ms at {length}" for length in lengths],
         f"faster at {lengths[-1]}", "time exponents", "memory exponents"),
    )  # fmt: skip
    for record in sorted(records, key=lambda each: str(each["model"]).casefold()):
        one, every = record["ours"], record["every"]
        report.add(
            record["model"],
            *[f"{each['milliseconds']:.1f}" for each in (*one, *every)],
            f"{every[-1]['milliseconds'] / one[-1]['milliseconds']:.1f}×",
            *[exponents(one, what) for what in ("milliseconds", "kept_bytes")],
        )
    return report


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables of files, or put them into a page; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.model_tables", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, help="files of  python -m benchmarks.models --json")
    parser.add_argument("--write", type=Path, help="keep the files next to this page and fill its section")
    given = parser.parse_args(arguments)
    found = [report for path in given.files for report in tables(read_records(path))]
    if not given.write:
        for report in found:
            report.show(Console())
        return 0
    from tools.pages import fill_section

    from benchmarks.__main__ import section
    from separatrix.files import write_atomically

    for report in found:
        for path, content in report.files.items():
            write_atomically(given.write.parent / path, content)
    shown = [report for records in kept_records(page=given.write) for report in tables(records)]
    fill_section(given.write, "benchmark models", section("models", "", shown))
    print(f"filled {given.write}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
