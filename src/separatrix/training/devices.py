"""Which device trains, and what its errors mean."""

import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from separatrix.errors import SeparatrixError
from separatrix.models import keep_freed_memory
from separatrix.provenance import versions

MOST_COMPILED_SHAPES = 64
"""Of blocks, in one process; each takes the compiler about half a minute."""


def device_named(name: str) -> torch.device:
    """Return the device of ``auto`` (a GPU if there is one), ``cpu``, ``cuda`` or ``cuda:1``."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise SeparatrixError(f"device {name!r} is unknown; choose auto, cpu, cuda or cuda:NUMBER") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise SeparatrixError(f"device {name!r} is not here: torch sees no GPU; choose auto or cpu")
    if device.type not in ("cpu", "cuda"):
        raise SeparatrixError(f"device {name!r} is not supported; choose auto, cpu, cuda or cuda:NUMBER")
    return device


def environment(device: torch.device, executor: str) -> dict[str, Any]:
    """Return what a record says about where it was made."""
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else processor_name()
    return {
        "device": device.type,
        "device_name": name,
        "threads": torch.get_num_threads(),
        "executor": executor,
        "versions": versions(),
    }


def processor_name() -> str:
    """Return the processor as its maker calls it, where the system tells, else its kind."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return model or platform.processor() or platform.machine()


def prepare_process(device: torch.device, threads: int = 0) -> None:
    """Make this process fit for training: so many threads, unless 0; on a CPU memory that is freed stays at hand.

    On a GPU float32 means float32: by default cuDNN would round the factors of its recurrent layers' products to ten
    bits (TF32), and only where there are few members. And models of all shapes are compiled: all blocks run the same
    lines of Python, and after eight shapes of those the compiler would leave the others as they are.
    """
    if threads:
        torch.set_num_threads(threads)
    if device.type == "cpu":
        keep_freed_memory()
    else:
        torch.backends.cudnn.allow_tf32 = False
        from torch._dynamo import config  # takes a second to load, and there is no public name for it

        config.recompile_limit = max(config.recompile_limit, MOST_COMPILED_SHAPES)


def out_of_memory(error: BaseException) -> bool:
    """Return whether an error means that the memory did not suffice, on a GPU or on the host."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    # Of these torch has no class of exceptions.
    messages = ("can't allocate memory", "CUDA error: out of memory", "CUBLAS_STATUS_ALLOC_FAILED")
    return isinstance(error, RuntimeError) and any(each in str(error) for each in messages)


def device_text(name: str, threads: int) -> str:
    """Return the device for people; ``threads`` 0 means those that torch uses."""
    device = device_named(name)
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    count = threads or torch.get_num_threads()
    return f"this CPU with {count} thread{'' if count == 1 else 's'}"


@contextmanager
def using_threads(count: int) -> Iterator[None]:
    """Let torch use this many threads within; 0 changes nothing."""
    before = torch.get_num_threads()
    torch.set_num_threads(count or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)
