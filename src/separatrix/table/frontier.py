"""The frontier of a construction: how narrow and how coarse it can be and still be certified.

A theorem that says "width O(log N) and precision O(log N)" leaves open what is really needed. Here every network on a
ladder of address codes is built, from points on one circle (two dimensions, many bits) over several circles and binary
digits to sign codes of small inner products (many dimensions, few bits), and the checker decides each for all inputs.
Two questions are answered by bisection:

* the narrowest code on the ladder that is certified at a given precision, and the smallest score scale η for it;
* the fewest bits with which a given code is certified, which draws the border in the plane of width and precision.

BHBK24 B.2 has steps N^-Kc and a range of N^Kc for a whole number Kc. A fixed point of 2^-b and 2^b is the same thing
with Kc = b / log₂ N, so that precision can be given in bits. Bisection assumes that a certificate at some width or
precision means one at every larger one. Nothing depends on that: what is reported as certified was certified, and
what is reported as the smallest has a neighbour below it that was tried and was not.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

from separatrix.arithmetic import FixedPoint
from separatrix.bit_counts import bits_for
from separatrix.certificates import Claim, SuspicionError, UnsupportedError, methods
from separatrix.constructions import Options, addresses, circles, constructions, digits
from separatrix.errors import SeparatrixError
from separatrix.networks import AnyNetwork
from separatrix.tasks import tasks

FINEST = Fraction(1, 4)
"""The ladder ends at the inner products of the theorems' own codes."""
SMALLEST_BOUND = Fraction(1, 100)
MOST_BITS = 30
"""The checker computes in 64-bit integers: numbers up to 2^b in steps of 2^-b with b up to 30."""
FEWEST_BITS = 2
LARGEST_CIRCLE = 2048
"""The points of a circle are compared each with each, so circles have at most this many."""
CIRCLES: Mapping[int, str] = {1: "circle", **{number: f"{number} circles" for number in range(2, 17)}}
"""What codes of points on so many circles are called in surveys and their records."""
STRETCHES = (Fraction(1), Fraction(9, 8), Fraction(3, 2), Fraction(2), Fraction(3))
"""By how much η may exceed the value from which on all other weights round to 0, to make up for rounded addresses."""


@dataclass(frozen=True)
class Code:
    """A rung of the ladder: the options that give it, its width k, largest inner product and norm."""

    label: str
    family: str | None
    max_inner: Fraction
    width: int
    norm: int
    on_circles: bool = False
    """Whether addresses are points on circles and not signs."""


@dataclass(frozen=True)
class Trial:
    """A network to decide: gain None is the theorem's own."""

    construction: str
    length: int
    code: Code
    bits: int
    gain: Fraction | None


@dataclass(frozen=True)
class Point:
    """One network on the ladder and its verdict; ``bits`` is b of the steps 2^-b, ``gain`` the score scale η."""

    construction: str
    length: int
    code: str
    code_width: int
    bits: int
    width: int
    precision_bits: int
    size_bits: int
    gain: str
    certified: bool
    reason: str
    seconds: float


class Decide(Protocol):
    """Whatever turns trials into points: :func:`decided`, or a store that remembers them."""

    def __call__(self, trial: Trial) -> Point | None:
        """Return the verdict, None where the theorem has no such network."""
        ...


def frontier_powers() -> dict[str, int]:
    """Return the constructions whose frontier is measured, each with its largest power of two."""
    found = [each for each in constructions().values() if each.addressing is not None and each.frontier_power]
    found.sort(key=lambda each: (-each.frontier_power, each.addressing != "position", each.name))
    return {each.name: each.frontier_power for each in found}


def _by_content(name: str) -> bool:
    return constructions()[name].addressing == "content"


@lru_cache(maxsize=32)
def ladder(length: int) -> tuple[Code, ...]:
    """Address codes for N positions from narrow to wide, each with a smaller largest inner product than the last."""
    power = max(1, bits_for(length))
    found: list[Code] = []
    number = 1
    while 2 * number < power:
        if round(length ** (1 / number)) <= LARGEST_CIRCLE:
            code = circles(length, str(number))
            found.append(Code(CIRCLES[number], f"circles:{number}", code.max_inner, code.width, code.norm, True))
        number += 1
    plain = digits(length)
    found.append(Code("digits", "digits", plain.max_inner, plain.width, plain.norm))
    bound = plain.max_inner
    while bound > FINEST:
        try:
            code = addresses(length, bound - Fraction(1, 10**6), None)
        except SeparatrixError:
            break
        bound = code.max_inner
        found.append(Code(f"inner ≤ {bound}", None, bound, code.width, code.norm))
    return tuple(found)


def circles_named(label: str) -> int | None:
    """Return the number of circles of a code by its label; None for other codes.

    >>> circles_named("circle"), circles_named("3 circles"), circles_named("digits")
    (1, 3, None)
    """
    return next((number for number, name in CIRCLES.items() if name == label), None)


def gains(trial_of: Callable[[Fraction | None], Trial]) -> list[Trial]:
    """Return trials with different η, the smallest first; the theorem's own last.

    From η (1 - γ) ≥ b ln 2 on, all exponentials but the best round to 0 in steps of 2^-b. ln 2 < 7/10.
    """
    example = trial_of(None)
    code, bits, unit = example.code, example.bits, _unit_of_gain(example)
    enough = Fraction(7 * bits, 10) / (1 if _by_content(example.construction) else 1 - code.max_inner)
    asked = [math.ceil(enough * stretch / unit) * unit for stretch in STRETCHES]
    # Scores cannot exceed 2^b, so beyond that only the largest possible η is worth a try.
    most = (1 << bits) - unit
    kept = sorted({min(gain, most) for gain in asked if min(gain, most) > 0})
    return [*[trial_of(gain) for gain in kept], example]


def _unit_of_gain(trial: Trial) -> Fraction:
    """Return the step between two η that differ in the weights."""
    return Fraction(1 if _by_content(trial.construction) else trial.code.norm, 1 << trial.bits)


def decided(trial: Trial) -> Point | None:
    """Build one network and let the checker decide it for all inputs."""
    started = time.perf_counter()
    code = trial.code
    # A code may do better than any bound that can be given: inner products of 0 or less.
    options = Options(family=code.family, max_inner=max(code.max_inner, SMALLEST_BOUND), gain=trial.gain)
    try:
        built = constructions()[trial.construction].build(trial.length, options)
    except SeparatrixError:
        return None
    arithmetic = FixedPoint(1 << trial.bits, 1)
    claim = Claim(built.task, built.length, arithmetic)
    certified, reason = proved(built.network, claim, methods_for(trial))
    size, precision = built.network.size_bits(arithmetic.precision_bits), arithmetic.precision_bits
    return Point(
        trial.construction, trial.length, code.label, code.width, trial.bits, built.network.width, precision, size,
        "theorem" if trial.gain is None else str(trial.gain), certified, reason,
        round(time.perf_counter() - started, 3),
    )  # fmt: skip


def methods_for(trial: Trial) -> tuple[str, ...]:
    """Return the checker's methods for a network on the ladder, the quickest first."""
    if _by_content(trial.construction):
        return ("content-addressed",)
    if trial.code.on_circles:
        # Scoring every pair of points loses nothing to bounds, but there are N² pairs.
        return ("block-addressed", *(["position-addressed"] if trial.length <= LARGEST_CIRCLE else []))
    return ("position-addressed",)


def proved(network: AnyNetwork, claim: Claim, names: Sequence[str]) -> tuple[bool, str]:
    """Return whether a method of the checker proves a claim, and why not; counterexamples are not searched for."""
    reason = "no method covers the network"
    for method in names:
        try:
            methods()[method].prove(network, claim)
        except (UnsupportedError, SuspicionError) as refusal:
            reason = str(refusal)
            continue
        return True, "every input is answered correctly"
    return False, reason


def first_certified(name: str, length: int, code: Code, bits: int, decide: Decide) -> Point | None:
    """Return a certified network with this code and precision, or the last one that is not; None where there is no
    network."""
    last: Point | None = None
    for trial in gains(lambda gain: Trial(name, length, code, bits, gain)):
        point = decide(trial)
        last = point or last
        if point is not None and point.certified:
            return point
    return last


def narrowest(name: str, length: int, bits: int, decide: Decide) -> Point | None:
    """Return the narrowest certified network on the ladder at a precision, by bisection over the codes."""
    codes = [code for code in ladder(length) if usable(name, code)]
    return _lowest_certified(0, len(codes) - 1, lambda place: first_certified(name, length, codes[place], bits, decide))


def smallest_gain(point: Point, decide: Decide, steps: int = 6) -> Point:
    """Return a certified network like this one with a smaller η, by bisection; the point itself where none was
    found."""
    code = next(code for code in ladder(point.length) if code.label == point.code)
    if point.gain == "theorem":
        return point
    unit = _unit_of_gain(Trial(point.construction, point.length, code, point.bits, None))
    low, high, best = 0, int(Fraction(point.gain) / unit), point
    for _ in range(steps):
        middle = (low + high) // 2
        if middle in (low, high):
            break
        tried = decide(Trial(point.construction, point.length, code, point.bits, middle * unit))
        if tried is not None and tried.certified:
            best, high = tried, middle
        else:
            low = middle
    return best


def fewest_bits(name: str, length: int, code: Code, decide: Decide) -> Point | None:
    """Return the certified network with this code and the fewest bits, by bisection over them."""
    return _lowest_certified(
        least_bits(name, length), MOST_BITS, lambda bits: first_certified(name, length, code, bits, decide)
    )


def _lowest_certified(low: int, high: int, point_at: Callable[[int], Point | None]) -> Point | None:
    """Return the certified point at the lowest of the places from ``low`` to ``high``, by bisection."""
    best: Point | None = None
    while low <= high:
        middle = (low + high) // 2
        point = point_at(middle)
        if point is not None and point.certified:
            best, high = point, middle - 1
        else:
            low = middle + 1
    return best


def least_bits(name: str, length: int) -> int:
    """Return the b below which nothing can work: a second layer that averages over all positions must not round 1/n to
    0."""
    if constructions()[name].addressing != "position-and-average":
        return FEWEST_BITS
    return bits_for(tasks()[constructions()[name].task_name].positions(length))


def usable(name: str, code: Code) -> bool:
    """Return whether a construction can take these addresses: recall by content needs signs."""
    return not _by_content(name) or not code.on_circles


def check_supported(name: str) -> None:
    """Raise unless a construction takes its addresses from the ladder."""
    constructions()[name]
    if name not in frontier_powers():
        raise SeparatrixError(
            f"{name} does not take its addresses from a code; its size is what certify shows. There is a frontier for "
            + ", ".join(frontier_powers())
        )


def best(points: Sequence[Point]) -> list[Point]:
    """Return the certified points that no other certified point beats in width and precision, from narrow to wide."""
    certified = [point for point in points if point.certified]
    kept = [
        point
        for point in certified
        if not any(
            (other.width, other.precision_bits) != (point.width, point.precision_bits)
            and other.width <= point.width
            and other.precision_bits <= point.precision_bits
            for other in certified
        )
    ]
    unique = {(point.width, point.precision_bits): point for point in reversed(kept)}
    return [unique[key] for key in sorted(unique)]
