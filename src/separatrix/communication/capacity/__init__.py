"""How long an input a real model could still handle: config files and presets against the bounds.

>>> from separatrix.communication.capacity import capacity, describe
>>> found = capacity(describe("mamba-130m"), precision=16)
>>> found.state_bits
11206656
"""

from separatrix.communication.capacity.budget import Budget, CacheNeed, cache_needs
from separatrix.communication.capacity.catalog import Preset, config_families, model_types, presets
from separatrix.communication.capacity.coverage import which_bounds
from separatrix.communication.capacity.family import Family
from separatrix.communication.capacity.held_bytes import (
    LENGTHS,
    Crossover,
    Memory,
    bytes_at,
    cheaper_from,
    crossover,
    memory,
    texts_that_fit,
)
from separatrix.communication.capacity.layers import (
    LayerDescription,
    ModelDescription,
    StatePart,
    attention,
    local_attention,
    recurrent,
)
from separatrix.communication.capacity.reading import describe, read_config
from separatrix.communication.capacity.record import plain
from separatrix.communication.capacity.report import Capacity, Limit, capacity

__all__ = [
    "LENGTHS",
    "Budget",
    "CacheNeed",
    "Capacity",
    "Crossover",
    "Family",
    "LayerDescription",
    "Limit",
    "Memory",
    "ModelDescription",
    "Preset",
    "StatePart",
    "attention",
    "bytes_at",
    "cache_needs",
    "capacity",
    "cheaper_from",
    "config_families",
    "crossover",
    "describe",
    "local_attention",
    "memory",
    "model_types",
    "plain",
    "presets",
    "read_config",
    "recurrent",
    "texts_that_fit",
    "which_bounds",
]
