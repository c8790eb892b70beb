"""Which commands are repeated, and what of their results is compared.

Of a certificate the bytes of both files; of a command's ``--json`` everything but the times it measured and recorded;
of a training the results, every point of every curve and every weight, bit for bit.
"""

import hashlib
import io
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.mutants.campaign import CASES

from separatrix.bounds import bounds
from separatrix.cli.app import run
from separatrix.constructions import constructions
from separatrix.tasks import tasks

TIMES = ("seconds", "made_at", "finished_at")
"""Fields of results that say when something was done and how long it took."""
LENGTHS = (8, 4, 6, 9, 5, 7, 3, 12)
"""A task is asked at the first of these that it has."""
PROFILED = ("parity", "majority", "equal_halves", "repeats", "running_sum")
MODELS = ("LSTM-(1,16)", "TF-(1,16)", "GRU-(1,16)", "Mamba-(1,16)", "DSS-(1,16)", "CNN-(2,16)", "RetNet-(1,16)")
TRAINING = (
    "--length", "8", "--lr", "1e-2,1e-3", "--steps", "12", "--batch", "16", "--evaluate-every", "6", "--examples", "64",
    "--goal", "0", "--device", "cpu", "--json",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A command of one kind; ``folder`` is where it writes, if it writes."""

    kind: str
    arguments: tuple[str, ...]
    folder: str | None = None

    @property
    def name(self) -> str:
        """The command in words."""
        return " ".join(self.arguments)


def certifying(longer: bool) -> Iterator[Case]:
    """Every construction, with its variants where the mutants have them."""
    for number, case in enumerate(CASES if longer else CASES[::5]):
        if case.arithmetic is not None:
            continue  # the command line certifies in fixed point
        settings = [word for name, value in case.parameters.items() for word in ("--set", f"{name}={value}")]
        flags = [word for name, value in case.options.items() for word in (f"--{name}", str(value))]
        folder = f"{number}-{case.name}"
        words = ("certify", case.name, "--length", str(case.length), *settings, *flags, "--out", folder, "--json")
        yield Case("certify", words, folder)


def asking(longer: bool) -> list[Case]:
    """What is asked of everything else in the catalogs, or of every tenth entry."""
    everything = list(_asked(longer))
    return everything if longer else everything[::10]


def _asked(longer: bool) -> Iterator[Case]:
    for name, task in tasks().items():
        length = next((each for each in LENGTHS if _has(task, each)), None)
        if length is not None:
            yield Case("sample", ("sample", name, "--length", str(length), "--count", "3", "--seed", "7", "--json"))
    named = ((task, model) for bound in bounds().values() for task in bound.task_names for model in bound.models)
    for task, model in dict.fromkeys(named):
        yield Case("bound", ("bound", task, "--model", model, "--length", "16", "--limit", "4", "--json"))
    for name in constructions():
        for length in ("4", "8"):
            yield Case("protocol", ("protocol", name, "--length", length, "--seed", "3", "--json"))
    where = "separatrix.profiles.examples"
    for name in PROFILED:
        yield Case("profile", ("profile", f"{where}:{name}", "--length", "6", "--json"))
    for count in (16, 100, 1000):
        yield Case("code", ("code", "--count", str(count), "--json"))
        yield Case("code", ("code", "--count", str(count), "--two-sided", "--max-inner", "1/3", "--json"))
    for name in ("index-lookup", "equality") if longer else ():
        yield Case("frontier", ("frontier", name, "--from", "4", "--to", "5", "--json"))


def training(threads: int, executor: str, models: Sequence[str]) -> Iterator[Case]:
    """One ensemble of two runs for each model."""
    for model in models:
        store = f"{model}-{threads}.sqlite"
        where = ("--store", store, "--threads", str(threads), "--executor", executor, "--save-every", "3600")
        more = ("--workers", "2") if executor == "processes" else ()
        yield Case("train", ("train", "index-lookup", model, *TRAINING, *where, *more), store)


def result_of(case: Case) -> dict[str, Any]:
    """Run a case in the current folder: its exit code, and a digest of all that must not depend on the process."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(case.arguments)
    if case.kind == "train":
        return {"code": code, "result": _trained(Path(case.folder or "")) if code == 0 else err.getvalue()}
    text = json.dumps(without_times(json.loads(out.getvalue())), sort_keys=False) if out.getvalue() else err.getvalue()
    files = sorted(Path(case.folder).iterdir()) if case.folder and Path(case.folder).is_dir() else []
    return {
        "code": code,
        "result": {"printed": _digest(text.encode()), **{each.name: _digest(each.read_bytes()) for each in files}},
    }


def without_times(value: Any) -> Any:
    """The same value without the fields that hold times."""
    if isinstance(value, dict):
        return {key: without_times(each) for key, each in value.items() if key not in TIMES}
    return [without_times(each) for each in value] if isinstance(value, list) else value


def _trained(store: Path) -> dict[str, Any]:
    from tools.soak.stores import contents

    return {
        name: {
            "result": [each["ending"], each["step"], each["accuracy"], each["loss"], each["parameters"]],
            "curve": each["curve"],
            "weights": _digest(b"".join(each["weights"][key] for key in sorted(each["weights"]))),
        }
        for name, each in contents(store).items()
    }


def _has(task: Any, length: int) -> bool:
    try:
        task.check_length(length)
    except ValueError:
        return False
    return True


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def live(folder: Path, cases: Sequence[Case]) -> dict[str, Any]:
    """Run cases one after another in a folder of their own."""
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    return {case.name: {"kind": case.kind, **result_of(case)} for case in cases}
