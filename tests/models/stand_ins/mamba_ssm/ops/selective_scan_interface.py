"""``selective_scan_fn`` by the recurrence of arXiv:2312.00752; it refuses what the CUDA kernel refuses."""

import torch
from torch import Tensor
from torch.nn import functional

selective_scan_cuda = "the compiled part"
CALLS: list[tuple[int, ...]] = []
"""The shape of u in each call."""


def selective_scan_fn(
    u: Tensor,
    delta: Tensor,
    A: Tensor,
    B: Tensor,
    C: Tensor,
    D: Tensor | None = None,
    z: Tensor | None = None,
    delta_bias: Tensor | None = None,
    delta_softplus: bool = False,
    return_last_state: bool = False,
) -> Tensor:
    """u, delta, z (batch, dim, length); A (dim, n); B, C (batch, groups, n, length); D, delta_bias (dim,)."""
    CALLS.append(tuple(u.shape))
    batch, dim, length = u.shape
    states, groups = A.shape[1], B.shape[1]
    assert u.dtype in (torch.float32, torch.float16, torch.bfloat16)
    assert delta.dtype == B.dtype == C.dtype == u.dtype and (z is None or z.dtype == u.dtype)
    assert A.dtype == torch.float32 and A.shape == (dim, states) and states <= 256 and dim % groups == 0
    assert D is not None and delta_bias is not None and D.dtype == delta_bias.dtype == torch.float32
    assert D.shape == delta_bias.shape == (dim,) and D.stride(-1) == delta_bias.stride(-1) == 1
    assert delta.shape == u.shape and (z is None or z.shape == u.shape)
    assert B.shape == C.shape == (batch, groups, states, length)
    assert all(each.stride(-1) == 1 or length == 1 for each in (u, delta, B, C))
    assert not return_last_state

    step = delta.float() + delta_bias[:, None]
    step = functional.softplus(step) if delta_softplus else step
    write, query = (each.float().repeat_interleave(dim // groups, dim=1) for each in (B, C))
    state, outputs = u.new_zeros(batch, dim, states, dtype=torch.float32), []
    for time in range(length):
        decay = torch.exp(step[:, :, time, None] * A)
        state = decay * state + (step[:, :, time] * u[:, :, time]).unsqueeze(-1) * write[..., time]
        outputs.append((state * query[..., time]).sum(-1) + D * u[:, :, time])
    output = torch.stack(outputs, dim=-1)
    return (output if z is None else output * functional.silu(z.float())).to(u.dtype)
