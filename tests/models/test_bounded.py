"""What the bounds read of our architectures: ``capacity`` and ``bound`` take them, and say the same about them."""

import json
from pathlib import Path

import pytest

from separatrix.cli.app import run
from separatrix.models.architecture import architectures
from separatrix.models.bounded import bounded_as, constant_state, layer_keeps
from separatrix.models.naming import parse_spec

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_mixer.py"
NAMES = [
    *(f"{entry.short}-(2,64)" for entry in architectures().values()),
    *(f"{entry.short}-(1,64)" for entry in architectures().values()),
    "LSTM,Mamba-(4,32)", "LSTM,FNN,TF-(3,64)", "Mamba,TF-(2,64)", "TF-(1,64,heads=8)",
    f"{EXAMPLE}:ForgettingAverage-(2,64)", "tests.models.user_modules:Average-(1,64)",
]  # fmt: skip


def told(capsys, *arguments: str) -> dict:
    assert run([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", NAMES)
def test_capacity_and_bound_put_a_model_into_the_same_class(capsys, name):
    spec, precision = parse_spec(name), 16
    capacity = told(capsys, "capacity", name, "--precision", str(precision), "--task", "directed-3-cycle")
    found = bounded_as(spec, 400, precision)
    if found is None or found[0] in ("third-order", "transformer-2layer"):
        # Classes about which the bounds of capacity say nothing.
        assert capacity["bounds_apply"] == []
        assert all(limit["scope"] == "one layer alone" for limit in capacity["limits"])
        return
    kind, size = found
    assert capacity["bounds_apply"] == [kind]
    bound = told(
        capsys, "bound", "directed-3-cycle", "--model", name, "--length", "12", "--precision", str(precision)
    )["architecture"]  # fmt: skip
    assert bound["class"] == kind
    limits = [limit["longest_possible"] for limit in capacity["limits"] if limit["class"] == kind]
    assert limits == [bound["longest_possible"]]
    if kind == "rnn":
        assert capacity["state_bits"] == size.memory_bits == bound["state_bits"]


def test_what_waits_for_a_feed_forward_network_hands_on_nothing_before_it():
    spec = parse_spec("LSTM,FNN,TF,LSTM-(4,64)")
    assert [layer_keeps(spec, layer, 8)[0] for layer in range(4)] == [2 * 64 * 8, 64 * (2 * 8 + 48), 0, 0]
    # Alone they keep keys and values of the whole input, and the state.
    assert layer_keeps(parse_spec("TF-(1,64)"), 0, 8) is None
    assert not constant_state(parse_spec("LSTM,TF-(2,64)"))


def test_anyones_own_module_is_recurrent_where_it_says_so(capsys):
    own = told(capsys, "capacity", f"{EXAMPLE}:ForgettingAverage-(2,64)")
    assert own["state_numbers"] == 128 and own["layers"][0]["kind"] == "recurrent"
    silent = told(capsys, "capacity", "tests.models.user_modules:Average-(2,64)")
    assert silent["state_numbers"] is None
    assert "it is not stated what is passed" in silent["reason"]
    assert "state_numbers(width, length)" in silent["reason"]
    assert "reads the whole input" not in silent["reason"]
    assert run(["capacity", "tests.models.user_modules:Average-(1,64)"]) == 0
    shown = capsys.readouterr().out
    assert "not stated" in shown
    assert "grows" not in shown
    assert run(["bound", "index-lookup", "--length", "9", "--model", "tests.models.user_modules:Average-(1,64)"]) == 2
    assert "state_numbers(width, length)" in capsys.readouterr().err


def test_capacity_and_bound_take_numbers_of_the_same_bits(capsys):
    """Without --precision: this package's models compute in float32, published ones keep their state in it."""
    name = "Mamba-(2,64)"
    one, other = told(capsys, "capacity", name), told(capsys, "bound", "index-lookup", "--length", "400", "-m", name)
    assert one["precision_bits"] == other["precision_bits"] == 32
    assert one["state_bits"] == other["architecture"]["state_bits"] == 32 * one["state_numbers"]
    assert other["quantity"] == "state numbers"
    assert told(capsys, "capacity", "mamba-130m")["precision_bits"] == 32
    assert run(["bound", "index-lookup", "--length", "400", "-m", name]) == 0
    shown = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "smallest state 75 numbers of 32 bits" in shown
    assert "as in 4,864 numbers" in shown
    assert "width" not in shown


MODULES = "tests.models.user_modules"
ASKED = ["bound", "index-lookup", "--length", "400", "--model"]


def test_what_a_module_states_is_asked_with_its_options_and_said_to_be_assumed(capsys):
    # The constructor's default is 4, whatever the default in the statement is.
    for options, numbers in (("", 3 * 16), (",kernel=9", 8 * 16)):
        name = f"{MODULES}:Window-(1,16{options})"
        assert parse_spec(name).state_numbers(400) == numbers
        bound = told(capsys, *ASKED, name)["architecture"]
        assert (bound["class"], bound["state_bits"]) == ("rnn", 32 * numbers)
        assert bound["assumed"] == [
            f"what {MODULES}:Window carries past a cut is the module's own statement (state_numbers)"
        ]
        assert "own statement" in told(capsys, "capacity", name)["notes"][0]
    assert run([*ASKED, f"{MODULES}:Window-(1,16)"]) == 0
    assert "own statement" in " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert told(capsys, *ASKED, "LSTM-(1,16)")["architecture"]["assumed"] == []


def test_a_module_that_looks_ahead_is_no_recurrent_model(capsys):
    assert parse_spec(f"{MODULES}:Boasting-(1,16)").state_numbers(400) == 16 * 400
    assert run([*ASKED, f"{MODULES}:Boasting-(1,16)"]) == 2
    assert "Boasting looks ahead in a trial, so that its state_numbers are not used" in capsys.readouterr().err


def test_a_module_without_state_is_excluded_at_every_length(capsys):
    assert run([*ASKED, f"{MODULES}:Pointwise-(1,16)"]) == 0
    assert "no weights will do at any length" in " ".join(capsys.readouterr().out.replace("│", " ").split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["capacity", "TF-(1,64,heads=3)"], "heads=3 does not divide width 64"),
        (["capacity", "Transfomer-(1,64)"], "nearest: transformer"),
        (["capacity", "fla:GatedLinearAttention-(1,64)"], "pip install 'flash-linear-attention[cuda]'"),
        (["capacity", "LSTM-(1,64)", "--precision", "0"], "precision 0 is out of range"),
        (["bound", "index-lookup", "--model", "Mamba,TF-(2,64)", "--length", "9"], "no class of models"),
        (
            ["bound", "index-lookup", "--model", "Mamba,TF-(2,64)", "--length", "9"],
            "1 attention over the whole input next to 1 layer",
        ),
        ([*ASKED, f"{MODULES}:Window,TF-(2,16)"], "1 attention over the whole input next to 1 layer"),
        ([*ASKED, "mamba"], "such as 'Mamba-(2,64)'; published models are asked about by separatrix capacity"),
        ([*ASKED, "mamba-130m"], "ask separatrix capacity mamba-130m --task index-lookup"),
        ([*ASKED, f"{MODULES}:Vague-(1,16)"], "is 'many'; expected a whole number from 0 on"),
        ([*ASKED, f"{MODULES}:Forgetful-(1,16)"], "is 0, and its outputs depend on earlier positions"),
        (["train", "index-lookup", "tests.models.user_modules:Narrow-(1,16)", "--length", "4"], "returned (2, 5, 3)"),
    ],
)
def test_bad_models_are_refused_in_one_line(capsys, monkeypatch, tmp_path, arguments, words):
    monkeypatch.setenv("SEPARATRIX_STORE", str(tmp_path / "runs.sqlite"))
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and words in captured.err
    assert len(captured.err.splitlines()) == 1
