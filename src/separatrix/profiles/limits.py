"""How much memory and time a profile will take, estimated before it starts, and the largest N that would fit.

Memory grows with the A + A² + … + A^N inputs of all lengths: about 1 byte for each value that is kept (4 beyond 256
values, and for labellings) and about 44 for the classes of the first folds and the strings of the automaton; at 2^24
inputs 1.0 GB was measured. Time is that of calling the function, measured on a few inputs, and about 0.4 µs for each
input in addition.
"""

import math
import time
from dataclasses import dataclass

import numpy

from separatrix.errors import SeparatrixError
from separatrix.profiles.alphabet import Alphabet
from separatrix.profiles.function import UserFunction

INTERPRETER = 200 << 20
BYTES_EACH = 48
SECONDS_EACH = 4e-7
LONGEST = 40
"""No table of two or more symbols is ever that long; with one symbol there is nothing to distinguish."""
TIMED_BATCH = 4096
TIMED_SINGLE = 48
PARTS = 4


@dataclass(frozen=True)
class Limits:
    """What a profile may use."""

    memory: int = 4 << 30
    seconds: float = 600.0


@dataclass(frozen=True)
class Estimate:
    """What a profile at one length will use, about."""

    length: int
    inputs: int
    memory: int
    seconds: float

    def in_words(self) -> str:
        """Return the cost in a line for people.

        >>> Estimate(24, (1 << 25) - 1, 3 << 30, 95.2).in_words()
        '33,554,431 inputs of length up to 24 are evaluated: about 95 s and at most 3 GiB'
        """
        took = f"{self.seconds:.0f} s" if self.seconds < 120 else f"{self.seconds / 60:.0f} min"
        memory = _short(self.memory / (1 << 30))
        return (
            f"{self.inputs:,} inputs of length up to {self.length} are evaluated: about {took} and at most {memory} GiB"
        )

    def fits(self, limits: Limits) -> bool:
        """Return whether both stay within the limits."""
        return self.memory <= limits.memory and self.seconds <= limits.seconds


def inputs_up_to(alphabet: Alphabet, length: int) -> int:
    """Return how many inputs have length at most N, over the alphabet of each length."""
    return sum(alphabet.at(each).size ** each for each in range(length + 1))


def estimate(alphabet: Alphabet, length: int, seconds_for_one: float) -> Estimate:
    """Return the cost of profiling all lengths up to N."""
    count = inputs_up_to(alphabet, length)
    memory = INTERPRETER + BYTES_EACH * alphabet.at(length).size ** length
    return Estimate(length, count, memory, count * (SECONDS_EACH + seconds_for_one))


def largest_fitting(alphabet: Alphabet, seconds_for_one: float, limits: Limits) -> int:
    """Return the largest N whose estimate stays within the limits; 0 if none does."""
    best = 0
    for length in range(1, LONGEST + 1):
        if not estimate(alphabet, length, seconds_for_one).fits(limits):
            break
        best = length
    return best


def check_limits(alphabet: Alphabet, length: int, limits: Limits, seconds_for_one: float = 0.0) -> Estimate:
    """Raise one line with the largest N that would fit, unless this one does."""
    needed = estimate(alphabet, min(length, LONGEST), seconds_for_one)
    if length <= LONGEST and needed.fits(limits):
        return needed
    fitting = largest_fitting(alphabet, seconds_for_one, limits)
    size = alphabet.at(length).size
    if size == 1 and needed.fits(limits):
        raise SeparatrixError(f"--length {length} is out of range for one symbol; choose 1 to {LONGEST}")
    smaller = "raise the limit or use a smaller alphabet" if size > 1 else "raise the limit"
    remedy = f"--length {fitting} is the largest that fits" if fitting else smaller
    if length > LONGEST or needed.memory > limits.memory:
        raise SeparatrixError(
            f"{size}^{length} inputs would take about {_short(needed.memory / (1 << 30))} GiB or more, over the "
            f"{_short(limits.memory / (1 << 30))} GiB of --max-memory; {remedy}"
        )
    raise SeparatrixError(
        f"{size}^{length} inputs would take about {_short(needed.seconds)} s, over the {_short(limits.seconds)} s of "
        f"--max-time; {remedy}"
    )


def seconds_for_one_input(function: UserFunction, length: int) -> float:
    """Time of the function for one input, measured: a batch of 4096 where it takes arrays, else 48 single inputs.

    In four parts, of which the fastest counts: a pause of a busy machine must not be taken for every input's.
    """
    count = TIMED_BATCH if function.mode == "arrays" else TIMED_SINGLE
    inputs = numpy.random.default_rng(0).integers(0, function.alphabet.size, (count, length))
    # Once to warm up, so that imports and caches are not counted for every input.
    function.values(inputs[:2])
    fastest = math.inf
    for part in numpy.split(inputs, PARTS):
        started = time.perf_counter()
        function.values(part)
        fastest = min(fastest, time.perf_counter() - started)
    return fastest * PARTS / count


def _short(number: float) -> str:
    """Three digits, or a power of ten."""
    return f"{number:.3g}" if number < 1e6 else f"10^{math.floor(math.log10(number))}"
