"""Why a task is easy for one class of models and hard for another, in plain sentences for the task's page.

The arguments are those of the papers (BHBK24 §3 to §5, SHT23); the evidence on the page is what proves them. A task
without sentences of its own is told by the problem that hides in it, from the catalog.
"""

from collections.abc import Mapping

from separatrix.constructions import constructions
from separatrix.site.section import Results

_STORED = (
    "A recurrent model has read everything before it learns what is asked: inputs with different answers to some "
    "question must leave it in different states, so its state must hold about as many bits as the input."
)
_TALK = (
    "A small layer of attention, or a small recurrent state, would let Alice and Bob, who each hold a part of the "
    "input, find the answer with few bits of conversation, and this problem takes about N."
)
_HALVES = (
    "With two layers, each position of the second half first fetches the symbol at the same place of the first half, "
    "by nearly orthogonal codes as in index lookup; the second layer averages over all places whether "
)
WHY: Mapping[str, tuple[str, ...]] = {
    "index-lookup": (
        "Give each position a code of its own, a vector of signs, so that any two codes are nearly orthogonal: O(log "
        "N) numbers are enough for N such codes.",
        "The query at the end is the code of the position p that is asked for, and every position has its own code as "
        "its key: the score is 1 at p, and at most a quarter of that anywhere else.",
        "The scale η = O(log N) on the scores makes the best key beat all others together in the softmax, so that "
        "attention falls on p and brings its symbol back, up to an error that rounding removes.",
        "A recurrent model has read all symbols before it learns which one is asked for: any two different strings "
        "must leave it in different states, so it must carry N·log₂|Σ| bits.",
    ),
    "dyck": (
        "A recurrent model keeps the brackets that are open in its state: with n types and at most k of them open that "
        "is a fixed number of bits, whatever N.",
        "One layer of attention sees averages over all positions. If Alice holds the odd and Bob the even positions, "
        "their parts must fit together place by place, which takes about N bits of conversation; a small layer would "
        "do with fewer, if each of them can add up a part of every sum.",
        "Rounding is memory: in floating point they cannot, because a sum that is rounded after every addition depends "
        "on what was added before. A float32 at 2²⁴ forgets +1 and keeps −1, so a sum that starts there remembers for "
        "ever that a counter went too far, and one layer with five such sums, taken in the order of the positions, "
        "decides Dyck-(2,2) at N = 2, 4, 8, … (erratum E26). separatrix certify dyck-float --length 8192 writes the "
        "network and a proof for all 4^8192 strings. The bound is for arithmetics that add exactly and round once.",
    ),
    "equality": (_HALVES + "some pair differs.", _TALK),
    "inequality": (_HALVES + "some pair differs.", _TALK),
    "disjointness": (_HALVES + "both are 1.", _TALK),
    "index": (_STORED,),
    "associative-recall": (_STORED,),
    "mqar": (_STORED,),
    "nearest-neighbour": (
        "As in associative recall, with the points themselves for codes: the score is their inner product, and the "
        "scale makes the nearest one beat all others together.",
        _STORED,
    ),
    "match2": (
        "Two numbers add up to 0 modulo M exactly if one lies at the mirrored angle of the other on a circle of M "
        "points, so one score with two numbers tells a match; the softmax then falls on it, or on a dummy if there is "
        "none.",
    ),
    "match3": (
        "A score of attention sees two numbers at a time, and whether two others complete a sum is a question about "
        "pairs: disjointness of about N bits hides in it, so one layer must be large.",
        "Third-order attention weighs pairs of positions, so its score sees all three numbers at once.",
    ),
    "sparse-averaging": (
        "For every set of q positions there is a query of O(q log N) numbers whose score is the same at all of them "
        "and smaller anywhere else, so that the softmax averages exactly these.",
        _STORED,
    ),
    "directed-3-cycle": (
        "An edge tells attention about two vertices, and a cycle needs three: disjointness hides in the edges, so a "
        "graph Transformer must be large.",
        "A higher-order unit scores the pair (j, k) by the three edges of the cycle through i at once, and width 1 is "
        "enough for it; it is a class of its own.",
    ),
}
"""Sentences by task; how a network does it comes from its construction where that says so."""


def why(entry: Results) -> tuple[str, ...]:
    """The sentences of a task; where there are none, the problem that hides in it; nothing where none does.

    >>> why({"name": "new", "communication": {"problem": "EQ", "note": "the halves are the strings"}})
    ('What makes it hard is the communication problem EQ inside it: the halves are the strings.',)
    """
    done = [each.how for each in constructions().values() if each.task_name == entry["name"] and each.how]
    own = (*done, *WHY.get(entry["name"], ()))
    split = entry["communication"]
    if own or split["problem"] == "none":
        return own
    return (f"What makes it hard is the communication problem {split['problem']} inside it: {split['note']}.",)
