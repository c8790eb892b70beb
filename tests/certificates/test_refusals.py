"""Networks just outside what a method covers: each is refused with its reason, and nothing is claimed about it.

A method may only reason about shapes that it has checked. Every row changes one thing of a network that the method
proves, so that one of those checks is all that is between the network and a wrong proof.
"""

import pytest

from separatrix.certificates import check
from separatrix.networks import Attention
from tests.certificates.changes import build
from tests.certificates.refused import (
    EQUALITY,
    LOOKUP,
    MATCH3,
    MQAR,
    NEAREST,
    SAME,
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
    scored,
    times,
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
    # triple-matching
    (MATCH3, times(0), "triple-matching", "no query meets a key"),
    (MATCH3, times(1 << 4), "triple-matching", "scores may leave the range"),
    (MATCH3, times(1 << 10), "triple-matching", "cut off"),
    (MATCH3, times(1 << 50), "triple-matching", "exceed 62 bits before rounding"),
    (MATCH3, head("query", "angle", value=1 << 58), "triple-matching", "keys times weights exceed 62 bits"),
    (MATCH3, read(at="last"), "triple-matching", "every position"),
    (MATCH3, layered(0, residual=True), "triple-matching", "without residual"),
    (MATCH3, halved(0, "query"), "triple-matching", None),
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
