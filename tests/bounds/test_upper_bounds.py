"""What needs no theorem: bits of inputs and of their parts by listing them, and the simple models, run."""

import itertools
import math
from dataclasses import dataclass, field, fields
from fractions import Fraction

import numpy
import pytest

from separatrix.arithmetic.codes import sign_code
from separatrix.bit_counts import bits_for
from separatrix.bounds import MODELS, ContradictionError, protocol_bounds
from separatrix.bounds.upper_bounds import (
    GRID_BITS,
    facts_about,
    input_bits,
    part_bits,
    special_facts,
    token_bits,
)
from separatrix.tasks import Task, tasks
from separatrix.tasks.problems.sparse_threshold import SparseThreshold

SHORT = [
    (name, length)
    for name, task in tasks().items()
    for length in range(task.minimum_length, 7, task.length_step)
    if not task.features(length) and task.positions(length) <= 7 and task.count(length) <= 1 << 12
]


def all_inputs(task: Task, length: int) -> list[tuple[int, ...]]:
    return [tuple(row) for chunk in task.enumerate(length) for row in chunk.inputs.tolist()]


@pytest.mark.parametrize(("name", "length"), SHORT)
def test_bits_of_inputs_and_of_parts_are_enough(name, length):
    """Every partition, and every input that keeps the promise: no other way to tell them apart needs fewer."""
    task = tasks()[name]
    rows, positions = all_inputs(task, length), task.positions(length)
    assert bits_for(len(rows)) <= input_bits(task, length) <= positions * token_bits(task, length)
    for size in range(1, positions):
        for held in itertools.combinations(range(positions), size):
            rest = [place for place in range(positions) if place not in held]
            different = [len({tuple(row[place] for place in part) for row in rows}) for part in (held, rest)]
            assert bits_for(min(different)) <= part_bits(task, length)


def test_half_of_the_bits_are_enough_only_where_positions_do_not_depend_on_each_other():
    """In eq-ncp both halves say the same, so that a half has as many bits as the whole."""
    equality, copied = tasks()["equality"], tasks()["eq-ncp"]
    assert (input_bits(equality, 6), part_bits(equality, 6)) == (6, 3)
    assert input_bits(copied, 2) == part_bits(copied, 2) == 10
    assert part_bits(equality, 2**40) == 2**39


@dataclass(frozen=True, kw_only=True)
class Weighted(SparseThreshold):
    """A task of somebody's own whose parameters have no hash."""

    weights: list[int] = field(default_factory=lambda: [1])


def test_a_task_without_a_hash_is_counted_too():
    majority = tasks()["majority"]
    mine = Weighted(**{each.name: getattr(majority, each.name) for each in fields(majority)})
    with pytest.raises(TypeError, match="unhashable"):
        hash(mine)
    assert input_bits(mine, 12) == input_bits(majority, 12) == 12


@pytest.mark.parametrize("task", tasks())
@pytest.mark.parametrize("model", MODELS)
def test_simple_facts_satisfy_every_bound_and_refute_inflated_ones(task, model):
    chosen = tasks()[task]
    length = max(chosen.minimum_length, 24)
    for fact in facts_about(task, model):
        size = fact.size(chosen, length)
        for bound in protocol_bounds(task, model):
            bound.check_consistent(length, size, fact.reason, chosen)
            if model == "rnn" and bound.required_bits(length, chosen):
                # Storing the input is an RNN, so that no bound may ask for more than the input has.
                factor = Fraction(size.memory_bits + 1, bound.required_bits(length, chosen))
                with pytest.raises(ContradictionError):
                    bound.inflated(factor).check_consistent(length, size, fact.reason, chosen)


def test_only_graph_transformers_are_asked_about_graphs_alone():
    assert facts_about("dyck", "graph-transformer") == ()
    assert [fact.growth for fact in facts_about("directed-3-cycle", "graph-transformer")] == ["linear", "quadratic"]


# -- the simple models, run -------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [2, 3, 8])
def test_a_counter_of_ones_decides_majority(length):
    """Two prefixes with as many ones need the same state, and there are as many states as counts."""
    (fact,) = special_facts("majority", "rnn")
    assert fact.size(tasks()["majority"], length).memory_bits == bits_for(length + 1)
    counts: dict[int, set[int]] = {}
    for row in all_inputs(tasks()["majority"], length):
        answer = next(each for each in reversed(tasks()["majority"].solve(list(row), length)) if each is not None)
        assert isinstance(answer, int)
        counts.setdefault(sum(1 for token in row if token == 1), set()).add(answer)
    assert all(len(answers) == 1 for answers in counts.values()) and len(counts) == length + 1


def test_the_last_numbers_decide_match3_local_at_its_end():
    """Two inputs with the same T numbers before the same last one have the same last answer, and T - 1 do not do."""
    task = tasks()["match3-local"].with_parameters(modulus=5)
    (fact,) = special_facts("match3-local", "rnn")
    window = int(task.parameters()["window"])
    assert fact.size(task, 4).memory_bits == window * token_bits(task, 4)
    assert fact.size(task, 1).memory_bits == token_bits(task, 1), "an input has no more numbers than it has"
    for kept, decided in ((window, True), (window - 1, False)):
        answers: dict[tuple[int, ...], set[object]] = {}
        for row in all_inputs(task, 4):
            answers.setdefault(row[-kept - 1 :], set()).add(task.solve(list(row), 4)[-1])
        assert all(len(given) == 1 for given in answers.values()) == decided


def test_points_are_multiplied_as_they_are():
    """The score of a pair of points is their product, which needs all coordinates and the bits of each."""
    points = tasks()["nearest-neighbour"]
    (fact,) = special_facts("nearest-neighbour", "third-order")
    for length in (2, 24, 1024):
        size = fact.size(points, length)
        assert size.width > points.parameters()["dimension"] and size.precision >= GRID_BITS


def test_three_heads_of_width_n_solve_directed_3_cycle():
    """The heads described by the fact, in the limit of exact averages, on every graph of 3 and 4 vertices."""
    task = tasks()["directed-3-cycle"]
    for length in (3, 4):
        for batch in task.enumerate(length):
            graph = batch.inputs.astype(numpy.int64)
            # Head 1 averages the rows of out-neighbours; a vertex sees in its own row whether it has any.
            two_steps = (graph @ graph > 0) & graph.any(axis=2, keepdims=True)
            # Head 2 averages e_k over in-neighbours, over everyone if there are none; head 3 gives the in-degree.
            in_degree = graph.sum(axis=1)
            closing = (
                numpy.where(in_degree[:, :, None] > 0, graph.transpose(0, 2, 1) > 0, True) & (in_degree > 0)[:, :, None]
            )
            assert ((two_steps & closing).any(axis=2).astype(int) == batch.targets).all()


@pytest.mark.parametrize("length", [8, 64, 256])
def test_third_order_attention_to_pairs_tells_one_difference(length):
    """All other pairs together weigh less than one pair (j, j + N/2), with a real sign code and η = 4 ln N."""
    half = length // 2
    code = sign_code(half, Fraction(1, 4)).signs(range(half)).astype(numpy.float64)
    products = code @ code.T / code.shape[1]
    assert numpy.allclose(numpy.diag(products), 1)
    assert (products - numpy.eye(half)).max() <= 0.25
    gain = 4 * math.log(length)
    matched = math.exp(gain)
    # Pairs with an element outside its half have score 0; there are fewer than N² of them.
    others = numpy.exp(gain * (products - 2 * numpy.eye(half))).sum() + length**2
    assert others < matched
    # So with no difference the average of x_j ⊕ x_k stays below others/total, with one it is at least matched/total.


def test_copying_the_input_by_uniform_attention_loses_nothing():
    task = tasks()["dyck"]
    size = next(iter(facts_about("dyck", "transformer-1layer"))).size(task, 8)
    assert size.width == 8 * 2
    inputs = numpy.array(list(itertools.product(range(4), repeat=4)))
    written = numpy.zeros((len(inputs), 4, 8))
    for place in range(4):
        written[:, place, 2 * place : 2 * place + 2] = numpy.stack(
            [inputs[:, place] >> 1, inputs[:, place] & 1], axis=1
        )
    averages = written.mean(axis=1)
    bits = averages > 1 / 8
    read = 2 * bits[:, 0::2] + bits[:, 1::2]
    assert (read == inputs).all()
