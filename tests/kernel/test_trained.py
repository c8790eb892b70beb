"""Trained lookups: verdicts against every input, balls against torch, and proofs that must not pass."""

import copy
import hashlib
import json
from fractions import Fraction
from functools import cache

import flint
import numpy
import pytest
import torch
from safetensors.torch import load, save
from torch.nn import functional

from separatrix.errors import SeparatrixError
from separatrix.models.trained_files import model_from, weights_file
from separatrix.provers.trained_lookup import LookupProver
from separatrix.provers.trained_transformer import Outcome
from separatrix_kernel.__main__ import main
from separatrix_kernel.balls import BITS, ONE, Balls, Linear, Packed, exponentials, gelu, norm, power_range
from separatrix_kernel.lookup import proved
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.trained import TRAINED_FILE, TRAINED_FORMAT, WEIGHTS_FILE, TrainedAccepted, check_trained
from separatrix_kernel.transformer import Weights
from tests.kernel.trained_models import every_input, failing, pair_of, trained

MIXED = (3, 4, 50, "TF-(1,8)", 2)
"""Of this model some pairs are right and some are not."""
CASES = [
    (3, 3, 30, "TF-(1,8)", 0),
    (3, 4, 120, "TF-(1,8)", 1),
    (4, 4, 250, "TF-(1,8)", 0),
    (3, 4, 150, "TF-(1,8,heads=2)", 0),
    (3, 4, 200, "TF-(1,8,positions=sinusoidal)", 2),
    (3, 4, 250, "TF-(1,8,positions=rotary)", 0),
    (3, 3, 120, "TF-(1,8,heads=2,positions=rotary)", 1),
    MIXED,
]


@pytest.fixture(autouse=True)
def precise():
    """Balls of 200 bits while a test runs, and not after it: the precision is one for the whole process."""
    with flint.ctx.workprec(200):
        yield


def exact(value):
    return flint.arb(flint.fmpq(value, ONE))


@cache
def decided_case(case):
    return decided(trained(*case), *case[:2])


def decided(model, alphabet, length):
    prover = LookupProver(Weights(weights_file(model)), alphabet, length)
    return prover, {(p, c): prover.decide(p, c) for p in range(length) for c in range(alphabet)}


def content(model, alphabet, length, found):
    data = weights_file(model)
    return {
        "format": TRAINED_FORMAT,
        "task": "index-lookup",
        "alphabet": alphabet,
        "length": length,
        "sha256": hashlib.sha256(data).hexdigest(),
        "certified": [[*pair, each.proof] for pair, each in found.items() if each.proof is not None],
        "counterexamples": [list(each.failing) for each in found.values() if each.failing is not None],
        "open": [list(pair) for pair, each in found.items() if each.outcome == Outcome.OPEN],
    }, data


# -- numbers ----------------------------------------------------------------------------------------------------------


def test_exponentials_enclose_the_real_ones_closely():
    generator = numpy.random.default_rng(0)
    for value in [0, 1, ONE // 256, ONE - 1, 59 * ONE, *generator.integers(0, 62 * ONE, 300).tolist()]:
        low, high = exponentials(value)
        real = (-exact(value)).exp() * ONE
        assert real >= low and real <= high
        assert high - low <= 4
        error = int(generator.integers(0, ONE // 4))
        low, high = power_range(-value, error)
        assert low <= ((-exact(value + error)).exp() * ONE) and high >= ((exact(error - value)).exp() * ONE)


def real_gelu(x):
    bend = 2 * (2 / flint.arb.pi()).sqrt() * (x + flint.arb("0.044715") * x**3)
    return x / (1 + (-bend).exp())


def test_gelu_encloses_the_real_one_and_torchs():
    generator = numpy.random.default_rng(1)
    for scale in (0.1, 1.0, 4.0, 20.0):
        for _ in range(60):
            centre, radius = int(generator.normal() * scale * ONE), int(abs(generator.normal()) * scale * ONE / 8)
            bend = gelu(centre, radius)
            for share in (-1.0, -0.5, 0.0, 0.3, 1.0):
                x = centre + int(share * radius)
                line = bend.value + (bend.slope * (x - centre)) / ONE
                value = float(real_gelu(exact(x)) * ONE)
                assert line + bend.low <= value + 1 and value - 1 <= line + bend.high
                single = torch.tensor(x / ONE, dtype=torch.float32)
                if abs(float(single) * ONE - centre) <= radius:
                    ours = float(functional.gelu(single, approximate="tanh")) * ONE
                    line = bend.value + bend.slope * (float(single) - centre / ONE)
                    assert line + bend.low - 1 <= ours <= line + bend.high + 1


def test_the_second_derivative_of_gelu_is_as_stated_on_the_whole_line():
    linear = 2 * (2 / flint.arb.pi()).sqrt()
    cubic = linear * flint.arb("0.044715")

    def second(x):
        share = 1 / (1 + (-(linear * x + cubic * x**3)).exp())
        first, more = linear + 3 * cubic * x**2, 6 * cubic * x
        product = share * (1 - share)
        return 2 * product * first + x * (product * (1 - 2 * share) * first**2 + product * more)

    def fits(low, high, depth=0):
        value = second(flint.arb(flint.fmpq(low + high, 2 << 20), flint.fmpq(high - low, 2 << 20)))
        if value >= flint.arb(flint.fmpq(-7, 64)) and value <= flint.arb(flint.fmpq(103, 128)):
            return True
        middle = (low + high) // 2
        return depth < 30 and fits(low, middle, depth + 1) and fits(middle, high, depth + 1)

    assert all(fits(start << 20, start + 1 << 20) for start in range(-16, 16))
    # Beyond: s(1 - s) ≤ exp(-1.59|x| - 0.07|x|³), which at 16 is below 1e-130 and falls faster than any power grows.


def torch_norms(rows, width, epsilon=1e-5):
    for order in (torch.arange(width), torch.randperm(width)):
        undo = order.argsort()
        yield functional.layer_norm(rows[:, order], (width,), None, None, epsilon)[:, undo]


def test_norms_and_linear_maps_enclose_torch_in_any_order():
    torch.manual_seed(3)
    width = 16
    for scale, offset in ((1.0, 0.0), (0.05, 3.0), (10.0, -40.0)):
        rows = torch.randn(20, width) * scale + offset
        weight, bias, gain, shift = torch.randn(width, 5), torch.randn(5), torch.randn(width), torch.randn(width)
        plain = [[round(w * ONE) for w in row] for row in weight.tolist()]
        numbers = [[round(v * ONE) for v in each.tolist()] for each in (bias, gain, shift)]
        linear = Linear(plain, numbers[0], (numbers[1], numbers[2]))
        normals = [*torch_norms(rows, width), functional.layer_norm(rows.double(), (width,), None, None, 1e-5)]
        for number, row in enumerate(rows.tolist()):
            radius = ONE >> 12
            balls = norm(
                Balls([round(v * ONE) + radius // 2 for v in row], [radius] * width), Fraction(1, 100000)
            ).balls
            out, _ = linear.apply(balls)
            for normal in normals:
                for c, r, value in zip(*balls, normal[number].tolist(), strict=True):
                    assert abs(value * ONE - c) <= r
                folded = gain[:, None] * weight
                order = torch.randperm(width)
                kind = normal.dtype
                whole = normal[number][order] @ folded.to(kind)[order] + (shift @ weight + bias).to(kind)
                for c, r, value in zip(*out, whole.tolist(), strict=True):
                    assert abs(value * ONE - c) <= r


# -- verdicts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_verdict_agrees_with_every_input(case):
    alphabet, length, steps, architecture, seed = case
    model = trained(alphabet, length, steps, architecture, seed)
    inputs = every_input(alphabet, length)
    wrong = failing(model, alphabet, inputs)
    wrong_pairs = {pair_of(row, alphabet) for row in wrong}
    in_double = {pair_of(row, alphabet) for row in failing(copy.deepcopy(model).double(), alphabet, inputs)}
    _, found = decided_case(case)
    for pair, each in found.items():
        if each.outcome == Outcome.CERTIFIED:
            assert pair not in wrong_pairs | in_double
        if each.failing is not None:
            assert pair_of(each.failing, alphabet) == pair
            assert each.failing in wrong
    assert sum(each.outcome == Outcome.OPEN for each in found.values()) <= len(found) // 4
    claim, data = content(model, alphabet, length, found)
    accepted = check_trained(json.loads(json.dumps(claim)), data)
    assert accepted.share == Fraction(len(claim["certified"]), alphabet * length)


def test_nothing_is_to_be_shown_on_the_side_of_a_split_that_no_symbol_is_on():
    proofs = [(case, {each.outcome for each in decided_case(case)[1].values()}) for case in CASES]
    case = next(case for case, outcomes in proofs if Outcome.CERTIFIED in outcomes)
    alphabet, length, steps, architecture, seed = case
    _, found = decided_case(case)
    claim, data = content(trained(alphabet, length, steps, architecture, seed), alphabet, length, found)
    p, c, proof = claim["certified"][0]
    other = (p + 1) % length
    for some, sides in (([], (["leaf", []], proof)), (list(range(alphabet)), (proof, ["leaf", []]))):
        claim["certified"][0] = [p, c, ["split", other, some, *sides]]
        accepted = check_trained(json.loads(json.dumps(claim)), data)
        assert accepted.share == Fraction(len(claim["certified"]), alphabet * length)


def test_some_pairs_are_certified_in_each_way_and_some_fail():
    kinds, outcomes = set(), set()
    for case in CASES:
        _, found = decided_case(case)
        kinds |= {each.proof[0] for each in found.values() if each.proof is not None}
        outcomes |= {each.outcome for each in found.values()}
    assert kinds == {"leaf", "split"}
    assert outcomes >= {Outcome.CERTIFIED, Outcome.COUNTEREXAMPLE}


@pytest.mark.parametrize("case", [*CASES[1:4], CASES[6]], ids=str)
def test_boxes_and_forms_hold_on_every_context(case, monkeypatch):
    """What torch computes, in float32 and float64, is inside of every ball, and above every bound."""
    alphabet, length = case[:2]
    model = trained(*case)
    prover, _ = decided_case(case)
    kernel = prover.model
    inputs = every_input(alphabet, length)
    seen, real = [], functional.layer_norm

    def recorded(x, *rest):
        seen.append(x)
        return real(x, *rest)

    monkeypatch.setattr(functional, "layer_norm", recorded)
    for kind in (torch.float32, torch.float64):
        seen.clear()
        with torch.no_grad():
            read = torch.full((1, len(inputs), 1), length)
            logits = copy.deepcopy(model).to(kind)(inputs[None], read=read)[0, :, 0].double().numpy()
        y, z = (each.reshape(len(inputs), -1).double().numpy() for each in seen[1:3])
        sigma = numpy.sqrt(z.var(axis=1) + 1e-5)
        for p in range(length):
            for c in range(alphabet):
                asked = (inputs[:, -1] == alphabet + p).numpy()
                every = [[c] if j == p else list(range(alphabet)) for j in range(length)]
                first = [s for s in range(alphabet) if s % 2 == 0]
                fewer = [each if len(each) < 2 or j > 1 else first for j, each in enumerate(every)]
                for sets in (every, fewer):
                    box = kernel.leak(p, sets)
                    inside = [numpy.isin(inputs[:, j].numpy(), some) for j, some in enumerate(sets)]
                    rows = numpy.logical_and.reduce([asked, *inside])
                    assert (abs(y[rows] * ONE - numpy.array(box.y.centres)) <= numpy.array(box.y.radii) + 1).all()
                    away = numpy.sqrt(((y[rows] * ONE - numpy.array(box.y.centres)) ** 2).sum(axis=1))
                    assert (away <= box.reach + 1).all()
                    try:
                        passed = kernel.answers.passed(box)
                    except RefusedError:
                        continue
                    assert (
                        abs(z[rows] * ONE - numpy.array(passed.half.z.centres)) <= numpy.array(passed.half.z.radii) + 1
                    ).all()
                    for k, margin in enumerate(kernel.answers.margins(passed, c)):
                        if k == c:
                            continue
                        least = ((logits[rows, c] - logits[rows, k]) * sigma[rows]).min()
                        form, rest = kernel.answers.form(kernel.question(p).base, passed, c, k)
                        bounds = [prover._least(p, head, sets, form) << (BITS - 20) for head in range(kernel.heads)]
                        assert max(margin, rest + sum(bounds)) <= least * ONE + 1


@pytest.mark.parametrize("architecture", ["TF-(1,8)", "TF-(1,8,positions=rotary)"])
def test_a_planted_error_is_never_certified(architecture):
    """A weight is moved to where the first inputs fail: of all inputs then a few, or one."""
    alphabet, length = 4, 4
    inputs = every_input(alphabet, length)
    start = trained(alphabet, length, 250, architecture)
    assert not failing(start, alphabet, inputs)
    generator = torch.Generator().manual_seed(5)
    few = 0
    for _ in range(6):
        model = copy.deepcopy(start)
        tensors = [each for each in model.parameters() if each.numel() > 8]
        tensor = tensors[int(torch.randint(len(tensors), (1,), generator=generator))].data.view(-1)
        place = int(torch.randint(len(tensor), (1,), generator=generator))
        old, low, high = float(tensor[place]), 0.0, 64.0
        for _ in range(24):
            tensor[place] = old + (low + high) / 2
            low, high = (low, (low + high) / 2) if failing(model, alphabet, inputs) else ((low + high) / 2, high)
        tensor[place] = old + high
        wrong = {pair_of(row, alphabet) for row in failing(model, alphabet, inputs)}
        few += 0 < len(failing(model, alphabet, inputs)) <= 4
        _, found = decided(model, alphabet, length)
        assert not {pair for pair, each in found.items() if each.outcome == Outcome.CERTIFIED} & wrong
    assert few >= 2


# -- proofs that must not pass ----------------------------------------------------------------------------------------


def test_a_claim_that_was_changed_is_refused():
    alphabet, length = 3, 4
    model = trained(*MIXED)
    _, found = decided_case(MIXED)
    claim, data = content(model, alphabet, length, found)
    check_trained(claim, data)
    certified, fails = claim["certified"], claim["counterexamples"]
    assert certified and fails
    p, c = pair_of(tuple(fails[0]), alphabet)
    some = certified[0]
    changes = [
        {"sha256": "0" * 64},
        {"format": "separatrix-trained-2"},
        {"task": "majority"},
        {"alphabet": alphabet + 1},
        {"length": length + 1},
        {"certified": [*certified, some]},
        {"certified": [*certified, [length, 0, ["leaf", []]]]},
        {"certified": [*certified, [p, c, ["leaf", []]]], "counterexamples": []},
        {"counterexamples": [*fails, [some[1]] * length + [alphabet + some[0]]]},
        {"counterexamples": [[0] * length]},
        {"counterexamples": [[0] * length + [0]]},
        {"open": [[0]]},
        {"certified": [[*some[:2], ["leaf", None]]]},
        {"certified": [[*some[:2], ["split", 0, [0], ["leaf", []]]]]},
        {"certified": [[*some[:2], "leaf"]]},
        {"more": 1},
    ]
    for change in changes:
        with pytest.raises(RefusedError):
            check_trained({**claim, **change}, data)
    with pytest.raises(RefusedError):
        check_trained(claim, data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(RefusedError):
        changed = data.replace(b"blocks.0.norm.bias", b"blocks.1.norm.bias")
        check_trained({**claim, "sha256": hashlib.sha256(changed).hexdigest()}, changed)


def test_a_bound_that_is_stated_too_tightly_is_refused():
    prover, found = decided_case(MIXED)
    tried = 0
    for (p, c), each in found.items():
        if each.proof is None or each.proof[0] != "leaf":
            continue
        proved(prover.model, p, c, each.proof)
        for number in range(len(each.proof[1])):
            changed = copy.deepcopy(each.proof)
            changed[1][number][1] += 64
            with pytest.raises(RefusedError):
                proved(prover.model, p, c, changed)
            del changed[1][number]
            with pytest.raises(RefusedError):
                proved(prover.model, p, c, changed)
            tried += 1
    assert tried


def test_a_side_of_a_split_without_symbols_needs_no_proof():
    prover, found = decided_case(MIXED)
    (p, c), each = next((pair, each) for pair, each in found.items() if each.proof is not None)
    proved(prover.model, p, c, ["split", 0, [0, 1, 2], each.proof, "never read"])
    with pytest.raises(RefusedError):
        proved(prover.model, p, c, ["split", 0, [0, 1], each.proof, "read"] if p else ["split", 1, [0], "read", "read"])


def test_weights_that_are_not_numbers_are_refused():
    model = copy.deepcopy(trained(3, 3, 30))
    model.readout.bias.data[0, 0] = float("nan")
    with pytest.raises(RefusedError):
        Weights(weights_file(model))
    model.readout.bias.data[0, 0] = 1e6
    with pytest.raises(RefusedError):
        Weights(weights_file(model))


def test_the_command_states_what_was_shown_of_trained_weights(tmp_path, capsys):
    model = trained(*MIXED)
    claim, data = content(model, *MIXED[:2], decided_case(MIXED)[1])
    (tmp_path / WEIGHTS_FILE).write_bytes(data)
    (tmp_path / TRAINED_FILE).write_text(json.dumps(claim))
    assert main([str(tmp_path)]) == 0
    said = capsys.readouterr().out
    shown = len(claim["certified"])
    assert f"{Fraction(shown, 12)} of all inputs" in said
    assert f"{shown} of 12 pairs" in said
    assert claim["sha256"] in said
    (tmp_path / TRAINED_FILE).write_text(json.dumps({**claim, "length": 3}))
    assert main([str(tmp_path)]) == 1
    assert capsys.readouterr().out.startswith("refused: ")
    every = TrainedAccepted(2, 1, "0" * 64, ((0, 0), (0, 1)), (), 0)
    assert every.share_in_words() == "all inputs"
    heard = []
    check_trained(claim, data, lambda number, whole: heard.append((number, whole)))
    assert heard == [(number, shown) for number in range(shown)]


@pytest.mark.parametrize(("limit", "most"), [("MOST_NUMBERS", 500), ("MOST_STEPS", 10000)])
def test_what_trained_weights_ask_for_has_an_end(limit, most, monkeypatch):
    claim, data = content(trained(*MIXED), *MIXED[:2], decided_case(MIXED)[1])
    check_trained(claim, data)
    monkeypatch.setattr(f"separatrix_kernel.heads.{limit}", most)
    with pytest.raises(RefusedError):
        check_trained(claim, data)


def test_products_of_packed_rows_are_exact_however_large_they_are():
    generator = numpy.random.default_rng(4)
    for bits in (3, 40, 52, 60):
        columns = [[int(each) << bits for each in generator.integers(-9, 10, 5)] for _ in range(7)]
        for size in (1, 1 << 40, 1 << 62):
            vector = [int(each) * size + 1 for each in generator.integers(-9, 10, 5)]
            right = [sum(a * b for a, b in zip(column, vector, strict=True)) >> BITS for column in columns]
            assert Packed(columns).floors(vector) == right


def test_tables_of_turns_are_read_strictly():
    """Another table makes another model, which proofs are then about; what is no turn is refused."""
    case = CASES[6]
    alphabet, length = case[:2]
    data = weights_file(trained(*case))
    tensors, size = load(data), int.from_bytes(data[:8], "little")
    about = json.loads(data[8 : 8 + size])["__metadata__"]["separatrix"]
    assert Weights(data).turns is not None
    for name in ("positions.cosine", "positions.sine"):
        large = {**tensors, name: tensors[name] * 1.5 + 0.5}
        with pytest.raises(RefusedError):
            Weights(save(large, {"separatrix": about}))
        fewer = {**tensors, name: tensors[name][:, :1].contiguous()}
        with pytest.raises(RefusedError):
            Weights(save(fewer, {"separatrix": about}))
        with pytest.raises(RefusedError):
            Weights(save({key: each for key, each in tensors.items() if key != name}, {"separatrix": about}))
    with pytest.raises(RefusedError):
        Weights(save(tensors, {"separatrix": about.replace("rotary-transformer", "transformer")}))
    with pytest.raises(RefusedError):
        Weights(save(tensors, {"separatrix": json.dumps({**json.loads(about), "positions": 10**15})}))
    # With all keys turned alike no place can be told from another: right for at most one symbol of each question.
    still = {**tensors, "positions.cosine": torch.ones_like(tensors["positions.cosine"])}
    still["positions.sine"] = torch.zeros_like(tensors["positions.sine"])
    prover = LookupProver(Weights(save(still, {"separatrix": about})), alphabet, length)
    for p in range(length):
        assert sum(prover.decide(p, c).proof is not None for c in range(alphabet)) <= 1
    with pytest.raises(SeparatrixError):
        model_from(save(still, {"separatrix": about}))
