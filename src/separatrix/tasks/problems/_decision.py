"""What tasks with one yes-or-no answer at the last position share."""

from abc import abstractmethod
from dataclasses import dataclass

from separatrix.tasks.arrays import Array, full_like, namespace_of
from separatrix.tasks.task import CommunicationSplit, Examples, Task


@dataclass(frozen=True, kw_only=True)
class Decision(Task):
    """An answer of 0 or 1, asked once, at the last position of inputs that all have the same length."""

    @abstractmethod
    def decide(self, inputs: Array, length: int) -> Array:
        """Return the answers of a batch: bool (count,)."""

    def classes(self, length: int) -> int:
        del length
        return 2

    def label(self, inputs: Array, length: int) -> tuple[Array, Array]:
        examples = asked_at_the_end(inputs, self.decide(inputs, length))
        return examples.targets, examples.read


def asked_at_the_end(inputs: Array, answers: Array) -> Examples:
    """Return the batch with these answers, bool (count,), at the last position."""
    xp = namespace_of(inputs)
    targets = full_like(inputs, tuple(inputs.shape), 0)
    read = xp.zeros(inputs.shape, dtype=xp.bool, device=inputs.device)
    read[:, -1] = True
    targets[:, -1] = xp.astype(answers, xp.int64)
    return Examples(inputs, targets, read)


def split_at(problem: str, first: int, positions: int, note: str) -> CommunicationSplit:
    """Alice holds the first ``first`` positions, Bob the rest; both may speak."""
    return CommunicationSplit(
        problem=problem,
        alice=tuple(range(first)),
        bob=tuple(range(first, positions)),
        one_way=False,
        note=note,
    )
