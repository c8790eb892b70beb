"""The softmax Transformer, GPT-2 style: pre-norm, learned absolute positions, GELU feed-forward four times as wide.

BHBK24 §6 and Appendix H train it ("the Huggingface Transformers library with the GPT-2 backbone", heads 4 and 8,
absolute encodings); Radford et al. 2019 define it. Weights are those of the Hugging Face GPT-2, whose outputs the
tests reproduce: normal with deviation 0.02, zero biases, last maps of residual branches divided by √(2·layers).

Other positions: sinusoidal (Vaswani et al. 2017), rotary (Su et al. 2021, in pairs of halves), none.

Only what is read is computed. Where few positions are read, keys and values are not even formed: with q the query of a
head, the scores qᵀ W_K x_j = (W_Kᵀ q)ᵀ x_j need one vector W_Kᵀ q for each head and read position, and the average
of W_V x_j is W_V applied to the average of x_j. That costs N·width·heads for each read instead of N·width². The key's
bias adds the same number to all scores of a query and drops out of the softmax.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from separatrix.errors import SeparatrixError
from separatrix.models.architecture import Architecture, AttentionShape, Option, Options, Place
from separatrix.models.ensemble import Constant, EnsembleLinear, Generators, Normal, linear
from separatrix.models.mixer import Mixer, at_positions

POSITIONS = Option(
    "positions", "learned", "what tells positions apart", choices=("learned", "sinusoidal", "rotary", "none")
)
HEADS = Option("heads", 1, "attention heads; must divide the width", minimum=1)
MASK = Option("mask", "causal", "causal: a query sees no later position; none: it sees all", choices=("causal", "none"))


class SoftmaxAttention(Mixer):
    """Multi-head softmax attention for all members."""

    def __init__(self, width: int, members: int, heads: int, *, causal: bool, rotary: bool, layers: int) -> None:
        super().__init__(members)
        self.width, self.heads, self.dimension = width, heads, width // heads
        self.causal, self.rotary = causal, rotary
        self.scale = 1.0 / math.sqrt(self.dimension)
        self.project = EnsembleLinear(members, width, 3 * width, weight_start=Normal(0.02), bias_start=Constant(0.0))
        self.output = EnsembleLinear(
            members, width, width, weight_start=Normal(0.02 / math.sqrt(2 * layers)), bias_start=Constant(0.0)
        )

    def initialise(self, generators: Generators) -> None:
        """Both maps draw their own weights."""

    def forward(self, x: Tensor, *, read: Tensor | None = None, lengths: Tensor | None = None) -> Tensor:
        """x (members, batch, length, width) to the same at the positions read."""
        if read is None:
            return self.output(self._everywhere(x, lengths))
        # Multiplications for each sequence: with keys and values formed, and without.
        length, reads = x.shape[2], read.shape[2]
        formed = 2 * length * self.width**2
        if not self.rotary and 2 * reads * self.heads * (length + self.width) * self.width < formed:
            return self.output(self._folded(x, read, lengths))
        return self.output(self._at(x, read, lengths))

    def _everywhere(self, x: Tensor, lengths: Tensor | None) -> Tensor:
        query, key, value = self._heads(self.project(x)).unbind(dim=0)
        if self.rotary:
            place = torch.arange(x.shape[2], device=x.device)
            query, key = rotate(query, place), rotate(key, place)
        # Behind a causal mask padding at the end is never seen; without one its keys are hidden.
        mask = None if self.causal or lengths is None else visible(None, lengths, x.shape[2])
        attended = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, is_causal=self.causal)
        return self._joined(attended, x)

    def _at(self, x: Tensor, read: Tensor, lengths: Tensor | None) -> Tensor:
        weight, bias, width = self.project.weight, self.project.bias, self.width
        assert bias is not None
        query = self._heads(linear(at_positions(x, read), weight[..., :width], bias[..., :width]))[0]
        key, value = self._heads(linear(x, weight[..., width:], bias[..., width:])).unbind(dim=0)
        if self.rotary:
            query = rotate(query, read.flatten(0, 1).unsqueeze(1))
            key = rotate(key, torch.arange(x.shape[2], device=x.device))
        mask = visible(read if self.causal else None, lengths, x.shape[2])
        attended = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        return self._joined(attended, x)

    def _folded(self, x: Tensor, read: Tensor, lengths: Tensor | None) -> Tensor:
        members, batch, length, width = x.shape
        reads, heads, inner = read.shape[2], self.heads, self.dimension
        weight, bias = self.project.weight, self.project.bias
        assert bias is not None
        query = linear(at_positions(x, read), weight[..., :width], bias[..., :width])
        # (members·heads, batch·reads, m) times (members·heads, m, width): the vectors W_Kᵀ q.
        query = query.view(members, batch * reads, heads, inner).transpose(1, 2).reshape(-1, batch * reads, inner)
        to_key = by_heads(weight[..., width : 2 * width], heads)
        asked = torch.bmm(query, to_key.transpose(1, 2)).view(members, heads, batch, reads, width)
        asked = asked.permute(0, 2, 3, 1, 4).reshape(members * batch, reads * heads, width)
        flat = x.reshape(members * batch, length, width)
        scores = torch.bmm(asked, flat.transpose(1, 2)).mul(self.scale)
        mask = visible(read if self.causal else None, lengths, length)
        if mask is not None:
            shown = mask.view(members * batch, -1, 1, length)
            scores = scores.view(-1, reads, heads, length).masked_fill(~shown, float("-inf")).view_as(scores)
        averaged = torch.bmm(torch.softmax(scores, dim=-1), flat)
        averaged = averaged.view(members, batch * reads, heads, width).transpose(1, 2).reshape(-1, batch * reads, width)
        values = torch.bmm(averaged, by_heads(weight[..., 2 * width :], heads))
        values = values.view(members, heads, batch * reads, inner).transpose(1, 2).reshape(members, batch, reads, width)
        return values + bias[:, None, None, 2 * width :]

    def _heads(self, projected: Tensor) -> Tensor:
        """(members, batch, length, parts·width) to (parts, members·batch, heads, length, m), without a copy."""
        members, batch, length, _ = projected.shape
        split = projected.view(members * batch, length, -1, self.heads, self.dimension)
        return split.permute(2, 0, 3, 1, 4)

    def _joined(self, attended: Tensor, x: Tensor) -> Tensor:
        return attended.transpose(1, 2).reshape(*x.shape[:2], -1, self.width)


def by_heads(weight: Tensor, heads: int) -> Tensor:
    """(members, width, heads·m) to (members·heads, width, m)."""
    members, width, _ = weight.shape
    return weight.view(members, width, heads, -1).transpose(1, 2).reshape(members * heads, width, -1)


def visible(read: Tensor | None, lengths: Tensor | None, length: int) -> Tensor | None:
    """Which keys queries see, bool (members·batch, 1, reads or 1, length); None when they see all.

    ``read`` is given where a query sees no position behind its own, ``lengths`` where there is padding.
    """
    given = read if read is not None else lengths
    if given is None:
        return None
    key = torch.arange(length, device=given.device)
    seen = None if read is None else key <= read.reshape(-1, 1, read.shape[-1], 1)
    if lengths is None:
        return seen
    inside = key < lengths.reshape(-1, 1, 1, 1)
    return inside if seen is None else seen & inside


def rotate(x: Tensor, place: Tensor) -> Tensor:
    """Rotary positions (Su et al. 2021): x (…, length, m), place (…, length) int64; pairs (i, i + m/2)."""
    half = x.shape[-1] // 2
    frequency = 10000.0 ** (-torch.arange(half, device=x.device, dtype=torch.float32) / half)
    angle = place.unsqueeze(-1).to(torch.float32) * frequency
    cosine, sine = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    first, second = x[..., :half], x[..., half:]
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], dim=-1)


def check_heads(short: str, width: int, options: Options) -> None:
    """Raise a one-line error unless the heads divide the width and rotary positions have pairs to turn."""
    heads = options["heads"]
    if width % heads:
        fitting = [str(each) for each in range(1, min(width, 64) + 1) if width % each == 0]
        raise SeparatrixError(f"heads={heads} does not divide width {width} of {short}; choose {', '.join(fitting)}")
    if options.get("positions") == "rotary" and (width // heads) % 2:
        raise SeparatrixError(
            f"positions=rotary turns pairs of numbers, but a head of {short} has {width // heads}; make that even"
        )


@dataclass(frozen=True, kw_only=True)
class Transformer(Architecture):
    """GPT-2's layer."""

    name: str = "transformer"
    short: str = "TF"
    title: str = "Transformer (softmax attention, GPT-2 style)"
    reference: str = "Vaswani et al. 2017; Radford et al. 2019 (GPT-2); BHBK24 §6, Appendix H"
    equations: str = (
        "q_i, k_i, v_i = W_Q x_i, W_K x_i, W_V x_i for each head; a_ij = softmax_{j ≤ i}(q_i·k_j / √m); "
        "y_i = W_O [Σ_j a_ij v_j]; x ← x + y(LN x); x ← x + W_2 GELU(W_1 LN x)"
    )
    deviations: tuple[str, ...] = ("no dropout", "a readout of its own with a bias, not the transposed embedding")
    options: tuple[Option, ...] = (HEADS, MASK, POSITIONS)

    def check(self, width: int, options: Options) -> None:
        """Heads divide the width."""
        check_heads(self.short, width, options)

    def mixer(self, width: int, options: Options, members: int, place: Place) -> Mixer:
        """Softmax attention."""
        return SoftmaxAttention(
            width, members, options["heads"],
            causal=options["mask"] == "causal", rotary=options["positions"] == "rotary", layers=place.layers,
        )  # fmt: skip

    def state_numbers(self, width: int, options: Options, length: int) -> int:
        """Keys and values of all positions."""
        del options
        return 2 * width * length

    def attention(self, width: int, options: Options) -> AttentionShape:
        """H heads of dimension width/H."""
        return AttentionShape(options["heads"], width // options["heads"])


ARCHITECTURE = Transformer()
