"""Scans over time of the gated recurrences, for all members at once, with their gradients written out.

The product with the recurrent weights needs the state before it, so time is a loop; what can be taken out of it is: the
input's share of the gates is one product for all steps, done before, and the gradient of the recurrent weights one
product for all steps, done after. Inside, one batched product and the gates are left, without a graph to record.

Memory: the gates and states of all steps, members · batch · length · (4 + 3) · width numbers for the LSTM.

On a GPU the gates of a step are one kernel, the one that torch's own LSTM cell uses. Where torch's whole layers are
faster, member by member, they run instead (``kernels.torch_layers``); see ``benchmarks/models.py`` for the numbers.
"""

from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch.autograd import Function

from separatrix.models.scans.exact import at_least_float32, exactly
from separatrix.models.scans.once import differentiable_once

Context: TypeAlias = Any
"""What torch hands to a function to keep tensors for its gradient."""

_sigmoid_backward = torch.ops.aten.sigmoid_backward.grad_input
_tanh_backward = torch.ops.aten.tanh_backward.grad_input


def time_major(x: Tensor) -> Tensor:
    """(members, batch, length, width) to (length, members, batch, width), without a copy."""
    return x.permute(2, 0, 1, 3)


def time_inside(x: Tensor) -> Tensor:
    """(length, members, batch, width) to (members, batch, length, width), without a copy."""
    return x.permute(1, 2, 0, 3)


def in_full_precision(scan: type[Function], entering: Tensor, *weights: Tensor) -> Tensor:
    """Return a scan over (members, batch, length, …) in at least float32, whatever autocast says: states add up over
    time."""
    kind = at_least_float32(entering.dtype)
    with exactly(entering):
        found = scan.apply(time_major(entering.to(kind)), *(weight.to(kind) for weight in weights))
    return time_inside(found).to(entering.dtype)


def lstm_scan(entering: Tensor, weight: Tensor) -> Tensor:
    """Return hidden states (members, batch, length, m) of an LSTM that starts at zero.

    entering (members, batch, length, 4m): W x + b for the gates i, f, g, o; weight (members, m, 4m).
    """
    return lstm_scan_and_cell(entering, weight)[0]


def lstm_scan_and_cell(entering: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """Return the same, and the cell after the last position (members, batch, m), in at least float32."""
    kind, scan = at_least_float32(entering.dtype), FusedLSTMScan if entering.is_cuda else LSTMScan
    with exactly(entering):
        hidden, cell = scan.apply(time_major(entering.to(kind)), weight.to(kind))
    return time_inside(hidden).to(entering.dtype), cell


class LSTMScan(Function):
    """The LSTM with plain tensor operations; time-major, (length, members, batch, …)."""

    @staticmethod
    def forward(ctx: Context, entering: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Return hidden states after every step, and the last cell."""
        length, members, batch, size = entering.shape
        m = size // 4
        gates = torch.empty(entering.shape, dtype=entering.dtype, device=entering.device)
        hidden, cell = (entering.new_empty(length + 1, members, batch, m) for _ in range(2))
        squashed = entering.new_empty(length, members, batch, m)
        hidden[0].zero_()
        cell[0].zero_()
        for step in range(length):
            now = gates[step]
            torch.baddbmm(entering[step], hidden[step], weight, out=now)
            now[..., : 2 * m].sigmoid_()
            now[..., 2 * m : 3 * m].tanh_()
            now[..., 3 * m :].sigmoid_()
            i, f, g, o = now.chunk(4, dim=-1)
            torch.mul(f, cell[step], out=cell[step + 1])
            cell[step + 1].addcmul_(i, g)
            torch.tanh(cell[step + 1], out=squashed[step])
            torch.mul(o, squashed[step], out=hidden[step + 1])
        ctx.save_for_backward(gates, hidden, cell, squashed, weight)
        return hidden[1:], cell[-1].clone()

    @staticmethod
    @differentiable_once
    def backward(ctx: Context, *gradients: Tensor) -> tuple[Tensor, Tensor]:
        """Back through time."""
        outer, behind = gradients
        gates, hidden, cell, squashed, weight = ctx.saved_tensors
        back = weight.transpose(1, 2)
        change = torch.empty_like(gates)
        of_cell, of_hidden = behind.clone(), torch.zeros_like(cell[0])
        for step in range(len(gates) - 1, -1, -1):
            total = of_hidden.add_(outer[step])
            i, f, g, o = gates[step].chunk(4, dim=-1)
            to_i, to_f, to_g, to_o = change[step].chunk(4, dim=-1)
            _sigmoid_backward(total * squashed[step], o, grad_input=to_o)
            of_cell.add_(torch.ops.aten.tanh_backward(total * o, squashed[step]))
            _sigmoid_backward(of_cell * cell[step], f, grad_input=to_f)
            _sigmoid_backward(of_cell * g, i, grad_input=to_i)
            _tanh_backward(of_cell * i, g, grad_input=to_g)
            of_cell.mul_(f)
            torch.bmm(change[step], back, out=of_hidden)
        return change, summed_products(hidden[:-1], change)


class FusedLSTMScan(Function):
    """The LSTM with the gates of a step as one CUDA kernel, the one of ``torch.nn.LSTMCell``."""

    @staticmethod
    def forward(ctx: Context, entering: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
        """Return hidden states after every step, and the last cell."""
        length, members, batch, size = entering.shape
        rows, m = members * batch, size // 4
        gates_in = entering.contiguous().view(length, rows, size).unbind()
        hidden, cells, gates = [entering.new_zeros(rows, m)], [entering.new_zeros(rows, m)], []
        for step in range(length):
            recurrent = torch.bmm(hidden[-1].view(members, batch, m), weight).view(rows, size)
            after, cell, workspace = torch.ops.aten._thnn_fused_lstm_cell(gates_in[step], recurrent, cells[-1])
            hidden.append(after)
            cells.append(cell)
            gates.append(workspace)
        states = torch.stack(hidden).view(length + 1, members, batch, m)
        ctx.save_for_backward(states, weight, *cells, *gates)
        return states[1:], cells[-1].view(members, batch, m).clone()

    @staticmethod
    @differentiable_once
    def backward(ctx: Context, *gradients: Tensor) -> tuple[Tensor, Tensor]:
        """Back through time."""
        outer, behind = gradients
        states, weight, *saved = ctx.saved_tensors
        length, members, batch, m = outer.shape
        rows, cells, gates = members * batch, saved[: length + 1], saved[length + 1 :]
        above, back = outer.contiguous().view(length, rows, m).unbind(), weight.transpose(1, 2)
        changes: list[Tensor] = []
        total, of_cell = above[-1], behind.contiguous().view(rows, m)
        for step in range(length - 1, -1, -1):
            change, of_cell, _ = torch.ops.aten._thnn_fused_lstm_cell_backward_impl(
                total, of_cell, cells[step], cells[step + 1], gates[step], False
            )
            changes.append(change)
            if step:
                into = above[step - 1].view(members, batch, m)
                total = torch.baddbmm(into, change.view(members, batch, -1), back).view(rows, m)
        change = torch.stack(changes[::-1]).view(length, members, batch, 4 * m)
        return change, summed_products(states[:-1], change)


def gru_scan(entering: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Return hidden states (members, batch, length, m) of a GRU that starts at zero.

    entering (members, batch, length, 3m): W x + b for the gates r, z, n; weight (members, m, 3m); bias (members, m)
    of the candidate's recurrent part.
    """
    return in_full_precision(GRUScan, entering, weight, bias)


class GRUScan(Function):
    """The GRU with plain tensor operations; time-major."""

    @staticmethod
    def forward(ctx: Context, entering: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        """Return hidden states after every step."""
        length, members, batch, size = entering.shape
        m = size // 3
        gates = torch.empty(entering.shape, dtype=entering.dtype, device=entering.device)
        candidate = entering.new_empty(length, members, batch, m)
        hidden = entering.new_empty(length + 1, members, batch, m)
        hidden[0].zero_()
        for step in range(length):
            recurrent, now = torch.bmm(hidden[step], weight), gates[step]
            torch.add(entering[step, ..., : 2 * m], recurrent[..., : 2 * m], out=now[..., : 2 * m]).sigmoid_()
            r, z, n = now.chunk(3, dim=-1)
            torch.add(recurrent[..., 2 * m :], bias.unsqueeze(1), out=candidate[step])
            torch.addcmul(entering[step, ..., 2 * m :], r, candidate[step], out=n).tanh_()
            torch.lerp(n, hidden[step], z, out=hidden[step + 1])
        ctx.save_for_backward(gates, candidate, hidden, weight)
        return hidden[1:]

    @staticmethod
    @differentiable_once
    def backward(ctx: Context, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Back through time."""
        (outer,) = gradients
        gates, candidate, hidden, weight = ctx.saved_tensors
        m = hidden.shape[-1]
        back = weight.transpose(1, 2)
        # The candidate's gradient reaches the input as it is and the recurrent product only through r.
        to_input, to_product = torch.empty_like(gates), torch.empty_like(gates)
        of_hidden = torch.zeros_like(hidden[0])
        for step in range(len(gates) - 1, -1, -1):
            total = of_hidden + outer[step]
            r, z, n = gates[step].chunk(3, dim=-1)
            to_r, to_z, to_n = to_input[step].chunk(3, dim=-1)
            _sigmoid_backward(total * (hidden[step] - n), z, grad_input=to_z)
            _tanh_backward(total * (1.0 - z), n, grad_input=to_n)
            _sigmoid_backward(to_n * candidate[step], r, grad_input=to_r)
            to_product[step, ..., : 2 * m] = to_input[step, ..., : 2 * m]
            torch.mul(to_n, r, out=to_product[step, ..., 2 * m :])
            of_hidden = torch.baddbmm(total * z, to_product[step], back)
        return to_input, summed_products(hidden[:-1], to_product), to_product[..., 2 * m :].sum(dim=(0, 2))


def rnn_scan(entering: Tensor, weight: Tensor) -> Tensor:
    """Return hidden states (members, batch, length, m) of h ← tanh(entering + h W) from zero; weight (members, m,
    m)."""
    return in_full_precision(RNNScan, entering, weight)


class RNNScan(Function):
    """The plain recurrent network; time-major."""

    @staticmethod
    def forward(ctx: Context, entering: Tensor, weight: Tensor) -> Tensor:
        """Return hidden states after every step."""
        length = len(entering)
        hidden = entering.new_empty(length + 1, *entering.shape[1:])
        hidden[0].zero_()
        for step in range(length):
            torch.baddbmm(entering[step], hidden[step], weight, out=hidden[step + 1]).tanh_()
        ctx.save_for_backward(hidden, weight)
        return hidden[1:]

    @staticmethod
    @differentiable_once
    def backward(ctx: Context, *gradients: Tensor) -> tuple[Tensor, Tensor]:
        """Back through time."""
        (outer,) = gradients
        hidden, weight = ctx.saved_tensors
        back = weight.transpose(1, 2)
        change = torch.empty_like(hidden[1:])
        of_hidden = torch.zeros_like(hidden[0])
        for step in range(len(change) - 1, -1, -1):
            _tanh_backward(of_hidden + outer[step], hidden[step + 1], grad_input=change[step])
            of_hidden = torch.bmm(change[step], back)
        return change, summed_products(hidden[:-1], change)


def summed_products(states: Tensor, changes: Tensor) -> Tensor:
    """Σ over steps and batch of stateᵀ change: (length, members, batch, m or k) give (members, m, k)."""
    left = states.transpose(0, 1).flatten(1, 2).transpose(1, 2)
    return torch.bmm(left, changes.transpose(0, 1).flatten(1, 2))
