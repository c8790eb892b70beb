"""One-layer Mamba for words of every length: numbers against flint and float32 in any order, leads, forged tokens."""

import copy
import hashlib
import json
import tempfile
from itertools import product
from math import ceil, floor
from pathlib import Path
from types import SimpleNamespace

import flint
import numpy
import pytest
import torch
from safetensors.numpy import load, save
from torch.nn import functional

from separatrix.models.certify_words import certify_words, first_failing
from separatrix.models.naming import parse_spec
from separatrix.models.recurrent_files import answers_to_words, recurrent_file, recurrent_from
from separatrix.models.sequence_model import SequenceModel
from separatrix.models.task_model import model_for_task
from separatrix.provers.trained_selective import SelectiveProver
from separatrix.provers.trained_transformer import Outcome
from separatrix.provers.trained_words import UNIT
from separatrix_kernel import selective
from separatrix_kernel.balls import ONE
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.selective import (
    LARGEST,
    Form,
    Selective,
    Step,
    decays,
    log_one_more,
    rates,
    silu,
    softplus,
    softpluses,
)
from separatrix_kernel.specification import Automaton
from separatrix_kernel.trained import WORDS_FORMAT
from separatrix_kernel.words import check_words, network_of
from tests.kernel.test_words import AUTOMATON, MAMBA, TASK, certificate, one_thread, precise, trained

__all__ = ["one_thread", "precise"]

SHAPES = ("Mamba-(1,4,state=4)", "Mamba-(1,3,state=2,expansion=1)", "Mamba-(1,17,state=3)")


def random_model(architecture, seed, size=1.0):
    """A model with weights so large that roundings show."""
    model = model_for_task(parse_spec(architecture), TASK, 4, seeds=[seed])
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" not in name and "log_rate" not in name:
                parameter.copy_(size * torch.randn(parameter.shape, generator=generator))
    return model.eval()


# -- numbers ----------------------------------------------------------------------------------------------------------


def test_softplus_silu_and_decays_enclose_the_real_ones_and_torchs():
    generator = numpy.random.default_rng(0)
    drawn = numpy.concatenate([generator.normal(0, 6, 300), generator.normal(0, 1e-5, 20), [0, 1, -1, 25, -25, 19.99]])
    for single in map(float, drawn.astype(numpy.float32)):
        value, x, stored = round(single * ONE), flint.arb(single), torch.tensor(single, dtype=torch.float32)
        real = (1 + x.exp()).log()
        low, high = softplus(value)
        assert real * ONE >= low - 1 and real * ONE <= high + 1 and high - low <= 12
        ends = softpluses(value - 1, value + 1)
        for found in (functional.softplus(stored), torch.log(1 + stored.exp()), -functional.logsigmoid(-stored)):
            assert ends[0] <= float(found) * ONE <= ends[1]
        centre, radius = silu((value, 1))
        for found in (functional.silu(stored), stored * torch.sigmoid(stored), stored / (1 + (-stored).exp())):
            assert abs(float(found) * ONE - centre) <= radius
        assert abs(x / (1 + (-x).exp()) * ONE - centre) <= radius
        if abs(single) <= 16:
            low, high = rates(value)
            assert x.exp() * ONE >= low and x.exp() * ONE <= high
            assert low <= float(stored.exp()) * ONE <= high
            assert high - low <= (high >> 16) + 64
        step, rate = abs(stored), torch.tensor(abs(generator.normal(0, 3)), dtype=torch.float32)
        about = [(round(float(each) * ONE) - 1, round(float(each) * ONE) + 1) for each in (step, rate)]
        low, high = decays(*about)
        for found in (torch.exp(step * -rate).double(), torch.exp(step.double() * -rate.double())):
            assert low <= float(found) * ONE <= high
        assert low >= 0 and high - low < ONE >> 12


@pytest.mark.parametrize("value", [0, 1, 7, ONE >> 20, ONE // 3, ONE - 1, ONE])
def test_the_logarithm_encloses_the_real_one(value):
    low, high = log_one_more(value)
    real = (1 + flint.arb(flint.fmpq(value, ONE))).log() * ONE
    assert real >= low and real <= high and high - low <= 2


def test_each_number_on_the_way_is_bounded():
    selective._bounded([(0, 0), (1 - LARGEST, 1)])
    for balls in ([(0, 0), (LARGEST, 1)], [(-LARGEST, 1), (0, 0)]):
        with pytest.raises(RefusedError):
            selective._bounded(balls)


@pytest.mark.parametrize("ends", [(0, 1), (-1, 0), (-2, 1), (3, 3), (-4, 4)])
def test_a_ball_holds_both_of_its_ends(ends):
    low, high = selective._ends(selective._ball(ends))
    assert low <= ends[0] and ends[1] <= high


@pytest.mark.parametrize(("leads", "wins"), [((1, 1), True), ((0, 1), False), ((1, 0), False), ((1, -1), False)])
def test_an_answer_must_lead_all_others(leads, wins):
    known = SimpleNamespace(model=SimpleNamespace(classes=3), lead=lambda _after, _answer, other: leads[other - 1])
    assert Step.answers(known, [], 0) == wins


@pytest.mark.parametrize("ends", [(-5 * ONE, ONE), (-ONE, 5 * ONE), (2 * ONE, 5 * ONE)])
def test_errors_count_by_the_largest_size_of_the_state(ends):
    """What misses h times 2^-20 is taken off for the end that is farther from 0."""
    form = object.__new__(Form)
    form.centres, form.sizes, form.errors, form.constant, form.apart = [0], [0], [ONE >> 20], 0, 0
    known = SimpleNamespace(_forms={(0, 1): form}, _deviations=lambda *_: (ONE, ONE))
    assert Step.lead(known, [ends], 0, 1) == -5 * (ONE >> 20)


# -- float32 in any order ---------------------------------------------------------------------------------------------


class InAnyOrder:
    """The layer in float32, with sums and products in an order that is drawn."""

    def __init__(self, data, seed):
        self.generator = numpy.random.default_rng(seed)
        self.tensors = {name.removeprefix("blocks.0.mixer."): each for name, each in load(data).items()}

    def total(self, terms):
        """A sum of arrays, two at a time."""
        terms = list(terms)
        while len(terms) > 1:
            first, second = (terms.pop(int(self.generator.integers(len(terms)))) for _ in range(2))
            terms.append(first + second)
        return terms[0]

    def times(self, *factors):
        factors = [factors[place] for place in self.generator.permutation(len(factors))]
        found = factors[0]
        for each in factors[1:]:
            found = found * each
        return found

    def either(self, *choices):
        return choices[int(self.generator.integers(len(choices)))]()

    def linear(self, x, weight, *more):
        return self.total([*(value * row for value, row in zip(x, weight, strict=True)), *more])

    def norm(self, x, gain):
        one, epsilon = numpy.float32(1), numpy.float32(1e-5)
        root = numpy.sqrt(self.total(x * x) / numpy.float32(len(x)) + epsilon)
        return self.either(lambda: x / root * gain, lambda: x * (one / root) * gain, lambda: x * gain / root)

    def silu(self, x):
        one = numpy.float32(1)
        return self.either(lambda: x / (one + numpy.exp(-x)), lambda: x * (one / (one + numpy.exp(-x))))

    def run(self, tokens, h):
        """The next h and the logits after the last of four tokens; None is before the first."""
        t = self.tensors
        entered = [None if each is None else self._entered(each) for each in tokens]
        inner = len(t["skip"])
        window = [numpy.zeros(inner, numpy.float32) if each is None else each[:inner] for each in entered]
        taps = [self.times(each, t["convolution.weight"][:, place]) for place, each in enumerate(window)]
        used = self.silu(self.total([*taps, t["convolution.bias"]]))
        selected = self.linear(used, t["project_selection.weight"])
        state = h.shape[1]
        low, write, query = numpy.split(selected, [len(selected) - 2 * state, len(selected) - state])
        raw, zero = self.linear(low, t["project_step.weight"], t["step_bias"]), numpy.float32(0)
        step = self.either(
            lambda: numpy.log1p(numpy.exp(raw)), lambda: numpy.maximum(raw, 0) + numpy.log1p(numpy.exp(-abs(raw))),
            lambda: numpy.logaddexp(zero, raw),
        )  # fmt: skip
        decay = numpy.exp(-step[:, None] * numpy.exp(t["log_rate"]))
        h = decay * h + self.times(step[:, None], used[:, None], write[None])
        y = self.total([*(h * query).T, t["skip"] * used])
        out = self.linear(self.times(y, self.silu(entered[-1][inner:])), t["project_out.weight"])
        v = self.norm(t["embedding.weight"][tokens[-1]] + out, t["norm.weight"])
        return h, self.linear(v, t["readout.weight"], t["readout.bias"])

    def _entered(self, token):
        x = self.tensors["embedding.weight"][token]
        return self.linear(self.norm(x, self.tensors["blocks.0.norm.weight"]), self.tensors["project_in.weight"])


def stepped(model, tokens, h, kind):
    """The same in torch, from the state before the last of four tokens."""
    model = copy.deepcopy(model).to(kind)
    block = model.blocks[0]
    with torch.no_grad():
        window = [
            torch.zeros(1, 1, block.mixer.inner, dtype=kind) if each is None
            else block.mixer.project_in(block.norm(model.embedding(torch.tensor([[each]]))))[..., : block.mixer.inner]
            for each in tokens[:-1]
        ]  # fmt: skip
        state = torch.stack(window, dim=2), torch.from_numpy(h)[None, None].to(kind)
        logits, ((_, after),) = model.step(torch.tensor([[tokens[-1]]]), (state,))
    return after[0, 0].double().numpy(), logits[0, 0].double().numpy()


@pytest.mark.parametrize("architecture", SHAPES)
@pytest.mark.parametrize("reach", [0.0, 0.02, 1.0])
def test_a_step_holds_torchs_and_float32_in_any_order(architecture, reach):
    model = random_model(architecture, 1, 0.7 if reach else 0.3)
    data = recurrent_file(model)
    network, generator = Selective(data), numpy.random.default_rng(2)
    shape = network.inner, network.state
    for number, last in enumerate([(), (1,), (0, 1), (1, 1, 0)]):
        token, middle = number % 2, generator.uniform(-1, 1, shape)
        low, high = ((middle + side * reach).astype(numpy.float32) for side in (-1, 1))
        ends = [(floor(float(a) * ONE), ceil(float(b) * ONE)) for a, b in zip(low.flat, high.flat, strict=True)]
        step = network.step(last, token)
        after = step.after(ends)
        leads = [step.lead(after, *each) for each in ((0, 1), (1, 0))]
        tokens, found = [*[None] * (3 - len(last)), *last, token], []
        for draw in range(8):
            # Corners, and places within.
            inside = generator.uniform(low, high).astype(numpy.float32).clip(low, high)
            h = numpy.where(generator.random(shape) < 0.5, low, high) if draw % 2 else inside
            found.append(InAnyOrder(data, draw).run(tokens, h))
            found += [stepped(model, tokens, h, kind) for kind in (torch.float32, torch.float64)]
        for state, logits in found:
            numbers = state.astype(float).flatten() * ONE
            assert all(a <= each <= b for (a, b), each in zip(after, numbers, strict=True))
            difference = (float(logits[0]) - float(logits[1])) * ONE
            assert leads[0] <= difference <= -leads[1]
        if not reach:
            # On a point the bounds are those of roundings alone.
            largest = max(max(abs(a), abs(b)) for a, b in after)
            assert max(b - a for a, b in after) < largest >> 10
            assert -leads[1] - leads[0] < (ONE + abs(leads[0])) >> 4


def test_leads_over_a_box_are_reached_but_for_the_norm():
    """Where the state decides and the readout has no bias, the lead's sign on a box is that of its worst corner."""
    model = random_model(SHAPES[0], 3, 0.5)
    with torch.no_grad():
        model.readout.bias.zero_()
    network, generator = Selective(recurrent_file(model)), numpy.random.default_rng(5)
    signs = []
    for reach in (0.01, 0.1, 0.4):
        middle = generator.uniform(-1, 1, (network.inner, network.state))
        low, high = ((middle + side * reach).astype(numpy.float32) for side in (-1, 1))
        ends = [(floor(float(a) * ONE), ceil(float(b) * ONE)) for a, b in zip(low.flat, high.flat, strict=True)]
        for last, token in product([(), (0, 1, 1), (1, 0, 0)], (0, 1)):
            step = network.step(last, token)
            query, gates = (numpy.array([c for c, _ in each]) / ONE for each in (step.query, step.gates))
            tokens = [*[None] * (3 - len(last)), *last, token]
            for answer in (0, 1):
                rows = numpy.array(network.readout_rows)[:, [answer, 1 - answer]] / ONE
                column = (numpy.array(network.out_rows) / ONE) @ (
                    (rows[:, 0] - rows[:, 1]) * model.norm.weight[0].detach().numpy()
                )
                worst = numpy.where((column * gates)[:, None] * query >= 0, low, high)
                _, logits = stepped(model, tokens, worst, torch.float64)
                real = logits[answer] - logits[1 - answer]
                claimed = step.answers(step.after(ends), answer)
                assert claimed == (real > 0) or abs(real) < 1e-3
                signs.append(claimed)
    assert {True, False} == set(signs)


# -- verdicts ---------------------------------------------------------------------------------------------------------


def leads_of(content, data):
    """Of each box and token the least lead of the right answer."""
    network, unit = Selective(data), 1 << content["unit"]
    found = {}
    for number, (box, last) in enumerate(zip(content["boxes"], content["last"], strict=True)):
        ends = [(low * ONE // unit, high * ONE // unit) for low, high in zip(box[2], box[-1], strict=True)]
        for token in range(2):
            step = network.step(tuple(last), token)
            right = AUTOMATON.answers[AUTOMATON.steps[box[0]][token]]
            found[number, token] = step.lead(step.after(ends), right, 1 - right), right
    return found


def test_a_lead_that_is_moved_below_nothing_is_never_certified():
    """The readout's bias is moved by a little less, and by a little more, than the least lead of one answer."""
    content, data = certificate(MAMBA, 2)
    lead, right = min(leads_of(content, data).values())
    assert lead > 0
    for share, outcomes in ((0.9, {Outcome.CERTIFIED}), (1.01, {Outcome.COUNTEREXAMPLE, Outcome.OPEN})):
        model = copy.deepcopy(trained(MAMBA))
        with torch.no_grad():
            model.readout.bias[0, right] -= share * lead / ONE
        moved = recurrent_file(model)
        stated = {**content, "sha256": hashlib.sha256(moved).hexdigest()}
        if share < 1:
            check_words(stated, moved)
        else:
            with pytest.raises(RefusedError, match="another answer"):
                check_words(stated, moved)
        with tempfile.TemporaryDirectory() as folder:
            verdict = certify_words(model, TASK, Path(folder), 2)
        # What is open for these boxes may be shown with others.
        assert verdict.outcome in outcomes | {Outcome.CERTIFIED}
        if verdict.outcome == Outcome.COUNTEREXAMPLE:
            assert first_failing(model, AUTOMATON, torch.tensor([verdict.failing]), 2) is not None


def test_a_counterexample_that_only_long_words_show_is_found_by_the_prover():
    """A readout that is wrong in one reachable state: the prover's word ends there, and torch errs after it."""
    content, data = certificate(MAMBA, 2)
    found = leads_of(content, data)
    points = {key: each for key, each in found.items() if len(content["boxes"][key[0]]) == 3}
    lead, right = min(points.values())
    model = copy.deepcopy(trained(MAMBA))
    with torch.no_grad():
        model.readout.bias[0, right] -= 1.05 * lead / ONE + 1e-3
    network = Selective(recurrent_file(model))
    word = SelectiveProver(network, AUTOMATON).search(2).failing
    assert word is not None
    assert int(answers_to_words(model, [word], 2)[0, -1]) != AUTOMATON.answer(word)


def test_a_model_as_it_is_cannot_remember_and_is_not_certified():
    with tempfile.TemporaryDirectory() as folder:
        verdict = certify_words(trained(MAMBA), TASK, Path(folder), 0)
    assert verdict.outcome != Outcome.CERTIFIED


def test_altered_last_tokens_are_refused():
    content, data = certificate(MAMBA, 2)
    generator = numpy.random.default_rng(0)
    for _ in range(40):
        last = copy.deepcopy(content["last"])
        number = int(generator.integers(len(last)))
        if last[number] and generator.random() < 0.7:
            place = int(generator.integers(len(last[number])))
            last[number][place] = 1 - last[number][place]
        else:
            last[number] = last[number][1:] if generator.random() < 0.5 and last[number] else [*last[number], 0]
        with pytest.raises(RefusedError):
            check_words({**content, "last": last}, data)
    for other in ([], [[]] * len(content["boxes"]), content["last"][:-1], [[5], *content["last"][1:]], 3):
        with pytest.raises(RefusedError):
            check_words({**content, "last": other}, data)
    without = {name: each for name, each in content.items() if name != "last"}
    with pytest.raises(RefusedError, match="last tokens"):
        check_words(without, data)
    cell, cells = certificate("GRU-(1,8)", 3)
    with pytest.raises(RefusedError, match="last tokens"):
        check_words({**cell, "last": [[]] * len(cell["boxes"])}, cells)


def test_a_word_begins_without_last_tokens():
    """A box for each choice of last tokens; nothing but the first one's says that no token was read before."""
    data, read = recurrent_file(of_the_token_before()), {(): BEFORE.start}
    for length in range(3):
        for last in [each for each in read if len(each) == length]:
            read.update({(*last, token): BEFORE.steps[read[last]][token] for token in range(2)})

    def claim(lasts):
        boxes = [
            [read[each], [lasts.index((*each, t)[-3:]) for t in range(2)], [-far] * 4, [far] * 4] for each in lasts
        ]
        automaton = {"start": read[lasts[0]], "steps": BEFORE.steps, "answers": BEFORE.answers}
        stated = claim_of(data, SimpleNamespace(boxes=boxes, last=list(map(list, lasts))), 0)
        return {**stated, "automaton": automaton}

    far = 1 << (UNIT - 2)
    lasts = sorted(read, key=len)
    check_words(claim(lasts), data)
    # After 1 and 1 the answer to a token is 1, but the first token of a word is answered 0.
    with pytest.raises(RefusedError):
        check_words(claim([(1, 1, 1), *[each for each in lasts if len(each) == 3 and each != (1, 1, 1)]]), data)
    # Everything is answered 0 if each token is taken for 0.
    boxes = [[0, [min(length + 1, 3)] * 2, [-far] * 4, [far] * 4] for length in range(4)]
    zeros = claim_of(data, SimpleNamespace(boxes=boxes, last=[[0] * length for length in range(4)]), 0)
    with pytest.raises(RefusedError):
        check_words({**zeros, "automaton": {"start": 0, "steps": [[0, 0]], "answers": [0]}}, data)


def test_a_normed_embedding_is_between_what_both_ends_of_its_deviation_give():
    model = random_model("Mamba-(1,1,state=1,expansion=1)", 0)
    with torch.no_grad():
        model.embedding.weight[0] = torch.tensor([[1.0], [-1.0]])
        model.blocks[0].mixer.project_in.weight.fill_(1)
    network = Selective(recurrent_file(model))
    exact = ONE / flint.arb(1 + flint.fmpq(1, 100_000)).sqrt()
    for token, sign in ((0, 1), (1, -1)):
        for centre, radius in (each for part in network.entered(token) for each in part):
            assert abs(sign * exact - centre) < radius


def test_thinner_boxes_are_refused():
    content, data = certificate(MAMBA, 2)
    wide = [number for number, box in enumerate(content["boxes"]) if len(box) == 4]
    for number in wide[:20]:
        boxes = copy.deepcopy(content["boxes"])
        place = next(i for i, (low, high) in enumerate(zip(*boxes[number][2:], strict=True)) if low < high)
        boxes[number][3][place] -= 2
        with pytest.raises(RefusedError, match="may leave"):
            check_words({**content, "boxes": boxes}, data)
    assert wide


# -- as it is ---------------------------------------------------------------------------------------------------------


def of_the_token_before():
    """A network made by hand whose answer is the token before the last, 0 at first; its state takes part, a little."""
    model = random_model("Mamba-(1,2,state=2,expansion=1)", 7, 0.05)
    mixer = model.blocks[0].mixer
    with torch.no_grad():
        model.embedding.weight[0] = torch.tensor([[-1.0, 1.0], [1.0, 1.0]])
        mixer.project_in.weight[0] = torch.tensor([[3.0, 0.0, 0.0, 0.0], [0.0, 0.0, 3.0, 3.0]])
        mixer.convolution.weight[0] = torch.tensor([[0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
        mixer.convolution.bias[0] = torch.tensor([-1.0, 0.0])
        mixer.skip[0] = torch.tensor([1.0, 0.0])
        mixer.project_out.weight[0] = torch.tensor([[40.0, 0.0], [0.0, 0.0]])
        model.readout.weight[0] = torch.tensor([[-1.0, 1.0], [0.0, 0.0]])
        model.readout.bias[0] = torch.tensor([0.0, 0.0])
    return model


BEFORE = Automaton(0, [[0, 1], [2, 3], [0, 1], [2, 3]], [0, 0, 1, 1])
"""The answer is the token before the last; 0 at first."""


def claim_of(data, found, bits):
    return {
        "format": WORDS_FORMAT, "task": "by hand", "sha256": hashlib.sha256(data).hexdigest(), "bits": bits,
        "unit": bits or UNIT, "boxes": found.boxes, "last": found.last,
        "automaton": {"start": BEFORE.start, "steps": BEFORE.steps, "answers": BEFORE.answers},
    }  # fmt: skip


@pytest.mark.parametrize("bits", [0, 3])
def test_what_the_last_tokens_show_is_certified_as_it_is_too(bits):
    model = of_the_token_before()
    data = recurrent_file(model)
    found = SelectiveProver(Selective(data), BEFORE).search(bits)
    assert found.boxes is not None
    content = claim_of(data, found, bits)
    accepted = check_words(content, data)
    assert "not the empty one" in accepted.words() and "Mamba" in accepted.words()
    words = torch.tensor(list(product(range(2), repeat=9)))
    right = torch.cat([torch.zeros(len(words), 1, dtype=torch.int64), words[:, :-1]], dim=1)
    assert torch.equal(answers_to_words(recurrent_from(data), words, bits), right)
    # The other answer, for one state of the automaton.
    for state in range(4):
        answers = [1 - each if number == state else each for number, each in enumerate(BEFORE.answers)]
        if state != BEFORE.start:
            with pytest.raises(RefusedError, match="another answer"):
                check_words({**content, "automaton": {**content["automaton"], "answers": answers}}, data)


# -- files ------------------------------------------------------------------------------------------------------------


def test_files_come_back_as_the_same_model_and_others_are_refused():
    model = random_model(SHAPES[1], 4)
    data = recurrent_file(model)
    back = recurrent_from(data)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), back.parameters(), strict=True))
    about = {
        "kind": "recurrent", "cell": "mamba", "width": 3, "vocabulary": 2, "classes": 2, "state": 2, "expansion": 1,
    }  # fmt: skip
    tensors = load(data)
    network_of(save(tensors, {"separatrix": json.dumps(about)}))
    changes = [
        {"state": 3}, {"expansion": 2}, {"width": 4}, {"state": 0}, {"expansion": 9}, {"state": 1 << 20}, {"more": 1},
        {"cell": "mamba2"}, {"kind": "described"}, {"classes": 3}, {"vocabulary": 1}, {"width": 3.0},
    ]  # fmt: skip
    for change in changes:
        with pytest.raises(RefusedError):
            network_of(save(tensors, {"separatrix": json.dumps({**about, **change})}))
    for name in tensors:
        for other in ({n: t for n, t in tensors.items() if n != name}, {**tensors, name: tensors[name].flatten()[:-1]}):
            with pytest.raises(RefusedError):
                network_of(save(other, {"separatrix": json.dumps(about)}))
    with pytest.raises(RefusedError):
        network_of(save({**tensors, "more": tensors["readout.bias"]}, {"separatrix": json.dumps(about)}))
    for value in (numpy.nan, numpy.inf, 300.0):
        broken = {**tensors, "readout.bias": numpy.array([value, 0], dtype=numpy.float32)}
        with pytest.raises(RefusedError):
            network_of(save(broken, {"separatrix": json.dumps(about)}))
    steep = {**tensors, "blocks.0.mixer.log_rate": numpy.full((3, 2), 17, dtype=numpy.float32)}
    with pytest.raises(RefusedError, match="rate"):
        network_of(save(steep, {"separatrix": json.dumps(about)}))


def test_numbers_that_float32_may_not_hold_are_refused():
    model = random_model(SHAPES[1], 4)
    with torch.no_grad():
        model.blocks[0].mixer.project_in.weight.fill_(200.0)
        model.blocks[0].mixer.convolution.weight.fill_(200.0)
        model.blocks[0].mixer.project_selection.weight.fill_(200.0)
    with pytest.raises(RefusedError, match=r"2\^20"):
        Selective(recurrent_file(model)).step((0, 0, 0), 1)
    assert SelectiveProver(Selective(recurrent_file(model)), AUTOMATON).search(2).boxes is None


def test_claims_that_would_take_hours_or_gigabytes_are_refused_at_once():
    content, data = certificate(MAMBA, 2)
    many = 1 << 20
    with pytest.raises(RefusedError, match="too many"):
        check_words({**content, "boxes": [content["boxes"][0]] * many, "last": [[]] * many}, data)
    # Each answer of the automaton has a form for each other class.
    for classes, reason in ((1 << 10, "too many"), (2, "a box of another state")):
        spec = parse_spec("Mamba-(1,16,state=64)")
        wide = SequenceModel(spec, vocabulary=2, classes=classes, length=4, members=1)
        with torch.no_grad():
            for parameter in wide.parameters():
                parameter.fill_(0.01)
        big = recurrent_file(wide)
        automaton = {"start": 0, "steps": [[1, 1], [0, 0]], "answers": [0, 1]}
        claim = {**content, "automaton": automaton, "sha256": hashlib.sha256(big).hexdigest(), "last": [[]]}
        with pytest.raises(RefusedError, match=reason):
            check_words({**claim, "boxes": [[0, [0, 0], [0] * Selective(big).numbers]]}, big)
