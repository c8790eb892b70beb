"""The contract of a construction, held over the whole catalog: a new theorem is tested by existing."""

import numpy
import pytest

from separatrix.certificates import Claim, check
from separatrix.constructions import Options, claimed_width, constructions
from separatrix.errors import SeparatrixError
from separatrix.networks import evaluate
from separatrix.networks.store import from_bytes, to_bytes
from separatrix.tasks import draws_from, tasks

EVERY = pytest.mark.parametrize("name", list(constructions()))


def small_length(name: str) -> int:
    """A small length that both the construction and its task have."""
    construction = constructions()[name]
    for length in range(max(4, construction.minimum_length), 40):
        try:
            construction.build(length)
        except SeparatrixError:
            continue
        return length
    raise AssertionError(f"{name} builds at no length below 40")


@EVERY
def test_every_construction_is_certified_by_default(name):
    length = small_length(name)
    built = constructions()[name].build(length)
    verdict = check(built.network, Claim(built.task, built.length, built.arithmetic))
    assert verdict.valid, verdict.reason
    assert verdict.inputs_covered not in ("", "0")
    claimed = claimed_width(constructions()[name], built)
    assert claimed is None or built.network.width <= claimed


@EVERY
def test_random_samples_are_answered_as_solve_says(name):
    for length in (small_length(name), 2 * small_length(name)):
        built = constructions()[name].build(length)
        examples = built.task.sample(draws_from(5), 40, length)
        answers = evaluate(built.network, examples.inputs, built.arithmetic).answers
        if built.network.readout.at == "last":
            numpy.testing.assert_array_equal(answers[:, 0], examples.targets[:, -1])
        else:
            numpy.testing.assert_array_equal(answers[examples.read], examples.targets[examples.read])


@EVERY
def test_building_and_storing_repeat_to_the_byte(name):
    length = small_length(name)
    first, second = (to_bytes(constructions()[name].build(length).network) for _ in range(2))
    assert first == second
    assert to_bytes(from_bytes(first, "stored")) == first


@EVERY
def test_described_for_people(name):
    construction = constructions()[name]
    assert construction.name == name
    for text in (construction.title, construction.theorem, construction.statement, construction.task_name):
        assert text.strip()
    assert "repaired" in construction.variants


@EVERY
def test_bad_lengths_and_variants_end_in_one_line(name):
    construction = constructions()[name]
    for length in (-1, 0, construction.minimum_length - 1):
        with pytest.raises(SeparatrixError) as caught:
            construction.build(length)
        assert "\n" not in str(caught.value)
    with pytest.raises(SeparatrixError, match="no-such-variant"):
        construction.build(small_length(name), Options(variant="no-such-variant"))


NEAR = {"equal": "unequal", "sphere": "hypercube", "1/10": "1/3"}


def other_values(value):
    """Values near a parameter's own one."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value - 1, value + 1, 2 * value + 1]
    return [2, 5] if value is None else [NEAR[value]] if value in NEAR else []


@EVERY
def test_other_parameters_are_certified_or_refused(name):
    """A parameter outside a theorem's domain ends in one line; it never gives a network that is wrong."""
    construction = constructions()[name]
    for parameter, value in tasks()[construction.task_name].parameters().items():
        for other in other_values(value):
            for length in {construction.minimum_length, 4, 6}:
                try:
                    built = construction.build(length, Options(parameters={parameter: other}))
                except SeparatrixError as refusal:
                    assert len(str(refusal).splitlines()) == 1
                    continue
                verdict = check(built.network, Claim(built.task, length, built.arithmetic))
                assert verdict.valid, f"{parameter}={other}, length {length}: {verdict.reason}"
