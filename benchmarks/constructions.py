"""Sizes and certification times of every construction against N, beside what a compiled Transformer spends.

tracr (the compiler for RASP programs) needs a dimension for each position: 6N + 6 for looking up by the last token,
6N + 2V + 5 for reversing a string over V symbols. The Delsarte limit is the width that no address code can go below
with inner products of at most 1/4. Every construction has its own largest N, so that no row takes more than about
twenty seconds and the whole run a few minutes. Run with ``python -m benchmarks constructions --write
docs/construction-sizes.md``.
"""

import time
from collections.abc import Iterator
from typing import Any

from benchmarks.report import Report
from separatrix.arithmetic.codes import delsarte_width
from separatrix.certificates import Claim, check
from separatrix.certificates.certificate import size_of
from separatrix.constructions import Options, constructions
from separatrix.constructions.pieces import addresses
from separatrix.errors import SeparatrixError

TITLE = "Construction sizes"
INTRO = (
    "Every network below was built and checked for all inputs in one run, on one core. *p* is the number of bits of a "
    "number, *CPU s* are the processor's seconds for building and checking together. What the constructions are and "
    "how they are checked is told in [constructions](constructions.md); how narrow and how coarse they can be made, in "
    "[the frontier](frontier.md)."
)

SYMBOLS = 64
LOOKUP_POWERS = (4, 6, 8, 10, 12, 14, 16, 18, 20)
LARGEST: dict[str, int] = {
    "associative-recall": 10, "cnf": 10, "directed-3-cycle": 10, "disjointness": 10, "dnf": 10, "dyck-dfa": 20,
    "dyck-rnn": 20, "dyck-transformer": 12, "equality": 20, "equality-partition": 16, "index-lookup": 20,
    "majority": 12, "match2": 6, "match2-code": 8, "match3": 6, "match3-heads": 6, "match3-last": 8, "match3-local": 8,
    "mqar": 8, "nearest-neighbour": 8, "sparse-averaging": 10,
}  # fmt: skip
"""The largest power of two of each construction; one that is not named here stops at 2^6."""
COARSE = 2
"""Beyond the lengths at which N^(2 Kc) needs more than 62 bits for Kc = 2, the checker takes Kc = 1."""

NAMED: tuple[tuple[str, int, dict[str, Any], int | None], ...] = (
    ("index-lookup", 4096, {}, None),
    ("index-lookup", 1 << 20, {}, 1),
    ("equality", 4096, {}, None),
    ("disjointness", 1024, {}, None),
    ("dnf", 1024, {}, None),
    ("mqar", 256, {}, None),
    ("nearest-neighbour", 256, {"margin": "1/100"}, None),
    ("sparse-averaging", 1024, {"sparsity": 8}, None),
    ("match2-code", 1024, {"modulus": 65536}, None),
    ("match3", 64, {}, None),
    ("directed-3-cycle", 8, {}, None),
)
"""Sizes that the project promises on two cores and 8 GB: construction, N, parameters of the task, Kc."""


def exponent_at(power: int) -> int | None:
    """Kc = 1 where the construction's own would need more than 62 bits."""
    return 1 if 2 * COARSE * power >= 62 else None


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
    covered = verdict.inputs_covered if verdict.valid else f"not certified: {verdict.reason[:60]}"
    return seconds, size_of(built.network, claim), covered, verdict.method


def lookup_against_tracr() -> Report:
    """Theorem 1 beside compiled Transformers and the limit of its addresses."""
    report = Report(
        f"Looking up by the last token, {SYMBOLS} symbols",
        "Width of the certified network of BHBK24 Theorem 1, k of its address code and the least k that any code could "
        "have (Delsarte), beside the widths of networks compiled by tracr: 6N + 6 for the same lookup and 6N + 2V + 5 "
        f"for reversing a string over V = {SYMBOLS} symbols. Kc = 2 up to N = 2^14, Kc = 1 beyond.",
        ("N", "width", "p", "CPU s", "addresses k", "Delsarte limit", "tracr, lookup", "tracr, reverse"),
    )
    for power in LOOKUP_POWERS:
        length = 2**power
        found = measured("index-lookup", length, Options(exponent=exponent_at(power)))
        assert found is not None
        seconds, size, covered, _ = found
        width = size["width"] if "not" not in covered else "not certified"
        code = (size["width"] - (SYMBOLS - 1).bit_length()) // 2
        limit = delsarte_width(length).width
        compiled = (6 * length + 6, 6 * length + 2 * SYMBOLS + 5)
        report.add(length, width, size["precision_bits"], f"{seconds:.2f}", code, limit, *compiled)
    return report


def promised_sizes() -> Report:
    """The sizes that must certify on a small machine."""
    report = Report(
        "Promised sizes",
        "What has to certify on two cores and 8 GB: Theorem 1 at N = 4096 within a minute and at 2^20 within five.",
        ("construction", "N", "parameters", "width", "p", "inputs covered", "method", "CPU s"),
    )
    for name, length, parameters, exponent in NAMED:
        found = measured(name, length, Options(parameters=parameters, exponent=exponent))
        assert found is not None, f"{name} has no inputs of length {length}"
        seconds, size, covered, method = found
        listed = ", ".join(f"{key}={value}" for key, value in parameters.items()) or "–"
        report.add(name, length, listed, size["width"], size["precision_bits"], covered, method, f"{seconds:.2f}")
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
        for power in range(4, LARGEST.get(name, 6) + 1, 2):
            found = measured(name, 2**power, Options(exponent=exponent_at(power)))
            if found is not None:
                seconds, size, covered, method = found
                report.add(name, 2**power, *size.values(), covered, method, f"{seconds:.2f}")
    return report


def reports() -> Iterator[Report]:
    """All tables of this module."""
    yield lookup_against_tracr()
    yield promised_sizes()
    yield every_construction()
