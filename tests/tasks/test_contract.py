"""The contract of a task, held over the whole catalog: a new task is tested by existing."""

import json
import random

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix.errors import SeparatrixError
from separatrix.tasks import Draws, Examples, Task, draws_from
from tests.tasks.cases import default_lengths, every_task, identify, small_cases

EVERY_TASK = pytest.mark.parametrize("name", list(every_task()))
SAMPLED_LENGTHS = (12, 36)


def solved(task: Task, row: object, length: int) -> list[object]:
    return [tuple(a) if isinstance(a, list | tuple) else a for a in task.solve(row, length)]  # type: ignore[arg-type]


def assert_labels_are_solutions(task: Task, examples: Examples, length: int, most: int) -> None:
    count = len(examples)
    rows = range(count) if count <= most else random.Random(count).sample(range(count), most)
    for row in rows:
        plain = task.trim(examples.inputs[row], length)
        assert task.answers(examples, row, length) == solved(task, plain, length), plain
        assert not examples.read[row][len(plain) :].any(), "padding is never read"


def recorded(seed: int) -> tuple[Draws, list[numpy.ndarray]]:
    """A stream that remembers what it gave."""
    generator = numpy.random.default_rng(seed)
    log: list[numpy.ndarray] = []

    def random_numbers(shape: tuple[int, ...]) -> numpy.ndarray:
        log.append(generator.random(shape))
        return log[-1]

    return Draws(random_numbers), log


def replayed_on_torch(log: list[numpy.ndarray]) -> Draws:
    """The same numbers again, as torch tensors."""
    remaining = iter(log)

    def random_numbers(shape: tuple[int, ...]) -> torch.Tensor:
        values = next(remaining)
        assert values.shape == tuple(shape), "both libraries ask for the same draws"
        return torch.from_numpy(values.copy())

    return Draws(random_numbers)


def valid_length(task: Task, length: int) -> int:
    length = max(length, default_lengths(task)[0])
    return length - length % task.length_step


@pytest.mark.parametrize(("task", "length"), small_cases(), ids=identify)
def test_labels_equal_solve_on_all_inputs(task: Task, length: int) -> None:
    seen = 0
    for examples in task.enumerate(length, chunk=5000):
        assert_labels_are_solutions(task, examples, length, most=1500)
        seen += len(examples)
    assert 0 < seen <= task.count(length)


@pytest.mark.parametrize(("task", "length"), small_cases(), ids=identify)
def test_enumeration_has_no_repeats_and_the_right_count(task: Task, length: int) -> None:
    if task.count(length) > 70_000:
        length = default_lengths(task)[0]
    inputs = numpy.concatenate([examples.inputs for examples in task.enumerate(length, chunk=777)])
    rows = inputs.reshape(len(inputs), -1)
    assert len(numpy.unique(rows, axis=0)) == len(rows)
    values = task.space(length).chunk(0, task.count(length))
    admitted = int(numpy.asarray(task.admissible(task.assemble(values, length), length)).sum())
    assert len(rows) == admitted


@EVERY_TASK
@pytest.mark.parametrize("split", ["train", "eval"])
@pytest.mark.parametrize("length", SAMPLED_LENGTHS)
def test_labels_equal_solve_on_samples(name: str, split: str, length: int) -> None:
    task = every_task()[name]
    length = valid_length(task, length)
    examples = task.sample(draws_from(11), 60, length, split)  # type: ignore[arg-type]
    assert_labels_are_solutions(task, examples, length, most=60)
    assert bool(examples.read.any(axis=1).all()), "every example is asked something"


@EVERY_TASK
@settings(max_examples=12)
@given(seed=st.integers(0, 2**32), size=st.integers(1, 40), split=st.sampled_from(["train", "eval"]))
def test_fresh_samples_agree_with_solve_and_round_trip(name: str, seed: int, size: int, split: str) -> None:
    task = every_task()[name]
    length = valid_length(task, size + 2)
    examples = task.sample(draws_from(seed), 5, length, split)  # type: ignore[arg-type]
    assert_labels_are_solutions(task, examples, length, most=5)
    vocabulary = task.vocabulary(length)
    for row in range(5):
        plain = task.trim(examples.inputs[row], length)
        assert list(task.read(task.write(plain, length), length)) == list(plain)
        if not task.features(length):
            assert all(0 <= token < vocabulary.size for token in plain)


@EVERY_TASK
@pytest.mark.parametrize("split", ["train", "eval"])
def test_numpy_and_torch_give_the_same_examples_from_the_same_numbers(name: str, split: str) -> None:
    task = every_task()[name]
    length = valid_length(task, 20)
    stream, log = recorded(3)
    first = task.sample(stream, 40, length, split)  # type: ignore[arg-type]
    second = task.sample(replayed_on_torch(log), 40, length, split)  # type: ignore[arg-type]
    assert isinstance(second.inputs, torch.Tensor)
    assert second.inputs.dtype == torch.int64
    assert second.targets.dtype == torch.int64
    if task.parameters().get("points") != "sphere":
        numpy.testing.assert_array_equal(first.inputs, second.inputs.numpy())
        numpy.testing.assert_array_equal(first.targets, second.targets.numpy())
    else:
        # Coordinates go through cos and log, which may differ in the last bit before rounding to the grid.
        assert int(numpy.abs(first.inputs - second.inputs.numpy()).max()) <= 1
    numpy.testing.assert_array_equal(first.read, second.read.numpy())


@EVERY_TASK
def test_same_seed_same_examples_other_seed_others(name: str) -> None:
    task = every_task()[name]
    length = valid_length(task, 24)
    one, two, other = (task.sample(draws_from(seed), 20, length).inputs for seed in (5, 5, 6))
    numpy.testing.assert_array_equal(one, two)
    assert (one != other).any()


@EVERY_TASK
def test_a_torch_generator_works_and_repeats(name: str) -> None:
    task = every_task()[name]
    length = valid_length(task, 16)
    one, two = (task.sample(draws_from(torch.Generator().manual_seed(9)), 8, length, "train") for _ in range(2))
    assert torch.equal(one.inputs, two.inputs)
    assert torch.equal(one.targets, two.targets)


@EVERY_TASK
def test_shapes_and_ranges(name: str) -> None:
    task = every_task()[name]
    length = valid_length(task, 18)
    examples = task.sample(draws_from(1), 30, length)
    features = task.features(length)
    expected = (30, task.positions(length)) + ((features,) if features else ())
    assert examples.inputs.shape == expected
    assert examples.inputs.dtype == numpy.int64
    assert examples.read.dtype == bool
    if task.classes(length):
        asked = examples.targets[examples.read]
        assert asked.min() >= 0
        assert asked.max() < task.classes(length)
        assert not examples.targets[~examples.read].any(), "targets are zero where nothing is read"


@EVERY_TASK
def test_no_answer_is_always_right(name: str) -> None:
    task = every_task()[name]
    length = valid_length(task, 20)
    examples = task.sample(draws_from(2), 400, length)
    asked = examples.targets[examples.read].reshape(-1)
    _, counts = numpy.unique(asked, return_counts=True)
    assert counts.max() / counts.sum() < 0.85, "a constant answer must not solve the task"


@EVERY_TASK
def test_zero_and_one_example(name: str) -> None:
    task = every_task()[name]
    length = valid_length(task, 10)
    assert len(task.sample(draws_from(0), 0, length)) == 0
    assert len(task.sample(draws_from(0), 1, length)) == 1


@EVERY_TASK
def test_split_covers_every_position_once(name: str) -> None:
    task = every_task()[name]
    length = valid_length(task, 13)
    split = task.communication(length)
    assert sorted(split.alice + split.bob) == list(range(task.positions(length)))
    assert split.problem
    assert split.note


@EVERY_TASK
def test_described_for_people_and_machines(name: str) -> None:
    task = every_task()[name]
    length = valid_length(task, 8)
    row = task.trim(task.sample(draws_from(0), 1, length).inputs[0], length)
    assert task.picture(row, length).strip()
    assert json.loads(json.dumps(task.describe(length)))["name"] == name
    for text in (
        task.title,
        task.source,
        task.question,
        task.layout(length),
        task.vocabulary(length).in_words(),
    ):
        assert text.strip()


@EVERY_TASK
def test_bad_lengths_and_parameters_end_in_one_line(name: str) -> None:
    task = every_task()[name]
    bad = [-1, 0, task.maximum_length + task.length_step]
    bad += [task.minimum_length + 1] if task.length_step > 1 else []
    for length in bad:
        with pytest.raises(SeparatrixError, match=str(length)) as caught:
            task.sample(draws_from(0), 1, length)
        assert "\n" not in str(caught.value)
    with pytest.raises(SeparatrixError, match="no-such"):
        task.with_parameters(**{"no-such": 1})
    with pytest.raises(SeparatrixError, match="-3"):
        task.sample(draws_from(0), -3, valid_length(task, 10))
