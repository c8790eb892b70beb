"""Trainable models of every architecture, many at once, and the papers' exact networks as torch modules.

A model is named (``parse_spec("TF-(1,64)")``), then built: by :func:`build_model` from sizes, by
:func:`model_for_task` from a task. The catalog of architectures is ``separatrix.models.architecture.architectures()``.

Where things are:

- Trainable models: ``architectures/`` describes each kind of layer without torch, ``mixers/`` has their torch modules;
  they fill in the contracts of ``architecture`` and ``mixer``. ``block`` and ``sequence_model`` put layers together
  from the many-member parts of ``ensemble``. ``user_architecture``, ``user_mixer``, ``fla_layers`` wrap users' modules.
- What makes them fast: ``scans/`` has the plain algorithms, ``kernels/`` chooses between them and a GPU's kernels.
- Exact networks: ``from_network`` rounds them, ``assemble`` makes modules of the parts in ``modules`` and ``decoding``,
  ``exported``, ``to_onnx``, ``lens`` and ``lens_bridge`` write them for others, ``export`` chooses among these.
- What a model carries: ``state_precision``, ``protocol``, ``torch_cell``, ``bounded``; what it looks at:
  ``attention_maps``.

``from_network`` and ``lens`` need the exact networks and with them python-flint, so they are imported by their own
names. ``architecture``, ``architectures/``, ``naming``, ``described`` and ``bounded`` need no torch; the rest needs
torch and safetensors alone.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from separatrix.models.architecture import Architecture, ModelSpec
    from separatrix.models.assemble import NetworkModule, RecurrentModule, TransformerModule
    from separatrix.models.exported import load_exported, save_exported
    from separatrix.models.naming import parse_spec
    from separatrix.models.sequence_model import SequenceModel, build_model
    from separatrix.models.task_model import model_for_task

_MODULES = {
    "Architecture": "architecture", "ModelSpec": "architecture", "NetworkModule": "assemble",
    "RecurrentModule": "assemble", "TransformerModule": "assemble", "load_exported": "exported",
    "save_exported": "exported", "parse_spec": "naming", "SequenceModel": "sequence_model",
    "build_model": "sequence_model", "model_for_task": "task_model",
}  # fmt: skip
"""Where each public name is defined; loaded when asked for, since most of these modules load torch."""

__all__ = [
    "Architecture",
    "ModelSpec",
    "NetworkModule",
    "RecurrentModule",
    "SequenceModel",
    "TransformerModule",
    "build_model",
    "load_exported",
    "model_for_task",
    "parse_spec",
    "save_exported",
]


def __getattr__(name: str) -> object:
    """Load a public name when it is first asked for."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
