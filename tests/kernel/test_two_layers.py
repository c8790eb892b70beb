"""Trained lookups of two layers: verdicts against every input, boxes against torch, and claims that must not pass."""

import copy
import json
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy
import pytest
import torch
from torch.nn import functional

from separatrix.errors import SeparatrixError
from separatrix.models.certify_two_layers import certify_cases
from separatrix.models.naming import parse_spec
from separatrix.models.task_model import model_for_task
from separatrix.models.trained_files import model_from, weights_file
from separatrix.provers.trained_lookup import ChosenProver
from separatrix.provers.trained_transformer import Outcome
from separatrix.tasks import draws_from
from separatrix.tasks.automata import labelled_task
from separatrix.training.layered_leaks import layered_losses
from separatrix_kernel.__main__ import main
from separatrix_kernel.balls import BITS, ONE
from separatrix_kernel.lookup import Lookup
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.trained import TRAINED_FILE, WEIGHTS_FILE
from separatrix_kernel.transformer import Weights
from separatrix_kernel.two_layers import TwoLayers, check_two_layers, groups_of, read_lookup

RECALL, LOOKUP = "associative-recall:keys=3", "index-lookup:alphabet=3"
GOOD = (LOOKUP, 3, 170, "TF-(2,8,heads=2)", 0)
"""All of this model's cases are right; some proofs have splits and λ."""
MIXED = (RECALL, 2, 200, "TF-(2,16)", 1)
"""Of this model some cases are right and some are not."""
CASES = [
    GOOD,
    MIXED,
    (RECALL, 2, 50, "TF-(2,16)", 2),
    ("associative-recall:keys=3,labels=3", 2, 150, "TF-(2,16,positions=sinusoidal)", 0),
]


@cache
def trained(label, length, steps, architecture, seed):
    """A model after so many steps of Adam, with what --certifiable asks; copy it before a change."""
    task = labelled_task(label)
    model = model_for_task(parse_spec(architecture), task, length, seeds=[seed])
    groups = groups_of(read_lookup(task.specification(length)))
    adam = torch.optim.Adam(model.parameters())
    drawn = task.sample(draws_from(seed), 64 * steps, length, "eval")
    inputs, answers = (torch.from_numpy(numpy.asarray(each)) for each in (drawn.inputs, drawn.targets[:, -1]))
    for number, (batch, right) in enumerate(zip(inputs.view(steps, 64, -1), answers.view(steps, 64), strict=True)):
        adam.param_groups[0]["lr"] = 0.01 * min(1, (number + 1) / 20) * (1 - 0.8 * number / steps)
        loss = functional.cross_entropy(logits_of(model, batch), right)
        loss = loss + layered_losses(model, groups, 6.0, torch.tensor(number / steps)).sum()
        adam.zero_grad()
        loss.backward()
        adam.step()
    return model.eval()


def logits_of(model, inputs):
    return model(inputs[None], read=torch.full((1, len(inputs), 1), inputs.shape[1] - 1))[0, :, 0]


def every_input(task, length):
    inputs, answer = read_lookup(task.specification(length))
    return torch.tensor([row for row in inputs.all() if answer.admits(row)])


@torch.no_grad()
def failing(model, task, length):
    """The inputs that a model answers wrongly or without a single largest logit."""
    inputs = every_input(task, length)
    logits = logits_of(model, inputs)
    right = torch.tensor([task.solve(row, length)[-1] for row in inputs.tolist()])[:, None]
    rest = logits.scatter(1, right, -numpy.inf).amax(dim=1, keepdim=True)
    return {tuple(row) for row in inputs[(logits.gather(1, right) <= rest)[:, 0]].tolist()}


@cache
def certified(case):
    """The verdicts of a case's model, its certificate and its weights."""
    with TemporaryDirectory() as folder:
        place = Path(folder)
        found = certify_cases(trained(*case), labelled_task(case[0]), case[1], place, nodes=8)
        return found, json.loads((place / TRAINED_FILE).read_text()), (place / WEIGHTS_FILE).read_bytes()


def kernel_of(model, case):
    groups = groups_of(read_lookup(labelled_task(case[0]).specification(case[1])))
    return TwoLayers(Weights(weights_file(model), layers=2), groups)


# -- verdicts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_verdict_agrees_with_every_input(case):
    task, length = labelled_task(case[0]), case[1]
    model = trained(*case)
    found, claim, data = certified(case)
    groups = groups_of(read_lookup(task.specification(length)))
    wrong = failing(model, task, length)
    bad = {groups.asked(row) for row in wrong | failing(copy.deepcopy(model).double(), task, length)}
    assert set(found.parts) == set(groups.every())
    for each, decided in found.parts.items():
        assert decided.outcome != Outcome.CERTIFIED or each not in bad
        if decided.failing is not None:
            assert decided.failing in wrong and groups.asked(decided.failing) == each
    # How many are left open depends on the weights; that some are decided must not.
    assert len(found.left()) <= len(found.parts) // 2
    accepted = check_two_layers(json.loads(json.dumps(claim)), data)
    assert accepted.share == found.share == Fraction(len(claim["certified"]), groups.cases)
    # Each case has as many inputs as any other.
    count = accepted.specification[1].count(accepted.specification[0])
    assert count == len(every_input(task, length)) and count % groups.cases == 0


def test_cases_of_both_tasks_are_certified_and_some_fail():
    good, mixed = certified(GOOD)[0], certified(MIXED)[0]
    assert good.share == 1 and 0 < mixed.share < 1 and mixed.failing()
    proofs = [each.proof for each in good.parts.values()]
    assert any(proof[0] == "split" for proof in proofs)


@torch.no_grad()
def reordered(model, generator):
    """The same function with coordinates in another order, so that float32 adds in another order."""
    other, width = copy.deepcopy(model), model.spec.width
    order = torch.randperm(width, generator=generator)
    for tensor in (model.embedding.weight, model.positions.table):
        target = other.embedding.weight if tensor is model.embedding.weight else other.positions.table
        target.copy_(tensor[..., order])
    other.readout.weight.copy_(model.readout.weight[:, order])
    for before, after in zip([*model.blocks, model], [*other.blocks, other], strict=True):
        for name in ("norm", "feed_forward_norm"):
            if hasattr(before, name):
                for part in ("weight", "bias"):
                    getattr(getattr(after, name), part).copy_(getattr(getattr(before, name), part)[..., order])
    for before, after in zip(model.blocks, other.blocks, strict=True):
        heads, size = before.mixer.heads, before.mixer.dimension
        inner = torch.cat([head * size + torch.randperm(size, generator=generator) for head in range(heads)])
        columns = torch.cat([part * width + inner for part in range(3)])
        after.mixer.project.weight.copy_(before.mixer.project.weight[:, order][..., columns])
        after.mixer.project.bias.copy_(before.mixer.project.bias[..., columns])
        after.mixer.output.weight.copy_(before.mixer.output.weight[:, inner][..., order])
        after.mixer.output.bias.copy_(before.mixer.output.bias[..., order])
        hidden = torch.randperm(before.feed_forward.hidden, generator=generator)
        first, second = before.feed_forward, after.feed_forward
        second.inner.weight.copy_(first.inner.weight[:, order][..., hidden])
        second.inner.bias.copy_(first.inner.bias[..., hidden])
        second.outer.weight.copy_(first.outer.weight[:, hidden][..., order])
        second.outer.bias.copy_(first.outer.bias[..., order])
    return other, order.argsort()


@pytest.mark.parametrize("case", [GOOD, MIXED, CASES[3]], ids=str)
def test_boxes_and_forms_hold_on_every_input(case, monkeypatch):
    """What torch computes between layers and behind them, in float64 and float32 in several orders, is in the boxes."""
    model, task, length = trained(*case), labelled_task(case[0]), case[1]
    kernel = kernel_of(model, case)
    groups, second = kernel.groups, kernel.second
    prover = ChosenProver(second)
    inputs = every_input(task, length)
    boxes = second.boxes
    numbers = [
        [
            *(groups.numbered(row[at - at % groups.size : at + 1]) for at in range(len(row) - 1)),
            row[-1] - groups.asking.start,
        ]
        for row in inputs.tolist()
    ]
    seen, real = [], functional.layer_norm

    def recorded(x, *rest):
        seen.append(x)
        return real(x, *rest)

    monkeypatch.setattr(functional, "layer_norm", recorded)
    generator = torch.Generator().manual_seed(1)
    plain = torch.arange(model.spec.width)
    kinds = [(copy.deepcopy(model).double(), plain), (model, plain), *(reordered(model, generator) for _ in range(3))]
    for other, undo in kinds:
        seen.clear()
        with torch.no_grad():
            logits = logits_of(other, inputs).double().numpy()
        between, y, z = (each[0].double()[..., undo].numpy() for each in seen[2:5])
        y, z = y[:, 0], z[:, 0]
        for row, each in zip(between, numbers, strict=True):
            for at, number in enumerate(each):
                centres, radii = (numpy.array(part) for part in boxes[at][number])
                assert (abs(row[at] * ONE - centres) <= radii + 1).all()
        sigma = numpy.sqrt(z.var(axis=1) + 1e-5)
        asked = [groups.asked(row) for row in inputs.tolist()]
        for one in groups.every()[::5]:
            rows = numpy.array([each == one for each in asked])
            p, right, sets = groups.question(one), groups.answer(one), groups.sets(one)
            box = second.leak(p, sets)
            assert (abs(y[rows] * ONE - numpy.array(box.y.centres)) <= numpy.array(box.y.radii) + 1).all()
            try:
                passed = second.answers.passed(box)
            except RefusedError:
                continue
            assert (
                abs(z[rows] * ONE - numpy.array(passed.half.z.centres)) <= numpy.array(passed.half.z.radii) + 1
            ).all()
            for k, margin in enumerate(second.answers.margins(passed, right)):
                if k != right:
                    least = ((logits[rows, right] - logits[rows, k]) * sigma[rows]).min()
                    form, rest = second.answers.form(second.question(p).base, passed, right, k)
                    bounds = [prover._least(p, head, sets, form) << (BITS - 20) for head in range(second.heads)]
                    assert max(margin, rest + sum(bounds)) <= least * ONE + 1


def test_a_planted_error_is_never_certified():
    """A weight is moved to where the first inputs fail: of all inputs then a few, or one."""
    task, length, start = labelled_task(GOOD[0]), GOOD[1], trained(*GOOD)
    assert not failing(start, task, length)
    generator, groups = torch.Generator().manual_seed(11), kernel_of(start, GOOD).groups
    few = decided = 0
    for _ in range(6):
        model = copy.deepcopy(start)
        tensors = [each for each in model.parameters() if each.numel() > 8]
        tensor = tensors[int(torch.randint(len(tensors), (1,), generator=generator))].data.view(-1)
        place = int(torch.randint(len(tensor), (1,), generator=generator))
        old, low, high = float(tensor[place]), 0.0, 64.0
        for _ in range(20):
            tensor[place] = old + (low + high) / 2
            low, high = (low, (low + high) / 2) if failing(model, task, length) else ((low + high) / 2, high)
        tensor[place] = old + high
        wrong = failing(model, task, length)
        few += 0 < len(wrong) <= 4
        bad = {groups.asked(row) for row in wrong}
        with TemporaryDirectory() as folder:
            try:
                found = certify_cases(model, task, length, Path(folder), nodes=4)
            except SeparatrixError:
                # So large a weight leaves no bounds at all.
                continue
        assert not {case for case, each in found.parts.items() if each.outcome == Outcome.CERTIFIED} & bad
        decided += 1
    assert few >= 2 and decided >= 3


# -- claims that must not pass ----------------------------------------------------------------------------------------


def test_a_claim_that_was_changed_is_refused():
    _, claim, data = certified(MIXED)
    accepted = check_two_layers(claim, data)
    assert 0 < accepted.share < 1 and accepted.counterexamples
    rows, fails = claim["certified"], claim["counterexamples"]
    some, row = rows[0], fails[0]
    p = row[0:4:2].index(row[-1])
    bad = [p, row[2 * p : 2 * p + 2]]
    other = [(some[1][0] + 1) % 3, 3]
    pairs = [some[1], other] if some[0] == 0 else [other, some[1]]
    spec = claim["specification"]
    key, label = {"count": 1, "tokens": [0, 3]}, {"count": 1, "tokens": [3, 5]}
    long = [{"count": 300, "tokens": [0, 3]}, {"count": 1, "tokens": [3, 303]}]
    changes = [
        {"sha256": "0" * 64},
        {"format": "separatrix-trained-1"},
        {"task": "a\nb"},
        {"length": 0},
        {"certified": [*rows, some]},
        {"certified": [*rows, [*bad, ["leaf", []]]], "counterexamples": [], "open": []},
        {"certified": [*rows, [*bad, some[2]]], "counterexamples": [], "open": []},
        {"certified": [[2, [0, 3], ["leaf", []]]]},
        {"certified": [[0, [3, 3], ["leaf", []]]]},
        {"certified": [[0, [0, 5], ["leaf", []]]]},
        {"certified": [[0, [0], ["leaf", []]]]},
        {"certified": [[0, 0, ["leaf", []]]]},
        {"certified": [[*some[:2], ["leaf"]]]},
        {"certified": [[*some[:2], ["leaf", [[0]]]]]},
        {"certified": [[*some[:2], ["split", 0, [0], ["leaf", []]]]]},
        {"certified": [[*some[:2], ["split", 4, [0], ["leaf", []], ["leaf", []]]]]},
        {"certified": [some[:2]]},
        {"open": [some[:2]]},
        {"open": [[0, [0]]]},
        {"counterexamples": [row[:-1]]},
        {"counterexamples": [[*row[:-1], 3]]},
        {"counterexamples": [[0, 3, 0, 4, 0]]},
        {"counterexamples": [[0, 3, 1, 3, 2]]},
        {"counterexamples": [[*pairs[0], *pairs[1], some[1][0]]]},
        {"specification": {**spec, "answer": {"kind": "select", "by": 4, "first": 0}}},
        {"specification": {**spec, "answer": {"kind": "recall", "pairs": 1}}},
        {"specification": {"inputs": [key, label, key], "answer": {"kind": "recall", "pairs": 1}}},
        {"specification": {"inputs": long, "answer": {"kind": "select", "by": 300, "first": 3}}},
        {"specification": labelled_task("index-lookup:alphabet=5").specification(3)},
        {"specification": labelled_task("majority").specification(3)},
        {"specification": labelled_task("mqar").specification(4)},
        {"more": 1},
    ]
    for change in changes:
        with pytest.raises(RefusedError):
            check_two_layers({**copy.deepcopy(claim), **change}, data)
    for name in claim:
        with pytest.raises(RefusedError):
            check_two_layers({key: value for key, value in claim.items() if key != name}, data)
    with pytest.raises(RefusedError):
        check_two_layers(claim, data[:-1] + bytes([data[-1] ^ 1]))
    # Without the case that it is of, it is an input, which is all that the kernel says of one.
    least = {**claim, "certified": [], "counterexamples": [[*pairs[0], *pairs[1], some[1][0]]]}
    assert check_two_layers(least, data).share == 0


@pytest.mark.parametrize(
    "answer", [{"kind": "select", "by": 2, "first": 3}, {"kind": "select", "by": 3, "first": 2}], ids=str
)
def test_a_selection_that_names_other_places_is_refused(answer):
    _, claim, data = certified(GOOD)
    check_two_layers({**claim, "certified": []}, data)
    with pytest.raises(RefusedError):
        check_two_layers(
            {**claim, "certified": [], "specification": {**claim["specification"], "answer": answer}}, data
        )


@pytest.mark.parametrize(("tokens", "fits"), [((3, 3, 3), True), ((3, 2, 3), False), ((4, 4, 4), False)])
def test_places_hold_the_same_symbols_and_each_is_a_class(tokens, fits):
    _, claim, data = certified(GOOD)
    inputs = [*({"count": 1, "tokens": [0, stop]} for stop in tokens), {"count": 1, "tokens": [3, 6]}]
    changed = {**claim, "certified": [], "specification": {**claim["specification"], "inputs": inputs}}
    if fits:
        assert check_two_layers(changed, data).cases == 9
    else:
        with pytest.raises(RefusedError):
            check_two_layers(changed, data)


def test_a_bound_that_is_stated_too_tightly_is_refused():
    case = next(case for case in CASES if any(row[2] != ["leaf", []] for row in certified(case)[1]["certified"]))
    kernel = kernel_of(trained(*case), case)
    p, held, proof = next(row for row in certified(case)[1]["certified"] if row[2] != ["leaf", []])
    kernel.prove((p, tuple(held)), proof)
    leaf = changed = copy.deepcopy(proof)
    while leaf[0] == "split":
        leaf = leaf[3]
    if leaf[1]:
        leaf[1][0][1] += 1 << 20
    else:
        changed = ["leaf", []]
    with pytest.raises(RefusedError):
        kernel.prove((p, tuple(held)), changed)


def test_weights_of_another_number_of_layers_are_refused():
    data = certified(GOOD)[2]
    with pytest.raises(RefusedError):
        Lookup(Weights(data), 3, 3)
    single = weights_file(model_for_task(parse_spec("TF-(1,8)"), labelled_task(RECALL), 2, seeds=[0]))
    with pytest.raises(RefusedError):
        Weights(single, layers=2)
    inputs = every_input(labelled_task(GOOD[0]), GOOD[1])
    assert torch.equal(logits_of(model_from(data), inputs), logits_of(trained(*GOOD), inputs))
    for architecture in ("TF-(3,8)", "TF-(2,8,positions=rotary)"):
        with pytest.raises(SeparatrixError):
            weights_file(model_for_task(parse_spec(architecture), labelled_task(RECALL), 2, seeds=[0]))


@pytest.mark.parametrize(
    ("limit", "most"), [("MOST_CASES", 5), ("MOST_NUMBERS", 100), ("MOST_STEPS", 1000), ("KEYS_IN_A_BLOCK", 3)]
)
def test_what_a_claim_asks_for_has_an_end(limit, most, monkeypatch):
    _, claim, data = certified(GOOD)
    monkeypatch.setattr(f"separatrix_kernel.two_layers.{limit}", most)
    with pytest.raises(RefusedError):
        check_two_layers(claim, data)


def test_the_command_states_what_was_shown(tmp_path, capsys):
    _, claim, data = certified(GOOD)
    (tmp_path / WEIGHTS_FILE).write_bytes(data)
    (tmp_path / TRAINED_FILE).write_text(json.dumps(claim))
    assert main([str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "9 of 9 cases" in said and "valid: right on all inputs" in said and claim["sha256"] in said
    heard = []
    check_two_layers(claim, data, lambda number, whole: heard.append((number, whole)))
    assert heard == [(number, 9) for number in range(9)]
