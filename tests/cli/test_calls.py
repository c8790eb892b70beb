"""Generated calls: a short campaign keeps the contract of the command line, and its judge finds every breach."""

import subprocess
import sys
from pathlib import Path

import pytest
from tools.calls.__main__ import defects
from tools.calls.generated import names_for, verbs
from tools.calls.sandbox import Outcome

ROOT = Path(__file__).parents[2]
FILES = {"good": "folder", "good/certificate.json": "1234"}


def outcome(*arguments, code=0, out="", err="", interrupted=False, peak=1 << 20):
    return Outcome(arguments, "file", code, out, err, interrupted, peak, 0.1)


def judged(given, after=None):
    return defects(given, FILES, FILES if after is None else after, held=1 << 20)


def test_a_short_campaign_keeps_the_contract():
    command = [sys.executable, "-m", "tools.calls", "--count", str(len(verbs())), "--seed", "0", "--seconds", "1.5"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert f"Of {len(verbs())} calls" in ended.stdout


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (outcome("list", code=70), "exit code 70"),
        (outcome("list", code=130), "exit code 130"),
        (outcome("list", code=1, err="Traceback (most recent call last):"), "a traceback"),
        (outcome("list", code=2, err="separatrix: one\nand another\n"), "bad input ends in 2 lines"),
        (outcome("list", code=2, err=""), "bad input ends in 0 lines"),
        (outcome("list", code=2, err="separatrix: wrong\n", out="3"), "bad input prints a result"),
        (outcome("list", "--json", out='{"a": NaN}'), "no valid JSON: NaN"),
        (outcome("certify", "--max-memory", "100M", peak=300 << 20), "300 MiB with --max-memory 100 MiB"),
    ],
)
def test_breaches_are_found(given, found):
    assert judged(given) == [found]


def test_what_keeps_the_contract_is_left_alone():
    assert judged(outcome("list", "--json", out='{"a": 1}')) == []
    assert judged(outcome("list", code=2, err="note: slow\nseparatrix: wrong\n")) == []
    assert judged(outcome("atlas", code=130, interrupted=True)) == []
    assert judged(outcome("certify", "--max-memory", "400M", peak=300 << 20)) == []
    assert judged(outcome("certify", "--out", "good"), {**FILES, "good/certificate.json": "5678"}) == []


def test_files_left_or_changed_are_found():
    assert judged(outcome("certify"), {**FILES, "good/.network.partial": "1"}) == ["left good/.network.partial"]
    refused = outcome("certify", code=2, err="separatrix: wrong")
    assert judged(refused, {"good": "folder"}) == ["a refused call changed good/certificate.json"]


def test_every_verb_and_option_is_attacked():
    table = verbs()
    assert {"certify", "train", "serve", "atlas"} <= set(table)
    assert any("--max-memory" in parameter.flags for parameter in table["certify"])
    assert "index-lookup" in names_for("construction", "certify")
    assert "lstm-(1,8)" in names_for("architecture", "train")
