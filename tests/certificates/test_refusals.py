"""Networks just outside what a method covers: each is refused with its reason, and nothing is claimed about it.

A method may only reason about shapes that it has checked. Every row changes one thing of a network that the method
proves, so that one of those checks is all that is between the network and a wrong proof.
"""

import numpy
import pytest

from separatrix.certificates import check
from separatrix.networks import Attention
from tests.certificates.changes import build
from tests.certificates.refused import (
    EQUALITY,
    LAST,
    LOCAL,
    LOOKUP,
    MATCH2,
    MATCH3,
    MQAR,
    NEAREST,
    SAME,
    absent_is_zero,
    another_digit,
    both,
    coordinate_in_the_labels,
    doubled_heads,
    feed,
    halved,
    head,
    layered,
    layers,
    more,
    moved_address,
    part,
    read,
    readout_bias,
    readout_entry,
    scored,
    search_times,
    times,
    valued_dummy,
)

REFUSED = [
    # position-addressed
    (LOOKUP, doubled_heads(0), "position-addressed", "one head"),
    (LOOKUP, head("value", "address"), "position-addressed", "follow positions"),
    (LOOKUP, layers(lambda given: [*given, Attention((), True)]), "position-addressed", "one attention layer"),
    (EQUALITY, layers(lambda given: [*given, given[2]]), "position-addressed", "two for counts"),
    (EQUALITY, both(head("query", "address", 2), head("key", "address", 2)), "position-addressed", "uniform attention"),
    (MQAR, lambda network: network, "position-addressed", "no description"),
    # content-addressed
    (MQAR, head("query", "address"), "content-addressed", "scores depend on positions"),
    (MQAR, head("query", "kind", value=-9), "content-addressed", None),
    (MQAR, part("point", positions=(0, 5)), "content-addressed", "depends on cell and position"),
    (MQAR, moved_address, "content-addressed", "filled by token and position"),
    (MQAR, head("value", "address", 2), "content-addressed", "what the method does not follow"),
    (MQAR, head("key", "point", 2), "content-addressed", "keys depend on contents"),
    (MQAR, feed(1, "inner", "point"), "content-addressed", "its own content or position"),
    (MQAR, head("value", "point"), "content-addressed", "values of the first layer depend on contents"),
    (NEAREST, more("label", "position", 7), "content-addressed", "filled by cell and position"),
    (NEAREST, head("query", "label"), "content-addressed", None),
    (NEAREST, head("query", "point", row=1), "content-addressed", None),
    (NEAREST, feed(1, "inner", "point"), "content-addressed", "reads the coordinates of points"),
    (NEAREST, times(1 << 6), "content-addressed", "scores may reach the end of the range"),
    (NEAREST, head("key", "point", 2), "content-addressed", "what the method does not follow"),
    (NEAREST, both(coordinate_in_the_labels, head("query", "label")), "content-addressed", "one slot of coordinates"),
    (MQAR, both(part("point", rule=SAME), scored(scoring="leftmost")), "content-addressed", "stands alone"),
    # pair-matching
    (MATCH2, scored(mask="causal"), "pair-matching", "unmasked attention head"),
    (MATCH2, layered(0, residual=True), "pair-matching", "without residual"),
    (MATCH2, layers(lambda given: [*given, given[0]]), "pair-matching", None),
    (LAST, layers(lambda given: given[:2]), "pair-matching", "two attention layers"),
    (LAST, feed(1, "inner", "key"), "pair-matching", "keeps a token"),
    (LAST, scored(2, scoring="linear"), "pair-matching", None),
    (LAST, head("query", "number", 2), "pair-matching", None),
    (LAST, layers(lambda given: [*given, given[2]]), "pair-matching", "after the second attention layer"),
    # triple-matching
    (MATCH3, times(0), "triple-matching", "no query meets a key"),
    (MATCH3, times(1 << 4), "triple-matching", "scores may leave the range"),
    (MATCH3, times(1 << 10), "triple-matching", "cut off"),
    (MATCH3, times(1 << 50), "triple-matching", "exceed 62 bits before rounding"),
    (MATCH3, head("query", "angle", value=1 << 58), "triple-matching", "keys times weights exceed 62 bits"),
    (MATCH3, read(at="last"), "triple-matching", "every position"),
    (MATCH3, layered(0, residual=True), "triple-matching", "without residual"),
    (MATCH3, halved(0, "query"), "triple-matching", None),
    # window-matching
    (LOCAL, layers(lambda given: given[:3]), "window-matching", "two feed-forwards"),
    (LOCAL, layered(0, residual=False), "window-matching", "residuals everywhere"),
    (LOCAL, scored(1, mask="causal"), "window-matching", "without a mask"),
    (LOCAL, read(at="last"), "window-matching", "every position"),
    (LOCAL, halved(1, "output"), "window-matching", "whole"),
    (LOCAL, head("output", "window", 1, row=3), "window-matching", "in their own places"),
    (LOCAL, part("place", tokens=(0, 7)), "window-matching", "depends on token and position"),
    (LOCAL, head("query", "own", 1), "window-matching", "depends on tokens"),
    (LOCAL, more("window", "position", 4, 12), "window-matching", "by the first feed-forward alone"),
    (LOCAL, head("query", "found", 1), "window-matching", "more than positions"),
    (LOCAL, feed(0, "outer", "found"), "window-matching", "write averaged coordinates alone"),
    (LOCAL, readout_entry("place"), "window-matching", "before the last feed-forward"),
    (LOCAL, feed(0, "outer_bias", "window"), "window-matching", None),
    (LOCAL, feed(0, "outer", "window", 5), "window-matching", None),
    (LOCAL, feed(0, "outer", "window"), "window-matching", "not all 0 or 1"),
    (LOCAL, feed(2, "inner", "own"), "window-matching", "mixes coordinates"),
    (LOCAL, readout_bias, "window-matching", "without a constant"),
    (LOCAL, readout_entry("found", -2), "window-matching", "one coordinate"),
    (LOCAL, feed(3, "inner", "place"), "window-matching", "neither the own number nor the window"),
    (LOCAL, feed(3, "inner", "window", value=1), "window-matching", None),
    (LOCAL, feed(3, "inner", "window", value=-2), "window-matching", None),
    (LOCAL, feed(3, "inner", "window", 30, -1), "window-matching", "does not add two numbers of the window"),
    (LOCAL, feed(3, "inner", "window", 0, 10**6), "window-matching", "may leave the range"),
    (LOCAL, search_times(-1), "window-matching", "subtracts"),
    (LOCAL, another_digit, "window-matching", "as their residues"),
    (LOCAL, absent_is_zero, "window-matching", "a number that is not there"),
    (LOCAL, valued_dummy, "window-matching", "the dummy has a value"),
    (LOCAL, part("place", indices=numpy.array([0, 1, 1, 2])), "window-matching", "share their coordinates"),
]  # fmt: skip


@pytest.mark.parametrize(("start", "change", "method", "words"), REFUSED)
def test_what_a_method_does_not_cover_it_does_not_claim(start, change, method, words):
    network, claim = build(*start)
    assert method == "position-addressed" or check(network, claim, method).valid
    verdict = check(change(network), claim, method)
    assert not verdict.valid
    assert words is None or words in verdict.reason, verdict.reason
    if not verdict.refuted:
        assert verdict.inputs_covered == "0"
