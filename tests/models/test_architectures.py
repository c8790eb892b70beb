"""Contracts that every architecture of the catalog keeps; a new file of an architecture is tested by existing."""

from pathlib import Path

import pytest
import torch
from torch.autograd import gradcheck
from torch.func import functional_call

from separatrix.errors import SeparatrixError
from separatrix.models.architecture import ModelSpec, Place, architectures
from separatrix.models.ensemble import initialise
from separatrix.models.mixer import RecurrentMixer
from separatrix.models.naming import parse_spec
from tests.models.architecture_cases import (
    NAMES,
    RECURRENT,
    VOCABULARY,
    WIDTH,
    gradients,
    inputs_of,
    model_of,
    pick,
    specs,
)

PAGE = Path(__file__).parents[2] / "docs" / "architectures.md"
LENGTH = 37
"""No multiple of any chunk."""
every_spec = pytest.mark.parametrize("spec", specs(), ids=str)


def random_reads(members, batch, reads, length):
    return torch.randint(length, (members, batch, reads), generator=torch.Generator().manual_seed(5))


def test_the_catalog_is_complete():
    wanted = {"transformer", "hard-attention", "third-order", "graph-transformer", "lstm", "gru", "rnn", "fnn", "cnn"}
    wanted |= {"linear-transformer", "retnet", "dss", "mamba", "mamba2", "gated-linear-attention", "gated-deltanet"}
    assert wanted <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_an_entry_describes_itself(name):
    entry = architectures()[name]
    for text in (entry.short, entry.title, entry.reference, entry.equations):
        assert text.strip()
    assert len({each.name for each in entry.options}) == len(entry.options)
    assert sum(each.short.casefold() == entry.short.casefold() for each in architectures().values()) == 1


@pytest.mark.parametrize("name", NAMES)
def test_an_entry_stands_in_the_documentation(name):
    entry, page = architectures()[name], PAGE.read_text(encoding="utf-8")
    for text in (f"### {entry.short}: {entry.title}", entry.reference, entry.equations, entry.block, *entry.deviations):
        assert text in page
    for option in entry.options:
        assert f"`{option.name}=" in page


def test_positions_of_a_mixture_are_added_when_any_layer_asks():
    """The linear Transformer wants none by itself, the Transformer learned ones."""
    assert model_of(ModelSpec(("linear-transformer", "transformer"), WIDTH), 9).positions.kind == "learned"
    assert model_of(ModelSpec(("linear-transformer",), WIDTH), 9).positions is None
    rotary = ModelSpec(("lstm", "transformer"), WIDTH, (("positions", "rotary"),))
    assert model_of(rotary, 9).positions is None


@every_spec
def test_every_parameter_starts_somewhere_and_has_members_in_front(spec):
    model = model_of(spec, 12, seeds=(1, 2))
    for name, parameter in model.named_parameters():
        assert parameter.shape[0] == 2, name
        assert torch.isfinite(parameter).all(), name
    drawn = [name for name, parameter in model.named_parameters() if not torch.equal(parameter[0], parameter[1])]
    assert drawn, "the seed must change something"


@pytest.mark.parametrize("name", RECURRENT)
def test_the_parallel_form_is_the_recurrent_form(name):
    spec = ModelSpec((name, name), WIDTH)
    model = model_of(spec, LENGTH, seeds=(1, 2))
    inputs = inputs_of(spec, 2, 3, LENGTH)
    state, steps = model.initial_state(3), []
    for position in range(LENGTH):
        output, state = model.step(inputs[:, :, position], state)
        steps.append(output)
    parallel = model(inputs)
    torch.testing.assert_close(torch.stack(steps, dim=2), parallel, rtol=1e-9, atol=1e-11)
    numbers = sum(part[0, 0].numel() * (2 if part.is_complex() else 1) for layer in state for part in layer)
    assert numbers == spec.state_numbers(LENGTH) == spec.state_numbers(10 * LENGTH)


def step_by_step(mixer, x):
    """The outputs of all positions by the step form: (members, batch, length, width) both."""
    state, outputs = mixer.initial_state(x.shape[1]), []
    for position in range(x.shape[2]):
        output, state = mixer.step(x[:, :, position], state)
        outputs.append(output)
    return torch.stack(outputs, dim=2)


@pytest.mark.parametrize("name", RECURRENT)
def test_gradients_of_the_parallel_form_are_those_of_the_recurrent_form(name):
    entry = architectures()[name]
    mixer = entry.mixer(WIDTH, entry.filled({}), 2, Place(1, 2, LENGTH))
    initialise(mixer, (4, 5))
    mixer = mixer.to(torch.float64)
    assert isinstance(mixer, RecurrentMixer)
    x = torch.randn(2, 2, 19, WIDTH, dtype=torch.float64, generator=torch.Generator().manual_seed(1)).requires_grad_()
    wanted = [x, *mixer.parameters()]
    weights = torch.randn(x.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    found = [
        torch.autograd.grad((output * weights).sum(), wanted, allow_unused=True)
        for output in (mixer(x), step_by_step(mixer, x))
    ]
    for parallel, stepped in zip(*found, strict=True):
        assert (parallel is None) == (stepped is None)
        if parallel is not None:
            torch.testing.assert_close(parallel, stepped, rtol=1e-8, atol=1e-10)


@every_spec
def test_second_derivatives_are_right_or_refused(spec):
    """A derivative that is written out by hand must not be taken for a constant when it is differentiated again."""
    if "HardTF" in str(spec):
        return  # its gradient is not the derivative of anything
    length = 6
    model = model_of(spec, length)
    inputs, parameter = inputs_of(spec, 1, 2, length), next(model.parameters())
    direction = torch.randn(parameter.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    for read in (None, torch.tensor([[[4], [5]]])):

        def slope(offset=0.0, *, graph=False, read=read):
            with torch.no_grad():
                parameter.add_(direction, alpha=offset)
            loss = model(inputs, read=read).square().sum()
            (found,) = torch.autograd.grad(loss, parameter, create_graph=graph)
            with torch.no_grad():
                parameter.sub_(direction, alpha=offset)
            return found

        try:
            (found,) = torch.autograd.grad((slope(graph=True) * direction).sum(), parameter)
        except (SeparatrixError, RuntimeError) as error:
            # Ours, and those of torch's own functions.
            assert "has no second derivative" in str(error) or "is not implemented" in str(error)
            continue
        change = (slope(1e-6) - slope(-1e-6)) / 2e-6
        torch.testing.assert_close(found, change, rtol=1e-4, atol=1e-5 * float(change.abs().max()))


@every_spec
def test_nothing_to_read_is_refused_in_one_line(spec):
    model, inputs = model_of(spec, 5), inputs_of(spec, 1, 2, 5)
    for nothing in (inputs[:, :0], inputs[:, :, :0]):
        with pytest.raises(SeparatrixError, match="at least one input of at least one cell"):
            model(nothing)


@every_spec
def test_causal_models_do_not_see_the_future(spec):
    model = model_of(spec, LENGTH)
    inputs = inputs_of(spec, 1, 4, LENGTH)
    if all(block.mixer.causal for block in model.blocks):
        changed = inputs.clone()
        changed[:, :, 20:] = (changed[:, :, 20:] + 1) % (VOCABULARY - 1)
        before, after = model(inputs), model(changed)
        torch.testing.assert_close(before[:, :, :20], after[:, :, :20], rtol=0, atol=1e-12)
        assert not torch.allclose(before[:, :, 20:], after[:, :, 20:])
    else:
        # Whoever does not call itself causal sees later positions.
        assert not any(entry.recurrent for entry in spec.entries)
        changed = inputs.clone()
        changed[:, :, -1] = 1 - changed[:, :, -1] if inputs.dim() == 4 else (changed[:, :, -1] + 1) % (VOCABULARY - 1)
        assert not torch.equal(model(inputs)[:, :, 0], model(changed)[:, :, 0])


@pytest.mark.parametrize("spec", [spec for spec in specs(depth=1) if "HardTF" not in str(spec)], ids=str)
def test_gradients_against_finite_differences(spec):
    """Hard attention has the gradient of the softmax on purpose, see ``test_attention``."""
    model = model_of(spec, 5)
    inputs, read = inputs_of(spec, 1, 2, 5), torch.tensor([[[4], [2]]])
    names = [name for name, _ in model.named_parameters()]
    # Larger than at the start, where many derivatives are too small to be seen; decays and time steps stay as they are.
    values = [
        (
            parameter.detach() + 0.3 * torch.randn(parameter.shape, dtype=torch.float64, generator=generator)
        ).requires_grad_()
        for generator in [torch.Generator().manual_seed(3)]
        for parameter in model.parameters()
    ]

    for reads in (None, read):
        assert gradcheck(
            lambda *given, reads=reads: functional_call(
                model, dict(zip(names, given, strict=True)), (inputs,), {"read": reads}
            ),
            values,
            fast_mode=True,
            atol=1e-6,
        )


@pytest.mark.parametrize("name", NAMES)
def test_length_4096_stays_finite(name):
    entry, length = architectures()[name], 4096
    spec = ModelSpec((name,), WIDTH)
    model = model_of(spec, length, dtype=torch.float32)
    inputs = inputs_of(spec, 1, 1, length).to(torch.int8 if entry.reads_graphs else torch.int64)
    read = None if entry.linear_time else torch.tensor([[[length - 1]]])
    outputs = model(inputs, read=read)
    assert torch.isfinite(outputs).all()
    for parameter, gradient in gradients(model, outputs).items():
        assert torch.isfinite(gradient).all(), parameter


@every_spec
def test_padding_does_not_leak(spec):
    model = model_of(spec, 12)
    lengths = torch.tensor([[12, 5, 1, 9]])
    inputs = inputs_of(spec, 1, 4, 12)
    inside = torch.arange(12) < lengths[..., None]
    other = inputs_of(spec, 1, 4, 12, seed=9)
    if inputs.dim() == 4:
        # Graphs on fewer vertices: padded vertices have no edges to the others, but their own rows may hold anything.
        inputs = inputs * inside[..., None, :]
        padded = torch.where(inside[..., None], inputs, other)
    else:
        padded = torch.where(inside, inputs, VOCABULARY - 1)
        inputs = torch.where(inside, inputs, other)
    first, second = model(inputs, lengths=lengths), model(padded, lengths=lengths)
    torch.testing.assert_close(first[inside], second[inside], rtol=0, atol=1e-12)
    assert torch.isfinite(second).all()
    found = [gradients(model, torch.where(inside[..., None], output, 0.0)) for output in (first, second)]
    for name, gradient in found[0].items():
        torch.testing.assert_close(gradient, found[1][name], rtol=1e-9, atol=1e-12, msg=name)
    if inputs.dim() == 3:
        # Not exactly zero: a Fourier transform spreads its rounding over all positions.
        assert found[1]["embedding.weight"][:, VOCABULARY - 1].abs().max() <= 1e-13


@every_spec
def test_only_reading_some_positions_changes_no_output_and_no_gradient(spec):
    members, batch, length = 2, 3, 13
    model = model_of(spec, length, seeds=(1, 2))
    inputs = inputs_of(spec, members, batch, length)
    lengths = torch.tensor([[13, 11, 12], [13, 13, 11]])
    for reads in (1, 3, 11):
        read = random_reads(members, batch, reads, 11)
        everything, some = pick(model(inputs, lengths=lengths), read), model(inputs, read=read, lengths=lengths)
        torch.testing.assert_close(everything, some, rtol=1e-9, atol=1e-12)
        full, partial = gradients(model, everything), gradients(model, some)
        for name, gradient in full.items():
            torch.testing.assert_close(gradient, partial[name], rtol=1e-8, atol=1e-11, msg=name)


@every_spec
def test_an_ensemble_is_its_single_models(spec):
    seeds, length, batch = (11, 5, 40), 13, 2
    together = model_of(spec, length, seeds=seeds)
    inputs, read = inputs_of(spec, 3, batch, length), random_reads(3, batch, 2, length)
    outputs = together(inputs, read=read)
    found = gradients(together, outputs)
    weights = torch.randn(outputs.shape, generator=torch.Generator().manual_seed(0), dtype=outputs.dtype)
    for member, seed in enumerate(seeds):
        single = model_of(spec, length, seeds=(seed,))
        for name, parameter in single.named_parameters():
            assert torch.equal(parameter[0], dict(together.named_parameters())[name][member]), name
        output = single(inputs[member : member + 1], read=read[member : member + 1])
        torch.testing.assert_close(output[0], outputs[member], rtol=1e-10, atol=1e-12)
        alone = torch.autograd.grad((output[0] * weights[member]).sum(), list(single.parameters()), allow_unused=True)
        for (name, _), gradient in zip(single.named_parameters(), alone, strict=True):
            if gradient is not None:
                torch.testing.assert_close(gradient[0], found[name][member], rtol=1e-8, atol=1e-11, msg=name)


@every_spec
def test_type_and_device_follow_the_model(spec):
    """Nothing may be made on the default device or in the default type: both are set to something else here."""
    length = 9
    inputs, read, lengths = inputs_of(spec, 1, 2, length), torch.tensor([[[8], [3]]]), torch.tensor([[9, 5]])
    for dtype, other in ((torch.float32, torch.float64), (torch.float64, torch.float32)):
        model = model_of(spec, length, dtype=dtype)
        torch.set_default_dtype(other)
        try:
            with torch.device("meta"):
                outputs = [model(inputs, read=read, lengths=lengths), model(inputs)]
                if spec.recurrent:
                    outputs.append(model.step(inputs[:, :, 0], model.initial_state(2))[0])
        finally:
            torch.set_default_dtype(torch.float32)
        for output in outputs:
            assert output.dtype == dtype
            assert output.device.type == "cpu"
            assert torch.isfinite(output).all()


@every_spec
def test_half_precision_products_stay_near(spec):
    """As the trainer runs with bfloat16: the forward pass under autocast, the backward pass outside it."""
    length = 13
    model = model_of(spec, length, seeds=(1, 2), dtype=torch.float32)
    inputs, lengths = inputs_of(spec, 2, 3, length), torch.tensor([[13, 11, 12], [13, 13, 11]])
    for read in (None, torch.full((2, 3, 1), 10)):
        exact = model(inputs, read=read, lengths=lengths)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            outputs = model(inputs, read=read, lengths=lengths).float()
        if "HardTF" not in str(spec):
            # A maximum may fall on another position.
            torch.testing.assert_close(outputs, exact, rtol=0.1, atol=0.1)
        for name, gradient in gradients(model, outputs).items():
            assert gradient.dtype == torch.float32
            assert torch.isfinite(gradient).all(), name


@pytest.mark.parametrize("name", NAMES)
def test_state_and_attention_bits(name):
    entry = architectures()[name]
    one, two = ModelSpec((name,), 16), ModelSpec((name, name), 16)
    assert one.state_bits(100, 8) > 0
    assert one.state_bits(100, 8) * 2 == one.state_bits(100, 16)
    assert two.state_bits(100, 8) > one.state_bits(100, 8)
    if entry.recurrent:
        assert one.state_bits(100, 8) == one.state_bits(1000, 8)
    shape = entry.attention(16, entry.filled({}))
    bits = one.attention_bits(100, 8)
    if shape is None:
        assert bits is None
    else:
        # ⌈log₂ 100⌉ = 7.
        assert bits == shape.heads * shape.dimension * (8 + 7)
        assert two.attention_bits(100, 8) == 2 * bits


def test_a_convolution_that_looks_back_too_far_is_refused():
    with pytest.raises(SeparatrixError, match="layer 4 of CNN with kernel=9 and dilation=64 would look back more than"):
        model_of(parse_spec("CNN-(5,4,kernel=9,dilation=64)"), 9)


def test_a_mixture_counts_each_layer_by_itself():
    mixed = ModelSpec(("lstm", "transformer", "lstm"), 16)
    assert mixed.state_numbers(50) == 2 * 2 * 16 + 2 * 16 * 50
    assert mixed.attention_bits_of_layers(64, 8) == (None, 16 * (8 + 6), None)
    # The spacing of a convolution grows with its place in the stack.
    assert ModelSpec(("cnn", "cnn"), 4).state_numbers(50) == 2 * 4 + 2 * 2 * 4
