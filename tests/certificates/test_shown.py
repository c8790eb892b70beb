"""Reasons and counterexamples in words: in the task's own symbols, and long inputs are shortened."""

import json
import math
from fractions import Fraction

import pytest

from separatrix.certificates import Claim
from separatrix.certificates.certificate import (
    check_certificate,
    claim_in,
    state_of,
    write_certificate,
    write_refutation,
)
from separatrix.certificates.checker import check
from separatrix.certificates.refutations import undecided
from separatrix.certificates.shown import (
    FIRST_RUNS,
    LAST_RUNS,
    WORDS,
    claimed_inputs,
    shortened,
    shown_count,
    shown_counterexample,
    shown_reason,
    written_answer,
)
from separatrix.certificates.verdict import Verdict
from separatrix.constructions import Options, constructions
from separatrix.errors import SeparatrixError
from separatrix.tasks import draws_from, tasks
from tests.constructions.test_contract import small_length


@pytest.mark.parametrize(("length", "kept", "shown"), [(8, "64^8*8", "64^8 · 8"), (64, "64^65", "64^65")])
def test_a_number_of_inputs_has_one_spelling_and_its_file_keeps_its_own(tmp_path, length, kept, shown):
    """What is shown is the number in the certificate, which the checker compares letter for letter."""
    built = constructions()["index-lookup"].build(length)
    claim = Claim(built.task, built.length, built.arithmetic)
    path = write_certificate(built.network, claim, check(built.network, claim), tmp_path, {})
    assert json.loads(path.read_text())["inputs_covered"] == kept
    verdict = check_certificate(path).verdict
    assert verdict.valid and shown_count(verdict.inputs_covered) == shown
    factors = [factor.partition("^") for factor in shown.split(" · ")]
    number = math.prod(int(base) ** int(power or 1) for base, _, power in factors)
    assert number == built.task.count(length)


@pytest.mark.parametrize("name", list(constructions()))
def test_every_input_of_every_construction_can_be_shown(name):
    built = constructions()[name].build(small_length(name))
    row = built.task.sample(draws_from(3), 1, built.length).inputs[0]
    shown = shown_counterexample(built.network, Claim(built.task, built.length, built.arithmetic), tuple(row.tolist()))
    assert shown["wrong_answers"] == 0
    assert shown["given"] == shown["expected"]
    assert 1 <= shown["position"] <= built.network.positions
    assert "\n" not in shown["in_words"]
    assert shown["in_words"].startswith(f"the network says {shown['given']}, right is {shown['expected']}, at position")


def test_runs_are_counted_and_the_middle_is_left_out():
    lookup = tasks()["index-lookup"]
    assert shortened(lookup, [0, 0, 0, 1, 64], 4) == "a a a b @1"
    assert shortened(lookup, [0, 0, 0, 0, 64], 4) == "a ×4 @1"
    row = [place % 2 for place in range(300)]
    assert shortened(lookup, [*row, 64], 300) == " ".join(
        ["a b"] * (FIRST_RUNS // 2) + [f"… {301 - FIRST_RUNS - LAST_RUNS} symbols …"] + ["b a"] * 3 + ["b @1"]
    )


def test_large_graphs_are_shortened_too():
    graphs = next(task for task in tasks().values() if task.features(24))
    row = graphs.sample(draws_from(0), 1, 24).inputs[0].tolist()
    text = shortened(graphs, row, 24)
    assert "\n" not in text
    assert "characters …" in text


def test_only_a_false_claim_is_written_as_a_refutation(tmp_path):
    built = constructions()["index-lookup"].build(8)
    claim = Claim(built.task, built.length, built.arithmetic)
    with pytest.raises(SeparatrixError, match="not found false"):
        write_refutation(built.network, claim, check(built.network, claim), tmp_path, {})
    assert not list(tmp_path.iterdir())
    wrong = constructions()["index-lookup"].build(8, Options(gain=0))
    told = check(wrong.network, Claim(wrong.task, wrong.length, wrong.arithmetic))
    path = write_refutation(wrong.network, claim, told, tmp_path, {})
    assert path.name == "refuted.json" and check_certificate(path).verdict.refuted


def test_a_folder_says_what_is_claimed_in_it(tmp_path):
    """By its certificate, by a refutation where there is none, and otherwise not at all."""
    assert claim_in(tmp_path) is None
    wrong, right = (constructions()["index-lookup"].build(*each) for each in ((8, Options(gain=0)), (16,)))
    for built, write in ((wrong, write_refutation), (right, write_certificate)):
        claim = Claim(built.task, built.length, built.arithmetic)
        write(built.network, claim, check(built.network, claim), tmp_path, {})
        assert claim_in(tmp_path) == claim


def test_a_verdict_says_its_word_once():
    """Each of the three states has its word, and a reason does not repeat it."""
    right, wrong = (constructions()["index-lookup"].build(8, options) for options in (Options(), Options(gain=0)))
    verdicts = [check(each.network, Claim(each.task, 8, each.arithmetic)) for each in (right, wrong)]
    unknown = Verdict(False, False, "70 bits are too many", "pair-matching")
    verdicts.append(undecided([unknown]))
    words = [WORDS[state_of(verdict)] for verdict in verdicts]
    assert words == ["certified", "refuted", "not proved"]
    assert verdicts[2].reason == "pair-matching: 70 bits are too many"


def test_an_answer_that_is_none_is_shown_as_it_is():
    """A wrong network may name a symbol that the task does not have."""
    lookup = tasks()["index-lookup"]
    assert (written_answer(lookup, 1, 8), written_answer(lookup, 1000, 8)) == ("b", "1000")


@pytest.mark.parametrize(
    ("name", "gain", "said", "shown"),
    [
        (
            "index-lookup",
            1,
            "token 0 at position 1 is not",
            "the symbol a at position 1 is not recovered on every input",
        ),
        ("mqar", -1, "token 0 scores higher at token 7", "the query for the symbol k0 scores higher at the symbol k7"),
    ],
)
def test_reasons_are_shown_in_the_symbols_of_the_task(name, gain, said, shown):
    built = constructions()[name].build(8, Options(gain=gain))
    claim = Claim(built.task, built.length, built.arithmetic)
    reason = check(built.network, claim).reason
    assert said in reason
    assert shown_reason(reason, claim) == shown


def test_the_dummy_and_tokens_beyond_the_vocabulary_are_shown_too():
    built = constructions()["match3-heads"].build(4)
    claim = Claim(built.task, built.length, built.arithmetic)
    reason = "power-sums: token 0 does not add its power 1 modulo 5; token 17000 neither"
    assert shown_reason(reason, claim) == (
        "power-sums: the symbol ⊥ does not add its power 1 modulo 5; token 17000 neither"
    )


def test_a_refuted_claim_counts_its_inputs_as_a_valid_one_does():
    for gain in (None, Fraction(1, 100)):
        built = constructions()["index-lookup"].build(16, Options(gain=gain))
        claim = Claim(built.task, 16, built.arithmetic)
        assert claimed_inputs(claim, check(built.network, claim).inputs_covered) == "64^16*16"
