"""How long the LSTM's kernels take on one GPU for blocks of 16, 32 and 64 sequences; batch 64, width 256, bfloat16.

Run as a script:  python -m benchmarks.gpu_lstm [--members 32,64] [--length 201] [--json FILE]

One JSON object a line: milliseconds of one layer forward and backward (the product for the recurrent weights included),
and of one position. ``blocking`` of ``separatrix.models.kernels.gpu.lstm_function`` should choose the fastest.
"""

import argparse
import json
from pathlib import Path

import torch

from benchmarks.gpu import append, timed

BATCH, WIDTH = 64, 256


def measured(members: int, length: int, rows: int, seconds: float) -> dict[str, float | int]:
    """One layer, both ways."""
    from separatrix.models.kernels.gpu.lstm_function import LSTMStates, blocking, blocking_of, multiprocessors

    device = torch.device("cuda")
    entering = torch.randn(members, BATCH, length, 4 * WIDTH, device=device, dtype=torch.bfloat16, requires_grad=True)
    weight = torch.randn(members, 4 * WIDTH, WIDTH, device=device, dtype=torch.bfloat16) / WIDTH**0.5
    weight.requires_grad_()
    cut = blocking_of(rows, WIDTH)
    states, _ = LSTMStates.apply(entering, weight, cut)
    gradient = torch.randn_like(states)
    forward = timed(lambda: LSTMStates.apply(entering, weight, cut), seconds)
    back = timed(lambda: torch.autograd.grad(states, (entering, weight), gradient, retain_graph=True), seconds)
    return {
        "members": members,
        "length": length,
        "rows": rows,
        "chosen": blocking(members, BATCH, WIDTH, multiprocessors(device)).rows,
        "forward_ms": 1e3 * forward,
        "backward_ms": 1e3 * back,
        "forward_us_a_position": 1e6 * forward / length,
        "backward_us_a_position": 1e6 * back / length,
        "weights_read_gb_per_s": members * -(-BATCH // rows) * 8 * WIDTH**2 * length / forward / 1e9,
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--members", default="5,32,64")
    parser.add_argument("--length", type=int, default=201)
    parser.add_argument("--rows", default="16,32,64")
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    for members in map(int, chosen.members.split(",")):
        for rows in map(int, chosen.rows.split(",")):
            try:
                row = measured(members, chosen.length, rows, chosen.seconds)
            except Exception as error:  # a block that does not fit is a line, not the end
                row = {"members": members, "rows": rows, "error": f"{type(error).__name__}: {str(error)[:300]}"}
            print(json.dumps(row), flush=True)
            append(chosen.json, row)
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
