"""How many bits of its state a trained recurrent model really uses: BHBK24 Theorem 2 run on models of ours.

Alice holds the input up to a cut and runs the model on it; she sends its state with every number rounded to p bits; Bob
decodes it and runs on. That is a one-way protocol of m·p bits, so wherever its answers are right, m·p is at least the
one-way communication complexity that the task has at that cut (Theorem 3: N/p for index lookup). The accuracy as a
function of p says how much of the state's precision the model uses.

Rounding: number c of the state is one of 2^p equally spaced values from the least to the largest value that was seen
there on other examples, which both parties know; values outside are moved to the nearest end. The alternative
``where="every step"`` rounds after every position, Bob's too: a model with a memory of m·p bits throughout.

Nothing here needs the exact arithmetic.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import torch
from torch import Tensor

from separatrix.errors import SeparatrixError
from separatrix.models.sequence_model import ModelState, SequenceModel
from separatrix.tasks import Task, draws_from

Where: TypeAlias = Literal["cut", "every step"]
DEFAULT_BITS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16)
LARGEST_BITS = 24
"""Codes of more bits would not be whole numbers in float32."""


def to_numbers(state: ModelState) -> Tensor:
    """Return all numbers of a state, layer by layer: (members, batch, m) real; a complex number is two."""
    parts = [part for layer in state for part in layer]
    return torch.cat([(torch.view_as_real(part) if part.is_complex() else part).flatten(2) for part in parts], dim=-1)


def from_numbers(numbers: Tensor, like: ModelState) -> ModelState:
    """Return the state of these numbers, in the form of another one of the same model."""
    place, layers = 0, []
    for layer in like:
        parts: list[Tensor] = []
        for part in layer:
            real = torch.view_as_real(part) if part.is_complex() else part
            size = real[0, 0].numel()
            piece = numbers[..., place : place + size].reshape(*numbers.shape[:2], *real.shape[2:]).to(real.dtype)
            parts.append(torch.view_as_complex(piece.contiguous()) if part.is_complex() else piece)
            place += size
        layers.append(tuple(parts))
    return tuple(layers)


@dataclass(frozen=True)
class Quantiser:
    """p bits for each number between the least and the largest value seen: both (members, m)."""

    least: Tensor
    largest: Tensor
    bits: int

    def codes(self, numbers: Tensor) -> Tensor:
        """Whole numbers from 0 to 2^p - 1, int64: (members, batch, m)."""
        spread = (self.largest - self.least).unsqueeze(1)
        share = (numbers - self.least.unsqueeze(1)) / torch.where(spread > 0, spread, 1.0)
        return (share.clamp(0.0, 1.0) * (2**self.bits - 1)).round().to(torch.int64)

    def values(self, codes: Tensor) -> Tensor:
        """Return the numbers that codes represent; with no bits at all, the middle."""
        spread = (self.largest - self.least).unsqueeze(1)
        share = codes.to(spread.dtype)
        share = share / (2**self.bits - 1) if self.bits else share + 0.5
        return self.least.unsqueeze(1) + share * spread

    def rounded(self, numbers: Tensor) -> Tensor:
        """Return what arrives on the other side."""
        return self.values(self.codes(numbers))


@dataclass(frozen=True)
class PrecisionPoint:
    """Accuracy of each member when every number of the state has ``bits`` bits."""

    bits: int
    message_bits: int
    accuracy: tuple[float, ...]


@dataclass(frozen=True)
class PrecisionReport:
    """Accuracy as a function of p for one model and task; ``unrounded`` is the accuracy without rounding."""

    model: str
    task: str
    length: int
    cut: int
    where: Where
    examples: int
    state_numbers: int
    unrounded: tuple[float, ...]
    points: tuple[PrecisionPoint, ...]

    def bits_used(self, member: int = 0, loss: float = 0.01) -> int | None:
        """Return the least p from which on no point loses more than ``loss`` of the accuracy; None if every point
        does."""
        enough = None
        for point in sorted(self.points, key=lambda point: -point.bits):
            if point.accuracy[member] < self.unrounded[member] - loss:
                break
            enough = point.bits
        return enough

    def as_data(self) -> dict[str, Any]:
        """Return plain data for machines."""
        return {
            "model": self.model, "task": self.task, "length": self.length, "cut": self.cut, "where": self.where,
            "examples": self.examples, "state_numbers": self.state_numbers, "unrounded": list(self.unrounded),
            "points": [
                {"bits": point.bits, "message_bits": point.message_bits, "accuracy": list(point.accuracy)}
                for point in self.points
            ],
        }  # fmt: skip


def prefix_cut(task: Task, length: int) -> int:
    """Return how many positions Alice holds in the task's own communication problem, where hers are a prefix."""
    alice = task.communication(length).alice
    if tuple(alice) == tuple(range(len(alice))) and 0 < len(alice) < task.positions(length):
        return len(alice)
    return task.positions(length) // 2


@torch.no_grad()
def state_precision(
    model: SequenceModel,
    task: Task,
    length: int,
    *,
    bits: Sequence[int] = DEFAULT_BITS,
    cut: int | None = None,
    where: Where = "cut",
    examples: int = 512,
    seed: int = 0,
) -> PrecisionReport:
    """Run the protocol on random inputs of exactly length N, once for each number of bits.

    Ranges are taken from as many other examples. Accuracy is over the positions that Bob reads (or over inputs, where
    the task scores whole strings). Time: (2 + len(bits)) · N steps of the model on ``examples`` rows, or less where the
    cut is late and rounding happens there alone.
    """
    cut = prefix_cut(task, length) if cut is None else cut
    _check(model, task, length, bits, cut)
    device = model.readout.weight.device
    known, fresh = (task.sample(draws_from(each), examples, length) for each in (2 * seed, 2 * seed + 1))
    calibration = _cells(known.inputs, model, device)
    inputs = _cells(fresh.inputs, model, device)
    targets = torch.from_numpy(fresh.targets).to(device)
    read = torch.from_numpy(fresh.read).to(device)

    least, largest = _ranges(model, calibration, cut, where)
    start = model.initial_state(examples)
    if where == "cut":
        # What Alice computes is the same for every p.
        for position in range(cut):
            _, start = model.step(inputs[:, :, position], start)
    points: list[PrecisionPoint] = []
    for each in bits:
        quantiser = Quantiser(least, largest, each)
        found = _run(model, inputs, cut, start, quantiser, where)
        points.append(PrecisionPoint(each, each * least.shape[-1], _accuracy(found, targets, read, cut, task)))
    unrounded = _accuracy(_run(model, inputs, cut, start, None, where), targets, read, cut, task)
    return PrecisionReport(
        str(model.spec), task.name, length, cut, where, examples, least.shape[-1], unrounded, tuple(points)
    )


def _check(model: SequenceModel, task: Task, length: int, bits: Sequence[int], cut: int) -> None:
    task.check_length(length)
    positions = task.positions(length)
    if not 0 < cut < positions:
        raise SeparatrixError(
            f"a cut after {cut} of {positions} positions leaves one side nothing; choose 1 to {positions - 1}"
        )
    for each in bits:
        if not 0 <= each <= LARGEST_BITS:
            raise SeparatrixError(f"{each} bits for a number are out of range; choose 0 to {LARGEST_BITS}")
    if task.classes(length) == 0:
        raise SeparatrixError(f"answers of {task.name} are vectors, which are not right or wrong; choose another task")
    # Raises where a layer has no state of constant size.
    model.initial_state(1)


def _cells(inputs: Any, model: SequenceModel, device: torch.device) -> Tensor:
    """Return inputs for all members: (members, count, positions, …)."""
    cells = torch.from_numpy(inputs).to(device)
    return cells.expand(model.members, *cells.shape)


def _states(model: SequenceModel, inputs: Tensor, positions: range, state: ModelState) -> Iterator[ModelState]:
    """Yield the states after each of these positions."""
    for position in positions:
        _, state = model.step(inputs[:, :, position], state)
        yield state


def _ranges(model: SequenceModel, inputs: Tensor, cut: int, where: Where) -> tuple[Tensor, Tensor]:
    """Return the least and the largest value of each number, over examples, and over positions where all are
    rounded."""
    positions = range(inputs.shape[2]) if where == "every step" else range(cut)
    least, largest = None, None
    for number, state in enumerate(_states(model, inputs, positions, model.initial_state(inputs.shape[1]))):
        if where == "cut" and number < cut - 1:
            continue
        numbers = to_numbers(state)
        low, high = numbers.amin(dim=1), numbers.amax(dim=1)
        least = low if least is None else torch.minimum(least, low)
        largest = high if largest is None else torch.maximum(largest, high)
    assert least is not None and largest is not None
    return least, largest


def _run(
    model: SequenceModel, inputs: Tensor, cut: int, state: ModelState, quantiser: Quantiser | None, where: Where
) -> Tensor:
    """Bob's answers (members, count, positions from the cut on); ``state`` is that at the cut, or at the beginning."""

    def sent(state: ModelState) -> ModelState:
        return state if quantiser is None else from_numbers(quantiser.rounded(to_numbers(state)), state)

    if where == "cut":
        state = sent(state)
    answers: list[Tensor] = []
    for position in range(cut if where == "cut" else 0, inputs.shape[2]):
        logits, state = model.step(inputs[:, :, position], state)
        if position >= cut:
            answers.append(logits.argmax(dim=-1))
        if where == "every step":
            state = sent(state)
    return torch.stack(answers, dim=-1)


def _accuracy(found: Tensor, targets: Tensor, read: Tensor, cut: int, task: Task) -> tuple[float, ...]:
    """Return for each member, over what Bob is asked."""
    asked = read[:, cut:]
    wrong = (found != targets[:, cut:]) & asked
    if task.scoring == "every position of a string":
        return tuple((~wrong.any(dim=-1)).double().mean(dim=-1).tolist())
    return tuple((1.0 - wrong.sum(dim=(1, 2)).double() / asked.sum().clamp(min=1)).tolist())
