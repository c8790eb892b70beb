"""On a narrow terminal every number and name that a wide one shows is still there, whole."""

import re
import shlex
from collections import Counter
from io import StringIO

import pytest
from rich.console import Console
from rich.table import Table

from separatrix.cli import verb_bound, verb_capacity, verb_certify, verb_code, verb_list, verb_precision, verb_protocol
from separatrix.cli.app import run
from separatrix.cli.fitting import FittingConsole

VERBS = (verb_bound, verb_capacity, verb_certify, verb_code, verb_list, verb_precision, verb_protocol)
CALLS = [
    *(verb.EXAMPLE for verb in VERBS),
    "separatrix list constructions",
    "separatrix list architectures",
    "separatrix list bounds",
    "separatrix capacity",
    "separatrix frontier index-lookup --from 4 --to 5",
    "separatrix sweep figure2-left --scale quick --dry-run --no-estimate",
    "separatrix sweep figure4-ncp --scale quick --dry-run --no-estimate",
]
TRAINED = 'separatrix train index-lookup "TF-(1,16)" --length 5 --lr 1e-2,1e-3 --steps 2 --batch 4 --examples 20'
WIDE, NARROW = 400, (60, 80)
NUMBER = re.compile(r"\d[\d,.]*\d|\d")


def printed(call, width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(width))
    capsys.readouterr()
    assert run(shlex.split(call)[1:]) == 0, call
    return capsys.readouterr().out


def test_recorded_runs_are_listed_whole(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    printed(TRAINED, WIDE, monkeypatch, capsys)
    wide = printed("separatrix runs list", WIDE, monkeypatch, capsys)
    for width in NARROW:
        narrow = printed("separatrix runs list", width, monkeypatch, capsys)
        assert narrow.count("TF-(1,16)") == wide.count("TF-(1,16)") == 2
        assert "…" not in narrow + printed(TRAINED, width, monkeypatch, capsys)


@pytest.mark.parametrize("call", CALLS)
def test_nothing_is_cut_off_on_a_narrow_terminal(call, monkeypatch, capsys):
    wide = printed(call, WIDE, monkeypatch, capsys)
    for width in NARROW:
        narrow = printed(call, width, monkeypatch, capsys)
        assert narrow.count("…") <= wide.count("…"), f"{call} at {width} columns"
        # A heading appears once in a table and once in each block, so there may be more.
        lost = Counter(NUMBER.findall(wide)) - Counter(NUMBER.findall(narrow))
        assert not lost, f"{call} at {width} columns"


def shown(width, table):
    console = FittingConsole(file=StringIO(), width=width)
    console.print(table)
    return console.file.getvalue()


def made(**options):
    table = Table(**options)
    table.add_column("model", no_wrap=True)
    table.add_column("bits", justify="right")
    table.add_column("what it says")
    table.add_row("mamba-2.8b", "199,229,442", "impossible for any choice of weights, whatever they are")
    return table


def test_texts_fold_between_words_and_numbers_keep_their_width():
    text = shown(50, made())
    assert "199,229,442" in text and "mamba-2.8b" in text and "…" not in text
    assert max(map(len, text.splitlines())) <= 50
    assert "│" in text


def test_a_table_without_room_becomes_blocks():
    text = shown(30, made(title="Limits", caption="of weights"))
    assert text.splitlines()[:3] == ["Limits", "model: mamba-2.8b", "bits: 199,229,442"]
    assert "│" not in text and text.rstrip().endswith("of weights")


def test_rows_without_headings_are_named_by_their_first_cell():
    table = Table(show_header=False)
    table.add_row("inputs covered", "64^1024*1024")
    assert shown(20, table).split("\n")[0] == "inputs covered: "


def test_a_table_that_fits_looks_as_rich_shows_it():
    tables = [made(), made(title="Limits of models that are read token by token, and what follows"), made(box=None)]
    for table in tables:
        plain = Console(file=StringIO(), width=200)
        plain.print(table)
        assert shown(200, table) == plain.file.getvalue()
