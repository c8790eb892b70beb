"""What a model holds in memory for one text: bytes that are fixed, bytes for each token, and both at a length.

Counted are the arrays that its code keeps between two tokens, in the formats in which it keeps them, those included
that are never read again (one input of each convolution). Tests run small models of every family that ``transformers``
5.22 can make and find the same number of bytes in their caches. Not counted: the weights, activations, and what a
serving program allocates ahead (blocks of a paged cache).
"""

from dataclasses import dataclass, replace

from separatrix.capacities.layers import LayerDescription, ModelDescription, StatePart, attention
from separatrix.capacities.number_formats import kept_bits, number_bits
from separatrix.errors import SeparatrixError

LENGTHS = (8_192, 131_072, 1_048_576)
"""The lengths that are always shown: 8k, 128k, 1M tokens."""
LONGEST_POWER = 40
"""Two models are compared up to 2^40 tokens."""


@dataclass(frozen=True)
class Memory:
    """Bytes for one text.

    ``fixed``: of the arrays that do not grow, when they are full. ``per_token``: what each further token adds once they
    are, as bytes in every ``per_tokens`` tokens (most models: 1).
    """

    fixed: int
    per_token: int
    per_tokens: int = 1
    complete: bool = True

    @property
    def grows(self) -> bool:
        """Whether each further token adds to it."""
        return self.per_token > 0


def _parts(model: ModelDescription) -> list[tuple[LayerDescription, StatePart]]:
    return [(layer, part) for layer in model.layers for part in (*layer.state, *layer.cache)]


def memory(model: ModelDescription, given: int | None = None) -> Memory:
    """What a text takes, whatever its length; ``given`` is the bits of every number, where they are given.

    >>> from separatrix.capacities import describe
    >>> found = memory(describe("jamba-v0.1"))
    >>> found.fixed, found.per_token
    (16515072, 16384)
    """
    fixed = growing = 0
    every = 1
    for _, part in _parts(model):
        if part.per == "every":
            every = max(every, part.size)
    for layer, part in _parts(model):
        bits = kept_bits(model, part, given) * layer.count
        if part.per in ("token", "beyond"):
            growing += bits * part.numbers * every
        elif part.per == "every":
            growing += bits * part.numbers * (every // part.size)
        else:
            fixed += bits * (part.numbers + part.unread)
    # Layers of attention that this package trains have no cache: it reads whole texts.
    stated = all(layer.state or layer.cache or layer.shared or layer.uncached for layer in model.layers)
    return Memory(-(-fixed // 8), -(-growing // 8), every, stated)


def bytes_at(model: ModelDescription, length: int, given: int | None = None) -> int:
    """The bytes that a text of so many tokens takes.

    >>> from separatrix.capacities import describe
    >>> bytes_at(describe("llama-3-8b"), 8192) == 8192 * 32 * 2 * 8 * 128 * 2
    True
    """
    if length < 0:
        raise SeparatrixError(f"length {length} is below 0; give the tokens of a text")
    bits = sum(kept_bits(model, part, given) * part.held(length) * layer.count for layer, part in _parts(model))
    return -(-bits // 8)


def guessed_parts(model: ModelDescription, given: int | None = None) -> tuple[str, ...]:
    """The arrays whose bytes are a guess, because neither the config nor the code names their number format.

    >>> from separatrix.capacities import describe
    >>> guessed_parts(describe("gpt2")), guessed_parts(describe("jamba-v0.1")), guessed_parts(describe("gpt2"), 16)
    (('keys and values',), (), ())
    """
    if number_bits(model, given).source != "guess":
        return ()
    return tuple(dict.fromkeys(part.name for _, part in _parts(model) if not part.number_format))


def texts_that_fit(model: ModelDescription, room: int, length: int, given: int | None = None) -> int | None:
    """How many texts of a length fit into so many bytes next to each other; None where they take nothing.

    >>> from separatrix.capacities import describe
    >>> texts_that_fit(describe("llama-3-8b"), 64 * 2**30, 8192)
    64
    """
    each = bytes_at(model, length, given)
    return max(room, 0) // each if each else None


def cheaper_from(state: ModelDescription, cache: ModelDescription, given: int | None = None) -> int | None:
    """The length from which a text of the first model takes fewer bytes than one of the second; None where none does.

    Where they cross several times, such as with a window that fills up, the last time counts, as far as lengths that
    are powers of two show it; lengths are looked at up to 2^40.

    >>> from separatrix.capacities import describe
    >>> cheaper_from(describe("mamba-2.8b"), describe("llama-3-8b"))
    201
    """

    def cheaper(length: int) -> bool:
        return bytes_at(state, length, given) < bytes_at(cache, length, given)

    if not cheaper(1 << LONGEST_POWER):
        return None
    # From above, so that of several crossings the last counts.
    power = next((each for each in reversed(range(LONGEST_POWER)) if not cheaper(1 << each)), None)
    if power is None:
        return 1
    low, high = (1 << power) + 1, 1 << (power + 1)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if cheaper(middle) else (middle + 1, high)
    return low


@dataclass(frozen=True)
class Crossover:
    """From which length on the states of a model take fewer bytes than caches would; ``instead``: which caches."""

    length: int | None
    instead: str


def crossover(model: ModelDescription, given: int | None = None) -> Crossover | None:
    """Compare a model with the same one that has attention over all positions in the place of each of its states.

    Of its own attention where it has one; else of an attention whose heads have together the width d of the layer,
    without groups, so that it keeps 2d numbers of each token. None where the model has no state, or of unknown width.

    >>> from separatrix.capacities import describe
    >>> crossover(describe("mamba-2.8b"))
    Crossover(length=21, instead='ungrouped attention, 2 × 2,560 numbers a token')
    """
    states = [layer for layer in model.layers if layer.kind == "recurrent"]
    if not states or any(layer.kind == "unstated" for layer in model.layers):
        return None
    own = [layer for layer in model.layers if layer.kind == "attention" and layer.cache]
    if own:
        largest = max(own, key=lambda layer: sum(part.numbers for part in layer.cache))
        instead = [replace(largest, count=layer.count) for layer in states]
        words = f"its own attention, {sum(part.numbers for part in largest.cache):,} numbers a token"
    elif all(layer.width for layer in states):
        instead = [attention(layer.width, 1, layer.width, count=layer.count) for layer in states]
        widths = " or ".join(f"2 × {width:,}" for width in dict.fromkeys(layer.width for layer in states))
        words = f"ungrouped attention, {widths} numbers a token"
    else:
        return None
    others = [layer for layer in model.layers if layer.kind != "recurrent"]
    return Crossover(cheaper_from(model, replace(model, layers=(*instead, *others)), given), words)
