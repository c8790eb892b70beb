"""Where a sampler's randomness comes from: a stream of uniform numbers, explicit and replayable.

A sampler is a pure function of the uniform numbers it takes from a :class:`Draws`. The stream comes from a
numpy generator or from a torch generator on any device; the sampler's code is the same, and the same numbers
give the same examples on both. There is no global seed anywhere.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy

from separatrix.bit_counts import bits_for
from separatrix.errors import SeparatrixError
from separatrix.tasks.arrays import Array, namespace_of

_DIGIT_BITS = 26


@dataclass(frozen=True)
class Draws:
    """A stream of independent float64 numbers, uniform in [0, 1).

    ``random`` maps a shape to an array of that shape; each call continues the stream.
    """

    random: Callable[[tuple[int, ...]], Array]

    def uniform(self, *shape: int) -> Array:
        """Return the next numbers of the stream, in the given shape."""
        return self.random(shape)

    def digits(self, base: int, rows: int, width: int, dtype: str | None = None) -> Array:
        """Independent integers uniform in 0 .. base - 1, shape (rows, width), several from each uniform number.

        One uniform number has 53 random bits and a digit needs only log2(base) of them; taking t digits while
        base^t ≤ 2^26 keeps every digit string within a relative 2^-27 of its exact probability (exact for
        powers of two) and costs a fraction of the draws. ``dtype`` names a smaller integer type than int64.
        """
        together = max(1, _DIGIT_BITS // max(1, bits_for(base)))
        uniform = self.random((rows, -(-width // together)))
        xp = namespace_of(uniform)
        packed = xp.astype(uniform * base**together, xp.int64 if base > 2**_DIGIT_BITS else xp.int32)
        kind = xp.int64 if dtype is None else getattr(xp, dtype)
        parts: list[Array] = []
        for _ in range(together - 1):
            # A division by a constant is vectorised, a remainder is not.
            rest = packed >> (base.bit_length() - 1) if base & (base - 1) == 0 else packed // base
            parts.append(xp.astype(packed - rest * base, kind))
            packed = rest
        return xp.concat([*parts, xp.astype(packed, kind)], axis=1)[:, :width]


def draws_from(source: Any) -> Draws:
    """Return a stream from an integer seed, a ``numpy.random.Generator`` or a ``torch.Generator``."""
    if isinstance(source, bool) or (isinstance(source, int) and source < 0):
        raise SeparatrixError(f"seed {source} is not a whole number from 0 on; give one such as 0")
    if isinstance(source, int):
        source = numpy.random.default_rng(source)
    if isinstance(source, numpy.random.Generator):
        return Draws(source.random)
    if type(source).__module__.split(".")[0] == "torch":
        # array-api-compat re-exports torch; the room itself never imports torch.
        torch = importlib.import_module("array_api_compat.torch")

        def random(shape: tuple[int, ...]) -> Array:
            return torch.rand(shape, generator=source, device=source.device, dtype=torch.float64)

        return Draws(random)
    raise SeparatrixError(
        f"cannot draw numbers from {type(source).__name__}; give an integer seed, a numpy.random.Generator "
        "or a torch.Generator"
    )
