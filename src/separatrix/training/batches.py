"""Training data as a pure function of a seed and a place in the run.

A run's data is cut into chunks of :data:`CHUNK_STEPS` steps. The numbers of chunk c of seed s come from a generator
that is made from (s, purpose, c) alone, so a run resumes at any step without any generator's state, and a member's data
is the same in every ensemble. On the CPU the generator is numpy's PCG64, on a GPU torch's on that device: the same seed
gives other examples there, and a record says which device it was.

Members with equal seeds share one copy. Memory: seeds · 32 · batch · positions · 17 bytes (inputs, targets, mask); 8 of
the 17 where every example is asked once, since then only its inputs are kept, and less than 17 where at most half of
the positions are asked, for the same reason. What is drawn at once is bounded
(:data:`LARGEST_DRAW`): of longer inputs a chunk and an evaluation are drawn in parts, each with a seed of its own.
"""

import hashlib
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy
import torch
from torch import Tensor

from separatrix.errors import SeparatrixError
from separatrix.tasks import Examples, Split, Task, draws_from

CHUNK_STEPS = 32
SAMPLED, LEAST_WITHIN = 4096, 0.02
"""Texts from which the share within limits of length is found, and the least share."""
LARGEST_DRAW = 2 << 30
"""Bytes that are drawn at once; what is longer comes in parts, so that short inputs are the same with any limit."""


@dataclass(frozen=True)
class Batch:
    """What a model is given and asked; a leading axis of seeds (or of 1 where all share).

    ``inputs`` (seeds, batch, positions) or (seeds, batch, positions, features); ``read`` (seeds, batch, reads) int64
    where at most half of the positions are asked, None where a model answers at every position; ``asked`` says which
    answers count; ``targets`` (seeds, batch, reads) or (…, outputs); ``asked`` bool (seeds, batch, reads); ``lengths``
    (seeds, batch) where inputs are padded, else None. ``questions`` (seeds, batch, count), or (…, features), are cells
    that are asked in turn at the one position of ``read``; targets and asked then have one entry for each.
    """

    inputs: Tensor
    targets: Tensor
    asked: Tensor
    read: Tensor | None
    lengths: Tensor | None
    questions: Tensor | None = None

    def part(self, *index: Any) -> "Batch":
        """Return the same index on every tensor."""
        return self.mapped(lambda each: each[index])

    def mapped(self, change: Callable[[Tensor], Tensor]) -> "Batch":
        """Return the same change of every tensor."""
        read = None if self.read is None else change(self.read)
        lengths = None if self.lengths is None else change(self.lengths)
        questions = None if self.questions is None else change(self.questions)
        return Batch(change(self.inputs), change(self.targets), change(self.asked), read, lengths, questions)

    def tensors(self) -> tuple[Tensor | None, ...]:
        """Return all six, in the order of the fields."""
        return (self.inputs, self.targets, self.asked, self.read, self.lengths, self.questions)


def derived_seed(seed: int, purpose: str, number: int) -> int:
    """Return a seed of its own for each purpose and place, below 2^63."""
    text = f"{seed}/{purpose}/{number}".encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:8], "big") >> 1


def draw(task: Task, length: int, count: int, seed: int, device: torch.device, split: Split) -> Examples:
    """Draw ``count`` examples from a generator of this seed, as torch tensors on the device."""
    if device.type == "cpu":
        found = task.sample(draws_from(numpy.random.default_rng(seed)), count, length, split)
        return Examples(*(torch.from_numpy(numpy.ascontiguousarray(each)) for each in vars(found).values()))
    generator = torch.Generator(device).manual_seed(seed)
    return task.sample(draws_from(generator), count, length, split)


def draw_questions(task: Task, inputs: Tensor, count: int, length: int, seed: int) -> tuple[Tensor, Tensor]:
    """Draw so many questions to each of these texts, and their answers, from a generator of this seed."""
    if inputs.device.type == "cpu":
        found = task.ask(draws_from(numpy.random.default_rng(seed)), inputs.numpy(), count, length)
        cells, answers = (torch.from_numpy(numpy.ascontiguousarray(each)) for each in found)
        return cells, answers
    generator = torch.Generator(inputs.device).manual_seed(seed)
    return task.ask(draws_from(generator), inputs, count, length)


@dataclass(frozen=True)
class DataSource:
    """Batches of one task at one length; of each example ``reads`` positions are read, all of them for 0.

    ``full_length`` is the share of a training batch that is drawn as evaluation examples are, of exactly the length.
    """

    task: Task
    length: int
    batch: int
    device: torch.device
    reads: int
    questions: int = 1
    full_length: float = 0.0
    limits: tuple[int, int] = (0, 0)
    """The shortest and the longest text of training that is not of full length; 0: no limit."""
    growing: int = 0
    """Steps over which the length that texts are drawn for grows up to ``length``; 0: it is that at once."""

    @cached_property
    def example_bytes(self) -> tuple[int, int]:
        """Bytes of one example as it is drawn, and of its inputs alone."""
        one = self.task.sample(draws_from(0), 1, self.length, "eval")
        return sum(each.nbytes for each in vars(one).values()), one.inputs.nbytes

    def parts(self, count: int, size: int = 1) -> list[int]:
        """Divide so many times ``size`` examples into parts that may be drawn at once; one part where all may."""
        most = max(1, LARGEST_DRAW // (self.example_bytes[0] * size))
        return [min(most, count - first) for first in range(0, count, most)]

    def check_memory(self) -> None:
        """Refuse what certainly does not fit on a CPU: the inputs of a chunk alone are more than the machine has."""
        needed, there = CHUNK_STEPS * self.batch * self.example_bytes[1], machine_bytes()
        if self.device.type == "cpu" and there is not None and needed > there:
            raise SeparatrixError(
                f"the inputs of {CHUNK_STEPS} steps of {self.batch} examples of {self.task.name} at length "
                f"{self.length} take {needed / (1 << 30):,.1f} GiB, and this machine has {there / (1 << 30):,.1f}; "
                "choose a shorter length or a smaller batch"
            )

    def training_chunk(self, seeds: Sequence[int], chunk: int) -> Batch:
        """Return the data of 32 steps: every tensor has leading axes (CHUNK_STEPS, seeds)."""
        return _stacked([self._chunk_of(seed, chunk) for seed in seeds], dim=1)

    def length_at(self, step: int) -> int:
        """Return the length that the texts of a step are drawn for: from the task's shortest, evenly, up to
        ``length``."""
        if step >= self.growing:
            return self.length
        missing = (self.length - self.task.minimum_length) * (self.growing - step) // self.growing
        return self.length - missing // self.task.length_step * self.task.length_step

    def _chunk_of(self, seed: int, chunk: int) -> Batch:
        found: list[Batch] = []
        for part, steps in enumerate(self.parts(CHUNK_STEPS, self.batch)):
            arranged = self._examples_of(steps, seed, chunk, part)
            if self.questions > 1:
                own = derived_seed(seed, f"questions, part {part}", chunk)
                texts = arranged.inputs.flatten(0, 1)
                cells, answers = draw_questions(self.task, texts, self.questions, self.length, own)
                cells, answers = (each.unflatten(0, arranged.inputs.shape[:2]) for each in (cells, answers))
                asked = arranged.asked.expand(answers.shape).contiguous()
                arranged = replace(arranged, targets=answers, asked=asked, questions=cells)
            found.append(arranged)
        return _joined(found)

    def _examples_of(self, steps: int, seed: int, chunk: int, part: int) -> Batch:
        """Return batches of so many steps: as the task draws them for training and, as a share of each, of full
        length."""
        full, grown = round(self.full_length * self.batch), self.length_at(chunk * CHUNK_STEPS)
        shares: tuple[tuple[int, str, Split], ...] = (
            (self.batch - full, "train", "train"),
            (full, "train at full length", "eval"),
        )
        drawn = [
            self._arranged(self._drawn(steps * count, seed, purpose, chunk, part, split, grown), steps)
            for count, purpose, split in shares
            if count
        ]
        return drawn[0] if len(drawn) == 1 else _together(drawn, lambda tensors: torch.cat(tensors, dim=1))

    def evaluation(self, seeds: Sequence[int], count: int, purpose: str, number: int, part: int = 0) -> Batch:
        """Return fresh examples of exactly the task's length; leading axis of seeds. ``part``: which of
        :meth:`parts`."""
        drawn = [
            self._arranged(self._drawn(count, seed, purpose, number, part, "eval", self.length), 1).part(0)
            for seed in seeds
        ]
        return _stacked(drawn, dim=0)

    def _drawn(
        self, count: int, seed: int, purpose: str, number: int, part: int, split: Split, length: int
    ) -> Examples:
        """Return examples drawn for a length; the first part has the seed that everything has where there is one
        part."""
        own = derived_seed(seed, purpose if part == 0 else f"{purpose}, part {part}", number)
        if length < self.length:
            return self._padded(draw(self.task, length, count, own, self.device, split), length)
        if split == "eval" or not any(self.limits):
            return draw(self.task, self.length, count, own, self.device, split)
        return self._within(count, own)

    def _padded(self, examples: Examples, length: int) -> Examples:
        """Return examples that were drawn for a shorter length, as they are at this one: padded behind, asked as
        before."""
        padding = self.task.padding(self.length) or 0  # never None: ``check_limits`` refuses tasks without one
        more = self.task.positions(self.length) - self.task.positions(length)
        inputs = examples.inputs.masked_fill(examples.inputs == self.task.padding(length), padding)

        def behind(tensor: Tensor, value: int) -> Tensor:
            return torch.cat([tensor, tensor.new_full((len(tensor), more, *tensor.shape[2:]), value)], dim=1)

        return Examples(behind(inputs, padding), behind(examples.targets, 0), behind(examples.read, 0))

    @cached_property
    def ends(self) -> tuple[int, int]:
        """The limits of the training texts in positions, their question included."""
        shortest, longest = self.limits
        return self.task.positions(shortest) if shortest else 0, self.task.positions(longest or self.length)

    @cached_property
    def share_within(self) -> float:
        """The share of the task's own training texts that lie within the limits."""
        found = draw(self.task, self.length, SAMPLED, 0, torch.device("cpu"), "train")
        return float(self._inside(found).double().mean())

    def _inside(self, examples: Examples) -> Tensor:
        padding = self.task.padding(self.length)
        lengths = (examples.inputs != padding).sum(dim=1)
        return (lengths >= self.ends[0]) & (lengths <= self.ends[1])

    def check_limits(self) -> None:
        """Refuse limits that leave nothing, or so little that nearly everything would be drawn in vain."""
        if self.growing and self.task.padding(self.length) is None:
            raise SeparatrixError(f"all texts of {self.task.name} have one length; leave growth out")
        if not any(self.limits):
            return
        shortest, longest = self.limits[0] or 1, self.limits[1] or self.length
        if self.task.padding(self.length) is None:
            raise SeparatrixError(f"all texts of {self.task.name} have one length; leave shortest and longest out")
        if self.share_within < LEAST_WITHIN:
            raise SeparatrixError(
                f"of the training texts of {self.task.name} at length {self.length} {100 * self.share_within:.1f} % "
                f"have lengths from {shortest} to {longest}; widen the limits to {100 * LEAST_WITHIN:.0f} % or more, "
                "or train at full length with full_length=1"
            )

    def _within(self, count: int, seed: int) -> Examples:
        """Draw so many training texts within the limits: more are drawn, and the first that fit are kept."""
        kept: list[Examples] = []
        missing, attempt = count, 0
        while missing > 0:
            more = math.ceil(1.2 * missing / self.share_within) + 16
            drawn = draw(self.task, self.length, more, derived_seed(seed, "within", attempt), self.device, "train")
            rows = self._inside(drawn).nonzero()[:, 0][:missing]
            kept.append(Examples(*(each[rows] for each in vars(drawn).values())))
            missing, attempt = missing - len(rows), attempt + 1
        return Examples(*(torch.cat(list(each)) for each in zip(*(vars(each).values() for each in kept), strict=True)))

    def _arranged(self, examples: Examples, steps: int) -> Batch:
        """Leading axis of steps; the positions asked are looked up once, for the whole chunk."""
        inputs, targets, asked = examples.inputs, examples.targets, examples.read
        padding = self.task.padding(self.length)
        lengths = None if padding is None else (inputs != padding).sum(dim=1)
        read = None
        if self.reads:
            # Cheap here; on a GPU it would make the host wait, and there the same tasks give the same masks.
            if asked.device.type == "cpu":
                counts = asked.sum(dim=1)
                if bool((counts > self.reads).any()) or (self.reads == 1 and bool((counts < 1).any())):
                    raise SeparatrixError(
                        f"{self.task.name} asks some examples at other than {self.reads} positions; report this defect"
                    )
            # A mask is not compared as it is; on the CPU its bytes are, without a copy four times as large.
            marks = asked.view(torch.uint8) if asked.device.type == "cpu" else asked.int()
            if self.reads == 1:
                read = marks.argmax(dim=1, keepdim=True)
            else:  # those that are asked first, in their order
                read = marks.argsort(dim=1, descending=True, stable=True)[:, : self.reads].contiguous()
            index = read.view(*read.shape, *[1] * (targets.dim() - 2)).expand(-1, -1, *targets.shape[2:])
            targets, asked = targets.gather(1, index), asked.gather(1, read)
        found = Batch(inputs, targets, asked, read, lengths)
        return found.mapped(lambda each: each.reshape(steps, -1, *each.shape[1:]))


def data_source(
    task: Task,
    length: int,
    batch: int,
    device: torch.device,
    questions: int = 1,
    full_length: float = 0.0,
    limits: tuple[int, int] = (0, 0),
    growing: int = 0,
) -> DataSource:
    """Return the source for a task; how many positions are asked is read off a sample of both splits.

    Where they are few, only what is asked is computed. :func:`positions_asked` is tested over the catalog, and on the
    CPU every example is compared with it.
    """
    reads = positions_asked(task, length)
    found = DataSource(task, length, batch, device, reads, questions, full_length, limits, growing)
    found.check_memory()
    found.check_limits()
    return found


def check_memory(task: Task, length: int, batch: int, device: torch.device) -> None:
    """Refuse, before anything is written, data of which the machine certainly cannot hold 32 steps."""
    DataSource(task, length, batch, device, reads=0).check_memory()


def machine_bytes() -> int | None:
    """Return the memory of this machine; None where the system does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def positions_asked(task: Task, length: int) -> int:
    """Return at how many positions examples of the task are asked: the same number in all of exactly this length, and
    no more in training; 0 where that is not so, and where it is more than half of the positions.
    """
    train, evaluation = (task.sample(draws_from(0), 64, length, each).read.sum(axis=1) for each in ("train", "eval"))
    most = int(evaluation.max())
    if most == 1 and bool((train == 1).all()) and bool((evaluation == 1).all()):
        return 1
    few = 1 < most <= task.positions(length) // 2 and bool((evaluation == most).all()) and bool((train <= most).all())
    return most if few else 0


def _stacked(batches: Sequence[Batch], dim: int) -> Batch:
    if len(batches) == 1:  # without a copy
        return batches[0].mapped(lambda each: each.unsqueeze(dim))
    return _together(batches, lambda tensors: torch.stack(tensors, dim=dim))


def _joined(batches: Sequence[Batch]) -> Batch:
    """Return parts of a chunk, one after the other in steps."""
    return batches[0] if len(batches) == 1 else _together(batches, torch.cat)


def _together(batches: Sequence[Batch], put: Callable[[list[Tensor]], Tensor]) -> Batch:
    parts = [
        None if each[0] is None else put([tensor for tensor in each if tensor is not None])
        for each in zip(*(batch.tensors() for batch in batches), strict=True)
    ]
    assert parts[0] is not None and parts[1] is not None and parts[2] is not None
    return Batch(parts[0], parts[1], parts[2], *parts[3:])
