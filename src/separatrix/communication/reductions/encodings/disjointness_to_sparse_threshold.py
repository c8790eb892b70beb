"""DISJ inside a threshold of sparse features (BHBK24 §4.2, Appendix F.3), and inside disjointness itself.

I[Σ x_i x_{N/2+i} > 0] is a threshold of N/2 features that look at two bits each, so THRES(2, N) contains DISJ on N/2
bits (and EQ, by x_i ⊕ x_{N/2+i}). Alice holds [BOS] and the first half. No bound follows for each member of the class
alone.
"""

import numpy

from separatrix.communication.problem import Integers
from separatrix.communication.reductions.reduction import Reduction, as_given, complement, only_answer
from separatrix.tasks import BEGINNING, tasks


def _beginning(bits: Integers, size: int) -> Integers:
    del size
    return numpy.concatenate([numpy.full((len(bits), 1), BEGINNING), bits], axis=1)


REDUCTION = Reduction(
    name="disjointness-to-sparse-threshold",
    source="BHBK24 Appendix F.3",
    statement="the halves are Alice's and Bob's bits; the threshold of the features x_i ∧ x_{N/2+i} is DISJ",
    problem="DISJ",
    task=lambda size: tasks()["sparse-threshold"].with_parameters(instance="disjointness"),
    length=lambda size: 2 * size,
    alice=_beginning,
    bob=as_given,
    decode=only_answer,
    smallest=2,
    variants=(
        Reduction(
            name="equality-to-sparse-threshold",
            source="BHBK24 Appendix F.3",
            statement="the halves are Alice's and Bob's bits; the threshold of the features x_i ⊕ x_{N/2+i} is not EQ",
            problem="EQ",
            task=lambda size: tasks()["sparse-threshold"].with_parameters(instance="inequality"),
            length=lambda size: 2 * size,
            alice=_beginning,
            bob=as_given,
            decode=complement,
            smallest=2,
        ),
        Reduction(
            name="disjointness-to-disjointness",
            source="BHBK24 §4.2",
            statement="the halves are Alice's and Bob's bits; the task is DISJ itself",
            problem="DISJ",
            task=lambda size: tasks()["disjointness"],
            length=lambda size: 2 * size,
            alice=as_given,
            bob=as_given,
            decode=only_answer,
        ),
    ),
)
