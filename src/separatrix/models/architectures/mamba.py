"""Mamba (Gu and Dao 2023): a diagonal state space whose step, input and output maps depend on the input.

    [u, z] = W_in x,  u ← silu(conv₄(u)),  [r, B, C] = W_x u,  Δ = softplus(W_Δ r + b_Δ)
    h_t = exp(Δ_t A) ⊙ h_{t-1} + Δ_t u_t B_tᵀ,  y_t = h_t C_t + D ⊙ u_t,  out = W_out (y ⊙ silu(z))

Hyper-parameters of the paper and of ``mamba_ssm``: state 16, expansion 2, four taps, rank of Δ = ⌈width/16⌉;
A = -(1, …, 16) (S4D-real), D = 1, Δ log-uniform in [0.001, 0.1] at the start. Block: x + mixer(RMSNorm(x)), without a
feed-forward part. The tests reproduce the Hugging Face Mamba with copied weights, and hold our start against its own:
embedding, W_in and W_x normal with deviation 0.1, the convolution's bias 0, W_out as torch.nn.Linear. The layers of
``start=mamba-ssm`` are those of the authors' package instead: W_in, W_x and the convolution as torch's layers, W_out
smaller by √layers. (The embedding belongs to the model around the layers and starts as above with either.)

On a GPU the scan, its softplus, skip and gate are one Triton kernel each way; elsewhere the chunked scan of
``models.scans.selective``. Where one position is read its output is a decayed sum over the past without any scan
(CPU), and gate and output map run at the positions read alone. State: inner·(16 + 3) numbers, inner = 2·width.

Deviations: none in the layer's mathematics. All positions are computed in the activations' type, states in at least
float32. The readout is a map of its own with a bias, which starts as torch.nn.Linear, where the published models use
the transposed embedding: the answers of a task are not its input symbols.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from separatrix.models.architecture import Architecture, BlockKind, Norm, Option, Options, Place
from separatrix.models.architectures._options import TAPS
from separatrix.models.starts import Initialiser, Normal

if TYPE_CHECKING:
    from separatrix.models.mixer import Mixer

DEVIATION = 0.1
"""``initializer_range`` of the Hugging Face Mamba."""


@dataclass(frozen=True, kw_only=True)
class Mamba(Architecture):
    """Mamba's layer."""

    name: str = "mamba"
    short: str = "Mamba"
    title: str = "Mamba (selective state space)"
    reference: str = "Gu and Dao 2023, arXiv:2312.00752; BHBK24 §6, Appendix H.1"
    equations: str = (
        "[u, z] = W_in x; u ← silu(conv₄(u)); [r, B, C] = W_x u; Δ = softplus(W_Δ r + b_Δ); "
        "h_t = exp(Δ_t A) ⊙ h_{t-1} + Δ_t u_t B_tᵀ; y_t = h_t C_t + D ⊙ u_t; out = W_out (y ⊙ silu(z)); "
        "x ← x + out(RMSNorm x)"
    )
    main_equation: int = 4
    deviations: tuple[str, ...] = ("a separate readout with a bias; mamba_ssm uses the transposed embedding",)
    options: tuple[Option, ...] = (
        Option("state", 16, "numbers of state for each channel", minimum=1, maximum=256),
        Option("expansion", 2, "channels for each number of the width", minimum=1, maximum=8),
        Option("start", "hugging-face", "whose initial weights", choices=("hugging-face", "mamba-ssm")),
    )
    block: BlockKind = "pre-norm mixer only"
    norm: Norm = "rms"
    recurrent: bool = True
    linear_time: bool = True
    embedding_start: Initialiser = field(default_factory=lambda: Normal(DEVIATION))

    def mixer(self, width: int, options: Options, members: int, place: Place) -> "Mixer":
        """Mamba's mixing layer."""
        from separatrix.models.mixers.mamba import MambaMixer

        return MambaMixer(
            width, members, state=options["state"], expansion=options["expansion"], layers=place.layers,
            start=options["start"],
        )  # fmt: skip

    def state_numbers(self, width: int, options: Options, length: int) -> int:
        """inner·state and the convolution's window."""
        del length
        return options["expansion"] * width * (options["state"] + TAPS - 1)


ARCHITECTURE = Mamba()
