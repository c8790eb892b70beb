"""A recurrent model that decides equality against one changed symbol has mp ≥ ⌈log2 |Σ'|⌉, whatever N. Elementary.

Eq-one promises that the halves are equal or differ in exactly one symbol, so the N/2 bits of total equality (Theorem
11) are not asked for. Derivation: the |Σ'| first halves that differ in one symbol alone need different states, because
each is equal to itself and differs in one symbol from the others, and all these inputs keep the promise. It is tight:
the difference of the two sums of symbols modulo |Σ'| is 0 exactly if the halves are equal. With the 1,023 symbols of
BHBK24 Appendix H.2 that is 10 bits.
"""

import numpy

from separatrix.bit_counts import bits_for
from separatrix.bounds.bound import ProtocolBound
from separatrix.bounds.claims._settings import RECURRENT_ASSUMPTIONS, plain_setting
from separatrix.bounds.evidence import Evidence
from separatrix.bounds.simulations import RECURRENT
from separatrix.communication import Integers
from separatrix.tasks import Task, tasks

SIZES = (3, 4, 5)
LONGEST = 4


def symbols(task: Task) -> int:
    """|Σ'|: the symbols without [SEP]."""
    return int(task.parameters()["vocabulary_size"]) - 1


def _checks(limit: int) -> tuple[Evidence, ...]:
    lengths = range(2, min(LONGEST, max(2, limit)) + 1, 2)
    tried = [(tasks()["eq-one"].with_parameters(vocabulary_size=size), length) for size in SIZES for length in lengths]
    return (
        Evidence(
            "verified",
            "first halves that differ in one symbol: all crossings keep the promise and only the equal ones are "
            f"answered 1, for 2 to {max(SIZES) - 1} symbols to N = {lengths[-1]}",
            all(_told_apart(task, length) for task, length in tried),
            {"verified_to": lengths[-1]},
        ),
        Evidence(
            "verified",
            "as many bits are enough: the difference of the sums modulo the number of symbols decides every promised "
            f"input, for 2 to {max(SIZES) - 1} symbols to N = {lengths[-1]}",
            all(_sums_decide(task, length) for task, length in tried),
        ),
    )


def _crossings(task: Task, length: int) -> Integers:
    """First halves that differ in their first symbol alone, each before each."""
    many, half = symbols(task), length // 2
    halves = numpy.zeros((many, half), dtype=numpy.int64)
    halves[:, 0] = numpy.arange(many)
    rows, columns = (each.ravel() for each in numpy.indices((many, many)))
    separator = numpy.full((many * many, 1), many)
    return numpy.concatenate([halves[rows], separator, halves[columns]], axis=1)


def _told_apart(task: Task, length: int) -> bool:
    inputs = _crossings(task, length)
    answers, equal = task.label(inputs, length)[0][:, -1], inputs[:, 0] == inputs[:, length // 2 + 1]
    return bool(task.admissible(inputs, length).all() and ((answers == 1) == equal).all())


def _sums_decide(task: Task, length: int) -> bool:
    half = length // 2
    return all(
        bool((_same_sums(part.inputs, half, symbols(task)) == (part.targets[:, -1] == 1)).all())
        for part in task.enumerate(length)
    )


def _same_sums(
    inputs: "numpy.typing.NDArray[numpy.int64]", half: int, many: int
) -> "numpy.typing.NDArray[numpy.bool_]":
    return (inputs[:, :half].sum(axis=1) - inputs[:, half + 1 :].sum(axis=1)) % many == 0


BOUND = ProtocolBound(
    name="eq-one-rnn",
    claim="one changed symbol, with BHBK24 Theorem 2",
    statement="a recurrent model that tells equal halves from halves that differ in one symbol has mp ≥ ⌈log2 |Σ'|⌉",
    task_names=("eq-one",),
    models=("rnn",),
    extension=True,
    growth="constant",
    assumptions=RECURRENT_ASSUMPTIONS,
    simulation=RECURRENT,
    problem="EQ, one changed symbol",
    hidden_bits=lambda task, length: bits_for(symbols(task)),
    setting=plain_setting,
    in_words="⌈log2 |Σ'|⌉",
    instances=_crossings,
    checks=_checks,
)
