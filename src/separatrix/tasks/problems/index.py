"""INDEX: the communication problem behind index lookup, as a task of its own.

BHBK24 Appendix B.1 (Fact 3): Alice has a ∈ {0,1}^N, Bob has b ∈ [N], the answer is a_b. It is index lookup over
two symbols, with Alice's bits before Bob's position.
"""

from separatrix.tasks.problems.index_lookup import IndexLookup

TASK = IndexLookup(
    name="index",
    title="INDEX (communication problem)",
    source="BHBK24 Appendix B.1, Fact 3",
    question="Alice holds a ∈ {0,1}^N, Bob holds b ∈ [N]: what is a_b?",
    alphabet=2,
)
