"""Partitions, problems and matrices: numbers and sequences belong together, chunks change nothing."""

from dataclasses import dataclass

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.bit_counts import bits_for
from separatrix.communication import matrix as matrix_module
from separatrix.communication.classics import disjointness, equality, greater_than, index
from separatrix.communication.matrix import communication_matrix, matrix_bytes, pack
from separatrix.communication.partition import Partition, cut, odd_even, of_positions, parse_partition
from separatrix.communication.problem import CommunicationProblem, from_function, from_task
from separatrix.communication.rows import count_distinct_rows, one_way_bits
from separatrix.errors import SeparatrixError
from separatrix.tasks import tasks
from separatrix.tasks.space import Space


@given(st.integers(1, 12), st.data())
def test_partitions_are_read_back_from_their_names(positions, data):
    alice = data.draw(st.sets(st.integers(0, positions - 1), min_size=1))
    partition = of_positions(positions, alice)
    assert parse_partition(partition.name, positions) == partition
    assert sorted(partition.alice + partition.bob) == list(range(positions))


def test_named_partitions():
    assert parse_partition("odd-even", 5) == odd_even(5) == Partition(5, (0, 2, 4))
    assert parse_partition("halves", 6) == parse_partition("cut:3", 6) == cut(6, 3)
    assert cut(6, 3).is_cut
    assert not odd_even(6).is_cut


@pytest.mark.parametrize("text", ["", "cut:", "cut:9", "cut:-1", "even", "0,0", "7", "1,x", "cut:99999999999", "0;1"])
def test_bad_partitions_end_in_one_line(text):
    with pytest.raises(SeparatrixError) as error:
        parse_partition(text, 6)
    assert "\n" not in str(error.value)


@given(st.integers(2, 3), st.integers(2, 5), st.data())
@settings(max_examples=20, deadline=None)
def test_the_matrix_of_a_function_is_the_function(alphabet, positions, data):
    alice = data.draw(st.sets(st.integers(0, positions - 1), min_size=1, max_size=positions - 1))
    table = numpy.random.default_rng(data.draw(st.integers(0, 99))).integers(0, 3, alphabet**positions)
    weights = alphabet ** numpy.arange(positions)[::-1]
    problem = from_function(lambda x: table[x @ weights], of_positions(positions, alice), alphabet, classes=3)
    dense = communication_matrix(problem).dense()
    assert dense.shape == (alphabet ** len(alice), alphabet ** (positions - len(alice)))
    assert problem.split is not None
    inputs = numpy.array(list(numpy.ndindex(*(alphabet,) * positions)))
    rows, columns = problem.split.numbers(inputs)
    assert (dense[rows, columns] == table[inputs @ weights]).all()
    assert (problem.split.join(rows, columns) == inputs).all()


@pytest.mark.parametrize("name", ["equality", "disjointness", "dyck", "index", "majority"])
def test_the_matrix_of_a_task_holds_its_answers(name):
    task = tasks()[name]
    problem = from_task(task, 4)
    dense = communication_matrix(problem).dense()
    assert problem.split is not None
    for examples in task.enumerate(4):
        rows, columns = problem.split.numbers(examples.inputs)
        asked = examples.targets[examples.read]
        assert (dense[rows, columns] == asked).all()


def test_tasks_that_are_no_product_are_refused():
    for name in ("associative-recall", "directed-3-cycle", "sparse-averaging"):
        with pytest.raises(SeparatrixError, match="reduction"):
            communication_matrix(from_task(tasks()[name], 4))


def test_the_classics_are_what_their_names_say():
    meets, apart = disjointness(3), disjointness(3, "disjoint")
    for a in range(8):
        for b in range(8):
            at = (numpy.array([a]), numpy.array([b]))
            assert meets.evaluate(*at)[0] == int((a & b) > 0) == 1 - apart.evaluate(*at)[0]
            assert equality(3).evaluate(*at)[0] == int(a == b)
            assert greater_than(3).evaluate(*at)[0] == int(a > b)
    bits = index(4).evaluate(numpy.array([[0b1010]]), numpy.arange(4)[None, :])
    assert bits.tolist() == [[1, 0, 1, 0]]


@pytest.mark.parametrize("bad", [0, 62])
def test_classics_refuse_sizes_out_of_range(bad):
    with pytest.raises(SeparatrixError, match="out of range"):
        equality(bad)


def test_chunks_change_nothing():
    whole = communication_matrix(greater_than(5)).dense()
    problem = greater_than(5)
    narrow = CommunicationProblem(problem.name, 32, 32, 2, problem.function, width=matrix_module.DEFAULT_LIMIT)
    assert narrow.chunk == 1
    assert (communication_matrix(narrow).dense() == whole).all()


@given(st.integers(0, 10_000), st.integers(1, 12), st.integers(1, 12), st.integers(2, 4))
@settings(max_examples=25, deadline=None)
def test_packing_selecting_and_transposing(seed, rows, columns, classes):
    values = numpy.random.default_rng(seed).integers(0, classes, (rows, columns))
    packed = pack(values, classes)
    assert (packed.dense() == values).all()
    assert (packed.transposed().dense() == values.T).all()
    at = numpy.arange(rows)[:, None], numpy.arange(columns)[None, :]
    assert (packed.entries(*at) == values).all()
    for value in range(classes):
        assert (packed.where(value).dense() == (values == value)).all()
    kept = packed.distinct
    assert (kept.matrix.dense()[kept.row_of][:, kept.column_of] == values).all()
    assert kept.matrix.rows == len({tuple(row) for row in values.tolist()}) == count_distinct_rows(packed)
    assert kept.matrix.columns == len({tuple(column) for column in values.T.tolist()})
    assert (values[kept.first_row][:, kept.first_column] == kept.matrix.dense()).all()


def test_a_matrix_that_does_not_fit_is_refused_before_it_is_built():
    assert matrix_bytes(equality(16)) == 1 << 29
    with pytest.raises(SeparatrixError, match="512 MiB, more than 16 MiB"):
        communication_matrix(equality(16), limit=1 << 24)


@pytest.mark.parametrize("values", [numpy.zeros((0, 3)), numpy.array([[300]]), numpy.array([[-1]])])
def test_bad_matrices_are_refused(values):
    with pytest.raises(SeparatrixError):
        pack(values)


def test_one_way_cost_is_the_logarithm_of_the_rows():
    assert [one_way_bits(problem) for problem in (index(9), equality(5), greater_than(4))] == [9, 5, 4]
    parity = from_function(lambda x: x.sum(axis=1) % 2, cut(8, 4), 2)
    assert one_way_bits(parity) == one_way_bits(communication_matrix(parity)) == 1
    thirds = from_function(lambda x: x.sum(axis=1) % 3, cut(8, 4), 2, classes=3)
    assert one_way_bits(thirds) == 2
    assert bits_for(1) == 0


def test_problems_that_cannot_be_end_in_one_line():
    with pytest.raises(SeparatrixError, match="choose 'intersecting'"):
        disjointness(3, "overlapping")
    with pytest.raises(SeparatrixError, match=r"each side needs 1 to 2\^62"):
        CommunicationProblem("none", 0, 4, 2, lambda a, b: a)
    crooked = CommunicationProblem("crooked", 2, 2, 2, lambda a, b: numpy.zeros(3, dtype=numpy.int64))
    with pytest.raises(SeparatrixError, match=r"returned shape \(3,\) for pairs of shape \(2, 2\)"):
        crooked.evaluate(numpy.arange(2)[:, None], numpy.arange(2)[None, :])
    with pytest.raises(SeparatrixError, match="the partition has 5 positions, dyck has 4"):
        from_task(tasks()["dyck"], 4, cut(5, 2))
    with pytest.raises(SeparatrixError, match="belong together"):
        from_task(Paired(), 4, of_positions(4, [0]))
    with pytest.raises(SeparatrixError, match="depend on each other"):
        from_task(tasks()["eq-ncp"], 4)


@dataclass(frozen=True, kw_only=True)
class Paired(type(tasks()["dyck"])):
    """A task whose first two positions are one choice."""

    def space(self, length):
        free = Space(super().space(length).blocks[2:])
        return Space((numpy.array([[0, 2], [1, 3]]), *free.blocks))


def test_parts_that_no_input_has_are_refused():
    problem = from_task(tasks()["dyck"], 4, cut(4, 2))
    assert problem.split is not None
    alice, bob = problem.split.numbers(numpy.array([[0, 2, 1, 3]]))
    assert problem.evaluate(alice, bob).tolist() == [1]
    with pytest.raises(SeparatrixError, match="is not a choice"):
        problem.split.numbers(numpy.array([[0, 2, 1, 9]]))
