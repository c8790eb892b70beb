"""Sign codes: widths against N, the cost of verifying 2^24 vectors, and bit-packed against naive verification.

Run with ``python -m benchmarks sign-codes``.
"""

import resource
import sys
import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from rich.console import Console

from benchmarks.report import Report
from separatrix.arithmetic.codes import CodeRow, SignCode, code_table, families, sign_code
from separatrix.arithmetic.codes.weights import linear_distances

COUNTS = (16, 64, 256, 1024, 4096, 16384)


@dataclass(frozen=True)
class Verification:
    """Time and memory of verifying all pairs of 2^24 vectors."""

    code: SignCode
    seconds: float
    traced_bytes: int
    process_bytes: int


@dataclass(frozen=True)
class Comparison:
    """The same fact about 4096 vectors found in two ways."""

    width: int
    max_inner: Fraction
    packed_seconds: float
    naive_seconds: float
    blas_seconds: float


def table(large: bool = False) -> tuple[CodeRow, ...]:
    """Widths by family with the Delsarte limit; every code in it is verified."""
    return code_table((*COUNTS, 1 << 24) if large else COUNTS)


def verification() -> Verification:
    """Build the narrowest code of 2^24 vectors and weigh all its words."""
    start = time.perf_counter()
    code = sign_code(1 << 24)
    seconds = time.perf_counter() - start
    # A second run under the allocation tracer, which slows the first number down if it shares the run.
    tracemalloc.start()
    sign_code(1 << 24)
    traced = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Linux reports kilobytes, macOS bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    process = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return Verification(code, seconds, traced, process)


def comparison(count: int = 4096) -> Comparison:
    """Codeword weights against the int8 Gram matrix, in one run; both must agree."""
    code = sign_code(count, family="trace")
    rule = code.rule
    start = time.perf_counter()
    distances = linear_distances(rule.rows, rule.width)
    packed = time.perf_counter() - start
    start = time.perf_counter()
    signs = code.signs(range(count))
    gram = signs @ signs.T
    np.fill_diagonal(gram, -128)
    largest = int(gram.max())
    naive = time.perf_counter() - start
    assert largest == code.width - 2 * distances.smallest
    start = time.perf_counter()
    # Sums of a few dozen signs are exact in float32, and this product goes through BLAS.
    floats = code.signs(range(count)).astype(np.float32)
    products = floats @ floats.T
    np.fill_diagonal(products, -1000)
    assert products.max() == largest
    blas = time.perf_counter() - start
    return Comparison(code.width, code.max_inner, packed, naive, blas)


def widths_report(rows: tuple[CodeRow, ...]) -> Report:
    """The width table as text."""
    names = list(families())
    report = Report(
        "Width of N sign vectors with inner products at most 1/4",
        "Every width is that of a code built and verified in this run; the limit is Delsarte's bound with exact "
        "certificates, the paper's width is (8/γ²) ln 2N, bits is the size of the best code's description. "
        "A star marks a width proved smallest.",
        ("N", *names, "best", "limit", "random draw", "paper", "bits", "max inner"),
    )
    for row in rows:
        widths = ["–" if row.widths[name] is None else row.widths[name] for name in names]
        best = f"{row.best.width}{'*' if row.optimal else ''}"
        report.add(
            row.count,
            *widths,
            best,
            row.limit.width,
            "–" if row.drawn is None else row.drawn,
            row.paper_width,
            row.best.description_bits,
            row.best.max_inner,
        )
    return report


def verification_report() -> Report:
    """Bit-packed against naive at 4096 vectors, and the cost at 2^24."""
    report = Report(
        "Verifying all inner products of a sign code",
        "Codeword weights, bit-packed, against the Gram matrix in int8 and through BLAS in float32, in the same run; "
        "the matrix of 2^24 vectors would have 2^48 entries.",
        (
            "N",
            "width",
            "max inner",
            "codeword weights",
            "int8 Gram",
            "ratio",
            "float32 Gram",
            "ratio ",
            "arrays",
            "process",
        ),
    )
    both = comparison()
    report.add(
        4096,
        both.width,
        both.max_inner,
        f"{both.packed_seconds * 1e3:.2f} ms",
        f"{both.naive_seconds * 1e3:.0f} ms",
        f"{both.naive_seconds / both.packed_seconds:.0f}",
        f"{both.blas_seconds * 1e3:.0f} ms",
        f"{both.blas_seconds / both.packed_seconds:.0f}",
        "–",
        "–",
    )
    large = verification()
    report.add(
        large.code.count,
        large.code.width,
        large.code.max_inner,
        f"{large.seconds * 1e3:.0f} ms",
        "–",
        "–",
        "–",
        "–",
        f"{large.traced_bytes / 2**20:.0f} MiB",
        f"{large.process_bytes / 2**20:.0f} MiB",
    )
    return report


def reports() -> Iterator[Report]:
    """Widths with the row of 2^24 vectors, then the cost of verifying."""
    yield widths_report(table(large=True))
    yield verification_report()


if __name__ == "__main__":
    for each in reports():
        each.show(Console())
