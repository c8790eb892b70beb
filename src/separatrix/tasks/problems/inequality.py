"""Inequality: the complement of equality, the form in which BHBK24 Appendix F proves its theorems."""

from separatrix.tasks.problems.equality import Equality

TASK = Equality(
    name="inequality",
    title="String inequality",
    source="BHBK24 Appendix F",
    question="Do the first and the second half of the string differ?",
    answer_one="unequal",
)
