"""Index lookup by one layer and one head: BHBK24 Theorem 1 (Appendix C.2).

The token at the last position carries the address of the position it asks for; every other position carries its own
address; the head compares them and averages the binary codes of the symbols; a feed-forward rounds the average.

Deviations: addresses are linear sign codes instead of a random draw (E1); their entries are ±1 and the query carries
η/k instead of 1/√k on both sides; η is 0.7 · (bits of 3(N+1)) / (1 - γ) + 1 ≥ ln(3(N+1)) / (1 - γ), which is enough
because ⟨T(i), T(i)⟩ is exactly 1, where the paper takes 2 ln 3N; thresholds are whole numbers (see ``pieces``).
"""

from dataclasses import dataclass

from separatrix.bit_counts import bits_for
from separatrix.constructions.construction import Addressing, Construction, Options
from separatrix.constructions.exponents import exponent_in_words
from separatrix.constructions.pieces import addresses, binary_rows, feed_forward, step_units, sufficient_gain
from separatrix.networks import (
    Attention,
    EmbeddingPart,
    ExactMatrix,
    Head,
    Network,
    Readout,
    Slots,
    TableRows,
    identity,
    zeros,
)
from separatrix.tasks import Task


@dataclass(frozen=True, kw_only=True)
class IndexLookupConstruction(Construction):
    """Width log|Σ| + 2k with k the width of a sign code for N addresses."""

    name: str = "index-lookup"
    title: str = "Index lookup, one layer"
    theorem: str = "BHBK24 Theorem 1"
    statement: str = "a 1-layer Transformer of width O(log N) and precision O(log N) looks up s_p for every input"
    task_name: str = "index-lookup"
    also: tuple[tuple[str, str], ...] = (("family", "circles:2"), ("attention", "hard"))
    serves: tuple[tuple[str, str], ...] = (("index", "INDEX is index lookup over two symbols"),)
    addressing: Addressing | None = "position"
    frontier_power: int = 20
    how: tuple[str, ...] = (
        "Give each position its own code, a vector of signs, so that any two codes are nearly orthogonal: O(log "
        "N) numbers are enough for N such codes.",
        "The query at the end is the code of the queried position p, and every position has its own code as "
        "its key: the score is 1 at p, and at most a quarter of that anywhere else.",
        "The scale η = O(log N) on the scores makes the best key beat all others together in the softmax, so that "
        "attention falls on p and brings its symbol back, up to an error that rounding removes.",
    )
    deviations: tuple[str, ...] = ("E1: linear sign codes instead of a random draw", "E1: a smaller η suffices")

    def default_exponent(self, task: Task, length: int) -> int:
        """Return Kc = 1 where Kc = 2 would not fit into machine words: one attention to an address needs no more."""
        del task
        return exponent_in_words(length)

    def network(self, task: Task, length: int, options: Options) -> Network:
        alphabet: int = task.parameters()["alphabet"]
        symbols = binary_rows(alphabet)
        bits = symbols.shape[1]
        places = addresses(length, options.max_inner, options.family)
        k = places.width
        gain = options.gain if options.gain is not None else sufficient_gain(length + 1, places.max_inner)
        slots = Slots((("symbol", bits), ("asked", k), ("address", k)))
        end = length + 1
        embedding = (
            EmbeddingPart("symbol", TableRows(ExactMatrix(symbols)), "token", (0, alphabet), (0, length)),
            EmbeddingPart("asked", places.rule, "token", (alphabet, alphabet + length), (length, end)),
            EmbeddingPart("address", places.rule, "position", (0, alphabet + length), (0, length)),
        )
        head = Head(
            query=slots.reading(k, {"asked": identity(k, gain / places.norm)}),
            key=slots.reading(k, {"address": identity(k)}),
            value=slots.reading(bits, {"symbol": identity(bits)}),
            output=slots.writing(bits, {"symbol": identity(bits)}),
        )
        units = [unit for place in range(bits) for unit in step_units([("symbol", place, 1)], 0, ("symbol", place))]
        return Network(
            slots,
            task.vocabulary(length).size,
            end,
            embedding,
            # Without residuals the stream after the head holds the average alone, in the symbol's own slot.
            (Attention((head,), residual=False), feed_forward(slots, units, kept=False)),
            Readout(
                slots.reading(bits, {"symbol": identity(bits)}),
                zeros(bits, 1),
                "bits",
            ),
            about=f"{self.theorem}, {alphabet} symbols, length {length}",
        )

    def claimed_width(self, task: Task, length: int, code_width: int) -> int:
        """log|Σ| + 2k."""
        del length
        return max(1, bits_for(task.parameters()["alphabet"])) + 2 * code_width


CONSTRUCTION = IndexLookupConstruction()
