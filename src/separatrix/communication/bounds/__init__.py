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
from separatrix.communication.bounds.covered import (
    FIXED,
    NUMBERS,
    Coverage,
    Numbers,
    agreed_bits,
    covered,
    floating,
    numbers_named,
    simulation_in,
)
from separatrix.communication.bounds.evidence import Evidence
from separatrix.communication.bounds.simulations import MODELS, Model, ModelSize, Needs, Setting, Simulation

__all__ = [
    "FIXED",
    "MODELS",
    "NUMBERS",
    "Barrier",
    "Bound",
    "ContradictionError",
    "Coverage",
    "Evidence",
    "Growth",
    "Model",
    "ModelSize",
    "Needs",
    "Numbers",
    "OpenQuestion",
    "ProtocolBound",
    "Setting",
    "Simulation",
    "agreed_bits",
    "bounds",
    "bounds_for",
    "covered",
    "floating",
    "model_named",
    "numbers_named",
    "protocol_bounds",
    "simulation_in",
    "strongest_first",
]
