"""Many runs of one shape trained as one program.

Runs that differ only in learning rate, schedule, weight decay, clipping or seed share every tensor shape, so E of them
are one model with a leading axis of E members: one batched product instead of E small ones, one pass of Adam over all
parameters, one read of the metrics. Members that are finished leave: the rest is packed into a smaller model and goes
on with the very same numbers.

What a member computes does not depend on the others: weights start from its own seed, data come from its own seed, its
loss is its own mean. A batched product may add in another order than a single one, so records of single and batched
runs agree to rounding error, not always to the bit; the tests state the tolerance. The same ensemble repeated on the
same CPU with the same number of threads gives the same bits.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor

from separatrix.errors import SeparatrixError
from separatrix.models import Block, SequenceModel, kept_buffers, lookup_groups, model_for_task, parse_spec
from separatrix.training.adam import Adam, FlatParameters, MemberRates
from separatrix.training.batches import CHUNK_STEPS, Batch, data_source
from separatrix.training.checkpoints import BUFFER
from separatrix.training.cuda_graph import CapturedStep
from separatrix.training.layered_leaks import layered_losses
from separatrix.training.leaks import check_leaks, leak_losses
from separatrix.training.objective import losses, scores
from separatrix.training.spec import START, RunSpec
from separatrix.training.tubes import check_tubes, mixed_words, radius_at, tables_of, tube_losses
from separatrix.training.user_code import user_code

EVALUATION_ROWS = 256
EVALUATION_POSITIONS = 1 << 22
"""Rows times positions that are evaluated at once; fewer rows only of inputs longer than 16384."""
WEIGHT_TYPES = {"float32": torch.float32, "float64": torch.float64, "bfloat16": torch.float32}
"""Of the weights, by a run's precision."""


class Ensemble:
    """The state of a group of runs in training: weights, moments, step; :meth:`advance` trains, :meth:`accuracy` tests.

    ``code`` are the digests of the user's own code that its model was made from.
    """

    def __init__(self, specs: Sequence[RunSpec], device: torch.device) -> None:
        if specs[0].start != START:
            raise SeparatrixError(
                f"run {specs[0].name} began at the initial weights of an earlier version, which are not made any more; "
                f"train it with start={START}"
            )
        self.device = device
        self.step = 0
        # Once: whoever edits a module of their own while it trains does not change the model halfway.
        self.architecture = parse_spec(specs[0].architecture)
        self.code = user_code(specs[0], self.architecture)
        self._take(specs)

    def _take(self, specs: Sequence[RunSpec]) -> None:
        """Make model, optimiser and data for these members, freshly initialised."""
        first = specs[0]
        self.specs = tuple(specs)
        self.task, self.length = first.the_task(), first.length
        self.seeds = tuple(dict.fromkeys(spec.seed for spec in specs))
        limits = first.shortest, first.longest
        self.data = data_source(
            self.task,
            self.length,
            first.batch,
            self.device,
            first.questions,
            first.full_length,
            limits,
            round(first.growth * first.steps),
        )
        self.model: SequenceModel = model_for_task(
            self.architecture,
            self.task,
            self.length,
            [spec.seed for spec in specs],
            dtype=WEIGHT_TYPES[first.precision],
            device=self.device,
        )
        check_leaks(first)
        check_tubes(first)
        layered = first.leak_margin and self.architecture.depth > 1
        self.groups = lookup_groups(self.task, self.length) if layered else None
        self.automaton = tables_of(self.task, self.device) if first.state_radius else None
        if self.device.type == "cuda":
            compile_blocks(self.model)
        # What a user's own module keeps next to its parameters, such as running statistics.
        self.kept = kept_buffers(self.model)
        self.flat = FlatParameters(self.model)
        self.adam = Adam(self.flat, _rates(specs))
        self.chunk: tuple[int, Batch] | None = None
        self.captured: CapturedStep | None = None
        # Sums since the last read: loss, right answers, questions; (3, members) on the device.
        self.sums = torch.zeros(3, len(specs), dtype=torch.float64, device=self.device)
        self.which = torch.tensor([self.seeds.index(spec.seed) for spec in specs], device=self.device)

    # -- training ----------------------------------------------------------------------------------------

    def advance(self, steps: int) -> None:
        """Train all members for this many steps; nothing is read back from the device."""
        for _ in range(steps):
            number, place = divmod(self.step, CHUNK_STEPS)
            fresh = self.chunk is None or self.chunk[0] != number
            if fresh:
                self.chunk = number, self.data.training_chunk(self.seeds, number)
            assert self.chunk is not None
            if self.device.type != "cuda":
                self.train_on(self.for_members(self.chunk[1].part(place)))
            else:
                if self.captured is None:
                    self.captured, fresh = CapturedStep(self, self.chunk[1]), True
                if fresh:
                    self.captured.load(self.chunk[1], place)
                self.captured.replay()
            self.step += 1

    def train_on(self, batch: Batch) -> None:
        """Train one step on one batch."""
        with self._precision():
            outputs = self.model(batch.inputs, read=batch.read, lengths=batch.lengths, questions=batch.questions)
            loss = losses(self.task, self.length, outputs, batch)
            if margin := self.specs[0].leak_margin:
                if self.groups is None:
                    loss = loss + leak_losses(self.model, self.length, margin)
                else:
                    done = (self.adam.step / self.specs[0].steps).to(torch.float32)
                    loss = loss + layered_losses(self.model, self.groups, margin, done)
            if self.automaton is not None:
                words = mixed_words(batch.inputs, self.automaton)
                radius = radius_at(self.specs[0], self.adam.step)
                loss = loss + tube_losses(self.model, self.automaton, words, radius, self.specs[0].state_radius)
        torch.autograd.backward(loss.sum(), inputs=self.flat.parameters)
        self.adam.update()
        with torch.no_grad():
            right, asked = scores(self.task, self.length, outputs, batch)
            self.sums.add_(torch.stack([loss.detach().double(), right.double(), asked.double()]))

    def for_members(self, batch: Batch) -> Batch:
        """Turn an axis of seeds into one of members; a single seed is expanded without a copy."""
        if len(self.seeds) == 1:
            return batch.mapped(lambda each: each.expand(len(self.specs), *each.shape[1:]))
        return batch.part(self.which)

    def _precision(self) -> AbstractContextManager[Any]:
        if self.specs[0].precision == "bfloat16":
            return torch.autocast(self.device.type, dtype=torch.bfloat16, cache_enabled=False)
        return nullcontext()

    # -- measuring ---------------------------------------------------------------------------------------

    def training_metrics(self) -> tuple[list[float], list[float]]:
        """Return of each member the losses of the training batches since the last call, added up, and the accuracy on
        them."""
        sums = self.sums.cpu().clone()  # on a CPU the very tensor that is cleared here
        self.sums.zero_()
        return sums[0].tolist(), (sums[1] / sums[2].clamp(min=1)).tolist()

    @torch.no_grad()
    def accuracy(self, examples: int, purpose: str, number: int) -> list[float]:
        """Return each member's accuracy on fresh examples of exactly the task's length."""
        right = torch.zeros(len(self.specs), dtype=torch.int64, device=self.device)
        asked = torch.zeros_like(right)
        rows = max(1, EVALUATION_ROWS // len(self.specs)) if self.device.type == "cpu" else EVALUATION_ROWS
        # Of long inputs fewer at a time: what a model computes on the way grows with rows times positions.
        rows = max(1, min(rows, EVALUATION_POSITIONS // self.task.positions(self.length)))
        with self._precision(), self._only_asked():
            for part, count in enumerate(self.data.parts(examples)):
                everything = self.data.evaluation(self.seeds, count, purpose, number, part)
                for start in range(0, count, rows):
                    batch = self.for_members(everything.part(slice(None), slice(start, start + rows)))
                    outputs = self.model(batch.inputs, read=batch.read, lengths=batch.lengths)
                    found = scores(self.task, self.length, outputs, batch)
                    right, asked = right + found[0], asked + found[1]
        return (right.double() / asked.clamp(min=1)).tolist()

    @contextmanager
    def _only_asked(self) -> Iterator[None]:
        """Without dropout, and running statistics stay as they are, where a user's own module has any."""
        self.model.eval()
        try:
            yield
        finally:
            self.model.train()

    # -- members come and go -----------------------------------------------------------------------------

    def keep(self, members: Sequence[int]) -> None:
        """Continue with these members only; their weights, moments and data are untouched."""
        rows = {name: self.flat.by_member(tensor)[list(members)] for name, tensor in self._flat().items()}
        kept = {name: each[list(members)] for name, each in self.kept.items()}
        step = self.adam.step.clone()
        # The old graph and its memory go before the new model comes.
        self.captured = None
        self._take([self.specs[member] for member in members])
        self._restore(rows, kept, step)

    def _flat(self) -> dict[str, Tensor]:
        return {"weights": self.flat.values, "first": self.adam.first, "second": self.adam.second}

    def state_tensors(self) -> list[Tensor]:
        """Return everything that a step changes in place."""
        return [*self._flat().values(), *self.kept.values(), self.flat.gradients, self.adam.step, self.sums]

    def _restore(self, rows: dict[str, Tensor], kept: dict[str, Tensor], step: Tensor) -> None:
        for name, tensor in self._flat().items():
            self.flat.write(tensor, rows[name].to(tensor))
        for name, tensor in self.kept.items():
            tensor.copy_(kept[name])
        self.adam.step.copy_(step)

    # -- saving ------------------------------------------------------------------------------------------

    def tensors(self) -> dict[str, Tensor]:
        """Return everything that training resumes from, members first but for the sums, on the CPU; see
        ``checkpoints``."""
        found = {name: self.flat.by_member(tensor).cpu().contiguous() for name, tensor in self._flat().items()}
        kept = {f"{BUFFER}{name}": tensor.cpu().clone() for name, tensor in self.kept.items()}
        return {**found, **kept, "sums": self.sums.cpu().clone()}

    def load(self, tensors: dict[str, Tensor], step: int) -> None:
        """Resume from what :meth:`tensors` gave after ``step`` steps."""
        given, wanted = tensors["weights"].shape[-1], self.numbers_of_one_member()
        if given != wanted:
            raise SeparatrixError(
                f"the checkpoint has {given} numbers of a model, {self.architecture} has {wanted}; train again with "
                "--fresh"
            )
        kept = {name.removeprefix(BUFFER): each for name, each in tensors.items() if name.startswith(BUFFER)}
        if {name: each.shape for name, each in kept.items()} != {name: each.shape for name, each in self.kept.items()}:
            raise SeparatrixError(
                f"the checkpoint has other buffers than {self.architecture}; train again with --fresh"
            )
        self.step = step
        rows = {name: tensors[name] for name in self._flat()}
        self._restore(rows, kept, torch.tensor(step, dtype=torch.float64))
        self.sums.copy_(tensors["sums"])

    def numbers_of_one_member(self) -> int:
        """Return how many parameters one member has."""
        return self.flat.values.numel() // len(self.specs)


def compile_blocks(model: SequenceModel) -> None:
    """Fuse what is between the products of a block; blocks of one kind share one compilation.

    Set ``SEPARATRIX_COMPILE=0`` to train without it: the first step of a new shape then starts at once. Some mixers are
    loops over time, which the compiler would unroll; they say that they do not compile.
    """
    if os.environ.get("SEPARATRIX_COMPILE", "1") != "0":
        for block in model.blocks:
            if isinstance(block, Block) and block.mixer.compiles:
                block.compile()


def _rates(specs: Sequence[RunSpec]) -> MemberRates:
    return MemberRates(
        tuple(spec.learning_rate for spec in specs),
        tuple(spec.weight_decay for spec in specs),
        tuple(spec.warmup for spec in specs),
        tuple(spec.clip for spec in specs),
        tuple(spec.final_rate for spec in specs),
        specs[0].steps,
        (specs[0].beta1, specs[0].beta2),
        specs[0].epsilon,
    )
