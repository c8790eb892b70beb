"""The folder in which calls are made: good files of every kind that verbs read, and traps.

Good are a certificate and a refutation, stores with runs that were trained and with results that were invented for
every cell of the papers' experiments, exported runs, a sweep file, a model's config, functions, and the documentation's
own examples of files for ``--with``. Traps are broken ones of all of these, closed and unreadable places, and a link
that leads outside.
"""

import json
import re
import shutil
import sqlite3
from pathlib import Path

from tools.calls.fitting_parts import LOOKUP, WORDS, Place
from tools.calls.sandbox import call, hand_over
from tools.pages import ROOT

from separatrix.capacities.catalog import presets
from separatrix.training.events import Point, Result
from separatrix.training.experiments.catalog import experiments
from separatrix.training.records import Records

COMMANDS = (
    ("certify", "index-lookup", "--length", "8", "--out", "good"),
    ("certify", "index-lookup", "--length", "8", "--gain", "1", "--out", "refuted"),
    ("train", "index-lookup", "LSTM-(1,4)", "--length", "4", "--steps", "1", "--examples", "8", "--batch", "2",
     "--seed", "0,1", "--store", "good.sqlite", "--json"),
    ("train", LOOKUP.task, LOOKUP.architecture, "--length", str(LOOKUP.length), "--set", "alphabet=3", "--lr",
     str(LOOKUP.learning_rate), "--steps", str(LOOKUP.steps), "--examples", str(LOOKUP.evaluation_examples), "--batch",
     str(LOOKUP.batch), "--store", "trained.sqlite", "--json"),
    ("train", WORDS.task, WORDS.architecture, "--length", str(WORDS.length), "--lr", str(WORDS.learning_rate),
     "--steps", str(WORDS.steps), "--examples", str(WORDS.evaluation_examples), "--batch", str(WORDS.batch), "--store",
     "trained.sqlite", "--json"),
    ("certify", LOOKUP.name, "--store", "trained.sqlite", "--out", "trained"),
    ("sweep", "small.toml", "--store", "good.sqlite", "--no-estimate", "--json"),
    ("runs", "export", "exported.json", "--store", "good.sqlite"),
    ("runs", "export", "exports/runs.json", "--store", "good.sqlite"),
    ("frontier", "index-lookup", "--from", "2", "--to", "3", "--store", "frontier.json", "--json"),
)  # fmt: skip
"""What the product makes itself; two certificates end with exit code 1, as not every input is answered rightly."""
SWEEP = """
title = "Small"
[base]
task = "index-lookup"
architecture = "LSTM-(1,4)"
steps = 2
batch = 2
evaluation_examples = 8
probe_examples = 8
[axes]
length = [4, 6]
learning_rate = [1e-3, 5e-4]
"""
FUNCTIONS = """
import time

def majority(x):
    return 2 * sum(map(int, x)) > len(x)

def parity(x):
    return sum(map(bool, x)) % 2

def constant(x):
    return 0

def first(x):
    return x[0]

def labels(x):
    return [int(x[at] == x[0]) for at in range(len(x))]

def words(x):
    return "".join(map(str, x))[::-1]

def raises(x):
    raise RuntimeError("a fault of the\\nuser's own")

def sleeps(x):
    time.sleep(1000)

def wrong(x):
    return object()
"""
UNREADABLE = "unreadable.json"
GUIDES = {"ends_agree.py": "own-task.md", "one_hot_lookup.py": "own-theorem.md", "majority_lemma.py": "own-theorem.md"}
"""Files for ``--with``, with the page that shows them."""


def furnish(folder: Path) -> Place:
    """Fill an empty folder, and say what fitting calls must know about it."""
    folder.mkdir(parents=True)
    for home in (folder.with_name("home"), folder.parent):
        home.mkdir(exist_ok=True)
        home.chmod(0o755)
    (folder / "small.toml").write_text(SWEEP)
    (folder / "functions.py").write_text(FUNCTIONS)
    (folder / "config.json").write_text(json.dumps(dict(presets()["gpt2"].config)))
    write_own_files(folder)
    _invent(folder / "invented.sqlite")
    hand_over(folder.parent)
    for arguments in COMMANDS:
        # In processes of their own, as the calls: a process that has used torch's threads cannot be forked.
        if (made := call(arguments, folder, "file", 120.0)).code != int(
            not {"refuted", "trained"}.isdisjoint(arguments)
        ):
            raise RuntimeError(f"the folder for the calls could not be furnished: {made}")
    _set_traps(folder)
    hand_over(folder)
    with Records(folder / "good.sqlite", create=False) as records:
        return Place(folder, tuple(record.spec.name for record in records.all()))


def lay_out(template: Path, folder: Path) -> None:
    """A copy of the furnished folder in which a call may do what it likes."""
    if folder.exists():
        for path in [folder, *(each for each in folder.rglob("*") if each.is_dir() and not each.is_symlink())]:
            path.chmod(0o755)
        shutil.rmtree(folder)
    shutil.copytree(template, folder, symlinks=True)
    (folder / UNREADABLE).chmod(0)
    hand_over(folder)


def write_own_files(folder: Path) -> None:
    """The files for ``--with``, as the guides show them."""
    for name, page in GUIDES.items():
        (folder / name).write_text(_shown(page, name), encoding="utf-8")


def _shown(page: str, name: str) -> str:
    """A file that a guide shows: under its name, or else the guide's first block of Python."""
    text = (ROOT / "docs" / "how-to" / page).read_text(encoding="utf-8")
    titled = re.search(rf'^```python title="{re.escape(name)}"\n(.*?)^```', text, re.MULTILINE | re.DOTALL)
    found = titled or re.search(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise RuntimeError(f"docs/how-to/{page} shows no {name}")
    return found[1]


def _invent(store: Path) -> None:
    """A store with a result for every run of the papers' experiments at quick scale, trained by nobody."""
    with Records(store) as records:
        for experiment in experiments().values():
            for cell in experiment.sweep("quick").cells():
                where = {"device_name": "a processor", "group": str(cell.coordinates), "members": len(cell.runs)}
                results = [
                    Result(run.name, "steps", 500, 0.5 + at / 10, 0.5, 30.0, 1000) for at, run in enumerate(cell.runs)
                ]
                records.add_results(cell.runs, results, where, None)
                records.add_points(
                    Point(run.name, step, 1.0, 0.1, step / 500) for run in cell.runs for step in (250, 500)
                )


def _set_traps(folder: Path) -> None:
    good = folder / "good"
    for name, change in (("cut", lambda data: data[: len(data) // 2]), ("flipped", _flipped)):
        shutil.copytree(good, folder / name)
        weights = next((folder / name).glob("*.safetensors"))
        weights.write_bytes(change(weights.read_bytes()))
    (folder / "folder").mkdir()
    (folder / "closed").mkdir(mode=0o555)
    (folder / UNREADABLE).write_text("{}")
    (folder / "outside").symlink_to("/proc/self/nothing")
    (folder / "empty.json").write_text("")
    (folder / "deep.json").write_text("[" * 100_000)
    (folder / "nan.json").write_text(json.dumps({"model_type": "gpt2", "n_embd": float("nan"), "n_layer": -3}))
    (folder / "binary.toml").write_bytes(bytes(range(256)) * 20)
    (folder / "several.toml").write_text('name = 3\ntask = "no such"\n[axes]\nlenght = [0, -1]\nsteps = []\n')
    (folder / "text.sqlite").write_text("this is not a database\n" * 400)
    with sqlite3.connect(folder / "newer.sqlite") as newer:
        newer.execute("create table groups (anything)")
        newer.execute("pragma user_version = 999999")
    newer.close()
    (folder / "syntax.py").write_text("def f(x:\n")
    (folder / "broken_own.py").write_text((folder / "ends_agree.py").read_text().replace("length, split", "length"))


def _flipped(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 0x40]) + data[middle + 1 :]
