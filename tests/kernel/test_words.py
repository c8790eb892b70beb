"""Recurrent networks for words of every length: boxes against torch, verdicts against all short words, forgeries."""

import copy
import hashlib
import itertools
import json
import tempfile
from fractions import Fraction
from functools import cache
from pathlib import Path

import flint
import numpy
import pytest
import torch
from safetensors.numpy import save

from separatrix.errors import SeparatrixError
from separatrix.models.certify_words import certify_words, first_failing, words_to_try
from separatrix.models.recurrent_files import answers_to_words, levels, recurrent_file, recurrent_from
from separatrix.provers.trained_transformer import Outcome
from separatrix.provers.trained_words import UNIT, WordsProver
from separatrix.tasks import tasks
from separatrix.tasks.automata import automaton_of
from separatrix.training.spec import RunSpec
from separatrix.training.train_runs import train_runs
from separatrix.training.trained import trained_model
from separatrix_kernel.balls import BITS, ONE, Balls, Linear, fixed
from separatrix_kernel.cells import GATES, MOST_CLASSES, Cell, gated, sigmoids, squashed, tanhs
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.trained import TRAINED_FILE, WORDS_FORMAT, check_trained_folder
from separatrix_kernel.words import check_words, read_automaton, rounded

TASK = tasks()["dyck"].with_parameters(types=1, depth=1)
PLAIN = automaton_of(TASK)
AUTOMATON = read_automaton(PLAIN)
CELLS = ("RNN-(1,8)", "GRU-(1,8)", "LSTM-(1,8)")
MAMBA = "Mamba-(1,8,state=2)"
CERTIFIED = (("RNN-(1,8)", 0), ("RNN-(1,8)", 2), ("GRU-(1,8)", 0), ("GRU-(1,8)", 3), ("LSTM-(1,8)", 2), (MAMBA, 2))


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Small products are slower on several threads, most of all on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@cache
def trained(architecture):
    run = RunSpec(
        task="dyck", task_parameters=(("types", 1), ("depth", 1)), architecture=architecture, length=8, batch=32,
        learning_rate=0.02, steps=400, seed=0 if architecture == MAMBA else 2, clip=1.0, warmup=20, final_rate=0.1,
        goal=0, state_radius=0.25 if architecture == MAMBA else 0.05,
        evaluation_examples=64, probe_examples=64,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        (record,) = train_runs([run], Path(folder, "runs.sqlite"))
        return trained_model(record, Path(folder, "runs.files"))


@cache
def certificate(architecture, bits):
    with tempfile.TemporaryDirectory() as folder:
        verdict = certify_words(trained(architecture), TASK, Path(folder), bits)
        assert verdict.outcome == Outcome.CERTIFIED
        check_trained_folder(Path(folder))
        return json.loads(Path(folder, TRAINED_FILE).read_text()), recurrent_file(trained(architecture))


def all_words(length):
    return torch.tensor(list(itertools.product(range(2), repeat=length)))


def wrong_answers(model, bits, length=8):
    """How many words up to a length end in a wrong answer, by the task's own solver."""
    words = all_words(length)
    found = answers_to_words(model, words, bits)
    right = [[1] + [TASK.solve(word[:end], end)[-1] for end in range(1, length + 1)] for word in words.tolist()]
    return int((found != torch.tensor(right)[:, -found.shape[1] :]).sum())


# -- numbers ----------------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def precise():
    """Balls of 200 bits while a test runs, and not after it: the precision is one for the whole process."""
    with flint.ctx.workprec(200):
        yield


def test_the_logistic_function_and_tanh_enclose_the_real_ones_and_torchs():
    generator = numpy.random.default_rng(0)
    for value in [0, 1, -1, 70 * ONE, -70 * ONE, *(generator.normal(0, 6, 200) * ONE).astype(int).tolist()]:
        x = flint.arb(flint.fmpq(value, ONE))
        low, high = squashed(value)
        real = ONE / (1 + (-x).exp())
        assert real >= low and real <= high
        assert high - low <= 8
        single = torch.tensor(value / ONE, dtype=torch.float32)
        exactly = round(float(single) * ONE)
        for ends, found in ((sigmoids(exactly, exactly), single.sigmoid()), (tanhs(exactly, exactly), single.tanh())):
            assert ends[0] <= float(found) * ONE <= ends[1]
        ends = tanhs(value, value)
        assert x.tanh() * ONE >= ends[0] and x.tanh() * ONE <= ends[1]


@pytest.mark.parametrize("bits", [1, 2, 5, 16])
def test_rounding_is_what_torch_does(bits):
    values = torch.cat([torch.randn(500, generator=torch.Generator().manual_seed(bits)), torch.arange(-9, 10) / 8])
    ours = [rounded(round(float(each) * ONE), bits) / 2**bits for each in values]
    assert levels(values, bits).tolist() == ours
    assert len(set(levels(torch.linspace(-2, 2, 1 << 18), bits).tolist())) == 2**bits


@pytest.mark.parametrize("architecture", CELLS)
def test_a_step_of_a_box_holds_the_steps_of_its_states(architecture):
    model = trained(architecture)
    cell, double = Cell(recurrent_file(model)), copy.deepcopy(model).double()
    generator = numpy.random.default_rng(3)
    for width, token in ((0.0, 0), (0.01, 1), (0.5, 0)):
        middle = generator.uniform(-1, 1, cell.numbers)
        low, high = ((middle + side * width).astype(numpy.float32) for side in (-1, 1))
        ends = [(round(float(a) * ONE), round(float(b) * ONE)) for a, b in zip(low, high, strict=True)]
        found = cell.after(token, ends)
        states = generator.uniform(low, high, (64, cell.numbers)).clip(low, high).astype(numpy.float32)
        for each, kind in ((model, torch.float32), (double, torch.float64)):
            state = tuple(torch.from_numpy(states).to(kind).chunk(cell.numbers // cell.width, dim=1))
            with torch.no_grad():
                _, (after,) = each.step(torch.full((1, 64), token), (tuple(part[None] for part in state),))
            numbers = torch.cat([part[0] for part in after], dim=1).double() * ONE
            assert all(a <= column.min() and column.max() <= b for (a, b), column in zip(found, numbers.T, strict=True))
        if not width:
            assert max(b - a for a, b in found) < ONE >> 14


# -- verdicts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("architecture", "bits"), CERTIFIED)
def test_what_is_certified_is_right_on_all_short_words(architecture, bits):
    content, data = certificate(architecture, bits)
    accepted = check_words(content, data)
    assert (accepted.bits, accepted.boxes) == (bits, len(content["boxes"]))
    assert "every length" in accepted.words()
    assert "every length" in accepted.share_in_words()
    model = recurrent_from(data)
    assert wrong_answers(model, bits) == 0
    assert wrong_answers(copy.deepcopy(model).double(), bits) == 0
    # In torch's own scan of a whole word too, where states are not rounded.
    if not bits:
        words = all_words(8)
        logits = model(words[None])[0]
        assert torch.equal(logits.argmax(dim=-1), answers_to_words(model, words)[:, 1:])


def test_damaged_weights_are_never_certified_against_a_word():
    generator, outcomes = torch.Generator().manual_seed(5), []
    for number in range(24):
        model = copy.deepcopy(trained((*CELLS, MAMBA)[number % 4]))
        bits = (0, 2, 3)[number // 4 % 3]
        with torch.no_grad():
            for parameter in model.parameters():
                parameter += 0.02 * 2.0 ** (number % 6) * torch.randn(parameter.shape, generator=generator)
        with tempfile.TemporaryDirectory() as folder:
            verdict = certify_words(model, TASK, Path(folder), bits, most=300)
        outcomes.append(verdict.outcome)
        if verdict.outcome == Outcome.CERTIFIED:
            assert wrong_answers(model, bits) == 0
        elif verdict.outcome == Outcome.COUNTEREXAMPLE:
            answer = answers_to_words(model, torch.tensor([verdict.failing], dtype=torch.int64), bits)[0, -1]
            assert int(answer) != AUTOMATON.answer(verdict.failing)
    assert {Outcome.CERTIFIED, Outcome.COUNTEREXAMPLE} <= set(outcomes)


def test_one_word_that_fails_is_found_or_left_open_never_certified():
    """The readout is moved until exactly the words of one reachable rounded state fail."""
    model, bits = copy.deepcopy(trained("GRU-(1,8)")), 3
    prover = WordsProver(Cell(recurrent_file(model)), AUTOMATON)
    boxes = prover.rounded(bits).boxes
    ends = [numpy.array([box[2]], dtype=float) / 2**bits for box in boxes]
    margins = [float(prover.margins(numpy.array([box[0]]), end, end)[0]) for box, end in zip(boxes, ends, strict=True)]
    weakest = int(numpy.argmin(margins))
    right = AUTOMATON.answers[boxes[weakest][0]]
    with torch.no_grad():
        model.readout.bias[0, right] -= margins[weakest] * 1.001
    with tempfile.TemporaryDirectory() as folder:
        verdict = certify_words(model, TASK, Path(folder), bits)
    assert verdict.outcome == Outcome.COUNTEREXAMPLE
    assert first_failing(model, AUTOMATON, torch.tensor([verdict.failing], dtype=torch.int64), bits) is not None


def test_the_answer_to_the_empty_word_counts():
    model = copy.deepcopy(trained("RNN-(1,8)"))
    with torch.no_grad():
        model.readout.bias[0] = torch.tensor([1.0, 0.0])
        model.readout.weight *= 100
    found = first_failing(model, AUTOMATON, words_to_try(AUTOMATON), 0)
    assert found == ()
    with tempfile.TemporaryDirectory() as folder:
        assert certify_words(model, TASK, Path(folder)).failing == ()


# -- certificates that must not pass -----------------------------------------------------------------------------------


def changed_boxes(content, generator, count=60):
    """Boxes with one entry altered so that the claim is another one."""
    for _ in range(count):
        boxes = copy.deepcopy(content["boxes"])
        box = boxes[int(generator.integers(len(boxes)))]
        what = int(generator.integers(3))
        if what == 0:
            box[0] = (box[0] + 1) % len(AUTOMATON.steps)
        elif what == 1:
            place = int(generator.integers(len(box[1])))
            wanted = AUTOMATON.steps[box[0]][place]
            others = [number for number, each in enumerate(boxes) if each[0] != wanted]
            box[1][place] = others[int(generator.integers(len(others)))]
        else:
            place = int(generator.integers(len(box[2])))
            unit = 1 << content["unit"]
            box[2][place] += unit
            if len(box) == 4:
                box[3][place] += unit
        yield boxes


@pytest.mark.parametrize(("architecture", "bits"), CERTIFIED)
def test_altered_boxes_are_refused(architecture, bits):
    content, data = certificate(architecture, bits)
    for boxes in changed_boxes(content, numpy.random.default_rng(bits)):
        with pytest.raises(RefusedError):
            check_words({**content, "boxes": boxes}, data)


def test_boxes_that_lose_the_network_are_refused():
    content, data = certificate("RNN-(1,8)", 0)
    for number, box in enumerate(content["boxes"]):
        if number == 0:
            continue
        thin = copy.deepcopy(content["boxes"])
        thin[number][3] = list(box[2])
        with pytest.raises(RefusedError, match="may leave"):
            check_words({**content, "boxes": thin}, data)


def test_claims_of_another_form_are_refused():
    content, data = certificate("GRU-(1,8)", 3)
    check_words(content, data)
    changes = [
        {"sha256": "0" * 64}, {"format": "separatrix-trained-1"}, {"bits": 2}, {"bits": 0}, {"unit": 4}, {"bits": 17},
        {"boxes": []}, {"boxes": content["boxes"][1:]}, {"boxes": [*content["boxes"], [0, [0, 0], [1] * 7]]},
        {"boxes": [[*each[:2], [99999] * 8] for each in content["boxes"]]}, {"task": 3}, {"task": "a\nb"},
        {"automaton": {**PLAIN, "start": 1}}, {"automaton": {**PLAIN, "answers": [0, 0, 0]}},
        {"automaton": {**PLAIN, "answers": [1, 0]}}, {"automaton": {**PLAIN, "steps": []}},
        {"automaton": {**PLAIN, "steps": [[1, 2], [2, 0], [2]]}}, {"automaton": {**PLAIN, "answers": [5, 0, 0]}},
        {"extra": 1},
    ]  # fmt: skip
    for change in changes:
        with pytest.raises(RefusedError):
            check_words({**content, **change}, data)
    other = recurrent_file(trained("RNN-(1,8)"))
    with pytest.raises(RefusedError):
        check_words({**content, "sha256": hashlib.sha256(other).hexdigest()}, other)


def test_a_network_as_it_is_has_finer_boxes_than_its_rounding():
    content, _ = certificate("RNN-(1,8)", 0)
    assert (content["bits"], content["unit"]) == (0, UNIT)
    assert BITS > UNIT and all(len(box) == 4 for box in content["boxes"])


def test_a_task_whose_automaton_is_too_large_is_named_with_its_parameters(tmp_path):
    with pytest.raises(SeparatrixError, match="depth=40,types=9"):
        certify_words(trained("RNN-(1,8)"), TASK.with_parameters(types=9, depth=40), tmp_path)


# -- networks made by hand ---------------------------------------------------------------------------------------------


def hand_made(cell, width, vocabulary=1, classes=2, **filled):
    """A file of zeros but for the tensors given by the last part of their name."""
    outputs, mixer = GATES[cell] * width, "blocks.0.mixer."
    shapes = {
        "embedding.weight": (vocabulary, width), f"{mixer}input_weight": (outputs, width),
        f"{mixer}state_weight": (outputs, width), f"{mixer}input_bias": (outputs,), f"{mixer}state_bias": (outputs,),
        "readout.weight": (width, classes), "readout.bias": (classes,),
    }  # fmt: skip
    tensors = {name: numpy.zeros(shape, dtype=numpy.float32) for name, shape in shapes.items()}
    for name, tensor in tensors.items():
        for last, values in filled.items():
            if name.replace(".", "_").endswith(last):
                tensor[...] = values
    about = {"kind": "recurrent", "cell": cell, "width": width, "vocabulary": vocabulary, "classes": classes}
    return save(tensors, {"separatrix": json.dumps(about)})


def claim_of(data, tokens, boxes, bits=0):
    return {
        "format": WORDS_FORMAT, "task": "by hand", "sha256": hashlib.sha256(data).hexdigest(), "bits": bits,
        "unit": bits or UNIT, "automaton": {"start": 0, "steps": [[0] * tokens], "answers": [0]}, "boxes": boxes,
    }  # fmt: skip


def test_a_gru_may_add_the_reset_part_of_its_candidate_first():
    """float32 starts at r·kept = 1 and rounds each of many small terms up."""
    width, single = 384, numpy.float32
    small, total = single(0.6 * 2.0**-23), single(1)
    for _ in range(width):
        total = single(total + small)
    exact = 1 + width * float(small)
    assert float(total) - exact > 0.7 * width * 2.0**-24
    sums, _ = Linear([[fixed(float(small))]] * width, [0]).apply(Balls([ONE] * width, [0] * width))
    given = sums.centres[0] - sums.radii[0], sums.centres[0] + sums.radii[0]
    far = 100 * ONE
    low, high = gated(width + 2, (far, far), (-far, -far), given, (ONE, ONE), (0, 0))
    for found in (numpy.tanh(total), numpy.tanh(exact)):
        assert low <= float(found) * ONE <= high


@pytest.mark.parametrize("cell", list(GATES))
@pytest.mark.parametrize("bits", [1, 3])
def test_the_least_lead_that_is_certified_is_a_lead(cell, bits):
    """The readout of one number is moved bit by bit through a tie: what is valid is right exactly."""
    verdicts = []
    numbers = 2 if cell == "lstm" else 1
    bound = [(1 << bits) - 1] * numbers
    boxes = [[0, [0], [-each for each in bound], bound]]
    for ulps in range(-64, 65):
        # Logits 0.5 h + lead and 0.5 at |h| ≤ (2^p - 1)/2^p: the least difference is at the lower end.
        tie = numpy.float32(0.5 + 0.5 * bound[0] / 2**bits)
        lead = numpy.float32(tie + ulps * numpy.spacing(tie))
        data = hand_made(cell, 1, readout_weight=[[0.5, 0]], readout_bias=[lead, 0.5])
        right = Fraction(float(lead)) - Fraction(1, 2) * Fraction(bound[0], 2**bits) > Fraction(1, 2)
        try:
            check_words(claim_of(data, 1, boxes, bits), data)
        except RefusedError:
            verdicts.append(False)
        else:
            verdicts.append(True)
            assert right
    assert verdicts[-1] and not verdicts[0]


def test_claims_that_would_take_hours_or_gigabytes_are_refused_at_once():
    data = hand_made("rnn", 1, vocabulary=1 << 13, readout_bias=[1, 0])
    tokens, box = 1 << 13, [0, [0] * (1 << 13), [-1], [1]]
    with pytest.raises(RefusedError, match="too many"):
        check_words(claim_of(data, tokens, [box] * (1 << 11)), data)
    check_words(claim_of(data, 2, [[0, [0, 0], [-1], [1]]] * 3), data)
    # Every box asks all classes.
    data = hand_made("rnn", 1, classes=MOST_CLASSES, readout_bias=[1] + [0] * (MOST_CLASSES - 1))
    box = [0, [0], [-1], [1]]
    check_words(claim_of(data, 1, [box]), data)
    with pytest.raises(RefusedError, match="too many"):
        check_words(claim_of(data, 1, [box] * (1 << 15)), data)
    with pytest.raises(RefusedError, match="classes"):
        Cell(hand_made("rnn", 1, classes=MOST_CLASSES + 1))
    with pytest.raises(RefusedError, match="too many"):
        Cell(hand_made("rnn", 64, vocabulary=1 << 16))
