"""What certifying a trained Transformer has in common: every part of its inputs is proved, refuted or left open.

Parts are pairs of a lookup, slices of a count, or cases of two layers. Each proof has been accepted by the kernel
before it is written to ``trained.json`` next to the weights, and each counterexample was run in torch and failed. Work
that was stopped resumes part by part (``certify_progress``).
"""

import hashlib
import json
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch

from separatrix.errors import SeparatrixError
from separatrix.files import write_atomically
from separatrix.models.certify_progress import Progress, from_plain, to_plain
from separatrix.models.sequence_model import SequenceModel
from separatrix.progress import tracked
from separatrix.provers import Decided, Outcome
from separatrix.tasks import Task
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.trained import TRAINED_FILE, WEIGHTS_FILE

Part = TypeVar("Part")


@dataclass(frozen=True)
class Certified(Generic[Part]):
    """What is known about a trained model at one length, part by part of its inputs."""

    length: int
    parts: dict[Part, Decided]
    inputs: str
    """How many inputs there are, as a product."""
    share: Fraction
    """The share of all inputs that are certified."""
    resumed: int = 0
    """How much of the work was done before an interruption."""

    def count(self, outcome: Outcome) -> int:
        """How many parts ended so."""
        return sum(each.outcome == outcome for each in self.parts.values())

    def left(self) -> list[Part]:
        """The parts that are open."""
        return [part for part, each in self.parts.items() if each.outcome == Outcome.OPEN]

    def failing(self) -> list[tuple[int, ...]]:
        """The inputs that torch answers wrongly, one of each part that has any that were found."""
        return [each.failing for each in self.parts.values() if each.failing is not None]


def certify_parts(
    folder: Path,
    data: bytes,
    claim: Mapping[str, Any],
    nodes: int,
    inputs: str,
    starts: Collection[Any],
    decide: Callable[[Any], list[tuple[Part, Decided]]],
    stated: Callable[[Part], list[Any]],
    share: Callable[[Collection[Part], int], Fraction] = lambda proved, parts: Fraction(len(proved), parts),
) -> Certified[Part]:
    """Decide the parts that each start gives, and write weights and certificate into a folder.

    ``claim`` is what the certificate says of the model, ``stated`` a part as it has it; ``share`` takes the parts that
    are proved and the number of all.
    """
    digest, found = hashlib.sha256(data).hexdigest(), dict[Part, Decided]()
    with Progress(folder, _read, _write, **claim, sha256=digest, nodes=nodes) as progress:
        for start in tracked(starts, f"certifying {inputs} inputs"):
            found |= dict(progress.decided(start, partial(decide, start)))
    shown = {part: each for part, each in found.items() if each.proof is not None}
    result = Certified(claim["length"], found, inputs, share(shown, len(found)), progress.resumed)
    content = {
        **claim,
        "sha256": digest,
        "certified": [[*stated(part), each.proof] for part, each in shown.items()],
        "counterexamples": [list(row) for row in result.failing()],
        "open": [stated(part) for part in result.left()],
    }
    write_atomically(folder / WEIGHTS_FILE, data)
    write_atomically(folder / TRAINED_FILE, json.dumps(content, separators=(",", ":")) + "\n")
    progress.done()
    return result


def _write(found: list[tuple[Any, Decided]]) -> list[Any]:
    return [[part, to_plain(decided)] for part, decided in found]


def _read(found: Any) -> list[tuple[Any, Decided]]:
    return [(_part(part), from_plain(each)) for part, each in found]


def _part(plain: Any) -> Any:
    """A part from JSON: whole numbers, and lists of them."""
    return tuple(_part(each) for each in plain) if isinstance(plain, list) else int(plain)


def accepted(decided: Decided, prove: Callable[[Any], object], fails: Callable[[tuple[int, ...]], bool]) -> Decided:
    """What the kernel accepts, and torch agrees with: a proof that is refused, or an input that torch answers
    correctly, leaves its part open."""
    try:
        if decided.proof is not None:
            prove(decided.proof)
    except RefusedError:
        return Decided(Outcome.OPEN)
    return Decided(Outcome.OPEN) if decided.failing is not None and not fails(decided.failing) else decided


@contextmanager
def refused() -> Generator[None]:
    """Say in one line what the kernel does not read."""
    try:
        yield
    except RefusedError as refusal:
        raise SeparatrixError(f"these weights cannot be certified: {refusal}") from refusal


def check_positions(model: SequenceModel, task: Task, length: int) -> None:
    """Refuse a length that the task or the model does not have."""
    task.check_length(length)
    if task.positions(length) > model.length:
        raise SeparatrixError(f"--length {length} is longer than this model's inputs of {model.length} tokens")


@torch.no_grad()
def answers_wrongly(model: SequenceModel, task: Task, length: int, row: tuple[int, ...]) -> bool:
    """Whether the model's float32 answer at the last place of an input is wrong.

    >>> from separatrix.models.naming import parse_spec
    >>> from separatrix.models.task_model import model_for_task
    >>> from separatrix.tasks import tasks
    >>> task = tasks()["index-lookup"].with_parameters(alphabet=3)
    >>> model = model_for_task(parse_spec("TF-(1,8)"), task, 2, [0])
    >>> sum(answers_wrongly(model, task, 2, (a, b, 3)) for a in range(3) for b in range(3)) > 0
    True
    """
    logits: Any = model(torch.tensor([[row]]), read=torch.tensor([[[len(row) - 1]]]))[0, 0, 0]
    return int(logits.argmax()) != task.solve(list(row), length)[-1]
