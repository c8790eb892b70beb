"""Models for every task of the catalog: sizes, cells of several numbers, answers that are vectors."""

import subprocess
import sys

import numpy
import pytest
import torch

from separatrix.errors import SeparatrixError
from separatrix.models.naming import parse_spec
from separatrix.models.sequence_model import build_model
from separatrix.models.task_model import check_fit, columns_of, model_for_task
from separatrix.tasks import draws_from, tasks

LENGTH = 12


@pytest.mark.parametrize("name", list(tasks()))
def test_every_task_has_models(name):
    task = tasks()[name]
    length = max(task.minimum_length, LENGTH)
    length += -length % task.length_step
    mask = "causal" if task.answers_follow else "none"
    model = model_for_task(parse_spec(f"TF-(1,16,mask={mask})"), task, length, seeds=[0, 1])
    examples = task.sample(draws_from(0), 5, length)
    inputs = torch.from_numpy(examples.inputs)
    outputs = model(inputs.expand(2, *inputs.shape))
    assert outputs.shape == (2, 5, task.positions(length), task.classes(length) or examples.targets.shape[-1])
    assert torch.isfinite(outputs).all()


def test_a_set_of_indices_enters_as_the_sum_of_their_rows():
    task = tasks()["sparse-averaging"]
    model = model_for_task(parse_spec("TF-(1,16)"), task, LENGTH, seeds=[3])
    cells = torch.from_numpy(task.sample(draws_from(1), 2, LENGTH).inputs)[None]
    index, named = model.embedding.symbols
    expected = index.weight[0][cells[..., 0] - 1]
    for column in range(task.sparsity):
        expected = expected + named.weight[0][cells[..., 1 + column] - 1]
    value = cells[..., -1:] / task.resolution
    expected = expected + value @ model.embedding.numbers.weight[0] + model.embedding.numbers.bias[0]
    torch.testing.assert_close(model.embedding(cells), expected)


def test_points_enter_with_unit_norm():
    task = tasks()["nearest-neighbour"]
    scale = columns_of(task, 4)[-1].scale
    points = torch.from_numpy(task.sample(draws_from(0), 3, 4).inputs)[:, 0, 2:].double()
    torch.testing.assert_close((points / scale).norm(dim=-1), torch.ones(3, dtype=torch.float64), rtol=1e-5, atol=0)


def test_graphs_are_for_graph_transformers():
    spec = parse_spec("GraphTF-(1,16)")
    graphs = tasks()["directed-3-cycle"]
    model = model_for_task(spec, graphs, LENGTH, seeds=[0])
    inputs = torch.from_numpy(graphs.sample(draws_from(0), 2, LENGTH).inputs)[None]
    assert model(inputs).shape == (1, 2, LENGTH, 2)
    with pytest.raises(SeparatrixError, match="choose directed-3-cycle"):
        model_for_task(spec, tasks()["dyck"], LENGTH, seeds=[0])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"classes": 0}, "classes=0 is too small"),
        ({"vocabulary": 0}, "vocabulary=0 is too small"),
        ({"length": 0}, "length=0 is too small"),
        ({"seeds": []}, "give at least one seed"),
        ({"seeds": [-1]}, "seed -1 is out of range"),
    ],
)
def test_impossible_sizes_are_explained(changes, words):
    sizes = {"vocabulary": 4, "classes": 2, "length": 5, "seeds": [0], **changes}
    with pytest.raises(SeparatrixError, match=words):
        build_model(parse_spec("TF-(1,16)"), **sizes)


def test_wrong_inputs_are_explained():
    model = build_model(parse_spec("TF-(1,16)"), vocabulary=4, classes=2, length=5, seeds=[0, 1])
    with pytest.raises(SeparatrixError, match=r"reads \(members, batch, length\), not \(3, 1, 5\)"):
        model(torch.zeros(3, 1, 5, dtype=torch.int64))
    with pytest.raises(SeparatrixError, match="up to 5 cells, not 6"):
        model(torch.zeros(2, 1, 6, dtype=torch.int64))
    for member in range(2):
        inputs = torch.zeros(2, 1, 5, dtype=torch.int64)
        inputs[member, 0, 2] = 4
        with pytest.raises(SeparatrixError, match="symbols from 0 to 3, not 0 to 4"):
            model(inputs)
    feed_forward = build_model(parse_spec("FNN-(1,16)"), vocabulary=4, classes=2, length=5, seeds=[0])
    with pytest.raises(SeparatrixError, match="up to 5 cells, not 6"):
        feed_forward(torch.zeros(1, 1, 6, dtype=torch.int64))


WITHOUT = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("flint", "pydantic", "ray", "pandas", "array_api_compat", "transformers", "scipy"):
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Missing())
from separatrix.models import model_for_task
from separatrix.models.architecture import ModelSpec, architectures
from separatrix.models.state_precision import state_precision
from separatrix.tasks import tasks

for name, entry in architectures().items():
    task = tasks()["directed-3-cycle" if entry.reads_graphs else "index-lookup"]
    model = model_for_task(ModelSpec((name,), 16), task, 6, seeds=[0])
print(len(architectures()))
"""


def test_models_need_torch_and_numpy_alone():
    ended = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert int(ended.stdout) >= 16


LOOKING = "tests.models.user_modules:{}-(1,8)"


@pytest.mark.parametrize(
    "name", ["TF-(1,8,mask=none)", "TF,FNN-(2,8)", "HardTF-(1,8,mask=none)", LOOKING.format("Average")]
)
def test_a_model_that_looks_ahead_is_refused_where_the_answer_follows(name):
    task = tasks()["eq-ncp"]
    with pytest.raises(SeparatrixError, match="looks ahead"):
        check_fit(parse_spec(name), task, 8)
    check_fit(parse_spec(name), tasks()["eq-random"], 8)


def test_looking_ahead_is_tried_at_the_runs_own_length():
    later, task = parse_spec(LOOKING.format("LooksLater")), tasks()["eq-ncp"]
    check_fit(later, task, 8)  # among nine positions it never does
    for length in (12, 40, 200):
        with pytest.raises(SeparatrixError, match="looks ahead"):
            check_fit(later, task, length)
    for name in ("TF-(2,8)", "Mamba-(1,8)", "CNN-(1,8)", LOOKING.format("Shift")):
        check_fit(parse_spec(name), task, 40)


def test_only_next_symbols_stand_behind_the_question():
    """Of all tasks: an answer that is always the next cell is one that the task says follows."""
    for name, task in tasks().items():
        length = max(8, task.minimum_length)
        drawn = task.sample(draws_from(0), 16, length, "eval")
        if drawn.inputs.ndim == 2 and task.classes(length) > 4:
            rows, places = numpy.nonzero(drawn.read)
            inside = places < drawn.inputs.shape[1] - 1
            rows, places = rows[inside], places[inside]
            follows = len(rows) > 0 and bool((drawn.inputs[rows, places + 1] == drawn.targets[rows, places]).all())
            assert follows == task.answers_follow, name
