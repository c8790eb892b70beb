"""``separatrix bound``: numbers, evidence and plain words where nothing is known."""

import json

import pytest

from separatrix.cli.app import run
from separatrix.communication.bounds import bounds


@pytest.fixture
def call(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")

    def runner(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(["bound", *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return runner


def test_the_command_gives_width_formula_and_evidence(call):
    arguments = ("dyck", "--model", "transformer-1layer", "--length", "400", "--precision", "32")
    code, out, _ = call(*arguments, "--json")
    data = json.loads(out)
    assert code == 0
    assert data["quantity"] == "width"
    assert data["at_least"] == 4
    assert "64m) ≥ 399" in data["formula"]
    assert "Theorem 5" in data["claim"]
    assert all(each["holds"] for each in data["evidence"])
    assert data["provenance"]["arithmetic"] == "integers"
    code, out, _ = call(*arguments)
    assert code == 0
    assert "smallest width" in out
    assert "fooling set" in out


def test_heads_and_parameters_count(call):
    _, out, _ = call("dyck", "--model", "transformer-1layer", "--length", "4000", "--heads", "8", "--json")
    assert json.loads(out)["at_least"] == bounds()["dyck-transformer-1layer"].smallest_width(4000, 32, 8)
    asked = ("sparse-averaging", "--model", "transformer-1layer", "--length", "200", "-p", "1")
    _, out, _ = call(*asked, "--set", "sparsity=60", "--json")
    assert json.loads(out)["at_least"] == 4  # 4 + 2·8 + m(2 + 8) ≥ 60
    _, out, _ = call("index-lookup", "--model", "rnn", "--length", "1024", "--json")
    data = json.loads(out)
    assert (data["at_least"], data["strongest"]["at_least"]) == (32, 192)


@pytest.mark.parametrize(
    ("task", "model", "said"),
    [
        ("match3", "transformer-2layer", "conjectured"),
        ("equality", "transformer-2layer", "Corollary 13.1"),
        ("majority", "rnn", "a counter of ones"),
        ("associative-recall", "transformer-1layer", "no bound known"),
        ("dyck", "graph-transformer", "no bound known"),
    ],
)
def test_no_bound_is_said_plainly(call, task, model, said):
    code, out, _ = call(task, "--model", model, "--length", "400")
    assert code == 0
    assert "no bound known" in out
    assert said in " ".join(out.split())
    code, out, _ = call(task, "--model", model, "--length", "400", "--json")
    assert code == 0
    data = json.loads(out)
    assert data["at_least"] is None
    assert data["known"] is False


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("dyck", "--model", "lstm", "--length", "4"), "unknown class of models"),
        (("dyk", "--model", "rnn", "--length", "4"), "nearest: dyck"),
        (("dyck", "--model", "rnn", "--length", "5"), "steps of 2"),
        (("dyck", "--model", "rnn", "--length", "4", "--precision", "0"), "--precision 0"),
        (("dyck", "--model", "rnn", "--length", "4", "--heads", "0"), "--heads 0"),
        (("dyck", "--model", "rnn", "--length", "4", "--limit", "20"), "--limit 20"),
        (("dyck", "--model", "rnn", "--length", "4", "--set", "typs=3"), "unknown parameter"),
    ],
)
def test_bad_input_is_one_line(call, arguments, said):
    code, _, err = call(*arguments)
    assert code == 2
    assert said in err
    assert err.count("\n") == 1
