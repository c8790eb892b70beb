"""Every rule about trained weights against models that are broken on purpose: nothing is certified that fails.

A rule's verdict is turned into the inputs that it covers, and these are run, in float32 and in float64, where a tie, or
a number that is none, counts as wrong. Models are small, so that all inputs (words: all short ones) can be run.
"""

import copy
import itertools
import json
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

import numpy
import pytest
import torch
from safetensors.torch import load, save
from torch.nn import functional

from separatrix.errors import SeparatrixError
from separatrix.models.certify_counts import certify_counts
from separatrix.models.certify_lookup import certify_lookup
from separatrix.models.certify_two_layers import certify_cases
from separatrix.models.certify_words import certify_words
from separatrix.models.naming import parse_spec
from separatrix.models.recurrent_files import levels, recurrent_file
from separatrix.models.sequence_model import SequenceModel
from separatrix.models.task_model import model_for_task
from separatrix.models.trained_files import weights_file
from separatrix.provers.trained_counts import CountsProver
from separatrix.provers.trained_transformer import Outcome
from separatrix.tasks import draws_from
from separatrix.tasks.automata import labelled_task
from separatrix.training.layered_leaks import layered_losses
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.specification import read_specification
from separatrix_kernel.thresholds import Thresholds, read_counting
from separatrix_kernel.trained import TRAINED_FILE, WEIGHTS_FILE, check_trained_folder
from separatrix_kernel.transformer import Weights
from separatrix_kernel.two_layers import groups_of, read_lookup
from separatrix_kernel.words import network_of

SHORT = 7


class Rule(NamedTuple):
    """A task, a length, a model, and the bits of a rounded state."""

    task: str
    length: int
    architecture: str
    steps: int = 120
    bits: int = 0

    @property
    def words(self) -> bool:
        return self.task.startswith("dyck")


RULES = [
    Rule("index-lookup:alphabet=2", 1, "TF-(1,4)"),
    Rule("index-lookup:alphabet=2", 2, "TF-(1,8,heads=2)"),
    Rule("index-lookup:alphabet=3", 3, "TF-(1,8,positions=sinusoidal)"),
    Rule("index-lookup:alphabet=2", 2, "TF-(1,8,positions=rotary)"),
    Rule("majority", 2, "TF-(1,4)"),
    Rule("majority", 4, "TF-(1,8,positions=rotary)"),
    Rule("equality", 2, "TF-(1,8)"),
    Rule("equality:alphabet=3", 2, "TF-(1,8,heads=2)"),
    Rule("index-lookup:alphabet=2", 2, "TF-(2,8)"),
    Rule("associative-recall:keys=2", 2, "TF-(2,8)", 200),
    Rule("dyck:depth=1,types=1", 6, "RNN-(1,6)", 200),
    Rule("dyck:depth=1,types=1", 6, "GRU-(1,6)", 200, 3),
    Rule("dyck:depth=1,types=1", 6, "LSTM-(1,6)", 200, 3),
    Rule("dyck:depth=1,types=1", 6, "Mamba-(1,4,state=2)", 200, 2),
]
MODELS: dict[Rule, SequenceModel] = {}


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Small products are slower on several threads, most of all on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def made(rule: Rule) -> SequenceModel:
    """A copy of a model that was trained a little."""
    if rule not in MODELS:
        task = labelled_task(rule.task)
        model = model_for_task(parse_spec(rule.architecture), task, rule.length, seeds=[0])
        adam = torch.optim.Adam(model.parameters(), lr=0.01)
        for step in range(rule.steps):
            drawn = task.sample(draws_from(step), 32, rule.length, "eval")
            each = (drawn.inputs, drawn.targets, drawn.read)
            inputs, targets, read = (torch.from_numpy(numpy.asarray(part)) for part in each)
            loss = functional.cross_entropy(model(inputs[None])[0][read], targets[read])
            if model.spec.depth > 1:
                groups = groups_of(read_lookup(task.specification(rule.length)))
                loss = loss + layered_losses(model, groups, 6.0, torch.tensor(step / rule.steps)).sum()
            adam.zero_grad()
            loss.backward()
            adam.step()
        MODELS[rule] = model.eval()
    return copy.deepcopy(MODELS[rule])


def every_input(rule: Rule) -> list[tuple[int, ...]]:
    if rule.words:
        return [word for length in range(SHORT + 1) for word in itertools.product(range(2), repeat=length)]
    plain = labelled_task(rule.task).specification(rule.length)
    assert plain is not None
    inputs, answer = read_specification(plain)
    return [row for row in inputs.all() if answer.admits(row)]


@torch.no_grad()
def logits_of(rule: Rule, model: SequenceModel, rows: list[tuple[int, ...]]) -> torch.Tensor:
    """Of inputs of one length the logits where the answer is read; the state is rounded where the rule says so."""
    if not rule.words:
        return model(torch.tensor([rows]), read=torch.full((1, len(rows), 1), len(rows[0]) - 1))[0, :, 0]
    selective = rule.architecture.startswith("Mamba")
    (state,) = model.initial_state(len(rows))
    logits = torch.full((len(rows), model.classes), torch.nan) if selective else model.readout(state[0])[0]
    for token in torch.tensor(rows, dtype=torch.int64).reshape(len(rows), -1).T:
        logits, (state,) = model.step(token[None], (state,))
        logits = logits[0]
        if rule.bits:
            kept, rounded = (state[:1], state[1:]) if selective else ((), state)
            state = (*kept, *(levels(part, rule.bits) for part in rounded))
        if not selective:
            logits = model.readout(state[0])[0]
    return logits


def wrong_inputs(rule: Rule, model: SequenceModel) -> set[tuple[int, ...]]:
    """The inputs whose right answer has not the only largest logit, in float32 or in float64."""
    task, wrong = labelled_task(rule.task), set[tuple[int, ...]]()
    for _, group in itertools.groupby(every_input(rule), len):
        rows = list(group)
        if rule.architecture.startswith("Mamba") and not rows[0]:
            continue
        right = [1 if not row else task.solve(row, len(row) if rule.words else rule.length)[-1] for row in rows]
        answers = torch.tensor(right)[:, None]
        for each in (model, copy.deepcopy(model).double()):
            logits = logits_of(rule, each, rows).double()
            rest = logits.scatter(1, answers, -torch.inf).amax(dim=1, keepdim=True)
            good = (logits.gather(1, answers) > rest)[:, 0]
            wrong |= {row for row, fine in zip(rows, good.tolist(), strict=True) if not fine}
    return wrong


class Judged(NamedTuple):
    """The inputs that a verdict calls certified, and those that it names as failing."""

    certified: Collection[tuple[int, ...]]
    failing: set[tuple[int, ...]]


def judged(rule: Rule, model: SequenceModel, folder: Path) -> Judged:
    """What the commands say of all inputs, checked again by the kernel; what they call failing does fail."""
    task, rows = labelled_task(rule.task), every_input(rule)
    if rule.words:
        verdict = certify_words(model, task, folder, rule.bits, most=300)
        if verdict.outcome == Outcome.COUNTEREXAMPLE:
            assert verdict.failing is not None
            assert len(verdict.failing) > SHORT or verdict.failing in wrong_inputs(rule, model)
        failing = set[tuple[int, ...]]() if verdict.failing is None else {verdict.failing}
        sure = verdict.outcome == Outcome.CERTIFIED and check_trained_folder(folder)
        return Judged(rows if sure else (), failing)
    if rule.architecture.startswith("TF-(2"):
        found, groups = (
            certify_cases(model, task, rule.length, folder, 4),
            groups_of(read_lookup(task.specification(rule.length))),
        )
        sure = {case for case, each in found.parts.items() if each.outcome == Outcome.CERTIFIED}
        shown = [row for row in rows if groups.asked(row) in sure]
    elif rule.task.startswith("index-lookup"):
        found = certify_lookup(model, rule.length, folder, 4)
        sure = {pair for pair, each in found.parts.items() if each.outcome == Outcome.CERTIFIED}
        shown = [row for row in rows if (row[-1] - model.classes, row[row[-1] - model.classes]) in sure]
    else:
        found = certify_counts(model, task, rule.length, folder, 16)
        kernel = Thresholds(Weights(weights_file(model)), *read_counting(task.specification(rule.length)))
        sure = [part for part, each in found.parts.items() if each.outcome == Outcome.CERTIFIED]
        shown = [
            row
            for row in rows
            if any(p == kernel.asking.index(row[-1]) and low <= kernel.counted(row) <= high for p, low, high in sure)
        ]
    accepted = check_trained_folder(folder)
    assert accepted.share == found.share
    assert found.share * len(rows) == len(shown)
    assert set(found.failing()) <= wrong_inputs(rule, model)
    return Judged(shown, set(found.failing()))


def refused_or_right(rule: Rule, model: SequenceModel) -> bool:
    """Whether anything is certified; it is right then. What is refused is refused in one line."""
    with tempfile.TemporaryDirectory() as place:
        try:
            shown = judged(rule, model, Path(place)).certified
        except SeparatrixError as refusal:
            assert "\n" not in str(refusal)
            return False
    assert not set(shown) & wrong_inputs(rule, model)
    return len(shown) > 0


# -- weights ----------------------------------------------------------------------------------------------------------

SINGLE = [float("nan"), float("inf"), -float("inf"), 3e38, 256.0, -256.0, 257.0, 1e-45, -1e-39, -0.0, 0.0]


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_strange_numbers_are_refused_or_covered_by_the_bounds(rule):
    """One weight, then a whole tensor: no number, infinite, huge, subnormal, a negative zero."""
    generator = torch.Generator().manual_seed(1)
    for number, value in enumerate(SINGLE):
        model = made(rule)
        tensors = [each.data.view(-1) for each in model.parameters()]
        tensor = tensors[int(torch.randint(len(tensors), (1,), generator=generator))]
        place = int(torch.randint(len(tensor), (1,), generator=generator)) if number % 2 else slice(None)
        tensor[place] = value
        shown = refused_or_right(rule, model)
        assert not shown or abs(value) <= 256


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_scaled_and_damaged_models_are_never_certified_where_they_fail(rule):
    generator, shown = torch.Generator().manual_seed(2), refused_or_right(rule, made(rule))
    for number in range(4 if rule.words else 10):
        model = made(rule)
        for each in model.parameters():
            scale = 2.0 ** ((-3, -1, 1, 3, 0)[number % 5])
            each.data.mul_(scale).add_(0.02 * number * torch.randn(each.shape, generator=generator))
        shown |= refused_or_right(rule, model)
    assert shown or rule.words


@pytest.mark.parametrize("rule", [rule for rule in RULES if not rule.words], ids=str)
def test_at_the_edge_of_one_input_nothing_wrong_is_certified(rule):
    """The answer's bias is moved float by float past the point where the first input fails, in exact arithmetic too."""
    start = made(rule)
    rows, task = every_input(rule), labelled_task(rule.task)
    right = torch.tensor([task.solve(row, rule.length)[-1] for row in rows])[:, None]
    logits = logits_of(rule, copy.deepcopy(start).double(), rows)
    margins = logits.gather(1, right) - logits.scatter(1, right, -torch.inf).amax(dim=1, keepdim=True)
    good = [number for number in range(len(rows)) if margins[number] > 0]
    worst = min(good, key=lambda number: float(margins[number]))
    answer = int(right[worst])
    middle = numpy.float32(start.readout.bias[0, answer].item() - float(margins[worst]))
    below = above = middle
    for _ in range(6):
        for bias in {float(below), float(above)}:
            model = copy.deepcopy(start)
            model.readout.bias.data[0, answer] = bias
            refused_or_right(rule, model)
        below, above = (numpy.nextafter(each, numpy.float32(end)) for each, end in ((below, -1e9), (above, 1e9)))


# -- claims about other weights, and other claims about these ----------------------------------------------------------


@pytest.mark.parametrize("rule", [RULES[1], RULES[3], RULES[5], RULES[7], RULES[8]], ids=str)
def test_the_structure_must_be_that_of_the_weights(rule):
    data = weights_file(made(rule))
    depth = 2 if rule.architecture.startswith("TF-(2") else 1
    tensors, about = (
        load(data),
        json.loads(json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]["separatrix"]),
    )
    Weights(data, depth)
    changes = [
        {"epsilon": [0, 1]}, {"epsilon": [1, 0]}, {"epsilon": [2, 1]}, {"epsilon": [-1, 1]}, {"epsilon": [1]},
        {"heads": 0}, {"heads": 3}, {"heads": 10**12}, {"width": about["width"] * 2}, {"hidden": 1}, {"positions": 0},
        {"positions": about["positions"] + 1}, {"vocabulary": 1}, {"classes": 1}, {"classes": about["classes"] + 1},
        {"layers": 3 - depth}, {"layers": 3}, {"kind": "recurrent"}, {"kind": None}, {"more": 1},
    ]  # fmt: skip
    for change in changes:
        with pytest.raises(RefusedError):
            Weights(save(tensors, {"separatrix": json.dumps({**about, **change})}), depth)
    for name, tensor in tensors.items():
        for other in (tensor.double(), tensor.half(), tensor.flatten()[:-1].clone(), tensor[None].clone()):
            with pytest.raises(RefusedError):
                Weights(save({**tensors, name: other}, {"separatrix": json.dumps(about)}), depth)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_a_claim_does_not_hold_for_other_weights_or_another_task(rule, tmp_path):
    judged(rule, made(rule), tmp_path)
    if not (tmp_path / TRAINED_FILE).exists():
        # The words of this model were not certified.
        assert rule.words
        return
    claim, data = json.loads((tmp_path / TRAINED_FILE).read_text()), (tmp_path / WEIGHTS_FILE).read_bytes()
    check_trained_folder(tmp_path)
    changed = made(rule)
    changed.readout.bias.data[0, 0] += 1e-3
    (tmp_path / WEIGHTS_FILE).write_bytes(recurrent_file(changed) if rule.words else weights_file(changed))
    with pytest.raises(RefusedError):
        check_trained_folder(tmp_path)
    (tmp_path / WEIGHTS_FILE).write_bytes(data)
    changes = [
        {"sha256": "0" * 64},
        {"sha256": claim["sha256"].upper() + "0"},
        {"length": -1},
        {"format": "separatrix-trained-9"},
    ]
    if "alphabet" in claim:
        # Every further symbol or place would be another model's.
        changes += [{"alphabet": claim["alphabet"] + 1}, {"length": claim["length"] + 1}, {"alphabet": 1}]
    if "specification" in claim:
        plain = labelled_task("majority" if rule.task != "majority" else "equality").specification(2 * rule.length + 2)
        changes += [{"specification": plain}, {"specification": None}]
    for change in changes:
        (tmp_path / TRAINED_FILE).write_text(json.dumps({**claim, **change}))
        with pytest.raises(RefusedError):
            check_trained_folder(tmp_path)


def test_two_layers_without_boxes_are_still_searched_for_inputs_that_fail(tmp_path):
    rule = RULES[9]
    model = model_for_task(parse_spec(rule.architecture), labelled_task(rule.task), rule.length, seeds=[1]).eval()
    model.blocks[0].feed_forward.outer.weight.data.mul_(200)
    found = certify_cases(model, labelled_task(rule.task), rule.length, tmp_path, 4)
    assert found.share == 0 and found.failing()
    assert set(found.failing()) <= wrong_inputs(rule, model)
    assert check_trained_folder(tmp_path).share == 0


def test_norms_that_vanish_are_refused():
    """All embeddings alike: without ε nothing is left of a norm, and a tiny ε is below what float32 has."""
    rule = RULES[1]
    model = made(rule)
    model.embedding.weight.data.fill_(0.25)
    model.positions.table.data.fill_(-0.25)
    refused_or_right(rule, model)
    data = weights_file(model)
    tensors, about = (
        load(data),
        json.loads(json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]["separatrix"]),
    )
    for epsilon in ([1, 10**14], [1, 10**300]):
        small = Weights(save(tensors, {"separatrix": json.dumps({**about, "epsilon": epsilon})}))
        specification = read_counting(labelled_task("equality").specification(2))
        with pytest.raises(RefusedError):
            Thresholds(small, *specification).rows  # noqa: B018


def test_networks_of_words_are_read_as_strictly():
    data = recurrent_file(made(RULES[10]))
    tensors, about = (
        load(data),
        json.loads(json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]["separatrix"]),
    )
    for change in (
        {"cell": "gru"},
        {"width": 7},
        {"width": 0},
        {"vocabulary": 1},
        {"classes": 1},
        {"kind": "transformer"},
    ):
        with pytest.raises(RefusedError):
            network_of(save(tensors, {"separatrix": json.dumps({**about, **change})}))


# -- random counts -----------------------------------------------------------------------------------------------------


def random_count(generator: numpy.random.Generator, places: int, tokens: list[range]) -> dict[str, object]:
    """Conditions at one, two and three places, some of them twice, with answers that go up and down."""
    conditions: list[dict[str, object]] = []
    for _ in range(int(generator.integers(1, 5))):
        chosen = generator.permutation(places)[: int(generator.integers(1, min(places, 3) + 1))].tolist()
        size = int(numpy.prod([len(tokens[place]) for place in chosen]))
        table = generator.integers(0, 2, size).tolist()
        conditions.append({"places": [chosen] * int(generator.integers(1, 3)), "table": table})
    most = sum(len(each["places"]) for each in conditions if isinstance(each["places"], list))
    starts = sorted({0, *generator.integers(0, most + 1, 2).tolist()})
    first = int(generator.integers(0, 2))
    return {
        "kind": "count",
        "conditions": conditions,
        "answers": [[at, (first + n) % 2] for n, at in enumerate(starts)],
    }


def test_random_counts_agree_with_every_input():
    generator, kinds = numpy.random.default_rng(3), dict[str, int]()
    for number in range(60):
        model = made((RULES[1], RULES[5], RULES[6], RULES[7])[number % 4])
        room = min(model.length, 4)
        tokens = [range(low, low + 2) for low in generator.integers(0, model.vocabulary - 1, room).tolist()]
        plain = {
            "inputs": [{"count": 1, "tokens": [each.start, each.stop]} for each in tokens],
            "answer": random_count(generator, room, tokens),
        }
        for each in model.parameters():
            each.data.add_(0.3 * torch.from_numpy(generator.standard_normal(each.shape)).float())
        try:
            specification = read_counting(json.loads(json.dumps(plain)))
            prover = CountsProver(Weights(weights_file(model)), *specification, nodes=32)
        except RefusedError:
            continue
        kernel, rows = prover.model, [*specification[0].all()]
        right = torch.tensor([specification[1].answer(row) for row in rows])[:, None]
        bad = set[tuple[int, ...]]()
        for each in (model, copy.deepcopy(model).double()):
            with torch.no_grad():
                logits = each(torch.tensor([rows]), read=torch.full((1, len(rows), 1), room - 1))[0, :, 0]
            rest = logits.scatter(1, right, -torch.inf).amax(dim=1, keepdim=True)
            bad |= {
                row for row, fine in zip(rows, (logits.gather(1, right) > rest)[:, 0].tolist(), strict=True) if not fine
            }
        counts = {row: (kernel.asking.index(row[-1]), kernel.counted(row)) for row in rows}
        for (p, low, high), decided in prover.all():
            inside = {row for row, (q, count) in counts.items() if p == q and low <= count <= high}
            assert len(inside) == sum(kernel.numbers[p][low : high + 1])
            assert decided.outcome != Outcome.CERTIFIED or not inside & bad
            assert decided.failing is None or decided.failing in inside
            kinds[decided.outcome] = kinds.get(decided.outcome, 0) + (1 if inside else 0)
    assert kinds.get(Outcome.CERTIFIED, 0) >= 10 and kinds.get(Outcome.COUNTEREXAMPLE, 0) >= 10
