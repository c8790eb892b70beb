"""Linear-time layers against independent references: Hugging Face's Mamba and Mamba-2 with copied weights, the others
against loops written from the papers' formulas, DSS against its explicit kernel."""

import math

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from separatrix.models.architecture import Place
from separatrix.models.architectures.gated_deltanet import ARCHITECTURE as GATED_DELTANET
from separatrix.models.architectures.gated_linear_attention import ARCHITECTURE as GATED_LINEAR_ATTENTION
from separatrix.models.architectures.linear_transformer import ARCHITECTURE as LINEAR_TRANSFORMER
from separatrix.models.architectures.retnet import ARCHITECTURE as RETNET
from separatrix.models.ensemble import initialise
from separatrix.models.mixers.dss import DiagonalStateSpace, _skew_hippo
from separatrix.models.mixers.gated_deltanet import GatedDeltaMixer
from separatrix.models.mixers.gated_linear_attention import GatedLinearAttentionMixer
from separatrix.models.mixers.linear_transformer import LinearAttention
from separatrix.models.mixers.mamba import MambaMixer
from separatrix.models.mixers.mamba2 import Mamba2Mixer
from separatrix.models.mixers.retnet import Retention
from separatrix.models.naming import parse_spec
from separatrix.models.sequence_model import SequenceModel, build_model

WIDTH, LENGTH, BATCH = 16, 75, 2


def inputs(seed: int = 0) -> Tensor:
    return torch.randn(1, BATCH, LENGTH, WIDTH, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def started(mixer: nn.Module) -> nn.Module:
    """One member in float64, its constants moved a little so that nothing is tested at 0 and 1 alone."""
    initialise(mixer, [5])
    mixer = mixer.double()
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for parameter in mixer.parameters():
            parameter += 0.1 * torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
    return mixer


def copied(target: Tensor, source: Tensor) -> None:
    """Copy one member's numbers into a weight of the reference."""
    with torch.no_grad():
        assert target.numel() == source.numel()
        target.copy_(source.reshape(target.shape))


def tokens_model(name: str) -> tuple[SequenceModel, Tensor]:
    model = build_model(parse_spec(name), vocabulary=11, classes=3, length=LENGTH, seeds=[3])
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.02 * torch.randn(parameter.shape, generator=generator)
    return model, torch.randint(0, 11, (1, BATCH, LENGTH), generator=generator)


def hidden(model: SequenceModel, tokens: Tensor) -> Tensor:
    """Activations behind the last norm."""
    x = model.embedding(tokens)
    for block in model.blocks:
        x = block(x, tokens, None, None)
    assert model.norm is not None
    return model.norm(x)[0]


def compare_gradients(model: SequenceModel, reference: nn.Module, ours: Tensor, theirs: Tensor) -> None:
    """Equal outputs and an equal derivative to the embedding, which has gone through everything."""
    torch.testing.assert_close(ours, theirs, rtol=2e-4, atol=2e-5)
    weight = torch.randn(ours.shape, generator=torch.Generator().manual_seed(2))
    mine = torch.autograd.grad((ours * weight).sum(), model.embedding.weight)[0][0]
    other = torch.autograd.grad((theirs * weight).sum(), reference.get_input_embeddings().weight)[0]
    torch.testing.assert_close(mine, other, rtol=2e-3, atol=2e-4 * float(other.abs().max()))


def test_mamba_is_that_of_hugging_face() -> None:
    from transformers import MambaConfig, MambaModel  # seconds that every process would pay while it collects tests

    model, tokens = tokens_model("Mamba-(2,32)")
    config = MambaConfig(
        vocab_size=11, hidden_size=32, num_hidden_layers=2, state_size=16, expand=2, conv_kernel=4, time_step_rank=2,
        layer_norm_epsilon=1e-5, residual_in_fp32=False,
    )  # fmt: skip
    reference = MambaModel(config).eval()
    copied(reference.embeddings.weight, model.embedding.weight)
    copied(reference.norm_f.weight, model.norm.weight)
    for layer, block in zip(reference.layers, model.blocks, strict=True):
        mixer = block.mixer
        assert isinstance(mixer, MambaMixer)
        copied(layer.norm.weight, block.norm.weight)
        copied(layer.mixer.in_proj.weight, mixer.project_in.weight.mT)
        copied(layer.mixer.conv1d.weight, mixer.convolution.weight)
        copied(layer.mixer.conv1d.bias, mixer.convolution.bias)
        copied(layer.mixer.x_proj.weight, mixer.project_selection.weight.mT)
        copied(layer.mixer.dt_proj.weight, mixer.project_step.weight.mT)
        copied(layer.mixer.dt_proj.bias, mixer.step_bias)
        copied(layer.mixer.A_log, mixer.log_rate)
        copied(layer.mixer.D, mixer.skip)
        copied(layer.mixer.out_proj.weight, mixer.project_out.weight.mT)
    theirs = reference(tokens[0], use_cache=False).last_hidden_state
    compare_gradients(model, reference, hidden(model, tokens), theirs)


def test_mamba2_is_that_of_hugging_face() -> None:
    from transformers import Mamba2Config, Mamba2Model

    model, tokens = tokens_model("Mamba2-(2,32,state=24,head=16)")
    config = Mamba2Config(
        vocab_size=11, hidden_size=32, num_hidden_layers=2, state_size=24, expand=2, conv_kernel=4, num_heads=4,
        head_dim=16, n_groups=1, chunk_size=16, layer_norm_epsilon=1e-5, residual_in_fp32=False,
    )  # fmt: skip
    reference = Mamba2Model(config).eval()
    copied(reference.embeddings.weight, model.embedding.weight)
    copied(reference.norm_f.weight, model.norm.weight)
    for layer, block in zip(reference.layers, model.blocks, strict=True):
        mixer = block.mixer
        assert isinstance(mixer, Mamba2Mixer)
        copied(layer.norm.weight, block.norm.weight)
        copied(layer.mixer.in_proj.weight, mixer.project_in.weight.mT)
        copied(layer.mixer.conv1d.weight, mixer.convolution.weight)
        copied(layer.mixer.conv1d.bias, mixer.convolution.bias)
        copied(layer.mixer.dt_bias, mixer.step_bias)
        copied(layer.mixer.A_log, mixer.log_rate)
        copied(layer.mixer.D, mixer.skip)
        copied(layer.mixer.norm.weight, mixer.norm.weight)
        copied(layer.mixer.out_proj.weight, mixer.project_out.weight.mT)
    theirs = reference(tokens[0], use_cache=False).last_hidden_state
    compare_gradients(model, reference, hidden(model, tokens), theirs)


def test_mamba_starts_as_its_paper_says() -> None:
    mixer = (
        build_model(parse_spec("Mamba-(4,64,start=mamba-ssm)"), vocabulary=5, classes=2, length=8, seeds=[0])
        .blocks[0]
        .mixer
    )
    assert isinstance(mixer, MambaMixer)
    torch.testing.assert_close(mixer.log_rate.exp()[0, 7], torch.arange(1.0, 17.0))
    step = functional.softplus(mixer.step_bias)
    assert float(step.detach().min()) >= 1e-3 * 0.999 and float(step.detach().max()) <= 1e-1 * 1.001
    assert float(mixer.project_out.weight.detach().abs().max()) <= 1 / math.sqrt(128 * 4)
    assert mixer.rank == 4 and float(mixer.project_step.weight.detach().abs().max()) <= 0.5


def test_linear_attention_is_its_formula() -> None:
    mixer = started(LINEAR_TRANSFORMER.mixer(WIDTH, {"heads": 4}, 1, Place(0, 1, LENGTH)))
    assert isinstance(mixer, LinearAttention)
    x, size = inputs(), WIDTH // 4

    def output(sequence: Tensor, t: int) -> Tensor:
        q, k, v = (sequence @ mixer.project.weight[0] + mixer.project.bias[0]).split(WIDTH, dim=-1)
        heads = []
        for head in range(4):
            cut = slice(head * size, (head + 1) * size)
            similar = [torch.dot(phi(q[t, cut]), phi(k[s, cut])) for s in range(t + 1)]
            total = sum(w * v[s, cut] for s, w in enumerate(similar))
            heads.append(total / (sum(similar) + 1e-6))
        return torch.cat(heads) @ mixer.output.weight[0] + mixer.output.bias[0]

    def phi(z: Tensor) -> Tensor:
        return torch.where(z > 0, z + 1, torch.exp(z))

    positions = [0, 1, 7, 40, LENGTH - 1]
    ours = mixer(x)[0]
    for row in range(BATCH):
        for t in positions:
            torch.testing.assert_close(ours[row, t], output(x[0, row], t), rtol=1e-9, atol=1e-11)


def test_retention_is_its_formula() -> None:
    mixer = started(RETNET.mixer(WIDTH, {"heads": 2}, 1, Place(0, 1, LENGTH)))
    assert isinstance(mixer, Retention)
    x, size, wide = inputs(), WIDTH // 2, WIDTH
    angles = 10000.0 ** -(torch.arange(size // 2, dtype=torch.float64) / (size // 2 - 1))

    def complex_pairs(z: Tensor) -> Tensor:
        return torch.complex(z[: size // 2], z[size // 2 :])

    def output(sequence: Tensor, t: int) -> Tensor:
        parts = sequence @ mixer.project.weight[0]
        q, k, v, gate = parts.split([WIDTH, WIDTH, 2 * WIDTH, 2 * WIDTH], dim=-1)
        heads = []
        for head in range(2):
            gamma = 1 - 2.0 ** (-5 - head)
            cut, values = slice(head * size, (head + 1) * size), slice(head * wide, (head + 1) * wide)
            total = torch.zeros(wide, dtype=torch.float64)
            for s in range(t + 1):
                # q e^{itθ} against the conjugate of k e^{isθ}, as in the paper's equation 3.
                turned = complex_pairs(q[t, cut]) * torch.polar(torch.ones_like(angles), (t - s) * angles)
                score = (turned * complex_pairs(k[s, cut]).conj()).real.sum() / math.sqrt(size)
                total = total + gamma ** (t - s) * score * v[s, values]
            centred = total - total.mean()
            heads.append(centred / torch.sqrt(centred.square().mean() + 1e-6))
        normal = torch.cat(heads) * mixer.norm_weight[0] + mixer.norm_bias[0]
        return (normal * gate[t] * torch.sigmoid(gate[t])) @ mixer.output.weight[0]

    ours = mixer(x)[0]
    for row in range(BATCH):
        for t in (0, 1, 7, 40, LENGTH - 1):
            torch.testing.assert_close(ours[row, t], output(x[0, row], t), rtol=1e-8, atol=1e-10)


def test_gated_linear_attention_is_its_recurrence() -> None:
    mixer = started(GATED_LINEAR_ATTENTION.mixer(WIDTH, {"heads": 2}, 1, Place(0, 1, LENGTH)))
    assert isinstance(mixer, GatedLinearAttentionMixer)
    x, keys, values = inputs(), WIDTH // 4, WIDTH // 2
    ours = mixer(x)[0]
    for row in range(BATCH):
        state = torch.zeros(2, keys, values, dtype=torch.float64)
        for t in range(LENGTH):
            now = x[0, row, t]
            q, k, v, gate = (
                now @ part.weight[0] for part in (mixer.to_query, mixer.to_key, mixer.to_value, mixer.to_gate)
            )
            logits = now @ mixer.to_rank.weight[0] @ mixer.to_decay.weight[0] + mixer.to_decay.bias[0]
            alpha = torch.sigmoid(logits) ** (1 / 16)
            outputs = []
            for head in range(2):
                key, value = slice(head * keys, (head + 1) * keys), slice(head * values, (head + 1) * values)
                state[head] = torch.diag(alpha[key]) @ state[head] + torch.outer(k[key], v[value])
                o = state[head].T @ q[key] / math.sqrt(keys)
                o = o / torch.sqrt(o.square().mean() + 1e-5) * mixer.norm.weight[0]
                outputs.append(o * gate[value] * torch.sigmoid(gate[value]))
            expected = torch.cat(outputs) @ mixer.output.weight[0]
            torch.testing.assert_close(ours[row, t], expected, rtol=1e-8, atol=1e-10)


def test_gated_deltanet_is_its_recurrence() -> None:
    mixer = started(GATED_DELTANET.mixer(WIDTH, {"heads": 2}, 1, Place(0, 1, LENGTH)))
    assert isinstance(mixer, GatedDeltaMixer)
    x, keys, values = inputs(), 3 * WIDTH // 8, 3 * WIDTH // 4
    ours = mixer(x)[0]
    taps = mixer.convolution.weight[0]
    for row in range(BATCH):
        projected = x[0, row] @ mixer.project.weight[0]
        state = torch.zeros(2, keys, values, dtype=torch.float64)
        for t in range(LENGTH):
            summed = sum(taps[:, 3 - back] * projected[t - back] for back in range(min(4, t + 1)))
            q, k, v = (summed * torch.sigmoid(summed)).split([2 * keys, 2 * keys, 2 * values])
            rates = x[0, row, t] @ mixer.to_rates.weight[0]
            gate = x[0, row, t] @ mixer.to_gate.weight[0]
            outputs = []
            for head in range(2):
                key, value = slice(head * keys, (head + 1) * keys), slice(head * values, (head + 1) * values)
                unit_q = q[key] / torch.sqrt(q[key].square().sum() + 1e-6) / math.sqrt(keys)
                unit_k = k[key] / torch.sqrt(k[key].square().sum() + 1e-6)
                step = torch.log1p(torch.exp(rates[head] + mixer.step_bias[0, head]))
                alpha, beta = torch.exp(-torch.exp(mixer.log_rate[0, head]) * step), torch.sigmoid(rates[2 + head])
                kept = torch.eye(keys, dtype=torch.float64) - beta * torch.outer(unit_k, unit_k)
                state[head] = alpha * kept @ state[head] + beta * torch.outer(unit_k, v[value])
                o = state[head].T @ unit_q
                o = o / torch.sqrt(o.square().mean() + 1e-5) * mixer.norm.weight[0]
                outputs.append(o * gate[value] * torch.sigmoid(gate[value]))
            expected = torch.cat(outputs) @ mixer.output.weight[0]
            torch.testing.assert_close(ours[row, t], expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("growing", [False, True])
def test_dss_is_its_explicit_kernel(growing: bool) -> None:
    """Proposition 1b of Gupta et al.: Re(w Λ⁻¹ row-softmax(ΛΔ l)), also where modes grow."""
    mixer = DiagonalStateSpace(WIDTH, 1, 6, LENGTH)
    initialise(mixer, [5])
    mixer = mixer.double()
    if growing:
        with torch.no_grad():
            mixer.rate[0, ::2, 0] = 0.3
    rate = torch.view_as_complex(mixer.rate[0])
    step = mixer.log_step[0].exp()
    exponent = step[:, None, 0] * rate.real + 1j * step[:, None, 1] * rate.imag
    powers = exponent[..., None] * torch.arange(LENGTH)
    # exp is at most e^(0.3·0.1·75), so the softmax can be taken as it is.
    share = powers.exp() / powers.exp().sum(-1, keepdim=True)
    weight = torch.view_as_complex(mixer.weight[0]) / rate
    kernel = torch.einsum("hn,hnl->lh", weight, share).real
    torch.testing.assert_close(mixer.kernel(LENGTH)[0], kernel, rtol=1e-4, atol=1e-5)
    x = inputs()
    ours = mixer(x)[0]
    mine = mixer.kernel(LENGTH)[0]
    for t in (0, 1, 33, LENGTH - 1):
        mixed = sum(mine[t - s] * x[0, :, s] for s in range(t + 1)) + mixer.skip[0] * x[0, :, t]
        half = 0.5 * mixed * (1 + torch.erf(mixed / math.sqrt(2)))
        torch.testing.assert_close(ours[:, t], half @ mixer.output.weight[0] + mixer.output.bias[0])


def test_dss_starts_at_the_skew_part_of_hippo() -> None:
    number = torch.arange(16, dtype=torch.float64)
    hippo = torch.sqrt((2 * number[:, None] + 1) * (2 * number + 1)).tril(-1)
    values = torch.linalg.eigvals((hippo - hippo.T) / 2)
    expected = values.imag.sort(descending=True).values[:8]
    assert float(values.real.abs().max()) < 1e-9
    torch.testing.assert_close(_skew_hippo(8)[:, 1], expected)
    assert torch.equal(_skew_hippo(8)[:, 0], torch.full((8,), -0.5, dtype=torch.float64))
