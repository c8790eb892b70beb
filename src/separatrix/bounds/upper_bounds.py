"""Upper bounds that need no theorem: what every model of a class can do by brute force, and a few easy tasks.

The papers' lower bounds let everything but the counted part be arbitrary (updates of recurrent models, element-wise
maps of attention layers, what follows a feed-forward network's first layer), so an upper bound by brute force may use
that too. Each fact has a reason in words, a growth and, for the comparison with lower bounds, a size at every length.

The sizes are representation sizes in bits, the papers' m·p·H (state bits m·p of recurrent models).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from separatrix.bit_counts import bits_for
from separatrix.bounds.bound import Growth
from separatrix.bounds.simulations import Model, ModelSize
from separatrix.errors import SeparatrixError
from separatrix.tasks import Task

GRAPH_TASKS = ("directed-3-cycle", "undirected-5-cycle")
GRID_BITS = 22
"""Bits of one coordinate of a point on the grid of the nearest-neighbour task, its sign included."""
LISTED = 1 << 22
"""Cells of an input; larger ones are not put together to be counted."""


@dataclass(frozen=True)
class Fact:
    """An upper bound with its reason, in few words and in full; ``size`` at a length, for comparison with the
    bounds.

    ``exact_sums``: it adds up numbers whose bits grow with N and needs the sums exact before they are rounded. A format
    of floating point stops counting, float32 at 2^24 ones. Others need a state, or tell 0 from more, and hold in
    formats of at least ``least_bits``: of 8 bits 1/N is rounded to 0, of 16 it is not, because a running sum of ones
    stops at 2^24.
    """

    growth: Growth
    short: str
    reason: str
    size: Callable[[Task, int], ModelSize]
    exact_sums: bool = True
    least_bits: int = 0

    def rounded(self, bits: int) -> bool:
        """Return whether it also holds in a floating point of so many bits, which rounds after every addition."""
        return not self.exact_sums and bits >= self.least_bits


def takes(model: Model, task: str) -> bool:
    """Return whether a class of models reads a task's inputs."""
    return model != "graph-transformer" or task in GRAPH_TASKS


def facts_about(task: str, model: Model) -> tuple[Fact, ...]:
    """Return the facts about a task and a class of models, easiest first; none where the class does not take the
    task."""
    if not takes(model, task):
        return ()
    return (*special_facts(task, model), *_GENERAL.get((_family(model), task in GRAPH_TASKS), ()))


def special_facts(task: str, model: Model) -> tuple[Fact, ...]:
    """Return the facts about one task, without those by brute force.

    >>> [fact.short for fact in special_facts("majority", "rnn")]
    ['counts']
    """
    return tuple(_SPECIAL[task, kind] for kind in {model: 0, _family(model): 0} if (task, kind) in _SPECIAL)


def input_bits(task: Task, length: int, listed: int = LISTED) -> int:
    """Return bits that tell all inputs of a length apart, exactly up to ``listed`` cells; of more those of all
    cells."""
    if task.positions(length) * max(1, task.features(length)) > listed:
        return task.positions(length) * token_bits(task, length)
    try:
        return _counted_bits(task, length)
    except TypeError:  # a task of somebody's own may hold what has no hash
        return _counted_bits.__wrapped__(task, length)


def part_bits(task: Task, length: int, listed: int = LISTED) -> int:
    """Return bits that are enough for the smaller of two parts of an input, whichever positions each of them has.

    Where every position is filled by itself, the numbers of parts multiply to the number of inputs. Where positions
    depend on each other, both parts may tell the same, and only the bits of their cells are counted.
    """
    whole, each = input_bits(task, length, listed), task.positions(length) * token_bits(task, length)
    both = whole if whole < each and _filled_one_by_one(task, length) else each
    return min(whole, -(-both // 2))


def _filled_one_by_one(task: Task, length: int) -> bool:
    own_cells = type(task).assemble is Task.assemble and not task.features(length)
    return own_cells and all(block.shape[1] == 1 for block in task.space(length).blocks)


@lru_cache(maxsize=256)
def _counted_bits(task: Task, length: int) -> int:
    try:
        return bits_for(task.count(length))
    except SeparatrixError:  # points on the sphere are not listed
        return task.positions(length) * token_bits(task, length)


def token_bits(task: Task, length: int) -> int:
    """Return bits of one cell of the input."""
    features = task.features(length)
    if not features:
        return bits_for(task.vocabulary(length).size)
    return features if task.name in GRAPH_TASKS else features * GRID_BITS


def _family(model: Model) -> str:
    return "attention" if model in ("transformer-1layer", "transformer-2layer", "third-order") else model


def _stored(task: Task, length: int) -> ModelSize:
    return ModelSize(width=1, precision=1, state_bits=input_bits(task, length))


def _copied(task: Task, length: int) -> ModelSize:
    positions = task.positions(length)
    # The averages are 0 or 1/N, which ⌈log2 N⌉ bits behind the point and a sign tell apart.
    return ModelSize(width=positions * token_bits(task, length), precision=bits_for(positions) + 2)


def _passed_on(task: Task, length: int) -> ModelSize:
    features = max(1, task.features(length))
    bits = (
        GRID_BITS if task.features(length) and task.name not in GRAPH_TASKS else bits_for(task.vocabulary(length).size)
    )
    return ModelSize(width=task.positions(length) * features, precision=max(1, bits))


_STORE = "the state can hold the whole input, and the update is arbitrary; the query is the last position"
_COPY = (
    "uniform attention, each position writing its token's bits into separate coordinates, copies the whole input to "
    "every position, and the element-wise map is arbitrary"
)
_PASS = "the first layer can pass on every number of the input, and what follows is arbitrary"
_GENERAL: dict[tuple[str, bool], tuple[Fact, ...]] = {
    ("rnn", False): (Fact("linear", "stores the input", _STORE, _stored, exact_sums=False),),
    ("rnn", True): (
        Fact("quadratic", "stores the input", f"{_STORE}; a graph has about N² bits", _stored, exact_sums=False),
    ),
    ("attention", False): (Fact("linear", "copies the input", _COPY, _copied, False, 16),),
    ("attention", True): (Fact("quadratic", "copies the input", f"{_COPY}; a row has N bits", _copied, False, 16),),
    ("graph-transformer", True): (
        Fact("quadratic", "copies the input", f"{_COPY}; a row has N bits", _copied, False, 16),
    ),
    ("fnn", False): (Fact("linear", "passes the input on", _PASS, _passed_on, exact_sums=False),),
    ("fnn", True): (
        Fact("quadratic", "passes the input on", f"{_PASS}; a graph has N² numbers", _passed_on, exact_sums=False),
    ),
}


def _counter(task: Task, length: int) -> ModelSize:
    del task
    return ModelSize(width=1, precision=1, state_bits=bits_for(length + 1))


def _average(task: Task, length: int) -> ModelSize:
    return ModelSize(width=1, precision=bits_for(task.positions(length)) + 2)


def _stack(task: Task, length: int) -> ModelSize:
    del length
    types, depth = int(task.parameters()["types"]), int(task.parameters()["depth"])
    return ModelSize(width=1, precision=1, state_bits=bits_for(sum(types**each for each in range(depth + 1)) + 1))


def _residue(task: Task, length: int) -> ModelSize:
    del length
    return ModelSize(width=1, precision=1, state_bits=bits_for(int(task.parameters()["vocabulary_size"]) - 1))


def _difference(task: Task, length: int) -> ModelSize:
    # A symbol's number before the point, 1/N behind it, and a sign.
    return ModelSize(width=1, precision=token_bits(task, length) + bits_for(task.positions(length)) + 2)


_DIFFERENCE = (
    "the symbols' numbers, negative in the second half, add up to 0 exactly if the halves are equal, because they "
    "differ in at most one symbol"
)


def _window(task: Task, length: int) -> ModelSize:
    seen = min(int(task.parameters()["window"]), length)
    return ModelSize(width=1, precision=1, state_bits=seen * token_bits(task, length))


def _addresses(task: Task, length: int) -> ModelSize:
    width = bits_for(task.vocabulary(length).size) + 2 * bits_for(task.positions(length))
    return ModelSize(width=width, precision=6 * bits_for(task.positions(length)) + 1)


def _three_heads(task: Task, length: int) -> ModelSize:
    del task
    return ModelSize(width=length, precision=2 * bits_for(length) + 2, heads=3)


_CYCLES = (
    "three heads of width N: query row i scores key j by X_ij and averages the rows X_j (which k are two steps away); "
    "query e_i scores key row k by X_ki and averages e_k (which k close the cycle); uniform attention gives the "
    "in-degree, which shows an empty average; the element-wise map looks for a common k"
)
_PAIRS = (
    "one unit attends to the pairs (j, j + N/2), first key T(j), second key T(j) at j + N/2 for near-orthogonal T, "
    "and averages {value} over them; the others weigh N² e^(-3η/4) together, so η = O(log N) is enough"
)
_XOR = _PAIRS.format(value="x_j, x_k and x_j·x_k, whose combination x_j ⊕ x_k is positive exactly if one pair differs,")
_AND = _PAIRS.format(value="x_j·x_k, positive exactly if the sets meet,")
_LABELLED = (
    "one unit attends to the pairs (key, its label): the score adds the match of the query with the key and that of "
    "the places j and k - 1, each a product of near-orthogonal vectors (for points the product itself, "
    "η = O(log N / γ)), and the label's bits are the value"
)


def _pair_addresses(task: Task, length: int) -> ModelSize:
    plain, points = _addresses(task, length), task.features(length)
    # Points are multiplied as they are: a coordinate for each of a cell's numbers, with all of its bits.
    precision = max(plain.precision, GRID_BITS) if points else plain.precision
    return ModelSize(width=plain.width + 2 + points, precision=precision)


_SPECIAL: dict[tuple[str, str], Fact] = {
    ("majority", "rnn"): Fact("logarithmic", "counts", "a counter of ones", _counter, exact_sums=False),
    ("majority", "attention"): Fact(
        "logarithmic",
        "averages",
        "uniform attention averages the bits; the map knows what N/2 ones give",
        _average,
    ),
    ("majority", "fnn"): Fact("logarithmic", "adds up", "one unit adds up the bits", _average),
    ("dyck", "rnn"): Fact(
        "constant",
        "keeps the stack",
        "a state for each stack of at most k types, and one for what broke (E8)",
        _stack,
        exact_sums=False,
    ),
    ("eq-one", "rnn"): Fact(
        "constant",
        "adds up",
        "the difference of the halves' sums of symbols modulo |Σ'| is 0 if they are equal",
        _residue,
        exact_sums=False,
    ),
    ("eq-one", "attention"): Fact("logarithmic", "averages", _DIFFERENCE, _difference),
    ("eq-one", "fnn"): Fact("logarithmic", "adds up", _DIFFERENCE, _difference),
    ("match3-local", "rnn"): Fact(
        "logarithmic",
        "keeps T numbers",
        "the T numbers before the last one decide its answer with it; T is fixed",
        _window,
        exact_sums=False,
    ),
    ("eq-ncp", "attention"): Fact(
        "logarithmic",
        "attends to one place",
        "every position after [SEP] attends to one fixed position, as in BHBK24 Theorem 1 with the address of the "
        "position instead of a token's",
        _addresses,
    ),
    **{
        (name, "third-order"): Fact("logarithmic", "attends to pairs", _XOR, _pair_addresses)
        for name in ("equality", "inequality", "eq-random", "eq-one")
    },
    ("disjointness", "third-order"): Fact("logarithmic", "attends to pairs", _AND, _pair_addresses),
    **{
        (name, "third-order"): Fact("logarithmic", "attends to pairs", _LABELLED, _pair_addresses)
        for name in ("associative-recall", "mqar", "nearest-neighbour")
    },
    ("match3-last", "third-order"): Fact(
        "logarithmic",
        "attends to pairs",
        "the unit that solves triple matching (construction match3), with two more coordinates that lower the scores "
        "of pairs with the query",
        _pair_addresses,
    ),
    ("directed-3-cycle", "attention"): Fact("linear", "three heads of width N", _CYCLES, _three_heads),
    ("directed-3-cycle", "graph-transformer"): Fact(
        "linear",
        "three heads of width N",
        f"{_CYCLES}; ordinary attention is graph attention whose κ ignores X",
        _three_heads,
    ),
}
