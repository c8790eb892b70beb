"""A row of attention whose scores are known only within bounds: what its average can be on any input.

A row's entries fall into groups. Of a group are known: how many entries it has, an upper bound of all its scores, a
lower bound of its *largest* score, and bounds of its values. Let m be the row's largest score; it lies between the
largest of the groups' lower bounds and the largest of the upper ones. The fixed point rounds the power
E(s - m) = exp(s - m), which keeps order, so

    a group's sum of powers is at most count · E(min(high - m_low, 0)) and at least E(best - m_high),

and at least E(0) = 1 if no other group can hold the largest score, because then one of its own entries does. Z is the
exact sum of all powers and at least 1. A group's share S / (S + others) grows with S and falls with the others, which
bounds the sum of its exact quotients. Each quotient is rounded by itself: down, a sum of n loses less than n steps; to
the nearest, it changes by at most n/2 steps. With weights between 0 and 1 and values between v_low and v_high the
average is then bounded by interval arithmetic. Nothing else is assumed about the inputs, so the bounds hold for all.

Hard attention is the same with E(0) = 1 and E(x) = 0 for x < 0. Leftmost attention gives the weight 1 to one entry of
the largest score, of whichever group can have it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from separatrix.arithmetic import FixedPoint, distinct
from separatrix.certificates.methods._boxes import Box, decided, feed_forwards, in_range, product_range
from separatrix.certificates.methods._numbers import Raw, whole
from separatrix.certificates.methods._streams import columns, live_slots
from separatrix.certificates.verdict import UnsupportedError
from separatrix.networks import GraphHead, Head, Network, ThirdOrderHead

AnyHead = Head | ThirdOrderHead | GraphHead


@dataclass(frozen=True)
class Group:
    """Entries of one kind. ``best`` and ``high`` are raw scores (cases,), ``values`` whole numbers (choices, v)."""

    count: int
    best: Raw
    high: Raw
    values: Raw


def alike(groups: Sequence[Group]) -> tuple[list[Group], Raw]:
    """The groups with each different case once, and which of these every case is."""
    cases, which = distinct(numpy.stack([side for group in groups for side in (group.best, group.high)], axis=1))
    sides = zip(groups, cases.T[0::2], cases.T[1::2], strict=True)
    return [Group(group.count, best, high, group.values) for group, best, high in sides], which


def averages(groups: Sequence[Group], arithmetic: FixedPoint, scoring: str, what: str) -> Box:
    """Bounds of the averaged values, raw: (cases, v)."""
    if scoring not in ("softmax", "hard", "leftmost"):
        raise UnsupportedError(f"{what} is {scoring}; the method covers softmax, hard and leftmost attention")
    one = arithmetic.largest
    entries = sum(group.count for group in groups)
    if scoring == "hard" and entries > one:
        raise UnsupportedError(f"{what} has {entries} entries, so many that N^Kc = {one} cuts off their sum; raise Kc")

    def power(score: Raw) -> Any:
        if scoring != "softmax":
            return numpy.where(score >= 0, one, 0).astype(object)
        return arithmetic.exp(numpy.maximum(score, -(one**2))).astype(object)

    lowest = numpy.max([group.best for group in groups], axis=0)
    highest = numpy.max([group.high for group in groups], axis=0)
    most = [group.count * power(numpy.minimum(group.high - lowest, 0)) for group in groups]
    least: list[Any] = []
    for group in groups:
        others = [each.high for each in groups if each is not group]
        holds = group.best > numpy.max(others, axis=0) if others else numpy.ones(len(lowest), dtype=bool)
        least.append(numpy.where(holds, one, power(group.best - highest)))
    low = high = numpy.zeros((len(lowest), groups[0].values.shape[1]), dtype=object)
    for number, group in enumerate(groups):
        rest_least, rest_most = sum(least) - least[number], sum(most) - most[number]
        up = 0 if arithmetic.rounding == "down" else (group.count + 1) // 2
        down = group.count - 1 if arithmetic.rounding == "down" else (group.count + 1) // 2
        heaviest = numpy.minimum(one * most[number] // numpy.maximum(most[number] + rest_least, one) + up, one + up)
        lightest = one * least[number] // numpy.maximum(least[number] + rest_most, one) - down
        if scoring == "leftmost":
            heaviest, lightest = numpy.minimum(most[number], one), numpy.where(rest_most == 0, one, 0).astype(object)
        weights = numpy.stack([numpy.maximum(lightest, 0), heaviest])[:, :, None]
        low = low + (weights * group.values.min(axis=0)).min(axis=0)
        high = high + (weights * group.values.max(axis=0)).max(axis=0)
    if max(numpy.abs(low).max(initial=0), numpy.abs(high).max(initial=0)) >= 2**62:
        raise UnsupportedError(f"the average of {what} exceeds 62 bits; choose a smaller Kc")
    return in_range(Box(low.astype(numpy.int64), high.astype(numpy.int64)), arithmetic, what)


def written(groups: Sequence[Group], head: AnyHead, live: Raw, arithmetic: FixedPoint, what: str) -> Box:
    """What the first layer, one head without residual, makes of such rows in the live coordinates."""
    average = averages(groups, arithmetic, head.scoring, what)
    return product_range(
        whole(head.output, f"the output of {what}")[live, :], average, arithmetic, f"the output of {what}"
    )


def answers(groups: Sequence[Group], head: AnyHead, network: Network, arithmetic: FixedPoint, what: str) -> Raw:
    """The answers of a network that is such a head and feed-forwards, -1 where they are not the same on all inputs."""
    live, (groups, which) = columns(network, live_slots(network)), alike(groups)
    box = feed_forwards(
        network, written(groups, head, live, arithmetic, what), 1, len(network.layers), live, arithmetic
    )
    return decided(network, box, live, arithmetic)[which]
