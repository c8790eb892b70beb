"""A norm over groups of channels and a swish gate: one Triton kernel each way on a GPU, plain operations elsewhere."""

import torch
from torch import Tensor
from torch.nn import functional

from separatrix.models.kernels.available import kernel_takes

# A wider group would not fit into a program's registers.
LARGEST = 4096


def gated_group_norm(
    x: Tensor,
    gate: Tensor,
    gain: Tensor,
    shift: Tensor | None = None,
    *,
    group: int,
    epsilon: float,
    centred: bool = False,
    norm_first: bool = True,
) -> Tensor:
    """norm(x) ⊙ silu(gate), or norm(x ⊙ silu(gate)) unless ``norm_first``; in the type of the gate.

    x, gate (members, …, width); the norm runs over groups of ``group`` channels, divides by the root mean square (after
    taking away the mean if ``centred``) and applies gain and shift, (members, width), or (members, group) if shared.
    """
    if group > LARGEST or not kernel_takes(gate):
        return plain_gated_group_norm(
            x, gate, gain, shift, group=group, epsilon=epsilon, centred=centred, norm_first=norm_first
        )
    from separatrix.models.kernels.gpu.gated_norm_function import GatedGroupNorm
    from separatrix.models.kernels.gpu.launch import launched

    return launched(GatedGroupNorm, x, gate, gain, shift, group, epsilon, centred, norm_first)


def plain_gated_group_norm(
    x: Tensor,
    gate: Tensor,
    gain: Tensor,
    shift: Tensor | None = None,
    *,
    group: int,
    epsilon: float,
    centred: bool = False,
    norm_first: bool = True,
) -> Tensor:
    """Return the same by plain operations: the kernel's oracle."""
    if not norm_first:
        x = x * functional.silu(gate)
    grouped = x.unflatten(-1, (-1, group))
    normal = (
        functional.layer_norm(grouped, (group,), None, None, epsilon)
        if centred
        else functional.rms_norm(grouped, (group,), None, epsilon)
    )
    shape = (x.shape[0], *[1] * (x.dim() - 2), -1, group)
    normal = normal * gain.view(shape) if shift is None else torch.addcmul(shift.view(shape), normal, gain.view(shape))
    normal = normal.flatten(-2).to(gate.dtype)
    return normal * functional.silu(gate) if norm_first else normal
