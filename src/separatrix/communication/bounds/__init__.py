"""Lower bounds that run: what a model's size must be at least, the formula with its numbers, and the evidence.

>>> from separatrix.communication.bounds import bounds
>>> bounds()["dyck-transformer-1layer"].smallest_width(400, precision=32)
4
"""

from separatrix.communication.bounds.bound import (
    Barrier,
    Bound,
    ContradictionError,
    Growth,
    OpenQuestion,
    ProtocolBound,
)
from separatrix.communication.bounds.catalog import (
    bounds,
    bounds_for,
    model_named,
    protocol_bounds,
    strongest_first,
)
from separatrix.communication.bounds.evidence import Evidence
from separatrix.communication.bounds.simulations import MODELS, Model, ModelSize, Setting, Simulation

__all__ = [
    "MODELS",
    "Barrier",
    "Bound",
    "ContradictionError",
    "Evidence",
    "Growth",
    "Model",
    "ModelSize",
    "OpenQuestion",
    "ProtocolBound",
    "Setting",
    "Simulation",
    "bounds",
    "bounds_for",
    "model_named",
    "protocol_bounds",
    "strongest_first",
]
