"""The fixed point of BHBK24 Appendix B.2 in Python integers, with a certified exponential.

For N and Kc the numbers are the multiples of N^-Kc between -N^Kc and N^Kc. A number x is kept as the integer
v = x · S with S = N^Kc, so |v| ≤ S². Each product and quotient is rounded (down, or to nearest with ties to even) and
saturated; a sum is added up exactly and saturated once; softmax follows Appendix D. This is the arithmetic that the
claim names; nothing here approximates it.
"""

import re
from collections.abc import Mapping
from fractions import Fraction

from separatrix_kernel.reading import Budget, RefusedError, require

NAME = re.compile(r"fixed:N=([1-9][0-9]{0,17}),Kc=([1-9][0-9]{0,2}),(down|nearest)")
MOST_BITS = 4096
SPARE_BITS = 32
MOST_WORK = 1 << 31


class Numbers:
    """One fixed point: ``scale`` is S, ``limit`` S². ``work`` counts what is computed for one claim."""

    def __init__(self, name: str) -> None:
        match = NAME.fullmatch(name)
        if match is None:
            raise RefusedError(f"the arithmetic {name[:60]!r} is not a fixed point that the kernel knows")
        base, exponent, self.rounding = int(match[1]), int(match[2]), match[3]
        require(base >= 2 and exponent * base.bit_length() <= MOST_BITS, f"the arithmetic {name} is out of range")
        self.name, self.base, self.exponent = name, base, exponent
        self.scale: int = base**exponent
        self.limit = self.scale * self.scale
        self._powers: dict[int, int] = {0: self.scale}
        # Products of numbers of several machine words take longer.
        self.work = Budget(MOST_WORK // (1 + self.scale.bit_length() // 64), "steps of arithmetic")

    def saturate(self, value: int) -> int:
        """Cut a number off at the ends of the range."""
        if -self.limit <= value <= self.limit:
            return value
        return self.limit if value > 0 else -self.limit

    def quotient(self, numerator: int, denominator: int) -> int:
        """numerator / denominator, the denominator positive, rounded to an integer; not saturated."""
        whole, rest = divmod(numerator, denominator)
        if self.rounding == "nearest" and (2 * rest > denominator or (2 * rest == denominator and whole % 2)):
            whole += 1
        return whole

    def encode(self, numerator: int, denominator: int) -> int:
        """A weight numerator / denominator in the arithmetic."""
        return self.saturate(self.quotient(numerator * self.scale, denominator))

    def product(self, left: int, right: int) -> int:
        """The rounded and saturated product.

        For a fixed left factor this grows with the right one if left ≥ 0 and falls if left ≤ 0, because rounding and
        saturation are monotone. Bounds of the factor therefore give bounds of the product.
        """
        whole = self.quotient(left * right, self.scale)
        return whole if -self.limit <= whole <= self.limit else self.saturate(whole)

    def product_range(self, left: int, low: int, high: int) -> tuple[int, int]:
        """The least and the greatest product with a factor from low to high."""
        ends = self.product(left, low), self.product(left, high)
        return ends if left >= 0 else (ends[1], ends[0])

    def power(self, value: int) -> int:
        """S · exp(value / S), rounded, for value ≤ 0."""
        if value not in self._powers:
            self._powers[value] = self._rounded_power(value)
        return self._powers[value]

    def _rounded_power(self, value: int) -> int:
        """Round with as many bits as it takes.

        An enclosure [a, b] of the real number decides its rounding as soon as a and b round alike, because rounding is
        monotone. For value < 0 that happens: exp of a rational other than 0 is transcendental (Lindemann), so it is
        neither a whole number nor half of one, where rounding jumps.
        """
        bits = self.scale.bit_length() + SPARE_BITS
        while True:
            low, high = exponential(Fraction(value, self.scale), bits)
            ends = {self.quotient(self.scale * end, 1 << bits) for end in (low, high)}
            if len(ends) == 1:
                return ends.pop()
            bits *= 2

    def weights(self, scoring: str, counts: Mapping[int, int]) -> dict[int, int]:
        """The attention weight of each score, where ``counts`` says how many visible keys have it.

        The weight of a key depends on its own score and on how often each score occurs. (The exception is leftmost
        attention, which needs the order of the keys; here it is known only if a single key has the largest score.)
        """
        if not counts:
            return {}
        if scoring == "linear":
            return {score: score for score in counts}
        if scoring == "relu":
            shares = {score: max(score, 0) for score in counts}
            total = min(self.limit, sum(shares[score] * count for score, count in counts.items()))
            return {
                score: self.saturate(self.quotient(share * self.scale, total or 1)) for score, share in shares.items()
            }
        best = max(counts)
        if scoring == "softmax":
            # A difference below -S² would be saturated; its exponential rounds to 0 with and without that.
            powers = {score: self.power(max(score - best, -self.limit)) for score in counts}
            total = sum(powers[score] * count for score, count in counts.items())
            return {score: self.quotient(power * self.scale, total) for score, power in powers.items()}
        require(scoring == "hard" or counts[best] == 1, "leftmost attention: several keys share the largest score")
        total = min(self.limit, counts[best] * self.scale)
        share = self.saturate(self.quotient(self.limit, total))
        return {score: share if score == best else 0 for score in counts}


def exponential(value: Fraction, bits: int) -> tuple[int, int]:
    """Integers a, b with a ≤ 2^bits · exp(value) ≤ b, for value ≤ 0.

    exp(value) = exp(r)^(2^k) with r = value / 2^k between -1/2 and 0. The terms of exp(r) = Σ r^n/n! alternate and
    fall to less than half from one to the next, so all terms after one together are smaller than it. Every step
    rounds its lower end down and its upper end up, and squaring numbers that are at least 0 keeps their order.
    """
    halvings = max(0, (-value.numerator // value.denominator + 1).bit_length() + 1)
    # Each squaring about doubles the relative error; below 2^-work nothing is left to resolve.
    work = bits + 2 * halvings + 16
    one, small = 1 << work, value / (1 << halvings)
    size = -small
    low = high = low_term = high_term = one
    order = 0
    while high_term > 1:
        order += 1
        top, bottom = size.numerator, size.denominator * order
        low_term, high_term = low_term * top // bottom, -(-high_term * top // bottom)
        low, high = (low - high_term, high - low_term) if order % 2 else (low + low_term, high + high_term)
    # What is left out is smaller than the last term.
    low, high = max(0, low - high_term), high + high_term
    for _ in range(halvings):
        low, high = low * low >> work, -(-high * high >> work)
    shift = work - bits
    return low >> shift, -(-high >> shift)
