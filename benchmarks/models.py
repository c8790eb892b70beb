"""Forward and backward passes of every architecture, many members at once, against one eager model after the other.

Run as  python -m benchmarks models --write docs/architectures.md, or in part, on a CPU or a GPU, as
python -m benchmarks.models [--lengths 50,200] [--members 1,8] [--device cpu] [--growth] [--names TF,LSTM]

Both sides read one position, as index lookup does, in float32. Time is for one model: that of the ensemble divided by
its members, and that of the baseline's single model. Memory is what is kept for the backward pass, counted tensor by
tensor, so that it means the same on every device. The second table doubles the length from 2048 on: a linear-time
model takes twice as long each time. A pass that takes more than ten seconds is timed once and not warmed up.
"""

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import count, pairwise

import torch
from rich.console import Console
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.model_baselines import baseline
from benchmarks.report import Report, progress
from separatrix.models.allocator import keep_freed_memory
from separatrix.models.architecture import ModelSpec, architecture_named, architectures
from separatrix.models.sequence_model import build_model

WIDTH, BATCH, VOCABULARY, CLASSES = 64, 32, 128, 64
LENGTHS, MEMBERS = (50, 200, 800), (1, 8)
GROWTH_LENGTHS = (2048, 4096, 8192)
CLOCK = {"cpu": " (CPU time of one thread)", "cuda": ""}
LARGEST = {"third-order": 100, "graph-transformer": 200}
"""Longer inputs are left out: attention to pairs takes time N³ and, all at once, memory N³; a graph has N² entries."""
SLOW = 10.0
"""Seconds from which on a pass is timed without one before it that warms up and touches the memory it needs."""
ABOUT = f"""\
One layer of width {WIDTH}, batch {BATCH}, one position read. The baseline is one eager model at a time: Hugging Face or
torch where they have the architecture, else the recurrence as a loop over time, all pairs at once, or our own layer
with every position computed. Both sides are measured in the same run.

The LSTM is torch's own fused one on a CPU, member by member, and takes the time that torch takes: at this size oneDNN
is faster than a scan over all members. Third-order attention streams over pairs, so that its memory is O(N·m) and
N = 1024 runs, forwards and backwards, in far less than 2 GB on a CPU (a test holds it to that); its time is O(N³·m)."""


def settle() -> None:
    """One thread, and memory that stays in the process, for both sides alike."""
    torch.set_num_threads(1)
    keep_freed_memory()


def inputs_for(spec: ModelSpec, members: int, length: int, device: torch.device) -> Tensor:
    """Random tokens, or random graphs where the architecture reads them."""
    generator = torch.Generator().manual_seed(0)
    if spec.entries[0].reads_graphs:
        return torch.randint(2, (members, BATCH, length, length), generator=generator).to(device)
    return torch.randint(VOCABULARY, (members, BATCH, length), generator=generator).to(device)


def timed(work: Callable[[], None], device: torch.device, budget: float) -> float:
    """Seconds for one call, the shortest of several.

    On a CPU the time that this process was given, on one thread, which other work on the machine hardly disturbs; on a
    GPU the time that passed until the device was done.
    """

    def whole() -> None:
        work()
        if device.type == "cuda":
            torch.cuda.synchronize()

    clock = time.perf_counter if device.type == "cuda" else time.process_time
    fastest, started = math.inf, time.perf_counter()
    for number in count():
        before = clock()
        whole()
        taken = clock() - before
        # The first is a warm-up, unless it took so long that little of it can have been one.
        if number or taken > SLOW:
            fastest = min(fastest, taken)
            if taken > SLOW or time.perf_counter() - started > budget:
                break
    return fastest


def training_pass(model: nn.Module, logits: Callable[[], Tensor], targets: Tensor) -> Callable[[], None]:
    """One forward and one backward pass."""

    def work() -> None:
        model.zero_grad(set_to_none=True)
        functional.cross_entropy(logits().reshape(-1, CLASSES), targets.reshape(-1)).backward()

    return work


def kept_bytes(logits: Callable[[], Tensor]) -> int:
    """What a forward pass keeps for the backward pass, each storage once."""
    sizes: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        result = logits()
    del result
    return sum(sizes.values())


def ensemble_pass(
    spec: ModelSpec, members: int, length: int, device: torch.device
) -> tuple[Callable[[], None], Callable[[], Tensor]]:
    """Our pass for an ensemble, and its logits."""
    features = length if spec.entries[0].reads_graphs else 0
    model = build_model(
        spec, vocabulary=VOCABULARY, classes=CLASSES, length=length, features=features, seeds=range(members),
        device=device,
    )  # fmt: skip
    inputs = inputs_for(spec, members, length, device)
    read = torch.full((members, inputs.shape[1], 1), length - 1, device=device)
    targets = torch.randint(CLASSES, (members, inputs.shape[1]), device=device)
    return training_pass(model, lambda: model(inputs, read=read), targets), lambda: model(inputs, read=read)


def against_baselines(
    names: Sequence[str], lengths: Sequence[int], members: Sequence[int], device: torch.device
) -> Report:
    """Every architecture, every length, every number of members."""
    columns = [f"{each} member{'s' * (each > 1)}" for each in members]
    report = Report(
        f"Models against eager single models ({device.type})",
        f"One layer of width {WIDTH}, batch {BATCH}, one position read; milliseconds for one model's forward and "
        f"backward pass{CLOCK[device.type]}, and MiB kept for the backward pass.",
        ("model", "N", *columns, "baseline", "ms", "faster", "MiB", "baseline MiB"),
    )
    for name in names:
        spec = ModelSpec((name,), WIDTH)
        for length in lengths:
            if length > LARGEST.get(name, length):
                continue
            progress(f"{spec} at N = {length}")
            times: list[float] = []
            kept = 0.0
            for many in members:
                work, logits = ensemble_pass(spec, many, length, device)
                times.append(timed(work, device, 0.3) / many)
                kept = kept_bytes(logits) / many
                del work, logits  # one ensemble in memory at a time
            features = length if spec.entries[0].reads_graphs else 0
            what, model, run = baseline(spec, VOCABULARY, CLASSES, length, features)
            model.to(device)
            inputs = inputs_for(spec, 1, length, device)[0]
            targets = torch.randint(CLASSES, (BATCH,), device=device)
            theirs = timed(training_pass(model, lambda r=run, i=inputs: r(i), targets), device, 0.3)
            held = kept_bytes(lambda r=run, i=inputs: r(i))
            report.add(
                str(spec), length, *[f"{1e3 * each:.2f}" for each in times], what, f"{1e3 * theirs:.2f}",
                f"{theirs / times[-1]:.1f}×", f"{kept / 2**20:.1f}", f"{held / 2**20:.1f}",
            )  # fmt: skip
    return report


def growth(names: Sequence[str], lengths: Sequence[int], device: torch.device) -> Report:
    """How time and memory of linear-time models grow; all positions are read."""
    report = Report(
        f"Growth with length ({device.type})",
        f"One layer of width 16, batch 1, every position read, forward and backward{CLOCK[device.type]}. The exponent "
        "is the logarithm to base 2 of the factor by which doubling the length multiplies the time or the memory kept "
        "for the backward pass: 1 is linear.",
        ("model", *[f"ms at {length}" for length in lengths], "time exponents", "memory exponents"),
    )
    for name in names:
        if not architectures()[name].linear_time:
            continue
        times: list[float] = []
        kept: list[int] = []
        progress(f"growth of {architectures()[name].short}")
        for length in lengths:
            spec = ModelSpec((name,), 16)
            model = build_model(spec, vocabulary=VOCABULARY, classes=CLASSES, length=length, seeds=[0], device=device)
            tokens = torch.randint(VOCABULARY, (1, 1, length), device=device)
            targets = torch.randint(CLASSES, (1, length), device=device)
            logits = lambda m=model, t=tokens: m(t)  # noqa: E731
            times.append(timed(training_pass(model, logits, targets), device, 0.5))
            kept.append(kept_bytes(logits))
        report.add(
            f"{architectures()[name].short}-(1,16)",
            *[f"{1e3 * each:.1f}" for each in times],
            *[
                ", ".join(f"{math.log2(after / before):.2f}" for before, after in pairwise(each))
                for each in (times, kept)
            ],
        )
    return report


def reports() -> Iterator[Report]:
    """Both tables on the CPU, and on a GPU where there is one."""
    settle()
    devices = [torch.device("cpu"), *([torch.device("cuda")] if torch.cuda.is_available() else [])]
    for device in devices:
        yield against_baselines(list(architectures()), LENGTHS, MEMBERS, device)
        yield growth(list(architectures()), GROWTH_LENGTHS, device)


def main() -> int:
    """Run the chosen part; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.models", description=__doc__)
    numbers = lambda text: [int(part) for part in text.split(",")]  # noqa: E731
    parser.add_argument("--lengths", type=numbers, help="input lengths, such as 50,100,200,400,800")
    parser.add_argument("--members", type=numbers, default=list(MEMBERS))
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--growth", action="store_true", help="the table of growth instead")
    parser.add_argument("--names", help="architectures, such as TF,LSTM; all if left out")
    parser.add_argument("--markdown", action="store_true", help="print Markdown")
    given = parser.parse_args()
    settle()
    names = [architecture_named(each).name for each in given.names.split(",")] if given.names else list(architectures())
    device = torch.device(given.device)
    if given.growth:
        report = growth(names, given.lengths or GROWTH_LENGTHS, device)
    else:
        report = against_baselines(names, given.lengths or LENGTHS, given.members, device)
    if given.markdown:
        print(report.markdown())
    else:
        report.show(Console())
    return 0


if __name__ == "__main__":
    sys.exit(main())
