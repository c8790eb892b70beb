"""The protocols of BHBK24 Theorems 2 and 4, executed: every message is a real bitstring that the other side decodes."""

from separatrix.communication.protocols.bits import BitReader, BitWriter, Code
from separatrix.communication.protocols.cost import (
    Comparison,
    Condition,
    caveats,
    claim_holds_as_written,
    claimed_bits,
    compare,
    condition,
)
from separatrix.communication.protocols.direct import Direct, one_layer_directly, recurrent_directly
from separatrix.communication.protocols.exact_products import ExactProducts, reading_of
from separatrix.communication.protocols.one_layer import Found, OneLayerParty, OneLayerRun, run_one_layer
from separatrix.communication.protocols.plan import VERSIONS, Plan, Version, make_plan
from separatrix.communication.protocols.recurrent import (
    NetworkModel,
    QuantisedModel,
    RealCell,
    RecurrentModel,
    RecurrentParty,
    RecurrentRun,
    run_directly,
    run_recurrent,
    run_recurrent_model,
)
from separatrix.communication.protocols.transcript import ALICE, BOB, Message, Transcript, converse

__all__ = [
    "ALICE",
    "BOB",
    "VERSIONS",
    "BitReader",
    "BitWriter",
    "Code",
    "Comparison",
    "Condition",
    "Direct",
    "ExactProducts",
    "Found",
    "Message",
    "NetworkModel",
    "OneLayerParty",
    "OneLayerRun",
    "Plan",
    "QuantisedModel",
    "RealCell",
    "RecurrentModel",
    "RecurrentParty",
    "RecurrentRun",
    "Transcript",
    "Version",
    "caveats",
    "claim_holds_as_written",
    "claimed_bits",
    "compare",
    "condition",
    "converse",
    "make_plan",
    "one_layer_directly",
    "reading_of",
    "recurrent_directly",
    "run_directly",
    "run_one_layer",
    "run_recurrent",
    "run_recurrent_model",
]
