"""Recipes: their fields, what a run is called by, and many questions to one text in training."""

import json
from pathlib import Path

import numpy
import pytest
import torch

from separatrix.errors import SeparatrixError
from separatrix.tasks import draws_from, tasks
from separatrix.tasks.draws import Draws
from separatrix.training.batches import CHUNK_STEPS, DataSource, data_source
from separatrix.training.ensemble import Ensemble
from separatrix.training.objective import losses
from separatrix.training.recipes import RECIPES, recipe_fields
from separatrix.training.records import Records
from separatrix.training.spec import RunSpec
from separatrix.training.sweep import Sweep
from tests.cli.conftest import call  # noqa: F401 - the fixture
from tests.tasks.cases import every_task
from tests.training.cases import CPU, TASK_LENGTHS, tiny

ROOT = Path(__file__).parents[2]
PADDED = sorted(name for name, task in every_task().items() if task.padding(task.minimum_length) is not None)
ASKING = sorted(name for name, task in tasks().items() if task.asks_last)


# -- tasks -----------------------------------------------------------------------------------------------


def test_which_tasks_end_in_a_question():
    assert ASKING == ["associative-recall", "index", "index-lookup"]


@pytest.mark.parametrize("name", ASKING)
@pytest.mark.parametrize("split", ["train", "eval"])
def test_questions_are_answered_as_the_task_answers_them(name, split):
    task, length = tasks()[name], 12
    drawn = task.sample(draws_from(3), 40, length, split)
    cells, answers = task.ask(draws_from(4), drawn.inputs, 5, length)
    assert cells.shape == answers.shape == (40, 5) and answers.dtype == drawn.targets.dtype
    for row in range(40):
        own = task.trim(drawn.inputs[row], length)
        assert task.answers(drawn, row, length)[-1] is not None, "the question is the last cell"
        for cell, answer in zip(cells[row].tolist(), answers[row].tolist(), strict=True):
            assert task.solve([*own[:-1], cell], length)[-1] == answer
    uniform = numpy.random.default_rng(4)
    same = Draws(lambda shape: torch.from_numpy(uniform.random(shape)))
    for ours, theirs in zip(task.ask(same, torch.from_numpy(drawn.inputs), 5, length), (cells, answers), strict=True):
        assert ours.tolist() == theirs.tolist(), "on torch as on numpy"
    asked = {cell for row in cells.tolist() for cell in row}
    assert len(asked) > length / 2, "questions are drawn over the whole text"


@pytest.mark.parametrize("name", sorted(set(TASK_LENGTHS) - set(ASKING)))
def test_others_refuse_to_be_asked_again(name):
    with pytest.raises(SeparatrixError, match="questions"):
        tasks()[name].ask(draws_from(0), None, 2, TASK_LENGTHS[name])
    with pytest.raises(SeparatrixError, match="questions"):
        tiny(task=name, length=TASK_LENGTHS[name], questions=2)


# -- training --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["TF-(1,8)", "LSTM-(1,8)", "Mamba-(1,8)", "CNN-(1,8)"])
def test_a_step_with_many_questions_is_one_on_as_many_copies_of_the_text(name):
    """The slow oracle: each question with a text of its own, in one loss."""
    spec = tiny(architecture=name, length=14, precision="float64", questions=3)
    ensemble, plain = (Ensemble((spec, spec.with_changes(seed=1)), CPU) for _ in range(2))
    batch = ensemble.for_members(ensemble.data.training_chunk(ensemble.seeds, 0).part(0))
    ensemble.train_on(batch)
    assert batch.questions is not None and batch.read is not None and batch.lengths is not None
    found = torch.zeros(2, dtype=torch.float64)
    for number in range(3):
        own = batch.inputs.scatter(2, batch.read, batch.questions[:, :, number : number + 1])
        outputs = plain.model(own, read=batch.read, lengths=batch.lengths)
        one = type(batch)(own, batch.targets[..., number : number + 1], batch.asked[..., :1], batch.read, batch.lengths)
        found = found + losses(plain.task, plain.length, outputs, one) / 3
    torch.autograd.backward(found.sum(), inputs=plain.flat.parameters)
    plain.adam.update()
    torch.testing.assert_close(ensemble.sums[0], found.detach(), rtol=1e-12, atol=0.0)
    torch.testing.assert_close(ensemble.flat.values, plain.flat.values, rtol=1e-9, atol=1e-12)
    assert ensemble.sums[2].tolist() == [3.0 * spec.batch] * 2, "examples seen are questions"


def test_questions_leave_the_texts_as_they_are():
    sources = [data_source(tasks()["index-lookup"], 14, 4, CPU, questions) for questions in (1, 5)]
    once, many = (source.training_chunk([3, 4], 7) for source in sources)
    assert torch.equal(once.inputs, many.inputs) and torch.equal(once.read, many.read) and once.questions is None
    assert many.questions.shape == many.targets.shape == many.asked.shape == (CHUNK_STEPS, 2, 4, 5)
    assert not torch.equal(many.questions[:, 0], many.questions[:, 1])
    assert sources[1].evaluation([3], 8, "probe", 0).questions is None, "evaluation asks once"


def test_a_share_of_the_texts_has_the_length_of_the_evaluation():
    task, length = tasks()["index-lookup"], 20
    drawn = {
        share: data_source(task, length, 8, CPU, 3, share).training_chunk([3], 1) for share in (0.0, 0.25, 0.5, 1.0)
    }
    full = {share: (batch.read[..., 0] == task.positions(length) - 1) for share, batch in drawn.items()}
    assert not full[0.0].all(), "the task itself draws shorter texts too"
    assert full[0.25][:, 0, 6:].all() and not full[0.25][:, 0, :6].all()
    assert full[0.5][:, 0, 4:].all() and full[1.0].all()
    assert all(batch.targets.shape == drawn[0.0].targets.shape for batch in drawn.values())
    own = tiny(full_length=1)
    assert own.name != tiny().name and (own.recipe, tiny().recipe) == ("own", "paper")
    assert "full_length" not in tiny().as_dict(), "names from before the field stay"
    for wrong in (-0.1, 1.5, True, "1"):
        with pytest.raises(SeparatrixError, match="full_length"):
            tiny(full_length=wrong)


@pytest.mark.parametrize("name", PADDED)
def test_texts_that_grow_are_examples_of_the_task_at_its_full_length(name):
    task = every_task()[name].with_parameters(**every_task()[name].small)
    length = task.minimum_length + 6 * task.length_step
    source = DataSource(task, length, 8, CPU, 0, growing=4 * CHUNK_STEPS)
    seen = set()
    for chunk in range(5):
        seen.add(drawn_for := source.length_at(chunk * CHUNK_STEPS))
        task.check_length(drawn_for)
        found = source._drawn(32, 3, "train", chunk, 0, "train", drawn_for)
        targets, read = task.label(found.inputs, length)
        assert torch.equal(found.read, read) and torch.equal(found.targets[read], targets[read])
        beyond = found.inputs[:, task.positions(drawn_for) :]
        assert beyond.eq(task.padding(length)).all() and read.any(1).all()
    assert min(seen) == task.minimum_length and max(seen) == length and len(seen) > 2


def test_lengths_grow_evenly_and_only_in_training():
    task = tasks()["index-lookup"]
    source = DataSource(task, 50, 8, CPU, 1, full_length=0.5, growing=10 * CHUNK_STEPS)
    longest = [int(source.training_chunk([0], chunk).lengths.max()) for chunk in range(12)]
    assert longest == sorted(longest) and longest[0] <= 2 and longest[5] < 30 and longest[-1] == 51
    assert source.evaluation([0], 8, "evaluation", 0).lengths.eq(51).all(), "evaluation never grows"
    plain = DataSource(task, 50, 8, CPU, 1, full_length=0.5)
    assert torch.equal(source.training_chunk([0], 10).inputs, plain.training_chunk([0], 10).inputs)


def test_growth_in_a_run():
    own = tiny(growth=0.5)
    assert own.name != tiny().name and "growth" not in tiny().as_dict(), "names from before the field stay"
    strong = tiny().with_changes(**recipe_fields("strong", tiny().the_task(), tiny().steps), growth=0.5)
    assert (own.recipe, strong.recipe) == ("own", "strong")
    for wrong in ({"growth": 1.0}, {"growth": -0.1}, {"growth": True}, {"growth": 0.5, "longest": 6}):
        with pytest.raises(SeparatrixError, match="growth"):
            tiny(**wrong)


# -- names -----------------------------------------------------------------------------------------------


def test_a_run_says_its_recipe():
    plain = tiny()
    strong = plain.with_changes(**recipe_fields("strong", plain.the_task(), plain.steps))
    assert (plain.recipe, strong.recipe, plain.with_changes(clip=1.0).recipe) == ("paper", "strong", "own")
    assert plain.with_changes(questions=4).recipe == "own"
    assert tiny(task="dyck", length=8, warmup=1, clip=1.0, final_rate=0.0).recipe == "strong"
    assert plain.with_changes(**recipe_fields("paper", plain.the_task(), 5)) == plain
    with pytest.raises(SeparatrixError, match="stron"):
        recipe_fields("stong", plain.the_task(), 5)


def test_records_of_the_earlier_start_are_read_and_not_trained():
    with Records(ROOT / "src/separatrix/shipped/reduced.sqlite", create=False) as records:
        found = records.all()
    assert len(found) > 600
    assert {(record.spec.start, record.spec.recipe) for record in found} == {(1, "paper")}
    with pytest.raises(SeparatrixError, match="start"):
        Ensemble((found[0].spec,), CPU)
    assert found[0].spec.with_changes(start=2).name != found[0].spec.name
    with pytest.raises(SeparatrixError, match="start=1"):
        tiny(start=1, questions=4)
    assert RunSpec(**found[0].spec.as_dict()) == found[0].spec


def test_a_sweep_takes_a_recipe_and_its_own_fields_win():
    base = {"task": "index-lookup", "architecture": "TF-(1,8)", "steps": 100, "learning_rate": 0.1, "clip": 0.5}
    sweep = Sweep("mine", "", base, {"length": [10, 12], "recipe": list(RECIPES)})
    cells = {(cell.at("length"), cell.at("recipe")): cell.runs[0] for cell in sweep.cells()}
    assert cells[12, "strong"].questions == 16 and cells[12, "strong"].clip == 0.5
    assert cells[12, "strong"].warmup == 10 and cells[12, "strong"].recipe == "strong"
    assert cells[10, "paper"].questions == 1 and cells[10, "paper"].recipe == "own"
    with pytest.raises(SeparatrixError, match="recipe"):
        Sweep("mine", "", {**base, "recipe": "weak"}, {"length": [10]})


def test_train_takes_a_recipe(tmp_path, call):  # noqa: F811
    common = ["--length", "10", "--lr", "0.01", "--steps", "20", "--batch", "4", "--examples", "20", "--json"]
    command = ["train", "index-lookup", "LSTM-(1,8)", *common, "--store", str(tmp_path / "runs.sqlite")]
    runs = []
    for more in (["--recipe", "strong"], ["--recipe", "strong", "--questions", "3", "--final-rate", "0.1"], []):
        ended = call(*command, *more)
        assert ended.code == 0, ended.err
        runs += json.loads(ended.out)["runs"]
    assert [run["recipe"] for run in runs] == ["strong", "strong", "paper"]
    assert [run["spec"]["questions"] for run in runs] == [16, 3, 1]
    assert [run["spec"]["final_rate"] for run in runs] == [0.0, 0.1, 1.0]
    assert [run["spec"]["warmup"] for run in runs] == [2, 2, 0]
    assert call(*command, "--recipe", "weak").code == 2
    assert call("train", "dyck", "LSTM-(1,8)", *common, "--questions", "2").code == 2
