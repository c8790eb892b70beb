"""Majority: are more than half of the bits 1? An instance of THRES(1, N) (BHBK24 Appendix F.3, b = N/2)."""

from separatrix.tasks.problems.sparse_threshold import SparseThreshold

TASK = SparseThreshold(
    name="majority",
    title="Majority",
    source="BHBK24 Appendix F.3 (Theorem 13)",
    question="Are more than half of the bits 1?",
    instance="majority",
    sparsity=1,
)
