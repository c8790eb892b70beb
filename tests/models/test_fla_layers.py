"""``fla:NAME``: layers of flash-linear-attention in our block, with a stand-in that has their calling convention.

As some layers of the package, the stand-in has no derivative outside of training mode on short inputs.
"""

import pytest
import torch

from separatrix.errors import SeparatrixError
from separatrix.models.naming import parse_spec
from separatrix.models.sequence_model import build_model
from separatrix.models.task_model import model_for_task
from separatrix.tasks import tasks
from tests.models.standing_in import FOLDER, forget, packages


@pytest.fixture
def installed(monkeypatch):
    """The package, and Triton's interpreter in the place of a GPU; our own kernels are not asked for."""
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    monkeypatch.setenv("SEPARATRIX_KERNELS", "plain")
    with packages():
        yield


@pytest.fixture
def missing():
    forget()


def built(text: str, seeds=(1, 2)):
    return build_model(parse_spec(text), vocabulary=7, classes=3, length=10, seeds=seeds)


def test_a_layer_runs_in_the_common_block_with_its_options_and_its_place(installed):
    spec = parse_spec("fla:GatedLinearAttention-(2,16,num_heads=2,mode=chunk)")
    assert parse_spec(str(spec)) == spec
    model = built(str(spec))
    layers = [block.mixer._template[0].layer for block in model.blocks]
    assert [each.layer_idx for each in layers] == [0, 1]
    assert all(each.num_heads == 2 and each.mode == "chunk" for each in layers)
    assert all(block.mixer.causal for block in model.blocks)
    assert spec.state_bits(400, 32) == 2 * 16 * 400 * 32

    mixer, x = model.blocks[0].mixer, torch.randn(2, 3, 10, 16, generator=torch.Generator().manual_seed(0))
    for member in range(2):
        own = {
            name: value[member].detach()
            for name, value in zip(mixer._parameters_of, mixer.parameters(), strict=True)
        }  # fmt: skip
        output, *_ = torch.func.functional_call(mixer._template[0].train().layer, _inside(own), (x[member],))
        torch.testing.assert_close(mixer(x)[member], output)
    assert not torch.equal(*next(mixer.parameters())), "every member has its own weights"


def _inside(weights):
    return {name.removeprefix("layer."): value for name, value in weights.items()}


def test_an_ensemble_runs_member_by_member_trains_and_says_so(installed):
    model = model_for_task(parse_spec("fla:GatedLinearAttention-(1,16)"), tasks()["index-lookup"], 8, seeds=[0, 1, 2])
    assert any("run one after the other: the module says vmap = False" in remark for remark in model.remarks())
    outputs = model(torch.randint(64, (3, 2, 9)), read=torch.full((3, 2, 1), 8))
    assert outputs.shape == (3, 2, 1, 64)
    outputs.square().sum().backward()
    assert all(each.grad is not None and torch.isfinite(each.grad).all() for each in model.parameters())


def test_it_mixes_with_built_in_architectures(installed):
    model = built("Mamba,fla:GatedLinearAttention-(3,16,num_heads=2)")
    tokens = torch.randint(7, (2, 2, 10), generator=torch.Generator().manual_seed(0))
    assert torch.isfinite(model(tokens)).all()


def test_layers_that_share_something_stand_each_for_itself_when_asked(installed):
    assert built("fla:RWKV7Attention-(2,16,layer_idx=0)") is not None
    with pytest.raises(SeparatrixError, match=r"fla:RWKV7Attention failed on a trial input"):
        built("fla:RWKV7Attention-(2,16)")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("fla:GatedLinearAtention-(1,16)", "nearest: GatedLinearAttention"),
        ("fla:Tensor-(1,16)", "unknown layer of flash-linear-attention 'Tensor'"),
        ("fla:NoWidth-(1,16)", "fla:NoWidth takes no hidden_size"),
        ("fla:NarrowAttention-(1,16)", "returned (2, 5, 8) for an input of (2, 5, 16); expected the same shape"),
        ("fla:GatedLinearAttention-(1,16,num_heads=3)", "key dim must be divisible by num_heads of 3"),
        ("fla:GatedLinearAttention-(1,16,number_heads=4)", "num_heads"),
    ],
)
def test_bad_layers_are_explained_in_one_line(installed, text, words):
    with pytest.raises(SeparatrixError) as caught:
        built(text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_package_and_one_that_cannot_be_imported(missing, tmp_path):
    with pytest.raises(SeparatrixError, match=r"not installed; run pip install 'flash-linear-attention\[cuda\]'"):
        parse_spec("fla:GatedLinearAttention-(1,16)")
    (tmp_path / "fla").mkdir()
    for content, words in (
        ("import no_such_triton", "ModuleNotFoundError"),
        ("raise RuntimeError('no driver')", "no d"),
    ):
        (tmp_path / "fla/layers.py").write_text(content)
        with packages(tmp_path), pytest.raises(SeparatrixError, match=f"cannot be used: .*{words}") as caught:
            parse_spec("fla:GatedLinearAttention-(1,16)")
        assert "\n" not in str(caught.value)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_the_layers_are_refused(monkeypatch):
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    with packages(FOLDER), pytest.raises(SeparatrixError, match="runs on a GPU only"):
        built("fla:GatedLinearAttention-(1,16)")
