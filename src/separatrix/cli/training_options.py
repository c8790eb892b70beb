"""Options and workings that the verbs which train share: where, with what, into which store."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.extras import require
from separatrix.training import EXECUTORS

if TYPE_CHECKING:
    from separatrix.training import Executor, RunSpec

SHOWN_DIGITS = 8
"""So much of a run's name is in tables; ``runs show`` takes it."""

StoreOption = Annotated[
    Path | None, typer.Option("--store", help="The store of records; SEPARATRIX_STORE or runs.sqlite if not given.")
]


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that the fields of a dataclass declare, in place of its parameter of that class."""
    signature = inspect.signature(command)
    annotated = {name: each.annotation for name, each in signature.parameters.items()}
    classes = {name: each for name, each in annotated.items() if isinstance(each, type)}
    groups = {name: each for name, each in classes.items() if is_dataclass(each)}
    spread: dict[str, inspect.Parameter] = {}
    for name, parameter in signature.parameters.items():
        spread |= inspect.signature(groups[name]).parameters if name in groups else {name: parameter}

    @wraps(command)
    def called(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{each.name: given.pop(each.name) for each in fields(group)})
        command(**given)

    keyword = inspect.Parameter.KEYWORD_ONLY
    called.__dict__["__signature__"] = inspect.Signature([each.replace(kind=keyword) for each in spread.values()])
    called.__annotations__ = {name: each.annotation for name, each in spread.items()}
    return called


@dataclass(frozen=True)
class Place:
    """Where training happens: the options of every verb that trains."""

    device: Annotated[str, typer.Option("--device", help="auto, cpu, cuda or cuda:NUMBER.")] = "auto"
    executor: Annotated[
        str, typer.Option("--executor", help="local, turns (several groups at once on one GPU), processes or ray.")
    ] = "local"
    workers: Annotated[
        int,
        typer.Option("--workers", help="Worker processes, 0 for one on each core; or groups that take turns, 0 for 6."),
    ] = 0
    address: Annotated[str | None, typer.Option("--address", help="Address of a running Ray cluster.")] = None
    threads: Annotated[
        int,
        typer.Option("--threads", help="Threads of a process; 0 leaves it to torch, 1 is best on a busy machine."),
    ] = 0
    save_every: Annotated[float, typer.Option("--save-every", help="Seconds between two checkpoints.")] = 30.0

    def check(self) -> None:
        """Raise a one-line error unless the numbers make sense."""
        if self.executor not in EXECUTORS:
            raise UnknownNameError("executor", self.executor, EXECUTORS)
        if self.address is not None and self.executor != "ray":
            raise SeparatrixError(f"--address {self.address} is for --executor ray, not {self.executor}; remove one")
        if (
            self.workers
            and self.executor not in ("processes", "turns")
            and (self.workers, self.executor) != (1, "local")
        ):
            why = (
                "one group after another" if self.executor == "local" else "as many groups as the cluster has room for"
            )
            raise SeparatrixError(
                f"--workers {self.workers} is for --executor processes or turns; {self.executor} trains {why}: name "
                "another executor or leave it out"
            )
        if not 0 <= self.threads <= 4096:
            raise SeparatrixError(f"--threads {self.threads} is out of range; choose 1 to 4096, or 0")
        if not 0 < self.save_every <= 86400:
            raise SeparatrixError(f"--save-every {self.save_every} is out of range; choose above 0 to 86400 seconds")
        if self.executor == "ray":
            require("--executor ray", "ray")
        if self.address is not None:
            from separatrix.training import check_address

            check_address(self.address)

    def groups_at_once(self) -> int:
        """Return how many groups train side by side on this machine."""
        import os

        return (self.workers or os.cpu_count() or 1) if self.executor == "processes" else 1

    def threads_of_worker(self) -> int:
        """Return the threads of each process that trains; 0 where that is left to torch."""
        import os

        cores = os.cpu_count() or 1
        share = max(1, cores // self.groups_at_once()) if self.executor == "processes" else 0
        return self.threads or share

    def device_text(self) -> str:
        """Return the device for people."""
        from separatrix.training import device_text

        return device_text(self.device, self.threads_of_worker())

    def opened(self, stopped: Callable[[], bool]) -> "tuple[Executor, dict[str, Any]]":
        """Return the executor and what records say about it."""
        from separatrix.training import open_executor

        self.check()
        return open_executor(
            self.executor,
            device=self.device,
            workers=self.workers,
            address=self.address,
            threads=self.threads,
            save_every_seconds=self.save_every,
            stopped=stopped,
        )


@dataclass(frozen=True)
class Recording:
    """Which runs are kept, and where: the options of every verb that trains."""

    store: StoreOption = None
    resume: Annotated[
        bool, typer.Option("--resume/--fresh", help="Resume where it stopped; --fresh trains recorded runs again.")
    ] = True
    sinks: Annotated[
        list[str] | None, typer.Option("--sink", help="Also show runs in tensorboard:FOLDER or wandb:PROJECT.")
    ] = None


@dataclass(frozen=True)
class Method:
    """How runs are optimised and evaluated: fields of a run, named as there; None leaves the recipe's."""

    batch: Annotated[int, typer.Option("--batch", help="Examples in a step.")] = 64
    weight_decay: Annotated[float, typer.Option("--weight-decay", help="Decoupled weight decay.")] = 0.0
    warmup: Annotated[int | None, typer.Option("--warmup", help="Steps over which the learning rate rises.")] = None
    clip: Annotated[float | None, typer.Option("--clip", help="Largest norm of a gradient; 0 for none.")] = None
    final_rate: Annotated[
        float | None, typer.Option("--final-rate", help="Share of the rate at the end, along a cosine; 1 keeps it.")
    ] = None
    questions: Annotated[
        int | None, typer.Option("--questions", help="Questions asked of each text, where a task ends in one.")
    ] = None
    full_length: Annotated[
        float | None,
        typer.Option("--full-length", help="Share of the training examples that have exactly this length."),
    ] = None
    shortest: Annotated[
        int | None, typer.Option("--shortest", help="Shortest training text, where a task draws several lengths.")
    ] = None
    longest: Annotated[int | None, typer.Option("--longest", help="Longest training text, as --shortest.")] = None
    growth: Annotated[
        float | None,
        typer.Option("--growth", help="Share of the steps over which the training texts grow up to this length."),
    ] = None
    beta1: Annotated[float | None, typer.Option("--beta1", help="Adam's first decay, 0.9 if not given.")] = None
    beta2: Annotated[float | None, typer.Option("--beta2", help="Adam's second decay, 0.999 if not given.")] = None
    epsilon: Annotated[float | None, typer.Option("--epsilon", help="Adam's epsilon, 1e-8 if not given.")] = None
    evaluate_every: Annotated[int, typer.Option("--evaluate-every", help="Steps between points of the curve.")] = 250
    goal: Annotated[float, typer.Option("--goal", help="Stop at this accuracy.")] = 0.999
    precision: Annotated[str, typer.Option("--precision", help="float32, float64 or bfloat16.")] = "float32"

    def given(self) -> dict[str, Any]:
        """Return the fields that have a value."""
        return {name: value for name, value in vars(self).items() if value is not None}


ANYWHERE, USUAL, DEFAULT = Place(), Recording(), Method()


def run_label(spec: "RunSpec") -> str:
    """Return what distinguishes a run from others of its task."""
    return f"{spec.architecture} N={spec.length} lr {spec.learning_rate:g} seed {spec.seed}"


def parse_rates(text: str) -> tuple[float, ...]:
    """Return the learning rates of ``--lr``, all above 0.

    >>> parse_rates("1e-3,5e-4")
    (0.001, 0.0005)
    """
    rates = parse_list(text, float, "--lr")
    for rate in rates:
        if not 0 < rate < float("inf"):
            raise SeparatrixError(f"{rate:g} in --lr {text} is not a learning rate; give numbers above 0")
    return rates


def parse_list(text: str, kind: Callable[[str], Any], option: str) -> tuple[Any, ...]:
    """Return the values of a comma-separated option, each of which is there once.

    >>> parse_list("1e-3,5e-4", float, "--lr")
    (0.001, 0.0005)
    >>> parse_list("0,1.5", int, "--seed")
    Traceback (most recent call last):
    separatrix.errors.SeparatrixError: '1.5' in --seed 0,1.5 is not a whole number; write such as --seed 1,2,3
    """
    wanted, example = ("whole number", "1,2,3") if kind is int else ("number", "1e-3,5e-4")
    values: list[Any] = []
    for part in text.split(","):
        try:
            value = kind(part.strip())
        except ValueError:
            raise SeparatrixError(
                f"{part!r} in {option} {text} is not a {wanted}; write such as {option} {example}"
            ) from None
        if value in values:
            raise SeparatrixError(f"{option} {text} names {value} twice; keep one")
        values.append(value)
    return tuple(values)


def parse_names(text: str) -> list[str]:
    """Split names at commas; a comma inside brackets, or before NAME=VALUE, belongs to a name.

    >>> parse_names("TF,LSTM-(1,64),dyck:depth=3,types=2")
    ['TF', 'LSTM-(1,64)', 'dyck:depth=3,types=2']
    """
    return [each.strip() for each in re.split(r",(?![^()]*\))(?!\s*\w+=)", text) if each.strip()]
