"""An LSTM over all positions: one Triton kernel each way on a GPU, the scan of ``scans.gated`` elsewhere.

Where the kernel does not fit and there are few members, torch's own layer (``torch_layers``) runs instead of both.
"""

import torch
from torch import Tensor

from separatrix.models.kernels.available import interpreted, kernel_takes
from separatrix.models.scans.exact import exactly
from separatrix.models.scans.gated import lstm_scan_and_cell

# The derivative to the state of a block of sequences must fit into a program's registers.
LARGEST = 256
# Offsets within a member are 32-bit numbers.
MOST_NUMBERS = 2**31


def lstm_states(entering: Tensor, weight: Tensor) -> Tensor:
    """Return hidden states (members, batch, length, m) of an LSTM that starts at zero.

    entering (members, batch, length, 4m): W x + b for the gates i, f, g, o; weight (members, 4m, m), as torch has it.
    """
    return lstm_states_and_cell(entering, weight)[0]


def lstm_states_and_cell(entering: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """Return the same, and the cell after the last position (members, batch, m), in at least float32."""
    if not lstm_fits(entering, weight.shape[-1]):
        return lstm_scan_and_cell(entering, weight.transpose(1, 2))
    from separatrix.models.kernels.gpu.launch import launched_pair
    from separatrix.models.kernels.gpu.lstm_function import LSTMStates

    with exactly(entering):
        return launched_pair(LSTMStates, entering, weight.to(entering.dtype), None)


def lstm_fits(x: Tensor, width: int) -> bool:
    """Return whether the kernel takes an LSTM of this width over x (members, batch, length, …).

    Products in full float32 are faster step by step with cuDNN.
    """
    _, batch, length, _ = x.shape
    half = x.dtype in (torch.bfloat16, torch.float16) or torch.is_autocast_enabled(x.device.type)
    small = width <= LARGEST and batch * length * 4 * width < MOST_NUMBERS and min(x.shape) > 0
    return kernel_takes(x) and small and (half or interpreted())
