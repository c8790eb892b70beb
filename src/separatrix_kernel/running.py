"""A uniform attention layer in float32: its running sum is an automaton over positions, with walls that forget.

The network must be one attention layer of one softmax head without residual whose query and key weights are all 0, then
feed-forwards, read at the last position, which sees all N keys. All scores are 0, so all N exponentials are 1; their
sum is exactly N as long as N ≤ T = 2^24, and every weight is w = fl(1/N). With the addends a_t = fl(w · value of
position t), which are functions of the position and its token, the head computes, one coordinate at a time,

    x_1 = a_1,    x_{t+1} = fl(x_t + a_{t+1}),

and everything after that is a function of x_N.

WALLS. Let u be a power of two such that each coordinate of a_t is -u, 0 or u for t > 1, and k·u with a whole |k| ≤ T
for t = 1. Then x_t = k·u with a whole |k| ≤ T for all t, and a step s from -1, 0, 1 leads from k to k + s, but to k
where |k + s| = T + 1. For all k·u with |k| ≤ T are floats (24 bits, and u ≥ 2^-149), so the sum is exact where
|k + s| ≤ T. T + 1 lies halfway between the neighbours T and T + 2 (times u), and the even one of them is T.

RULE (running sums). The specification is an automaton. The proof names *dead* states of it, a whole *weight* c_j for
each coordinate and a vector *home*. Let P(k) = Σ c_j k_j. Refused unless

1. tokens lead from dead states to dead states alone, and all dead states have the same answer b;
2. in every pair (x_t, state) with t ≥ 1 that inputs reach without a dead state at 1, …, t - 1: if the state is dead,
   P(x_t) < P(home); if t = N and it is not, the network answers x_t as the state does;
3. Σ c_j s_j ≤ 0 for the steps s of every token at every position after the first;
4. a coordinate with c_j > 0 cannot go beyond -T and one with c_j < 0 not beyond T: the least (the greatest) first
   addend is at least N - 1 steps away from there;
5. the network answers b to every vector of multiples of u up to T·u other than home.

Then every input is answered rightly. An input that never meets a dead state: by 2. One that does stays in dead states
by 1, and P is below P(home) when it gets there by 2. P never grows after that. A step changes k_j by s_j, except that
the wall T swallows a +1 and the wall -T a -1. By 4 the first happens only where c_j ≥ 0 and the second only where
c_j ≤ 0, so P changes by Σ c_j s_j, which is at most 0 by 3, less |c_j| for each step that was swallowed. So
P(x_N) < P(home), x_N is not home, and the network answers b by 5, as the dead state does.

For 5 note that a vector other than home has a coordinate above or below home's: that is one of 2m boxes, on each of
which bounds of all numbers of the network (``floats``) decide the answer.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from separatrix_kernel.floats import BITS, LIMIT, ONE, Box, Floats
from separatrix_kernel.network import Attention, FeedForward, Network, Transformer
from separatrix_kernel.reading import RefusedError, fields, integers, items, require, text
from separatrix_kernel.rules import check_fit
from separatrix_kernel.specification import Answers, Automaton, Inputs

if TYPE_CHECKING:
    from separatrix_kernel.embedding import Sign

RULE = "running-sums"
WALL = 1 << BITS
MOST_STEPS = 1 << 18
LARGEST_WEIGHT = 1 << 62
Vector: TypeAlias = tuple[int, ...]
Pair: TypeAlias = tuple[Vector | None, int]


class RunningClaim:
    """What is to be shown: this network answers each of these inputs as the automaton does, in float32."""

    special = ""

    def __init__(self, network: Network, inputs: Inputs, answers: Answers, floats: Floats) -> None:
        layer = network.layers[0] if isinstance(network, Transformer) and network.layers else None
        if not isinstance(network, Transformer) or not isinstance(layer, Attention) or len(layer.heads) != 1:
            raise RefusedError("in float32 the kernel covers one attention layer of one head, then feed-forwards")
        if not isinstance(answers, Automaton):
            raise RefusedError("in float32 the kernel covers answers of an automaton")
        check_fit(network, inputs, answers)
        self.network, self.inputs, self.answers, self.floats = network, inputs, answers, floats
        self.head = head = layer.heads[0]
        self.after: list[FeedForward] = [each for each in network.layers if isinstance(each, FeedForward)]
        require(len(self.after) == len(network.layers) - 1, "in float32 the kernel covers a single attention layer")
        # With both at 0 no score can become 0 times infinity.
        uniform = head.scoring == "softmax" and not head.query.reads and not head.key.reads
        require(uniform and head.mask != "strict" and not layer.residual, "the head is not uniform without residual")
        require(network.readout.decoding == "bits", "in float32 the kernel reads answers as bits")
        require(2 <= network.positions <= WALL, f"the rule covers 2 to {WALL} positions")
        self.weight = floats.nearest(ONE, network.positions)
        floats.work.spend(network.positions * len(network.parts))
        # Positions that all parts of the embedding take alike look alike.
        self.places: list[tuple[Sign, range]] = [
            (tuple([part.at_position(position) for part in network.parts]), tokens)
            for position, tokens in enumerate(inputs.tokens)
        ]
        self._addends: dict[tuple[Sign, int], Vector] = {}
        kinds = {place: position for position, place in enumerate(self.places) if position}
        self.first = [self.addend(0, token) for token in inputs.tokens[0]]
        self.later = [self.addend(position, token) for (_, tokens), position in kinds.items() for token in tokens]

    def addend(self, position: int, token: int) -> Vector:
        """fl(w · value) of a token at a position."""
        key = (self.places[position][0], token)
        if key not in self._addends:
            require(len(self._addends) < MOST_STEPS, f"there are more than {MOST_STEPS} different addends")
            floats, stream = self.floats, [0] * self.network.width
            parts, value = self.network.parts, self.head.value
            # What is kept takes room as well.
            floats.work.spend(len(stream) + sum(1 + part.width for part in parts) + 8 * len(value.rows))
            for part in parts:
                at_token, at_position = part.at_token(token), part.at_position(position)
                if at_token is not None and at_position is not None:
                    for place, entry in enumerate(part.row(at_token if part.by_token else at_position), part.start):
                        stream[place] = floats.nearest(stream[place] + entry)
            box = floats.affine(value, [0] * len(value.rows), [(each, each) for each in stream])
            self._addends[key] = tuple([floats.product(self.weight, each) for each, _ in box])
        return self._addends[key]

    def added(self, total: Vector | None, addend: Vector) -> Vector:
        """The running sum after one more position."""
        if total is None:
            return addend
        self.floats.work.spend(len(addend))
        return tuple([self.floats.nearest(a + b) for a, b in zip(total, addend, strict=True)])

    def answer(self, box: Box) -> int:
        """The answer to every running sum in a box; refused unless it is the same for all."""
        floats, output = self.floats, self.head.output
        stream = floats.affine(output, [0] * len(output.rows), box)
        for layer in self.after:
            inner = floats.affine(layer.inner, layer.inner_bias, stream)
            hidden = [(max(0, low), max(0, high)) for low, high in inner]
            result = floats.affine(layer.outer, layer.outer_bias, hidden)
            if layer.residual:
                ends = zip(stream, result, strict=True)
                result = [(floats.nearest(a + c), floats.nearest(b + d)) for (a, b), (c, d) in ends]
            stream = result
        found = 0
        for low, high in floats.affine(self.network.readout.matrix, self.network.readout.bias, stream):
            require((2 * low > ONE) == (2 * high > ONE), "vectors other than home are not all answered alike")
            found = 2 * found + (2 * low > ONE)
        return found

    def wrong(self, tokens: Sequence[int]) -> bool:
        """Whether the network answers one input wrongly, by running it."""
        total: Vector | None = None
        for position, token in enumerate(tokens):
            total = self.added(total, self.addend(position, token))
        return self.answer([(each, each) for each in total or ()]) != self.answers.answer(tokens)

    def prove(self, proof: Any) -> str:
        """Apply the rule; its name. Refuses where an obligation fails."""
        found = fields(proof, "the proof", ["rule", "dead", "weights", "home"])
        text(found["rule"], "the rule", [RULE])
        steps, answers, size = self.answers.steps, self.answers.answers, len(self.head.value.rows)
        dead = set(integers(found["dead"], "the dead states", 0, len(steps) - 1))
        require(bool(dead) and len(dead) == len(found["dead"]), "dead states are missing or named twice")
        weights = integers(items(found["weights"], "the weights", size), "the weights", -LARGEST_WEIGHT, LARGEST_WEIGHT)
        home = integers(items(found["home"], "home", size), "home", -WALL, WALL)
        for state in dead:
            require(dead.issuperset(steps[state]), f"a token leads from the dead state {state} to one that is not")
            require(answers[state] == answers[min(dead)], "dead states have different answers")
        unit = self.unit()
        self._slopes(weights, unit)
        limit = sum(c * k for c, k in zip(weights, home, strict=True)) * unit
        for total, state in self.walk(dead, weights, limit):
            answer = self.answer([(each, each) for each in total or ()])
            require(answer == answers[state], f"a sum is answered {answer}, and its state says {answers[state]}")
        for place, middle in enumerate(home):
            for low, high in ((-WALL, middle - 1), (middle + 1, WALL)):
                box = [(-WALL * unit, WALL * unit)] * size
                box[place] = (low * unit, high * unit)
                right = low > high or self.answer(box) == answers[min(dead)]
                require(right, "a vector other than home is not answered as the dead states are")
        return RULE

    def unit(self) -> int:
        """The unit of all steps; the obligations of WALLS."""
        unit = max((abs(each) for addend in self.later for each in addend), default=0)
        require(unit.bit_count() == 1, "the addends after the first position are not 0 or plus or minus a power of two")
        require(WALL * unit < LIMIT, "the unit is too large for the walls")
        require(all(abs(each) in (0, unit) for addend in self.later for each in addend), "addends have different sizes")
        fine = all(each % unit == 0 and abs(each) <= WALL * unit for addend in self.first for each in addend)
        require(fine, f"the addends of the first position are not multiples of the others up to 2^{BITS} times them")
        return unit

    def _slopes(self, weights: list[int], unit: int) -> None:
        """Obligations 3 and 4."""
        for addend in self.later:
            grows = sum(c * s for c, s in zip(weights, addend, strict=True)) > 0
            require(not grows, "a token can make the weighted sum grow")
        far = (self.network.positions - 1) * unit
        for place, weight in enumerate(weights):
            ends = [each[place] for each in self.first]
            near = weight > 0 and min(ends) - far < -WALL * unit
            near = near or (weight < 0 and max(ends) + far > WALL * unit)
            require(not near, f"coordinate {place} can reach the wall on the other side")

    def walk(self, dead: set[int], weights: list[int], limit: int) -> frozenset[Pair]:
        """The pairs at the end that are not dead; obligation 2 where pairs become dead."""
        pairs: frozenset[Pair] = frozenset([(None, self.answers.start)])
        known: dict[tuple[frozenset[Pair], Sign, range], frozenset[Pair]] = {}
        made, steps = 0, self.answers.steps
        for position, (sign, tokens) in enumerate(self.places):
            key = (pairs, sign, tokens)
            if key not in known:
                made += len(pairs) * len(tokens)
                require(made <= MOST_STEPS, f"there are more than {MOST_STEPS} steps of pairs")
                after = set[Pair]()
                for total, state in pairs:
                    for token in tokens:
                        grown, following = self.added(total, self.addend(position, token)), steps[state][token]
                        if following not in dead:
                            after.add((grown, following))
                            continue
                        behind = sum(c * x for c, x in zip(weights, grown, strict=True)) < limit
                        require(behind, "a sum is not behind home where its state becomes dead")
                known[key] = frozenset(after)
            pairs = known[key]
        return pairs
