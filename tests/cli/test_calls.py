"""Calls that Hypothesis draws from the application's own command tree keep the contract of the command line.

Every verb and option is read from Typer, so a new one is attacked by existing. Values are sensible or hostile. A call
that works for long is interrupted as by Ctrl-C. ``pytest --hypothesis-profile=search tests/cli/test_calls.py`` draws
more calls.
"""

import gc
import hashlib
import io
import json
import shutil
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from separatrix.capacities.catalog import presets
from separatrix.cli.app import application, run
from separatrix.constructions import constructions
from separatrix.models.architecture import architectures
from separatrix.tasks import tasks
from separatrix.training.experiments.catalog import experiments

VERBS: dict[str, Any] = typer.main.get_command(application()).commands  # pyright: ignore[reportAttributeAccessIssue]
SECONDS = 0.3
"""After which a call is interrupted."""
HOSTILE = (
    "", " ", "-", "--", "-1", "0", "1", "7", "1000003", "99999999999999999999", "1e400", "nan", "-inf", "0x10", "1/0",
    "1/3", "½", "naïve 💥", "\u202e", "a" * 5000, "{}", "None", "%s%n", "missing", "missing/deeper/file.json", "folder",
    "good", "good/network.safetensors", "cut", "empty.json", "deep.json", "nan.json", "binary.toml", "several.toml",
    "text.sqlite", "newer.sqlite", "functions.py:raises", "functions.py:missing", "functions.py:wrong", "functions.py",
    "syntax.py:f", "a=b", "a=b=c", "=", "length=8", "alphabet=NaN", "cut:0", "cut:-1", "1,2,3", ",,,", "1-1000000000",
)  # fmt: skip
SENSIBLE = {
    "task": tuple(tasks()), "construction": tuple(constructions()), "network": tuple(constructions()),
    "architecture": tuple(f"{name}-(1,8)" for name in architectures()), "config": tuple(presets()),
    "name": tuple(experiments()), "experiment": tuple(experiments()), "length": ("2", "4", "5", "8", "12", "16"),
    "max_length": ("8", "16"), "count": ("1", "3", "16"), "seeds": ("0", "1,2"), "seed": ("0", "1"),
    "max_inner": ("1/4", "1/2"), "precision": ("8", "16", "float32"), "bits": ("8", "16"), "exponent": ("1", "2"),
    "rounding": ("down", "nearest"), "arithmetic": ("fixed:N=16,Kc=2,down", "float32", "bfloat16"),
    "gain": ("4", "1/2", "64"), "limit": ("1", "20"), "position": ("0", "3"), "settings": ("alphabet=4", "symbols=4"),
    "version": ("repaired", "token"), "attention": ("softmax", "hard", "linear", "relu"), "out": ("new", "new/deeper"),
    "store": ("good.sqlite", "new.sqlite"), "first": ("4", "8"), "last": ("8", "16"), "alphabet": ("2", "01", "abc"),
    "model": ("rnn", "transformer-1layer", "LSTM-(1,64)", "TF-(1,64)", "fnn"), "partition": ("cut:4", "odd-even"),
    "max_time": ("2",), "max_memory": ("300M", "1G"), "to": ("torch", "safetensors"), "dtype": ("float32", "float64"),
    "rates": ("1e-3", "1e-3,5e-4"), "steps": ("1", "3"), "batch": ("2", "4"), "examples": ("8", "16"),
    "every": ("1", "2"), "goal": ("0.5",), "widths": ("8", "8,16"), "ladder": ("4", "4,8"), "device": ("cpu", "auto"),
    "executor": ("local",), "workers": ("1",), "threads": ("1",), "scale": ("quick",), "figure": ("figure.svg",),
    "plot": ("plot.svg",), "action": ("list", "show", "compare", "export"), "names": ("all", "runs.csv"),
    "catalog": ("tasks", "constructions", "bounds"), "split": ("train", "eval"), "file": ("good", "cut"),
    "target": ("functions.py:majority", "functions.py:parity"),
}  # fmt: skip
ALWAYS = ("length", "steps", "examples", "max_time", "executor", "batch", "workers", "threads")
"""Given in nearly every call: their defaults ask for long work, or for other processes."""
NEVER = ("host", "port", "install_completion", "address")
"""They ask for the network or the user's shell."""
ENDS_EARLY = {"serve": ("--host", "no such host"), "atlas": ("--out", "empty.json/site")}
"""A server runs until it is stopped and the atlas takes a minute: of these only the refusals are drawn."""
FUNCTIONS = """
def majority(x): return 2 * sum(map(int, x)) > len(x)
def parity(x): return sum(map(bool, x)) % 2
def raises(x): raise RuntimeError("a fault of the\\nuser's own")
def wrong(x): return object()
"""


@st.composite
def calls(draw: st.DrawFn, verb: str) -> list[str]:
    """One call of a verb: its required parameters, some of the others, and now and then a word too many."""
    hostility = draw(st.sampled_from((0, 0, 1, 4)))
    words = [verb]
    for parameter in VERBS[verb].params:
        wanted = parameter.required or parameter.name in ALWAYS
        if parameter.name in NEVER or draw(st.integers(1, 20)) > (19 if wanted else 4):
            continue
        if parameter.param_type_name != "argument":
            words.append(draw(st.sampled_from((*parameter.opts, *parameter.secondary_opts))))
        if not getattr(parameter, "is_flag", False):
            hostile = st.sampled_from(HOSTILE) | st.integers().map(str) | st.floats().map(str)
            good = st.sampled_from(SENSIBLE.get(parameter.name, HOSTILE))
            words.append(draw(hostile if draw(st.integers(1, 10)) <= hostility else good))
    if draw(st.integers(1, 40)) <= hostility:
        words.insert(draw(st.integers(0, len(words))), draw(st.sampled_from(HOSTILE)))
    return [*words, *ENDS_EARLY.get(verb, ())]


@contextmanager
def interrupted_later() -> Iterator[None]:
    gc.disable()  # an interrupt in the middle of a collection is only printed
    before = signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        gc.enable()


def contents(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Good files of the kinds that verbs read, and broken ones."""
    folder = tmp_path_factory.mktemp("calls") / "template"
    folder.mkdir()
    (folder / "functions.py").write_text(FUNCTIONS)
    import_module("matplotlib.figure")  # a module whose import is interrupted stays half loaded in this process
    import_module("onnx")
    train = ["train", "index-lookup", "LSTM-(1,4)", "--length", "4", "--steps", "1", "--examples", "8", "--batch", "2"]
    with chdir(folder), redirect_stdout(io.StringIO()):
        assert run(["certify", "index-lookup", "--length", "8", "--out", "good"]) == 0
        assert run([*train, "--store", "good.sqlite", "--json"]) == 0
    shutil.copytree(folder / "good", folder / "cut")
    weights = folder / "cut" / "network.safetensors"
    weights.write_bytes(weights.read_bytes()[:100])
    (folder / "folder").mkdir()
    (folder / "empty.json").write_text("")
    (folder / "deep.json").write_text("[" * 100_000)
    (folder / "nan.json").write_text('{"model_type": "gpt2", "n_embd": NaN, "n_layer": -3}')
    (folder / "binary.toml").write_bytes(bytes(range(256)) * 20)
    (folder / "several.toml").write_text('name = 3\ntask = "no such"\n[axes]\nlenght = [0, -1]\nsteps = []\n')
    (folder / "text.sqlite").write_text("this is no database\n" * 400)
    (folder / "syntax.py").write_text("def f(x:\n")
    with sqlite3.connect(folder / "newer.sqlite") as newer:
        newer.execute("pragma user_version = 999999")
    newer.close()
    return folder


@pytest.mark.parametrize("verb", VERBS)
def test_every_call_keeps_the_contract(verb: str, template: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEPARATRIX_STORE", "good.sqlite")

    @settings(max_examples=8 if settings().derandomize else 300, suppress_health_check=list(HealthCheck))
    @given(calls(verb))
    @example([verb, "\ud800"])
    @example([verb, "--no-such-option"])
    def attack(words: list[str]) -> None:
        place = template.with_name("place")
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(template, place)
        before = contents(place)
        out, err = io.StringIO(), io.StringIO()
        with chdir(place), redirect_stdout(out), redirect_stderr(err), interrupted_later():
            code = run(words)
        after = contents(place)
        assert code in (0, 1, 2, 130)
        assert "Traceback" not in err.getvalue()
        assert not [name for name in after if name.endswith((".partial", ".tmp", "-journal"))], "nothing half-written"
        if code == 2:
            lines = [line for line in err.getvalue().splitlines() if not line.startswith("note:")]
            assert len(lines) == 1 and lines[0].startswith("separatrix: ")
            assert out.getvalue() == "", "bad input prints no result"
            assert after == before, "a refused call changes no file"
        elif code != 130 and "--json" in words and "--help" not in words:
            assert isinstance(json.loads(out.getvalue(), parse_constant=pytest.fail), dict)

    attack()
