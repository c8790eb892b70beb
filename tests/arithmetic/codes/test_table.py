from fractions import Fraction

import numpy as np
import pytest

from separatrix.arithmetic.codes import code_table, families, paper_width
from separatrix.arithmetic.codes.families.orbit import FOUND as ORBITS
from separatrix.arithmetic.codes.families.random_linear import FOUND as LINEAR_DRAWS
from separatrix.arithmetic.codes.families.random_linear import generator_rows
from separatrix.arithmetic.codes.random_draw import FOUND as DRAWS
from separatrix.arithmetic.codes.random_draw import draw, drawn_width
from separatrix.arithmetic.codes.weights import linear_distances
from separatrix.errors import SeparatrixError

QUARTER = Fraction(1, 4)


@pytest.mark.parametrize("row", ORBITS, ids=lambda row: f"{row[4]},{row[0]}")
def test_recorded_orbit_codes_have_the_recorded_weights(row):
    degree, order, step, leaders, length, lightest, heaviest = row
    rows, width = families()["orbit"].rows({"degree": degree, "order": order, "step": step, "leaders": leaders})
    measured = linear_distances(rows, width)
    assert (width, measured.smallest, measured.largest) == (length, lightest, heaviest)


@pytest.mark.parametrize("count", [16, 64, 256, 1024])
def test_recorded_draws_work_at_their_width_and_not_one_below(count):
    width, seed = DRAWS[count]
    for tried, keeps in ((width - 1, False), (width, True)):
        signs = 1 - 2 * draw(seed, count, tried).astype(np.int64)
        gram = signs @ signs.T - tried * np.eye(count, dtype=np.int64)
        assert (4 * gram.max() <= tried) == keeps
    assert drawn_width(count) == width and drawn_width(count + 1) is None


@pytest.mark.parametrize("row", LINEAR_DRAWS, ids=lambda row: str(row[0]))
def test_recorded_linear_draws(row):
    dimension, width, seed = row
    measured = linear_distances(generator_rows(seed, dimension, width), width)
    assert width - 2 * measured.smallest <= QUARTER * width


def test_different_seeds_are_different_draws():
    """Seed 1 must not be seed 0 shifted by a row."""
    first, second = (draw(seed, 64, 128) for seed in (0, 1))
    assert not {row.tobytes() for row in first} & {row.tobytes() for row in second}
    assert 0.45 < first.mean() < 0.55


def test_the_table_of_erratum_one():
    rows = code_table([16, 64, 256, 1024, 4096, 16384])
    assert [row.best.width for row in rows] == [5, 15, 20, 31, 52, 61]
    assert [row.limit.width for row in rows] == [5, 13, 16, 26, 37, 47]
    assert [row.paper_width for row in rows] == [444, 622, 799, 976, 1154, 1331]
    assert [row.optimal for row in rows] == [True, False, False, False, False, False]
    for row in rows:
        assert row.best.width == min(width for width in row.widths.values() if width is not None)
        assert row.best.width < row.drawn < paper_width(row.count)
        assert set(row.widths) == set(families())


def test_a_table_without_any_code_says_so():
    with pytest.raises(SeparatrixError, match="no sign code holds 16777216 vectors within 1/100000"):
        code_table([1 << 24], Fraction(1, 100000))
