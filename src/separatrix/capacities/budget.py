"""What a cache must hold: hybrids and Transformers that read a text once and answer from what they kept.

Whatever its layers, a causal model that has read a prefix continues from what it kept: its states and its caches, and
the number of tokens read. So Alice, who holds the prefix, sends exactly that, and Bob, who holds the rest, answers:
BHBK24 Theorem 2's protocol with caches in place of a state. It does not matter how she read the prefix. Hence

    bits of the states + bits of the caches   ≥   bits that one-way protocols for the task need      (at that cut).

A full cache grows with the text and has room for every task here at some number of bits a token. A *budget* has not: so
many tokens kept in each cache (eviction), each number in so many bits (quantisation), or the last w − 1 (a window).
Under one the model is a recurrent model of BHBK24 §2 with a large state, and the length from which a task is impossible
follows; without one, the smallest number of tokens that a cache must keep at a length.

Too few bits would call impossible what is not, so a budget is counted generously: with each token that is kept in a
cache, for each of its heads, 128 bits more, for its position in the text and for a score by which it was chosen; with
each group of 32 numbers that are quantised two numbers of 16 bits, for scale and offset, and never fewer bits than the
budget gives; the last 128 tokens as they were computed, which ``transformers`` quantises later. What is evicted is gone
at the cut: a program that evicts after it has read the query as well is not covered.
"""

from collections.abc import Collection
from dataclasses import dataclass

from separatrix.bounds import (
    RECURRENT,
    ModelSize,
    Numbers,
    ProtocolBound,
    covered,
    origin,
    protocol_bounds,
    smallest_number,
)
from separatrix.capacities.layers import LayerDescription, ModelDescription, StatePart
from separatrix.capacities.number_formats import part_bits
from separatrix.errors import SeparatrixError
from separatrix.tasks import Task

PLACE_AND_SCORE = 128
"""Bits that are counted with each token kept of a cache, for each head: where it was, and why it was kept."""
GROUP, SCALES = 32, 32
"""So many quantised numbers share so many bits of scale and offset."""
RECENT = 128
"""So many of the last tokens are not quantised yet (``residual_length`` of transformers' QuantizedCache)."""
LARGEST_BUDGET = 10**12


@dataclass(frozen=True)
class Budget:
    """What each cache that grows may keep: so many ``tokens`` of any place, or the last ``window`` − 1; in ``bits``.

    >>> Budget(tokens=4096, bits=4).in_words
    '4,096 tokens kept in each cache, 4 bits a number'
    """

    tokens: int | None = None
    bits: int | None = None
    window: int | None = None

    def __post_init__(self) -> None:
        for name, given in (("tokens", self.tokens), ("bits", self.bits), ("window", self.window)):
            if given is not None and not 1 <= given <= LARGEST_BUDGET:
                raise SeparatrixError(f"a cache of {name} {given} is out of range; choose 1 to {LARGEST_BUDGET:,}")
        if self.tokens is not None and self.window is not None:
            raise SeparatrixError(
                f"a cache keeps {self.tokens} tokens of any position or a window of {self.window}; give one of both"
            )

    @property
    def bounded(self) -> bool:
        """Whether no cache grows under it."""
        return self.tokens is not None or self.window is not None

    @property
    def in_words(self) -> str:
        """The budget as a phrase; empty where there is none."""
        found = [] if self.tokens is None else [f"{self.tokens:,} tokens kept in each cache"]
        found += [] if self.window is None else [f"a window of {self.window:,} in each cache"]
        found += [] if self.bits is None else [f"{self.bits} bits a number"]
        return ", ".join(found)


@dataclass(frozen=True)
class Kept:
    """Bits that a model keeps at most: of its states, and with each token of its caches under a budget.

    ``recent``: how many more each of the last 128 tokens has, which are not quantised yet.
    """

    fixed: int
    per_token: int
    recent: int = 0

    def at(self, tokens: int) -> int:
        """The bits with so many tokens in each cache.

        >>> Kept(fixed=5, per_token=2, recent=10).at(1), Kept(fixed=5, per_token=2, recent=10).at(1000)
        (17, 3285)
        """
        return self.fixed + self.per_token * tokens + self.recent * min(tokens, RECENT)

    def tokens_for(self, bits: int) -> int:
        """The fewest tokens in each cache with which there are so many bits."""
        return 0 if bits <= self.fixed else smallest_number(lambda tokens: self.at(tokens) >= bits)


@dataclass(frozen=True)
class CacheNeed:
    """What one task needs of the caches at a length.

    ``needed_bits``: of one-way communication at the cut. ``tokens``: the fewest that each cache must keep there, of any
    place in the text; 0 where the states suffice. ``first_impossible``: under a budget, the length from which on the
    task is impossible; ``impossible``: whether it is at the length.
    """

    task: str
    bound: str
    claim: str
    in_the_papers: bool
    needs: str
    arithmetic: str
    at_length: int
    needed_bits: int
    state_bits: int
    bits_per_token: int
    bits_of_a_recent_token: int
    tokens: int
    first_impossible: int | None = None
    available_bits: int | None = None
    impossible: bool | None = None


def not_judged(model: ModelDescription) -> str:
    """Why nothing is said about what the caches of a model must keep; empty where it is.

    >>> from separatrix.capacities import describe
    >>> not_judged(describe("bert-base")), not_judged(describe("llama-3-8b"))
    ('it is not known to be causal', '')
    """
    if model.evidence == "guess":
        return "its type is not known"
    if any(layer.kind == "unstated" for layer in model.layers):
        return "it keeps something of unknown size"
    if not model.causal:
        return "it is not known to be causal"
    if model.passes > 1:
        return f"it reads its input {model.passes} times"
    if any(layer.kind == "attention" and not layer.cache and not layer.shared for layer in model.layers):
        return "it reads more of a text that is given at once than it keeps"
    return ""


def kept(model: ModelDescription, budget: Budget, given: int | None = None) -> Kept | None:
    """What a causal model keeps at most under a budget; None where that is not known.

    >>> from separatrix.capacities import describe
    >>> kept(describe("jamba-v0.1"), Budget(window=1025)).per_token
    131072
    """
    if not_judged(model):
        return None
    fixed = growing = recent = 0
    for layer in model.layers:
        for part in layer.state:
            fixed += layer.count * part.numbers * part_bits(model, part, given).bits
        for part in layer.cache:
            # Of an array with an entry for every so many tokens no more entries than tokens are kept.
            whole, quantised = _entry_bits(model, part, given), _quantised_bits(model, part, budget, given)
            growing += layer.count * (quantised + _places(layer, budget))
            recent += layer.count * max(0, whole - quantised)
    return Kept(fixed, growing, recent)


def _entry_bits(model: ModelDescription, part: StatePart, given: int | None) -> int:
    return part.numbers * part_bits(model, part, given).bits


def _quantised_bits(model: ModelDescription, part: StatePart, budget: Budget, given: int | None) -> int:
    if budget.bits is None:
        return _entry_bits(model, part, given)
    # Never counted below what is asked for; a cache may also stay as it was.
    return part.numbers * budget.bits + -(-part.numbers // GROUP) * SCALES


def _places(layer: LayerDescription, budget: Budget) -> int:
    return 0 if budget.tokens is None else PLACE_AND_SCORE * max(layer.key_value_heads, layer.heads, 1)


def cache_needs(
    model: ModelDescription,
    tasks: Collection[Task],
    length: int,
    budget: Budget,
    arithmetic: Numbers,
    given: int | None = None,
) -> tuple[CacheNeed, ...]:
    """What the tasks need of a model's caches at a length, and under a bounded budget from which length they fail.

    >>> from separatrix.capacities import describe
    >>> from separatrix.bounds import floating
    >>> from separatrix.tasks import tasks
    >>> lookup = tasks()["index-lookup"].with_parameters(alphabet=64)
    >>> model = describe({"model_type": "llama", "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 1,
    ...     "dtype": "float16"})
    >>> found, = cache_needs(model, [lookup], 8192, Budget(window=65), floating(16))
    >>> found.bits_per_token, found.tokens, found.first_impossible
    (512, 64, 5462)
    """
    held = kept(model, budget, given)
    evicting = kept(model, Budget(tokens=1, bits=budget.bits), given)
    if held is None or evicting is None or not held.per_token:
        return ()
    found: dict[str, CacheNeed] = {}
    for bound in protocol_bounds(model="rnn"):
        # Others argue about one update at every step, which a cache is not.
        if bound.simulation is not RECURRENT or origin(bound):
            continue
        for task in tasks:
            coverage = covered(bound, arithmetic, task) if task.name in bound.task_names else None
            if coverage is not None and coverage.covered:
                need = _need(coverage.bound, coverage.arithmetic, task, length, budget, held, evicting)
                if task.name not in found or need.needed_bits > found[task.name].needed_bits:
                    found[task.name] = need
    return tuple(found[name] for name in sorted(found))


def _need(
    bound: ProtocolBound, arithmetic: str, task: Task, length: int, budget: Budget, held: Kept, evicting: Kept
) -> CacheNeed:
    at = max(length - length % task.length_step, task.minimum_length)
    needed = bound.required_bits(at, task)
    tokens = budget.tokens if budget.tokens is not None else None if budget.window is None else budget.window - 1
    first = available = None
    if tokens is not None:
        available = held.at(tokens)
        longest = bound.longest_length(ModelSize(width=1, precision=1, state_bits=available), task)
        first = None if longest is None else max(longest + task.length_step, task.minimum_length)
    return CacheNeed(
        task=task.name,
        bound=bound.name,
        claim=bound.claim,
        in_the_papers=not bound.extension,
        needs=bound.needs_in_words(task.minimum_length, task),
        arithmetic=arithmetic,
        at_length=at,
        needed_bits=needed,
        state_bits=held.fixed,
        bits_per_token=held.per_token,
        bits_of_a_recent_token=held.per_token + held.recent,
        tokens=evicting.tokens_for(needed),
        first_impossible=first,
        available_bits=available,
        impossible=None if available is None else needed > available,
    )
