"""Checkpoints: one safetensors file with a description in its header and a checksum over everything.

No pickle is ever loaded. The file holds weights and both moments of Adam of every member that is still in training, and
the buffers of users' own modules; the data need no generator state because they are a function of seed and step (see
``batches``). The checksum is of the header's description and of all numbers, so that a truncated or changed file is
known for what it is.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from separatrix.errors import SeparatrixError
from separatrix.models import kept_tensors
from separatrix.reading import parse_json, read_tensors

if TYPE_CHECKING:
    from separatrix.training.ensemble import Ensemble

FORMAT = "separatrix-checkpoint-1"
BUFFER = "buffer/"
"""How the names of buffers begin in a checkpoint."""
LARGEST_WEIGHTS = 64 << 30
UNREADABLE = (SafetensorError, ValueError, KeyError, TypeError, AttributeError, IndexError, RuntimeError, OverflowError)
"""What the reading of a damaged file may raise."""


class DamagedCheckpointError(SeparatrixError):
    """A file that is not a whole checkpoint of the group that asks for it."""


@dataclass(frozen=True)
class Checkpoint:
    """The state of a group: its name, who is still in training, after how many steps and seconds."""

    group: str
    runs: tuple[str, ...]
    step: int
    seconds: float
    tensors: dict[str, Tensor]
    code: dict[str, str] = field(default_factory=dict[str, str])
    """Digests of the user's own code that it was trained with, see ``user_code``."""


def written(checkpoint: Checkpoint) -> bytes:
    """Return the checkpoint as the content of a file."""
    about = {
        "format": FORMAT,
        "group": checkpoint.group,
        "runs": list(checkpoint.runs),
        "step": checkpoint.step,
        "seconds": round(checkpoint.seconds, 3),
    }
    if checkpoint.code:
        about["code"] = checkpoint.code
    text = json.dumps(about, sort_keys=True)
    return save(checkpoint.tensors, {"about": text, "checksum": _checksum(text, checkpoint.tensors)})


def read_checkpoint(content: bytes, group: str) -> Checkpoint:
    """Return what :func:`written` wrote; raises :class:`DamagedCheckpointError` for anything else."""
    try:
        header = _metadata(content)
        about = parse_json(header["about"])
        tensors = load(content)
        whole = header["checksum"] == _checksum(header["about"], tensors)
        known = about["format"] == FORMAT
        where = about["group"], tuple(about["runs"]), about["step"], about["seconds"]
        found = Checkpoint(*where, tensors, dict(about.get("code", {})))
    except UNREADABLE as error:
        raise DamagedCheckpointError(f"the checkpoint cannot be read ({str(error)[:200]}); it is incomplete") from error
    if not whole:
        raise DamagedCheckpointError("the checkpoint's checksum is wrong; it was changed after it was written")
    if not known:
        raise DamagedCheckpointError(f"the checkpoint has format {str(about['format'])[:40]!r}, not {FORMAT!r}")
    if found.group != group:
        raise DamagedCheckpointError(f"the checkpoint belongs to {str(found.group)[:40]!r}, not to {group!r}")
    if not _fits_together(found):
        raise DamagedCheckpointError("the checkpoint's parts do not belong together; it is of another version")
    return found


def _fits_together(found: Checkpoint) -> bool:
    """Return whether there are weights, both moments and sums of all its runs, after a number of steps."""
    shapes = {name: tuple(each.shape) for name, each in found.tensors.items()}
    rows = {name: shape for name, shape in shapes.items() if not name.startswith(BUFFER)}
    members = len(found.runs)
    return (
        members > 0
        and all(isinstance(run, str) for run in found.runs)
        and type(found.step) is int
        and found.step >= 0
        and type(found.seconds) in (int, float)
        and rows.keys() == {"weights", "first", "second", "sums"}
        and rows["sums"] == (3, members)
        and len(rows["weights"]) == 2
        and rows["weights"][0] == members
        and rows["weights"] == rows["first"] == rows["second"]
        and all(shape[:1] == (members,) for name, shape in shapes.items() if name not in rows)
    )


def _metadata(content: bytes) -> dict[str, str]:
    """Return what a file says about itself."""
    size = int.from_bytes(content[:8], "little")
    return parse_json(content[8 : 8 + size]).get("__metadata__", {})


def part_of(whole: Checkpoint, group: str, members: Sequence[str]) -> bytes:
    """Return the checkpoint of a group of only some of the members, those that are still in training, at the same
    step."""
    rows = [place for place, run in enumerate(whole.runs) if run in members]
    tensors = {name: each[:, rows] if name == "sums" else each[rows] for name, each in whole.tensors.items()}
    runs = tuple(whole.runs[place] for place in rows)
    return written(Checkpoint(group, runs, whole.step, whole.seconds, tensors, whole.code))


def weights_file(ensemble: "Ensemble", members: Sequence[int]) -> bytes:
    """Return what is kept of some members as a safetensors file, one tensor for each run and parameter or buffer."""
    tensors: dict[str, Tensor] = {}
    for name, each in kept_tensors(ensemble.model).items():
        for member in members:
            tensors[f"{ensemble.specs[member].name}/{name}"] = each.detach()[member].cpu().clone()
    return with_checksum(tensors)


def with_checksum(tensors: dict[str, Tensor]) -> bytes:
    """Return a safetensors file that :func:`weights_of` knows to be whole."""
    return save(tensors, {"checksum": _checksum("", tensors)})


def read_weights(path: Path, run: str) -> dict[str, Tensor]:
    """Return what a file of weights keeps of one run, by name."""
    return weights_of(read_tensors(path, LARGEST_WEIGHTS, "train the run again with --fresh"), run)


def weights_of(content: bytes, run: str) -> dict[str, Tensor]:
    """Return what the content of :func:`weights_file` keeps of one run, by name; older files have no checksum."""
    try:
        tensors = load(content)
        whole = _metadata(content).get("checksum", "") in ("", _checksum("", tensors))
    except UNREADABLE as error:
        raise SeparatrixError(f"the weights cannot be read ({str(error)[:200]}); train the run again") from error
    if not whole:
        raise SeparatrixError("the weights' checksum is wrong: the file was changed; train the run again with --fresh")
    found = {name.removeprefix(f"{run}/"): each for name, each in tensors.items() if name.startswith(f"{run}/")}
    if not found:
        raise SeparatrixError(f"the file holds no weights of run {run}; it holds other runs")
    return found


def _checksum(text: str, tensors: dict[str, Tensor]) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        each = tensors[name].contiguous()
        digest.update(f"{name}{tuple(each.shape)}{each.dtype}".encode())
        digest.update(each.reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
