"""Trained models that count: verdicts against every input, bounds against torch, and claims that must not pass."""

import copy
import itertools
import json
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy
import pytest
import torch
from torch.nn import functional

from separatrix.models.certify_counts import certify_counts
from separatrix.models.naming import parse_spec
from separatrix.models.task_model import model_for_task
from separatrix.models.trained_files import weights_file
from separatrix.provers.trained_counts import CountsProver
from separatrix.provers.trained_transformer import Outcome
from separatrix.tasks import draws_from, tasks
from separatrix.tasks.automata import labelled_task
from separatrix_kernel import heads
from separatrix_kernel.__main__ import main
from separatrix_kernel.balls import ONE
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.thresholds import Part, Thresholds, check_counts, proved, read_counting
from separatrix_kernel.trained import TRAINED_FILE, WEIGHTS_FILE
from separatrix_kernel.transformer import Weights

WEIGHTED = "sparse-threshold:function_seed=3,sparsity=1"
"""Places of this task count up to 2, in both directions."""
MIXED = ("majority", 6, 20, "TF-(1,8)", 0)
"""Of this model some slices are right and some are not."""
CASES = [
    MIXED,
    ("majority", 7, 150, "TF-(1,8)", 2),
    ("majority", 6, 60, "TF-(1,8,heads=2)", 1),
    ("majority", 8, 45, "TF-(1,8,positions=sinusoidal)", 3),
    (WEIGHTED, 6, 150, "TF-(1,8)", 0),
]
JOINT = [
    ("equality", 4, 200, "TF-(1,8)", 0),
    ("equality:alphabet=3", 2, 150, "TF-(1,8)", 1),
    ("equality", 6, 60, "TF-(1,8,heads=2)", 0),
    ("equality:alice=1,4", 4, 30, "TF-(1,8,positions=rotary)", 1),
    ("cnf", 5, 200, "TF-(1,8)", 0),
    ("dnf", 5, 20, "TF-(1,8)", 2),
    ("sparse-threshold:function_seed=1,sparsity=2", 5, 200, "TF-(1,8)", 1),
]
"""Conditions of these tasks look at several places."""


@cache
def trained(label, length, steps, architecture="TF-(1,8)", seed=0):
    task = labelled_task(label)
    model = model_for_task(parse_spec(architecture), task, length, seeds=[seed])
    adam = torch.optim.Adam(model.parameters(), lr=0.01)
    drawn = numpy.asarray(task.sample(draws_from(seed), 64 * steps, length, "eval").inputs)
    answers = torch.from_numpy(numpy.asarray(task.decide(drawn, length)).astype(numpy.int64)).view(steps, 64)
    for batch, right in zip(torch.from_numpy(drawn).view(steps, 64, -1), answers, strict=True):
        loss = functional.cross_entropy(logits_of(model, batch), right)
        adam.zero_grad()
        loss.backward()
        adam.step()
    return model.eval()


def logits_of(model, inputs):
    return model(inputs[None], read=torch.full((1, len(inputs), 1), inputs.shape[1] - 1))[0, :, 0]


def every_input(length):
    return torch.tensor([[2, *bits] for bits in itertools.product((0, 1), repeat=length)])


@torch.no_grad()
def failing(model, task, length):
    """The inputs that the model answers wrongly or without a single largest logit, in its own type."""
    inputs = torch.tensor([*read_counting(task.specification(length))[0].all()])
    logits = logits_of(model, inputs)
    right = torch.from_numpy(numpy.asarray(task.decide(inputs.numpy(), length)).astype(numpy.int64))[:, None]
    wrong = logits.gather(1, right) <= logits.gather(1, 1 - right)
    return {tuple(row) for row in inputs[wrong[:, 0]].tolist()}


@cache
def certified(case):
    """The verdict, the claim and the weights."""
    with TemporaryDirectory() as place:
        verdict = certify_counts(trained(*case), labelled_task(case[0]), case[1], Path(place))
        return verdict, json.loads((Path(place) / TRAINED_FILE).read_text()), (Path(place) / WEIGHTS_FILE).read_bytes()


@pytest.fixture
def mixed():
    """The claim and the weights of MIXED."""
    return certified(MIXED)[1:]


@pytest.mark.parametrize("case", [*CASES, *JOINT], ids=str)
def test_every_verdict_agrees_with_every_input(case):
    label, length = case[:2]
    model, task = trained(*case), labelled_task(label)
    wrong = failing(model, task, length)
    in_double = failing(copy.deepcopy(model).double(), task, length)
    verdict, claim, data = certified(case)
    kernel = Thresholds(Weights(data), *read_counting(claim["specification"]))
    of = {row: (row[-1], kernel.counted(row)) for row in kernel.inputs.all()}
    bad = {of[row] for row in wrong | in_double}
    seen = set()
    for (p, low, high), each in verdict.parts.items():
        inside = {(p, count) for count in range(low, high + 1)}
        assert not seen & inside
        seen |= inside
        if each.outcome == Outcome.CERTIFIED:
            assert not inside & bad
        if each.failing is not None:
            assert each.failing in wrong and of[each.failing] in inside
    assert seen == {(p, count) for p in kernel.asking for count in range(kernel.greatest + 1)}
    assert verdict.count(Outcome.OPEN) == 0
    assert kernel.numbers == [
        [sum(each == (p, count) for each in of.values()) for count in range(kernel.greatest + 1)] for p in kernel.asking
    ]
    accepted = check_counts(claim, data)
    shown = {(token, count) for token, low, high in accepted.certified for count in range(low, high + 1)}
    assert accepted.share == verdict.share == Fraction(sum(each in shown for each in of.values()), len(of))


def test_joint_conditions_are_certified_and_refuted():
    outcomes = [{each.outcome for each in certified(case)[0].parts.values()} for case in JOINT]
    assert {Outcome.CERTIFIED} in outcomes
    assert any(Outcome.COUNTEREXAMPLE in each for each in outcomes)


def test_a_leaf_on_which_a_joint_condition_is_not_determined_is_about_all_inputs_there():
    """Equality of two bits: with no bit fixed a box holds equal and unequal inputs, and must not show either."""
    model = copy.deepcopy(trained("equality", 2, 5))
    with torch.no_grad():
        model.readout.bias[0] = torch.tensor([9.0, -9.0])
    kernel = Thresholds(Weights(weights_file(model)), *read_counting(tasks()["equality"].specification(2)))
    # All inputs get the answer 0: right for the unequal ones alone.
    for p in range(2):
        proved(kernel, p, 1, 1, ["leaf"])
        for proof in (["leaf"], ["split", 0, [p], ["leaf"], ["leaf"]]):
            with pytest.raises(RefusedError):
                proved(kernel, p, 0, 0, proof)
        with pytest.raises(RefusedError):
            proved(kernel, p, 0, 1, ["split", 0, [p], ["leaf"], ["leaf"]])
        assert kernel.part(p, [[1 - p]], 0, 0) is None and kernel.part(p, [[p]], 1, 1) is None


def test_some_slices_fail_and_some_need_splits():
    assert {each.outcome for each in certified(MIXED)[0].parts.values()} == {
        Outcome.CERTIFIED,
        Outcome.COUNTEREXAMPLE,
    }
    proofs = [row[3][0] for case in CASES for row in certified(case)[1]["certified"]]
    assert set(proofs) == {"leaf", "split"}


@pytest.mark.parametrize("case", CASES[1:], ids=str)
def test_boxes_hold_what_torch_computes_on_every_input(case, monkeypatch):
    length, model = case[1], trained(*case)
    kernel = Thresholds(Weights(weights_file(model)), *read_counting(labelled_task(case[0]).specification(length)))
    inputs = every_input(length)
    counts = numpy.array([kernel.counted(row) for row in inputs.tolist()])
    seen, real = [], functional.layer_norm

    def recorded(x, *rest):
        seen.append(x)
        return real(x, *rest)

    monkeypatch.setattr(functional, "layer_norm", recorded)
    for kind in (torch.float32, torch.float64):
        seen.clear()
        with torch.no_grad():
            copy.deepcopy(model).to(kind)(inputs[None], read=torch.full((1, len(inputs), 1), length))
        y = seen[1].reshape(len(inputs), -1).double().numpy()
        forms = y @ (numpy.array(kernel.answers.inward.columns[kernel.width :], dtype=float).T / ONE)
        for p in range(2):
            for low, high, held in ((2, 2, None), (1, 4, None), (2, 3, 1)):
                sets = [list(each) for each in kernel.held]
                if held is not None:
                    sets[2] = [held]
                part = kernel.part(p, sets, low, high)
                box = kernel.box(p, part)
                inside = (inputs[:, -1].numpy() == p) & (counts >= low) & (counts <= high)
                inside &= True if held is None else inputs[:, 2].numpy() == held
                assert inside.any()
                assert (abs(y[inside] * ONE - numpy.array(box.y.centres)) <= numpy.array(box.y.radii) + 1).all()
                away = numpy.sqrt(((y[inside] * ONE - numpy.array(box.y.centres)) ** 2).sum(axis=1))
                assert (away <= box.reach + 1).all()
                ends = numpy.array(box.forms)
                assert (forms[inside] * ONE >= ends[:, 0] - 8).all() and (forms[inside] * ONE <= ends[:, 1] + 8).all()


def test_least_sums_are_those_of_the_best_choice():
    """Against every choice: exact where places count one more, never too large where they count more than that."""
    generator = numpy.random.default_rng(0)
    for number in range(200):
        places = int(generator.integers(1, 6))
        groups, terms = [], generator.integers(-50, 50, (places, 3)).tolist()
        for _ in range(places):
            apart = int(generator.integers(0, 2 if number % 2 else 4))
            groups.append(([0, 1], [2], apart) if apart else ([0, 1, 2], [], 0))
        room = sum(each[2] for each in groups)
        fewest = int(generator.integers(0, room + 1))
        most = int(generator.integers(fewest, room + 1))
        found = Part(groups, fewest, most, room, 6).least(terms)
        sums = []
        for choice in itertools.product(range(3), repeat=places):
            taken = sum(g[2] for g, s in zip(groups, choice, strict=True) if s in g[1])
            if fewest <= taken <= most:
                sums.append(sum(row[s] for row, s in zip(terms, choice, strict=True)))
        if number % 2:
            assert found == min(sums)
        assert not sums or found <= min(sums)


def test_averages_are_bounded_closely():
    model = trained(*CASES[1])
    kernel = Thresholds(Weights(weights_file(model)), *read_counting(tasks()["majority"].specification(7)))
    part = kernel.part(0, [list(each) for each in kernel.held], 3, 3)
    powers = kernel.powers(0, 0)
    middle = [[sum(power) / 2 for power in place] for place in powers[0]]
    for form in range(4):
        values = kernel.seen_by_form[0][form]
        own = kernel.question(0).seen[0][form]
        bound = kernel.lowest(part, powers, kernel.sums(0, 0, part), kernel.shares(0, 0, part), values, own)
        averages = []
        for bits in itertools.product((0, 1), repeat=6):
            if sum(bits) == 3:
                keys = [(middle[j][s], values[j][s]) for j, s in enumerate((2, *bits))] + [(sum(powers[1]) / 2, own)]
                averages.append(sum(e * v for e, v in keys) / sum(e for e, _ in keys))
        spread = max(averages) - min(averages)
        assert bound <= min(averages) + 1
        assert bound >= min(averages) - spread / 100 - ONE / 1000


def test_a_bias_at_the_edge():
    """The readout's bias is moved until the worst input of a slice fails by next to nothing, or is right by that."""
    length, task, model = 4, tasks()["majority"], copy.deepcopy(trained("majority", 4, 5, "TF-(1,4)"))
    inputs, bias = every_input(length), model.readout.bias.data
    right = torch.from_numpy(numpy.asarray(task.decide(inputs.numpy(), length)).astype(numpy.int64))[:, None]
    specification, start = read_counting(task.specification(length)), bias.clone()
    proof = ["leaf"]
    for place in range(1, length):
        proof = ["split", place, [0], proof, proof]
    nearest = 1.0
    for p, count in itertools.product(range(2), (1, 2, 3)):
        some = (inputs[:, -1] == p) & (inputs[:, 1:].sum(dim=1) == count)
        for away in (-1e-6, 0.0, 1e-5, 1e-4) if some.any() else ():
            bias.copy_(start)
            answer = int(right[some][0])
            margin = margins(copy.deepcopy(model).double(), inputs[some], right[some])
            bias[..., answer] += away - margin
            exact = margins(copy.deepcopy(model).double(), inputs[some], right[some])
            try:
                proved(Thresholds(Weights(weights_file(model)), *specification), p, count, count, proof)
            except RefusedError:
                continue
            assert exact > 0 and margins(model, inputs[some], right[some]) > 0
            nearest = min(nearest, exact)
    assert nearest < 1e-3


@torch.no_grad()
def margins(model, inputs, right):
    """By how much the right answer wins at least."""
    logits = model(inputs[None], read=torch.full((1, len(inputs), 1), inputs.shape[1] - 1))[0, :, 0]
    return float((logits.gather(1, right) - logits.gather(1, 1 - right)).min())


def test_a_planted_error_is_never_certified():
    """A weight is moved to where the first inputs fail: of all inputs then a few, or one."""
    case = CASES[1]
    task, length, start = tasks()["majority"], case[1], trained(*case)
    assert not failing(start, task, length)
    generator = torch.Generator().manual_seed(7)
    few = 0
    for _ in range(6):
        model = copy.deepcopy(start)
        tensors = [each for each in model.parameters() if each.numel() > 8]
        tensor = tensors[int(torch.randint(len(tensors), (1,), generator=generator))].data.view(-1)
        place = int(torch.randint(len(tensor), (1,), generator=generator))
        old, low, high = float(tensor[place]), 0.0, 64.0
        for _ in range(24):
            tensor[place] = old + (low + high) / 2
            low, high = (low, (low + high) / 2) if failing(model, task, length) else ((low + high) / 2, high)
        tensor[place] = old + high
        wrong = failing(model, task, length)
        few += 0 < len(wrong) <= 3
        prover = CountsProver(Weights(weights_file(model)), *read_counting(task.specification(length)), nodes=8)
        found = dict(prover.all())
        bad = {(row[-1], prover.model.counted(row)) for row in wrong}
        for (p, least, most), each in found.items():
            assert each.outcome != Outcome.CERTIFIED or not any((p, k) in bad for k in range(least, most + 1))
    assert few >= 2


def test_a_claim_that_was_changed_is_refused(mixed):
    claim, data = mixed
    accepted = check_counts(claim, data)
    assert 0 < accepted.share < 1 and accepted.counterexamples
    rows, fails = claim["certified"], claim["counterexamples"]
    token, count = fails[0][-1], sum(fails[0][1:])
    some = rows[0]
    spec = claim["specification"]
    answer = spec["answer"]
    none = {"kind": "count", "conditions": [{"places": [[]], "table": [1]}], "answers": [[0, 0], [1, 1]]}
    select = {"kind": "select", "by": 6, "first": 0}
    changes = [
        {"sha256": "0" * 64},
        {"format": "separatrix-counts-2"},
        {"task": 3},
        {"task": "a\nb"},
        {"length": 0},
        {"certified": [*rows, some]},
        {"certified": [*rows, [token, count, count, ["leaf"]]], "counterexamples": []},
        {"certified": [*rows, [token, count, count, ["split", 1, [0], ["leaf"], ["leaf"]]]], "counterexamples": []},
        {"certified": [[0, 0, 6, ["leaf"]]]},
        {"certified": [[0, 0, 7, ["leaf"]]]},
        {"certified": [[2, 0, 1, ["leaf"]]]},
        {"certified": [[0, 1, 0, ["leaf"]]]},
        {"certified": [[*some[:3], ["leaf", []]]]},
        {"certified": [[*some[:3], ["split", 1, [0], ["leaf"]]]]},
        {"certified": [[*some[:3], ["split", 9, [0], ["leaf"], ["leaf"]]]]},
        {"certified": [[*some[:3], ["guess"]]]},
        {"certified": [[*some[:3], "leaf"]]},
        {"certified": [some[:3]]},
        {"counterexamples": [[2, *[0] * 6]]},
        {"counterexamples": [[0, *fails[0][1:]]]},
        {"counterexamples": [fails[0][:-1]]},
        {"open": [[0, 1]]},
        {"open": [[2, 1, 1]]},
        {"specification": {**spec, "answer": {**answer, "answers": [[0, 0], [3, 1]]}}},
        {"specification": {**spec, "answer": {**answer, "answers": [[0, 1], [4, 0]]}}},
        {"specification": {**spec, "answer": {**answer, "answers": [[0, 0], [4, 2]]}}},
        {"specification": {**spec, "answer": none}},
        {"specification": {**spec, "answer": select}},
        {"specification": {**spec, "inputs": [{"count": 7, "tokens": [0, 3]}]}},
        {"specification": {"inputs": [{"count": 1, "tokens": [0, 2]}], "answer": {**answer, "conditions": []}}},
        {"more": 1},
    ]
    for change in changes:
        with pytest.raises(RefusedError):
            check_counts({**copy.deepcopy(claim), **change}, data)
    for name in claim:
        with pytest.raises(RefusedError):
            check_counts({key: value for key, value in claim.items() if key != name}, data)
    with pytest.raises(RefusedError):
        check_counts(claim, data[:-1] + bytes([data[-1] ^ 1]))


def test_proofs_deeper_than_a_limit_and_slices_without_inputs(mixed, monkeypatch):
    claim, data = mixed
    model = Thresholds(Weights(data), *read_counting(claim["specification"]))
    # Where the token at the end is 1, no input has the count 0.
    proved(model, 1, 0, 0, ["leaf"])
    proved(model, 1, 0, 0, ["split", 1, [0, 1], ["leaf"], "never read"])
    monkeypatch.setattr(heads, "DEEPEST", 1)
    deep = ["split", 3, [0], ["leaf"], ["leaf"]]
    with pytest.raises(RefusedError):
        proved(model, 1, 0, 0, ["split", 1, [0], ["split", 2, [0], deep, deep], ["leaf"]])


@pytest.mark.parametrize("limit", ["thresholds.MOST_SUMS", "heads.MOST_STEPS", "heads.MOST_NUMBERS"])
def test_what_a_claim_asks_for_has_an_end(limit, mixed, monkeypatch):
    claim, data = mixed
    monkeypatch.setattr(f"separatrix_kernel.{limit}", 20)
    with pytest.raises(RefusedError):
        check_counts(claim, data)


def test_the_command_states_what_was_shown(mixed, tmp_path, capsys):
    claim, data = mixed
    (tmp_path / WEIGHTS_FILE).write_bytes(data)
    (tmp_path / TRAINED_FILE).write_text(json.dumps(claim))
    assert main([str(tmp_path)]) == 0
    said = capsys.readouterr().out
    heard = []
    accepted = check_counts(claim, data, lambda number, whole: heard.append((number, whole)))
    assert len(heard) == len(claim["certified"])
    assert f"{accepted.share} of all inputs" in said and claim["sha256"] in said and "majority" in said
    (tmp_path / TRAINED_FILE).write_text(json.dumps({**claim, "certified": [[0, 0, 6, ["leaf"]]]}))
    assert main([str(tmp_path)]) == 1
    assert check_counts(*certified(CASES[1])[1:]).share_in_words() == "all inputs"
