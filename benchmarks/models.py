"""Forward and backward passes of every architecture, many members at once, against one eager model after the other.

Run as  python -m benchmarks models --write docs/architectures.md, or in part, on a CPU or a GPU, as

    python -m benchmarks.models [--device cuda] [--lengths 50,200] [--members 1,8] [--names TF,LSTM] [--only one-read]
                                [--json FILE] [--limit SECONDS]

Both sides read one position, as index lookup does, in float32. Time is for one model: that of the ensemble divided by
its members, and that of the baseline's single model. Memory is what is kept for the backward pass, counted tensor by
tensor, so that it means the same on every device; on a GPU the most that is allocated at a time is reported as well.
The second table doubles the length from 2048 on: a linear-time model takes twice as long each time. The third has the
same for one position read, next to the layer's own parallel form with every position computed. A pass that takes very
long is timed once and not warmed up.

With ``--json`` each row is appended to the file as soon as it is measured, one JSON object a line. Rows that the file
has are not measured again, so that a run that was cut off, or ended at its ``--limit``, goes on with the same command.
``python -m benchmarks.model_tables FILE --write docs/architectures.md`` puts the tables of such a file into the page.
"""

import argparse
import math
import sys
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import torch
from rich.console import Console
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.model_baselines import baseline
from benchmarks.model_tables import Record, json_lines, kept_records, machine_record, read_records, tables
from benchmarks.report import Report, progress
from separatrix.files import write_atomically
from separatrix.models.allocator import keep_freed_memory
from separatrix.models.architecture import ModelSpec, architecture_named, architectures
from separatrix.models.sequence_model import build_model

WIDTH, BATCH, VOCABULARY, CLASSES = 64, 32, 128, 64
LENGTHS, MEMBERS = (50, 200, 800), (1, 8)
GROWTH_LENGTHS = (2048, 4096, 8192)
GROWTH_SIZES = {"cpu": (16, 1), "cuda": (64, 32)}
"""Width and batch of the table of growth: a GPU needs more of both, or it would only show what a launch costs."""
ONE_READ_LENGTHS = (400, 800, 1600)
ONE_READ_SIZES = {"cpu": (64, 8), "cuda": (64, 32)}
"""Width and batch of the table of one read."""
LARGEST_BASELINES = {"cpu": {"third-order": 100}, "cuda": {"third-order": 200}}
"""Longer inputs do not fit: the baseline of attention to pairs holds N³ scores."""
SLOW = {"cpu": 10.0, "cuda": 3.0}
"""Seconds from which on a pass is timed without one before it that warms up and touches the memory it needs."""
BUDGET = {"cpu": 0.3, "cuda": 0.06}
"""Seconds for which a pass is repeated, to take the shortest."""
LEAST = {"cpu": 1, "cuda": 3}
"""Passes that are timed at least, unless they are slow."""
ABOUT = f"""\
One layer of width {WIDTH}, batch {BATCH}, one position read. The baseline is one eager model at a time: Hugging Face or
torch where they have the architecture, else the recurrence as a loop over time, all pairs at once, or our own layer
with every position computed. Both sides are measured in the same run. A loop over time is the obvious form of a
recurrence and a slow one, on a GPU above all, where each of its steps waits for launches: the largest ratios say what a
parallel form is worth and nothing about other parallel forms. The table of one read has each layer against its own
(the Fourier transform for DSS, chunks for the others) with every position computed.

The LSTM is torch's own fused one on a CPU, member by member, and takes the time that torch takes: at this size oneDNN
is faster than a scan over all members. Third-order attention streams over pairs, so that its memory is O(N·m) and
N = 1024 runs, forwards and backwards, in far less than 2 GB on a CPU (a test holds it to that); its time is O(N³·m),
or O(N²·m) for each position that is read."""


@dataclass
class Measurements:
    """The records of one device; each is appended to the file, where there is one, as soon as it is made."""

    device: torch.device
    file: Path | None = None
    until: float = math.inf
    """A reading of :func:`time.monotonic` from which on no row is begun."""
    records: list[Record] = field(default_factory=list[Record])
    left: int = 0
    """Rows that were not begun."""
    failed: int = 0

    def __post_init__(self) -> None:
        if self.file is not None and self.file.exists():
            self.records = read_records(self.file)
            # Without the beginning of a line that a run left when it was cut off.
            write_atomically(self.file, json_lines(self.records))
        if not self.records:
            self.keep(machine_record(self.device))

    def keep(self, record: Record) -> None:
        """Append a record."""
        self.records.append(record)
        if self.file is not None:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.open("a", encoding="utf-8") as file:
                file.write(json_lines([record]))

    def wanted(self, table: str, model: str, length: int | None = None) -> bool:
        """Whether this row is not there yet, and there is time for it."""
        key = (table, model, length)
        if any((each["table"], each.get("model"), each.get("length")) == key for each in self.records):
            return False
        late = time.monotonic() > self.until
        self.left += late
        return not late

    @contextmanager
    def row(self, what: str) -> Iterator[None]:
        """Measure one row; if that fails it is reported, and the other rows are measured all the same."""
        progress(what)
        try:
            yield
        except Exception as error:
            self.failed += 1
            progress(f"{what} failed: {type(error).__name__}: {error}")
        if self.device.type == "cuda":
            torch.cuda.empty_cache()


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

    on_gpu = device.type == "cuda"
    if on_gpu:
        whole()  # kernels are compiled in the first pass, which takes seconds and says nothing about the next
    clock = time.perf_counter if on_gpu else time.process_time
    slow = SLOW[device.type]
    fastest, started = math.inf, time.perf_counter()
    for number in count():
        before = clock()
        whole()
        taken = clock() - before
        # The first is a warm-up, unless it took so long that little of it can have been one.
        if number or taken > slow:
            fastest = min(fastest, taken)
            if taken > slow or (number >= LEAST[device.type] and time.perf_counter() - started > budget):
                break
    return fastest


def training_pass(model: nn.Module, logits: Callable[[], Tensor], targets: Tensor) -> Callable[[], None]:
    """One forward and one backward pass."""

    def work() -> None:
        model.zero_grad(set_to_none=True)
        functional.cross_entropy(logits().reshape(-1, CLASSES), targets.reshape(-1)).backward()

    return work


class Kept:
    """A tensor that is kept for the backward pass."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor


def kept_bytes(logits: Callable[[], Tensor]) -> int:
    """What a forward pass keeps for the backward pass when it ends, each storage once.

    Parts of the graph that were let go before, such as outputs of a loop that nobody reads, do not count.
    """
    alive: weakref.WeakSet[Kept] = weakref.WeakSet()

    def keep(tensor: Tensor) -> Kept:
        # Detached: the output of a function leads back to the function, which would hold itself.
        kept = Kept(tensor.detach())
        alive.add(kept)
        return kept

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda kept: kept.tensor):
        result = logits()
    storages = [kept.tensor.untyped_storage() for kept in alive]
    sizes = {storage.data_ptr(): storage.nbytes() for storage in storages}
    del result
    return sum(sizes.values())


def cost_of(work: Callable[[], None], logits: Callable[[], Tensor], device: torch.device, members: int) -> Record:
    """Time and memory of a pass for one of its members; nobody counts what a CPU has allocated at most."""
    on_gpu = device.type == "cuda"
    if on_gpu:
        torch.cuda.reset_peak_memory_stats()
    seconds = timed(work, device, BUDGET[device.type])
    peak = torch.cuda.max_memory_allocated() if on_gpu else None
    return {
        "milliseconds": 1e3 * seconds / members,
        "kept_bytes": kept_bytes(logits) // members,
        "peak_bytes": None if peak is None else peak // members,
    }


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


def baseline_pass(
    spec: ModelSpec, length: int, device: torch.device
) -> tuple[str, Callable[[], None], Callable[[], Tensor]]:
    """What the baseline is, its pass, and its logits."""
    features = length if spec.entries[0].reads_graphs else 0
    what, model, run = baseline(spec, VOCABULARY, CLASSES, length, features)
    model.to(device)
    inputs = inputs_for(spec, 1, length, device)[0]
    targets = torch.randint(CLASSES, (BATCH,), device=device)
    return what, training_pass(model, lambda: run(inputs), targets), lambda: run(inputs)


def against_baselines(
    names: Sequence[str], lengths: Sequence[int], members: Sequence[int], found: Measurements
) -> None:
    """Every architecture, every length, every number of members; what takes longest comes last."""
    for length in sorted(lengths):
        for name in names:
            spec = ModelSpec((name,), WIDTH)
            if not found.wanted("baselines", str(spec), length):
                continue
            with found.row(f"{spec} at N = {length}"):
                found.keep(baseline_row(spec, length, members, found.device))


def baseline_row(spec: ModelSpec, length: int, members: Sequence[int], device: torch.device) -> Record:
    """One architecture at one length: ensembles of these sizes, and the baseline where it fits."""
    costs: list[Record] = []
    for many in members:
        work, logits = ensemble_pass(spec, many, length, device)
        costs.append({"members": many, **cost_of(work, logits, device, many)})
        del work, logits  # one ensemble in memory at a time
    record: Record = {"table": "baselines", "model": str(spec), "batch": BATCH, "length": length, "ours": costs}
    if length <= LARGEST_BASELINES[device.type].get(spec.layers[0], length):
        what, work, logits = baseline_pass(spec, length, device)
        record["baseline"] = {"what": what, **cost_of(work, logits, device, 1)}
    return record


def growth(names: Sequence[str], lengths: Sequence[int], found: Measurements) -> None:
    """How time and memory of linear-time models grow; all positions are read."""
    device = found.device
    width, batch = GROWTH_SIZES[device.type]
    for name in names:
        spec = ModelSpec((name,), width)
        if not spec.entries[0].linear_time or not found.wanted("growth", str(spec)):
            continue
        with found.row(f"growth of {spec}"):
            costs = [{"length": length, **whole_cost(spec, batch, length, device)} for length in lengths]
            found.keep({"table": "growth", "model": str(spec), "batch": batch, "ours": costs})


def whole_cost(spec: ModelSpec, batch: int, length: int, device: torch.device, *, one: bool = False) -> Record:
    """Time and memory of one model that is read at every position, or at the last one."""
    model = build_model(spec, vocabulary=VOCABULARY, classes=CLASSES, length=length, seeds=[0], device=device)
    tokens = torch.randint(VOCABULARY, (1, batch, length), device=device)
    read = torch.full((1, batch, 1), length - 1, device=device) if one else None
    targets = torch.randint(CLASSES, (batch, 1 if one else length), device=device)

    def logits() -> Tensor:
        return model(tokens, read=read)

    return cost_of(training_pass(model, logits, targets), logits, device, 1)


def one_read(names: Sequence[str], lengths: Sequence[int], found: Measurements) -> None:
    """Linear-time models read at one position, and the same models with every position computed."""
    device = found.device
    width, batch = ONE_READ_SIZES[device.type]
    for name in names:
        spec = ModelSpec((name,), width)
        if not spec.entries[0].linear_time or not found.wanted("one-read", str(spec)):
            continue
        with found.row(f"one read of {spec}"):
            one, every = (
                [{"length": length, **whole_cost(spec, batch, length, device, one=only)} for length in lengths]
                for only in (True, False)
            )
            found.keep({"table": "one-read", "model": str(spec), "batch": batch, "ours": one, "every": every})


def reports() -> Iterator[Report]:
    """All tables on the CPU, and on a GPU: of this machine, or else as another machine has measured them."""
    settle()
    devices = [torch.device("cpu"), *([torch.device("cuda")] if torch.cuda.is_available() else [])]
    for device in devices:
        found = Measurements(device)
        against_baselines(list(architectures()), LENGTHS, MEMBERS, found)
        growth(list(architectures()), GROWTH_LENGTHS, found)
        one_read(list(architectures()), ONE_READ_LENGTHS, found)
        yield from tables(found.records)
    for records in kept_records(without=[device.type for device in devices]):
        yield from tables(records)


def main() -> int:
    """Run the chosen part; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.models", description=__doc__)
    numbers = lambda text: [int(part) for part in text.split(",")]  # noqa: E731
    parser.add_argument("--device", choices=list(SLOW), default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--lengths", type=numbers, default=list(LENGTHS), help="such as 50,100,200,400,800")
    parser.add_argument("--growth-lengths", type=numbers, default=list(GROWTH_LENGTHS), help="such as 2048,4096")
    parser.add_argument("--one-read-lengths", type=numbers, default=list(ONE_READ_LENGTHS), help="such as 400,800")
    parser.add_argument("--members", type=numbers, default=list(MEMBERS))
    parser.add_argument("--only", choices=["baselines", "growth", "one-read"], help="one of the tables")
    parser.add_argument("--names", help="architectures, such as TF,LSTM; all if left out")
    parser.add_argument("--json", type=Path, help="append each row to this file; what it has is not measured again")
    parser.add_argument("--limit", type=float, default=math.inf, help="begin no row after this many seconds")
    parser.add_argument("--markdown", action="store_true", help="print Markdown")
    given = parser.parse_args()
    until = time.monotonic() + given.limit
    settle()
    names = [architecture_named(each).name for each in given.names.split(",")] if given.names else list(architectures())
    found = Measurements(torch.device(given.device), given.json, until)
    if found.records[0]["device"] != given.device:
        parser.error(f"{given.json} holds measurements on {found.records[0]['device']}; name another file")
    if given.only in (None, "baselines"):
        against_baselines(names, given.lengths, given.members, found)
    if given.only in (None, "growth"):
        growth(names, given.growth_lengths, found)
    if given.only in (None, "one-read"):
        one_read(names, given.one_read_lengths, found)
    for report in tables(found.records):
        if given.markdown:
            print(report.markdown())
        else:
            report.show(Console())
    if found.left:
        progress(f"{found.left} rows are left; the same command with --json resumes it")
    return 1 if found.failed else 0


if __name__ == "__main__":
    sys.exit(main())
