"""Trained models back from the files of their runs."""

from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor

from separatrix.errors import SeparatrixError
from separatrix.models.naming import parse_spec
from separatrix.models.sequence_model import SequenceModel
from separatrix.models.task_model import model_for_task
from separatrix.sources import check_unchanged
from separatrix.training.checkpoints import weights_of
from separatrix.training.export_records import read_weights
from separatrix.training.own_code import own_code
from separatrix.training.records import Record, kept_file
from separatrix.training.spec import RunSpec


def model_of(spec: RunSpec) -> SequenceModel:
    """A model of one member with the shapes of a run, on the CPU."""
    dtype = torch.float64 if spec.precision == "float64" else torch.float32
    return model_for_task(parse_spec(spec.architecture), spec.the_task(), spec.length, [spec.seed], dtype=dtype)


@torch.no_grad()
def fill(model: SequenceModel, weights: Mapping[str, Tensor]) -> None:
    """Give a model of one member the weights of a run, by name."""
    for name, parameter in model.named_parameters():
        if name not in weights or weights[name].shape != parameter.shape[1:]:
            raise SeparatrixError(f"the weights do not fit {model.spec}: {name} is missing or of another shape")
        parameter[0].copy_(weights[name])


def trained_model(record: Record, files: Path) -> SequenceModel:
    """The model of a finished run with the weights it ended with; ``files`` is the folder beside its store."""
    if record.weights is None:
        raise SeparatrixError(f"run {record.spec.name} has no weights in this place; give the --store that trained it")
    check_unchanged(record.environment.get("code"), own_code(record.spec), "this run")
    model = model_of(record.spec)
    fill(model, weights_of(read_weights(kept_file(files, record.weights)), record.spec.name))
    return model
