"""Trainable models of every architecture, many at once, and the papers' exact networks as torch modules.

A model is named (``parse_spec("TF-(1,64)")``), then built: by :func:`build_model` from sizes, by
:func:`model_for_task` from a task. The catalog of architectures is ``separatrix.models.architecture.architectures()``.

``from_network`` and ``lens`` need the exact networks and with them python-flint, so they are imported by their own
names; the rest needs torch and safetensors alone.
"""

from separatrix.models.architecture import Architecture, ModelSpec
from separatrix.models.assemble import NetworkModule, RecurrentModule, TransformerModule
from separatrix.models.exported import load_exported, save_exported
from separatrix.models.naming import parse_spec
from separatrix.models.sequence_model import SequenceModel, build_model
from separatrix.models.task_model import model_for_task

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
