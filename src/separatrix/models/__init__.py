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

from separatrix.facade import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
