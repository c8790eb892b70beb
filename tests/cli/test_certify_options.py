"""What certify, export and frontier share on the command line, and the arithmetic of a certificate."""

import json
import os
import pty
import signal

import pytest

from separatrix.networks.store import load_network
from tests.cli.test_interrupts import HANGING, read_until, start


def test_a_certificate_over_the_reals(call, tmp_path):
    folder = str(tmp_path / "made")
    ended = call("certify", "nearest-neighbour", "-n", "8", "--arithmetic", "balls", "--out", folder, "--json")
    assert ended.code == 0, ended.err
    record = json.loads(ended.out)
    assert record["certified"] is True
    assert record["arithmetic"] == record["provenance"]["arithmetic"] == "balls:128"
    assert "all real points" in record["inputs_covered"]
    checked = json.loads(call("check", folder, "--json").out)
    assert checked["valid"] is True
    assert checked["provenance"]["arithmetic"] == "balls:128"


def test_a_fixed_point_by_name(call, tmp_path):
    ended = call(
        "certify", "index-lookup", "-n", "64", "--arithmetic", "fixed:N=16,Kc=1,down", "--family", "digits",
        "--gain", "12", "--out", str(tmp_path), "--json",
    )  # fmt: skip
    record = json.loads(ended.out)
    assert record["certified"] is True
    assert (record["width"], record["precision_bits"]) == (18, 10)


@pytest.mark.parametrize(("asked", "used", "offered"), [(30, 22, 14), (43, 42, None), (42, 42, None), (22, 22, None)])
def test_bits_that_are_not_used_are_told(call, tmp_path, asked, used, offered):
    common = ("certify", "index-lookup", "-n", "1024", "--out", str(tmp_path), "--json")
    ended = call(*common, "--precision", str(asked))
    assert json.loads(ended.out)["precision_bits"] == used
    said = f"note: {asked} bits given, {used} used: at N = 1024 numbers have {used} bits with Kc = "
    assert ended.err.startswith(said) if asked != used else ended.err == ""
    assert ended.err.count("\n") == (asked != used)
    arithmetic = f"fixed:N=2,Kc={offered},down"
    assert (f"give --arithmetic {arithmetic} instead of --precision" in ended.err) == (offered is not None)
    if offered is not None:
        assert json.loads(call(*common, "--arithmetic", arithmetic).out)["precision_bits"] == asked


def test_precision_tells_unused_bits_too(call):
    ended = call("precision", "index-lookup", "--length", "1024", "--precision", "30", "--json")
    assert ended.err.startswith("note: 30 bits given, 22 used")
    assert "--arithmetic" not in ended.err
    assert json.loads(ended.out) | {"provenance": 0} == json.loads(
        call("precision", "index-lookup", "--length", "1024", "--bits", "22", "--json").out
    ) | {"provenance": 0}


def test_a_crowded_circle_is_not_refused_by_the_bits_that_were_asked_for(call):
    ended = call("certify", "index-lookup", "-n", "262144", "--family", "circle", "--precision", "42")
    assert ended.code == 2
    assert "steps of 2^-30, in which points are kept at every precision; choose more circles" in ended.err


def test_a_false_claim_over_the_reals_is_refuted(call, tmp_path):
    ended = call(
        "certify", "equality", "-n", "8", "--arithmetic", "balls:96", "--gain", "1/2", "--out", str(tmp_path / "made"),
        "--json",
    )  # fmt: skip
    assert ended.code == 1
    assert json.loads(ended.out)["counterexample"] is not None
    assert not (tmp_path / "made" / "certificate.json").exists()
    assert (tmp_path / "made" / "refuted.json").exists()


def test_attention_and_codes_are_options(call, tmp_path):
    narrow, wide = (
        json.loads(call("certify", "equality", "-n", "16", "--out", str(tmp_path), "--json", *more).out)
        for more in (("--family", "circle"), ("--max-inner", "1/8", "--attention", "hard"))
    )
    assert narrow["certified"] and wide["certified"]
    assert narrow["width"] == 7 < wide["width"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("certify", "equality", "-n", "8", "--arithmetic", "float32"), ("float32", "balls")),
        (("certify", "equality", "-n", "8", "--arithmetic", "ball"), ("ball",)),
        (("certify", "equality", "-n", "8", "--arithmetic", "balls", "--exponent", "2"), ("--exponent 2",)),
        (("certify", "equality", "-n", "8", "--attention", "soft"), ("soft",)),
        (("certify", "equality", "-n", "8", "--max-inner", "2"), ("--max-inner 2",)),
        (("certify", "equality", "-n", "8", "--family", "circles:x"), ("circles:x",)),
        (("export", "equality", "-n", "8", "--to", "torch", "--out", "x", "--variant", "no"), ("no",)),
        (("export", "equality", "-n", "8", "--to", "torch", "--out", "x", "--gain", "x"), ("--gain", "x")),
        *(
            (
                ("export", "mqar", "-n", "8", "--to", to, "--out", "x", "--variant", "exact-labels"),
                ("mqar", "floats", "--to safetensors", "a variant that rounds"),
            )
            for to in ("onnx", "torch", "transformer-lens")
        ),
        (("export", "mqar", "-n", "8", "--to", "no", "--out", "x", "--variant", "exact-labels"), ("'no'", "onnx")),
        (("frontier", "mqar", "--to", "20"), ("--to 20", "mqar")),
        (("frontier", "equality", "--max-memory", "x"), ("x", "size")),
    ],
)
def test_bad_input_ends_in_one_line(call, arguments, words):
    ended = call(*arguments)
    assert ended.code == 2
    assert ended.out == ""
    assert len(ended.err.splitlines()) == 1, ended.err
    assert all(word in ended.err for word in words), ended.err


def test_export_takes_the_options_of_certify(call, tmp_path):
    files = {}
    for name, more in {
        "own": (),
        "paper": ("--variant", "paper"),
        "gain": ("--gain", "40"),
        "kc": ("--exponent", "3"),
    }.items():
        out = tmp_path / f"{name}.safetensors"
        ended = call("export", "equality", "-n", "8", "--to", "safetensors", "--out", str(out), "--json", *more)
        assert ended.code == 0, ended.err
        files[name] = load_network(out)[1]
        assert json.loads(ended.out)["variant"] == ("paper" if name == "paper" else "repaired")
    assert len({files["own"], files["paper"], files["gain"]}) == 3
    assert files["kc"] == files["own"], "Kc is the arithmetic's, the weights are the same"


def test_an_interrupted_frontier_goes_on_from_its_store(tmp_path):
    store = tmp_path / "store.json"
    words = ["frontier", "index-lookup", "--from", "4", "--store", str(store)]
    ours, theirs = pty.openpty()
    process = start(*words, "--to", "12", terminal=theirs, slow="", seconds=0.5)
    os.close(theirs)
    while not store.exists() or json.loads(store.read_text())["points"] == {}:
        read_until(ours, b"left")
    process.send_signal(signal.SIGINT)
    read_until(ours, b"resumes it")
    process.communicate(timeout=HANGING)
    os.close(ours)
    assert process.returncode == 130
    kept = json.loads(store.read_text())["points"]
    assert kept
    again = start(*words, "--to", "4", "--json")
    out, errors = again.communicate(timeout=HANGING)
    assert again.returncode == 0
    assert json.loads(out)["frontier"]["16"]
    assert b"verdicts from" in errors
