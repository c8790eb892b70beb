"""Examples of a task as files: JSON lines, numpy, or a folder of Hugging Face ``datasets``, each with a data card.

Examples come in blocks of :data:`BLOCK`; a block is a function of the seed, the split and its number alone. So the same
request gives the same files everywhere, and several workers can draw their blocks without asking each other.

An example is ``input_ids`` and ``labels``: a label is the class of the answer at a position, −100 where none is asked,
which losses ignore. Where cells have features, or answers are vectors, both are nested lists.
"""

import importlib
import io
import json
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray

from separatrix._version import __version__
from separatrix.errors import SeparatrixError
from separatrix.extras import require
from separatrix.files import check_writable, write_atomically
from separatrix.tasks.constant_answer import constant_score, guessed_answer
from separatrix.tasks.draws import draws_from
from separatrix.tasks.task import Split, Task

BLOCK = 64
IGNORED = -100
LARGEST_WORK = 1_000_000_000
"""Steps of all examples of one export, so that a mistyped number ends in a message."""
CARD = "README.md"

FORMATS = ("jsonl", "npz", "huggingface")


@dataclass(frozen=True)
class ExampleSet:
    """``count`` examples of a task at a length (None: without end), by split and seed."""

    task: Task
    length: int
    split: Split = "train"
    seed: int = 0
    count: int | None = None

    def __post_init__(self) -> None:
        self.task.check_length(self.length)
        if self.split not in ("train", "eval"):
            raise SeparatrixError(f"split {self.split!r} is unknown; choose train or eval")
        if type(self.seed) is not int or not 0 <= self.seed < 2**63:
            raise SeparatrixError(f"seed {self.seed!r} is not a whole number from 0 to 2^63 - 1; give one such as 0")
        if self.count is not None and (isinstance(self.count, bool) or self.count < 1):
            raise SeparatrixError(f"count {self.count!r} is not a number of examples; give 1 or more, or None")

    def block(self, number: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return inputs and labels of one block; the last may be shorter."""
        size = BLOCK if self.count is None else min(BLOCK, self.count - number * BLOCK)
        generator = numpy.random.default_rng([self.seed, ("train", "eval").index(self.split), number])
        found = self.task.sample(draws_from(generator), size, self.length, self.split)
        read = numpy.asarray(found.read)
        targets = numpy.asarray(found.targets)
        asked = read.reshape(read.shape + (1,) * (targets.ndim - read.ndim))
        return numpy.asarray(found.inputs), numpy.where(asked, targets, IGNORED)

    def blocks(self, first: int = 0, step: int = 1) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Yield every ``step``-th block from the ``first`` on."""
        number = first
        while self.count is None or number * BLOCK < self.count:
            yield self.block(number)
            number += step

    def arrays(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return all inputs and labels, stacked."""
        if self.count is None:
            raise SeparatrixError("examples without end cannot be stacked or exported; give count=, such as 10000")
        work = self.count * self.task.work(self.length)
        if work > LARGEST_WORK:
            raise SeparatrixError(
                f"{self.count} examples of length {self.length} would cost about {work} steps, more than "
                f"{LARGEST_WORK}; choose fewer"
            )
        inputs, labels = zip(*self.blocks(), strict=True)
        return numpy.concatenate(inputs), numpy.concatenate(labels)

    def export(self, folder: Path, kind: str = "jsonl") -> Path:
        """Write the examples and their card into a folder, each file whole or not at all; the file with the data.

        A folder of Hugging Face ``datasets`` is read by ``datasets.load_from_disk(folder)``; it must not exist yet.
        """
        if kind not in FORMATS:
            raise SeparatrixError(f"format {kind} is unknown; choose {', '.join(FORMATS)}")
        if folder.exists() and not folder.is_dir():
            raise SeparatrixError(f"{folder} is a file; give a folder")
        if kind == "huggingface":
            return self._huggingface(folder)
        data = folder / f"{self.split}.{kind}"
        check_writable(data)
        inputs, labels = self.arrays()
        if kind == "npz":
            content = io.BytesIO()
            numpy.savez_compressed(content, input_ids=inputs, labels=labels)
            write_atomically(data, content.getvalue())
        else:
            rows = zip(inputs.tolist(), labels.tolist(), strict=True)
            lines = [json.dumps({"input_ids": row, "labels": answers}, separators=(",", ":")) for row, answers in rows]
            write_atomically(data, "\n".join([*lines, ""]))
        write_atomically(folder / CARD, self.card())
        return data

    def _huggingface(self, folder: Path) -> Path:
        require("a folder of Hugging Face datasets", "datasets")
        if folder.exists():
            raise SeparatrixError(f"{folder} exists already; name a folder that does not, which datasets can make")
        inputs, labels = self.arrays()
        library: Any = importlib.import_module("datasets")
        table = library.Dataset.from_dict({"input_ids": inputs.tolist(), "labels": labels.tolist()})
        folder.absolute().parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.absolute().parent))
        try:
            library.DatasetDict({self.split: table}).save_to_disk(str(made))
            (made / CARD).write_text(self.card(), encoding="utf-8")
            made.chmod(0o755)
            made.rename(folder)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise
        return folder

    def card(self) -> str:
        """Return what a reader of the data must know, as Markdown."""
        task, length = self.task, self.length
        given = ", ".join(f"{name}={value}" for name, value in task.parameters().items()) or "none"
        padding = task.padding(length)
        classes = task.classes(length)
        answer = f"one of {classes} classes" if classes else f"{task.outputs(length)} whole numbers"
        guess = guessed_answer(task, length)
        guessing = "" if guess is None else f"; the commonest answer that an input offers: {100 * guess.share:.1f} %"
        lines = [
            "---",
            f"pretty_name: {json.dumps(f'{task.title}, length {length}')}",
            "license: apache-2.0",
            "---",
            "",
            f"# {task.title}, length {length}, {self.split}",
            "",
            f"{task.question} ({task.source})",
            "",
            f"- **Input**: {task.layout(length)}. `input_ids` has {task.positions(length)} positions.",
            f"- **Symbols**: {task.vocabulary(length).size} token numbers: {task.vocabulary(length).in_words()}.",
            f"- **Answer**: {answer}; `labels` is {IGNORED} where none is asked.",
            f"- **Promise**: {task.promise or 'every input'}. **Drawn**: {task.drawn or 'as promised'}.",
            f"- **Padding**: {'none' if padding is None else f'token {padding}, behind shorter inputs'}.",
            f"- **Parameters**: {given}. **Scored**: {task.scoring}.",
            f"- **Majority baseline**: {100 * constant_score(task, length):.1f} %{guessing}.",
            f"- **Examples**: {'without end' if self.count is None else f'{self.count:,}'}, split `{self.split}`, seed "
            f"{self.seed}; made by separatrix {__version__}, random and synthetic, about no person.",
            "",
            "The same examples again:",
            "",
            "```python",
            "import separatrix as sx",
            "",
            f"sx.dataset({self._named()!r}, {length}, {self.split!r}, seed={self.seed}, count={self.count})",
            "```",
            "",
        ]
        return "\n".join(lines)

    def _named(self) -> str:
        given = ",".join(f"{name}={value}" for name, value in sorted(self.task.parameters().items()))
        return f"{self.task.name}{',' if ':' in self.task.name else ':'}{given}" if given else self.task.name
