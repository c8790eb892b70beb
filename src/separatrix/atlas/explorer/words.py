"""The words that the page uses and does not explain where they stand; each is a row of ``docs/glossary.md`` as well.

The page shows them beside what they name and together at its end; a test holds them against the glossary.
"""

WORDS: dict[str, tuple[str, str]] = {
    "verdict": (
        "certified, refuted, not proved",
        "what is known about a claim on every input of a length: it is proved; an input that is answered wrongly is "
        "shown; or neither. A certificate file is valid, refuted, or not valid: it does not check, and no input is "
        "shown",
    ),
    "eta": (
        "η, gain",
        "the factor on the scores of a construction's attention: large enough, and the softmax falls on the right "
        "position (--gain)",
    ),
    "kc": (
        "Kc",
        "the constant of BHBK24 Appendix B.2: numbers are multiples of N^-Kc between -N^Kc and N^Kc, so p is about "
        "2·Kc·log2 N",
    ),
    "code": (
        "sign code, addresses",
        "vectors of ±1 (or points on circles) that are nearly orthogonal, by which attention finds one position "
        "among N",
    ),
    "gamma": (
        "γ",
        "the largest inner product of two addresses, where one with itself has 1: the smaller it is, the better "
        "attention tells positions apart, and the more numbers an address needs (--max-inner)",
    ),
    "digits": (
        "digits",
        "addresses that are the binary digits of a position as signs: the fewest signs, but two of them may differ in "
        "a single one",
    ),
    "circle": (
        "circle, circles:J",
        "addresses that are points on one unit circle, or on J of them: two numbers for each circle, but inner "
        "products so close to 1 that they take more bits",
    ),
    "attention": (
        "softmax, hard, leftmost, linear, relu",
        "how scores become weights: their exponentials, divided by the sum; 1 shared among the best keys, or given to "
        "the first of them; the scores themselves; the scores above 0, divided by their sum",
    ),
    "third-order": (
        "third-order attention",
        "attention in which a position weighs pairs of positions instead of single ones (SHT23)",
    ),
    "proof": (
        "repaired, paper, …",
        "versions of a theorem's proof: repaired is the one that holds; the others are as the source has it, or with "
        "one step changed, to show what fails",
    ),
    "margin": ("margin", "how far the readouts of an input are from being wrong; below 0 where one is"),
    "lead": (
        "lead of a best key",
        "by how much the largest weight of a position that looks is ahead of its next one; shown where that is least",
    ),
    "slots": ("slots", "named parts of the d numbers at a position, such as the symbol or the address"),
    "size": (
        "size in bits",
        "the weights of a construction that are not 0, with p bits each, and the description of its embedding",
    ),
    "m": (
        "m in a protocol",
        "the width of BHBK24, the larger of d and the rows of a head's projections; with the rows alone the constant 3 "
        "needs conditions (E13)",
    ),
    "fnn": ("FNN", "a feed-forward network on the whole input at once, with neither attention nor a state (SHT23)"),
    "goal": ("goal", "the accuracy at which a run may stop before its last step"),
}
"""By key: the word and what it means, in plain text."""
