"""Checkpoints: one safetensors file with a description in its header and a checksum over everything.

No pickle is ever loaded. The file holds weights and both moments of Adam of every member that is still in training; the
data need no generator state because they are a function of seed and step (see ``batches``). The checksum is of the
header's description and of all numbers, so that a truncated or changed file is known for what it is.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from separatrix.errors import SeparatrixError

if TYPE_CHECKING:
    from separatrix.training.ensemble import Ensemble

FORMAT = "separatrix-checkpoint-1"


class DamagedCheckpointError(SeparatrixError):
    """A file that is not a whole checkpoint of the group that asks for it."""


@dataclass(frozen=True)
class Checkpoint:
    """Where a group stands: its name, who is still in training, after how many steps and seconds."""

    group: str
    runs: tuple[str, ...]
    step: int
    seconds: float
    tensors: dict[str, Tensor]


def written(checkpoint: Checkpoint) -> bytes:
    """The checkpoint as the content of a file."""
    about = {
        "format": FORMAT,
        "group": checkpoint.group,
        "runs": list(checkpoint.runs),
        "step": checkpoint.step,
        "seconds": round(checkpoint.seconds, 3),
    }
    text = json.dumps(about, sort_keys=True)
    return save(checkpoint.tensors, {"about": text, "checksum": _checksum(text, checkpoint.tensors)})


def read_checkpoint(content: bytes, group: str) -> Checkpoint:
    """What :func:`written` wrote; raises :class:`DamagedCheckpointError` for anything else."""
    try:
        tensors = load(content)
        size = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + size])["__metadata__"]
        about = json.loads(header["about"])
        whole = header["checksum"] == _checksum(header["about"], tensors)
        found = Checkpoint(about["group"], tuple(about["runs"]), about["step"], about["seconds"], tensors)
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise DamagedCheckpointError(f"the checkpoint cannot be read ({error}); it is incomplete") from error
    if not whole:
        raise DamagedCheckpointError("the checkpoint's checksum is wrong; it was changed after it was written")
    if about["format"] != FORMAT or found.group != group:
        raise DamagedCheckpointError(f"the checkpoint belongs to {found.group!r}, not to {group!r}")
    return found


def part_of(whole: Checkpoint, group: str, members: Sequence[str]) -> bytes:
    """The checkpoint of a group of only some of the members, those that are still in training, at the same step."""
    rows = [place for place, run in enumerate(whole.runs) if run in members]
    tensors = {name: each[:, rows] if name == "sums" else each[rows] for name, each in whole.tensors.items()}
    runs = tuple(whole.runs[place] for place in rows)
    return written(Checkpoint(group, runs, whole.step, whole.seconds, tensors))


def weights_file(ensemble: "Ensemble", members: Sequence[int]) -> bytes:
    """The weights of some members as a safetensors file, one tensor for each run and parameter."""
    tensors: dict[str, Tensor] = {}
    for name, parameter in ensemble.model.named_parameters():
        for member in members:
            tensors[f"{ensemble.specs[member].name}/{name}"] = parameter.detach()[member].cpu().clone()
    return save(tensors)


def weights_of(content: bytes, run: str) -> dict[str, Tensor]:
    """The parameters of one run from a file of :func:`weights_file`, by name."""
    try:
        tensors = load(content)
    except SafetensorError as error:
        raise SeparatrixError(f"the weights cannot be read ({error}); train the run again") from error
    found = {name.removeprefix(f"{run}/"): each for name, each in tensors.items() if name.startswith(f"{run}/")}
    if not found:
        raise SeparatrixError(f"the file holds no weights of run {run}; it holds other runs")
    return found


def _checksum(text: str, tensors: dict[str, Tensor]) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        each = tensors[name].contiguous()
        digest.update(f"{name}{tuple(each.shape)}{each.dtype}".encode())
        digest.update(each.view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
