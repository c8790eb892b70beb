"""Running sums in float32: integers against numpy's floats, and adversaries against every input of small lengths."""

import copy
import json
import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import numpy
import pytest

from separatrix.arithmetic import Floating
from separatrix.constructions import constructions
from separatrix.networks import FeedForward, evaluate, zeros
from separatrix.networks.store import from_bytes, to_bytes
from separatrix.provers import prove
from separatrix.provers.running import running_sums
from separatrix.tasks import tasks
from separatrix_kernel.checker import check
from separatrix_kernel.floats import LIMIT, ONE, Floats
from separatrix_kernel.network import Matrix, Reader
from separatrix_kernel.reading import RefusedError, parse
from separatrix_kernel.running import RunningClaim
from separatrix_kernel.specification import read_specification
from tests.kernel.files import File, claimed, proved

IN_ORDER = Floating("float32", in_order=True)
WALL = 1 << 24
EXTREME = (0, 1, -1, 2, WALL - 1, WALL, WALL + 1, -WALL, -WALL - 1, 1 << 61, -(1 << 61), (1 << 62) - 1)
DENOMINATORS = (2, 3, WALL, WALL + 1, 1 << 61)


def accepts(content: dict[str, Any], data: bytes) -> bool:
    """Whether the rule accepts, without the last net that runs some inputs."""
    floats = Floats()
    inputs, answers = read_specification(content["specification"])
    try:
        RunningClaim(Reader(data, floats).network(), inputs, answers, floats).prove(content["proof"])
    except RefusedError:
        return False
    return True


def right_everywhere(data: bytes, length: int, types: int = 2) -> bool:
    """Whether the network in a file is right on every input, by numpy's float32 in the order of the positions."""
    task = tasks()["dyck"].with_parameters(types=types)
    network = from_bytes(data, "mutant")
    for part in task.enumerate(length, 1 << 14):
        found = evaluate(network, part.inputs, IN_ORDER).answers[:, 0]
        if (found != part.targets[:, -1]).any():
            return False
    return True


# Arithmetic.


def test_sums_and_products_are_numpys() -> None:
    floats, random = Floats(), Random(5)
    special = [0, 1, 2, (1 << 23) - 1, 1 << 23, (1 << 24) - 1, 0x7F7FFFFF, 0x7F800000 - 2, 0x3F800000, 0x4B800000]
    words = [*special, *(random.getrandbits(31) for _ in range(400))]
    values = numpy.array(words, dtype=numpy.uint32).view(numpy.float32)
    values = numpy.concatenate([values, -values])
    values = values[numpy.isfinite(values)]
    others = numpy.array([random.choice([v, w, -v]) for v, w in zip(values, values[::-1], strict=True)])
    others = (others * numpy.float32(random.choice([1, 2**-24, 2**-12]))).astype(numpy.float32)
    checked = 0
    with numpy.errstate(all="ignore"):
        for left, right in zip(values, others, strict=True):
            a, b = (int(Fraction(float(each)) * ONE) for each in (left, right))
            for expected, numerator, denominator in ((left + right, a + b, 1), (left * right, a * b, ONE)):
                if numpy.isfinite(expected):
                    assert Fraction(floats.nearest(numerator, denominator), ONE) == Fraction(float(expected))
                    checked += 1
                else:
                    with pytest.raises(RefusedError, match="float32"):
                        floats.nearest(numerator, denominator)
    assert checked > 1000


def test_a_sum_of_nothing_is_zero_and_not_the_smallest_float() -> None:
    rows = Matrix(((), ((0, ONE),)), 1)
    assert Floats().affine(rows, [0, 1], [(-1, 1)]) == [(0, 0), (0, 2)]


def test_only_floats_are_weights() -> None:
    floats = Floats()
    assert floats.encode(WALL + 2, 1) == (WALL + 2) * ONE
    assert floats.encode(1, 1 << 62) << 62 == ONE
    for numerator, denominator in ((WALL + 1, 1), (1, 3), (-(WALL + 1), 2), ((1 << 63) - 1, 1)):
        with pytest.raises(RefusedError, match="not a float32"):
            floats.encode(numerator, denominator)


def test_ties_go_to_even_and_overflow_is_refused() -> None:
    floats = Floats()
    assert floats.nearest((WALL + 1) * ONE) == WALL * ONE
    assert floats.nearest((WALL + 3) * ONE) == (WALL + 4) * ONE
    assert floats.nearest(-(WALL + 1) * ONE) == -WALL * ONE
    assert floats.nearest(3, 2) == 2
    assert floats.nearest(1, 2) == 0
    largest = ((1 << 24) - 1) << 253
    assert floats.nearest(largest + (1 << 252) - 1) == largest
    for beyond in (largest + (1 << 252), LIMIT, -LIMIT):
        with pytest.raises(RefusedError, match="too large"):
            floats.nearest(beyond)


def test_the_exponential_is_correctly_rounded() -> None:
    for value in (-87.5, -0.1, -1.0, 0.0, 1e-30, -103.9, -104.1, -1e30, 88.7, 89.0):
        single = numpy.float32(value)
        found = float(IN_ORDER.exp(numpy.array([single]))[0])
        # float64's own exponential is right to the last bits, far below half a bit of float32.
        with numpy.errstate(all="ignore"):
            assert found == float(numpy.float32(math.exp(float(single)) if value < 700 else math.inf))
    assert math.isnan(IN_ORDER.exp(numpy.array([numpy.nan], dtype=numpy.float32))[0])


def test_sums_in_order_are_one_addition_after_another() -> None:
    values = (numpy.random.default_rng(3).standard_normal((3, 4, 50)) * 2.0**20).astype(numpy.float32)
    expected = numpy.zeros((3, 4), dtype=numpy.float32)
    for place in range(50):
        expected = expected + values[:, :, place]
    assert (IN_ORDER.sum(values, axis=-1) == expected).all()
    assert (IN_ORDER.matmul(values, numpy.ones((50, 1), dtype=numpy.float32))[..., 0] == expected).all()
    assert IN_ORDER.sum(values, axis=(0, 2), keepdims=True).shape == (1, 4, 1)
    assert (expected != values.sum(axis=-1)).any(), "another order would not be told apart"


# What is accepted.


@pytest.mark.parametrize("types", [1, 2, 3])
@pytest.mark.parametrize("length", [2, 4, 8])
def test_what_the_kernel_accepts_is_right_on_every_input(length: int, types: int) -> None:
    if (2 * types) ** length > 1 << 16:
        length = 4
    content, data = proved("dyck-float", length, {"types": types})
    assert check(content, data).rule == "running-sums"
    assert right_everywhere(data, length, types)


def test_the_claim_says_in_which_order_sums_are_taken() -> None:
    content, data = proved("dyck-float", 8)
    assert "in the order of its terms" in check(content, data).words()


def test_the_longest_length_has_as_few_pairs() -> None:
    content, data = proved("dyck-float", 1 << 12)
    assert check(content, data).inputs_covered == "4^4096"


def test_a_feed_forward_that_adds_nothing_may_follow() -> None:
    built = constructions()["dyck-float"].build(8)
    width = built.network.slots.width
    idle = FeedForward(zeros(1, width), zeros(1, 1), zeros(width, 1), zeros(width, 1))
    network = replace(built.network, layers=(*built.network.layers, idle))
    found = prove(network, built.task, 8, built.arithmetic)
    assert found is not None and check(found.content, to_bytes(network)).rule == "running-sums"


def test_other_networks_and_other_answers_are_refused_in_float32() -> None:
    content, data = proved("dyck-float", 4)
    for name, refusal in (("dyck-dfa", "one attention layer"), ("index-lookup", "answers of an automaton")):
        other, file = proved(name, 4)
        wanted = content["specification"] if name == "dyck-dfa" else other["specification"]
        inputs, answers = read_specification(wanted)
        floats = Floats()
        with pytest.raises(RefusedError, match=refusal):
            RunningClaim(Reader(file if name == "dyck-dfa" else data, floats).network(), inputs, answers, floats)


# What an adversary changes in the network.


def number_changes(file: File, random: Random, share: float) -> Iterator[File]:
    """Each entry of each tensor and each denominator, one at a time, with extreme values."""
    for name, (_, _, numbers) in file.tensors.items():
        for place, own in enumerate(numbers):
            rows = range(3) if name.endswith("indices") else (*EXTREME, own + 1, own - 1, -own, 2 * own)
            for value in {*rows} - {own}:
                if random.random() < share:
                    mutant = file.copy()
                    mutant.tensors[name][2][place] = value
                    yield mutant
    left: list[Any] = [file.structure]
    while left:
        each = left.pop()
        left += each.values() if isinstance(each, dict) else each if isinstance(each, list) else []
        if isinstance(each, dict) and "denominator" in each:
            own = each["denominator"]
            for each["denominator"] in DENOMINATORS:
                if random.random() < 4 * share:
                    yield file.copy()
            each["denominator"] = own


@pytest.mark.parametrize(("length", "share"), [(2, 0.08), (4, 0.05), (8, 0.002)])
def test_no_changed_weight_is_accepted_and_wrong(length: int, share: float) -> None:
    accepted, refused = campaign(length, share, length)
    # A weight of a coordinate that is 0 for all inputs may change.
    assert accepted > 0
    assert refused > 3


def campaign(length: int, share: float, seed: int) -> tuple[int, int]:
    """How many changed networks the rule accepts and refuses; fails where one is accepted and wrong."""
    content, data = proved("dyck-float", length)
    answered = {True: 0, False: 0}
    for mutant in number_changes(File(data), Random(seed), share):
        changed = mutant.to_bytes()
        proofs = [content["proof"], *running_sums_of(changed, content)]
        found = any(accepts(claimed(content, changed, proof=proof), changed) for proof in proofs)
        answered[found] += 1
        assert not found or right_everywhere(changed, length)
    return answered[True], answered[False]


def running_sums_of(data: bytes, content: dict[str, Any]) -> list[dict[str, Any]]:
    """Proofs that a prover finds for a changed network."""
    try:
        return list(running_sums(from_bytes(data, "mutant"), content["specification"]))
    except Exception as error:
        assert type(error).__name__ == "SeparatrixError"
        return []


def test_other_kinds_of_networks_are_refused() -> None:
    content, data = proved("dyck-float", 4)
    changes = (
        ("scoring", ("hard", "leftmost", "linear", "relu")),
        ("mask", ("strict",)),
        ("residual", (True,)),
    )
    for name, values in changes:
        for value in values:
            mutant = File(data)
            layer = mutant.structure["layers"][0]
            (layer if name == "residual" else layer["heads"][0])[name] = value
            changed = mutant.to_bytes()
            assert not accepts(claimed(content, changed), changed)
    for decoding in ("argmax", "exact"):
        mutant = File(data)
        mutant.structure["readout"]["decoding"] = decoding
        changed = mutant.to_bytes()
        assert not accepts(claimed(content, changed), changed)


# What an adversary changes in the proof.


def proof_changes(proof: dict[str, Any]) -> Iterator[dict[str, Any]]:
    odd: tuple[Any, ...] = (True, 1.0, None, "1", [1], 1 << 63, -(1 << 63), WALL + 1, -WALL - 1)
    for name in ("weights", "home"):
        for place, own in enumerate(proof[name]):
            for value in {own - 1, own + 1, -own, 0, WALL, -WALL, 1 << 62, -(1 << 62)} - {own}:
                yield {**proof, name: [*proof[name][:place], value, *proof[name][place + 1 :]]}
            for value in odd:
                yield {**proof, name: [*proof[name][:place], value, *proof[name][place + 1 :]]}
        yield {**proof, name: proof[name][:-1]}
        yield {**proof, name: [*proof[name], 0]}
    for number in range(1 << 8):
        states = [state for state in range(8) if number >> state & 1]
        if states != proof["dead"]:
            yield {**proof, "dead": states}
    yield from ({**proof, "dead": dead} for dead in ([7, 7], [8], [-1], [True], None, 7))
    yield {**proof, "more": 1}
    yield {name: value for name, value in proof.items() if name != "home"}
    yield from ({**proof, "rule": rule} for rule in ("enumeration", "automaton", "layers", None))


def test_changed_proofs_prove_nothing_false() -> None:
    """The network is right, so a changed proof may be another true one; about a wrong network none may be."""
    content, data = proved("dyck-float", 4)
    spoiled = next(each for each in steps_left_out(data) if not right_everywhere(each, 4))
    for proof in (content["proof"], *proof_changes(content["proof"])):
        assert not accepts(claimed(content, spoiled, proof=proof), spoiled)


def steps_left_out(data: bytes) -> Iterator[bytes]:
    """The network with one step of one bracket set to 0."""
    for name, (_, shape, numbers) in File(data).tensors.items():
        for place, entry in enumerate(numbers):
            if shape == [3, 5] and place >= 5 and entry:
                wrong = File(data)
                wrong.tensors[name][2][place] = 0
                yield wrong.to_bytes()


def test_proofs_that_say_too_much_are_refused() -> None:
    content, data = proved("dyck-float", 4)
    refused = 0
    for proof in proof_changes(content["proof"]):
        refused += not accepts({**content, "proof": proof}, data)
    total = sum(1 for _ in proof_changes(content["proof"]))
    # Larger weights of one coordinate can be a proof as well; nearly everything else is not.
    assert refused > 0.9 * total


def test_the_specification_must_be_the_networks() -> None:
    content, data = proved("dyck-float", 4)
    for depth, types in ((1, 2), (3, 2)):
        other = tasks()["dyck"].with_parameters(types=types, depth=depth).specification(4)
        assert not accepts({**content, "specification": json.loads(json.dumps(other))}, data)
    flipped = copy.deepcopy(content)
    flipped["specification"]["answer"]["answers"][3] ^= 1
    assert not accepts(flipped, data)


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1.0", "1e3", "-0.0"])
def test_numbers_that_are_not_whole_are_not_read(word: str) -> None:
    content, _ = proved("dyck-float", 2)
    shown = json.dumps(content).replace(str(WALL - 2), word)
    with pytest.raises(RefusedError):
        parse(shown, "the proof")


def test_the_last_net_runs_float32_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    content, data = proved("dyck-float", 4)
    monkeypatch.setattr("separatrix_kernel.checker.LAST_NET", 8)
    assert check(content, data).rule == "running-sums"
    monkeypatch.setattr(RunningClaim, "prove", lambda self, proof: "running-sums")
    flipped = copy.deepcopy(content)
    flipped["specification"]["answer"]["answers"] = [1 - each for each in content["specification"]["answer"]["answers"]]
    with pytest.raises(RefusedError):
        check(flipped, data)
