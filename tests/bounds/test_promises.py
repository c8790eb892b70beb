"""A bound is applied only to inputs that a task promises: the reductions land there, and so does what is drawn."""

from itertools import combinations

import numpy
import pytest

from separatrix.bit_counts import bits_for
from separatrix.bounds import ProtocolBound, bounds, protocol_bounds
from separatrix.bounds.claims import first_layer_fnn
from separatrix.communication.reductions import Reduction, reductions
from separatrix.tasks import draws_from, tasks
from separatrix.tasks.task import Answers

LIMIT = 4
"""Bits of the instances that are all encoded."""
EVERY_TASK = pytest.mark.parametrize("name", list(tasks()))


def _used(bound: ProtocolBound, task: str) -> list[Reduction]:
    """The reductions from the bound's problem to a task; the one that the bound names where that is among them."""
    known = [each for kept in reductions().values() for each in (kept, *kept.variants) if not each.fails]
    found = [each for each in known if (each.problem, each.task(each.smallest).name) == (bound.problem, task)]
    return [each for each in found if each.name == bound.reduction] or found


def _sources(bound: ProtocolBound, task: str) -> list[ProtocolBound]:
    listed = first_layer_fnn._SOURCES if bound.name == "first-layer-fnn" else ()
    return [each for each in listed if task in each.task_names] or [bound]


PAIRS = [(bound, task) for bound in protocol_bounds() for task in bound.task_names]
REDUCED = [(bound, task) for bound, task in PAIRS if any(_used(each, task) for each in _sources(bound, task))]
"""By a reduction, which says what its instances are."""
WRITTEN = [pair for pair in PAIRS if pair not in REDUCED and tasks()[pair[1]].promise]
"""By inputs that the bound writes down itself."""


def _name(each: ProtocolBound | str) -> str:
    return each if isinstance(each, str) else each.name


def test_every_bound_says_which_inputs_of_a_promise_it_is_about() -> None:
    assert all(bound.instances is not None for bound, _ in WRITTEN)
    assert {(bound.name, task) for bound, task in WRITTEN} == {
        ("eq-ncp-rnn", "eq-ncp"),
        ("eq-one-rnn", "eq-one"),
        ("first-layer-fnn", "eq-ncp"),
    }
    # Where nothing is promised there is no input that a bound could not be about.
    assert {task for bound, task in PAIRS if (bound, task) not in (*REDUCED, *WRITTEN)} == {
        "dyck",
        "inequality",
        "majority",
        "match3-local",
    }


@pytest.mark.parametrize(("bound", "task"), REDUCED, ids=_name)
def test_the_instances_of_a_bound_lie_in_the_promise(bound: ProtocolBound, task: str) -> None:
    for reduction in [each for source in _sources(bound, task) for each in _used(source, task)]:
        for size in range(reduction.smallest, reduction.smallest + 3):
            if reduction.bits(size) > LIMIT:
                break
            problem = reduction.source_problem(size)
            rows, columns = (each.ravel() for each in numpy.indices((problem.rows, problem.columns)))
            inputs = reduction.encode(size, rows, columns)
            assert reduction.task(size).admissible(inputs, reduction.length(size)).all()


@pytest.mark.parametrize(("bound", "name"), WRITTEN, ids=_name)
@pytest.mark.parametrize("length", [2, 4, 6])
@pytest.mark.parametrize("symbols", [2, 3, 4, 5])
def test_the_inputs_that_a_bound_writes_down_are_promised_and_need_its_bits(
    bound: ProtocolBound, name: str, length: int, symbols: int
) -> None:
    """Two prefixes need two states if, fed with symbols that may follow both, they are answered differently."""
    task = tasks()[name].with_parameters(vocabulary_size=symbols + 1)
    assert bound.instances is not None
    inputs = bound.instances(task, length)
    assert task.admissible(inputs, length).all()
    half = length // 2
    after: dict[tuple[int, ...], list[tuple[tuple[int, ...], Answers]]] = {}
    for row in inputs.tolist():
        after.setdefault(tuple(row[:half]), []).append((tuple(row[half:]), task.solve(row, length)[half:]))
    assert all(
        any(_told_apart(one, other) for one in after[first] for other in after[second])
        for first, second in combinations(after, 2)
    )
    assert bits_for(len(after)) >= bound.required_bits(length, task)


def _told_apart(one: tuple[tuple[int, ...], Answers], other: tuple[tuple[int, ...], Answers]) -> bool:
    """Whether the answers differ at a position up to which the symbols do not."""
    for mine, its, answer, another in zip(one[0], other[0], one[1], other[1], strict=True):
        if mine != its:
            return False
        if answer != another:
            return True
    return False


@EVERY_TASK
def test_what_is_drawn_keeps_the_promise(name: str) -> None:
    task = tasks()[name]
    length = 12 - 12 % task.length_step
    for split in ("train", "eval"):
        drawn = task.sample(draws_from(1), 200, length, split)  # type: ignore[arg-type]
        assert numpy.asarray(task.admissible(drawn.inputs, length)).all()


@EVERY_TASK
def test_a_promise_excludes_something_and_no_promise_nothing(name: str) -> None:
    task = tasks()[name]
    length = 12 - 12 % task.length_step
    rows = numpy.asarray(task.sample(draws_from(2), 400, length).inputs)
    # Cells of one input in the place of another's: the layout stays, what holds between cells need not.
    mixed = numpy.where(numpy.arange(rows.shape[1]).reshape(1, -1, *[1] * (rows.ndim - 2)) % 3 == 1, rows[::-1], rows)
    broken = ~numpy.asarray(task.admissible(mixed, length))
    if name in ("match3-last", "sparse-averaging", "directed-3-cycle"):
        mixed[:, -1] = rows[:, 1]
        broken = ~numpy.asarray(task.admissible(mixed, length))
    assert broken.any() == bool(task.promise)


def test_a_ten_bit_state_answers_eq_one_and_no_bound_says_otherwise() -> None:
    task, length = tasks()["eq-one"], 20000
    drawn = task.sample(draws_from(0), 200, length)
    half, symbols = length // 2, 1023
    state = drawn.inputs[:, :half].sum(axis=1) % symbols
    answers = (state - drawn.inputs[:, half + 1 :].sum(axis=1)) % symbols == 0
    assert (answers == (drawn.targets[:, -1] == 1)).all()
    assert 50 < answers.sum() < 150
    assert [bound.required_bits(length, task) for bound in protocol_bounds("eq-one", "rnn")] == [10]
    assert not protocol_bounds("eq-one", "transformer-1layer")
    total = bounds()["inequality-rnn"]
    assert isinstance(total, ProtocolBound)
    assert total.required_bits(length, tasks()["equality"]) == half


def test_the_old_reduction_breaks_the_promise_of_eq_one() -> None:
    [separated] = [each for each in reductions()["equality-to-inequality"].variants if each.name.endswith("eq-random")]
    eq_one = tasks()["eq-one"].with_parameters(vocabulary_size=3)
    moved = separated.corrupted(task=lambda size: eq_one)
    assert moved.verify(1).holds
    assert not moved.verify(2).holds
