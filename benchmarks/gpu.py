"""Model-steps per second of the ensemble trainer on one GPU against the loop that BHBK24's authors describe.

Run as a script on a machine with a GPU:

    python -m benchmarks.gpu [ROW …] [--members 64] [--json FILE] [--profile]

A row is a model, as in ``LSTM-(3,256)``, or a model at one length, as in ``LSTM-(3,256)@200``; without any, all rows
are measured. Each is printed as it is measured, appended to the file as one JSON object a line, and is in the table
at the end.

The baseline trains one model at a time (``gpu_baselines``), ours an ensemble with data made on the device, bfloat16
products and the step in one CUDA graph. Both compute the same loss on index lookup with batch 64. A model-step is one
step of one member.

TFLOP/s count the multiplications and additions of matrix products that the plain version of a model needs where only
what is read is computed; what a kernel does beyond them is not counted, so for Mamba and DSS, whose work is elsewhere,
they say little. Bytes are a lower bound: what autograd keeps for the backward pass is written and read once, and Adam
goes through its arrays. Both are compared with what the card does at best in the same run. The baseline is timed three
times and the fastest counts; hosts that launch its kernels are not equally fast from one second to the next.
"""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.gpu_baselines import BATCH, baseline_module, baseline_step
from separatrix.models.naming import parse_spec
from separatrix.models.task_model import model_for_task
from separatrix.tasks import tasks
from separatrix.training.ensemble import Ensemble
from separatrix.training.spec import RunSpec

DEVICE = torch.device("cuda")
BASELINE_TIMES = 3
ADAM_BYTES = 36
"""For each parameter: gradient, both moments and weight read and written, the learning rate read; float32."""


@dataclass(frozen=True)
class Row:
    """A model at a length, how many members fill the card, and the ratio that is asked for (0: none)."""

    model: str
    length: int
    members: int
    wanted: float = 0.0

    @property
    def name(self) -> str:
        """As it is written on the command line."""
        return f"{self.model}@{self.length}"


ROWS = (
    *(Row("TF-(1,64)", length, 128, 100 if length == 200 else 0) for length in (50, 200, 400)),
    *(
        Row(model, length, 16, 8 if length == 100 else 0)
        for model in ("TF-(6,256)", "LinTF-(6,256)", "RetNet-(6,256)", "DSS-(6,256)")
        for length in (50, 100, 200, 400)
    ),
    *(Row("LSTM-(3,256)", length, 64, 8 if length == 200 else 0) for length in (50, 200, 400)),
    *(Row("Mamba-(6,256)", length, 16, 250 if length == 200 else 0) for length in (50, 200, 400)),
    Row("Mamba-(2,1024)", 200, 4, 100),
)


def timed(work: Callable[[], Any], seconds: float, least: int = 3) -> float:
    """Seconds for one call, after a warm-up, over at least this long."""
    for _ in range(2):
        work()
    torch.cuda.synchronize()
    started, count = time.perf_counter(), 0
    while count < least or time.perf_counter() - started < seconds:
        work()
        count += 1
        if count % 8 == 0:
            torch.cuda.synchronize()
    torch.cuda.synchronize()
    return (time.perf_counter() - started) / count


def products(model: str, length: int) -> int:
    """Multiplications and additions of the matrix products of one model-step.

    Counted on the CPU on two sequences in float64, which no kernel takes and torch's own LSTM does not hide.
    """
    task, count = tasks()["index-lookup"], 2
    module = model_for_task(parse_spec(model), task, length, [0], dtype=torch.float64)
    tokens = torch.zeros(1, count, task.positions(length), dtype=torch.int64)
    read = torch.full((1, count, 1), task.positions(length) - 1)
    with FlopCounterMode(display=False) as found:
        module(tokens, read=read).sum().backward()
    return found.get_total_flops() * BATCH // count


def specs_of(row: Row, precision: str) -> list[RunSpec]:
    """The members' runs: learning rates that differ."""
    base = RunSpec(
        task="index-lookup", architecture=str(parse_spec(row.model)), length=row.length, learning_rate=1e-4,
        steps=10**6, precision=precision,
    )  # fmt: skip
    return [base.with_changes(learning_rate=1e-4 * (1 + member / row.members)) for member in range(row.members)]


def ours(row: Row, precision: str, seconds: float) -> dict[str, Any]:
    """The ensemble trainer."""
    torch.cuda.reset_peak_memory_stats()
    started = time.perf_counter()
    ensemble = Ensemble(specs_of(row, precision), DEVICE)
    ensemble.advance(1)
    torch.cuda.synchronize()
    first = time.perf_counter() - started
    kept = kept_bytes(ensemble)
    took = timed(lambda: ensemble.advance(1), seconds, least=40)
    loss, _ = ensemble.training_metrics()
    parameters = ensemble.numbers_of_one_member()
    return {
        "steps_per_second": 1 / took,
        "model_steps_per_second": row.members / took,
        "tflops": row.members * products(row.model, row.length) / took / 1e12,
        "gb_per_s_at_least": (2 * kept + ADAM_BYTES * parameters * row.members) / took / 1e9,
        "memory_gib": torch.cuda.max_memory_allocated() / 2**30,
        "first_step_seconds": first,
        "loss_is_finite": all(each == each for each in loss),
        "parameters": parameters,
    }


def kept_bytes(ensemble: Ensemble) -> int:
    """What one step keeps for its backward pass, next to the weights: every piece of memory once."""
    sizes: dict[int, int] = {}

    def kept(tensor: Tensor) -> Tensor:
        memory = tensor.untyped_storage()
        sizes[memory.data_ptr()] = memory.nbytes()
        return tensor

    chunk = ensemble.data.training_chunk(ensemble.seeds, 0)
    with torch.autograd.graph.saved_tensors_hooks(kept, lambda tensor: tensor):
        ensemble.train_on(ensemble.for_members(chunk.part(0)))
    sizes.pop(ensemble.flat.values.untyped_storage().data_ptr(), None)
    return sum(sizes.values())


def baseline(row: Row, seconds: float) -> dict[str, Any]:
    """The plain loop: the fastest of three times, and the slowest."""
    name, module = baseline_module(row.model, row.length)
    step = baseline_step(module, row.length, DEVICE)
    times = [timed(step, seconds / BASELINE_TIMES) for _ in range(BASELINE_TIMES)]
    return {"baseline_is": name, "baseline": 1 / min(times), "baseline_slowest": 1 / max(times)}


def ceilings() -> dict[str, float]:
    """What the card does at best: bfloat16 matrix product in TFLOP/s, device copy in GB/s (read plus written)."""
    a, b = (torch.randn(8192, 8192, device=DEVICE, dtype=torch.bfloat16) for _ in range(2))
    product = timed(lambda: a @ b, 0.3)
    big = torch.randn(1 << 28, device=DEVICE)
    other = torch.empty_like(big)
    copy = timed(lambda: other.copy_(big), 0.3)
    return {"bf16_tflops": 2 * 8192**3 / product / 1e12, "copy_gb_per_s": 2 * big.numel() * 4 / copy / 1e9}


def profiled(row: Row, precision: str) -> str:
    """The kernels that take the time in ten steps."""
    ensemble = Ensemble(specs_of(row, precision), DEVICE)
    ensemble.advance(40)
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as found:
        ensemble.advance(10)
        torch.cuda.synchronize()
    rows = sorted(found.key_averages(), key=lambda each: -each.self_device_time_total)[:14]
    lines = [
        f"{each.self_device_time_total / 10:9.1f} us/step {each.count // 10:4d}x {each.key[:100]}" for each in rows
    ]
    return "\n".join(lines)


def append(path: Path | None, row: dict[str, Any]) -> None:
    """One JSON object more at the end of a file, so that what was measured stays if a later row fails."""
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def chosen_rows(names: list[str], members: int) -> list[Row]:
    """The rows that are named; a model that has no row is measured at the lengths that are written behind it."""
    found: list[Row] = []
    for name in names or [row.name for row in ROWS]:
        model, _, length = name.partition("@")
        matching = [row for row in ROWS if name in (row.name, row.model)]
        found += matching or [Row(str(parse_spec(model)), int(length or 200), members or 16)]
    return [Row(row.model, row.length, members or row.members, row.wanted) for row in found]


def table(card: dict[str, Any], rows: list[dict[str, Any]]) -> Table:
    """What was measured, for people; shares are of the ceilings of this run."""
    title = (
        f"{card['card']}, torch {card['torch']}; ceilings: {card['bf16_tflops']:.0f} TFLOP/s (bfloat16 product), "
        f"{card['copy_gb_per_s']:.0f} GB/s (copy)"
    )
    headings = (
        "model", "N", "members", "model-steps/s", "baseline", "ratio", "asked", "TFLOP/s", "of ceiling", "GB/s ≥",
        "of ceiling", "GiB",
    )  # fmt: skip
    made = Table(title=title, title_justify="left")
    for number, heading in enumerate(headings):
        made.add_column(heading, justify="left" if number == 0 else "right", no_wrap=number == 0)
    for row in rows:
        start = [row["model"], str(row["length"]), str(row["members"])]
        if "error" in row:
            made.add_row(*start, row["error"][:60])
            continue
        base, ratio = row.get("baseline"), row.get("ratio")
        made.add_row(
            *start,
            f"{row['model_steps_per_second']:.1f}",
            "" if base is None else f"{base:.1f}",
            "" if ratio is None else f"{ratio:.1f}×",
            f"{row['wanted']:.0f}×" if row["wanted"] else "",
            f"{row['tflops']:.1f}",
            f"{100 * row['tflops'] / card['bf16_tflops']:.0f} %",
            f"{row['gb_per_s_at_least']:.0f}",
            f"{100 * row['gb_per_s_at_least'] / card['copy_gb_per_s']:.0f} %",
            f"{row['memory_gib']:.1f}",
        )
    return made


def main() -> None:
    """Measure, print each row and the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW")
    parser.add_argument("--members", type=int, default=0, help="members of the ensemble instead of the row's own")
    parser.add_argument("--precision", default="bfloat16")
    parser.add_argument("--seconds", type=float, default=2.0, help="how long each side of a row is measured")
    parser.add_argument("--profile", action="store_true", help="also say which kernels take the time")
    parser.add_argument("--no-baseline", action="store_true")
    parser.add_argument("--json", type=Path, help="append what is measured to this file, one object a line")
    chosen = parser.parse_args()
    rows = chosen_rows(chosen.rows, chosen.members)
    torch.backends.cuda.matmul.allow_tf32 = True
    card = {"card": torch.cuda.get_device_name(), "torch": torch.__version__, **ceilings()}
    print(json.dumps(card), flush=True)
    append(chosen.json, card)
    found: list[dict[str, Any]] = []
    for row in rows:
        measured: dict[str, Any] = {
            "model": row.model, "length": row.length, "members": row.members, "wanted": row.wanted,
            "precision": chosen.precision,
        }  # fmt: skip
        try:
            measured |= ours(row, chosen.precision, chosen.seconds)
            if not chosen.no_baseline:
                measured |= baseline(row, chosen.seconds)
                measured["ratio"] = measured["model_steps_per_second"] / measured["baseline"]
        except Exception as error:  # a model that fails is a row of the table, not the end of it
            measured["error"] = f"{type(error).__name__}: {str(error)[:300]}"
        found.append(measured)
        print(json.dumps(measured), flush=True)
        append(chosen.json, measured)
        if chosen.profile and "error" not in measured:
            print(profiled(row, chosen.precision), flush=True)
        torch.cuda.empty_cache()
        # For a second length the compiler would make code for all lengths, which is slower: every row starts anew.
        torch.compiler.reset()
    Console(width=160).print(table(card, found))


if __name__ == "__main__":
    main()
