"""Trained models back from the files of their runs, ready to be asked: in evaluation mode, without dropout.

Records may come from strangers: code that a record names is imported only when the caller names it too, see
``user_code``.
"""

from collections.abc import Collection
from pathlib import Path

from separatrix.errors import SeparatrixError
from separatrix.models import SequenceModel, fill, model_for_task, parse_spec
from separatrix.sources import check_unchanged
from separatrix.training.checkpoints import read_weights
from separatrix.training.ensemble import WEIGHT_TYPES
from separatrix.training.record import Record, kept_file
from separatrix.training.spec import RunSpec
from separatrix.training.user_code import check_trusted, user_code


def untrained_model(recorded: RunSpec, trusted: Collection[str] = ()) -> SequenceModel:
    """Return a model of one member with the shapes of a recorded run, on the CPU; ``trusted`` as in
    :func:`trained_model`."""
    check_trusted(recorded, trusted)
    architecture, task, dtype = parse_spec(recorded.architecture), recorded.the_task(), WEIGHT_TYPES[recorded.precision]
    return model_for_task(architecture, task, recorded.length, [recorded.seed], dtype=dtype).eval()


def trained_model(record: Record, files: Path, trusted: Collection[str] = ()) -> SequenceModel:
    """Return the model of a finished run with the weights it ended with; ``files`` is the folder next to its store.

    ``trusted`` names the user code, such as ``mine.py:Mixer``, that may be run if the record names it.
    """
    if record.weights is None:
        raise SeparatrixError(f"run {record.spec.name} has no weights in this place; give the --store that trained it")
    check_trusted(record.spec, trusted)
    check_unchanged(record.environment.get("code"), user_code(record.spec), "this run")
    model = untrained_model(record.spec, trusted)
    fill(model, read_weights(kept_file(files, record.weights), record.spec.name))
    return model
