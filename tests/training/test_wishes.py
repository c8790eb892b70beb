"""What a researcher asks of training from Python: own lengths, Adam's settings, a class as a model, other lengths."""

import pytest
import torch
from torch import nn

from separatrix.errors import SeparatrixError
from separatrix.models.naming import model_name, parse_spec
from separatrix.tasks import tasks
from separatrix.training.adam import Adam, FlatParameters, MemberRates
from separatrix.training.batches import DataSource
from separatrix.training.evaluation import evaluate, evaluate_run
from separatrix.training.train_runs import train_runs
from separatrix.training.trained import trained_model
from tests.training.cases import tiny

CPU = torch.device("cpu")


class Mine(nn.Linear):
    """A mixer of the test's own."""

    def __init__(self, width: int, bias: bool = True) -> None:
        super().__init__(width, width, bias)


def test_training_texts_have_the_lengths_asked_for():
    source = DataSource(tasks()["index-lookup"], 30, 16, CPU, 1, limits=(12, 15))
    lengths = source.training_chunk([0, 1], 0).lengths - 1
    assert lengths.min() == 12 and lengths.max() == 15 and lengths.shape == (32, 2, 16)
    again = source.training_chunk([1], 0).lengths - 1
    assert torch.equal(again[:, 0], lengths[:, 1]), "a seed has its own data in any company"
    assert source.evaluation([0], 8, "evaluation", 0).lengths.eq(31).all()
    half = DataSource(tasks()["index-lookup"], 30, 16, CPU, 1, full_length=0.5, limits=(12, 15))
    assert half.training_chunk([0], 0).lengths.eq(31).sum() == 32 * 8


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"shortest": 3, "longest": 5}, "widen the limits"),
        ({"task": "majority", "shortest": 3}, "one length"),
        ({"task": "majority", "growth": 0.5}, "one length"),
        ({"shortest": 20, "longest": 12}, "above longest"),
        ({"longest": 1000}, "longest=1000"),
        ({"beta2": 1.0}, "beta2=1.0"),
        ({"epsilon": 0}, "epsilon=0"),
    ],
)
def test_what_cannot_be_is_one_line_and_makes_no_store(changes, told, tmp_path):
    with pytest.raises(SeparatrixError, match=told):
        train_runs([tiny(**{"length": 30, **changes})], tmp_path / "runs.sqlite")
    assert not list(tmp_path.rglob("*.files"))


def test_adam_with_other_settings_is_that_of_torch():
    weights = torch.randn(1, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    ours, theirs = nn.Linear(1, 1).double(), nn.Parameter(weights.clone())
    ours.weight, ours.bias = nn.Parameter(weights.clone()), None
    flat = FlatParameters(ours)
    adam = Adam(flat, MemberRates((0.1,), (0.0,), (0,), (0.0,), betas=(0.7, 0.9), epsilon=1e-3))
    optimiser = torch.optim.Adam([theirs], lr=0.1, betas=(0.7, 0.9), eps=1e-3)
    for _ in range(5):
        for each in (ours.weight, theirs):
            each.square().sum().backward()
        adam.update()
        optimiser.step()
        optimiser.zero_grad()
    assert torch.allclose(ours.weight, theirs, atol=1e-12)


def test_other_settings_train_otherwise_and_keep_old_names():
    assert "beta1" not in tiny().as_dict() and tiny(beta1=0.9).name == tiny().name
    assert tiny(beta1=0.5).recipe == "own" and tiny(beta1=0.5).name != tiny().name


def test_a_class_is_a_model(tmp_path):
    name = model_name(Mine, 1, 8, bias=False)
    assert str(parse_spec(name)) == name
    (record,) = train_runs([tiny(architecture=name, steps=4)], tmp_path / "runs.sqlite")
    assert record.spec.architecture == name and record.curve and record.best in record.curve

    class Inner(nn.Linear):
        pass

    for wrong, told in ((Inner, "top level"), (Mine(3), "not a class")):
        with pytest.raises(SeparatrixError, match=told):
            model_name(wrong, 1, 8)  # type: ignore[arg-type]


def test_a_trained_model_is_evaluated_at_other_lengths(tmp_path):
    spec = tiny(architecture="LSTM-(1,8)", length=12, steps=20, evaluation_examples=200)
    (record,) = train_runs([spec], tmp_path / "runs.sqlite")
    files = tmp_path / "runs.files"
    own = evaluate_run(record, files, examples=300)
    assert own.length == 12 and own.by_position[0].asked == 300
    assert own.accuracy == pytest.approx(own.by_position[0].accuracy) and own.loss == pytest.approx(
        own.by_position[0].loss
    )
    short = evaluate_run(record, files, 6, examples=100)
    assert [each.position for each in short.by_position] == [7]
    with pytest.raises(SeparatrixError, match="at most 12"):
        evaluate_run(record, files, 20)
    model = trained_model(record, files)
    again = evaluate(model, spec.the_task(), 12, 12, examples=300)
    assert again == own, "the same seed asks the same questions"


def test_losses_are_told_position_by_position(tmp_path):
    """A task with an answer at every position: the whole is the mean of the parts."""
    spec = tiny(task="eq-ncp", architecture="RNN-(1,8)", length=8, steps=4, task_parameters={}, evaluation_examples=50)
    (record,) = train_runs([spec], tmp_path / "runs.sqlite")
    found = evaluate_run(record, tmp_path / "runs.files", examples=64)
    assert len(found.by_position) > 1
    total = sum(each.asked for each in found.by_position)
    assert found.loss == pytest.approx(sum(each.loss * each.asked for each in found.by_position) / total)
    with pytest.raises(SeparatrixError, match="examples=0"):
        evaluate_run(record, tmp_path / "runs.files", examples=0)


@pytest.mark.parametrize(("model", "told"), [
    ("torch.nn:MultiheadAttention-(1,16,num_heads=2)", "query, key, value"),
    ("tests.training.test_wishes:Fixed-(1,16)", "tried at length 5"),
])  # fmt: skip
def test_modules_that_do_not_fit_are_told_the_trial(model, told, tmp_path):
    with pytest.raises(SeparatrixError, match=told) as caught:
        train_runs([tiny(architecture=model)], tmp_path / "runs.sqlite")
    assert "length 5" in str(caught.value)


class Fixed(nn.Module):
    """Weights for one length alone."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(8, 8) + 0 * width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.einsum("ts,bsd->btd", self.weight, x)
