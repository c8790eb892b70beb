"""Facts 1 to 4 of BHBK24 at every n that is quick; the largest n that fits is run for the rows and for one rank."""

from dataclasses import replace

import pytest

from separatrix.communication.classics import disjointness
from separatrix.communication.facts import FACTS, verify_fact_2, verify_fact_3, verify_fact_4, verify_facts
from separatrix.communication.matrix import communication_matrix
from separatrix.communication.rank import rational_rank
from separatrix.errors import SeparatrixError


def test_all_facts_hold_at_small_n():
    reports = verify_facts(7)
    assert len(reports) == 4 * 7
    assert {report.fact for report in reports} == {1, 2, 3, 4}
    for report in reports:
        assert report.holds, report
        assert all(check.bits >= report.n for check in report.checks)


def test_equality_and_index_at_their_largest_n():
    equal = verify_fact_2(12)
    assert equal.holds
    assert [check.found for check in equal.checks] == [4096, 4096, 4096]
    assert verify_fact_3(18).holds
    assert verify_fact_4(11).holds


def test_disjointness_has_full_rank_at_ten_bits():
    rank = rational_rank(communication_matrix(disjointness(10, "disjoint")))
    assert (rank.lower, rank.upper) == (1024, 1024)


def test_inflated_facts_do_not_hold():
    for fact, (verify, _) in FACTS.items():
        report = verify(4)
        assert not replace(report, n=6).holds, fact
        spoiled = replace(report.checks[0], found=report.checks[0].found - 1)
        assert not replace(report, checks=(spoiled, *report.checks[1:])).holds


@pytest.mark.parametrize(("fact", "n"), [(1, 0), (1, 13), (2, 13), (3, 21), (4, 13)])
def test_sizes_that_do_not_fit_are_refused(fact, n):
    with pytest.raises(SeparatrixError, match="does not fit"):
        FACTS[fact][0](n)
