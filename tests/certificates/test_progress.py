"""Long loops of a certification say how far they are, with a total from which the time left is estimated."""

import pytest

from separatrix.arithmetic import Balls
from separatrix.certificates import Claim, check
from separatrix.constructions import constructions
from separatrix.progress import listening

CASES = [(name, None) for name in constructions()] + [(name, Balls(128)) for name in ("equality", "mqar")]


@pytest.mark.parametrize(("name", "arithmetic"), CASES, ids=str)
def test_every_loop_tells_its_total_and_comes_to_it(name, arithmetic):
    built = constructions()[name].build(8)
    heard: list[tuple[str, int, int | None]] = []
    with listening(lambda *told: heard.append(told)):
        verdict = check(built.network, Claim(built.task, 8, arithmetic or built.arithmetic))
    assert verdict.valid
    last = {what: (done, total) for what, done, total in heard}
    # All queries of a code see the same weights, and the kernel is silent: such checks have no loop.
    assert last or verdict.method in ("kernel", "position-addressed", "pair-matching")
    for what, (done, total) in last.items():
        assert total is not None, f"{what} has no total, so no time left can be shown"
        assert done == total, what


@pytest.mark.parametrize("name", ["equality", "disjointness", "match2-code"])
def test_the_search_for_an_input_that_fails_is_shown_too(name):
    built = constructions()[name].build(8)
    heard: list[str] = []
    with listening(lambda what, done, total: heard.append(what)):
        verdict = check(built.network, Claim(built.task, 8, type(built.arithmetic)(2, 1)))
    assert verdict.refuted
    assert "inputs that may fail" in heard
