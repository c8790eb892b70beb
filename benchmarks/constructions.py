"""Sizes and certification times of every construction against N, next to what a compiled Transformer spends.

tracr (the compiler for RASP programs) needs a dimension for each position: 6N + 6 for looking up by the last token,
6N + 2V + 5 for reversing a string over V symbols. The Delsarte limit is the width that no address code can go below
with inner products of at most 1/4. The lengths of a construction end where a row takes seconds, so that the whole
run takes a few minutes. Run with ``python -m benchmarks constructions --write
docs/construction-sizes.md``; ``python -m tools.fill_pages`` then copies the tables that docs/constructions.md shows.

The promised sizes are measured as a user meets them: each is a process of its own that runs ``separatrix certify``, and
another that runs ``separatrix check`` on what it wrote, with all the time and memory that these took.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.report import Report
from separatrix.arithmetic.codes import delsarte_width
from separatrix.bit_counts import bits_for
from separatrix.certificates import Claim, check
from separatrix.certificates.certificate import size_of
from separatrix.certificates.shown import shown_count
from separatrix.constructions import Options, constructions
from separatrix.constructions.exponents import exponent_in_words
from separatrix.constructions.pieces import addresses
from separatrix.errors import SeparatrixError

TITLE = "Construction sizes"
INTRO = (
    "Every network below was built and checked for all inputs in one run, on one core. *p* is the number of bits of a "
    "number, *CPU s* is the processor time of building and checking together. [Constructions](constructions.md) "
    "describes the constructions and how they are checked; [the frontier](frontier.md) shows how narrow and how coarse "
    "they can be made."
)

SYMBOLS = 64
LOOKUP_POWERS = (4, 6, 8, 10, 12, 14, 16, 18, 20)
LARGEST_POWER, LONGEST_ROW = 20, 2.0
"""Lengths grow fourfold up to this power of two, or until a row takes this many seconds."""

PROMISED = (
    ("index-lookup", 4096, ""),
    ("index-lookup", 1 << 20, "--exponent 1"),
    ("equality", 4096, ""),
    ("disjointness", 1024, ""),
    ("dnf", 1024, ""),
    ("mqar", 256, ""),
    ("nearest-neighbour", 256, "--set margin=1/100"),
    ("nearest-neighbour", 256, "--set margin=1/100 --arithmetic balls"),
    ("sparse-averaging", 1024, "--set sparsity=8"),
    ("match2", 64, ""),
    ("match2-code", 1024, "--set modulus=65536"),
    ("match3", 64, ""),
    ("directed-3-cycle", 8, ""),
)
"""Sizes that the project promises on two cores and 8 GB: construction, N, other options of ``separatrix certify``."""
COMMAND = Path(sys.executable).with_name("separatrix")
PAUSE = 0.01
"""Seconds between two looks at a process."""


def measured(name: str, length: int, options: Options) -> tuple[float, dict[str, int], str, str] | None:
    """CPU seconds to build and check, sizes, inputs covered, method; None where the theorem has no such length."""
    addresses.cache_clear()  # so that every row pays for the search of its own code
    started = time.process_time()
    try:
        built = constructions()[name].build(length, options)
    except SeparatrixError:
        return None
    claim = Claim(built.task, built.length, built.arithmetic)
    verdict = check(built.network, claim)
    seconds = time.process_time() - started
    covered = shown_count(verdict.inputs_covered) if verdict.valid else f"not certified: {verdict.reason[:60]}"
    return seconds, size_of(built.network, claim), covered, verdict.method


def lookup_against_tracr() -> Report:
    """Theorem 1 next to compiled Transformers and the limit of its addresses."""
    report = Report(
        f"Looking up by the last token, {SYMBOLS} symbols",
        "Width of the certified network of BHBK24 Theorem 1, k of its address code and the least k that any code could "
        "have (Delsarte), next to the widths of networks compiled by tracr: 6N + 6 for the same lookup and 6N + 2V + 5 "
        f"for reversing a string over V = {SYMBOLS} symbols. Kc = 2 up to N = 2^14, Kc = 1 beyond.",
        ("N", "width", "p", "CPU s", "addresses k", "Delsarte limit", "tracr, lookup", "tracr, reverse"),
    )
    for power in LOOKUP_POWERS:
        length = 2**power
        found = measured("index-lookup", length, Options())
        assert found is not None
        seconds, size, covered, _ = found
        width = size["width"] if "not" not in covered else "not certified"
        code = (size["width"] - bits_for(SYMBOLS)) // 2
        limit = delsarte_width(length).width
        compiled = (6 * length + 6, 6 * length + 2 * SYMBOLS + 5)
        report.add(length, width, size["precision_bits"], f"{seconds:.2f}", code, limit, *compiled)
    return report


def command(*words: str) -> tuple[dict[str, Any], float, float, float]:
    """One command in a process of its own: its JSON, seconds on the clock, seconds of all cores, peak memory in MB."""
    started, most = time.perf_counter(), 0
    with tempfile.TemporaryFile() as answer:
        process = subprocess.Popen([COMMAND, *words, "--json"], stdout=answer)
        ended, _, used = os.wait4(process.pid, os.WNOHANG)
        while not ended:
            most = max(most, peak_memory(process.pid))
            time.sleep(PAUSE)
            ended, _, used = os.wait4(process.pid, os.WNOHANG)
        process.returncode = 0  # it has been waited for
        seconds = time.perf_counter() - started
        answer.seek(0)
        record = json.loads(answer.read())
    return record, seconds, used.ru_utime + used.ru_stime, most / 1e6


def peak_memory(process: int) -> int:
    """The most bytes that a process has held so far, 0 where the system does not say.

    What the system says after its end also counts what the process that started it held, so it is asked before.
    """
    try:
        lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM:"))


def promised_sizes() -> Report:
    """The sizes that must certify on a small machine."""
    report = Report(
        "Promised sizes",
        "What has to certify on two cores and 8 GB: Theorem 1 at N = 4096 within a minute and at 2^20 within five. "
        "Each row is one process of `separatrix certify` and one of `separatrix check` on the files that it wrote, "
        "starting of the program included; *s* are seconds on the clock, waiting for other work on the machine "
        "included, *MB* the most memory that the process held.",
        (
            "construction", "N", "options", "width", "p", "inputs covered", "certify, s", "CPU s", "MB", "check, s",
            "check says",
        ),
    )  # fmt: skip
    for name, length, more in PROMISED:
        with tempfile.TemporaryDirectory() as folder:
            words = [name, "--length", str(length), *more.split()]
            record, wall, cpu, memory = command("certify", *words, "--out", folder)
            checked, again, _, _ = command("check", folder)
        covered = shown_count(record["inputs_covered"]) if record["certified"] else "not certified"
        said = "valid" if checked["valid"] else checked["reason"]
        seconds = f"{wall:.1f}", f"{cpu:.1f}", f"{memory:.0f}", f"{again:.1f}", said
        options = f"`{more}`" if more else "–"
        report.add(name, length, options, record["width"], record["precision_bits"], covered, *seconds)
    return report


def every_construction() -> Report:
    """One row for each construction and length."""
    report = Report(
        "Every construction",
        "Lengths 2^4, 2^6 … up to the largest that takes seconds; larger ones are a `separatrix certify` away. "
        "Kc = 1 beyond N = 2^14.",
        ("construction", "N", "layers", "heads", "width", "p", "size in bits", "inputs covered", "method", "CPU s"),
    )
    for name in constructions():
        for power in range(4, LARGEST_POWER + 1, 2):
            coarse = 1 if exponent_in_words(2**power) == 1 else None
            found = measured(name, 2**power, Options(exponent=coarse))
            if found is not None:
                seconds, size, covered, method = found
                report.add(name, 2**power, *size.values(), covered, method, f"{seconds:.2f}")
                if seconds > LONGEST_ROW:
                    break
    return report


def reports() -> Iterator[Report]:
    """All tables of this module."""
    yield lookup_against_tracr()
    yield promised_sizes()
    yield every_construction()
