"""How much the models of the catalog compute, counted and not timed: numbers written, products, slow exponentials.

- Linear-time models grow linearly, in both counts, whether every position is read or one.
- Only what is read is computed: with one read a model does clearly less than the same model whose mixers compute every
  position and then pick. ``SHARES`` says how much less, where that has been measured.
- No exponential underflows. Processors take ten times as long for those, and a sum over a long past is full of them.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

from separatrix.models.architecture import ModelSpec, architectures
from separatrix.models.architectures._recurrent import TorchLayer
from separatrix.models.mixer import at_positions
from separatrix.models.scans.decays import floor_of
from tests.models.architecture_cases import NAMES, WIDTH, inputs_of, model_of

LINEAR = [name for name in NAMES if architectures()[name].linear_time]
# Every state needs all states before it, so that nothing can be left out.
NEED_EVERY_STATE = {name for name in NAMES if isinstance(architectures()[name], TorchLayer)}
# Products and numbers written with one read of 120, against those of computing everything and picking; rounded
# up. What is left is mostly what the past needs: the inputs' share of a recurrence, and the kernel of DSS.
SHARES = {
    "cnn": (0.043, 0.63),
    "dss": (0.91, 0.93),
    # Nearly all that it writes are gradients of its weights, which are as many for one read; gathering is more.
    "fnn": (0.52, 1.26),
    "gated-deltanet": (0.29, 0.43),
    "gated-linear-attention": (0.29, 0.22),
    "graph-transformer": (0.31, 0.27),
    "hard-attention": (0.016, 0.13),
    "linear-transformer": (0.078, 0.15),
    "mamba": (0.62, 0.47),
    "mamba2": (0.20, 0.82),
    "retnet": (0.049, 0.105),
    "third-order": (0.011, 0.016),
    "transformer": (0.016, 0.18),
}


class Work(TorchDispatchMode):
    """Counts what operations do, which does not depend on the machine or what else it does.

    ``written`` are the numbers of all results, ``flops`` what torch's table of matrix products gives for them; the
    latter sees a product that a fused kernel sums up at once.
    """

    def __init__(self):
        super().__init__()
        self.written = self.flops = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if not function.is_view:
            self.written += sum(each.numel() for each in tree_leaves(result) if isinstance(each, torch.Tensor))
        if function.overloadpacket in flop_registry:
            self.flops += flop_registry[function.overloadpacket](*args, **(kwargs or {}), out_val=result)
        return result


class Exponentials(TorchDispatchMode):
    """Counts real exponentials, and those whose result is no normal number."""

    def __init__(self):
        super().__init__()
        self.all = self.underflowing = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if function.overloadpacket in (torch.ops.aten.exp, torch.ops.aten.exp_) and not args[0].is_complex():
            self.all += args[0].numel()
            self.underflowing += int((args[0] < floor_of(args[0].dtype)).sum())
        return function(*args, **(kwargs or {}))


@contextmanager
def computing_everything(model) -> Iterator[None]:
    """Inside, the mixers compute every position and then pick those that are read."""
    for block in model.blocks:
        honest = block.mixer.forward

        def picking(x, *, read=None, honest=honest, **more):
            return at_positions(honest(x, **more), read)

        block.mixer.forward = picking
    try:
        yield
    finally:
        for block in model.blocks:
            del block.mixer.forward


def passed(model, spec, length: int, one: bool) -> None:
    """Forwards and backwards, at every position or one, without fused attention, which would hide what it does."""
    read = torch.full((1, 1, 1), length - 3) if one else None
    with sdpa_kernel(SDPBackend.MATH):
        model(inputs_of(spec, 1, 1, length), read=read).square().sum().backward()


def work(name: str, length: int, *, one: bool = False, picking: bool = False) -> tuple[int, int]:
    """Multiplications and additions of matrix products, and numbers written."""
    spec = ModelSpec((name,), WIDTH)
    model = model_of(spec, length, dtype=torch.float32)
    with Work() as counted:
        if picking:
            with computing_everything(model):
                passed(model, spec, length, one)
        else:
            passed(model, spec, length, one)
    return counted.flops, counted.written


@pytest.mark.parametrize("name", LINEAR)
def test_linear_time_models_grow_linearly(name):
    length = 512 if name in NEED_EVERY_STATE else 2048  # a loop over time takes long to be counted
    for longer, shorter in zip(work(name, 2 * length), work(name, length), strict=True):
        assert longer < 2.1 * shorter


@pytest.mark.parametrize("name", sorted({*NAMES} - NEED_EVERY_STATE - {"third-order", "graph-transformer"}))
def test_one_read_costs_linear_work(name):
    """Attention as well; the other two read pairs of positions or N² numbers of input."""
    for longer, shorter in zip(work(name, 2048, one=True), work(name, 1024, one=True), strict=True):
        assert longer < 2.1 * shorter


@pytest.mark.parametrize("name", ["transformer", "hard-attention"])
def test_attention_does_not_grow_linearly(name):
    """So that the tests above would see it, fused or not."""
    for longer, shorter in zip(work(name, 1024), work(name, 512), strict=True):
        assert longer > 3 * shorter


@pytest.mark.parametrize("name", [name for name in NAMES if name not in NEED_EVERY_STATE])
def test_only_what_is_read_is_computed(name):
    found = [
        ours / everything
        for ours, everything in zip(work(name, 120, one=True), work(name, 120, one=True, picking=True), strict=True)
    ]
    assert all(share <= bound for share, bound in zip(found, SHARES.get(name, (0.95, 0.95)), strict=True)), found


@pytest.mark.parametrize("name", ["mamba", "mamba2", "retnet", "gated-linear-attention", "gated-deltanet"])
@pytest.mark.parametrize("one", [False, True])
def test_no_exponential_underflows(name, one):
    length = 3000
    spec = ModelSpec((name,), WIDTH)
    model = model_of(spec, length, dtype=torch.float32)
    with Exponentials() as counted:
        passed(model, spec, length, one)
    assert counted.all >= length
    assert counted.underflowing == 0
