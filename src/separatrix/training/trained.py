"""Trained models back from the files of their runs.

Records may come from strangers: code that a record names is imported only when the caller names it too, see
``own_code``.
"""

from collections.abc import Collection, Mapping
from pathlib import Path

import torch
from torch import Tensor

from separatrix.errors import SeparatrixError
from separatrix.models.naming import parse_spec
from separatrix.models.sequence_model import SequenceModel
from separatrix.models.task_model import model_for_task
from separatrix.sources import check_unchanged
from separatrix.training.checkpoints import read_weights
from separatrix.training.ensemble import WEIGHT_TYPES
from separatrix.training.own_code import check_trusted, own_code
from separatrix.training.records import Record, kept_file
from separatrix.training.spec import RunSpec


def untrained_model(recorded: RunSpec, trusted: Collection[str] = ()) -> SequenceModel:
    """A model of one member with the shapes of a recorded run, on the CPU; ``trusted`` as in :func:`trained_model`."""
    check_trusted(recorded, trusted)
    architecture, task, dtype = parse_spec(recorded.architecture), recorded.the_task(), WEIGHT_TYPES[recorded.precision]
    return model_for_task(architecture, task, recorded.length, [recorded.seed], dtype=dtype)


@torch.no_grad()
def fill(model: SequenceModel, weights: Mapping[str, Tensor]) -> None:
    """Give a model of one member the weights of a run, by name."""
    for name, parameter in model.named_parameters():
        if name not in weights or weights[name].shape != parameter.shape[1:]:
            raise SeparatrixError(f"the weights do not fit {model.spec}: {name} is missing or of another shape")
        parameter[0].copy_(weights[name])


def trained_model(record: Record, files: Path, trusted: Collection[str] = ()) -> SequenceModel:
    """The model of a finished run with the weights it ended with; ``files`` is the folder beside its store.

    ``trusted`` names the code of one's own, such as ``mine.py:Mixer``, that may be run if the record names it.
    """
    if record.weights is None:
        raise SeparatrixError(f"run {record.spec.name} has no weights in this place; give the --store that trained it")
    check_trusted(record.spec, trusted)
    check_unchanged(record.environment.get("code"), own_code(record.spec), "this run")
    model = untrained_model(record.spec, trusted)
    fill(model, read_weights(kept_file(files, record.weights), record.spec.name))
    return model
