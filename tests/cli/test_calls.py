"""Generated calls: a short campaign keeps the contract of the command line, and its judge finds every breach."""

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings, strategies
from tools.calls.__main__ import shared_out
from tools.calls.fitting import FITTING, NEVER, fitting
from tools.calls.fitting_parts import Place
from tools.calls.furniture import lay_out, write_own_files
from tools.calls.generated import KINDS, OWN, calls, names_for, root_options, verbs, written
from tools.calls.judge import defects, is_whole, understood
from tools.calls.sandbox import Outcome, call, contents, hand_over

ROOT = Path(__file__).parents[2]
FILES = {"good": "folder", "good/certificate.json": "1234"}
DRAWING = settings(
    max_examples=300,
    deadline=None,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
RUNS = ("41c9eaab7eb020f4", "5f8dee37606c86c3", "6cd0ade4364deb44")


class EverythingWasSeenError(Exception):
    """Ends a search early."""


def outcome(*arguments, code=0, out="", err="", interrupted=False, peak=1 << 20):
    return Outcome(arguments, "file", code, out, err, interrupted, peak, 0.1)


def judged(given, after=None):
    return defects(given, FILES, FILES if after is None else after, held=1 << 20)


def test_a_short_campaign_keeps_the_contract():
    command = [sys.executable, "-m", "tools.calls", "--count", str(2 * len(verbs())), "--seed", "0", "--seconds", "1.5"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert f"Of {2 * len(verbs())} calls" in ended.stdout


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
        (outcome("list", "--json", out="[1]"), "JSON of a list, not one object"),
        (outcome("check", "good", "--max-memory=100M", peak=300 << 20), "300 MiB with --max-memory 100 MiB"),
    ],
)
def test_breaches_are_found(given, found):
    assert judged(given) == [found]


def test_what_keeps_the_contract_is_left_alone():
    assert judged(outcome("list", "--json", out='{"a": 1}')) == []
    assert judged(outcome("list", code=2, err="note: slow\nseparatrix: wrong\n")) == []
    assert judged(outcome("atlas", code=130, interrupted=True)) == []
    assert judged(outcome("check", "good", "--max-memory", "400M", peak=300 << 20)) == []
    assert judged(outcome("--version", "list", "--json", out="separatrix 0.1.0")) == []
    assert judged(outcome("protocol", "good", "--version", "token", "--json", out="{}")) == []
    assert judged(outcome("certify", "--out", "good"), {**FILES, "good/certificate.json": "5678"}) == []


def test_files_left_or_changed_are_found():
    assert judged(outcome("certify"), {**FILES, "good/.network.partial": "1"}) == ["left good/.network.partial"]
    refused = outcome("certify", code=2, err="separatrix: wrong")
    assert judged(refused, {"good": "folder"}) == ["a refused call changed good/certificate.json"]
    assert judged(refused, {**FILES, "new": "folder"}) == []
    assert judged(refused, {**FILES, "new/a.json": "1"}) == ["a refused call made new/a.json"]


def test_results_that_are_missing_or_not_whole_are_found(tmp_path):
    def found(*arguments):
        return defects(outcome(*arguments), {}, contents(tmp_path), held=1 << 20, folder=tmp_path)

    asked = ("export", "majority", "--length", "3", "--to", "torch", "-o", "new")
    assert found(*asked) == ["new was not written"]
    (tmp_path / "new").mkdir()
    assert found(*asked) == ["new was not written"]
    (tmp_path / "new" / "config.json").write_text("{}")
    assert found(*asked) == []
    (tmp_path / "new" / "config.json").write_text('{"a": ')
    assert found(*asked) == ["new/config.json is not whole"]
    assert found("train", "dyck", "RNN-(1,8)", "-n", "4", "--store=a.sqlite")[-1] == "a.sqlite was not written"
    assert found("runs", "export", "a.csv", "--store", "good.sqlite")[-1] == "a.csv was not written"
    assert found("runs", "list", "--store", "good.sqlite") == ["new/config.json is not whole"]


@pytest.mark.parametrize(
    ("name", "whole", "cut"),
    [
        ("a.json", b"{}", b"{"),
        ("a.svg", b"<svg></svg>\n", b"<svg>"),
        ("a.html", b"<html></html>\n", b"<html>"),
        ("a.png", b"\x89PNG IEND\xaeB`\x82", b"\x89PNG"),
        ("a.csv", b"a,b\n", b"a,"),
        ("a.parquet", b"PAR1 PAR1", b"PAR1 PAR"),
        ("a.safetensors", (2).to_bytes(8, "little") + b"{}", (4).to_bytes(8, "little") + b"{}"),
        ("verdicts.sqlite", b"{}", b"SQLite format 3\0 and nothing more"),
        ("a.txt", b"", b""),
    ],
)
def test_a_file_that_is_not_whole_is_found(tmp_path, name, whole, cut):
    (tmp_path / name).write_bytes(whole)
    assert is_whole(tmp_path / name)
    (tmp_path / name).write_bytes(cut)
    assert is_whole(tmp_path / name) == (whole == cut)


def test_a_store_is_whole(tmp_path):
    with sqlite3.connect(tmp_path / "a.sqlite") as store:
        store.execute("create table runs (name)")
    store.close()
    assert is_whole(tmp_path / "a.sqlite")


def test_no_folder_is_open_that_is_closed(tmp_path):
    """Also where the tests are run by the superuser, to whom it would be open."""

    def intrude():
        for closed in ("closed/new", "/etc/separatrix-was-here"):
            try:
                Path(closed).write_text("")
            except PermissionError:
                continue
            raise SystemExit(1)
        Path("open").write_text(json.dumps(os.getuid()))

    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    place = tmp_path / "place"
    (place / "closed").mkdir(parents=True)
    (place / "closed").chmod(0o555)
    hand_over(place)
    ended = call([], place, "file", 30.0, main=intrude)
    assert (ended.code, ended.err) == (70, ""), "it returned, which no call does"
    assert json.loads((place / "open").read_text()) != 0


def test_every_call_finds_the_folder_as_it_was(tmp_path):
    template, place = tmp_path / "template", tmp_path / "place"
    (template / "closed").mkdir(parents=True)
    (template / "unreadable.json").write_text("{}")
    (template / "outside").symlink_to("/proc/self/nothing")
    lay_out(template, place)
    before = contents(place)
    (place / "closed" / "new").write_text("")
    (place / "closed").chmod(0o555)
    lay_out(template, place)
    assert contents(place) == before
    assert (place / "unreadable.json").stat().st_mode & 0o777 == 0


def test_every_verb_and_option_is_attacked():
    table = verbs()
    assert {"certify", "train", "serve", "atlas"} <= set(table)
    assert any("--max-memory" in parameter.flags for parameter in table["certify"])
    assert "index-lookup" in names_for("construction", "certify")
    assert "lstm-(1,8)" in names_for("architecture", "train")


def test_every_verb_has_calls_whose_settings_fit():
    assert set(FITTING) == set(verbs()), "a verb needs a function in tools/calls that draws settings which fit together"


@pytest.mark.parametrize("verb", FITTING)
def test_fitting_calls_are_read_as_they_were_meant_and_use_every_option(verb):
    parameters = verbs()[verb]
    missing = {parameter.name for parameter in parameters} - set(NEVER)

    @seed(0)
    @settings(DRAWING)
    @given(strategies.data())
    def draw(data):
        settled = fitting(data.draw, verb, Place(ROOT, RUNS))
        asked = understood(written(data.draw, verb, parameters, settled))
        assert asked.verb == verb
        for name, values in settled.items():
            read = asked.settings[name]
            if isinstance(read, bool):
                assert read == (values[0] not in ("--fresh", "--no-estimate"))
            elif isinstance(read, list | tuple):
                assert sorted(map(str, read)) == sorted(values)
            else:
                assert read is not None
        missing.difference_update(settled)
        if not missing:
            raise EverythingWasSeenError

    with pytest.raises(EverythingWasSeenError):
        draw()
    assert not missing


def test_options_in_front_of_the_verb_are_drawn(tmp_path):
    write_own_files(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(OWN)
    words = set()
    for kind in KINDS:

        @seed(0)
        @settings(DRAWING, max_examples=150)
        @given(calls("list", kind, Place(tmp_path, RUNS)))
        def draw(call):
            words.update(call[: call.index("list")] if "list" in call else call)

        draw()
    assert words >= {"--with", *OWN}
    assert words >= {flag for option in root_options() for flag in option.flags}


@pytest.mark.parametrize("count", [0, 1, 2, 5, 33, 34])
def test_calls_are_shared_out_among_the_kinds(count):
    shares = shared_out(count)
    assert sum(shares.values()) == count
    assert min(shares.values()) >= 0
    assert shares["fitting"] * 2 >= count
