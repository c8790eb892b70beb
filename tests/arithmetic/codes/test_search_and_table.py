import runpy
import sys
from fractions import Fraction

import numpy as np
import pytest

from separatrix.arithmetic.codes import code_table, families, paper_width, search
from separatrix.arithmetic.codes.families.orbit import FOUND as ORBITS
from separatrix.arithmetic.codes.families.random_draw import FOUND as DRAWS
from separatrix.arithmetic.codes.families.random_draw import DrawRule, smallest_draw
from separatrix.arithmetic.codes.families.random_linear import FOUND as LINEAR_DRAWS
from separatrix.arithmetic.codes.families.random_linear import generator_rows, smallest_linear_draw
from separatrix.arithmetic.codes.search import (
    OrbitGroup,
    best_code,
    distance_needed,
    groups,
    main,
    orbit_weights,
    search_orbits,
)
from separatrix.arithmetic.codes.weights import linear_distances
from separatrix.errors import SeparatrixError

QUARTER = Fraction(1, 4)


@pytest.mark.parametrize("group", [OrbitGroup(6, 3, 2), OrbitGroup(6, 1, 1), OrbitGroup(8, 5, 8), OrbitGroup(7, 1, 7)])
def test_orbit_weights_are_weights_of_the_code_they_describe(group):
    """Each column of the table against the generator the family builds from that one orbit."""
    table = orbit_weights(group)
    assert table.lengths.sum() == (1 << group.degree) - 1
    for place in range(min(6, len(table.leaders))):
        parameters = {
            "degree": group.degree,
            "order": group.order,
            "step": group.step,
            "leaders": [int(table.leaders[place])],
        }
        rows, length = families()["orbit"].rows(parameters)
        assert length == table.lengths[place]
        weights = set()
        for message in range(1, 1 << group.degree):
            total = 0
            for bit, row in enumerate(rows):
                total ^= row if message >> bit & 1 else 0
            weights.add(total.bit_count())
        assert weights == set(table.weights[:, place].tolist())


@pytest.mark.parametrize("row", ORBITS, ids=lambda row: f"{row[4]},{row[0]}")
def test_recorded_orbit_codes_have_the_recorded_weights(row):
    degree, order, step, leaders, length, lightest, heaviest = row
    rows, width = families()["orbit"].rows({"degree": degree, "order": order, "step": step, "leaders": leaders})
    measured = linear_distances(rows, width)
    assert (width, measured.smallest, measured.largest) == (length, lightest, heaviest)


@pytest.mark.parametrize(("two_sided", "widths"), [(False, range(18, 24)), (True, range(24, 40))])
def test_the_search_finds_what_it_claims(two_sided, widths):
    found = best_code(8 if not two_sided else 7, widths, QUARTER, two_sided, seed=1, rounds=3)
    assert found is not None
    width, group, leaders = found
    parameters = {"degree": group.degree, "order": group.order, "step": group.step, "leaders": leaders}
    rows, length = families()["orbit"].rows(parameters)
    measured = linear_distances(rows, length)
    assert length == width in widths
    assert measured.smallest >= distance_needed(width, QUARTER)
    assert not two_sided or measured.largest <= width - distance_needed(width, QUARTER)


def test_groups_come_largest_first_and_small_enough():
    found = list(groups(12, largest_order=50, most_orbits=100))
    assert found and all(4095 // group.size <= 100 and group.order <= 50 for group in found)
    assert [group.size for group in found] == sorted((group.size for group in found), reverse=True)


def test_the_search_command_prints_a_row_or_says_nothing(capsys):
    main(["4", "8", "16", "5", "1"])
    main(["8", "9", "10", "1", "2"])
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("(4, ")
    assert second == "degree 8: nothing below 10"


def test_the_search_runs_as_a_module(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["search", "4", "8", "16", "5", "1"])
    runpy.run_path(search.__file__, run_name="__main__")
    main(["4", "8", "16", "5", "1"])
    as_module, as_function = capsys.readouterr().out.splitlines()
    assert as_module == as_function


def test_a_draw_that_would_be_too_wide_is_not_proposed():
    narrow, wide = (list(families()["random-draw"].proposals(64, bound, False)) for bound in (QUARTER, QUARTER / 64))
    assert narrow and wide == []


def test_smallest_draw_against_a_plain_scan():
    def keeps(width):
        signs = 1 - 2 * DrawRule(7, width).words(np.arange(16)).astype(np.int64)
        gram = signs @ signs.T
        return all(4 * gram[i, j] <= width for i in range(16) for j in range(i))

    assert smallest_draw(16, seed=7, start=10) == next(width for width in range(10, 500) if keeps(width))


@pytest.mark.parametrize("row", DRAWS[:4], ids=lambda row: str(row[0]))
def test_recorded_draws_work_at_their_width_and_not_one_below(row):
    count, width, seed = row
    assert smallest_draw(count, seed, width - 1) == width


@pytest.mark.parametrize("row", LINEAR_DRAWS, ids=lambda row: str(row[0]))
def test_recorded_linear_draws(row):
    dimension, width, seed = row
    measured = linear_distances(generator_rows(seed, dimension, width), width)
    assert width - 2 * measured.smallest <= QUARTER * width


def test_no_linear_draw_is_reported_as_none():
    assert smallest_linear_draw(6, range(5), range(6, 9)) is None


def test_different_seeds_are_different_draws():
    """Seed 1 must not be seed 0 shifted by a row."""
    first, second = (DrawRule(seed, 128).words(np.arange(64)) for seed in (0, 1))
    assert not {row.tobytes() for row in first} & {row.tobytes() for row in second}
    assert 0.45 < first.mean() < 0.55


def test_the_table_of_erratum_one():
    rows = code_table([16, 64, 256, 1024, 4096, 16384])
    assert [row.best.width for row in rows] == [5, 13, 16, 31, 52, 60]
    assert [row.limit.width for row in rows] == [5, 13, 16, 26, 37, 47]
    assert [row.paper_width for row in rows] == [444, 622, 799, 976, 1154, 1331]
    assert [row.optimal for row in rows] == [True, True, True, False, False, False]
    for row in rows:
        assert row.best.width == min(width for width in row.widths.values() if width is not None)
        assert row.best.width < row.widths["random-draw"] < paper_width(row.count)
        assert set(row.widths) == set(families())


def test_a_width_that_no_orbits_add_up_to_is_not_found():
    table = orbit_weights(OrbitGroup(8, 5, 8))
    assert int(table.lengths.min()) == 5
    assert search_orbits(table, 3, (1, 3), np.random.default_rng(0), swaps=5) is None


def test_a_search_among_many_orbits_looks_at_a_part_of_them():
    """Degree 10 without a group has 1023 orbits, of which 512 are tried for each swap."""
    table = orbit_weights(OrbitGroup(10, 1, 10))
    assert len(table.leaders) > 512
    lowest = 20
    leaders = search_orbits(table, 64, (lowest, 64), np.random.default_rng(1), swaps=60)
    assert leaders is not None
    rows, width = families()["orbit"].rows({"degree": 10, "order": 1, "step": 10, "leaders": list(leaders)})
    assert width == 64
    assert linear_distances(rows, width).smallest >= lowest
    assert search_orbits(table, 64, (33, 64), np.random.default_rng(1), swaps=3) is None, "beyond Plotkin's bound"


def test_random_codes_are_found_from_their_first_width_on():
    width, seed = smallest_linear_draw(4, range(50), range(4, 20)) or (0, 0)
    assert linear_distances(generator_rows(seed, 4, width), width).smallest >= distance_needed(width, QUARTER)
    assert smallest_linear_draw(4, range(50), range(4, width)) is None


def test_a_table_without_any_code_says_so():
    with pytest.raises(SeparatrixError, match="no sign code holds 16777216 vectors within 1/100000"):
        code_table([1 << 24], Fraction(1, 100000))


def test_random_draws_with_too_many_pairs_are_refused():
    with pytest.raises(SeparatrixError, match="too many pairs"):
        families()["random-draw"].build(1 << 30, {"width": 64, "seed": 0})
