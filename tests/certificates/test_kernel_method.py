"""The kernel as a method: right networks are proved at any length, planted faults give an input that fails."""

from dataclasses import replace
from typing import Any

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.arithmetic import Floating
from separatrix.certificates import Claim, check, replay
from separatrix.certificates.certificate import check_certificate, write_certificate
from separatrix.certificates.refutations import _strings
from separatrix.constructions import Options, constructions
from separatrix.networks import ExactMatrix, PowerSums, Readout, RecurrentNetwork, ReluMap, exact
from separatrix.tasks import tasks
from tests.certificates import changes
from tests.certificates.changes import changed

VARIANTS = [("dyck-dfa", "repaired"), ("dyck-dfa", "one-hot"), ("dyck-rnn", "repaired"), ("dyck-rnn", "two-maps")]
EVERY_VARIANT = pytest.mark.parametrize(("name", "variant"), VARIANTS)


def build(
    name: str, length: int, types: int = 2, depth: int = 2, variant: str = "repaired"
) -> tuple[RecurrentNetwork, Claim]:
    options = Options(variant=variant, parameters={"types": types, "depth": depth})
    built = constructions()[name].build(length, options)
    assert isinstance(built.network, RecurrentNetwork)
    return built.network, Claim(built.task, length, built.arithmetic)


def assert_refuted(network: RecurrentNetwork, claim: Claim) -> tuple[Any, ...]:
    verdict = check(network, claim)
    assert verdict.method == "kernel"
    assert verdict.refuted, verdict.reason
    assert verdict.counterexample is not None
    assert len(verdict.counterexample) == claim.length
    assert not replay(network, claim, numpy.array(verdict.counterexample))["right"]
    return verdict.counterexample


def with_map(network: RecurrentNetwork, number: int, **fields: Any) -> RecurrentNetwork:
    cell = list(network.cell)
    cell[number] = replace(cell[number], **fields)
    return replace(network, cell=tuple(cell))


@EVERY_VARIANT
@pytest.mark.parametrize(("types", "depth"), [(1, 1), (2, 3), (3, 2)])
def test_right_networks_are_proved_at_every_length(name, variant, types, depth):
    for length in (2, 4, 400):
        verdict = check(*build(name, length, types, depth, variant))
        assert verdict.valid, verdict.reason
        assert (verdict.method, verdict.trust) == ("kernel", "kernel")
        assert verdict.inputs_covered == f"{2 * types}^{length}"


@EVERY_VARIANT
def test_enumeration_agrees(name, variant):
    network, claim = build(name, 6, 2, 2, variant)
    verdict = check(network, claim, "enumeration")
    assert verdict.valid
    assert verdict.inputs_covered == str(4**6)


@EVERY_VARIANT
@pytest.mark.parametrize(("built", "claimed"), [(1, 2), (2, 3), (3, 2), (4, 3)])
def test_another_depth_than_claimed(name, variant, built, claimed):
    network, _ = build(name, 400, 2, built, variant)
    _, claim = build(name, 400, 2, claimed, variant)
    wrong = assert_refuted(network, claim)
    assert claim.task.solve(list(wrong), 400)[-1] == int(built < claimed)


@pytest.mark.parametrize("variant", ["repaired", "one-hot"])
def test_every_redirected_transition_is_refuted(variant):
    """Each unit of the automaton's cell writes the code of one following state; another code is another automaton."""
    network, claim = build("dyck-dfa", 400, 2, 2, variant)
    outer = network.cell[1].weights.numerators
    for unit in range(outer.shape[1]):
        numerators = outer.copy()
        numerators[:, unit] = numpy.roll(outer[:, unit], 1)
        if (numerators == outer).all():
            continue
        assert_refuted(with_map(network, 1, weights=ExactMatrix(numerators)), claim)


@EVERY_VARIANT
def test_no_input_can_be_wrong_where_bad_pairs_need_another_length(name, variant):
    """Odd strings only: accepting everything of odd length is no fault at an even length."""
    network, claim = build(name, 6, 2, 2, variant)
    parity = _with_parity_accepted(network)
    found = _strings.pairs_of(parity, claim, claim.task.specification(6)["answer"])
    assert found is not None
    assert found[1].any()
    assert list(_strings.wrong_string(parity, claim)) == []
    assert check(parity, claim, "kernel").valid
    assert check(parity, claim, "enumeration").valid


def _with_parity_accepted(network: RecurrentNetwork) -> RecurrentNetwork:
    """The same network with one more coordinate that alternates 0, 1, 0, 1 and makes the readout large when 1."""
    first, *rest = network.cell
    width = network.width

    def wider(matrix: ExactMatrix, row: list[int], column: int) -> ExactMatrix:
        placed = numpy.insert(matrix.numerators, column, 0, axis=1)
        return ExactMatrix(numpy.concatenate([placed, numpy.array([row])]))

    embedding = network.embedding.shape[1]
    # ReLU(1 - parity), passed on by further maps.
    cell = [
        ReluMap(
            wider(first.weights, [0] * width + [-1] + [0] * embedding, width),
            ExactMatrix(numpy.concatenate([first.bias.numerators, [[1]]])),
        )
    ]
    for each in rest:
        inputs = each.weights.shape[1]
        cell.append(
            ReluMap(
                wider(each.weights, [0] * inputs + [1], inputs),
                ExactMatrix(numpy.concatenate([each.bias.numerators, [[0]]])),
            )
        )
    initial = ExactMatrix(numpy.concatenate([network.initial.numerators, [[0]]]))
    matrix = ExactMatrix(numpy.concatenate([network.readout.matrix.numerators, [[9]]], axis=1))
    return replace(network, initial=initial, cell=tuple(cell), readout=replace(network.readout, matrix=matrix))


@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_a_single_change_is_judged_as_enumeration_judges_it(data):
    """The method decides: valid and refuted are exactly what trying all strings finds."""
    name, variant = data.draw(st.sampled_from(VARIANTS))
    network, claim = build(name, data.draw(st.sampled_from([2, 4, 6])), 2, 2, variant)
    broken = mutated(network, data)
    verdict, truth = check(broken, claim, "kernel"), check(broken, claim, "enumeration")
    assert (verdict.valid, verdict.refuted) == (truth.valid, truth.refuted)


def mutated(network: RecurrentNetwork, data: st.DataObject) -> RecurrentNetwork:
    """One changed number anywhere in the network."""
    by = data.draw(st.sampled_from([-2, -1, 1, 3]))

    def somewhere(matrix: ExactMatrix) -> ExactMatrix:
        row, column = (data.draw(st.integers(0, size - 1)) for size in matrix.shape)
        return changed(matrix, row, column, by)

    kind = data.draw(st.sampled_from(["weights", "bias", "embedding", "initial", "readout", "threshold"]))
    if kind in ("embedding", "initial"):
        return replace(network, **{kind: somewhere(getattr(network, kind))})
    if kind == "readout":
        return replace(network, readout=replace(network.readout, matrix=somewhere(network.readout.matrix)))
    if kind == "threshold":
        return replace(network, readout=replace(network.readout, bias=somewhere(network.readout.bias)))
    number = data.draw(st.integers(0, len(network.cell) - 1))
    return with_map(network, number, **{kind: somewhere(getattr(network.cell[number], kind))})


def test_one_moved_bias_of_the_cell_at_length_400():
    network, claim = build("dyck-rnn", 400)
    refuted = 0
    for row in range(network.width):
        for by in (-1, 1):
            verdict = check(with_map(network, 0, bias=changed(network.cell[0].bias, row, 0, by)), claim, "kernel")
            assert verdict.valid or verdict.refuted
            refuted += verdict.refuted
    assert refuted == 2 * network.width, "no bias is superfluous"


def doubling(length: int) -> RecurrentNetwork:
    """h ← 2h + token: as many states as strings, until the range ends."""
    return RecurrentNetwork(
        4,
        length,
        exact([[0], [1], [2], [3]]),
        exact([[1]]),
        (ReluMap(exact([[2, 1]]), exact([[0]])),),
        Readout(exact([[0]]), exact([[0]]), "bits"),
    )


def test_a_search_gives_up_where_there_are_too_many_pairs_or_the_string_is_too_long(monkeypatch):
    _, claim = build("dyck-rnn", 4)
    assert len(list(_strings.wrong_string(doubling(4), claim))) == 1
    for name, most in (("MOST_PAIRS", 3), ("MOST_HISTORY", 3)):
        with monkeypatch.context() as patched:
            patched.setattr(_strings, name, most)
            assert list(_strings.wrong_string(doubling(4), claim)) == []
    for task in (claim.task.with_parameters(types=100, depth=9), tasks()["equality"]):
        assert list(_strings.wrong_string(doubling(4), replace(claim, task=task))) == []


def test_what_the_method_does_not_cover():
    network, claim = build("dyck-rnn", 10)
    floats = check(network, replace(claim, arithmetic=Floating("float64")), "kernel")
    assert not floats.valid
    assert "no prover" in floats.reason
    for other in (build("dyck-rnn", 12)[1], replace(claim, task=claim.task.with_parameters(types=100, depth=9))):
        verdict = check(network, other, "kernel")
        assert (verdict.valid, verdict.refuted) == (False, False)
    last = constructions()["match3-last"].build(4)
    verdict = check(last.network, Claim(last.task.with_parameters(exclude_query=False), 4, last.arithmetic), "kernel")
    assert not verdict.valid
    assert "states no specification" in verdict.reason


@EVERY_VARIANT
def test_certificates_of_recurrent_networks(name, variant, tmp_path):
    network, claim = build(name, 400, 2, 2, variant)
    write_certificate(network, claim, check(network, claim), tmp_path, {"construction": name})
    found = check_certificate(tmp_path)
    assert found.verdict.valid
    assert found.network == network
    path = tmp_path / "network.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    assert not check_certificate(tmp_path).verdict.valid


# -- power sums ---------------------------------------------------------------------------------------------------

HEADS = [(4, {"modulus": 6}), (5, {"modulus": 16}), (12, {})]


@pytest.mark.parametrize(("length", "parameters", "covered"), [(32, {}, "1024^32"), (60, {"modulus": 50}, "50^60")])
def test_power_sums_of_large_sizes_are_certified(length, parameters, covered):
    verdict = check(*changes.build("match3-heads", length, parameters))
    assert (verdict.valid, verdict.method, verdict.inputs_covered) == (True, "kernel", covered)


@pytest.mark.parametrize(("length", "parameters"), HEADS)
def test_planted_faults_of_power_sums_are_refuted(length, parameters):
    network, claim = changes.build("match3-heads", length, parameters)
    part = next(part for part in network.embedding if part.slot == "powers")
    table: Any = part.rule
    wrong = changes.entry(table.table, 2, 1, int(table.table.numerators[2, 1]) + 1)
    changes.assert_refuted(changes.with_part(network, "powers", rule=replace(table, table=wrong)), claim, "kernel")
    matrix = changes.entry(network.readout.matrix, 1, network.slots.columns("sums").start, length)
    changes.assert_refuted(replace(network, readout=replace(network.readout, matrix=matrix)), claim, "kernel")
    sums = network.readout.power_sums
    assert sums is not None
    readout = replace(network.readout, power_sums=PowerSums(sums.modulus - 1, sums.prime))
    changes.assert_refuted(replace(network, readout=readout), claim, "kernel")
    layer: Any = network.layers[0]
    masked = changes.with_layer(network, 0, heads=tuple(replace(head, mask="causal") for head in layer.heads))
    changes.assert_refuted(masked, claim, "kernel")


@pytest.mark.parametrize(("length", "modulus"), [(20, 13), (30, 7), (16, 8)])
def test_too_few_digits_for_the_sums(length, modulus):
    """N^3 leaves a remainder of N when divided by N + 1, N^4 one of 1."""
    changes.assert_refuted(*changes.build("match3-heads", length, {"modulus": modulus}, exponent=3), "kernel")
    assert check(*changes.build("match3-heads", length, {"modulus": modulus}, exponent=4)).valid


# -- graphs -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scoring", ["softmax", "hard", "leftmost", "linear", "relu"])
def test_units_on_graphs_are_certified_with_any_attention_and_refuted_without_a_match(scoring):
    network, claim = changes.build("directed-3-cycle", 3)
    network = changes.with_head(network, 0, scoring=scoring)
    assert check(network, claim, "kernel").valid
    assert check(network, claim, "enumeration").valid
    layer: Any = network.layers[0]
    blind = changes.with_head(network, 0, scores=changed(layer.heads[0].scores, 0, 7, -99))
    changes.assert_refuted(blind, claim, "kernel")
    dumb = changes.with_layer(network, 0, heads=())
    changes.assert_refuted(dumb, claim, "kernel")
