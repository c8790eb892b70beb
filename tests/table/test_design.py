"""What a task needs, what is enough, and which presets pass: held to the catalogs, to certificates and to the cards."""

import json

import pytest

from separatrix.bounds import FIXED, ModelSize, covered, protocol_bounds
from separatrix.bounds.simulations import RECURRENT
from separatrix.capacities import capacity, presets
from separatrix.certificates import Claim, check
from separatrix.cli.app import run
from separatrix.constructions import constructions
from separatrix.site.design_figure import design_picture
from separatrix.table import Outcome, design
from separatrix.table import design_enough as room
from separatrix.table.design_enough import entry
from separatrix.table.separation import BOUNDED_BY
from separatrix.tasks import tasks

LENGTH = 16


def cut_bits(found):
    """The bits that whatever is kept of a text must hold between what was read and the query."""
    return next((each.at_least for each in found.row("hybrid").needs), None)


@pytest.fixture(scope="module")
def found():
    return {name: design(task, LENGTH - LENGTH % task.length_step, models=()) for name, task in tasks().items()}


@pytest.mark.parametrize("name", list(tasks()))
def test_what_is_enough_is_at_least_what_is_needed(found, name):
    """Sizes from above against needs from below, by plain comparison and by trying every smaller width."""
    asked = found[name]
    for kind in ("recurrent", "hybrid"):
        row = asked.row(kind)
        for need in row.needs:
            assert all(each.memory_bits is None or each.memory_bits >= need.at_least for each in row.enough)
    for need in asked.row("one-layer").needs:
        bounds = protocol_bounds(asked.task.name, "transformer-1layer")
        room_left = [
            all(
                bound.possible(asked.length, ModelSize(width, asked.precision, asked.heads), asked.task)
                for bound in bounds
                if covered(bound, FIXED, asked.task).covered
            )
            for width in range(1, need.at_least + 1)
        ]
        assert not any(room_left[:-1])
        assert not bounds or room_left[-1]


@pytest.mark.parametrize("name", list(tasks()))
def test_the_bits_at_the_cut_are_the_most_that_a_one_way_bound_asks_for(found, name):
    asked = found[name]
    required = [
        bound.required_bits(asked.length, asked.task)
        for bound in protocol_bounds(asked.task.name, "rnn")
        if bound.simulation is RECURRENT
    ]
    if name in BOUNDED_BY:
        assert not required
        assert cut_bits(asked)
    else:
        assert (cut_bits(asked) or 0) == max(required, default=0)


def test_mqar_at_8192():
    asked = design(tasks()["mqar"], 8192, models=())
    assert asked.row("recurrent").needs[0].at_least == 8192 // 2
    assert asked.row("windows").needs[0].at_least == 3 * 8192 // 2 - 2
    assert cut_bits(asked) == 8192 // 2
    best = asked.row("two-layer").enough[0]
    assert (best.name, best.layers, best.heads) == ("mqar", 2, 1)
    assert (best.evidence, best.certified_length) == ("certificate recorded", 8192)
    network = constructions()["mqar"].build(8192).network
    rows = [head.key.shape[0] + head.value.shape[0] for head in (network.layers[0].heads + network.layers[2].heads)]
    assert best.memory_bits == 12288 * best.precision_bits * sum(rows)
    # The separation: narrower by far than what one layer is known to need no more than.
    assert best.width * best.heads < asked.row("one-layer").enough[0].width / 1000


def test_a_network_that_is_shown_as_certified_is(found):
    shown = {(each.name, one.length) for one in found.values() for row in one.rows for each in row.enough
             if each.evidence == "certified"}  # fmt: skip
    assert len(shown) > 10
    for name, length in shown:
        built = constructions()[name].build(length)
        assert check(built.network, Claim(built.task, built.length, built.arithmetic)).valid


def test_the_shortest_entries_of_the_record_are_about_the_weights_that_are_built_today():
    listed = json.loads(room.RECORD.read_text(encoding="utf-8"))["certified"]
    assert {(each["construction"], each["length"]) for each in listed} >= {("mqar", 8192)}
    shortest = {each["construction"]: each for each in sorted(listed, key=lambda each: -each["length"])}
    for name in shortest.keys() - {"match2-code", "match3-last"}:  # seconds to build
        each = shortest[name]
        wanted = entry(name, constructions()[name].build(each["length"]))
        assert {key: each[key] for key in wanted} == wanted


def test_a_record_of_other_weights_is_not_used(tmp_path, monkeypatch):
    monkeypatch.setattr(room, "PROVED_AT_ONCE", 64)
    built = constructions()["index-lookup"].build(128)
    own = entry("index-lookup", built)
    for change, evidence in (
        ({}, "certificate recorded"),
        ({"sha256": "0" * 64}, "certified at a shorter length"),
        ({"arithmetic": "fixed:N=128,Kc=1,down"}, "certified at a shorter length"),
    ):
        path = tmp_path / f"{len(change)}{evidence[:9]}.json"
        path.write_text(json.dumps({"certified": [{**own, **change}]}), encoding="utf-8")
        monkeypatch.setattr(room, "RECORD", path)
        room._recorded.cache_clear()
        (best, *_) = design(tasks()["index-lookup"], 128, models=()).row("one-layer").enough
        assert (best.name, best.evidence) == ("index-lookup", evidence)
    monkeypatch.undo()
    room._recorded.cache_clear()


@pytest.mark.parametrize(("name", "length"), [("mqar", 8192), ("index-lookup", 10**6), ("dyck", 64), ("equality", 400)])
def test_presets_are_judged_as_their_cards_say(name, length):
    asked = design(tasks()[name], length)
    assert [each.preset for each in asked.presets] == list(presets())
    alphabet = int(tasks()["index-lookup"].parameters()["alphabet"])
    for judged in asked.presets:
        card = capacity(presets()[judged.preset].describe(), length=length, only=[name], alphabet=alphabet)
        limits = [limit for limit in card.limits if limit.scope == "model"]
        excluded = any(limit.impossible_at_length for limit in limits)
        known = bool(limits or card.needs)
        assert judged.outcome is (Outcome.EXCLUDED if excluded else Outcome.PASSES if known else Outcome.UNKNOWN)
        if judged.outcome is Outcome.PASSES and judged.needed_bits is not None:
            assert judged.needed_bits <= judged.available_bits
    if length == 10**6:
        assert {"lstm-3-256", "rnn-1-128", "mistral-7b-v0.1"} <= {e.preset for e in asked.judged(Outcome.EXCLUDED)}


def test_a_cache_too_small_for_the_task_excludes():
    """Of a graph whose rows are long one token a row carries too little."""
    asked = design(tasks()["directed-3-cycle"], 2**20)
    judged = {each.preset: each for each in asked.presets}
    assert judged["jamba-v0.1"].outcome is Outcome.EXCLUDED
    assert judged["jamba-v0.1"].needed_bits > judged["jamba-v0.1"].available_bits


def test_parameters_of_the_task_are_those_that_were_asked_about():
    few, many = (design(tasks()["index-lookup"].with_parameters(alphabet=size), 64, models=()) for size in (2, 1024))
    assert (cut_bits(few), cut_bits(many)) == (64, 640)


def test_the_command(capsys, tmp_path):
    assert run(["design", "mqar", "--length", "64", "--json", "--plot", str(tmp_path / "a.svg")]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {row["design"] for row in told["designs"]} == {"recurrent", "windows", "one-layer", "two-layer", "hybrid"}
    assert {each["outcome"] for each in told["presets"]} <= {"passes", "excluded", "unknown"}
    assert (tmp_path / "a.svg").read_text(encoding="utf-8").startswith("<svg")
    assert run(["design", "index-lookup", "--length", "10000"]) == 0
    assert "excluded" in capsys.readouterr().out


@pytest.mark.parametrize(
    "wrong",
    [
        ["mqar", "--length", "7"], ["mqar", "--length", "0"], ["mqar"], ["mqra", "--length", "8"],
        ["mqar", "--length", "8", "--accuracy", "0.9"], ["mqar", "--length", "8", "--heads", "0"],
        ["mqar", "--length", "8", "--precision", "0"], ["mqar", "--length", "8", "--plot", "a.pdf"],
        ["mqar", "--length", "8", "--set", "nothing=1"], ["a.py:f", "--length", "8"],
    ],
)  # fmt: skip
def test_bad_input_is_one_line(capsys, wrong):
    assert run(["design", *wrong]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_the_picture_needs_no_certificate():
    assert "svg" in design_picture(design(tasks()["sparse-averaging"], 64)).svg


@pytest.mark.parametrize("name", ["match2", "match3-local", "eq-one", "inequality"])
def test_lengths_beyond_any_table_are_answered(name):
    """Tables of so many rows would end in a lack of memory; such constructions are left out."""
    found = design(tasks()[name], 10**9, models=[])
    assert found.length == 10**9 and found.row("recurrent").enough
