"""Bounds next to the parameters of a task: none asks for more than the truth, and what says nothing is named."""

import json
from itertools import combinations, product

import numpy
import pytest

from separatrix.bit_counts import bits_for
from separatrix.bounds import ModelSize, bits_needed, bounds, protocol_bounds
from separatrix.bounds.claims._scope import parted_pairs
from separatrix.bounds.upper_bounds import special_facts
from separatrix.bounds.user_bound import check_user_bound
from separatrix.cli.app import run
from separatrix.tasks import tasks
from separatrix.tasks.problems._points import GRID
from tests.communication.oracles import residual_counts


def exact_state_bits(task, length: int, symbols: int, prefix: tuple[int, ...] = ()) -> int:
    """What a state must hold at the worst cut, from the answers of the slow solver on all inputs."""
    counts = residual_counts(lambda row: task.solve([*prefix, *row], length)[-1], symbols, length)
    return bits_for(max(counts))


# -- equality over named positions ------------------------------------------------------------------------


@pytest.mark.parametrize("length", [2, 4, 6])
@pytest.mark.parametrize("name", ["equality", "inequality"])
def test_equality_over_any_positions_is_asked_for_no_more_than_the_state_needs(name, length):
    recurrent = [bound for bound in protocol_bounds(model="rnn") if name in bound.task_names]
    assert recurrent
    for alice in combinations(range(1, length + 1), length // 2):
        task = tasks()[name].with_parameters(alice=",".join(map(str, alice)))
        exact = exact_state_bits(task, length, 2)
        for bound in recurrent:
            assert 1 <= bound.required_bits(length, task) <= exact
        assert exact <= parted_pairs(task, length) + 1, "beside the open symbols one bit tells whether all were equal"


def test_halves_are_as_in_the_paper():
    for length in (2, 8, 1000):
        assert bounds()["inequality-rnn"].required_bits(length, tasks()["equality"]) == length // 2
    neighbours = tasks()["equality"].with_parameters(alice="1,3,5,7")
    assert bounds()["inequality-rnn"].required_bits(8, neighbours) == 1
    assert bounds()["inequality-rnn"].paper_width(8, 1, task=neighbours) is None
    # One layer and a first layer send a part for any partition, so the positions do not matter to them.
    assert bounds()["inequality-transformer-1layer"].required_bits(8, neighbours) == 4
    assert bounds()["first-layer-fnn"].required_bits(8, neighbours) == 4
    assert "length 10 needs 5" in bounds()["inequality-rnn"].why_inapplicable(10, neighbours)


# -- parameters that take the ground from a bound ---------------------------------------------------------


def test_triple_matching_that_counts_the_query_is_a_constant_and_not_bounded():
    literal = tasks()["match3-last"].with_parameters(exclude_query=False)
    answers = {literal.solve(row, 4)[-1] for part in literal.enumerate(4) for row in part.inputs.tolist()}
    assert answers == {1}
    for bound in protocol_bounds():
        if "match3-last" in bound.task_names:
            assert bound.required_bits(64, literal) == 0
            assert "E11" in bound.why_inapplicable(64, literal)
            assert bound.required_bits(64, tasks()["match3-last"]) > 0


def test_a_recorded_run_is_not_held_against_a_bound_that_says_nothing():
    found, task = protocol_bounds("match3-last", "rnn"), tasks()["match3-last"]
    assert bits_needed(found, task, 9)[0] == 4
    assert bits_needed(found, task.with_parameters(exclude_query=False), 9) == (None, "", [])


def test_a_run_has_learned_one_function_and_not_its_class():
    class_of_thresholds = tasks()["sparse-threshold"]
    member = class_of_thresholds.with_parameters(instance="disjointness")
    bound = bounds()["sparse-threshold-rnn"]
    assert bound.required_bits(8, class_of_thresholds) == 4 and bound.of_a_class(class_of_thresholds)
    assert bound.required_bits(8, member) == 4 and not bound.of_a_class(member)
    chosen = class_of_thresholds.with_parameters(function_seed=1)
    assert bound.required_bits(8, chosen) == 0 and "one member of the class" in bound.why_inapplicable(8, chosen)
    for task, bits in ((class_of_thresholds, None), (member, 4), (chosen, None)):
        assert bits_needed(protocol_bounds(task.name, "rnn"), task, 8)[0] == bits


def test_a_majority_is_not_disjointness():
    majority = tasks()["sparse-threshold"].with_parameters(instance="majority")
    assert exact_state_bits(majority, 8, 2, prefix=(2,)) < 4 == 8 // 2
    for bound in protocol_bounds():
        if "sparse-threshold" in bound.task_names:
            assert bound.required_bits(8, majority) == 0
            assert bound.required_bits(8, tasks()["sparse-threshold"]) == 4


@pytest.mark.parametrize("modulus", [2, 3, 4, 5])
def test_local_triple_matching_has_as_many_answers_as_the_bound_says(modulus):
    task = tasks()["match3-local"].with_parameters(modulus=modulus)
    for length in (1, 2, 3, 4):
        rows = [row for part in task.enumerate(length) for row in part.inputs.tolist()]
        answers = {tuple(task.solve(row, length)) for row in rows}
        assert 2 ** bounds()["first-layer-fnn"].required_bits(length, task) <= len(answers)
    assert bool(bounds()["first-layer-fnn"].why_inapplicable(4, task)) == (modulus <= 3)


@pytest.mark.parametrize(("name", "fits"), [("mqar", 8), ("associative-recall", 4)])
def test_recall_with_fewer_keys_than_pairs_has_no_inputs(name, fits):
    task = tasks()[name].with_parameters(keys=4)
    for bound in protocol_bounds():
        if name in bound.task_names:
            assert bound.required_bits(fits, task) == 4
            assert not bound.why_inapplicable(fits, task)
            assert bound.required_bits(fits + 2, task) == 0
            assert "there is no input" in bound.why_inapplicable(fits + 2, task)


@pytest.mark.parametrize("points", ["sphere", "hypercube"])
@pytest.mark.parametrize(("dimension", "margin"), [(1, "1/10"), (2, "1"), (3, "2/3"), (6, "1/2"), (6, "1/100")])
def test_nearest_neighbour_is_bounded_where_the_corners_keep_the_margin(points, dimension, margin):
    task = tasks()["nearest-neighbour"].with_parameters(points=points, dimension=dimension, margin=margin)
    bound, rooms = bounds()["nearest-neighbour-rnn"], []
    for length in range(2, 130, 2):
        if bound.why_inapplicable(length, task):
            assert bound.required_bits(length, task) == 0
            continue
        assert bound.required_bits(length, task) == length // 2
        rooms.append(length // 2)
    assert rooms == list(range(1, len(rooms) + 1))
    # Corners of blocks, first labelled by one party and then shown again by the other: the promise must hold.
    count = len(rooms)
    digits = numpy.array(list(product((-1, 1), repeat=max(1, bits_for(count)))))[:count]
    block = dimension // max(1, bits_for(count))
    corners = numpy.ones((count, dimension), dtype=numpy.int64)
    corners[:, : digits.shape[1] * block] = numpy.repeat(digits, block, axis=1)
    if points == "sphere":
        corners = corners * int(GRID / dimension**0.5)
    labels = numpy.zeros((1, 2 * count - 1), dtype=numpy.int64)
    cells = task.lay_out(numpy.concatenate([corners, corners])[None], labels)
    assert bool(task.admissible(cells, 2 * count).all())


def test_no_bound_on_nearest_neighbour_where_there_may_be_no_input():
    """Of a later half's N/2 points half have products of at most 9/10 with each other, and caps of half that angle do
    not overlap: in 16 dimensions there are fewer than 10^11, so that at N = 10^12 no input keeps the margin."""
    bound, task = bounds()["nearest-neighbour-rnn"], tasks()["nearest-neighbour"]
    assert bound.required_bits(1 << 17, task) == 1 << 16
    for length in ((1 << 17) + 2, 10**6, 10**12):
        assert bound.required_bits(length, task) == 0
        assert "choose a larger dimension" in bound.why_inapplicable(length, task)
    assert bound.longest_length(ModelSize(width=1, precision=32), task) is None
    wide = task.with_parameters(points="hypercube", dimension=40, margin="1/20")
    assert bound.required_bits(10**12, wide) == 10**12 // 2


# -- the formula with its numbers -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bound", "task", "parameters", "length", "words"),
    [
        ("dyck-transformer-1layer", "dyck", {}, 64, "≥ 63 = N - 1 (for Dyck-(2,2)) at N = 64"),
        ("dyck-transformer-1layer", "dyck", {"types": 1, "depth": 1}, 64, "≥ 0 = (N/2)·⌊log2 n⌋ (for Dyck-(1,1))"),
        ("dyck-transformer-1layer", "dyck", {"types": 4}, 64, "≥ 95 = (N/2)·⌊log2 n⌋ + N/2 - 1 (for Dyck-(4,2))"),
        ("match3-rnn", "match3", {"modulus": 8}, 64, "≥ 2 = ⌊(M - 4)/2⌋ from 0 on (M = 8) at N = 64"),
        ("match3-rnn", "match3", {"modulus": 67}, 64, "≥ 31 = ⌊(N - 1)/2⌋ (M ≥ N + 3) at N = 64"),
        ("match2-rnn", "match2", {"modulus": 8}, 64, "≥ 3 = ⌊(M - 1)/2⌋ (M = 8) at N = 64"),
        ("nearest-neighbour-rnn", "mqar", {}, 64, "≥ 32 = N/2 at N = 64"),
    ],
)
def test_the_formula_is_that_of_the_parameters(bound, task, parameters, length, words):
    chosen = tasks()[task].with_parameters(**parameters)
    assert words in bounds()[bound].formula(length, 32, task=chosen)


# -- on the command line ----------------------------------------------------------------------------------


def test_the_command_names_a_bound_that_says_nothing(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    arguments = ["match3-last", "--model", "rnn", "--length", "64", "--set", "exclude_query=False"]
    assert run(["bound", *arguments, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert not data["known"]
    assert data["bounds"] == data["evidence"] == []
    assert data["settings"] == {"exclude_query": False}
    assert [each["name"] for each in data["silent"]] == ["match3-rnn"]
    assert run(["bound", *arguments]) == 0
    out = capsys.readouterr().out
    assert "not about this" in out
    assert "match3-last exclude_query=False, rnn" in out


def test_the_command_says_when_a_statement_is_for_other_parameters(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    assert run(["bound", "dyck", "--model", "transformer-1layer", "--length", "64", "--set", "types=4"]) == 0
    out = capsys.readouterr().out
    assert "stated for other parameters" in out
    assert "as in the paper" not in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("index-lookup", "--model", "rnn", "--heads", "2"), "--heads 2 changes nothing for rnn"),
        (("index-lookup", "--model", "fnn", "--layers", "2"), "--layers 2 changes nothing for fnn"),
        (("dyck", "--model", "transformer-1layer", "--layers", "2"), "is for graph-transformer"),
    ],
)
def test_heads_and_layers_that_would_change_nothing_are_refused(capsys, arguments, said):
    assert run(["bound", *arguments, "--length", "8"]) == 2
    assert said in capsys.readouterr().err


def test_layers_of_a_graph_transformer_are_told(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    assert run(["bound", "directed-3-cycle", "--model", "graph-transformer", "--length", "8", "--layers", "3"]) == 0
    assert "H = 1, L = 3" in capsys.readouterr().out


# -- bounds of somebody's own -----------------------------------------------------------------------------

LEMMA = """
from separatrix.bounds import Evidence, ProtocolBound, Setting
from separatrix.bounds.simulations import FIRST_LAYER, ONE_LAYER, RECURRENT

BOUND = ProtocolBound(
    name="my-lemma", claim="a lemma [N/2]", statement="m[i] has [/2] of [red]them[/red]", task_names=("dyck",),
    models=("{model}",), extension=True, simulation={simulation}, problem="mine",
    hidden_bits=lambda task, length: {bits}, setting=lambda task, length: Setting({setting}), in_words="[my] words",
    checks=lambda limit: (Evidence("verified", "looked at", True),), assumptions=("[nothing]",),
)
"""


def judged(tmp_path, capsys, monkeypatch, model, simulation, bits="1", setting="positions=length", length=100):
    monkeypatch.setenv("COLUMNS", "160")
    path = tmp_path / "lemma.py"
    path.write_text(LEMMA.format(model=model, simulation=simulation, bits=bits, setting=setting))
    code = run(["--with", str(path), "bound", "dyck", "--model", model, "--length", str(length), "--details"])
    return code, *capsys.readouterr()


def test_brackets_in_the_words_of_a_lemma_are_printed(tmp_path, capsys, monkeypatch):
    code, out, _ = judged(tmp_path, capsys, monkeypatch, "rnn", "RECURRENT")
    assert code == 0
    for words in ("a lemma [N/2]: m[i] has [/2] of [red]them[/red]", "[my] words", "[nothing]"):
        assert words in out
    assert run(["--with", str(tmp_path / "lemma.py"), "list", "bounds"]) == 0
    assert "[red]them[/red]" in capsys.readouterr().out
    # A task about which no other bound for recurrent models speaks.
    told = (tmp_path / "lemma.py").read_text().replace('"dyck"', '"match3-local"')
    (tmp_path / "lemma.py").write_text(told)
    assert run(["--with", str(tmp_path / "lemma.py"), "capacity", "rnn-1-128", "--task", "match3-local"]) == 0
    assert "a lemma [N/2] †" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("model", "simulation", "setting", "said"),
    [
        ("transformer-1layer", "RECURRENT", "positions=length", "(BHBK24 Theorem 2) makes protocols of rnn"),
        ("rnn", "ONE_LAYER", "positions=length", "makes protocols of transformer-1layer"),
        ("transformer-1layer", "ONE_LAYER", "positions=1", "has positions=1 at length 100, where dyck has 100"),
        ("fnn", "FIRST_LAYER", "positions=length", "has numbers=1 at length 100, where dyck has 100"),
        ("transformer-1layer", "ONE_LAYER", "positions=length", "query_bits=0 at length 100, but the token that asks"),
    ],
)
def test_a_lemma_whose_protocol_is_another_models_or_too_short_is_refused(
    tmp_path, capsys, monkeypatch, model, simulation, setting, said
):
    code, out, err = judged(tmp_path, capsys, monkeypatch, model, simulation, setting=setting)
    assert (code, out) == (2, "")
    assert said in err


def test_a_lemma_that_asks_for_more_than_the_automaton_has_is_refuted(tmp_path, capsys, monkeypatch):
    code, out, _ = judged(tmp_path, capsys, monkeypatch, "rnn", "RECURRENT", bits="length // 4", length=1000)
    assert code == 1
    assert "asks for 250 bits at N = 1000, where a model with 3 bits does it" in out


@pytest.mark.parametrize(("types", "depth"), [(1, 1), (2, 2), (3, 1), (2, 3)])
def test_the_stack_of_brackets_has_the_states_of_the_automaton(types, depth):
    task = tasks()["dyck"].with_parameters(types=types, depth=depth)
    [fact] = special_facts("dyck", "rnn")
    length = 2 * depth + 2
    inputs = 2 * types
    if inputs**length <= 1 << 12:
        assert fact.size(task, length).memory_bits >= exact_state_bits(task, length, inputs)
    assert fact.size(task, length).memory_bits == bits_for(sum(types**each for each in range(depth + 1)) + 1)


def test_a_lemma_that_tells_the_query_is_not_refused(tmp_path, capsys, monkeypatch):
    told = "positions=length, query_bits=2"
    assert judged(tmp_path, capsys, monkeypatch, "transformer-1layer", "ONE_LAYER", setting=told)[0] == 0


def test_every_bound_of_the_package_could_be_somebodys_own():
    for bound in protocol_bounds():
        assert set(bound.models) <= set(bound.simulation.models)
        for name in bound.task_names:
            check_user_bound(bound, tasks()[name], max(8, tasks()[name].minimum_length))
