"""``sx.sample``: labelled examples of a task that a person can read."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from separatrix.answer import Answer, Grid, Sheet, plain
from separatrix.api.arguments import checked
from separatrix.errors import SeparatrixError

if TYPE_CHECKING:
    from separatrix.tasks import Examples, Split, Task

LARGEST_WORK = 100_000_000
"""Steps of one batch, so that a mistyped number ends in a message and not in swapped memory or a long wait."""
LONGEST_SHOWN = 600
"""Characters of an input or an answer in the table."""


@dataclass(frozen=True)
class Example:
    """One input: as text, as tokens, and the answer at each position, None where none is asked."""

    text: str
    input: Any
    answers: tuple[Any, ...]


@dataclass(frozen=True, repr=False)
class Sampled(Answer):
    """Examples of a task; ``batch`` has the same as arrays."""

    of: "Task"
    length: int
    split: str
    examples: tuple[Example, ...]
    batch: "Examples"

    def as_dict(self) -> dict[str, Any]:
        """Return the examples as plain data."""
        return {
            "task": self.of.name,
            "parameters": {name: plain(value) for name, value in self.of.parameters().items()},
            "length": self.length,
            "split": self.split,
            "count": len(self.examples),
            "examples": [plain(each) for each in self.examples],
        }

    def rows(self) -> list[tuple[str, str, str]]:
        """Return number, input and answers of each example, as text."""
        joined = " " if self.of.classes(self.length) else "; "
        return [
            (
                str(number),
                _shortened(each.text),
                _shortened(
                    joined.join(self.of.write_answer(one, self.length) for one in each.answers if one is not None)
                ),
            )
            for number, each in enumerate(self.examples, 1)
        ]

    def sheet(self) -> Sheet:
        """Show the examples in a table."""
        title = f"{self.of.title}, length {self.length}: {self.of.layout(self.length)}"
        return Sheet(title, grids=(Grid("", ("", "input", "answer"), tuple(self.rows()), numbers=("",)),))


def _shortened(text: str) -> str:
    """Return the beginning of a long text and how much is left out."""
    if len(text) <= LONGEST_SHOWN:
        return text
    return f"{text[:LONGEST_SHOWN]} … {len(text) - LONGEST_SHOWN} more characters, all with --json"


@checked
def sample(
    task: "str | Task | Callable[[Any], Any]",
    length: int = 24,
    count: int = 5,
    *,
    seed: int = 0,
    split: "Split" = "eval",
) -> Sampled:
    """Draw random examples of a task with their answers; the same seed gives the same examples.

    ``task``: a name, one with parameters such as "dyck:depth=3", FILE.py:function, or a function.

    >>> sample("index", 6, 2).rows()
    [('1', '1 1 1 1 0 1 @1', '1'), ('2', '1 1 1 0 1 1 @1', '1')]
    """
    from separatrix.profiles import task_argument
    from separatrix.tasks import draws_from, try_user_task

    chosen = task_argument(task)
    chosen.check_length(length)
    if count < 1:
        raise SeparatrixError(f"--count {count} is not a number of examples; choose 1 or more")
    work = count * chosen.work(length)
    if work > LARGEST_WORK:
        raise SeparatrixError(
            f"--count {count} at length {length} would cost about {work} steps, more than {LARGEST_WORK}; "
            "lower --count or --length"
        )
    try_user_task(chosen, length)
    batch = chosen.sample(draws_from(seed), count, length, split)
    found: list[Example] = []
    for number in range(count):
        row = chosen.trim(batch.inputs[number], length)
        found.append(Example(chosen.write(row, length), row, tuple(chosen.answers(batch, number, length))))
    return Sampled(chosen, length, split, tuple(found), batch)
