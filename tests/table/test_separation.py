"""The separation table: verdicts, certified sizes against bounds, contradictions that raise."""

import importlib
import itertools
from dataclasses import replace
from fractions import Fraction
from importlib import import_module

import ml_dtypes
import numpy
import pytest

from separatrix.bounds import MODELS, NUMBERS, ContradictionError, ModelSize, protocol_bounds
from separatrix.constructions import constructions
from separatrix.site.sections.separation import SECTION
from separatrix.table.certified import CLASSES, Certified, certify_all, size_of_model
from separatrix.table.separation import cell, table, upper_bounds
from separatrix.tasks import tasks

LENGTH = 16


@pytest.fixture(scope="module")
def certified() -> tuple[Certified, ...]:
    return certify_all(LENGTH)


@pytest.fixture(scope="module")
def cells(certified):
    return {(each.task, each.model): each for each in table(certified, LENGTH)}


def test_every_task_has_a_cell_for_every_class(cells):
    assert set(cells) == set(itertools.product(tasks(), MODELS))
    assert tuple(CLASSES) == MODELS


@pytest.mark.parametrize(
    ("task", "verdicts"),
    [
        # BHBK24 Table 1 and SHT23's results: any RNN, one layer, two layers.
        ("index-lookup", ("linear", "logarithmic", "logarithmic")),
        ("dyck", ("constant", "linear", "logarithmic")),
        ("equality", ("linear", "linear", "logarithmic")),
        ("inequality", ("linear", "linear", "logarithmic")),
        ("disjointness", ("linear", "linear", "logarithmic")),
        ("sparse-threshold", ("linear", "linear", "logarithmic")),
        ("nearest-neighbour", ("linear", "open", "logarithmic")),
        ("mqar", ("linear", "open", "logarithmic")),
        ("associative-recall", ("linear", "open", "logarithmic")),
        ("sparse-averaging", ("linear", "logarithmic", "logarithmic")),
        ("match2", ("linear", "logarithmic", "logarithmic")),
        ("match3", ("linear", "linear", "open")),
        ("match3-last", ("linear", "linear", "logarithmic")),
        ("majority", ("logarithmic", "logarithmic", "logarithmic")),
    ],
)
def test_the_verdicts_of_the_papers(cells, task, verdicts):
    found = tuple(cells[task, model].verdict for model in ("rnn", "transformer-1layer", "transformer-2layer"))
    assert found == verdicts


def test_other_verdicts(cells):
    assert cells["sparse-averaging", "fnn"].verdict == "linear"
    assert cells["match3", "third-order"].verdict == "logarithmic"
    assert cells["directed-3-cycle", "graph-transformer"].verdict == "linear"
    assert cells["directed-3-cycle", "rnn"].verdict == "quadratic"
    assert cells["dyck", "graph-transformer"].verdict == "not applicable"
    assert any("conjecture" in remark for remark in cells["match3", "transformer-2layer"].remarks)


def test_settled_cells_show_both_sides(cells):
    for each in cells.values():
        if each.verdict in ("linear", "quadratic"):
            assert each.upper[0].growth == each.lower[0].growth == each.verdict
        if each.verdict in ("constant", "logarithmic"):
            assert each.upper[0].growth == each.verdict
        for side in (*each.upper, *each.lower):
            assert side.text
            assert side.source
            assert side.kind in ("certified", "fact", "bound", "extension")


# -- certified sizes --------------------------------------------------------------------------------------


def test_declared_growths_agree_with_the_sizes_of_built_networks():
    for construction in constructions().values():
        small, large = (construction.build(length) for length in (16, 64))
        bits = [
            size.width * size.heads * size.precision
            for size in (size_of_model(each.network, each.arithmetic.precision_bits) for each in (small, large))
        ]
        growth = construction.growth
        if growth == "constant":
            assert small.network.width == large.network.width
        elif growth == "logarithmic":
            # log N grows by half: bits by at most its fourth power, and a little for codes that come in steps.
            assert bits[1] <= 1.2 * 1.5**4 * bits[0]
        else:
            assert bits[1] >= 4 * bits[0]


def test_certified_networks_satisfy_every_bound_and_refute_inflated_ones(certified):
    compared = 0
    for one in certified:
        for bound in protocol_bounds(one.task, one.model) if one.model else ():
            task = tasks()[one.task]
            bound.check_consistent(one.length, one.size, one.construction, task)
            given = bound.available_bits(one.length, one.size, task)
            factor = Fraction(given + 1, bound.required_bits(one.length, task))
            with pytest.raises(ContradictionError, match="one of the two is wrong"):
                bound.inflated(factor).check_consistent(one.length, one.size, one.construction, task)
            compared += 1
    assert compared >= 2, "sparse averaging and triple matching in one layer have bounds"


def test_a_network_that_beats_a_bound_raises(certified):
    honest = next(each for each in certified if each.construction == "index-lookup")
    impossible = replace(
        honest, construction="too-good", task="dyck", length=4096, width=1, size=ModelSize(1, 8), growth="linear"
    )
    with pytest.raises(ContradictionError, match="too-good contradicts dyck-transformer-1layer"):
        cell("dyck", "transformer-1layer", [impossible], LENGTH)
    # At a length where the bound leaves width 1 open, the growth alone contradicts it.
    small = replace(impossible, length=16, size=ModelSize(1, 32), growth="logarithmic")
    with pytest.raises(ContradictionError, match="is logarithmic, but"):
        cell("dyck", "transformer-1layer", [small], LENGTH)


def test_what_is_known_from_above_names_constructions_without_certifying():
    names = [side.short for side in upper_bounds("equality", "transformer-2layer")]
    assert names[:2] == ["equality", "equality-partition"]
    assert upper_bounds("dyck", "rnn")[0].growth == "constant"
    assert upper_bounds("dyck", "graph-transformer") == ()


@pytest.mark.parametrize("name", ["float64", "float32", "bfloat16", "float16", "float8_e4m3fn"])
@pytest.mark.parametrize("model", ["transformer-1layer", "transformer-2layer", "third-order", "fnn", "rnn"])
def test_what_needs_growing_precision_is_not_enough_in_a_format_of_fixed_bits(model, name):
    """Sums that are rounded after every addition stop counting, and no construction is certified in them but one."""
    for task in tasks():
        for side in upper_bounds(task, model, NUMBERS[name]):
            if side.kind == "construction":
                assert side.arithmetic == ("" if side.short == "dyck-float" else "fixed")
            else:
                holds = side.short in ROUNDED[model == "rnn"] and not (side.short == "copies the input" and "8" in name)
                assert side.arithmetic == ("" if holds else "fixed")
        assert not any(side.arithmetic for side in upper_bounds(task, model))


ROUNDED = (
    {"copies the input", "passes the input on"},
    {"stores the input", "counts", "keeps the stack", "adds up", "keeps T numbers"},
)


def test_an_average_in_float32_stops_counting():
    """At 2^24 equal weights the sum stays where it is, so that one more of 2^26 bits does not change the average."""
    ones = numpy.float32(2.0**24)
    assert ones + numpy.float32(1) == ones, "the sum of exponentials stops there as well"
    weight = numpy.float32(1) / ones
    assert sum([weight] * 1000, numpy.float32(0)) == 1000 * weight
    assert ones * weight + weight == ones * weight
    assert numpy.float16(weight) > 0
    assert weight.astype(ml_dtypes.float8_e4m3fn) == 0


# -- the section ------------------------------------------------------------------------------------------


def test_the_section_has_every_cell(monkeypatch, cells, certified):
    # The façade's function `sections` hides the package of that name.
    module = importlib.import_module("separatrix.site.sections.separation")
    monkeypatch.setattr(module, "certify_all", lambda length, advance: certified)
    monkeypatch.setattr(module, "LENGTH", LENGTH)
    results = SECTION.collect(lambda what: None)
    assert [row.task for row in results.rows] == list(tasks())
    for each in cells.values():
        assert results.rows[list(tasks()).index(each.task)].cells[each.model].verdict == each.verdict


def test_certified_trained_weights_are_evidence_that_bounds_must_allow(monkeypatch):
    found = cell("index-lookup", "transformer-1layer", ())
    assert {50, 100} <= {one.length for one in found.trained}
    assert "trained, and right on all 50·64^50 inputs" in found.trained[0].text
    assert {one.length for one in cell("dyck", "rnn", ()).trained} == {None}
    assert not cell("equality", "rnn", ()).trained
    # A state of 32 bits cannot hold 50 symbols: such a certificate would contradict a theorem.
    small = replace(found.trained[0], model="RNN-(1,1)", column="rnn", numbers=1)
    monkeypatch.setattr(import_module("separatrix.table.trained_models"), "trained_models", lambda: (small,))
    with pytest.raises(ContradictionError):
        cell("index-lookup", "rnn", ())
