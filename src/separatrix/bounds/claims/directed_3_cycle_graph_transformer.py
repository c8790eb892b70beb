"""SHT23: every graph Transformer that solves directed 3-cycle has L·H·m = Ω̃(N).

Derivation: with n = ⌊N/3⌋ DISJ on n² bits hides in the graph (reduction ``disjointness-to-directed-3-cycle``; the
slides give none) and needs n² bits. A graph Transformer gives 2NLHmp bits: in each layer and head the parties exchange
keys and values of all N rows, while an entry X_ij is needed only where row i is. So 2NLHm·p ≥ ⌊N/3⌋², that is LHm ≥
⌊N/3⌋²/(2Np) ≈ N/(18p). This is the one bound here that holds for any number of layers.
"""

from separatrix.bounds.bound import ProtocolBound
from separatrix.bounds.claims._settings import plain_setting
from separatrix.bounds.problem_facts import disjointness_fact, hidden_by
from separatrix.bounds.simulations import GRAPH_LAYERS

BOUND = ProtocolBound(
    name="directed-3-cycle-graph-transformer",
    claim="SHT23, lower bound for graph Transformers",
    statement="a graph Transformer that solves directed 3-cycle has LHm = Ω̃(N)",
    task_names=("directed-3-cycle",),
    models=("graph-transformer",),
    why="An edge tells attention about two vertices, and a cycle needs three: the edges encode disjointness, so a "
    "graph Transformer must be large.",
    assumptions=(
        "each layer is softmax(κ(X, (ZW_Q)(ZW_K)ᵀ)) Z W_V with any κ applied entry by entry and any element-wise maps",
        "queries, keys and values have p bits; each party owns whole rows",
        "the model is deterministic and right on every graph with N vertices",
    ),
    deviations=("the slides state the bound without reduction and constants; both are given here",),
    simulation=GRAPH_LAYERS,
    problem="DISJ",
    reduction="disjointness-to-directed-3-cycle",
    hidden_bits=lambda task, length: (length // 3) ** 2,
    setting=plain_setting,
    in_words="⌊N/3⌋²",
    checks=hidden_by("disjointness-to-directed-3-cycle", disjointness_fact),
)
