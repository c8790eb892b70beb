"""``separatrix protocol``: transcripts for people and machines, and one line for what it refuses."""

import json
import re

import pytest

from separatrix.cli.app import run
from separatrix.networks.store import save_network
from tests.communication.protocol_cases import random_network


@pytest.fixture
def call(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")

    def runner(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(["protocol", *arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return runner


def test_json_holds_every_bit(call):
    code, out, _ = call("index-lookup", "--length", "16", "--partition", "0,2,5", "--seed", "3", "--json")
    data = json.loads(out)
    assert code == 0
    assert data["equal"] is True
    assert data["answer"] == data["direct_answer"]
    assert data["partition"] == {"name": "0,2,5", "alice": [0, 2, 5], "bob": [1, 3, 4, *range(6, 17)]}
    assert data["held_by"] == "Bob"
    messages = data["transcript"]["messages"]
    assert sum(len(message["bits"]) for message in messages) == data["bits"] == data["formula_bits"] == 514
    assert data["claim"]["claimed_bits"] == 1060
    assert data["claim"]["holds"] is True
    assert data["claim"]["holds_for_projection_rows"] is False
    assert data["provenance"]["seed"] == 3


def test_the_input_can_be_given(call):
    text = "a b c d e f g h @3"
    code, out, _ = call("index-lookup", "--length", "8", "--input", text, "--version", "token", "--json")
    data = json.loads(out)
    assert code == 0
    assert (data["input_text"], data["answer"], data["provenance"]["seed"]) == (text, 2, None)
    assert data["transcript"]["messages"][0]["length"] == 7


@pytest.mark.parametrize("version", ["as-written", "repaired", "queries", "token"])
@pytest.mark.parametrize("options", [[], ["--products", "exact"], ["--attention", "hard", "--rounding", "nearest"]])
def test_a_table_for_people(call, version, options):
    code, out, _ = call("index-lookup", "--length", "8", "--version", version, *options)
    assert code == 0
    assert "Alice" in out and "Bob" in out
    assert "3m(p + log N)H" in out
    assert "equal bit for bit" in out


def test_theorem_2(call):
    code, out, _ = call("dyck-rnn", "--length", "12", "--partition", "cut:5", "--arithmetic", "float16", "--json")
    data = json.loads(out)
    assert code == 0
    assert data["theorem"] == "BHBK24 Theorem 2"
    assert data["equal"] is True
    assert data["transcript"]["one_way"] is True
    assert data["bits"] == data["claim"]["claimed_bits"] == data["claim"]["m"] * 16


def test_a_network_file(call, tmp_path):
    network = random_network(4, positions=6, at="every", outputs=2, heads=2)
    save_network(network, tmp_path / "network.safetensors")
    for where in (tmp_path, tmp_path / "network.safetensors"):
        code, out, _ = call(str(where), "--position", "2", "--input", "0 1 2 0 1 2", "--rounding", "nearest", "--json")
        data = json.loads(out)
        assert code == 0
        assert (data["read_position"], data["held_by"], data["input"]) == (2, "Alice", [0, 1, 2, 0, 1, 2])
        assert data["arithmetic"] == "fixed:N=6,Kc=2,nearest"
    code, out, _ = call(str(tmp_path), "--seed", "5")
    assert code == 0
    assert re.search(r"^│ input +│( \d){6} +│$", out, re.MULTILINE), "without a task its numbers are shown"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["index-lookup"], "--length"),
        (["index-lokup", "--length", "8"], "nearest: index-lookup"),
        (["equality", "--length", "8"], "Corollary 13.1"),
        (["match3", "--length", "8"], "pairs of positions"),
        (["directed-3-cycle", "--length", "8"], "pairs of positions"),
        (["dyck-dfa", "--length", "8", "--partition", "odd-even"], "cut:K"),
        (["dyck-dfa", "--length", "8", "--version", "token"], "Theorem 4"),
        (["index-lookup", "--length", "8", "--version", "quick"], "version of the protocol"),
        (["index-lookup", "--length", "8", "--products", "real"], "rounded"),
        (["index-lookup", "--length", "8", "--arithmetic", "float32"], "fixed point"),
        (["index-lookup", "--length", "8", "--arithmetic", "float32", "--exponent", "2"], "not both"),
        (["index-lookup", "--length", "8", "--input", "a b"], "reads 9"),
        (["index-lookup", "--length", "8", "--input", "a b c d e f g h !"], "not a symbol"),
        (["index-lookup", "--length", "8", "--partition", "left"], "odd-even"),
        (["index-lookup", "--length", "8", "--partition", "0,44"], "position 44"),
        (["index-lookup", "--length", "8", "--position", "3"], "position 3"),
        (["nowhere.safetensors"], "cannot read"),
    ],
)
def test_refusals(call, arguments, says):
    code, out, err = call(*arguments)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert says in err


def test_inputs_of_files_are_checked(call, tmp_path):
    path = tmp_path / "some.safetensors"
    save_network(random_network(4, positions=6), path)
    for text, says in (("0 1", "reads 6"), ("0 1 x", "whole numbers"), ("0 1 2 0 1 9", "vocabulary"), ("[1", "whole")):
        code, _, err = call(str(path), "--input", text)
        assert code == 2
        assert says in err
    assert "finished network" in call(str(path), "--set", "alphabet=3")[2]


def test_the_folder_of_a_certificate_knows_task_length_and_numbers(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["certify", "index-lookup", "--length", "4", "--exponent", "3", "--out", "kept"]) == 0
    code, out, _ = call("kept", "--json")
    again, same, _ = call("index-lookup", "--length", "4", "--exponent", "3", "--json")
    folder, built = json.loads(out), json.loads(same)
    assert code == again == 0
    for field in ("length", "arithmetic", "input_text", "bits"):
        assert folder[field] == built[field]
    assert folder["length"] == 4
    assert call("kept", "--length", "4")[0] == 0
    assert "is about length 4" in call("kept", "--length", "5")[2]
    # A network alone does not say it, nor does one next to a certificate of another.
    assert json.loads(call("kept/network.safetensors", "--json")[1])["input_text"] is None
    certificate = json.loads((tmp_path / "kept" / "certificate.json").read_text())
    for change in ({"length": 5}, {"task": "nobodys"}):
        (tmp_path / "kept" / "certificate.json").write_text(json.dumps({**certificate, **change}))
        assert json.loads(call("kept", "--json")[1])["input_text"] is None
