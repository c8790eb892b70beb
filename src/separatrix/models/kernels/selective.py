"""The selective scan with softplus, skip and gate: one kernel each way on a GPU, plain operations elsewhere.

The kernel is Triton's of this package or the CUDA one of mamba-ssm; ``available`` says which and when.
"""

import torch
from torch import Tensor
from torch.nn import functional

from separatrix.models.kernels.available import kernel_takes
from separatrix.models.kernels.external import external_scan, external_scan_takes
from separatrix.models.scans.selective import selective_scan


def gated_selective_scan(
    x: Tensor, step: Tensor, rate: Tensor, write: Tensor, query: Tensor, skip: Tensor, gate: Tensor | None, bias: Tensor
) -> Tensor:
    """(scan(x, softplus(step + bias), rate, write, query) + skip ⊙ x) ⊙ silu(gate), without the gate for None.

    x, step, gate (members, batch, length, d); rate (members, d, n), negative; write, query (members, batch, length, n);
    skip, bias (members, d). Returns (members, batch, length, d).
    """
    learned = (x, step, rate, write, query, skip, bias)
    differentiated = torch.is_grad_enabled() and any(each.requires_grad for each in learned)
    if external_scan_takes(x, rate, differentiated):
        return external_scan(x, step, rate, write, query, skip, gate, bias)
    if not kernel_takes(x):
        return plain_gated_scan(x, step, rate, write, query, skip, gate, bias)
    from separatrix.models.kernels.gpu.launch import launched
    from separatrix.models.kernels.gpu.selective_function import GatedSelectiveScan

    return launched(GatedSelectiveScan, x, step, rate, write, query, skip, gate, bias)


def plain_gated_scan(
    x: Tensor, step: Tensor, rate: Tensor, write: Tensor, query: Tensor, skip: Tensor, gate: Tensor | None, bias: Tensor
) -> Tensor:
    """Return the same by the plain chunked scan: the kernel's oracle."""
    delta = functional.softplus(step + bias[:, None, None])
    output = torch.addcmul(selective_scan(x, delta, rate, write, query), x, skip[:, None, None])
    return output if gate is None else output * functional.silu(gate)
