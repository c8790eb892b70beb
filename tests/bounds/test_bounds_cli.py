"""``separatrix bound``: numbers, evidence and plain words where nothing is known."""

import itertools
import json
import re
import shlex

import pytest

from separatrix.bounds import MODELS, bounds, bounds_for, strongest_first
from separatrix.cli.app import run
from separatrix.table.separation import lower_sides
from separatrix.tasks import tasks


@pytest.fixture
def call(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")

    def runner(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(["bound", *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return runner


@pytest.mark.parametrize("length", [1001, 1_000_001])
def test_a_member_of_a_class_is_refused_at_a_length_that_it_does_not_have(length, capsys):
    arguments = ["bound", "sparse-threshold", "--model", "rnn", "--limit", "1", "--length"]
    assert run([*arguments, str(length), "--set", "instance=disjointness"]) == 2
    assert "even length" in capsys.readouterr().err
    assert run([*arguments, str(length + 1), "--set", "instance=disjointness"]) == 0
    assert run([*arguments, str(length)]) == 0


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
    code, out, _ = call(*arguments, "--details")
    assert code == 0
    assert "smallest width" in out
    assert "fooling set" in out
    code, brief, _ = call(*arguments)
    assert code == 0
    assert len(brief) < len(out)
    assert {line for line in brief.splitlines() if "m ≥ 4" in line}


def test_heads_and_parameters_count(call):
    _, out, _ = call("dyck", "--model", "transformer-1layer", "--length", "4000", "--heads", "8", "--json")
    assert json.loads(out)["at_least"] == bounds()["dyck-transformer-1layer"].smallest_width(4000, 32, 8)
    asked = ("sparse-averaging", "--model", "transformer-1layer", "--length", "200", "-p", "1")
    _, out, _ = call(*asked, "--set", "sparsity=60", "--json")
    assert json.loads(out)["at_least"] == 4  # 4 + 2·8 + m(2 + 8) ≥ 60
    _, out, _ = call("index-lookup", "--model", "rnn", "--length", "1024", "--json")
    assert json.loads(out)["at_least"] == 192


def test_the_strongest_bound_stands_first_and_the_papers_is_marked(call):
    arguments = ("index-lookup", "--model", "rnn", "--length", "1024", "--precision", "16")
    _, out, _ = call(*arguments, "--json")
    data = json.loads(out)
    assert (data["at_least"], data["in_the_papers"]) == (384, False)
    assert data["strongest"]["at_least"] == data["at_least"]
    assert data["strongest_of_the_papers"] == {"name": "index-lookup-rnn", "claim": "BHBK24 Theorem 3", "at_least": 64}
    # What the atlas shows in its cell is the same number.
    first = lower_sides("index-lookup", "rnn", 1024)[0]
    assert int(first.number) == data["bounds"][0]["bits_needed"] == 6144
    _, out, _ = call(*arguments, "--details")
    said = " ".join(out.replace("│", " ").split())
    assert "smallest state 384 numbers of 16 bits, for 6144 bits" in said
    assert "derived here, not in the papers" in said
    assert "in the papers state numbers: 64; BHBK24 Theorem 3" in said


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("task", tasks())
def test_the_headline_is_the_largest_of_all_bounds(task, model):
    chosen = tasks()[task]
    length = chosen.minimum_length + 8 * chosen.length_step
    found = strongest_first(bounds_for(task, model), length, 8, task=chosen)
    widths = [bound.smallest_width(length, 8, task=chosen) for bound in found]
    assert widths == sorted(widths, reverse=True)
    for one, next_one in itertools.pairwise(found):
        same = one.smallest_width(length, 8, task=chosen) == next_one.smallest_width(length, 8, task=chosen)
        assert not (same and one.extension and not next_one.extension)


@pytest.mark.parametrize(
    ("task", "model", "said"),
    [
        ("match3", "transformer-2layer", "conjectured"),
        ("equality", "transformer-2layer", "Corollary 13.1"),
        ("match3-local", "rnn", "the T numbers before the last one"),
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
        (("mine.py:inner", "--model", "rnn", "--length", "4"), "mine.py"),
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


@pytest.mark.parametrize(
    ("task", "model", "kind", "possible", "longest"),
    [
        ("index-lookup", "LSTM-(3,256)", "rnn", True, 8192),
        ("index-lookup", "RNN-(1,16)", "rnn", False, 85),
        ("index-lookup", "Mamba,Mamba-(2,16)", "rnn", True, None),
        ("index-lookup", "FNN-(1,1)", "rnn", False, 18),
        ("dyck", "TF-(1,64,heads=4)", "transformer-1layer", True, None),
        ("equality", "TF-(1,64,heads=4)", "transformer-1layer", True, 5122),
        ("disjointness", "TF-(1,2)", "transformer-1layer", False, 386),
        ("equality", "TF-(2,64)", "transformer-2layer", True, None),
        ("match3", "ThirdTF-(1,8)", "third-order", True, None),
        ("directed-3-cycle", "GraphTF-(2,4)", "graph-transformer", True, None),
    ],
)
def test_one_of_our_models_is_judged_by_its_size(call, task, model, kind, possible, longest):
    code, out, _ = call(task, "--model", model, "--length", "400", "--json")
    assert code == 0
    own = json.loads(out)["architecture"]
    assert (own["class"], own["possible"]) == (kind, possible)
    assert bool(own["excluded_by"]) is not possible
    assert own["arithmetic"] or kind in ("transformer-2layer", "third-order") or task == "dyck"
    assert longest is None or own["longest_possible"] == longest
    code, out, _ = call(task, "--model", model, "--length", "400")
    assert code == 0
    assert ("impossible with any weights" in " ".join(out.split())) is not possible


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--model", "TF-(3,64)"), "TF-(3,64) is in no class of models"),
        (("--model", "LSTM,TF-(2,64)"), "LSTM,TF-(2,64) is in no class of models"),
        (("--model", "TF-(1,64)", "--heads", "4"), "TF-(1,64) says its own"),
        (("--model", "TFF-(1,64)"), "unknown architecture 'TFF'"),
    ],
)
def test_models_that_no_bound_speaks_about_are_refused(call, arguments, said):
    code, _, err = call("index-lookup", *arguments, "--length", "400")
    assert code == 2
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("model", ["transformer-2layer", "rnn", "transformer-1layer"])
def test_commands_that_the_evidence_cites_run(model, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["bound", "equality", "--model", model, "--length", "16", "--json"]) == 0
    cited = re.findall(r"`separatrix ([^`]+)`", capsys.readouterr().out)
    assert cited
    for command in cited:
        assert run(shlex.split(command)) == 0


@pytest.mark.parametrize("arithmetic", ["float32", "bfloat16", "float16"])
def test_dyck_in_one_layer_of_floats_has_no_verdict(call, arithmetic):
    code, out, _ = call(
        "dyck", "--model", "transformer-1layer", "--length", "8192", "--arithmetic", arithmetic, "--json"
    )
    told = json.loads(out)
    assert code == 0
    assert not told["known"] and told["bounds"] == []
    assert told["arithmetic"] == arithmetic
    assert [each["name"] for each in told["silent"]] == ["dyck-transformer-1layer"]
    assert any("dyck-float" in each["text"] for each in told["known_from_above"])


def test_a_verdict_names_its_arithmetic(call):
    asked = ("equality", "--model", "transformer-1layer", "--length", "8192", "--json", "--limit", "2")
    fixed, floats = (json.loads(call(*asked, *more)[1]) for more in ((), ("--arithmetic", "bfloat16")))
    assert "exact before they are rounded" in fixed["arithmetic"]
    assert "bfloat16" in floats["arithmetic"]
    assert (fixed["precision_bits"], floats["precision_bits"]) == (32, 16)
    assert all(each["arithmetic"] for each in (*fixed["bounds"], *floats["bounds"]))
    _, out, _ = call("equality", "--model", "TF-(1,16)", "--length", "8192", "--json", "--limit", "2")
    own = json.loads(out)["architecture"]
    assert not own["possible"] and "float32" in own["arithmetic"][0]
    assert own["partial_sums"] == 6


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--arithmetic", "float32", "--precision", "16"), "--precision 16 and --arithmetic float32"),
        (("--arithmetic", "float12"), "unknown arithmetic of a model"),
    ],
)
def test_an_arithmetic_that_does_not_fit_ends_in_one_line(call, more, said):
    code, _, err = call("dyck", "--model", "transformer-1layer", "--length", "64", *more)
    assert code == 2
    assert said in err and err.count("\n") == 1
