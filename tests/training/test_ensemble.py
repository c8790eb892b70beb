"""Training many runs at once is training each of them; data are a function of the seed; resuming changes nothing."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from separatrix.errors import SeparatrixError
from separatrix.models.architecture import architectures
from separatrix.tasks import Examples, Task, draws_from, tasks
from separatrix.training.batches import CHUNK_STEPS, Batch, DataSource, data_source, derived_seed, draw, positions_asked
from separatrix.training.cuda_graph import CapturedStep
from separatrix.training.ensemble import Ensemble
from separatrix.training.objective import losses, scores
from separatrix.training.spec import RunSpec
from tests.training.cases import CPU, TASK_LENGTHS, tiny

MIXED = tuple(
    tiny(learning_rate=rate, seed=seed, warmup=warmup, clip=clip, weight_decay=decay)
    for rate, seed, warmup, clip, decay in [
        (0.02, 0, 0, 0.0, 0.0),
        (0.01, 0, 5, 0.0, 0.1),
        (0.005, 1, 0, 0.5, 0.0),
        (0.01, 2, 3, 0.1, 0.01),
    ]
)


def weights_after(specs: tuple[RunSpec, ...], steps: int) -> torch.Tensor:
    ensemble = Ensemble(specs, CPU)
    ensemble.advance(steps)
    return ensemble.tensors()["weights"]


def state_of(ensemble: Ensemble) -> dict[str, torch.Tensor]:
    return {name: each.clone() for name, each in ensemble.tensors().items()}


def same_bits(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> bool:
    return all(torch.equal(first[name], second[name]) for name in first)


# -- members do not feel each other ----------------------------------------------------------------------


def narrow(short: str) -> str:
    return f"{short}-(1,16)" if short == "GDN" else f"{short}-(1,8)"


@pytest.mark.parametrize("name", architectures())
def test_an_ensemble_is_its_single_runs_in_every_architecture(name: str) -> None:
    """In float64 the weights after training agree to 1e-10 of the largest; observed are 1e-13 and less."""
    entry = architectures()[name]
    task = "directed-3-cycle" if entry.reads_graphs else "index-lookup"
    specs = tuple(
        tiny(task=task, architecture=narrow(entry.short), learning_rate=rate, seed=seed, precision="float64", length=5)
        for rate, seed in [(0.01, 0), (0.001, 0), (0.01, 1)]
    )
    together = weights_after(specs, 4)
    assert together.isfinite().all()
    for member, spec in enumerate(specs):
        alone = weights_after((spec,), 4)[0]
        assert (together[member] - alone).abs().max() <= 1e-10 * alone.abs().max()
    start = weights_after(specs, 0)
    assert all((together[member] != start[member]).any() for member in range(3)), "every member learns"


def test_warm_up_clipping_decay_and_seed_are_each_members_own() -> None:
    specs = tuple(spec.with_changes(precision="float64") for spec in MIXED)
    together = weights_after(specs, 20)
    for member, spec in enumerate(specs):
        torch.testing.assert_close(together[member], weights_after((spec,), 20)[0], rtol=1e-11, atol=1e-12)


def test_in_float32_single_and_batched_runs_agree_to_rounding() -> None:
    """After 20 steps of Adam to 1e-5; a batched product adds in another order than a single one."""
    together = weights_after(MIXED, 20)
    for member, spec in enumerate(MIXED):
        torch.testing.assert_close(together[member], weights_after((spec,), 20)[0], rtol=1e-5, atol=1e-5)


def test_in_company_of_any_size_a_transformer_computes_the_same_bits() -> None:
    """From two members on the products are batched alike; only a run that is alone is multiplied otherwise."""
    together = weights_after(MIXED, 20)
    assert torch.equal(together[1:3], weights_after(MIXED[1:3], 20))
    assert torch.equal(together[[3, 0]], weights_after((MIXED[3], MIXED[0]), 20))


def test_the_same_ensemble_gives_the_same_bits() -> None:
    assert torch.equal(weights_after(MIXED, 10), weights_after(MIXED, 10))


@cache
def states() -> list[dict[str, torch.Tensor]]:
    """The state of one uninterrupted ensemble after each step, over the end of a chunk of data."""
    ensemble, found = Ensemble(MIXED, CPU), list[dict[str, torch.Tensor]]()
    for _ in range(CHUNK_STEPS + 4):
        found.append(state_of(ensemble))
        ensemble.advance(1)
    return [*found, state_of(ensemble)]


@settings(max_examples=12, deadline=None)
@given(
    members=st.lists(st.integers(0, 3), min_size=1, max_size=4, unique=True),
    step=st.integers(0, CHUNK_STEPS + 2),
)
def test_who_stays_keeps_every_bit(members: list[int], step: int) -> None:
    ensemble = Ensemble(MIXED, CPU)
    ensemble.load(states()[step], step)
    ensemble.training_metrics()
    before = state_of(ensemble)
    ensemble.keep(members)
    after = state_of(ensemble)
    assert ensemble.specs == tuple(MIXED[member] for member in members)
    for name in ("weights", "first", "second"):
        assert torch.equal(after[name], before[name][members])
    ensemble.advance(2)
    rest = Ensemble(ensemble.specs, CPU)
    rest.load(after, step)
    rest.advance(2)
    assert same_bits(state_of(ensemble), state_of(rest))
    if len(members) > 1:
        assert torch.equal(state_of(ensemble)["weights"], states()[step + 2]["weights"][members])


@settings(max_examples=12, deadline=None)
@given(step=st.integers(0, CHUNK_STEPS + 3), steps=st.integers(1, 8))
def test_resuming_at_any_step_changes_no_bit(step: int, steps: int) -> None:
    end = min(step + steps, CHUNK_STEPS + 4)
    second = Ensemble(MIXED, CPU)
    second.load(states()[step], step)
    second.advance(end - step)
    assert second.step == end
    assert same_bits(states()[end], state_of(second))


def test_a_diverged_member_leaves_the_others_alone() -> None:
    specs = (tiny(), tiny(learning_rate=1e30), tiny(learning_rate=0.005))
    together = weights_after(specs, 20)
    assert not together[1].isfinite().all()
    assert torch.equal(together[[0, 2]], weights_after((specs[0], specs[2]), 20))


def test_metrics_are_means_since_the_last_reading() -> None:
    spec = tiny(precision="float64")
    ensemble = Ensemble([spec], CPU)
    data = ensemble.data.training_chunk([spec.seed], 0)
    expected, right = 0.0, 0
    for place in range(5):
        batch = data.part(place)
        with torch.no_grad():
            logits = ensemble.model(batch.inputs, read=batch.read, lengths=batch.lengths)[0, :, 0]
        expected += float(functional.cross_entropy(logits, batch.targets[0, :, 0]))
        right += int((logits.argmax(dim=-1) == batch.targets[0, :, 0]).sum())
        ensemble.advance(1)
    loss, accuracy = ensemble.training_metrics()
    assert loss[0] == pytest.approx(expected, rel=1e-12)
    assert accuracy[0] == right / 40
    assert ensemble.training_metrics() == ([0.0], [0.0])


@pytest.mark.parametrize(
    "changes", [{}, {"task": "dyck", "length": 8}, {"questions": 5, "final_rate": 0.0, "clip": 1.0}]
)
def test_the_step_that_a_gpu_captures_computes_what_an_eager_one_does(changes: dict[str, Any]) -> None:
    """Its batch is taken by a counter from buffers that are filled again; run here without a graph."""
    specs = [tiny(**changes), tiny(seed=1, **changes)]
    eager, captured = Ensemble(specs, CPU), Ensemble(specs, CPU)
    step = object.__new__(CapturedStep)
    step.ensemble, step.place = captured, torch.zeros(1, dtype=torch.int64)
    step.buffers = captured.data.training_chunk(captured.seeds, 5).mapped(torch.Tensor.clone)
    eager.advance(CHUNK_STEPS + 3)
    for chunk in range(2):
        step.load(captured.data.training_chunk(captured.seeds, chunk), 0)
        for _ in range(CHUNK_STEPS if chunk == 0 else 3):
            step._step()
    for ours, theirs in zip(captured.state_tensors(), eager.state_tensors(), strict=True):
        assert torch.equal(ours, theirs)


def test_half_precision_keeps_float32_weights() -> None:
    ensemble = Ensemble([tiny(precision="bfloat16")], CPU)
    before = state_of(ensemble)["weights"]
    ensemble.advance(3)
    after = state_of(ensemble)["weights"]
    assert after.dtype == torch.float32
    assert after.isfinite().all()
    assert not torch.equal(before, after)
    assert 0 <= ensemble.accuracy(50, "probe", 0)[0] <= 1


# -- data ------------------------------------------------------------------------------------------------


def test_data_are_a_function_of_seed_and_place() -> None:
    source = data_source(tasks()["dyck"], 8, 4, CPU)
    both, alone = source.training_chunk([5, 9], 3), source.training_chunk([9], 3)
    assert both.inputs.shape == (CHUNK_STEPS, 2, 4, source.task.positions(8))
    assert torch.equal(both.inputs[:, 1], alone.inputs[:, 0])
    assert torch.equal(both.targets[:, 1], alone.targets[:, 0])
    assert not torch.equal(alone.inputs, source.training_chunk([9], 4).inputs)
    assert not torch.equal(both.inputs[:, 0], both.inputs[:, 1])
    first, second = source.evaluation([5], 20, "probe", 0), source.evaluation([5], 20, "probe", 0)
    assert torch.equal(first.inputs, second.inputs)
    assert not torch.equal(first.inputs, source.evaluation([5], 20, "probe", 20).inputs)


def test_a_chunk_is_a_plain_sample_of_the_task() -> None:
    task = tasks()["index-lookup"]
    chunk = data_source(task, 7, 4, CPU).training_chunk([11], 2)
    plain = task.sample(draws_from(numpy.random.default_rng(derived_seed(11, "train", 2))), 4 * CHUNK_STEPS, 7, "train")
    assert numpy.array_equal(chunk.inputs.reshape(-1, task.positions(7)).numpy(), plain.inputs)
    assert chunk.lengths is not None
    wanted = plain.targets[plain.read]
    assert numpy.array_equal(chunk.targets.reshape(-1).numpy(), wanted)


def test_long_inputs_are_drawn_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part holds what may be drawn at once; the first is what it would be alone, and all have other examples."""
    task = tasks()["index-lookup"]
    source = data_source(task, 7, 4, CPU)
    assert source.parts(5000) == [5000]
    whole, ensemble = source.training_chunk([5, 9], 3), Ensemble([tiny(), tiny(seed=1)], CPU)
    at_once = ensemble.accuracy(50, "probe", 0)
    example, inputs = source.example_bytes
    assert (example, inputs) == (task.positions(7) * 17, task.positions(7) * 8)
    monkeypatch.setattr("separatrix.training.batches.LARGEST_DRAW", example * 4 * 10)
    assert source.parts(CHUNK_STEPS, 4) == [10, 10, 10, 2]
    parts = source.training_chunk([5, 9], 3)
    for one, other in zip(parts.tensors(), whole.tensors(), strict=True):
        assert (one is None) == (other is None)
        assert one is None or other is None or one.shape == other.shape
    plain = task.sample(draws_from(numpy.random.default_rng(derived_seed(9, "train", 3))), 40, 7, "train")
    assert numpy.array_equal(parts.inputs[:10, 1].reshape(40, -1).numpy(), plain.inputs)
    assert not torch.equal(parts.inputs[:10], parts.inputs[10:20])
    monkeypatch.setattr("separatrix.training.batches.LARGEST_DRAW", 1)
    monkeypatch.setattr("separatrix.training.ensemble.EVALUATION_POSITIONS", 1)
    singly = ensemble.accuracy(50, "probe", 0)
    assert len(singly) == len(at_once) and all(abs(each * 50 - round(each * 50)) < 1e-9 for each in singly)


def test_data_beyond_the_memory_of_the_machine_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("separatrix.training.batches.machine_bytes", lambda: 1 << 14)
    with pytest.raises(SeparatrixError, match=r"index-lookup at length 90 take 0\.0 GiB, and this machine has 0\.0"):
        data_source(tasks()["index-lookup"], 90, 64, CPU)
    data_source(tasks()["index-lookup"], 7, 4, CPU)
    monkeypatch.setattr("separatrix.training.batches.machine_bytes", lambda: None)
    data_source(tasks()["index-lookup"], 90, 64, CPU)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**63 - 1), st.sampled_from(["train", "probe", "evaluation"]), st.integers(0, 2**40))
def test_derived_seeds_are_seeds(seed: int, purpose: str, number: int) -> None:
    found = derived_seed(seed, purpose, number)
    assert 0 <= found < 2**63
    assert found == derived_seed(seed, purpose, number)
    assert found != derived_seed(seed, purpose, number + 1)


@pytest.mark.parametrize("name", tasks())
def test_how_often_examples_are_asked_is_true_of_real_samples(name: str) -> None:
    task = tasks()[name]
    for length in {TASK_LENGTHS.get(name, 8), task.minimum_length + task.minimum_length % task.length_step}:
        counts = numpy.concatenate(
            [task.sample(draws_from(7), 3000, length, split).read.sum(axis=1) for split in ("train", "eval")]
        )
        found = positions_asked(task, length)
        assert (found == 1) == bool((counts == 1).all())
        assert found == 0 or (counts.max() == found and (counts[3000:] == found).all())
        assert found in (0, 1) or 2 * found <= task.positions(length)


def test_an_example_that_is_asked_twice_is_not_cut_short() -> None:
    task = tasks()["eq-ncp"]
    for reads in (1, 3):
        with pytest.raises(SeparatrixError, match="eq-ncp asks some examples"):
            DataSource(task, 8, 4, CPU, reads=reads).training_chunk([0], 0)


def test_reading_what_is_asked_is_reading_everything() -> None:
    """The same losses, scores and derivatives, whether a model answers everywhere or where it is asked."""
    spec = tiny(task="eq-ncp", length=12, task_parameters={"vocabulary_size": 8}, architecture="TF-(2,8)")
    few, every = (Ensemble([spec.with_changes(precision="float64")], CPU) for _ in range(2))
    assert few.data.reads == 6
    every.data = replace(every.data, reads=0)
    for ensemble in (few, every):
        ensemble.advance(40)
    torch.testing.assert_close(few.sums, every.sums, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(few.flat.values, every.flat.values, rtol=1e-7, atol=1e-9)
    assert few.accuracy(100, "probe", 3) == every.accuracy(100, "probe", 3)


# -- loss and score --------------------------------------------------------------------------------------


def obvious(task: Task, length: int, outputs: numpy.ndarray, examples: Examples) -> tuple[float, int, int]:
    """Loss, right answers and questions by loops over examples and positions, with the task's own ``solve``."""
    terms: list[float] = []
    right, asked = 0, 0
    for number in range(len(examples)):
        verdicts: list[bool] = []
        for place, answer in enumerate(task.solve(task.trim(examples.inputs[number], length), length)):
            if answer is None:
                continue
            given_output = outputs[number, place]
            if task.classes(length):
                assert isinstance(answer, int)
                shifted = given_output - given_output.max()
                terms.append(float(numpy.log(numpy.exp(shifted).sum()) - shifted[answer]))
                verdicts.append(int(given_output.argmax()) == answer)
            else:
                wanted = numpy.array(answer) / task.answer_scale
                terms.append(float(((given_output - wanted) ** 2).mean()))
                verdicts.append(bool((numpy.round(given_output * task.answer_scale) == numpy.array(answer)).all()))
        if task.scoring == "every position of a string":
            verdicts = [all(verdicts)] if verdicts else []
        right, asked = right + sum(verdicts), asked + len(verdicts)
    return sum(terms) / len(terms), right, asked


def outputs_for(task: Task, length: int, examples: Examples, generator: numpy.random.Generator) -> numpy.ndarray:
    """Random outputs of which about half are right, so that a score of whole strings is not always 0."""
    targets = numpy.asarray(examples.targets)
    classes = task.classes(length)
    if not classes:
        noise = generator.normal(size=targets.shape) * generator.choice([0.01, 1.0], size=(*targets.shape[:1], 1, 1))
        return (targets + noise) / task.answer_scale
    outputs = generator.normal(size=(*targets.shape, classes))
    sure = generator.random((targets.shape[0], 1)) < 0.6
    outputs += 20 * sure[..., None] * numpy.eye(classes)[targets]
    return outputs


@pytest.mark.parametrize("name", tasks())
def test_loss_and_score_are_what_the_task_asks(name: str) -> None:
    task, length = tasks()[name], TASK_LENGTHS.get(name, 8)
    generator = numpy.random.default_rng(3)
    examples = task.sample(draws_from(5), 24, length, "train")
    outputs = outputs_for(task, length, examples, generator)
    expected = obvious(task, length, outputs, examples)
    assert expected[2] > 0
    source = data_source(task, length, 24, CPU)
    tensors = Examples(*(torch.from_numpy(numpy.asarray(each)) for each in vars(examples).values()))
    batch = source._arranged(tensors, 1)
    read_outputs = torch.from_numpy(outputs)
    if batch.read is not None:
        read_outputs = read_outputs[torch.arange(24)[:, None], batch.read[0]]
    two = torch.stack([read_outputs, read_outputs.flip(-1)])
    batch = Batch(*(None if each is None else each.expand(2, *each.shape[1:]) for each in batch.tensors()))  # type: ignore[arg-type]
    loss = losses(task, length, two, batch)
    right, asked = scores(task, length, two, batch)
    assert float(loss[0]) == pytest.approx(expected[0], rel=1e-9)
    assert (int(right[0]), int(asked[0])) == expected[1:]
    assert int(asked[1]) == expected[2]


def test_a_string_with_one_wrong_position_is_wrong() -> None:
    task = tasks()["eq-ncp"]
    examples = draw(task, 8, 10, 0, CPU, "eval")
    logits = functional.one_hot(examples.targets, task.classes(8)).double()[None]
    batch = DataSource(task, 8, 10, CPU, reads=0)._arranged(examples, 1)
    assert [int(each) for each in scores(task, 8, logits, batch)] == [10, 10]
    place = int(examples.read[4].nonzero()[0])
    logits[0, 4, place] = logits[0, 4, place].roll(1)
    assert [int(each) for each in scores(task, 8, logits, batch)] == [9, 10]
    unread = int((~examples.read[5]).nonzero()[0])
    logits[0, 5, unread] = logits[0, 5, unread].roll(1)
    assert [int(each) for each in scores(task, 8, logits, batch)] == [9, 10]


# -- the catalogs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", tasks())
def test_every_task_trains(name: str) -> None:
    length = TASK_LENGTHS.get(name, 8)
    changes: dict[str, Any] = {"task": name, "architecture": "TF-(1,16)", "length": length, "batch": 4}
    ensemble = Ensemble([tiny(**changes), tiny(seed=1, **changes)], CPU)
    before = state_of(ensemble)["weights"]
    ensemble.advance(3)
    loss, accuracy = ensemble.training_metrics()
    after = state_of(ensemble)["weights"]
    assert all(numpy.isfinite(each) and each > 0 for each in loss)
    assert all(0 <= each <= 1 for each in [*accuracy, *ensemble.accuracy(20, "probe", 3)])
    assert after.isfinite().all()
    assert (before[0] != after[0]).any()


@pytest.mark.parametrize("left_by_an_earlier_one", [3, 2])
def test_every_test_has_one_thread(left_by_an_earlier_one):
    assert torch.get_num_threads() == 1
    torch.set_num_threads(left_by_an_earlier_one)
