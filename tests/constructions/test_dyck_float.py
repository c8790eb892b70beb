"""Dyck by one layer of uniform attention in floating point: right on every string, below the bound for exact sums."""

from dataclasses import dataclass

import numpy
import pytest

from separatrix.constructions.theorems.dyck_float import SIGNIFICANT, DyckFloat, Integers
from separatrix.errors import SeparatrixError
from separatrix.tasks import draws_from

FORMATS = pytest.mark.parametrize("format", SIGNIFICANT)


@FORMATS
@pytest.mark.parametrize("length", [2, 4, 8])
def test_every_string_is_answered_rightly(format: str, length: int) -> None:
    assert DyckFloat(format=format).wrong(length) == 0


@pytest.mark.parametrize("length", [2, 4, 8])
def test_exact_sums_of_the_same_values_fail(length: int) -> None:
    assert DyckFloat().wrong_with_exact_sums(length) > 0


@pytest.mark.parametrize("types", [1, 2, 3])
@FORMATS
def test_the_proof_is_computed_for_every_length(format: str, types: int) -> None:
    if format == "float32" and types != 2:
        pytest.skip("the walls of float32 do not depend on the types")
    walls, walks = DyckFloat(types, format).proof()
    assert walls.holds
    assert walls.cases == 2 * (2 ** (SIGNIFICANT[format] + 1) + 1)
    assert walks.holds
    assert walks.cases == 2 * types * (1 + types + types**2)


@FORMATS
def test_long_strings(format: str) -> None:
    layer = DyckFloat(format=format)
    length = min(2048, layer.wall)
    drawn = layer.task.sample(draws_from(3), 200, length)
    assert 50 < drawn.targets[:, -1].sum() < 150
    assert (layer.answers(drawn.inputs) == drawn.targets[:, -1]).all()


@FORMATS
def test_the_length_ends_where_the_sum_of_exponentials_does(format: str) -> None:
    layer = DyckFloat(format=format)
    layer.check_length(layer.wall)
    with pytest.raises(SeparatrixError, match=str(layer.wall)):
        layer.check_length(2 * layer.wall)
    if format != "float32":  # 2^25 additions one by one take too long
        one = layer.values(numpy.array([0]), 1)[:1, 0]
        total = one - one
        for position in range(2 * layer.wall):
            assert float(total[0]) == min(position, layer.wall)
            total = total + one
        assert float(one[0] / total[0]) == 1 / layer.wall


def test_all_strings_of_length_16_by_merging_equal_sums() -> None:
    layer, length = DyckFloat(), 16
    # A partial sum decides with the rest of the string what comes out, so equal ones of one stack are kept once.
    sums = {((), tuple(layer.start.tolist())): 1}
    for position in range(length):
        grown: dict[tuple[tuple[int, ...] | None, tuple[int, ...]], int] = {}
        keys = list(sums)
        table = numpy.array([walks for _, walks in keys], dtype=numpy.float32)
        for token in range(4):
            moved = table + layer.steps()[position % 2, token].astype(numpy.float32)
            for (stack, _), walks, count in zip(keys, moved.astype(numpy.int64).tolist(), sums.values(), strict=True):
                key = (_pushed(stack, token), tuple(walks))
                grown[key] = grown.get(key, 0) + count
        sums = grown
    assert sum(sums.values()) == 4**length
    for stack, walks in sums:
        assert (walks == tuple(layer.start.tolist())) == (stack == ())


def _pushed(stack: tuple[int, ...] | None, token: int) -> tuple[int, ...] | None:
    if stack is None:
        return None
    if token < 2:
        return (*stack, token) if len(stack) < 2 else None
    return stack[:-1] if stack[-1:] == (token - 2,) else None


@dataclass(frozen=True)
class _Changed(DyckFloat):
    """The layer with one step of its table left out."""

    parity: int = 0
    token: int = 0
    coordinate: int = 0

    def steps(self) -> Integers:
        table = super().steps()
        table[self.parity, self.token, self.coordinate] = 0
        return table


def test_every_step_of_the_table_counts_and_the_proof_sees_it() -> None:
    steps = numpy.argwhere(DyckFloat().steps())
    assert len(steps) == 2 * 4 * 2
    for parity, token, coordinate in steps.tolist():
        changed = _Changed(2, "bfloat16", parity, token, coordinate)
        assert changed.wrong(8) > 0
        assert not changed.proof()[1].holds


def test_other_lengths_and_formats_end_in_one_line() -> None:
    for length in (0, 1, 3, 6, 2**25):
        with pytest.raises(SeparatrixError, match="power of two"):
            DyckFloat().check_length(length)
    with pytest.raises(SeparatrixError, match="format"):
        DyckFloat(format="float12")
    with pytest.raises(SeparatrixError, match="types"):
        DyckFloat(types=0)
