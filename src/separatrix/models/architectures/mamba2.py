"""Mamba-2 (Dao and Gu 2024): a selective state space with one decay for each head, which makes it linear attention.

    [z, u, B, C, Δ] = W_in x,  [u, B, C] ← silu(conv₄([u, B, C])),  Δ = softplus(Δ + b_Δ)
    S_t = exp(Δ_t A) S_{t-1} + B_t (Δ_t u_t)ᵀ,  y_t = S_tᵀ C_t + D u_t  for each head,  out = W_out RMSNorm(y ⊙ silu(z))

B and C are shared by the heads (one group). Hyper-parameters of ``mamba_ssm``: state 128, head dimension 64, expansion
2, four taps; A uniform in -[1, 16], D = 1, Δ log-uniform in [0.001, 0.1] at the start, W_out divided by √layers. Block:
x + mixer(RMSNorm(x)) without a feed-forward part. The tests reproduce the Hugging Face Mamba-2 with copied weights.

The parallel form is the chunked attention with decay of ``models.scans.attention`` with queries C, keys B and values
Δ u (the paper's state space duality); for few reads, weighted sums over the past. State: inner·state numbers and the
convolution's window of 3·(inner + 2·state), inner = 2·width.

Deviations: where inner is smaller than 64 there is one head as wide as inner. The readout is a map of its own with a
bias, where ``mamba_ssm`` uses the transposed embedding.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from separatrix.errors import SeparatrixError
from separatrix.models.architecture import Architecture, BlockKind, Norm, Option, Options, Place
from separatrix.models.architectures._options import TAPS

if TYPE_CHECKING:
    from separatrix.models.mixer import Mixer


@dataclass(frozen=True, kw_only=True)
class Mamba2(Architecture):
    """Mamba-2's layer."""

    name: str = "mamba2"
    short: str = "Mamba2"
    title: str = "Mamba-2 (state space duality)"
    reference: str = "Dao and Gu 2024, arXiv:2405.21060"
    equations: str = (
        "[z, u, B, C, Δ] = W_in x; [u, B, C] ← silu(conv₄([u, B, C])); Δ = softplus(Δ + b_Δ); "
        "S_t = exp(Δ_t A) S_{t-1} + B_t (Δ_t u_t)ᵀ; y_t = S_tᵀ C_t + D u_t for each head; "
        "out = W_out RMSNorm(y ⊙ silu(z)); x ← x + out(RMSNorm x)"
    )
    main_equation: int = 3
    deviations: tuple[str, ...] = (
        "one head as wide as inner where inner is smaller than the head dimension",
        "a separate readout with a bias; mamba_ssm uses the transposed embedding",
    )
    options: tuple[Option, ...] = (
        Option("state", 128, "size of keys and queries (B and C)", minimum=1, maximum=1024),
        Option("expansion", 2, "channels for each number of the width", minimum=1, maximum=8),
        Option("head", 64, "channels of a head", minimum=1),
    )
    block: BlockKind = "pre-norm mixer only"
    norm: Norm = "rms"
    recurrent: bool = True
    linear_time: bool = True

    def check(self, width: int, options: Options) -> None:
        """Heads fill the inner width."""
        inner = options["expansion"] * width
        if inner % min(options["head"], inner):
            raise SeparatrixError(
                f"head={options['head']} does not divide the inner width {inner} of {self.short}; choose a divisor"
            )

    def mixer(self, width: int, options: Options, members: int, place: Place) -> "Mixer":
        """Mamba-2's mixing layer."""
        from separatrix.models.mixers.mamba2 import Mamba2Mixer

        return Mamba2Mixer(
            width, members,
            state=options["state"], expansion=options["expansion"], head=options["head"], layers=place.layers,
        )  # fmt: skip

    def state_numbers(self, width: int, options: Options, length: int) -> int:
        """inner·state and the convolution's window."""
        del length
        inner, state = options["expansion"] * width, options["state"]
        return inner * state + (TAPS - 1) * (inner + 2 * state)


ARCHITECTURE = Mamba2()
