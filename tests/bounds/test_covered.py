"""The gate of every verdict: what a simulation needs of the arithmetic, held against what an arithmetic offers."""

import pytest

from separatrix.bounds import (
    NUMBERS,
    ModelSize,
    ProtocolBound,
    Simulation,
    agreed_bits,
    bounds,
    covered,
    floating,
    numbers_named,
    protocol_bounds,
)
from separatrix.communication.partition import of_positions
from separatrix.communication.reductions import Reduction, reductions
from separatrix.errors import SeparatrixError
from separatrix.tasks import Task, tasks

FLOATS = tuple(name for name, numbers in NUMBERS.items() if not numbers.exact_sums)


def _reductions(bound: ProtocolBound) -> list[Reduction]:
    """The reduction of a bound with its other versions, as far as they hold."""
    for kept in reductions().values():
        known = (kept, *kept.variants)
        if bound.reduction in [each.name for each in known]:
            return [each for each in known if not each.fails]
    return []


def _used(bound: ProtocolBound, task: Task) -> list[Reduction]:
    """The versions that end in a task; the one that the bound names where that is among them."""
    found = [each for each in _reductions(bound) if each.task(each.smallest).name == task.name]
    named = [each for each in found if each.name == bound.reduction]
    return named or found


@pytest.mark.parametrize("bound", protocol_bounds(), ids=lambda bound: bound.name)
def test_a_bound_for_prefixes_has_a_reduction_with_a_prefix(bound: ProtocolBound) -> None:
    for name in bound.task_names:
        if not (bound.prefix(tasks()[name]) or bound.simulation.needs.prefix):
            continue
        for reduction in _used(bound, tasks()[name]):
            for size in range(reduction.smallest, reduction.smallest + 4):
                held, rest = reduction.positions(size)
                assert of_positions(len(held) + len(rest), held).is_cut


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("bound", protocol_bounds(), ids=lambda bound: bound.name)
def test_a_verdict_needs_no_more_than_the_arithmetic_offers(bound: ProtocolBound, name: str) -> None:
    numbers = NUMBERS[name]
    for task in map(tasks().__getitem__, bound.task_names):
        found = covered(bound, numbers, task)
        needs = found.bound.simulation.needs
        if not found.covered:
            assert found.reason
            continue
        assert numbers.fixed_bits or not needs.fixed_bits
        assert numbers.exact_sums or not needs.exact_sums
        assert not needs.prefix or bound.prefix(task) or bound.simulation.needs.prefix
        assert found.arithmetic


@pytest.mark.parametrize("name", FLOATS)
def test_no_verdict_on_dyck_in_one_layer_of_floats(name: str) -> None:
    for bound in ("dyck-transformer-1layer", "first-layer-fnn"):
        assert not covered(bounds()[bound], NUMBERS[name], tasks()["dyck"]).covered  # type: ignore[arg-type]


def test_named_positions_of_equality_are_no_prefix() -> None:
    scattered = tasks()["equality"].with_parameters(alice="1,3,5,7")
    bound = bounds()["inequality-transformer-1layer"]
    assert isinstance(bound, ProtocolBound)
    assert not covered(bound, floating(32), scattered).covered
    assert covered(bound, NUMBERS["fixed"], scattered).covered


def test_the_bits_of_running_sums_are_those_counted_by_hand() -> None:
    for task in ("equality", "disjointness", "match3"):
        [bound] = protocol_bounds(task, "transformer-1layer")
        found = covered(bound, floating(16), tasks()[task])
        setting = bound.setting_at(64, tasks()[task])
        size = ModelSize(width=4, precision=16, heads=3)
        # Two maxima, the sum of exponentials there and back, four sums, all of 32 bits, in each head: fused kernels
        # keep logits in the format of their sums.
        assert found.bound.available_bits(64, size, tasks()[task]) == setting.query_bits + 3 * (2 + 2 + 4) * 32


def test_names_of_arithmetics_say_their_bits_or_are_refused() -> None:
    assert [numbers_named(name).bits for name in ("float64", "fixed", "fixed:down", "fixed:N=64,Kc=2,down")] == [
        64, None, None, 26,
    ]  # fmt: skip
    for name in ("float32:backwards", "fixed:up", "balls:128", "fixed:N=64", "exact:1", ""):
        with pytest.raises(SeparatrixError):
            numbers_named(name)
    assert agreed_bits(numbers_named("bfloat16"), 16) == 16
    with pytest.raises(SeparatrixError, match="do not go together"):
        agreed_bits(numbers_named("bfloat16"), 32)


def test_a_simulation_that_says_nothing_needs_everything() -> None:
    assert Simulation.needs.exact_sums
    assert Simulation.needs.fixed_bits
