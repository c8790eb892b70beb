"""DSS (Gupta et al. 2022): a diagonal complex state space as one long convolution, in its softmax form.

    K_l = Re Σ_n w_n Λ_n⁻¹ softmax_l(Λ_n Δ l),  l < L,    y = K * u + D ⊙ u,    out = W GELU(y) + b

for each channel, with N = 64 complex Λ shared by the channels, w and Δ of their own (Δ apart for the real and the
imaginary part), and the softmax of complex numbers taken over the L positions the model is built for (Proposition 1b).
Everything starts as in the authors' code: Λ at the eigenvalues of positive imaginary part of the skew part of HiPPO
minus 1/2, w and D normal, Δ log-uniform in [0.001, 0.1], W as torch.nn.Linear. Block: x + mixer(LayerNorm(x)).

Recurrent form: h_t = exp(Λ Δ) h_{t-1} + c u_t and y = Re Σ w̃ h: 2·N numbers for each channel, c = 1 unless Re Λ > 0,
where it is exp(-Λ Δ (L - 1)): the state then stays bounded up to position L, and grows without bound behind it.

The kernel is a product: with l = aT + b, exp(ΛΔ l) = exp(ΛΔ aT)·exp(ΛΔ b), so that it costs N·2√L exponentials and one
matrix product for each channel instead of N·L exponentials. Convolution by FFT: N log N time, memory 4·N numbers for
each sequence and channel; on a GPU up to a few hundred positions by its sum, in one kernel.

Deviations: the softmax runs over the length that the model was built for, not over that of the batch at hand, so that
outputs do not change when padding is added and the recurrent form exists. The derivative is that of the formula, where
the authors' code cuts the shift of positive real parts out of the graph. Their trainer gives Λ, Δ and w a learning
rate of 10⁻³ of their own; ours, which compares architectures, gives all weights of a model the same one.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from separatrix.models.architecture import Architecture, BlockKind, Option, Options, Place

if TYPE_CHECKING:
    from separatrix.models.mixer import Mixer


@dataclass(frozen=True, kw_only=True)
class DSS(Architecture):
    """The DSS layer."""

    name: str = "dss"
    short: str = "DSS"
    title: str = "DSS (diagonal state space, softmax form)"
    reference: str = "Gupta et al. 2022, arXiv:2203.14343; BHBK24 §6"
    equations: str = (
        "K_l = Re Σ_n w_n Λ_n⁻¹ softmax_l(Λ_n Δ l); y = K * u + D ⊙ u; out = W GELU(y) + b; x ← x + out(LN x); "
        "as a recurrence h_t = exp(ΛΔ) h_{t-1} + u_t, y = Re Σ w̃ h"
    )
    main_equation: int = 4
    deviations: tuple[str, ...] = (
        "the softmax runs over the length the model is built for, not over the batch's",
        "the derivative goes through the shift of modes with positive real part",
        "one learning rate for all weights, where the authors' trainer gives 10⁻³ to Λ, Δ and w",
    )
    options: tuple[Option, ...] = (Option("state", 64, "complex numbers of state for each channel", minimum=1),)
    block: BlockKind = "pre-norm mixer only"
    recurrent: bool = True
    linear_time: bool = True

    def mixer(self, width: int, options: Options, members: int, place: Place) -> "Mixer":
        """Return the DSS layer."""
        from separatrix.models.mixers.dss import DiagonalStateSpace

        return DiagonalStateSpace(width, members, options["state"], place.length)

    def state_numbers(self, width: int, options: Options, length: int) -> int:
        """2·N for each channel."""
        del length
        return 2 * width * options["state"]


ARCHITECTURE = DSS()
