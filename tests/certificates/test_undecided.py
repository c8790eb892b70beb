"""A claim that no method decides: one readable line, and what every method says next to it."""

from separatrix.certificates import check, methods
from separatrix.certificates.refutations import undecided
from separatrix.certificates.verdict import Verdict
from tests.certificates.changes import build


def test_what_stands_in_the_way_is_said_by_the_method_for_the_task():
    # More points than the kernel is asked about.
    verdict = check(*build("nearest-neighbour", 260, exponent=9))
    assert not verdict.valid and not verdict.refuted
    assert verdict.reason.startswith("content-addressed: fixed:N=260,Kc=9,down needs more than 62 bits")
    assert "position-addressed" in verdict.reason.partition("also tried")[2]
    assert "\n" not in verdict.reason and len(verdict.reason) < 250
    assert [each.partition(":")[0] for each in verdict.reasons] == [
        each.name for each in sorted(methods().values(), key=lambda one: (one.order, one.name))
    ]


def test_what_a_method_found_wrong_comes_first():
    told = [
        Verdict(False, False, "needs more than 62 bits", "first"),
        Verdict(False, False, "needs more than 62 bits", "second"),
        Verdict(False, False, "position 2 does not pass on an exact 0 or 1", "third", suspected=True),
        Verdict(False, False, "the method covers match3, not majority", "fourth", concerned=False),
    ]
    verdict = undecided(told)
    assert verdict.reason == (
        "third: position 2 does not pass on an exact 0 or 1; no input that fails was found; also tried: first, second"
    )
    assert verdict.suspected and len(verdict.reasons) == 4
    only = undecided(told[3:])
    assert only.reason == "fourth: the method covers match3, not majority" and not only.suspected
