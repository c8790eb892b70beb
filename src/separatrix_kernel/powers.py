"""Answers that are decoded from power sums: one layer of uniform attention that adds up what tokens stand for.

RULE (power sums). Let the query or the key of every head be 0. Then all scores are 0, and every position of any query
gets one weight w. A coordinate of a head's average is a sum Σ_j f(x_j), where f(x) = round(w · v(x)) is a whole number
that depends on the token at j; outputs and readout are matrices. Where no bound of a sum or a product reaches the ends
of the range, nothing is saturated, and coordinate t of the readout is, in units of 1/S³,

    C_t + G_t(x_i) + Σ_j F_t(x_j) + e_t     with whole numbers F_t = Σ r · c · f, G_t = Σ S · r · x (the residual),

r and c the raw weights of the readout and of the outputs, and C_t = S² times the bias. A product with a raw weight that
is a multiple of S is exact; any other one is off by at most 1, which the readout multiplies by r. That bounds e_t.

The distance of a number from a class modulo m is that from the nearest m-fold of S³ plus the class's number. Distances
add up. If for t ≥ 1 those of F_t(x) from x^t modulo P, of G_t and C_t from 0, and |e_t| together are below S³/2, then
coordinate t is rounded to a number that is Σ_j x_j^t modulo P, where j goes through the window and all other positions
add 0. Likewise coordinate 0 is rounded to a number that is x_i modulo M, if F_0 is near 0 and G_0 near x_i modulo M.

So the decoding gets s_t = Σ_j y_j^t, t = 1 … n, for the n numbers y_j = x_j mod M of the window, as elements of the
field of P elements. Newton's identities determine the coefficients of Π_j (X - y_j) from them, because n < P makes
1 … n invertible; its roots are the y_j, and numbers below M ≤ P are different elements. So ``sketched`` is the set of
all y_j, and the answer is whether two of them add up with x_i to 0 modulo M: the specification's.
"""

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from separatrix_kernel.boxes import Box, affine_range, exactly, row_range
from separatrix_kernel.content import one_look
from separatrix_kernel.embedding import Projection, View
from separatrix_kernel.network import Attention, Head
from separatrix_kernel.reading import require
from separatrix_kernel.specification import Sums

if TYPE_CHECKING:
    from separatrix_kernel.layers import Layers


def distance(values: Iterable[int], modulus: int) -> int:
    """The largest distance of some numbers from the multiples of another."""
    return max(min(each % modulus, -each % modulus) for each in values)


class PowerSums:
    """The rule."""

    def __init__(self, layers: "Layers", spec: Sums) -> None:
        self.numbers, self.spec, self.inputs, self.network = layers.numbers, spec, layers.inputs, layers.network
        layers.state(0, "power-sums")
        require(len(self.network.layers) == 1, "power sums are covered where a single layer of attention acts")
        (layer,), readout = self.network.layers, self.network.readout
        assert isinstance(layer, Attention)
        self.layer, (modulus, self.prime) = layer, readout.sums
        asked = spec.terms == 3 and spec.each and spec.modulus == modulus
        require(asked, "the decoding answers another question than the specification")
        require(len(readout.matrix.rows) == 1 + len(spec.window), "the decoding is about another number of tokens")
        self.roles = [spec.window, *[range(place, place + 1) for place in range(spec.window.start)]]
        self.heads = [head for head in layer.heads if any(head.output.rows)]
        for head in self.heads:
            uniform = head.mask == "none" and not (head.query.reads and head.key.reads)
            require(uniform, "power sums need heads that weigh all positions alike")

    def check(self) -> None:
        """Refuse unless every coordinate is rounded to the right class."""
        numbers, matrix = self.numbers, self.network.readout.matrix
        own = View(self.network, matrix.reads if self.layer.residual else [], numbers)
        looks = [one_look(own, role, self.inputs) for role in self.roles]
        mine = {token: own.vector(looks[0][0], own.token(token)) for token in looks[0][1]}
        self.columns = {column: place for place, column in enumerate(own.columns)}
        given = [self._given(head) for head in self.heads]
        box = [exactly(0)] * self.network.width
        for column, place in self.columns.items():
            held = [each[place] for each in mine.values()]
            box[column] = min(held), max(held)
        for head, tables in zip(self.heads, given, strict=True):
            self._add(box, head, tables)
        for row in range(len(matrix.rows)):
            self._coordinate(row, tuple(box), mine, given)

    def _given(self, head: Head) -> list[dict[int, list[int]]]:
        """What each token of each role adds to a head's average: f(x)."""
        numbers, view = self.numbers, Projection(self.network, head.value, self.numbers)
        weight = numbers.weights(head.scoring, Counter({0: self.network.positions}))[0]
        found: list[dict[int, list[int]]] = []
        for role in self.roles:
            at, tokens = one_look(view, role, self.inputs)
            numbers.work.spend(len(tokens) * (1 + len(head.value.rows)))
            values = {token: view.project(at, view.token(token)) for token in tokens}
            found.append({token: [numbers.product(weight, each) for each in value] for token, value in values.items()})
        return found

    def _add(self, box: list[tuple[int, int]], head: Head, tables: list[dict[int, list[int]]]) -> None:
        """Widen the box by what a head writes, which must stay within the range on its way."""
        limit, average = self.numbers.limit, list[tuple[int, int]]()
        for entry in range(len(head.value.rows)):
            low = high = 0
            for role, table in zip(self.roles, tables, strict=True):
                held = [each[entry] for each in table.values()]
                low, high = low + len(role) * min(held), high + len(role) * max(held)
            average.append((low, high))
        free = all(-limit <= low and high <= limit for low, high in average)
        for place, row in enumerate(head.output.rows):
            low, high, inside = row_range(row, tuple(average), self.numbers)
            box[place] = box[place][0] + low, box[place][1] + high
            free = free and inside and -limit <= box[place][0] and box[place][1] <= limit
        require(free, "the sums of a head may be saturated")

    def _coordinate(
        self, number: int, box: Box, mine: dict[int, list[int]], given: list[list[dict[int, list[int]]]]
    ) -> None:
        """One coordinate of the readout is rounded to a number of its class."""
        readout, scale, spec = self.network.readout, self.numbers.scale, self.spec
        row, bias, unit = readout.matrix.rows[number], readout.bias[number], scale**3
        _, _, free = affine_range(row, bias, box, self.numbers)
        require(free, f"coordinate {number} of the readout may be saturated")
        modulus = (self.prime if number else spec.modulus) * unit
        # Where one product is off by 1, the readout multiplies that by r, which is S · r in units of 1/S³.
        off = sum(scale * scale for _, weight in row if weight % scale)
        shares: list[list[tuple[int, int]]] = []
        for head in self.heads:
            slopes: dict[int, int] = {}
            for column, weight in row:
                for entry, factor in head.output.rows[column]:
                    slopes[entry] = slopes.get(entry, 0) + weight * factor
                    off += abs(weight) * scale * (factor % scale != 0)
            shares.append(list(slopes.items()))
        off += distance([scale * scale * bias], modulus)
        places = [(self.columns[column], weight) for column, weight in row if column in self.columns]
        self.numbers.work.spend(len(mine) * (4 + len(places) + sum(map(len, shares))))
        own = {token: scale * sum(held[place] * weight for place, weight in places) for token, held in mine.items()}
        off += distance((value - unit * token * (number == 0) for token, value in own.items()), modulus)
        for role_number, role in enumerate(self.roles):
            power = number if number and not role_number else None
            found = list[int]()
            for token in self.inputs.tokens[role.start]:
                total = sum(
                    slope * tables[role_number][token][entry]
                    for tables, share in zip(given, shares, strict=True)
                    for entry, slope in share
                )
                wanted = 0 if power is None else pow(token % spec.modulus, power, self.prime)
                found.append(total - unit * wanted)
            off += len(role) * distance(found, modulus)
        require(2 * off < unit, f"coordinate {number} of the readout may be rounded to a wrong number")
