"""What Alice and Bob agree on before they see their inputs: BHBK24 Theorem 4's protocol for one network.

The network, its arithmetic, who holds which positions and which position is read are public. From them follow the
steps, and for each step which numbers are sent in how many bits. Nothing here depends on a token.

Versions of the protocol (E13; L = ⌈log2 N⌉, N the number of positions, softmax heads with m values each):

* ``as-written``: x_N in dp bits; maxima 2p; sums of exponentials 2(p + L); U_A and U_B at 2p bits an entry, both ways,
  4mp. Both sides compute the output.
* ``repaired``: U is sent one way, to the side that holds x_N, in as many bits as it needs: p + L an entry if products
  are rounded, about 3p/2 if they are exact. That side computes the output and sends the answer back.
* ``queries``: as ``repaired``, opened by the H queries W_Q x_N (mHp bits) instead of x_N, so that d plays no part.
* ``token``: as ``repaired``, opened by the token itself, since the embedding is public: ⌈log2 |Σ|⌉ bits.

Hard attention is the same with the number of largest scores in place of the sum of exponentials. Linear attention needs
neither maximum nor sum. A head's softmax must be Appendix D's: a softmax that is rounded once from the real numbers
is not a function of rounded exponentials.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

from separatrix.arithmetic import Arithmetic, FixedPoint, Products
from separatrix.bit_counts import bits_for
from separatrix.communication.partition import Partition
from separatrix.communication.protocols.bits import Code, sum_code
from separatrix.communication.protocols.exact_products import ExactProducts, reading_of
from separatrix.communication.protocols.transcript import ALICE, BOB
from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.networks import AnyNetwork, Attention, FeedForward, Head, Network

Opening: TypeAlias = Literal["vector", "queries", "token"]


@dataclass(frozen=True)
class Version:
    """A way to run the protocol: how it opens, and whether U goes both ways at 2p bits or one way as needed."""

    name: str
    opening: Opening
    both_ways: bool
    about: str


AS_WRITTEN = Version("as-written", "vector", True, "Appendix D word for word: U both ways at 2p bits an entry")
REPAIRED = Version("repaired", "vector", False, "the sums go one way, to the holder of x_N, and the answer comes back")
QUERIES = Version("queries", "queries", False, "repaired, and the queries are sent instead of x_N")
TOKEN = Version("token", "token", False, "repaired, and the token is sent instead of x_N")
VERSIONS = {version.name: version for version in (AS_WRITTEN, REPAIRED, QUERIES, TOKEN)}
"""All versions by name."""


def version_named(name: str) -> Version:
    """Return one of the versions; an unknown name raises."""
    if name not in VERSIONS:
        raise UnknownNameError("version of the protocol", name, VERSIONS)
    return VERSIONS[name]


@dataclass(frozen=True)
class Plan:
    """Everything public about one run of the protocol."""

    network: Network
    attention: Attention
    before: tuple[FeedForward, ...]
    after: tuple[FeedForward, ...]
    arithmetic: FixedPoint
    products: Products
    version: Version
    position: int
    partition: Partition

    @property
    def numbers(self) -> Arithmetic:
        """The arithmetic with the agreed reading of matrix products."""
        return reading_of(self.arithmetic, self.products)

    @property
    def holder(self) -> str:
        """Who holds the position that is read."""
        return ALICE if self.position in self.partition.alice else BOB

    @property
    def length_bits(self) -> int:
        """L = ⌈log2 N⌉ for N positions."""
        return bits_for(self.network.positions)

    @property
    def comparing(self) -> tuple[Head, ...]:
        """The heads that need a maximum and a sum: all but linear ones."""
        return tuple(head for head in self.attention.heads if head.scoring != "linear")

    @property
    def total_code(self) -> Code:
        """Z_A and Z_B, sums of at most N exponentials of at most 1 each: p + L bits."""
        bits = self.arithmetic.precision_bits + self.length_bits
        return Code(0, self.network.positions * self.arithmetic.largest, bits)

    @property
    def vocabulary_code(self) -> Code:
        """One token."""
        return Code.tight(0, self.network.vocabulary - 1)

    @cached_property
    def value_codes(self) -> tuple[Code, ...]:
        """An entry of U_A or U_B, for each head."""
        return tuple(self._value_code(head) for head in self.attention.heads)

    def _value_code(self, head: Head) -> Code:
        most = self._largest_value(head)
        bits = 2 * self.arithmetic.precision_bits
        if self.version.both_ways:
            if 2 * most >= 1 << bits:
                raise SeparatrixError(
                    f"sums up to {most} do not fit the 2p = {bits} bits of the protocol as written; "
                    "take the repaired version"
                )
            return Code(-most, most, bits)
        if self.products == "rounded":
            return sum_code(self.arithmetic, self.network.positions)
        return Code.tight(-most, most)

    def _largest_value(self, head: Head) -> int:
        """Return a bound on |U_A| and |U_B|: in steps with rounded products, in steps² with exact ones.

        A rounded product is at most the limit. With exact ones |Σ w_i v_i| ≤ limit · Σ |w_i|, and weights that are
        quotients by their sum add up to at most 1 when rounded down, and to N/2 steps more when rounded to nearest.
        Hard attention to more than N^Kc largest scores, whose number saturates, gives each of them one step.
        """
        scale, count = self.arithmetic.largest, self.network.positions
        limit = scale * scale
        if self.products == "rounded":
            return count * limit
        if head.scoring == "linear":
            return count * limit * limit
        weights = scale + (count // 2 if self.arithmetic.rounding == "nearest" else 0)
        return limit * (max(weights, count) if head.scoring == "hard" else weights)

    @property
    def answer_code(self) -> tuple[int, Code]:
        """How many whole numbers an answer has, and their code; one bit for a decision."""
        outputs, decoding = self.network.readout.matrix.shape[0], self.network.readout.decoding
        if decoding == "bits":
            return 1, Code(0, (1 << outputs) - 1, outputs)
        if decoding == "argmax":
            return 1, Code.tight(0, outputs - 1)
        if decoding == "round":
            # A readout is at most N^Kc, a whole number, so that rounding does not leave the range.
            return outputs, Code.tight(-self.arithmetic.largest, self.arithmetic.largest)
        return 1, Code.tight(0, 1)

    @property
    def answer_bits(self) -> int:
        """The bits of the answer, sent back when U goes one way."""
        count, code = self.answer_code
        return count * code.width

    def step_bits(self) -> dict[str, int]:
        """Return the bits of every step, from the sizes alone; a run must agree with them."""
        p, heads = self.arithmetic.precision_bits, self.attention.heads
        opening = {
            "vector": self.network.slots.width * p,
            "queries": sum(head.query.shape[0] for head in heads) * p,
            "token": self.vocabulary_code.width,
        }
        sums = sum(head.value.shape[0] * code.width for head, code in zip(heads, self.value_codes, strict=True))
        return {
            "query": opening[self.version.opening],
            "maxima": 2 * p * len(self.comparing),
            "totals": 2 * (p + self.length_bits) * len(self.comparing),
            "values": 2 * sums if self.version.both_ways else sums,
            "answer": 0 if self.version.both_ways else self.answer_bits,
        }

    @property
    def formula_bits(self) -> int:
        """What the protocol costs, from the sizes alone."""
        return sum(self.step_bits().values())


def make_plan(
    network: AnyNetwork,
    arithmetic: Arithmetic,
    partition: Partition,
    version: str = "repaired",
    products: Products = "rounded",
    position: int | None = None,
) -> Plan:
    """Agree on a run, or say in one line why this network has no such protocol."""
    attention, before, after = _one_layer(network)
    assert isinstance(network, Network)
    if isinstance(arithmetic, ExactProducts):
        raise SeparatrixError("give the fixed point itself and products='exact'")
    if not isinstance(arithmetic, FixedPoint):
        raise SeparatrixError(
            f"Theorem 4's protocol adds up exactly, and sums in {arithmetic} depend on their order; give a fixed point"
        )
    if arithmetic.softmax_rule != "appendix-d" and any(head.scoring == "softmax" for head in attention.heads):
        raise SeparatrixError(
            f"in {arithmetic} a softmax weight is the rounding of a real number and does not follow from rounded "
            "exponentials; take the softmax of Appendix D, without 'once'"
        )
    if products not in ("rounded", "exact"):
        raise SeparatrixError(f"products is {products!r}; choose 'rounded' or 'exact'")
    if partition.positions != network.positions:
        raise SeparatrixError(
            f"a partition of {partition.positions} positions does not fit a network that reads {network.positions}"
        )
    last = network.positions - 1
    chosen = last if position is None else position
    if not 0 <= chosen <= last or (network.readout.at == "last" and chosen != last):
        readable = f"0 to {last}" if network.readout.at == "every" else f"{last} alone"
        raise SeparatrixError(f"position {chosen} is not read by this network; it is read at {readable}")
    which = version_named(version)
    if which.opening == "token" and network.features:
        raise SeparatrixError(
            f"the cells of this network are {network.features} numbers without a bound, not tokens; "
            "take the version repaired or queries"
        )
    plan = Plan(network, attention, before, after, arithmetic, products, which, chosen, partition)
    # Refuse now rather than in the middle of a conversation, should the sums not fit their words.
    assert len(plan.value_codes) == len(attention.heads)
    return plan


def _one_layer(network: AnyNetwork) -> tuple[Attention, tuple[FeedForward, ...], tuple[FeedForward, ...]]:
    """Return the attention and the feed-forwards on either side of it."""
    if not isinstance(network, Network):
        raise SeparatrixError("Theorem 4 is about Transformers; a recurrent network has Theorem 2's protocol")
    if network.depth != 1:
        raise SeparatrixError(
            f"the network has {network.depth} attention layers and Theorem 4 is about one; for two layers no protocol "
            "of O(mpH·g(N)) bits exists with g below N/log²N (BHBK24 Corollary 13.1)"
        )
    place = next(number for number, layer in enumerate(network.layers) if not isinstance(layer, FeedForward))
    attention = network.layers[place]
    if not isinstance(attention, Attention):
        raise SeparatrixError(
            "third-order and graph attention weigh pairs of positions, and no sum over pairs splits into Alice's part "
            "and Bob's; Theorem 4 is about attention to single positions"
        )
    if not attention.heads:
        raise SeparatrixError("the attention layer has no heads, so that there is nothing to communicate about")
    before = tuple(layer for layer in network.layers[:place] if isinstance(layer, FeedForward))
    after = tuple(layer for layer in network.layers[place + 1 :] if isinstance(layer, FeedForward))
    return attention, before, after
