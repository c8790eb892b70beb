"""Sizes and certification times of every construction against N, and beside what a compiled Transformer spends.

tracr (the compiler for RASP programs) needs a dimension for each position: 6N + 6 for looking up by the last token. The
last column is the width that no address code can go below with inner products of at most 1/4 (Delsarte).
"""

import time
from collections.abc import Iterator

from benchmarks.report import Report
from separatrix.arithmetic.codes import delsarte_width
from separatrix.certificates import Claim, check
from separatrix.certificates.certificate import size_of
from separatrix.constructions import Construction, Options, constructions
from separatrix.errors import SeparatrixError

POWERS = (4, 6, 8)
PATIENCE = 1.0
"""A construction whose last size took this many seconds is not built larger."""


def every_construction() -> Report:
    """One row for each construction and length."""
    report = Report(
        "Certified sizes",
        "Built and checked for all inputs in this run, one core. p is the number of bits of a number.",
        ("construction", "N", "layers", "heads", "width", "p", "size in bits", "inputs covered", "method", "seconds"),
    )
    for construction in constructions().values():
        for power in POWERS:
            row = measured(construction, 2**power)
            if row is None:
                continue
            seconds, cells = row
            report.add(construction.name, 2**power, *cells, f"{seconds:.2f}")
            if seconds > PATIENCE:
                break
    return report


def measured(construction: Construction, length: int) -> tuple[float, list[object]] | None:
    """Seconds to build and check, and the sizes; None where the theorem has no such length."""
    started = time.perf_counter()
    try:
        built = construction.build(length)
    except SeparatrixError:
        return None
    claim = Claim(built.task, built.length, built.arithmetic)
    verdict = check(built.network, claim)
    seconds = time.perf_counter() - started
    size = size_of(built.network, claim)
    covered = verdict.inputs_covered if verdict.valid else f"not certified: {verdict.reason[:60]}"
    return seconds, [*size.values(), covered, verdict.method]


def lookup_against_tracr() -> Report:
    """Theorem 1 beside a compiled Transformer and the limit of its addresses."""
    report = Report(
        "Looking up by the last token, 64 symbols",
        "Width of the certified network of BHBK24 Theorem 1, the 6N + 6 of one compiled by tracr, and the least "
        "width of N address vectors with inner products at most 1/4 (Delsarte). Kc = 1 beyond N = 4096.",
        ("N", "width", "p", "seconds", "addresses k", "Delsarte limit", "tracr 6N + 6"),
    )
    for power in (4, 6, 8, 10, 12, 14, 16, 20):
        length = 2**power
        started = time.perf_counter()
        built = constructions()["index-lookup"].build(length, Options(exponent=2 if power <= 12 else 1))
        verdict = check(built.network, Claim(built.task, length, built.arithmetic))
        seconds = time.perf_counter() - started
        code = (built.network.width - 6) // 2
        limit = delsarte_width(length).width
        width = built.network.width if verdict.valid else "not certified"
        report.add(length, width, built.arithmetic.precision_bits, f"{seconds:.2f}", code, limit, 6 * length + 6)
    return report


def reports() -> Iterator[Report]:
    """All tables of this module."""
    yield lookup_against_tracr()
    yield every_construction()
