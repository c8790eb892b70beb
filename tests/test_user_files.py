"""Users' files on the command line: their entries are in the catalogs for one command and no longer."""

import json
import os
import sys
from pathlib import Path

import pytest

from separatrix.bounds import bounds
from separatrix.cli.app import run
from separatrix.constructions import constructions
from separatrix.errors import SeparatrixError
from separatrix.table.separation import lower_sides
from separatrix.tasks import tasks
from separatrix.user_files import VARIABLE, user_modules, using_files
from tests.test_examples import FILE, ROOT

GUIDES = ROOT / "docs" / "how-to"
FILES = dict(FILE.findall((GUIDES / "own-theorem.md").read_text(encoding="utf-8")))
LEMMA, LOOKUP = FILES["majority_lemma.py"], FILES["binary_lookup.py"]
TASK = dict(FILE.findall((GUIDES / "own-task.md").read_text(encoding="utf-8")))["ends_agree.py"]
BITS = "bits_for(length // 2 + 1)"
ASKED = ["bound", "majority", "--model", "rnn", "--length", "1000", "--precision", "1"]


def written(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def test_a_task_and_a_construction_are_known_for_one_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    ends = written(tmp_path, "ends_agree.py", TASK)
    lookup = written(tmp_path, "binary_lookup.py", LOOKUP)
    assert run(["--with", ends, "--with", lookup, "sample", "ends-agree", "--length", "6"]) == 0
    assert "Ends agree" in capsys.readouterr().out
    assert run(["--with", lookup, "certify", "binary-lookup", "--length", "8", "--out", "made"]) == 0
    assert run(["check", "made"]) == 0
    assert "binary-lookup" not in constructions()
    assert "ends-agree" not in tasks()
    assert not {"ends_agree", "binary_lookup"} & set(sys.modules)
    assert VARIABLE not in os.environ


def test_an_edited_file_is_run_again(tmp_path):
    path = Path(written(tmp_path, "lemma_again.py", LEMMA))
    for name in ("majority-mine", "majority-nine"):
        path.write_text(LEMMA.replace("majority-mine", name), encoding="utf-8")
        with using_files([path]):
            assert bounds()[name].claim == "a lemma of mine"


def test_an_own_bound_is_told_with_its_evidence_and_an_inflated_one_is_refuted(tmp_path, capsys):
    assert run(["--with", written(tmp_path, "lemma.py", LEMMA), *ASKED]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "m ≥ 9" in told
    assert "refuted" not in told
    inflated = written(tmp_path, "inflated.py", LEMMA.replace(BITS, f"1 + {BITS}"))
    assert run(["--with", inflated, *ASKED]) == 1
    assert "requires 2 bits at N = 2, where 1 are enough" in " ".join(capsys.readouterr().out.replace("│", " ").split())
    fooled = written(tmp_path, "fooled.py", LEMMA.replace("half - ones", "half + 1 - ones"))
    assert run(["--with", fooled, *ASKED]) == 1


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("lemma.py", LEMMA.replace(BITS, "length ** 0.5"), "gives 31.6"),
        ("lemma.py", LEMMA.replace(BITS, "length / 0"), "lemma.py, line 36: ZeroDivisionError"),
        ("lemma.py", "import nothing_of_that_name", "could not be loaded: ModuleNotFoundError"),
        ("lemma.py", "raise ModuleNotFoundError('gone', name='torch.nn')", "pip install 'separatrix[train]'"),
        ("lemma.py", "raise SystemExit(3)", "could not be loaded: SystemExit: 3"),
        ("lemma.py", "x = (", "could not be loaded: SyntaxError"),
        ("lemma.py", "BOUND = 3", "BOUND is 3; a catalog entry must be a Bound"),
        ("lemma.py", "x = 1", "exports none of TASK"),
        ("lemma.py", LEMMA.replace("majority-mine", "dyck-transformer-1layer"), "two bounds are named"),
        ("json.py", LEMMA, "rename the file"),
        ("a-lemma.py", LEMMA, "rename the file"),
        ("lemma.txt", LEMMA, "must end in .py"),
    ],
)
def test_a_file_that_cannot_be_used_ends_in_one_line(tmp_path, capsys, name, text, said):
    assert run(["--with", written(tmp_path, name, text), *ASKED]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert len(told.splitlines()) == 1
    assert user_modules() == ()
    assert "lemma" not in sys.modules


def test_a_file_may_ask_for_the_catalogs_while_it_is_run(tmp_path, monkeypatch):
    """Workers find the files in the environment, so that the first catalog asked for runs them."""
    text = LEMMA + "\nKNOWN = len(tasks())\nassert 'majority-mine' not in __import__('separatrix').__dict__\n"
    monkeypatch.setenv(VARIABLE, written(tmp_path, "asking.py", text))
    try:
        assert "majority-mine" in bounds()
        assert len(tasks()) == user_modules()[0].KNOWN
    finally:
        with using_files([tmp_path / "asking.py"]):
            pass
    assert "asking" not in sys.modules


def test_a_construction_that_makes_no_network_is_refused(tmp_path, capsys):
    text = LOOKUP.replace("return Network(", "return print if length else Network(")
    assert run(["--with", written(tmp_path, "nothing.py", text), "certify", "binary-lookup", "--length", "8"]) == 2
    assert "network of binary-lookup returned builtin_function_or_method" in capsys.readouterr().err


def test_a_path_with_the_separator_of_the_environment_is_refused(tmp_path):
    with pytest.raises(SeparatrixError, match="rename it"), using_files([tmp_path / f"a{os.pathsep}b.py"]):
        pass


def test_certify_refuses_a_task_whose_two_answers_differ(tmp_path, capsys):
    task = TASK.replace("inputs[:, :1] ==", "inputs[:, :1] !=")
    network = LOOKUP.replace('"index-lookup"', '"ends-agree"')
    text = task + network.replace('task.parameters()["alphabet"]', "2")
    assert run(["--with", written(tmp_path, "both.py", text), "certify", "binary-lookup", "--length", "4"]) == 2
    assert "label and solve disagree" in capsys.readouterr().err


def told_by(capsys) -> str:
    return " ".join(capsys.readouterr().out.replace("│", " ").split())


FALSE = LEMMA.replace(BITS, f"2 * {BITS}")
WHY = "requires 2 bits at N = 2, where 1 are enough"


def test_a_refuted_bound_is_the_first_row_and_no_headline(tmp_path, capsys):
    false = written(tmp_path, "false_lemma.py", FALSE)
    assert run(["--with", false, *ASKED]) == 1
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("│")]
    assert "REFUTED" in rows[0]
    assert "smallest state" not in "".join(rows)
    assert run(["--with", false, *ASKED, "--json"]) == 1
    result = json.loads(capsys.readouterr().out)
    assert (result["known"], result["holds"], result["at_least"]) == (False, False, None)
    assert [each["name"] for each in result["bounds"]] == ["majority-rnn"]
    assert result["refuted"][0]["from_file"] == "false_lemma.py"
    assert WHY in result["refuted"][0]["text"]


def test_a_bound_that_turns_false_beyond_what_is_listed_is_refuted_at_the_length_asked_for(tmp_path, capsys):
    late = written(tmp_path, "late_lemma.py", LEMMA.replace(BITS, f"{BITS} if length < 13 else 100 * length"))
    assert run(["--with", late, *ASKED]) == 1
    assert "requires 100000 bits at N = 1000, where 1000 are enough: the whole input has no more" in told_by(capsys)
    assert run(["--with", late, "capacity", "LSTM-(1,64)", "--task", "majority"]) == 1
    assert "not used: majority-mine (a lemma of mine, late_lemma.py)" in told_by(capsys)


def test_a_refuted_bound_leaves_the_others_and_says_nothing_about_a_model(tmp_path, capsys):
    text = LEMMA.replace('"majority",)', '"index",)').replace("majority-mine", "index-mine").replace(BITS, "3 * length")
    asked = ["bound", "index", "--model", "LSTM-(1,1)", "--length", "1000", "--json"]
    assert run(["--with", written(tmp_path, "index_lemma.py", text), *asked]) == 1
    result = json.loads(capsys.readouterr().out)
    assert result["at_least"] is None
    assert "a lemma of mine" not in result["architecture"]["excluded_by"]
    assert "BHBK24 Theorem 3" in result["architecture"]["excluded_by"]
    assert "index-mine" not in [each["name"] for each in result["bounds"]]


def test_what_rests_on_the_formula_is_said(tmp_path, capsys):
    mine = written(tmp_path, "mine_lemma.py", LEMMA)
    assert run(["--with", mine, *ASKED]) == 0
    told = told_by(capsys)
    assert "(from mine_lemma.py)" in told
    assert "derived here" not in told
    assert "at N = 1000 this rests on the formula in mine_lemma.py; checked up to N = 12" in told
    assert run(["--with", mine, "capacity", "LSTM-(1,64)", "--task", "majority"]) == 0
    told = told_by(capsys)
    assert "a lemma of mine †" in told
    assert "† from mine_lemma.py" in told
    assert "derived here" not in told


def test_no_verb_tells_a_refuted_bound_as_a_fact(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    own = ["--with", written(tmp_path, "false_lemma.py", FALSE)]
    refuted = "not used: majority-mine (a lemma of mine, false_lemma.py) for majority"
    assert run([*own, "capacity", "LSTM-(1,64)"]) == 0
    told = told_by(capsys)
    assert refuted in told
    assert WHY in told
    ladder = ["--learned", "LSTM-(1,W)", "--widths", "4", "--lengths", "4", "--steps", "2", "--lr", "1e-3"]
    assert run([*own, "frontier", "majority", *ladder, "--store", "runs.sqlite"]) == 0
    told = told_by(capsys)
    assert refuted in told
    assert "out of reach" not in told
    assert run(["runs", "list", "--store", "runs.sqlite", "--json"]) == 0
    (trained,) = json.loads(capsys.readouterr().out)["runs"]
    bits = ["runs", "bits", trained["name"], "--store", "runs.sqlite", "--bits", "1,2"]
    assert run([*own, *bits]) == 0
    told = told_by(capsys)
    assert refuted in told
    assert run([*own, *bits, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["bits_needed"] == 2
    assert "a lemma of mine" not in result["bound_claim"]
    assert WHY in result["refuted_bounds"][0]


def test_the_table_leaves_a_refuted_bound_out(tmp_path):
    with using_files([Path(written(tmp_path, "false_lemma.py", FALSE))]):
        assert "a lemma of mine" not in [each.source for each in lower_sides("majority", "rnn", 64)]
    with using_files([Path(written(tmp_path, "mine_lemma.py", LEMMA))]):
        assert "a lemma of mine" in [each.source for each in lower_sides("majority", "rnn", 64)]


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        (
            'task_names=("majority",)',
            'task_names=("majorty",)',
            "task_names of majority-mine 'majorty'; nearest: majority",
        ),
        ('models=("rnn",)', 'models=("rnnn",)', "models of majority-mine 'rnnn'; nearest: rnn"),
    ],
)
def test_a_misspelt_name_in_a_bound_is_refused(tmp_path, capsys, right, wrong, said):
    misspelt = written(tmp_path, "lemma.py", LEMMA.replace(right, wrong))
    for asked in (ASKED, ["capacity", "LSTM-(1,64)"]):
        assert run(["--with", misspelt, *asked]) == 2
        assert said in capsys.readouterr().err


def test_the_claimed_width_of_a_construction_is_compared(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    asked = ["certify", "binary-lookup", "--length", "8", "--out", "made"]
    assert run(["--with", written(tmp_path, "as_claimed.py", LOOKUP), *asked]) == 0
    told = told_by(capsys)
    assert "these weights on every input of length 8, no other claim" in told
    assert "claimed_width" not in told
    narrow = written(tmp_path, "narrow.py", LOOKUP.replace("+ 2 * (length", "+ (length"))
    assert run(["--with", narrow, *asked]) == 1
    assert "claimed_width gives 9, the network has 12: what the claim says about its size is false" in told_by(capsys)
    coded = written(tmp_path, "coded.py", LOOKUP.replace("2 * (length - 1).bit_length()", "code_width"))
    assert run(["--with", coded, *asked, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["width_as_claimed"] is None
    fraction = written(tmp_path, "fraction.py", LOOKUP.replace("+ 2 * (length - 1).bit_length()", "/ 2"))
    assert run(["--with", fraction, *asked]) == 2
    assert "claimed_width of binary-lookup gives 3.0; give an int" in capsys.readouterr().err


def test_why_a_task_of_ones_own_is_not_proved_at_a_length_is_shown(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    task = TASK
    network = LOOKUP.replace('"index-lookup"', '"ends-agree"')
    text = task + network.replace('task.parameters()["alphabet"]', "2")
    assert run(["--with", written(tmp_path, "both.py", text), "certify", "binary-lookup", "--length", "24"]) == 1
    told = told_by(capsys)
    assert "all inputs are tried, up to 2^20; no other method knows the task" in told


def test_a_certificate_of_a_task_of_ones_own_asks_for_its_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lookup = written(tmp_path, "binary_lookup.py", LOOKUP)
    assert run(["--with", lookup, "certify", "binary-lookup", "--length", "8", "--out", "made"]) == 0
    certificate = tmp_path / "made" / "certificate.json"
    certificate.write_text(certificate.read_text(encoding="utf-8").replace('"index-lookup"', '"index-lookip"'))
    capsys.readouterr()
    assert run(["check", "made"]) == 2
    told = capsys.readouterr().err
    assert "unknown task 'index-lookip'; nearest: index-lookup" in told
    assert told.endswith("if it is of your own, give its file: separatrix --with FILE.py check made\n")
