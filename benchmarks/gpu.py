"""Model-steps per second of the ensemble trainer on one GPU against the loop that BHBK24's authors describe.

Run as a script on a machine with a GPU:  python -m benchmarks.gpu [--models TF-(1,64),…] [--lengths 200] [--profile]

The baseline trains one model at a time: Hugging Face GPT-2, ``torch.nn.LSTM`` (cuDNN) or Hugging Face Mamba where there
is one, our own module run eagerly with one member for the others; ``torch.optim.Adam``, batch 64, float32, data made on
the host. Ours trains an ensemble with data made on the device, bfloat16 products, the step in one CUDA graph. Both
compute the same loss on index lookup. A model-step is one step of one member.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from separatrix.models.naming import parse_spec
from separatrix.models.task_model import model_for_task
from separatrix.tasks import draws_from, tasks
from separatrix.training.ensemble import Ensemble
from separatrix.training.spec import RunSpec

BATCH = 64
DEVICE = torch.device("cuda")
MEMBERS = {
    "TF-(1,64)": 128,
    "TF-(6,256)": 16,
    "LinTF-(6,256)": 16,
    "RetNet-(6,256)": 16,
    "DSS-(6,256)": 16,
    "LSTM-(3,256)": 32,
    "Mamba-(6,256)": 16,
    "Mamba-(2,1024)": 4,
}
"""Members of an ensemble, enough to fill the card."""
LENGTHS = {"TF-(1,64)": (50, 200, 400), "LSTM-(3,256)": (50, 200, 400), "Mamba-(2,1024)": (200,)}


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


def ours(model: str, length: int, members: int, precision: str, seconds: float) -> dict[str, Any]:
    """The ensemble trainer."""
    torch.cuda.reset_peak_memory_stats()
    base = RunSpec(
        task="index-lookup", architecture=str(parse_spec(model)), length=length, learning_rate=1e-4, steps=10**6,
        precision=precision,
    )  # fmt: skip
    specs = [base.with_changes(learning_rate=1e-4 * (1 + member / members)) for member in range(members)]
    ensemble = Ensemble(specs, DEVICE)
    took = timed(lambda: ensemble.advance(1), seconds, least=40)
    loss, _ = ensemble.training_metrics()
    return {
        "steps_per_second": 1 / took,
        "model_steps_per_second": members / took,
        "memory_gib": torch.cuda.max_memory_allocated() / 2**30,
        "loss_is_finite": all(each == each for each in loss),
        "parameters": ensemble.numbers_of_one_member(),
    }


class HuggingFaceModel(nn.Module):
    """GPT-2 or Mamba of Hugging Face with a readout at the asked position."""

    def __init__(self, kind: str, layers: int, width: int, vocabulary: int, classes: int, length: int) -> None:
        super().__init__()
        import transformers

        if kind == "TF":
            heads = 1 if width == 64 else 4
            configuration: Any = transformers.GPT2Config(
                vocab_size=vocabulary, n_positions=length, n_embd=width, n_layer=layers, n_head=heads
            )
            self.backbone: Any = transformers.GPT2Model(configuration)
        else:
            configuration = transformers.MambaConfig(
                vocab_size=vocabulary, hidden_size=width, num_hidden_layers=layers, use_cache=False
            )
            self.backbone = transformers.MambaModel(configuration)
        self.readout = nn.Linear(width, classes)

    def forward(self, tokens: Tensor, read: Tensor) -> Tensor:
        """tokens (batch, length), read (batch,) to logits (batch, classes)."""
        hidden = self.backbone(tokens, use_cache=False).last_hidden_state
        return self.readout(hidden[torch.arange(len(read), device=read.device), read])


class TorchLSTM(nn.Module):
    """``torch.nn.LSTM`` with an embedding and a readout."""

    def __init__(self, layers: int, width: int, vocabulary: int, classes: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.recurrence = nn.LSTM(width, width, layers, batch_first=True)
        self.readout = nn.Linear(width, classes)

    def forward(self, tokens: Tensor, read: Tensor) -> Tensor:
        """tokens (batch, length), read (batch,) to logits (batch, classes)."""
        hidden, _ = self.recurrence(self.embedding(tokens))
        return self.readout(hidden[torch.arange(len(read), device=read.device), read])


class Eager(nn.Module):
    """Our own module with one member, run eagerly and computing every position."""

    def __init__(self, model: str, length: int) -> None:
        super().__init__()
        self.model = model_for_task(parse_spec(model), tasks()["index-lookup"], length, [0])

    def forward(self, tokens: Tensor, read: Tensor) -> Tensor:
        """tokens (batch, length), read (batch,) to logits (batch, classes)."""
        hidden = self.model(tokens[None])[0]
        return hidden[torch.arange(len(read), device=read.device), read]


def baseline(model: str, length: int, seconds: float) -> float:
    """Steps per second of the plain loop."""
    spec, task = parse_spec(model), tasks()["index-lookup"]
    kind, layers, width = spec.entries[0].short, spec.depth, spec.width
    vocabulary, classes, positions = task.vocabulary(length).size, task.classes(length), task.positions(length)
    if kind in ("TF", "Mamba"):
        module: nn.Module = HuggingFaceModel(kind, layers, width, vocabulary, classes, positions)
    elif kind == "LSTM":
        module = TorchLSTM(layers, width, vocabulary, classes)
    else:
        module = Eager(model, length)
    module.to(DEVICE)
    optimiser = torch.optim.Adam(module.parameters(), lr=1e-4)
    draws = draws_from(0)

    def step() -> None:
        examples = task.sample(draws, BATCH, length, "train")
        tokens, read = torch.from_numpy(examples.inputs).to(DEVICE), torch.from_numpy(examples.read).to(DEVICE)
        place = read.int().argmax(dim=1)
        targets = torch.from_numpy(examples.targets).to(DEVICE).gather(1, place[:, None])[:, 0]
        optimiser.zero_grad()
        loss = nn.functional.cross_entropy(module(tokens, place), targets)
        loss.backward()
        optimiser.step()
        loss.item()

    return 1 / timed(step, seconds)


def ceilings() -> dict[str, float]:
    """What the card does at best: bfloat16 matrix product in TFLOP/s, device copy in GB/s (read plus written)."""
    a = torch.randn(8192, 8192, device=DEVICE, dtype=torch.bfloat16)
    b = torch.randn(8192, 8192, device=DEVICE, dtype=torch.bfloat16)
    product = timed(lambda: a @ b, 0.3)
    big = torch.randn(1 << 28, device=DEVICE)
    other = torch.empty_like(big)
    copy = timed(lambda: other.copy_(big), 0.3)
    return {"bf16_tflops": 2 * 8192**3 / product / 1e12, "copy_gb_per_s": 2 * big.numel() * 4 / copy / 1e9}


def profiled(model: str, length: int, members: int, precision: str) -> str:
    """The kernels that take the time in ten steps."""
    base = RunSpec(task="index-lookup", architecture=model, length=length, learning_rate=1e-4, steps=10**6,
                   precision=precision)  # fmt: skip
    ensemble = Ensemble([base.with_changes(learning_rate=1e-4 * (1 + m / members)) for m in range(members)], DEVICE)
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


def main() -> None:
    """Measure and print a table; ``--json FILE`` keeps it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", default=";".join(MEMBERS))
    parser.add_argument("--lengths", default="")
    parser.add_argument("--members", type=int, default=0)
    parser.add_argument("--precision", default="bfloat16")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--no-baseline", action="store_true")
    parser.add_argument("--json", type=Path)
    chosen = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = True
    rows: list[dict[str, Any]] = [{"card": torch.cuda.get_device_name(), "torch": torch.__version__, **ceilings()}]
    print(rows[0], flush=True)
    for model in chosen.models.split(";"):
        lengths = tuple(map(int, chosen.lengths.split(","))) if chosen.lengths else LENGTHS.get(model, (100, 200))
        for length in lengths:
            members = chosen.members or MEMBERS.get(model, 16)
            row: dict[str, Any] = {"model": model, "length": length, "members": members}
            try:
                row |= ours(model, length, members, chosen.precision, chosen.seconds)
                if not chosen.no_baseline:
                    row["baseline"] = baseline(model, length, chosen.seconds)
                    row["ratio"] = row["model_steps_per_second"] / row["baseline"]
            except Exception as error:  # a model that fails is a row of the table, not the end of it
                row["error"] = f"{type(error).__name__}: {str(error)[:300]}"
            rows.append(row)
            print(json.dumps(row), flush=True)
            if chosen.profile and "error" not in row:
                print(profiled(model, length, members, chosen.precision), flush=True)
            torch.cuda.empty_cache()
    if chosen.json:
        chosen.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
