"""Uniform attention: heads whose scores are all 0."""

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.verdict import UnsupportedError
from separatrix.networks import Head, weights_of


def uniform_weight(head: Head, keys: int, arithmetic: FixedPoint) -> int:
    """The raw weight that a head of zeros in query or key gives to each of so many keys."""
    if head.query.parameters and head.key.parameters:
        raise UnsupportedError("the method covers uniform attention here: a query or key of zeros")
    seen = numpy.ones((1, keys), dtype=bool)
    weights = weights_of(head, arithmetic.zeros((1, 1, keys)), seen, arithmetic)[0, 0]
    if int(weights.min()) != int(weights.max()):
        raise UnsupportedError(f"{head.scoring} attention does not weigh equal scores alike")
    return int(weights[0])
