"""A task from outside the package: what breaks the promises of ``Task`` is named in one line before it is used."""

from dataclasses import dataclass

import pytest

from separatrix.cli.app import run
from separatrix.errors import SeparatrixError
from separatrix.tasks import CommunicationSplit, Symbols, Task, Vocabulary, tasks
from separatrix.tasks.arrays import namespace_of
from separatrix.tasks.space import Space, cells
from separatrix.tasks.user_task import try_user_task


@dataclass(frozen=True, kw_only=True)
class EndsAgree(Task):
    """I[x_1 = x_N] for bits, asked at the last position."""

    name: str = "ends-agree"
    title: str = "Ends agree"
    source: str = "an example of the documentation"
    question: str = "Do the first and the last bit agree?"
    minimum_length: int = 2

    def vocabulary(self, length):
        return Vocabulary((Symbols("bits", 2, texts="01"),))

    def layout(self, length):
        return f"x_1 … x_{length}; read at the last bit"

    def positions(self, length):
        return length

    def classes(self, length):
        return 2

    def solve(self, row, length):
        return [None] * (len(row) - 1) + [int(row[0] == row[-1])]

    def label(self, inputs, length):
        xp = namespace_of(inputs)  # numpy, or torch
        read = xp.zeros(inputs.shape, dtype=xp.bool, device=inputs.device)
        read[:, -1] = True
        agree = xp.astype(inputs[:, :1] == inputs[:, -1:], xp.int64)
        return xp.astype(read, xp.int64) * agree, read

    def generate(self, draws, count, length, split):
        return draws.digits(2, count, length)

    def space(self, length):
        return Space(cells((0, 1), length))

    def communication(self, length):
        alice = tuple(range(length - 1))
        return CommunicationSplit("EQ", alice, (length - 1,), True, "Alice holds all but the last bit")

    def picture(self, row, length):
        return " ".join(map(str, row)) + f"\nends {'agree' if row[0] == row[-1] else 'differ'}"


class FewClasses(EndsAgree):
    def classes(self, length):
        return 1


class Contrary(EndsAgree):
    def solve(self, row, length):
        return [None if each is None else 1 - each for each in super().solve(row, length)]


class Short(EndsAgree):
    def solve(self, row, length):
        return super().solve(row, length)[1:]


class Longer(EndsAgree):
    def generate(self, draws, count, length, split):
        return super().generate(draws, count, length + 1, split)


class Stranger(EndsAgree):
    def generate(self, draws, count, length, split):
        return super().generate(draws, count, length, split) + 50


class Silent(EndsAgree):
    def label(self, inputs, length):
        targets, read = super().label(inputs, length)
        return targets, read & ~read


class Crashing(EndsAgree):
    def label(self, inputs, length):
        raise ValueError("nothing\nto say")


def test_tasks_that_keep_their_promises_pass():
    for length in (2, 40):
        try_user_task(EndsAgree(), length)
    for name, task in tasks().items():
        # The package's own are not tried, and would pass; the class is made one from outside for it.
        outside = type("Outside", (type(task),), {"__module__": __name__})
        length = max(task.minimum_length, 12)
        try_user_task(outside(**task.parameters()), length + -length % task.length_step)
        assert name


BAD = [
    (FewClasses, r"the label of the input \[.*\] is 1, and classes says 1$"),
    (Contrary, r"label and solve disagree on the input \[[01, ]+\]: (0 and 1|1 and 0) at position 5, counted from 0$"),
    (Short, r"solve gives 5 answers to the input \[[01, ]+\], which has 6 cells$"),
    (Longer, r"generate gave inputs of \(16, 7\) at length 6; positions and features say \(16, 6\)$"),
    (Stranger, r"the input \[5.*\] has symbols outside 0 to 1, the vocabulary$"),
    (Silent, r"label asks nothing of the input"),
    (Crashing, r"cannot draw and answer examples of length 6: ValueError: nothing to say"),
]


@pytest.mark.parametrize(("kind", "words"), BAD)
def test_broken_promises_are_named_with_an_example(kind, words):
    with pytest.raises(SeparatrixError, match=words) as caught:
        try_user_task(kind(), 6)
    assert "\n" not in str(caught.value) and str(caught.value).startswith("ends-agree")


@pytest.mark.parametrize(
    "arguments",
    [
        ["sample", "ends-agree", "--length", "6"],
        ["train", "ends-agree", "TF-(1,8)", "--length", "6", "--steps", "1"],
        ["bound", "ends-agree", "--model", "rnn", "--length", "1000000000000"],
    ],
)
def test_the_verbs_try_it_first(capsys, monkeypatch, tmp_path, arguments):
    # Not the function: a module that is first imported meanwhile would keep another one for all later tests.
    monkeypatch.setattr(tasks(), "_entries", {**tasks(), "ends-agree": FewClasses()})
    monkeypatch.setenv("SEPARATRIX_STORE", str(tmp_path / "runs.sqlite"))
    assert run(arguments) == 2
    told = capsys.readouterr()
    assert told.out == "" and len(told.err.splitlines()) == 1
    assert "and classes says 1" in told.err
