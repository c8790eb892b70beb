"""Torch models on disk: a folder with ``model.safetensors``, the state dict, and ``config.json``, the description.

No pickle and no code: what is read can only be numbers and a description that is checked. The configuration carries
the SHA-256 of the weights, so that a damaged file, or two that do not belong together, end in one line.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from separatrix.errors import SeparatrixError
from separatrix.files import write_atomically
from separatrix.models.assemble import NetworkModule, assemble
from separatrix.reading import parse_json, read_file, read_tensors

WEIGHTS = "model.safetensors"
CONFIG = "config.json"
LARGEST_WEIGHTS, LARGEST_CONFIG = 64 << 30, 64 << 20
REMEDY = "give a folder that separatrix export wrote"


def save_exported(module: NetworkModule, folder: Path) -> str:
    """Write a model, trained further or not; returns the SHA-256 of its weights."""
    return write_folder(folder, module.description, module.state_dict())


def load_exported(folder: Path | str) -> NetworkModule:
    """Return the model in a folder that ``separatrix export --to torch`` or :func:`save_exported` wrote."""
    config, tensors = read_folder(Path(folder))
    try:
        return assemble(config, tensors)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        if isinstance(error, SeparatrixError):
            raise
        raise SeparatrixError(f"{folder}/{CONFIG} does not describe a model ({error!r}); export it again") from error


def write_folder(folder: Path, config: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> str:
    """Write a configuration and its tensors; returns the SHA-256 of the weights."""
    if folder.exists() and not folder.is_dir():
        raise SeparatrixError(f"{folder} is a file; give a folder")
    data = save({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()})
    digest = hashlib.sha256(data).hexdigest()
    write_atomically(folder / WEIGHTS, data)
    write_atomically(folder / CONFIG, json.dumps({**config, "sha256": digest}, indent=2, sort_keys=True) + "\n")
    return digest


def read_folder(folder: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return the configuration and the tensors of a folder, if they belong together.

    >>> from tempfile import TemporaryDirectory
    >>> import torch
    >>> with TemporaryDirectory() as folder:
    ...     _ = write_folder(Path(folder), {"kind": "demo"}, {"weight": torch.ones(2)})
    ...     config, tensors = read_folder(Path(folder))
    >>> config["kind"], tensors
    ('demo', {'weight': tensor([1., 1.])})
    """
    text = read_file(folder / CONFIG, LARGEST_CONFIG, REMEDY)
    data = read_tensors(folder / WEIGHTS, LARGEST_WEIGHTS, REMEDY)
    try:
        config = parse_json(text)
        if config["sha256"] != hashlib.sha256(data).hexdigest():
            raise SeparatrixError(f"{folder / WEIGHTS} is not the file that {CONFIG} names; export it again")
        return config, load(data)
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, SeparatrixError):
            raise
        raise SeparatrixError(f"{folder} holds no readable model ({type(error).__name__}); export it again") from error
