"""Models against independent implementations with copied weights: torch's own layers and the Hugging Face GPT-2."""

import pytest
import torch
from torch import nn

from separatrix.models.naming import parse_spec
from separatrix.models.sequence_model import build_model

WIDTH, VOCABULARY, LENGTH, BATCH = 24, 9, 11, 4
RECURRENT = {"LSTM": nn.LSTM, "GRU": nn.GRU, "RNN": nn.RNN}


def identity_readout(model):
    """Make the logits the activations themselves."""
    with torch.no_grad():
        model.readout.weight.copy_(torch.eye(WIDTH).expand_as(model.readout.weight))
        model.readout.bias.zero_()
    return model


def tokens(members: int, seed: int = 0):
    return torch.randint(VOCABULARY, (members, BATCH, LENGTH), generator=torch.Generator().manual_seed(seed))


def built(text: str, seeds, dtype=torch.float64):
    spec = parse_spec(text)
    return build_model(spec, vocabulary=VOCABULARY, classes=WIDTH, length=LENGTH, seeds=seeds, dtype=dtype)


@pytest.mark.parametrize("name", RECURRENT)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
def test_recurrent_networks_are_those_of_torch(name, dtype):
    model = identity_readout(built(f"{name}-(3,{WIDTH})", (1, 2), dtype))
    inputs = tokens(2)
    outputs = model(inputs)
    for member in range(2):
        reference = RECURRENT[name](WIDTH, WIDTH, num_layers=3, batch_first=True, dtype=dtype)
        with torch.no_grad():
            for layer, block in enumerate(model.blocks):
                for theirs, ours in (
                    ("weight_ih", "input_weight"),
                    ("weight_hh", "state_weight"),
                    ("bias_ih", "input_bias"),
                    ("bias_hh", "state_bias"),
                ):
                    getattr(reference, f"{theirs}_l{layer}").copy_(getattr(block.mixer, ours)[member])
        embedded = model.embedding.weight[member].detach()[inputs[member]].requires_grad_()
        expected, _ = reference(embedded)
        torch.testing.assert_close(outputs[member], expected)
        # Gradients too, of the recurrent weights of the first layer, which all others depend on.
        weights = torch.randn(expected.shape, dtype=dtype, generator=torch.Generator().manual_seed(3))
        (theirs,) = torch.autograd.grad((expected * weights).sum(), [reference.weight_hh_l0])
        parameter = model.blocks[0].mixer.state_weight
        (ours,) = torch.autograd.grad((outputs[member] * weights).sum(), [parameter], retain_graph=True)
        torch.testing.assert_close(ours[member], theirs, rtol=1e-4 if dtype == torch.float32 else 1e-9, atol=1e-6)


def test_recurrent_networks_start_like_those_of_torch():
    model = built(f"LSTM-(1,{WIDTH})", (1, 2, 3))
    bound = WIDTH**-0.5
    for parameter in model.blocks[0].mixer.parameters():
        assert 0.9 * bound < parameter.abs().max() <= bound


@pytest.mark.parametrize("heads", [1, 4, 8])
def test_the_transformer_is_gpt2(heads):
    transformers = pytest.importorskip("transformers")
    model = identity_readout(built(f"TF-(2,{WIDTH},heads={heads})", (5, 6)))
    config = transformers.GPT2Config(
        vocab_size=VOCABULARY, n_positions=LENGTH, n_embd=WIDTH, n_layer=2, n_head=heads,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
    )  # fmt: skip
    inputs = tokens(2)
    for member in range(2):
        reference = transformers.GPT2Model(config).double().eval()
        ours = {name: parameter[member] for name, parameter in model.named_parameters()}
        pairs = {"wte.weight": "embedding.weight", "wpe.weight": "positions.table"}
        pairs |= {f"ln_f.{part}": f"norm.{part}" for part in ("weight", "bias")}
        for layer in range(2):
            for theirs, mine in (
                ("ln_1", "norm"), ("attn.c_attn", "mixer.project"), ("attn.c_proj", "mixer.output"),
                ("ln_2", "feed_forward_norm"), ("mlp.c_fc", "feed_forward.inner"), ("mlp.c_proj", "feed_forward.outer"),
            ):  # fmt: skip
                pairs |= {f"h.{layer}.{theirs}.{p}": f"blocks.{layer}.{mine}.{p}" for p in ("weight", "bias")}
        named = dict(reference.named_parameters())
        assert set(named) == set(pairs), "every weight of GPT-2 is copied"
        with torch.no_grad():
            for theirs, mine in pairs.items():
                named[theirs].copy_(ours[mine])
        expected = reference(input_ids=inputs[member]).last_hidden_state
        torch.testing.assert_close(model(inputs)[member], expected, rtol=1e-9, atol=1e-11)
        read = torch.full((2, BATCH, 1), LENGTH - 1)
        torch.testing.assert_close(model(inputs, read=read)[member], expected[:, -1:], rtol=1e-9, atol=1e-11)


def test_the_transformer_starts_like_gpt2():
    transformers = pytest.importorskip("transformers")
    config = transformers.GPT2Config(vocab_size=50, n_positions=20, n_embd=64, n_layer=3, n_head=4)
    reference = dict(transformers.GPT2Model(config).named_parameters())
    model = build_model(parse_spec("TF-(3,64,heads=4)"), vocabulary=50, classes=2, length=20, seeds=(1,))
    for theirs, ours in (
        ("wte.weight", model.embedding.weight),
        ("wpe.weight", model.positions.table),
        ("h.0.attn.c_attn.weight", model.blocks[0].mixer.project.weight),
        ("h.0.attn.c_proj.weight", model.blocks[0].mixer.output.weight),
        ("h.0.mlp.c_fc.weight", model.blocks[0].feed_forward.inner.weight),
        ("h.0.mlp.c_proj.weight", model.blocks[0].feed_forward.outer.weight),
        ("h.0.mlp.c_proj.bias", model.blocks[0].feed_forward.outer.bias),
    ):
        torch.testing.assert_close(reference[theirs].std(), ours.std(), rtol=0.1, atol=1e-6)


def test_mamba_starts_like_hugging_faces():
    """Every weight by its first moments and its ends, which tell normal from uniform."""
    transformers = pytest.importorskip("transformers")
    config = transformers.MambaConfig(vocab_size=50, hidden_size=64, num_hidden_layers=3, state_size=16)
    torch.manual_seed(0)
    reference = dict(transformers.MambaModel(config).named_parameters())
    model = build_model(parse_spec("Mamba-(3,64)"), vocabulary=50, classes=2, length=20, seeds=(1,))
    ours = {name: value[0] for name, value in model.named_parameters()}
    pairs = {"embeddings.weight": "embedding.weight", "norm_f.weight": "norm.weight"}
    for layer in range(3):
        for theirs, mine in (
            ("norm.weight", "norm.weight"), ("mixer.in_proj.weight", "mixer.project_in.weight"),
            ("mixer.conv1d.weight", "mixer.convolution.weight"), ("mixer.conv1d.bias", "mixer.convolution.bias"),
            ("mixer.x_proj.weight", "mixer.project_selection.weight"),
            ("mixer.dt_proj.weight", "mixer.project_step.weight"), ("mixer.dt_proj.bias", "mixer.step_bias"),
            ("mixer.A_log", "mixer.log_rate"), ("mixer.D", "mixer.skip"),
            ("mixer.out_proj.weight", "mixer.project_out.weight"),
        ):  # fmt: skip
            pairs[f"layers.{layer}.{theirs}"] = f"blocks.{layer}.{mine}"
    assert set(pairs) == set(reference), "every weight of Mamba is compared"
    assert set(pairs.values()) == set(ours) - {"readout.weight", "readout.bias"}
    for theirs, mine in pairs.items():
        expected, found = reference[theirs].detach(), ours[mine].detach()
        assert expected.numel() == found.numel()
        spread = float(expected.std()) if expected.numel() > 1 else 0.0
        assert abs(float(found.mean() - expected.mean())) <= 8 * spread / found.numel() ** 0.5 + 1e-6, mine
        torch.testing.assert_close(found.std(), expected.std(), rtol=0.15, atol=1e-6, msg=mine)
        torch.testing.assert_close(found.abs().max(), expected.abs().max(), rtol=0.3, atol=1e-6, msg=mine)


def test_the_convolution_is_that_of_torch():
    model = built(f"CNN-(2,{WIDTH},kernel=3,dilation=2)", (1,))
    mixer = model.blocks[1].mixer
    reference = nn.Conv1d(WIDTH, WIDTH, 3, dilation=2, dtype=torch.float64)
    with torch.no_grad():
        # (kernel, width, out) to (out, width, kernel); torch's last tap is the present.
        reference.weight.copy_(mixer.taps.weight[0].view(3, WIDTH, WIDTH).permute(2, 1, 0))
        reference.bias.copy_(mixer.taps.bias[0])
    x = torch.randn(1, BATCH, LENGTH, WIDTH, dtype=torch.float64)
    padded = nn.functional.pad(x[0].transpose(1, 2), (4, 0))
    torch.testing.assert_close(mixer(x)[0], reference(padded).transpose(1, 2))


def test_the_feed_forward_network_is_two_linear_layers():
    model = built(f"FNN-(1,{WIDTH},expansion=2)", (1,))
    mixer = model.blocks[0].mixer
    x = torch.randn(1, BATCH, LENGTH, WIDTH, dtype=torch.float64)
    hidden = torch.relu(x[0].reshape(BATCH, -1) @ mixer.inner.weight[0] + mixer.inner.bias[0])
    matrix = mixer.outer[0].permute(1, 0, 2).reshape(2 * WIDTH, LENGTH * WIDTH)
    expected = hidden @ matrix + mixer.outer_bias[0].reshape(-1)
    torch.testing.assert_close(mixer(x)[0], expected.view(BATCH, LENGTH, WIDTH))
