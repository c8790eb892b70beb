"""Verdicts as a person reads them: in the task's own symbols, positions counted from 1, numbers of inputs as products.

Nothing here decides anything: an input is run once more and compared with the task's slow solution
(:func:`separatrix.certificates.replay`), and what the network says and what is right is put in words.
"""

import re
from itertools import groupby
from typing import Any, cast

import numpy

from separatrix.arithmetic import Balls
from separatrix.certificates.refutations import replay
from separatrix.certificates.verdict import Claim
from separatrix.errors import SeparatrixError
from separatrix.networks import AnyNetwork
from separatrix.tasks import Task

LONGEST_RUN = 3
"""Equal symbols in a row that are written out in a shortened input; more are counted."""
LONGEST_TEXT = 160
"""Characters of an input that is not shortened."""
FIRST_RUNS, LAST_RUNS = 20, 8
"""What is kept of an input that has many runs."""


TOKEN = re.compile(r"\btoken ([0-9]+)\b")
"""How reasons name a symbol."""


WORDS = {"certified": "certified", "refuted": "refuted", "undecided": "not proved"}
"""What a person reads for the three states of a verdict: proved for every input; an input that is answered wrongly is
shown; neither. Of a file, ``check`` says *valid*, *refuted*, or *not valid*: it does not check, and no input is shown.
"""


def shown_trust(trust: str) -> str:
    """What a valid verdict relies on, for a person.

    >>> shown_trust("kernel")
    'kernel: separatrix_kernel alone decides about the proof'
    """
    if trust == "kernel":
        return "kernel: separatrix_kernel alone decides about the proof"
    return "wide trust: the method and all that it uses"


def shown_count(inputs_covered: str) -> str:
    """The number of inputs that a certificate covers, as a person writes it; certificates themselves keep ``*``.

    It is a product over the positions: how many symbols may stand there, equal factors as a power. Index lookup at
    length 64 has 64 symbols at 64 positions and 64 indices at one, ``64^65``; at length 256 the factors differ.

    >>> shown_count("64^65"), shown_count("64^256*256"), shown_count("16!/8!*2^8*8!")
    ('64^65', '64^256 · 256', '16!/8! · 2^8 · 8!')
    """
    return inputs_covered.replace("*", " · ")


def shown_claim(claim: Claim, inputs_covered: str) -> str:
    """What is claimed, in one line: task with all its parameters, length, arithmetic, and how many inputs that means.

    >>> from separatrix.arithmetic import FixedPoint
    >>> from separatrix.tasks import tasks
    >>> shown_claim(Claim(tasks()["index-lookup"], 8, FixedPoint(8, 2)), "64^8*8")
    'index-lookup (alphabet 64) of length 8, in fixed:N=8,Kc=2,down, on all 64^8 · 8 inputs'
    """
    task = claim.task
    given = [f"{name} {'none' if value is None else value}" for name, value in task.parameters().items()]
    parameters = f" ({', '.join(given)})" if given else ""
    real = " (the real numbers)" if isinstance(claim.arithmetic, Balls) else ""
    number = claimed_inputs(claim, inputs_covered)
    every = "every input"
    if number is not None:
        # Of real points there is no number; what is covered says itself that it is all of them.
        every = number if number.startswith("all ") else f"all {shown_count(number)} inputs"
    return f"{task.name}{parameters} of length {claim.length}, in {claim.arithmetic}{real}, on {every}"


def claimed_inputs(claim: Claim, inputs_covered: str) -> str | None:
    """How many inputs a claim is about: those that were covered, else what the task counts before its promise.

    None where nothing was covered and inputs are too long for the task to count them.

    >>> from separatrix.arithmetic import FixedPoint
    >>> from separatrix.tasks import tasks
    >>> claimed_inputs(Claim(tasks()["equality"], 4, FixedPoint(4, 2)), "0")
    '2^4'
    """
    if inputs_covered != "0":
        return inputs_covered
    return claim.task.space(claim.length).written if claim.task.listable(claim.length) else None


def shown_reason(reason: str, claim: Claim) -> str:
    """A verdict's reason with the task's own symbols in place of the numbers of tokens.

    >>> from separatrix.arithmetic import FixedPoint
    >>> from separatrix.tasks import tasks
    >>> claim = Claim(tasks()["index-lookup"], 8, FixedPoint(8, 2))
    >>> shown_reason("token 3 at position 1 is not recovered on every input", claim)
    'the symbol d at position 1 is not recovered on every input'
    """
    vocabulary = claim.task.vocabulary(claim.length)

    def written(found: re.Match[str]) -> str:
        token = int(found[1])
        # A network may have tokens that the task has not.
        return f"the symbol {vocabulary.write(token)}" if token < vocabulary.size else found[0]

    return TOKEN.sub(written, reason)


def shown_counterexample(network: AnyNetwork, claim: Claim, cells: tuple[Any, ...]) -> dict[str, Any]:
    """An input that is answered wrongly, run again and put in words; positions count from 1.

    >>> from separatrix.certificates import check
    >>> from separatrix.constructions import Options, constructions
    >>> built = constructions()["index-lookup"].build(8, Options(gain=0))
    >>> claim = Claim(built.task, built.length, built.arithmetic)
    >>> shown = shown_counterexample(built.network, claim, check(built.network, claim).counterexample)
    >>> shown["shortened"], shown["in_words"]
    ('a b ×7 @1', 'the network says b, right is a, at position 9 (@1)')
    """
    task, length = claim.task, claim.length
    row = numpy.array(cells, dtype=numpy.int64)
    found = replay(network, claim, row)
    given, expected = found["answers"], found["expected"]
    wrong = [place for place, pair in enumerate(zip(given, expected, strict=True)) if pair[0] != pair[1]]
    first = wrong[0] if wrong else 0
    asked = [place for place, answer in enumerate(task.solve(row.tolist(), length)) if answer is not None][first]
    at = f"position {asked + 1}"
    if row.ndim == 1:
        at += f" ({task.vocabulary(length).texts([int(row[asked])])[0]})"
    says, right = (written_answer(task, answers[first], length) for answers in (given, expected))
    words = f"the network says {says}, right is {right}, at {at}"
    if len(given) > 1:
        words += f"; {len(wrong)} of {len(given)} answers are wrong"
    return {
        "text": task.write(row.tolist(), length),
        "shortened": shortened(task, row.tolist(), length),
        "position": asked + 1,
        "given": says,
        "expected": right,
        "wrong_answers": len(wrong),
        "answers": len(given),
        "in_words": words,
    }


def written_answer(task: Task, answer: Any, length: int) -> str:
    """The readable form of an answer; a network that is wrong may give what is none.

    >>> from separatrix.tasks import tasks
    >>> written_answer(tasks()["index-lookup"], 1, 8), written_answer(tasks()["index-lookup"], 1000, 8)
    ('b', '1000')
    """
    plain = tuple(cast("list[int]", answer)) if isinstance(answer, list) else cast("int", answer)
    try:
        return task.write_answer(plain, length)
    except (SeparatrixError, IndexError):
        return str(plain)


def shortened(task: Task, row: list[Any], length: int) -> str:
    """An input in the task's symbols; equal ones in a row are counted, and the middle of a long one is left out.

    >>> from separatrix.tasks import tasks
    >>> shortened(tasks()["index-lookup"], [1] * 255 + [0, 64], 256)
    'b ×255 a @1'
    """
    text = task.write(row, length)
    if row and isinstance(row[0], list):
        if len(text) <= LONGEST_TEXT:
            return text
        left_out = len(text) - LONGEST_TEXT
        return f"{text[: 2 * LONGEST_TEXT // 3]} … {left_out} characters … {text[-LONGEST_TEXT // 3 :]}"
    runs = [(word, len(list(run))) for word, run in groupby(task.vocabulary(length).texts(row))]
    if all(count <= LONGEST_RUN for _, count in runs) and len(text) <= LONGEST_TEXT:
        return text
    words = [f"{word} ×{count}" if count > LONGEST_RUN else " ".join([word] * count) for word, count in runs]
    if len(words) <= FIRST_RUNS + LAST_RUNS:
        return " ".join(words)
    left_out = sum(count for _, count in runs[FIRST_RUNS:-LAST_RUNS])
    return " ".join([*words[:FIRST_RUNS], f"… {left_out} symbols …", *words[-LAST_RUNS:]])
