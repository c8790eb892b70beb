"""What is said when no method decides a claim: one line with the most useful reason, and all reasons with it."""

from collections import Counter
from collections.abc import Sequence

from separatrix.certificates.verdict import Verdict


def undecided(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict from those of all methods, none of which proves or refutes the claim."""
    reasons = tuple(f"{each.method}: {each.reason}" for each in verdicts)
    near = [each for each in verdicts if each.concerned]
    # What a method finds wrong says most; then what hinders most methods, said by the last, most special one.
    found = [each for each in near if each.suspected]
    common = Counter(each.reason for each in near)
    best = found[0] if found else max(reversed(near), key=lambda each: common[each.reason], default=verdicts[-1])
    also = [each.method for each in near if each is not best]
    reason = f"{best.method}: {best.reason}" + ("; no input that fails was found" if found else "")
    listed = f"; also tried: {', '.join(also)}" if also else ""
    return Verdict(False, False, f"{reason}{listed}", "none", suspected=bool(found), reasons=reasons)
