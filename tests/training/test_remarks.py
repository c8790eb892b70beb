"""What figures say of themselves: rising or not, below the paper's words, given up, bits of a state."""

import json

import pytest

from separatrix.errors import SeparatrixError
from separatrix.site.training_figures import experiment_figure, table_panels
from separatrix.training.events import Point, Result
from separatrix.training.experiments.catalog import experiments
from separatrix.training.experiments.figure_data import gather
from separatrix.training.experiments.remarks import diverged_note
from separatrix.training.experiments.rounded_states import rounded_states
from separatrix.training.records import Records
from separatrix.training.undertrained import still_rising
from tests.training.test_figures import WHERE, recorded, store  # noqa: F401 - the fixture


def entry(model="LSTM-(1,128)", length=5, numbers=256, bits=2, examples=512):
    report = {"model": model, "length": length, "state_numbers": numbers, "examples": examples}
    return {"run": "0a", "bits": bits, "report": report}


def said(store, name):  # noqa: F811
    with Records(store, create=False) as records:
        return gather(experiments()[name], "reduced", records).remarks


def test_a_rise_is_more_than_the_chance_of_the_probes():
    """At half right a probe of 512 examples is off by 2.2 points, so three points between quarters of one are nothing;
    of 50,000 examples they are something."""
    curve = [Point("a", step, 0.0, 0.0, 0.5 + 0.03 * (step == 4)) for step in range(1, 5)]
    assert still_rising(curve, 512) is False
    assert still_rising(curve, 50_000) is True
    assert still_rising(curve[:3], 512) is None


def test_cells_below_the_papers_words_are_named_with_a_reason(store):  # noqa: F811
    recorded(store, "eq-one", "reduced", lambda row, length, place: 0.5 if length > 20 else 0.97)
    told = said(store, "eq-one")
    words = next(each for each in told if each.startswith("The paper calls these near-perfect"))
    assert "LSTM-(2,64) at 50 (50.0)" in words and "at 20 (" not in words
    assert any("too short to tell" in each for each in told)  # two points of each curve
    dyck = recorded(store, "figure2-dyck", "reduced", lambda row, length, place: 0.55)
    words = next(each for each in said(store, dyck.name) if each.startswith("The paper calls these near-perfect"))
    assert "TF-(1,256,heads=4) at 100" in words and "TF-(1,256,heads=4) at 200" not in words


def test_cells_that_diverged_are_named(store):  # noqa: F811
    lost_cell = ("LinTF-(2,64)", 20)
    experiment = recorded(store, "eq-one", "reduced", lambda row, length, place: 0.5, left_out=[lost_cell])
    assert not any("iverged" in each for each in said(store, "eq-one"))
    (cell,) = [
        each
        for each in experiment.sweep("reduced").cells()
        if (each.at("architecture"), each.at("length")) == lost_cell
    ]
    with Records(store) as records:
        lost = [Result(run.name, "diverged", 500, 0.9, 0.5, 30.0, 1000) for run in cell.runs]
        records.add_results(cell.runs, lost, {**WHERE, "group": "lost"}, None)
    with Records(store, create=False) as records:
        data = gather(experiment, "reduced", records)
    words = next(each for each in data.remarks if each.startswith("Diverged at every learning rate"))
    assert words.endswith("LinTF-(2,64) at 20.")
    assert diverged_note(data.cells.values()).endswith("LinTF-(2,64) at 20.")


def test_a_best_run_that_was_given_up_is_no_want_of_steps(store):  # noqa: F811
    experiment = recorded(store, "eq-one", "reduced", lambda row, length, place: 0.5)
    (cell,) = [
        each
        for each in experiment.sweep("reduced").cells()
        if (each.at("architecture"), each.at("length")) == ("LinTF-(2,64)", 20)
    ]
    better = cell.runs[0].with_changes(steps=10_000)
    with Records(store) as records:
        result = Result(better.name, "pruned", 10_000, 0.6, 0.5, 30.0, 1000)
        records.add_results([better], [result], {**WHERE, "group": "other"}, None)
    told = said(store, "eq-one")
    assert any("stopped in favour of another learning rate" in each and "LinTF-(2,64) at 20" in each for each in told)
    assert not any("not because of too few steps" in each for each in told)


def test_the_bits_of_rounded_states_stand_beside_the_runs(store):  # noqa: F811
    recorded(store, "state-bits", "reduced", lambda row, length, place: 0.9)
    assert not any("Bits p" in each for each in said(store, "state-bits"))
    measured = [entry(), entry(length=10, bits=None), entry("no such row", 5), entry("Mamba-(1,64)", 10, 2432, 5)]
    (store.parent / "state-bits-reduced.json").write_text(json.dumps(measured))
    bits, shares, chance = (
        next(each for each in said(store, "state-bits") if word in each) for word in ("Bits p", "m·p/N", "512 examples")
    )
    assert bits.endswith("LSTM-(1,128) 2 at 5, more at 10; Mamba-(1,64) 5 at 10.")
    with Records(store, create=False) as records:
        data = gather(experiments()["state-bits"], "reduced", records)
    panel = table_panels(data)[-1]
    assert (panel[0], panel[4]) == ("needed of each number of the state", "bits")
    assert panel[3] == {("LSTM-(1,128)", "5"): 2, ("LSTM-(1,128)", "10"): None, ("Mamba-(1,64)", "10"): 5}
    assert {"row": "Mamba-(1,64)", "column": "10", "bits": 5} in data.as_dict()["bits"]
    assert "needed of each number" in experiment_figure(data).svg
    assert "102.4 to 1,216.0" in shares and "2.2 points" in chance


@pytest.mark.parametrize(
    "content",
    ["{", "[1]", json.dumps([{"run": "0a"}]), json.dumps([entry(bits=0)]), json.dumps([entry(numbers="256")]), "{}x"],
)
def test_a_broken_file_of_bits_is_refused_in_one_line(tmp_path, content):
    (tmp_path / "state-bits-reduced.json").write_text(content)
    with pytest.raises(SeparatrixError, match=r"state-bits-reduced.json .*write it again with") as refused:
        rounded_states([tmp_path], "reduced")
    assert "\n" not in str(refused.value)
