"""Examples of a task as a torch dataset: a stream that is the same for every number of workers.

A worker takes every W-th block (:mod:`separatrix.tasks.example_files`), so that together they draw each block once;
their order is that of torch's loader. Nothing is kept between two passes: a pass begins again with the first block.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import IterableDataset, get_worker_info

from separatrix.answer import Answer, Fact, Grid, Sheet
from separatrix.tasks import ExampleSet, Split, Task


class ExampleStream(IterableDataset[dict[str, Tensor]], Answer):
    """Examples as dicts of ``input_ids`` and ``labels`` (−100 where no answer is asked), one after the other.

    >>> from separatrix.tasks import tasks
    >>> stream = ExampleStream(ExampleSet(tasks()["index"], 6, count=3))
    >>> [len(example["labels"]) for example in stream], len(stream)
    ([7, 7, 7], 3)
    """

    def __init__(self, examples: ExampleSet) -> None:
        super().__init__()
        self.examples = examples

    @property
    def task(self) -> Task:
        """The task."""
        return self.examples.task

    @property
    def length(self) -> int:
        """Input length N."""
        return self.examples.length

    @property
    def split(self) -> Split:
        """Which distribution."""
        return self.examples.split

    @property
    def card(self) -> str:
        """The data card, as Markdown."""
        return self.examples.card()

    def __iter__(self) -> Iterator[dict[str, Tensor]]:
        """Yield the examples of this process, or of this worker."""
        worker = get_worker_info()
        first, step = (0, 1) if worker is None else (worker.id, worker.num_workers)
        for inputs, labels in self.examples.blocks(first, step):
            for row, answers in zip(torch.from_numpy(inputs), torch.from_numpy(labels), strict=True):
                yield {"input_ids": row, "labels": answers}

    def __len__(self) -> int:
        """Return how many examples there are; a stream without end has no length."""
        if self.examples.count is None:
            raise TypeError("this stream has no end; give count= for one that has")
        return self.examples.count

    def export(self, folder: str | Path, kind: str = "jsonl") -> Path:
        """Write examples and card to a folder: "jsonl", "npz" or "huggingface"."""
        return self.examples.export(Path(folder), kind)

    def as_dict(self) -> dict[str, Any]:
        """Return what the stream is, without its examples."""
        of = self.examples
        return {
            "task": of.task.name, "parameters": dict(of.task.parameters()),
            "length": of.length, "split": of.split, "seed": of.seed, "count": of.count,
        }  # fmt: skip

    def sheet(self) -> Sheet:
        """Return what the stream is, and its first example."""
        of = self.examples
        facts = [Fact(name, str(value)) for name, value in self.as_dict().items() if value not in (None, {})]
        inputs, labels = ExampleSet(of.task, of.length, of.split, of.seed, 1).block(0)
        rows = (("input_ids", str(inputs[0].tolist())), ("labels", str(labels[0].tolist())))
        grid = Grid("The first example", ("", "numbers"), rows)
        return Sheet(of.task.title, tuple(facts), (grid,), ("export(folder) writes it with a data card.",))
