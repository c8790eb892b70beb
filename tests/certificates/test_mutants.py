"""The short version of the mutation campaign (``python -m tools.mutants``), and that it would see what it looks for."""

from dataclasses import replace

import pytest
from tools.mutants import judging
from tools.mutants.campaign import KINDS, Campaign, Case, cases, longer_cases
from tools.mutants.changes import BOUND
from tools.mutants.judging import DEFECTS, judged

from separatrix.arithmetic import Balls
from separatrix.certificates import Claim, Verdict, check, methods
from separatrix.constructions import Options, constructions
from tests.certificates.changes import build, changed, with_head, with_layer

ROUNDS = 3


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """A few mutants of every kind."""
    campaign = Campaign(tmp_path_factory.mktemp("mutants"), 2024, cases())
    return list(campaign.run(ROUNDS * len(KINDS)))


def test_no_mutant_is_judged_wrongly(found):
    assert len(found) == ROUNDS * len(KINDS)
    for kind, changed_, each in found:
        assert not each.defect, f"{kind}: {changed_}: {each.outcome}: {each.defect}"
        assert each.outcome not in DEFECTS, f"{kind}: {changed_}"


def test_mutants_are_of_all_sorts(found):
    """Some changes do no harm and some do; otherwise nothing would be learned from them."""
    outcomes = {each.outcome for _, _, each in found}
    assert {"still right, accepted", "wrong, refuted by an input", "rejected"} <= outcomes
    refuted = {kind for kind, _, each in found if each.outcome == "wrong, refuted by an input"}
    assert len(refuted) > len(BOUND) / 2
    for kind in ("hash", "bit", "truncated"):
        assert {each.outcome for found_kind, _, each in found if found_kind == kind} == {"rejected"}


def test_longer_inputs_are_attacked_too(tmp_path):
    few = tuple(
        case for case in longer_cases() if case.name in ("index-lookup", "mqar", "match2-code", "dyck-transformer")
    )
    found = list(Campaign(tmp_path, 3, few, longer=True).run(3 * len(BOUND), tuple(BOUND)))
    assert not [each for each in found if each[2].outcome in DEFECTS]
    assert {each.outcome for _, _, each in found} == {"still right, accepted", "wrong, refuted by an input", "rejected"}


def test_the_same_seed_gives_the_same_mutants(tmp_path):
    few = tuple(case for case in cases() if case.name in ("equality", "index-lookup"))
    runs = [[told for _, told, _ in Campaign(tmp_path, 5, few).run(12)] for _ in range(2)]
    assert runs[0] == runs[1]


def test_every_construction_and_method_takes_part():
    assert {case.name for case in cases()} == set(constructions())
    used = {check_method(case) for case in cases()}
    # This one only decides what an earlier one leaves open; each method is asked about every mutant by itself.
    assert used == set(methods()) - {"block-addressed"}


def check_method(case: Case) -> str:
    """The method that certifies a case."""
    network, claim = build_case(case)
    return check(network, claim).method


def build_case(case: Case):
    options = Options(parameters=case.parameters, **case.options)
    built = constructions()[case.name].build(case.length, options)
    return built.network, Claim(built.task, case.length, case.arithmetic or built.arithmetic)


class TestItWouldBeSeen:
    """A checker with a fault: the campaign must say so."""

    @pytest.fixture
    def wrong(self):
        network, claim = build("equality", 6)
        layer = network.layers[1]
        return with_layer(network, 1, inner_bias=changed(layer.inner_bias, 0, 0, -3)), claim

    def test_a_wrong_network_that_is_accepted(self, wrong, monkeypatch):
        network, claim = wrong
        assert judged(network, claim).outcome == "wrong, refuted by an input"
        monkeypatch.setattr(judging, "check", lambda *_: Verdict(True, False, "fine", "kind", "2^6"))
        assert judged(network, claim).outcome == "wrongly accepted"

    def test_one_method_that_accepts_it(self, wrong, monkeypatch):
        network, claim = wrong
        honest = judging.check

        def careless(network, claim, method=None):
            if method == "window-matching":
                return Verdict(True, False, "fine", method, "2^6")
            return honest(network, claim, method)

        monkeypatch.setattr(judging, "check", careless)
        assert judged(network, claim).outcome == "wrongly accepted"
        assert judged(network, claim).defect == "window-matching"

    def test_a_counterexample_that_does_not_fail(self, wrong, monkeypatch):
        _, claim = wrong
        right, _ = build("equality", 6)
        assert judging.is_right(right, claim)
        verdict = Verdict(False, True, "no", "kind", counterexample=(0, 0, 0, 0, 0, 0))
        monkeypatch.setattr(judging, "check", lambda *_: verdict)
        assert judged(right, claim).outcome == "wrong, no input named"

    def test_a_rejection_that_names_no_input(self, wrong, monkeypatch):
        network, claim = wrong
        monkeypatch.setattr(judging, "check", lambda *_: Verdict(False, False, "no", "none"))
        assert judged(network, claim).outcome == "wrong, no input named"

    def test_what_balls_cannot_tell_is_left_open(self):
        network, claim = build("mqar", 2)
        network = with_head(network, 0, scoring="hard")
        assert judged(network, replace(claim, arithmetic=Balls(96))).outcome == "left open"
