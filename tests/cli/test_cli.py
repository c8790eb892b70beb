"""The command line's contract: results on stdout, one line on stderr for bad input, exit codes 0 and 2."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import separatrix
from separatrix import __version__
from separatrix.bounds import bounds
from separatrix.cli.app import VERBS
from separatrix.cli.verb_sample import _in_chunks
from separatrix.constructions import constructions
from separatrix.errors import UnknownNameError
from separatrix.table.errata import errata
from separatrix.tasks import tasks

NAMED_IN_THE_CLAIMS = {
    "index-lookup", "dyck", "equality", "inequality", "eq-random", "eq-one", "eq-ncp", "disjointness", "index",
    "nearest-neighbour", "associative-recall", "mqar", "sparse-threshold", "dnf", "cnf", "majority",
    "sparse-averaging", "match2", "match3", "match3-local", "match3-last", "directed-3-cycle", "undirected-5-cycle",
}  # fmt: skip


def assert_refused(ended, *words: str) -> None:
    assert ended.code == 2
    assert ended.out == ""
    lines = ended.err.splitlines()
    assert len(lines) == 1, ended.err
    assert lines[0].startswith("separatrix: ")
    for word in words:
        assert word in lines[0], lines[0]


def test_list_names_every_task_of_the_claims(call):
    ended = call("list", "tasks", "--json")
    assert ended.code == 0
    assert {entry["name"] for entry in json.loads(ended.out)["tasks"]} == NAMED_IN_THE_CLAIMS


def test_a_theorem_leads_to_its_files_and_commands(call):
    rows = json.loads(call("list", "theorems", "--json").out)["theorems"]
    source = Path(separatrix.__file__).parent.parent
    assert all((source / row["file"]).is_file() for row in rows)
    seventh = {row["name"]: row for row in rows if row["claim"].startswith("BHBK24 Theorem 7")}
    assert seventh["nearest-neighbour"]["file"].endswith("theorems/nearest_neighbour.py")
    assert {row["as"] for row in seventh.values()} >= {"construction", "erratum"}
    named = {row["name"] for row in rows}
    assert named >= {*constructions(), *bounds(), *errata()}
    # Numbers sort as numbers.
    order = [row["claim"] for row in rows]
    assert order.index("BHBK24 Theorem 3") < order.index("BHBK24 Theorem 12")


def test_list_shows_a_table(call):
    ended = call("list")
    assert ended.code == 0
    assert all(name in ended.out for name in tasks())
    assert all(name in ended.out for name in ("linear-transformer", "figure2-curves", "Causal convolutional network"))
    assert "separatrix list architectures,  separatrix list experiments" in ended.out.splitlines()[-1]


def test_sample_is_repeatable_and_labelled(call):
    first, second, other = (
        json.loads(call("sample", "dyck", "--length", "24", "--count", "5", "--seed", seed, "--json").out)
        for seed in ("3", "3", "4")
    )
    assert first["examples"] == second["examples"]
    assert first["examples"] != other["examples"]
    assert len(first["examples"]) == 5
    for example in first["examples"]:
        row = tasks()["dyck"].read(example["text"], 24)
        assert list(row) == example["input"]
        assert list(tasks()["dyck"].solve(row, 24)) == example["answers"]
    record = first["provenance"]
    assert record["seed"] == 3
    assert record["arithmetic"] == "integers"
    assert record["versions"]["separatrix"] == __version__


@pytest.mark.parametrize("name", sorted(NAMED_IN_THE_CLAIMS))
def test_every_task_can_be_shown(call, name):
    ended = call("sample", name, "--length", "12", "--count", "2")
    assert ended.code == 0, ended.err
    assert tasks()[name].title in ended.out
    machine = call("sample", name, "--length", "12", "--count", "2", "--json")
    assert len(json.loads(machine.out)["examples"]) == 2


def test_training_split_and_parameters(call):
    ended = call("sample", "eq-ncp", "--length", "20", "--split", "train", "--set", "vocabulary_size=4", "--json")
    record = json.loads(ended.out)
    assert record["split"] == "train"
    assert record["parameters"] == {"vocabulary_size": 4}
    assert len({len(example["input"]) for example in record["examples"]}) > 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("sample", "dykc"), ("dykc", "nearest: dyck")),
        (("sample", "zzz"), ("'zzz'", "known:")),
        (("sample", "dyck", "--length", "7"), ("divisible by 2, not 7", "try 6 or 8")),
        (("sample", "equality", "--length", "3"), ("not 3",)),
        (("sample", "index-lookup", "--length", "0"), ("length 0",)),
        (("sample", "index-lookup", "--length", "-5"), ("length -5",)),
        (("sample", "index-lookup", "--length", "99999999"), ("99999999",)),
        (("sample", "index-lookup", "--length", "many"), ("many", "--length")),
        (("sample", "dyck", "--count", "-1"), ("-1",)),
        (("sample", "dyck", "--count", "0"), ("--count 0", "choose 1 or more")),
        (("explore",), ("nearest: serve",)),
        (("verify", "certificates"), ("nearest: check",)),
        (("sample", "dyck", "--count", "99999999999"), ("99999999999", "lower --count")),
        (("sample", "match3", "--length", "100000"), ("100000", "lower --count or --length")),
        (("sample", "dyck", "--set", "types=99999999999999999999"), ("types=99999999999999999999",)),
        (("sample", "index-lookup", "--set", "alphabet=9999999999999999999"), ("alphabet=9999999999999999999",)),
        (("sample", "eq-one", "--set", "vocabulary_size=99999999999999999999"), ("vocabulary_size",)),
        (("sample", "match3-local", "--set", "window=99999999999999999999"), ("window",)),
        (("sample", "nearest-neighbour", "--set", "margin=1e999999999"), ("margin", "1e999999999")),
        (("sample", "majority", "--set", "instance=cnf"), ("majority",)),
        (("code", "--count", "64", "--max-inner", "1e-999999999"), ("--max-inner", "1e-999999999")),
        (("code", "--count", "1"), ("not 1",)),
        (("code", "--count", "100000000", "--max-inner", "1/100"), ("a larger inner product",)),
        (("train", "dyck", "TF-(1,8)", "--length", "8", "--lr", "-1"), ("-1 in --lr -1",)),
        (("capacity", ""), ("no model was named",)),
        (("code", "--count", "100", "--max-inner", "3/2"), ("3/2",)),
        (("code", "--count", "100", "--family", "golay"), ("golay",)),
        (("precision", "majority", "--length", "64", "--bits", "1000000"), ("1000000",)),
        (("precision", "majority", "--length", "64", "--bits", "3"), ("3 bits cannot hold majority",)),
        (("precision", "majority", "--length", "64", "--exponent", "100000"), ("100000",)),
        (("precision", "majority", "--length", "64"), ("give --bits or --exponent",)),
        (("precision", "majority", "--length", "64", "--bits", "20", "--rounding", "up"), ("rounding is 'up'",)),
        (("precision", "index-lookup", "--length", "1", "--bits", "8"), ("at length 1", "a length from 2 on")),
        (("certify", "index-lookp", "--length", "8"), ("index-lookp", "index-lookup")),
        (("certify", "index-lookup", "--length", "0"), ("choose 2 to",)),
        (("certify", "index-lookup", "--length", "1"), ("choose 2 to",)),
        (("certify", "equality", "--length", "0"), ("choose 2 to",)),
        (("certify", "equality", "--length", "7"), ("not 7",)),
        (("certify", "equality", "--length", "8", "--precision", "2"), ("2 bits cannot hold equality",)),
        (
            ("certify", "equality", "--length", "8", "--arithmetic", "fixed:N=8,Kc=2,down", "--rounding", "nearest"),
            ("--rounding nearest changes nothing next to --arithmetic",),
        ),
        (("certify", "dyck-dfa", "--length", "8", "--gain", "3"), ("--gain 3 changes nothing",)),
        (("certify", "dyck-rnn", "--length", "8", "--family", "trace"), ("--family trace changes nothing",)),
        (("certify", "dyck-dfa", "--length", "8", "--max-inner", "1/8"), ("--max-inner 1/8 changes nothing",)),
        (("certify", "equality", "--length", "8", "--gain", "x"), ("--gain", "x")),
        (("certify", "equality", "--length", "8", "--max-memory", "lots"), ("lots",)),
        (("certify", "equality", "--length", "8", "--max-memory", "1M"), ("GiB", "--max-memory")),
        (("frontier", "equality", "--from", "9", "--to", "3"), ("--from 9",)),
        (("frontier", "equality", "--figure", "x.pdf"), ("x.pdf",)),
        (("frontier", "dyck-dfa"), ("dyck-dfa",)),
        (("frontier", "index-lookup", "--lengths", "16"), ("--lengths 16", "--learned", "--from and --to")),
        (("frontier", "index-lookup", "--executor", "ray"), ("--executor ray", "--learned")),
        (("certify", "equality", "--length", "8", "--rounding", "up"), ("up",)),
        (("check", "/nonexistent/certificate.json"), ("/nonexistent/certificate.json",)),
        (("sample", "dyck", "--seed", "-1"), ("seed -1",)),
        (("sample", "dyck", "--split", "test"), ("test",)),
        (("sample", "dyck", "--set", "depth"), ("NAME=VALUE",)),
        (("sample", "dyck", "--set", "deep=3"), ("deep", "depth")),
        (("sample", "dyck", "--set", "depth=x"), ("depth=x", "whole number")),
        (("sample", "dyck", "--set", "depth=0"), ("depth=0",)),
        (("sample", "disjointness", "--set", "answer_one=yes"), ("yes",)),
        (("sample",), ("task",)),
        (("frobnicate",), ("frobnicate",)),
        (("list", "taks"), ("taks", "tasks")),
        (("--nonsense",), ("--nonsense",)),
    ],
)
def test_bad_input_ends_in_one_line(call, arguments, words):
    assert_refused(call(*arguments), *words)


def test_version_and_help(call):
    assert call("--version").out == f"separatrix {__version__}\n"
    for module in VERBS:
        ended = call(module.NAME, "--help")
        assert ended.code == 0
        assert "Example:" in ended.out
        assert "--json" in ended.out


def test_atlas_writes_its_files(site, atlas_answer):
    assert {Path(name) for name in atlas_answer["files"]} == {path for path in site.rglob("*") if path.is_file()}
    assert {Path(name).name for name in atlas_answer["files"]} >= {"index.html", "atlas.json"}
    assert json.loads((site / "atlas.json").read_text(encoding="utf-8"))["sections"] == atlas_answer["sections"]
    assert atlas_answer["provenance"]["seconds"] > 0


def test_atlas_refuses_a_file_and_a_read_only_place(call, tmp_path):
    (tmp_path / "file").write_text("here")
    assert_refused(call("atlas", "--out", str(tmp_path / "file")), "is a file")
    assert_refused(call("atlas", "--out", "/proc/nowhere/atlas"), "cannot write")


def environment() -> dict[str, str]:
    return {**os.environ, "COLUMNS": "100"}


def test_a_closed_pipe_is_no_error():
    script = "import sys; from separatrix.cli import main; sys.argv = ['separatrix', 'list']; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    )
    assert process.stdout is not None
    process.stdout.close()
    _, errors = process.communicate(timeout=600)
    assert b"Traceback" not in errors
    assert process.returncode == 0


def in_a_process(script: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment())


def test_certify_writes_what_check_accepts(call, tmp_path):
    folder = str(tmp_path / "made")
    ended = call("certify", "index-lookup", "--length", "32", "--out", folder, "--json")
    assert ended.code == 0, ended.err
    record = json.loads(ended.out)
    assert (record["certified"], record["state"]) == (True, "certified")
    assert record["inputs_covered"] == "64^32*32"
    checked = call("check", record["certificate"], "--json")
    assert checked.code == 0
    assert json.loads(checked.out)["valid"] is True
    assert json.loads(checked.out)["state"] == "certified"
    read = call("check", folder)
    assert read.code == 0 and "(64^32 · 32 inputs, kernel)" in read.out
    assert "64^32 · 32" in call("certify", "index-lookup", "--length", "32", "--out", folder).out


def test_a_false_claim_ends_with_one_and_can_be_replayed(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "made"
    arguments = ("certify", "equality", "--length", "8", "--variant", "paper")
    ended = call(*arguments, "--out", str(folder), "--json")
    assert ended.code == 1
    record = json.loads(ended.out)
    assert (record["certified"], record["state"]) == (False, "refuted")
    assert record["certificate"] is None
    assert sorted(path.name for path in folder.iterdir()) == ["refuted.json", "refuted.safetensors"]
    shown = record["counterexample_shown"]
    assert shown["text"] == tasks()["equality"].write(record["counterexample"], 8)
    for target in (str(folder), record["refutation"]):
        checked = call("check", target, "--replay", "--json")
        assert checked.code == 1
        again = json.loads(checked.out)
        assert again["counterexample_shown"] == shown
        assert again["replay"]["right"] is False
    # Without a folder that was asked for nothing is written.
    assert call(*arguments).code == 1
    assert not (tmp_path / "certificates").exists()


def test_a_refutation_leaves_an_older_certificate_alone(call, tmp_path):
    assert call("certify", "equality", "--length", "8", "--out", str(tmp_path)).code == 0
    assert call("certify", "equality", "--length", "8", "--variant", "paper", "--out", str(tmp_path)).code == 1
    assert call("check", str(tmp_path)).code == 0
    assert call("check", str(tmp_path / "refuted.json")).code == 1


def test_a_counterexample_is_written_in_symbols(call, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    ended = call("certify", "index-lookup", "--length", "256", "--gain", "2", "--out", str(tmp_path))
    assert ended.code == 1
    assert "refuted: " in ended.out
    assert "a b ×255 @1" in ended.out
    assert "the network says b, right is a, at position 257 (@1)" in ended.out
    assert "--replay" in ended.out
    checked = call("check", str(tmp_path), "--replay")
    assert checked.code == 1
    assert "\nrefuted: " in checked.out
    assert "counterexample: a b ×255 @1\nreplayed: the network says b, right is a, at position 257 (@1)" in checked.out


def test_what_no_method_decides_is_not_proved_and_not_called_refuted(call, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    ended = call("certify", "match2", "--length", "256", "--out", str(tmp_path))
    assert ended.code == 1
    assert "not proved: " in ended.out and "not proved: not proved" not in ended.out
    assert "refuted" not in ended.out and "more than 62 bits" in ended.out


def test_an_edited_certificate_ends_with_one(call, tmp_path):
    call("certify", "equality", "--length", "8", "--out", str(tmp_path))
    path = tmp_path / "certificate.json"
    path.write_text(path.read_text().replace("2^8", "2^9"))
    ended = call("check", str(path), "--replay")
    assert ended.code == 1
    assert "not valid" in ended.out


def test_frontier_shows_what_certifies(call, tmp_path):
    figure = tmp_path / "f.svg"
    ended = call("frontier", "index-lookup", "--from", "4", "--to", "5", "--figure", str(figure), "--json")
    record = json.loads(ended.out)
    assert figure.read_text().startswith("<svg")
    for kept in record["frontier"].values():
        widths = [point["width"] for point in kept]
        bits = [point["precision_bits"] for point in kept]
        assert all(point["certified"] for point in kept)
        assert widths == sorted(widths)
        assert bits == sorted(bits, reverse=True)


def test_a_long_row_is_cut_in_the_table_and_whole_in_json(call):
    shown = call("sample", "dyck", "--length", "100000", "--count", "1")
    assert "more characters" in shown.out
    assert len(shown.out) < 5000
    whole = json.loads(call("sample", "dyck", "--length", "100000", "--count", "1", "--json").out)
    assert len(whole["examples"][0]["text"]) == 100_000


def test_results_record_the_command_as_given(call):
    record = json.loads(call("code", "--count", "64", "--max-inner", "1/3", "--two-sided", "--json").out)
    assert record["provenance"]["command"] == "separatrix code --count 64 --max-inner 1/3 --two-sided --json"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_without_unicode_is_no_error(encoding):
    script = "import sys; from separatrix.cli import main; sys.argv = ['separatrix', 'code', '--count', '16']; main()"
    environment_with = {**environment(), "PYTHONIOENCODING": encoding}
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, env=environment_with, check=True)
    assert b"width" in found.stdout


def test_import_loads_nothing_heavy():
    script = (
        "import sys, separatrix; heavy = {'torch', 'numpy', 'scipy', 'flint', 'matplotlib', 'typer', 'rich'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment()
    )
    assert found.stdout.strip() == "[]"


def test_a_name_like_none_is_answered_with_all():
    """Three letters in common are no likeness."""
    assert str(UnknownNameError("class", "Nope", ["WrongShape", "Decay"])).endswith("known: Decay, WrongShape")
    assert UnknownNameError("class", "Decai", ["WrongShape", "Decay"]).nearest == ("Decay",)


def test_the_first_line_of_capacity_fits(call, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    assert max(map(len, call("capacity", "mamba-2.8b").out.splitlines()[:3])) <= 60


@pytest.mark.parametrize("columns", ["60", "80", "100"])
@pytest.mark.parametrize("seed", ["0", "3", "5"])
def test_the_caret_stands_under_its_symbol_when_the_input_is_cut(call, monkeypatch, columns, seed):
    monkeypatch.setenv("COLUMNS", columns)
    arguments = ("sample", "index-lookup", "--length", "90", "--count", "1", "--seed", seed)
    ended = call(*arguments)
    example = json.loads(call(*arguments, "--json").out)["examples"][0]
    lines = [line[2:-2].rstrip() for line in ended.out.partition("example 1")[2].splitlines()[1:-1]]
    (marked,) = (number for number, line in enumerate(lines) if "^" in line)
    above = lines[marked - 1]
    assert above[lines[marked].index("^")] == tasks()["index-lookup"].write_answer(example["answers"][-1], 90)
    assert lines[-1].startswith("symbol ")
    assert " ".join(line for number, line in enumerate(lines[:-1]) if number != marked) == example["text"]
    before = " ".join(line for number, line in enumerate(lines[: marked - 1])).split()
    asked = len(before) + above[: lines[marked].index("^")].count(" ") + 1
    assert lines[-1].split()[1] == str(asked)
    assert example["text"].endswith(f"@{asked}")


def test_pictures_that_fit_are_left_alone_and_words_may_be_cut():
    assert _in_chunks("ab\n ^", 4) == "ab\n ^"
    assert _in_chunks("abcdef\n    ^", 4) == "abcd\nef\n^"
    assert _in_chunks("", 4) == ""


@pytest.mark.parametrize(("given", "meant"), [("cheque", "check"), ("certificate", "certify"), ("profil", "profile")])
def test_a_wrong_verb_is_told_the_nearest(call, given, meant):
    ended = call(given)
    assert ended.code == 2
    assert meant in ended.err.partition("given:")[0]
    assert "nearest" not in call("xyzzy").err


def test_numbers_that_would_fill_lines_are_powers_of_the_length(call):
    ended = call("precision", "majority", "--length", "1000", "--exponent", "205")
    assert "±N^205" in ended.out
    assert "000000" not in ended.out
    assert "±64 (N^1)" in call("precision", "majority", "--length", "64", "--exponent", "1").out


def test_a_folder_with_brackets_is_named_as_it_is(call, tmp_path):
    ended = call("certify", "index-lookup", "--length", "4", "--out", str(tmp_path / "my[bold]one"))
    assert ended.code == 0
    assert "[bold]" in ended.out.replace("\n", "").replace("│", "").replace(" ", "")


@pytest.mark.parametrize("columns", ["0", ""])
def test_a_terminal_that_does_not_know_its_width_is_printed_to(call, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    assert "index-lookup" in call("list", "tasks").out
    assert "certify" in call("--help").out
