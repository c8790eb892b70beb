"""SHT23's conjecture: every Transformer that solves triple matching has L·H·m = N^Ω(1). Open; no number is given.

What is proved: Hm = Ω̃(N) for one layer, LHm = Ω̃(N) for graph Transformers on directed 3-cycle. What speaks against a
proof by communication: Corollary 13.1 of BHBK24, by which two-layer Transformers have no short protocol. Two layers do
solve the variant read at the last position (Variant 1), so a proof needs all outputs or another variant.
"""

from separatrix.bounds.bound import OpenQuestion
from separatrix.bounds.evidence import Evidence

BOUND = OpenQuestion(
    name="match3-conjecture",
    claim="SHT23, conjecture",
    statement="every Transformer that solves triple matching has LHm = N^Ω(1)",
    task_names=("match3",),
    models=("transformer-2layer",),
    known=(
        Evidence(
            "cited", "conjectured in SHT23; proved there for one layer and, on directed 3-cycle, for graph Transformers"
        ),
        Evidence(
            "cited",
            "no short protocol exists for two layers (BHBK24 Corollary 13.1), so that method does not decide it",
        ),
    ),
)
