"""k-CNF: a random formula with at most N parts of k literals each, an instance of THRES(k, N) (BHBK24 Appendix F.3)."""

from separatrix.tasks.problems.sparse_threshold import SparseThreshold

TASK = SparseThreshold(
    name="cnf",
    title="k-CNF formulas",
    source="BHBK24 Appendix F.3 (Theorem 13)",
    question="Is every clause, a disjunction of k literals, true?",
    instance="cnf",
)
