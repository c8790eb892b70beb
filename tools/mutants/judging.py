"""What is true of a mutant, found without the checker, and whether the checker's verdict agrees with it.

At a short length all inputs are run and compared with the task's own slow ``solve``: that is the truth. At a longer one
there are too many, and sampled inputs are evidence: they can show that a mutant was wrongly accepted, no more.
"""

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy
from tools.mutants.slow_evaluation import OpenError, Slow

from separatrix.arithmetic import Balls, FixedPoint
from separatrix.arithmetic.interface import UndecidedError
from separatrix.certificates import Claim, check, methods
from separatrix.certificates.checker import misfit
from separatrix.errors import SeparatrixError
from separatrix.networks import AnyNetwork, Network, evaluate
from separatrix.tasks import Task, draws_from

MOST_INPUTS, MOST_IN_BALLS = 5000, 100
"""A mutant with more inputs than this is drawn anew: what is true of it could not be shown in a moment."""
SAMPLED = 200
SLOWLY = 4
"""Inputs of a mutant that are also run by the slow evaluation."""
OUTCOMES = (
    "still right, accepted", "wrong, refuted by an input", "rejected", "left open", "wrongly accepted",
    "wrong, no input named",
)  # fmt: skip
DEFECTS = OUTCOMES[4:]


@dataclass(frozen=True)
class Judged:
    """What became of one mutant."""

    outcome: str
    methods: int
    """How many methods were asked by themselves."""
    defect: str = ""


@lru_cache(maxsize=64)
def solved(task: Task, length: int) -> tuple[Any, list[list[Any]]]:
    """All inputs that keep the task's promise, and the answers of its slow solution, None where nothing is asked."""
    every = numpy.concatenate([examples.inputs for examples in task.enumerate(length)])
    return every, [plain(task.solve(row.tolist(), length)) for row in every]


def plain(answers: Any) -> list[Any]:
    """Answers with lists for vectors, as a network gives them."""
    return [list(answer) if isinstance(answer, tuple) else answer for answer in answers]


def few_enough(claim: Claim) -> bool:
    """Whether all inputs can be tried."""
    most = MOST_IN_BALLS if isinstance(claim.arithmetic, Balls) else MOST_INPUTS
    return claim.task.listable(claim.length) and claim.task.count(claim.length) <= most


def is_right(network: AnyNetwork, claim: Claim) -> bool | None:
    """Whether every input is answered correctly: the truth, found by running all; None where balls leave it open."""
    if misfit(network, claim) is not None:
        return False
    inputs, expected = solved(claim.task, claim.length)
    try:
        answers = evaluate(network, inputs, claim.arithmetic).answers.tolist()
        compare_slowly(network, claim, inputs, answers)
    except UndecidedError:
        return None
    except SeparatrixError:
        return False  # where an answer cannot be computed there is none
    return all(map(partial(answered, network), answers, expected))


def compare_slowly(network: AnyNetwork, claim: Claim, inputs: Any, answers: list[Any]) -> None:
    """Hold the evaluation itself to one that shares no arithmetic with it, on a few of the inputs."""
    dual = isinstance(network, Network) and bool(network.dual_parts)
    once = isinstance(claim.arithmetic, FixedPoint) and claim.arithmetic.softmax_rule == "once"
    rigorous = isinstance(claim.arithmetic, FixedPoint | Balls)
    if dual or once or not rigorous or network.readout.power_sums is not None:
        return
    slow = Slow(network, claim.arithmetic)
    for place in range(0, len(inputs), max(1, len(inputs) // SLOWLY)):
        try:
            given = slow.answers(inputs[place].tolist())
        except OpenError:
            continue
        if given != answers[place]:
            raise AssertionError(f"evaluated {answers[place]}, slowly {given}, on {inputs[place].tolist()}")


def answered(network: AnyNetwork, given: list[Any], wanted: list[Any]) -> bool:
    """Whether the answers of one input are those that are asked for; a network that is read at the end has one."""
    every = given if network.readout.at == "every" else [None] * (len(wanted) - 1) + given
    return all(one == asked for one, asked in zip(every, wanted, strict=True) if asked is not None)


def fails(network: AnyNetwork, claim: Claim, example: tuple[Any, ...]) -> bool:
    """Whether an input keeps the promise and is answered wrongly."""
    tokens = numpy.array(example, dtype=numpy.int64)
    if not bool(claim.task.admissible(tokens[None], claim.length)[0]):
        return False
    given = evaluate(network, tokens[None], claim.arithmetic).answers[0].tolist()
    return not answered(network, given, plain(claim.task.solve(tokens.tolist(), claim.length)))


def judged(network: AnyNetwork, claim: Claim) -> Judged:
    """The whole checker's verdict and that of every method, against the truth."""
    try:
        right, verdict = is_right(network, claim), check(network, claim)
    except AssertionError as difference:
        return Judged("wrongly accepted", 0, f"the evaluation itself is wrong: {difference}")
    if right is None:
        return Judged("left open", 0)
    for name in (None, *methods()):
        alone = verdict if name is None else check(network, claim, name)
        if alone.valid and not right:
            return Judged("wrongly accepted", 0, f"{alone.method}")
        if alone.counterexample is not None and not fails(network, claim, alone.counterexample):
            return Judged("wrong, no input named", 0, f"{alone.method} names {alone.counterexample}")
    if verdict.valid:
        return Judged("still right, accepted", len(methods()))
    if verdict.counterexample is not None:
        return Judged("wrong, refuted by an input", len(methods()))
    wrong = misfit(network, claim) is None and not right
    return Judged("wrong, no input named" if wrong else "rejected", len(methods()), verdict.reason * wrong)


def judged_by_samples(network: AnyNetwork, claim: Claim) -> Judged | None:
    """The whole checker's verdict at a length with too many inputs to try all, against sampled inputs.

    None over the reals, where running samples takes long and may leave their answers open.
    """
    if isinstance(claim.arithmetic, Balls):
        return None
    verdict = check(network, claim)
    if verdict.counterexample is not None:
        shown = fails(network, claim, verdict.counterexample)
        return Judged("wrong, refuted by an input" if shown else "wrong, no input named", 1)
    if not verdict.valid:
        return Judged("rejected", 1)
    inputs = claim.task.sample(draws_from(1), SAMPLED, claim.length).inputs
    given = evaluate(network, inputs, claim.arithmetic).answers.tolist()
    wanted = [plain(claim.task.solve(row.tolist(), claim.length)) for row in inputs]
    right = all(map(partial(answered, network), given, wanted))
    return Judged("still right, accepted" if right else "wrongly accepted", 1, "" if right else verdict.method)
