"""IEEE 754 float32 in Python integers: every operation rounded to nearest with ties to even, sums in their order.

A finite float32 is a whole multiple of 2^-149, so x is kept as the integer v = x · 2^149. The floats are the v with at
most 24 significant bits below 2^277. Zero has one form: the sign of a zero is lost, and nothing here depends on it (no
number is divided by a computed one). Infinities and NaN do not exist: whatever would overflow is refused, and weights
that are not floats as they are written are refused as well, not rounded.

Rounding is monotone, and so are sums and products with a fixed weight. Bounds of a number therefore give bounds of what
is computed from it, by the same operations; a box whose two ends agree is a number.
"""

from separatrix_kernel.network import Matrix
from separatrix_kernel.reading import Budget, require

BITS = 24
MOST_WORK = 1 << 28
ONE = 1 << 149
LIMIT = 1 << 277
Box = list[tuple[int, int]]
"""The least and the greatest value of each coordinate."""


class Floats:
    """The arithmetic. ``work`` counts what is computed for one claim."""

    def __init__(self) -> None:
        self.work = Budget(MOST_WORK, "steps of float32 arithmetic")

    def nearest(self, numerator: int, denominator: int = 1) -> int:
        """numerator / denominator, the denominator positive, rounded to a float."""
        size = abs(numerator)
        # What is below the first 24 bits is dropped; among the smallest floats, where all have the same distance, none.
        unit = denominator << max(0, (size // denominator).bit_length() - BITS)
        whole, rest = divmod(size, unit)
        if 2 * rest > unit or (2 * rest == unit and whole % 2):
            whole += 1
        found = whole * (unit // denominator)
        require(found < LIMIT, "a number is too large for float32")
        return found if numerator >= 0 else -found

    def encode(self, numerator: int, denominator: int) -> int:
        """A weight, which must be a float."""
        found = self.nearest(numerator * ONE, denominator)
        require(found * denominator == numerator * ONE, f"the weight {numerator}/{denominator} is not a float32")
        return found

    def product(self, left: int, right: int) -> int:
        """The rounded product."""
        return self.nearest(left * right, ONE)

    def affine(self, matrix: Matrix, bias: list[int], box: Box) -> Box:
        """Bounds of W x + b: products added up in the order of the columns, the bias last."""
        found: Box = []
        self.work.spend(matrix.size)
        for row, shift in zip(matrix.rows, bias, strict=True):
            low = high = 0
            for column, weight in row:
                ends = sorted(self.product(weight, end) for end in box[column])
                low, high = self.nearest(low + ends[0]), self.nearest(high + ends[1])
            found.append((self.nearest(low + shift), self.nearest(high + shift)))
        return found
