"""The functions of ``import separatrix as sx``: light to import, and each answers with a record that shows itself."""

import json
import re
import subprocess
import sys
from dataclasses import FrozenInstanceError
from html.parser import HTMLParser

import numpy as np
import pytest

import separatrix as sx
from separatrix.answer import Answer, Fact, Grid, Sheet, show, to_html, to_page
from separatrix.capacities import Budget

HEAVY = {"numpy", "torch", "rich", "typer", "flint", "pydantic", "matplotlib"}


def palindrome(bits):
    return bits == bits[::-1]


class Balanced(HTMLParser):
    """Fails on a tag that is closed in the wrong order or never."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def test_importing_loads_no_room():
    program = "import sys, separatrix; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not HEAVY & set(ended.stdout.split())


def test_every_function_is_there_documented_and_typed():
    functions = [name for name in sx.__all__ if name.islower() and not name.startswith("_")]
    assert len(functions) == 10 and set(functions) <= set(dir(sx))
    for name in functions:
        function = getattr(sx, name)
        assert ">>>" in function.__doc__
        assert "return" in function.__annotations__
    with pytest.raises(AttributeError):
        _ = sx.no_such_thing


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    folder = tmp_path_factory.mktemp("answers")
    store = folder / "runs.sqlite"
    return {
        "certify": sx.certify("index-lookup", 16, out=folder / "lookup"),
        "check": sx.check(folder / "lookup"),
        "bound": sx.bound("equality", "rnn", 32, limit=3),
        "bound of a function": sx.bound(palindrome, "transformer-1layer", 6),
        "profile": sx.profile(palindrome, 6, model="LSTM-(1,8)"),
        "capacity": sx.capacity("lstm-3-256", tasks=["index-lookup"], length=64),
        "capacity of a hybrid": sx.capacity("jamba-v0.1", tasks=["mqar"]),
        "capacity under a budget": sx.capacity("jamba-v0.1", tasks=["mqar"], budget=Budget(tokens=64)),
        "design": sx.design("equality", 8),
        "design of a function": sx.design(palindrome, 6),
        "sample": sx.sample("dyck:depth=3", 8, 2),
        "dataset": sx.dataset("mqar", length=8, count=3),
        "train": sx.train("majority", "RNN-(1,4)", 4, rates=[0.01], steps=4, store=store, examples=32, batch=4),
        "compare": sx.compare(
            "RNN", ["LSTM"], ["majority"], steps=5, length=4, width=4, layers=1, rates=[0.01], examples=32, batch=4,
            store=store,
        ),
    }  # fmt: skip


def test_every_answer_shows_itself_in_all_three_ways(answers):
    for name, answer in answers.items():
        assert isinstance(answer, Answer), name
        sheet = answer.sheet()
        words = [fact.text for fact in sheet.facts] + [
            cell for grid in sheet.grids for row in grid.rows for cell in row
        ]
        assert words, name
        page = Balanced(answer._repr_html_())
        assert {word for word in words if word} <= set(page.texts), name
        assert words[0].split()[0] in repr(answer), name
        assert json.loads(json.dumps(answer.as_dict())), name


def test_records_are_frozen(answers):
    for name, answer in answers.items():
        if name != "dataset":  # a torch dataset is no dataclass
            with pytest.raises(FrozenInstanceError):
                answer.length = 3


def test_the_numbers_are_those_of_the_command_line(answers, tmp_path, monkeypatch, capsys):
    from separatrix.cli.app import run

    monkeypatch.chdir(tmp_path)
    run(["bound", "equality", "--model", "rnn", "--length", "32", "--limit", "3", "--json"])
    told = json.loads(capsys.readouterr().out)
    del told["provenance"]
    assert told == json.loads(json.dumps(answers["bound"].as_dict()))
    run(["certify", "index-lookup", "--length", "16", "--out", "lookup", "--json"])
    told, mine = json.loads(capsys.readouterr().out), json.loads(json.dumps(answers["certify"].as_dict()))
    assert {key for key in mine if told[key] != mine[key]} <= {"seconds", "certificate"}


def test_a_claim_that_fails_is_false_and_shows_the_input(tmp_path):
    from fractions import Fraction

    from separatrix.constructions import Options

    found = sx.certify("index-lookup", 16, Options(gain=Fraction(1, 100)), out=tmp_path)
    assert not found and found.state == "refuted"
    assert "counterexample" in [fact.label for fact in found.sheet().facts]
    again = sx.check(tmp_path / "refuted.json", replay=True)
    assert not again and again.counterexample == found.counterexample


def test_capacity_takes_names_configs_files_and_modules(tmp_path):
    import torch

    config = {"model_type": "lstm", "hidden_size": 16, "num_layers": 2}
    file = tmp_path / "config.json"
    file.write_text(json.dumps(config))
    module = torch.nn.LSTM(8, 16, num_layers=2)
    kept = [sx.capacity(each) for each in (config, file, str(file))]
    assert {each.state_bits for each in kept} == {2 * 2 * 16 * 32}
    assert sx.capacity(module).bytes_at[64] == 2 * 2 * 16 * 4
    asked = sx.capacity(module, precision=8, tasks=["index"], length=600)
    assert [(each.task, each.impossible_at_length) for each in asked.card.limits] == [("index", True)]
    assert sx.capacity(module, tasks=["index"], length=600).card.limits[0].impossible_at_length is False
    assert sx.capacity("state-spaces/mamba-130m").name == "mamba-130m"
    assert sx.capacity("LSTM-(2,16)").state_bits == kept[0].state_bits
    with pytest.raises(sx.SeparatrixError, match="nearest"):
        sx.capacity("mamba-131m")


def test_bad_input_ends_in_one_line():
    for call in (
        lambda: sx.certify("index-lokup", 16),
        lambda: sx.bound("dyck", "rnn", 7),
        lambda: sx.bound("dyck", "rnn", 8, heads=2),
        lambda: sx.bound(palindrome, "fnn", 6),
        lambda: sx.profile(3, 4),
        lambda: sx.sample("dyck", 8, 0),
        lambda: sx.design("dyk", 8),
        lambda: sx.check("nowhere"),
        lambda: sx.dataset("dyck", 8, "test"),
        lambda: sx.compare("RNN", tasks=[]),
        lambda: sx.compare("RNN", budget="soon"),
    ):
        with pytest.raises(sx.SeparatrixError) as error:
            call()
        assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: sx.certify("index-lookup", "1024"), "length='1024'"),
        (lambda: sx.certify(None, 8), "construction=None"),
        (lambda: sx.check(3), "folder=3"),
        (lambda: sx.design("mqar", None), "length=None"),
        (lambda: sx.compare(None), "layer=None"),
        (lambda: sx.compare("RNN", "LSTM"), "against='LSTM'"),
        (lambda: sx.bound("index-lookup", None, 8), "model=None"),
        (lambda: sx.dataset(4, 8), "task=4"),
        (lambda: sx.capacity(5), "5"),
    ],
)
def test_an_argument_of_a_wrong_type_is_named(call, named):
    with pytest.raises(sx.SeparatrixError, match=re.escape(named)):
        call()


def test_integers_of_numpy_are_integers():
    assert sx.design("majority", np.int64(64)).found.length == 64


def test_the_bound_of_a_decision_is_met_from_above():
    for function, length in ((palindrome, 8), (lambda bits: sum(bits) % 3 == 0, 6)):
        found = sx.bound(function, "rnn", length, precision=1)
        assert found.upper_bounds[0].growth == f"{found.at_least} bits of state"


def first_bit_is(value):
    return lambda bits: bits[0] == value


def test_a_function_keeps_its_answers_whatever_else_has_its_name(tmp_path):
    first = sx.dataset(first_bit_is(1), length=6, split="train", count=20)
    answers = [example["labels"].tolist() for example in first]
    sx.dataset(first_bit_is(0), length=6, split="train", count=20)
    assert [example["labels"].tolist() for example in first] == answers


def test_a_record_of_another_function_of_the_name_is_not_taken(tmp_path):
    def trained(function, **also):
        given = {"rates": [1e-2], "steps": 2, "examples": 16, "store": tmp_path / "runs.sqlite"}
        return sx.train(function, "LSTM-(1,4)", 4, **given, **also)

    one = trained(first_bit_is(1))
    assert trained(first_bit_is(1)).accuracy == one.accuracy
    with pytest.raises(sx.SeparatrixError, match="fresh"):
        trained(first_bit_is(0))
    assert trained(first_bit_is(0), fresh=True).runs[0].result.step == 2


def test_parameters_keep_their_types():
    records = (sx.bound("mqar", "rnn", 64, limit=2), sx.design("mqar", 64), sx.dataset("mqar", length=8, split="train"))
    for record in records:
        assert record.as_dict()["parameters"] == {"keys": None, "labels": 2}


def test_text_of_anyone_is_not_taken_for_markup(capsys):
    from rich.console import Console

    evil = "[red]<script>alert(1)</script>[/nothing]"
    sheet = Sheet(evil, (Fact(evil, evil, "bad"),), (Grid(evil, (evil,), ((evil,),), {(0, 0): "good"}),), (evil,))
    show(sheet, Console(width=200))
    assert capsys.readouterr().out.count("<script>") == 7
    assert "<script>" not in to_html(sheet) + to_page(sheet)
    Balanced(to_page(sheet).partition("\n")[2])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"rates": 0.1}, r"rates=\[0.1\]"), ({"rates": "0.1"}, r"rates=\['0.1'\]"), ({"seeds": 0}, r"seeds=\[0\]"),
        ({"stpes": 3}, "nearest: steps"), ({"steps": 0}, "steps"),
    ],
)  # fmt: skip
def test_wrong_fields_of_training_are_refused_in_one_line(tmp_path, wrong, said):
    with pytest.raises(sx.SeparatrixError, match=said):
        sx.train("majority", "TF-(1,8)", 4, store=tmp_path / "runs.sqlite", **wrong)
    assert list(tmp_path.iterdir()) == []


def test_a_notebook_shows_a_record_once(monkeypatch):
    """In a notebook rich writes to the notebook, whatever file it is given; the text must still be the record's own."""
    outside = repr(sx.bound("index-lookup", "rnn", 64, limit=1))
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    monkeypatch.setattr("rich.jupyter.display", lambda *given: pytest.fail("shown besides what is returned"))
    assert repr(sx.bound("index-lookup", "rnn", 64, limit=1)) == outside != ""
