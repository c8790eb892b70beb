"""Every place where the product reads a file: the file, what reads it, and what must be true afterwards.

A reader has a file in a furnished folder, commands that read it (taken in turn), and mutants of its format. ``strict``
readers have a checksum: nothing that was changed may be read. Of readers that only look, no file may change, whatever
the ending; of those that train, none when the call is refused.
"""

import hashlib
import json
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeAlias

from tools.calls.sandbox import call, hand_over
from tools.files.damage import Mutant, byte_mutants, place_mutants
from tools.files.databases import database_mutants
from tools.files.structures import header_end, json_mutants, tensor_mutants, toml_mutants, toml_text

from separatrix import cli
from separatrix.errors import SeparatrixError

Format: TypeAlias = Literal["json", "toml", "safetensors", "sqlite", "python"]
SWEEP: dict[str, Any] = {
    "title": "Small",
    "halving": False,
    "first_goal_ends": False,
    "base": {
        "task": "index-lookup", "steps": 6, "batch": 2, "evaluate_every": 3, "probe_examples": 8, "goal": 0.0,
        "evaluation_examples": 8, "snapshots": [0, 3], "task_parameters": {"alphabet": 4},
    },
    "axes": {"architecture": ["LSTM-(1,4)"], "length": [4], "learning_rate": [0.01, 0.001]},
}  # fmt: skip
CONFIGS: tuple[dict[str, Any], ...] = (
    {"model_type": "mamba2", "hidden_size": 64, "num_hidden_layers": 2, "state_size": 16, "expand": 2, "head_dim": 16,
     "n_groups": 1, "conv_kernel": 4, "num_heads": 8, "time_step_limit": [0.0, 1.0]},
    {"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024},
    {"d_model": 768, "n_layer": 24, "ssm_cfg": {}},
)  # fmt: skip
FUNCTION = '''"""A function to profile."""

def majority(x):
    """Whether most symbols are 1."""
    return 2 * sum(x) > len(x)
'''
MIXER = '''"""A mixer to train."""
from torch import nn

class Mixer(nn.Module):
    """A linear map of each position."""

    def __init__(self, width):
        super().__init__()
        self.inner = nn.Linear(width, width)

    def forward(self, x):
        return self.inner(x)
'''
TRAIN = ("sweep", "half.toml", "--store", "half.sqlite", "--no-estimate", "--threads", "1", "--json")


@dataclass(frozen=True)
class Reader:
    """A file, and the calls that read it."""

    name: str
    file: str
    format: Format
    calls: tuple[tuple[str, ...], ...]
    needs: tuple[str, ...] = ()
    """Other files and folders of the furnished folder that the calls use."""
    strict: bool = False
    may_be_false: bool = False
    """Whether exit code 1 is an answer: a claim is false."""
    goes_on: bool = False
    """Whether a damaged file must not matter: training ends as if nothing had been there, and says so."""
    slow: bool = False
    outputs: tuple[str, ...] = ()
    """What the calls may write."""
    main: Callable[[], object] = cli.main
    after: Callable[[Path], None] | None = None
    """Done to the folder after the change."""
    links: bool = True
    """Whether a link that leads out of the folder may be followed."""

    def mutants(self, data: bytes, count: int, seed: int) -> Iterator[Mutant]:
        """So many mutants of the file, the kinds that can be counted first."""
        chance = random.Random(f"{seed} {self.name}")
        places = place_mutants(data)
        yield from islice(places, count)
        rest = max(0, count - len(places))
        meaning = _mutants_of(self.format, data, chance)
        bytewise = byte_mutants(data, _interesting(self.format, data), chance)
        yield from islice(_both(bytewise, meaning), rest)


def _both(first: Iterator[Mutant], second: Iterator[Mutant] | None) -> Iterator[Mutant]:
    """One of the bytes, two of the meaning, and so on."""
    while True:
        yield next(first)
        if second is not None:
            yield next(second)
            yield next(second)


def _mutants_of(kind: Format, data: bytes, chance: random.Random) -> Iterator[Mutant] | None:
    if kind == "json":
        return json_mutants(data, chance)
    if kind == "toml":
        return toml_mutants(SWEEP, chance)
    if kind == "safetensors":
        return tensor_mutants(data, chance)
    return database_mutants(data, chance) if kind == "sqlite" else None


def _interesting(kind: Format, data: bytes) -> Sequence[int]:
    """Places at which something of the format begins."""
    if kind == "safetensors":
        end = header_end(data)
        header = json.loads(data[8:end])
        ends = [end + place for each in header.values() if "data_offsets" in each for place in each["data_offsets"]]
        return [1, 7, 8, 9, end - 1, end, end + 1, *ends[:24]]
    if kind == "sqlite":
        page = int.from_bytes(data[16:18], "big")
        return [15, 16, 18, 60, 64, 99, 100, 101, *range(page - 1, len(data), page)][:24]
    breaks = [place for place, byte in enumerate(data) if byte in b"{}[],:\n"]
    return breaks[:: max(1, len(breaks) // 24)]


# -- what reads ----------------------------------------------------------------------------------------------


def answering(function: Callable[[], object]) -> Callable[[], None]:
    """A function as a call: one line and exit code 2 for bad input, as the command line has it."""

    def main() -> None:
        try:
            function()
        except SeparatrixError as error:
            sys.stderr.write(f"separatrix: {error}\n")
            sys.exit(2)
        sys.exit(0)

    return main


def _load_exported() -> None:
    from separatrix.models import load_exported

    load_exported("model")


def _read_surveys() -> None:
    from separatrix.site.sections.frontier import recorded_html, recorded_part
    from separatrix.table.recorded import Sources, recorded_surveys

    for file, found in recorded_surveys(Sources((Path("surveys"),), None)):
        recorded_html(recorded_part(file, found))


def _explore() -> None:
    """What the explorer asks a store for."""
    from separatrix.site.explorer.limits import Limits
    from separatrix.site.explorer.runs import list_runs, opened, run_named, snapshot_file
    from separatrix.training.checkpoints import read_weights

    store = Path("runs.sqlite")
    for summary in list_runs(store, None, Limits()).runs:
        with opened(store) as records:
            for step in summary.kept_steps:
                file = snapshot_file(records, run_named(records, summary.name), step)
                read_weights(file, summary.name)


def _hash_fits(folder: Path) -> None:
    """Make the certificate name the file as it is now, as someone who forges one would."""
    path, network = folder / "good" / "certificate.json", folder / "good" / "network.safetensors"
    if network.is_file() and not network.is_symlink() and network.stat().st_size < 1 << 28:
        content = json.loads(path.read_text())
        content["sha256"] = hashlib.sha256(network.read_bytes()).hexdigest()
        path.write_text(json.dumps(content))


def _both_checkpoints(folder: Path) -> None:
    """The checkpoint before the newest one is gone as well."""
    for path in (folder / "half.files" / "checkpoints").glob("*.previous"):
        path.unlink()


def readers(folder: Path) -> tuple[Reader, ...]:
    """All of them; ``folder`` is furnished."""
    run = sorted(json.loads(line)["name"] for line in _lines(folder / "exported" / "runs.json"))[0]
    beside = {each.parent.name: str(each.relative_to(folder)) for each in folder.glob("runs.files/*/*.safetensors")}
    (newest,) = (str(each.relative_to(folder)) for each in folder.glob("half.files/checkpoints/*.safetensors"))
    looks = (
        ("runs", "list", "--store", "runs.sqlite", "--json"),
        ("runs", "show", run, "--store", "runs.sqlite", "--json"),
        ("runs", "export", "new.csv", "--store", "runs.sqlite", "--json"),
        ("sweep", "sweep.toml", "--store", "runs.sqlite", "--dry-run", "--no-estimate", "--json"),
        ("runs", "list", "--records", "runs.sqlite", "--json"),
    )
    half = ("half.toml", "half.sqlite", "half.files")
    frontier = ("frontier", "index-lookup", "--from", "4", "--to", "4", "--store", "frontier.json", "--json")
    return (
        Reader("check: certificate", "good/certificate.json", "json", (("check", "good", "--json"),), ("good",),
               may_be_false=True),
        Reader("check: weights", "good/network.safetensors", "safetensors", (("check", "good", "--json"),), ("good",),
               strict=True, may_be_false=True, links=False),
        Reader("check: weights, hash made to fit", "good/network.safetensors", "safetensors",
               (("check", "good", "--json"),), ("good",), may_be_false=True, after=_hash_fits, links=False),
        Reader("protocol: network", "good/network.safetensors", "safetensors",
               (("protocol", "good/network.safetensors", "--json"),), ("good",)),
        Reader("sweep: sweep file", "sweep.toml", "toml",
               (("sweep", "sweep.toml", "--store", "none.sqlite", "--dry-run", "--no-estimate", "--json"),)),
        Reader("capacity: config.json", "config.json", "json", (("capacity", "config.json", "--json"),)),
        Reader("capacity: config.json of gpt2", "gpt2.json", "json", (("capacity", "gpt2.json", "--json"),)),
        Reader("capacity: config.json of mamba", "mamba.json", "json", (("capacity", "mamba.json", "--json"),)),
        Reader("runs, sweep --dry-run: store", "runs.sqlite", "sqlite", looks, ("runs.files", "sweep.toml"),
               outputs=("new.csv",)),
        Reader("explorer: store", "runs.sqlite", "sqlite", ((),), ("runs.files",), main=answering(_explore)),
        Reader("train: store", "half.sqlite", "sqlite", (TRAIN,), half, slow=True,
               outputs=("half.sqlite", "half.files")),
        Reader("train: newest checkpoint", newest, "safetensors", (TRAIN,), half, goes_on=True, slow=True,
               outputs=("half.sqlite", "half.files")),
        Reader("train: only checkpoint", newest, "safetensors", (TRAIN,), half, goes_on=True, slow=True,
               outputs=("half.sqlite", "half.files"), after=_both_checkpoints),
        Reader("runs bits: weights", beside["weights"], "safetensors",
               (("runs", "bits", run, "--store", "runs.sqlite", "--bits", "4", "--json"),), ("runs.sqlite",
               "runs.files"), links=False),
        Reader("runs export: kept weights", beside["snapshots"], "safetensors",
               (("runs", "export", "new.json", "--store", "runs.sqlite", "--json"),), ("runs.sqlite", "runs.files"),
               outputs=("new.json", "new.files"), links=False),
        Reader("runs: exported records", "exported/runs.json", "json",
               (("runs", "list", "--records", "exported", "--json"),
                ("runs", "show", run, "--records", "exported/runs.json", "--json"),
                ("runs", "export", "new.csv", "--records", "exported/runs.json", "--json")), ("exported",),
               outputs=("new.csv",)),
        Reader("frontier: store", "frontier.json", "json", (frontier,), outputs=("frontier.json",)),
        Reader("atlas: recorded frontiers", "surveys/survey.json", "json", ((),), ("surveys",),
               main=answering(_read_surveys)),
        Reader("load_exported: config.json", "model/config.json", "json", ((),), ("model",),
               main=answering(_load_exported)),
        Reader("load_exported: weights", "model/model.safetensors", "safetensors", ((),), ("model",), strict=True,
               main=answering(_load_exported)),
        Reader("profile: function", "function.py", "python",
               (("profile", "function.py:majority", "--length", "4", "--json"),), outputs=("__pycache__",)),
        Reader("capacity: mixer", "mixer.py", "python", (("capacity", "mixer.py:Mixer-(1,8)", "--json"),),
               outputs=("__pycache__",)),
    )  # fmt: skip


def _lines(path: Path) -> list[str]:
    return [line.rstrip(",") for line in path.read_text().splitlines() if line.startswith('{"accuracy"')]


# -- the folder ----------------------------------------------------------------------------------------------


def furnish(folder: Path) -> None:
    """Fill an empty folder with one good file of each kind, made by the product itself."""
    folder.mkdir(parents=True)
    (folder / "sweep.toml").write_text(toml_text(SWEEP))
    (folder / "half.toml").write_text(
        toml_text({**SWEEP, "base": {**SWEEP["base"], "steps": 12, "evaluate_every": 6, "snapshots": []}})
    )
    (folder / "function.py").write_text(FUNCTION)
    (folder / "mixer.py").write_text(MIXER)
    for name, config in zip(("config", "gpt2", "mamba"), CONFIGS, strict=True):
        (folder / f"{name}.json").write_text(json.dumps(config, indent=1))
    train = ("sweep", "sweep.toml", "--store", "runs.sqlite", "--no-estimate", "--threads", "1", "--json")
    _done(folder, "certify", "index-lookup", "--length", "4", "--set", "alphabet=2", "--out", "good")
    _done(folder, "export", "equality", "--length", "6", "--to", "torch", "--out", "model")
    _done(folder, *train)
    _done(folder, "runs", "export", "exported/runs.json", "--store", "runs.sqlite")
    _done(folder, "frontier", "index-lookup", "--from", "4", "--to", "4", "--store", "frontier.json")
    survey = _done(folder, "frontier", "index-lookup", "--from", "4", "--to", "5", "--json")
    (folder / "surveys").mkdir()
    (folder / "surveys" / "survey.json").write_text(survey)
    _done(folder, main=answering(_train_half))
    for log in folder.glob("*.sqlite-*"):
        raise RuntimeError(f"{log} was left")


def _done(folder: Path, *arguments: str, main: Callable[[], object] = cli.main) -> str:
    """What a call printed that must succeed; in a process of its own, as one with torch's threads cannot be forked."""
    hand_over(folder)
    if (made := call(arguments, folder, "file", 120.0, main)).code != 0:
        raise RuntimeError(f"the folder for the files could not be furnished: {made}")
    return made.out


def _train_half() -> None:
    """Train until a checkpoint and one before it are there, and stop as by Ctrl-C."""
    import torch

    from separatrix.training.driver import Driver
    from separatrix.training.events import Saved
    from separatrix.training.executors.local import LocalExecutor
    from separatrix.training.records import Records
    from separatrix.training.sweep_file import read_sweep

    class Counter:
        saved = 0

        def started(self, group: object, step: int) -> None: ...

        def happened(self, group: object, event: object) -> None:
            self.saved += isinstance(event, Saved)

        def said(self, message: str) -> None: ...

    torch.set_num_threads(1)
    sweep, counter = read_sweep(Path("half.toml")), Counter()

    def stopped() -> bool:
        return counter.saved >= 5

    with Records(Path("half.sqlite")) as records:
        executor = LocalExecutor(torch.device("cpu"), 0.0, stopped)
        Driver(records, executor, {}, counter, stopped=stopped).run(sweep.groups(sweep.cells()))
