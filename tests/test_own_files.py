"""Files of one's own on the command line: their entries stand in the catalogs for one command and no longer."""

import os
import sys
from pathlib import Path

import pytest

from separatrix.cli.app import run
from separatrix.communication.bounds import bounds
from separatrix.constructions import constructions
from separatrix.errors import SeparatrixError
from separatrix.own_files import VARIABLE, own_modules, using_files
from separatrix.tasks import tasks
from tests.test_examples import BLOCK, FILE, ROOT

GUIDES = ROOT / "docs" / "how-to"
LEMMA = dict(FILE.findall((GUIDES / "own-theorem.md").read_text(encoding="utf-8")))["majority_lemma.py"]
BITS = "bits_for(length // 2 + 1)"
ASKED = ["bound", "majority", "--model", "rnn", "--length", "1000", "--precision", "1"]


def first_python(guide: str) -> str:
    return next(text for kind, text in BLOCK.findall((GUIDES / guide).read_text(encoding="utf-8")) if kind == "python")


def written(folder: Path, name: str, text: str) -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def test_a_task_and_a_construction_are_known_for_one_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    ends = written(tmp_path, "ends_agree.py", first_python("own-task.md"))
    hot = written(tmp_path, "one_hot_lookup.py", first_python("own-theorem.md"))
    assert run(["--with", ends, "--with", hot, "sample", "ends-agree", "--length", "6"]) == 0
    assert "Ends agree" in capsys.readouterr().out
    assert run(["--with", hot, "certify", "one-hot-lookup", "--length", "8", "--out", "made"]) == 0
    assert run(["check", "made"]) == 0
    assert "one-hot-lookup" not in constructions()
    assert "ends-agree" not in tasks()
    assert not {"ends_agree", "one_hot_lookup"} & set(sys.modules)
    assert VARIABLE not in os.environ


def test_an_edited_file_is_run_again(tmp_path):
    path = Path(written(tmp_path, "lemma_again.py", LEMMA))
    for name in ("majority-rnn", "majority-rmm"):
        path.write_text(LEMMA.replace("majority-rnn", name), encoding="utf-8")
        with using_files([path]):
            assert bounds()[name].claim == "a lemma of mine"


def test_an_own_bound_is_told_with_its_evidence_and_an_inflated_one_is_refuted(tmp_path, capsys):
    assert run(["--with", written(tmp_path, "lemma.py", LEMMA), *ASKED]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "m ≥ 9" in told
    assert "refuted" not in told
    inflated = written(tmp_path, "inflated.py", LEMMA.replace(BITS, f"1 + {BITS}"))
    assert run(["--with", inflated, *ASKED]) == 1
    assert "asks for 2 bits at N = 2, where 1 are enough" in " ".join(capsys.readouterr().out.replace("│", " ").split())
    fooled = written(tmp_path, "fooled.py", LEMMA.replace("half - ones", "half + 1 - ones"))
    assert run(["--with", fooled, *ASKED]) == 1


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("lemma.py", LEMMA.replace(BITS, "length ** 0.5"), "gives 31.6"),
        ("lemma.py", LEMMA.replace(BITS, "length / 0"), "lemma.py, line 36: ZeroDivisionError"),
        ("lemma.py", "import nothing_of_that_name", "could not be loaded: ModuleNotFoundError"),
        ("lemma.py", "raise SystemExit(3)", "could not be loaded: SystemExit: 3"),
        ("lemma.py", "x = (", "could not be loaded: SyntaxError"),
        ("lemma.py", "BOUND = 3", "BOUND is 3; a catalog entry must be a Bound"),
        ("lemma.py", "x = 1", "exports nothing; assign one of TASK"),
        ("lemma.py", LEMMA.replace("majority-rnn", "dyck-transformer-1layer"), "two bounds are named"),
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
    assert own_modules() == ()
    assert "lemma" not in sys.modules


def test_a_file_may_ask_for_the_catalogs_while_it_is_run(tmp_path, monkeypatch):
    """Workers find the files in the environment, so that the first catalog asked for runs them."""
    text = LEMMA + "\nKNOWN = len(tasks())\nassert 'majority-rnn' not in __import__('separatrix').__dict__\n"
    monkeypatch.setenv(VARIABLE, written(tmp_path, "asking.py", text))
    try:
        assert "majority-rnn" in bounds()
        assert len(tasks()) == own_modules()[0].KNOWN
    finally:
        with using_files([tmp_path / "asking.py"]):
            pass
    assert "asking" not in sys.modules


def test_a_construction_that_makes_no_network_is_refused(tmp_path, capsys):
    text = first_python("own-theorem.md").replace("return Network(", "return print if length else Network(")
    assert run(["--with", written(tmp_path, "nothing.py", text), "certify", "one-hot-lookup", "--length", "8"]) == 2
    assert "network of one-hot-lookup returned builtin_function_or_method" in capsys.readouterr().err


def test_a_path_with_the_separator_of_the_environment_is_refused(tmp_path):
    with pytest.raises(SeparatrixError, match="rename it"), using_files([tmp_path / f"a{os.pathsep}b.py"]):
        pass


def test_certify_refuses_a_task_whose_two_answers_differ(tmp_path, capsys):
    task = first_python("own-task.md").replace("inputs[:, :1] ==", "inputs[:, :1] !=")
    network = first_python("own-theorem.md").replace('"index-lookup"', '"ends-agree"')
    text = task + network.replace('task.parameters()["alphabet"]', "2")
    assert run(["--with", written(tmp_path, "both.py", text), "certify", "one-hot-lookup", "--length", "4"]) == 2
    assert "label and solve disagree" in capsys.readouterr().err
