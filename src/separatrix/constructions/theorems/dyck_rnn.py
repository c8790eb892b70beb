"""Bounded Dyck languages by a plain ReLU network h_t = ReLU(W h_{t-1} + U x_t + b): BHBK24 §4.1.

The paper refers to earlier constructions with sigmoids [25] and ReLU [6]; this one is written out for whole numbers and
keeps every value small for ever. The state is a stack of k levels, the top first; a level holds the code of a type of
bracket (L = log n + O(log log n) coordinates, see ``_brackets``) or zeros. An opening bracket moves every level down, a
closing one moves every level up. A level after a step is the sum of two units, of which at most one is not zero:

    down_j = ReLU(level_{j-1} - closing),  up_j = ReLU(level_{j+1} - opening),  level_j = down_j + up_j,

and since the next step reads the sum, one ReLU map is enough. Errors are units as well: a coordinate of a closing
type that the top lacks (which covers the empty stack), and an opening bracket above k others. ``alive`` starts at 1 and
is ReLU(alive - errors of the step before), so it stays at 0 once it got there; all other units are switched off by it.
The readout alive - errors - top is 1 on members and at most 0 on all other strings.

Size: 2kL + 2 numbers, each 0 or 1 (one of them 0 or w), whatever N is. Variant ``two-maps`` adds the pairs in a second
map, which makes the state kL + 1 numbers.
"""

from dataclasses import dataclass
from itertools import product

import numpy

from separatrix.constructions.construction import Construction, Growth, Options
from separatrix.constructions.exponents import least_exponent
from separatrix.constructions.theorems._brackets import Brackets, brackets_of, check_range
from separatrix.errors import SeparatrixError
from separatrix.networks import ExactMatrix, Integers, Readout, RecurrentNetwork, ReluMap, Slots, zeros
from separatrix.tasks import Task

LARGEST_WIDTH = 2048


@dataclass(frozen=True, kw_only=True)
class DyckRecurrent(Construction):
    """State size 2kL + 2 with L coordinates for a type of bracket, the same for every N."""

    name: str = "dyck-rnn"
    title: str = "Bounded Dyck, a ReLU recurrent cell with a stack"
    theorem: str = "BHBK24 §4.1, Appendix E"
    statement: str = (
        "a ReLU recurrent network of constant size and finite precision recognises Dyck-(n,k) for every length"
    )
    task_name: str = "dyck"
    growth: Growth = "constant"
    how: tuple[str, ...] = (
        "A recurrent model keeps the brackets that are open in its state: with n types and at most k of them open "
        "that is a fixed number of bits, whatever N.",
    )
    deviations: tuple[str, ...] = (
        "the cell is written out here; the paper cites constructions with sigmoids and ReLU",
        "a state of O(k log n) numbers instead of log(number of states) numbers",
    )
    variants: tuple[str, ...] = ("repaired", "two-maps")

    def network(self, task: Task, length: int, options: Options) -> RecurrentNetwork:
        brackets = brackets_of(task)
        width = self.claimed_width(task, length, brackets.code_width)
        if width > LARGEST_WIDTH:
            language = f"Dyck-({brackets.types},{brackets.depth})"
            raise SeparatrixError(f"{language} needs a state of {width} numbers; at most {LARGEST_WIDTH} are built")
        exponent = self.default_exponent(task, length) if options.exponent is None else options.exponent
        check_range(self.name, length, exponent, 3 * brackets.weight)
        about = f"{self.theorem} ({options.variant}), Dyck-({brackets.types},{brackets.depth}), length {length}"
        parts = _Parts(brackets)
        if options.variant == "two-maps":
            units, stack = parts.units(parts.summed), parts.summed
            cell = (parts.relu_map(parts.summed, units), parts.relu_map(parts.paired, parts.sums(), embedded=False))
            readout = {("alive", 0): 1} | {("level1", bit): -1 for bit in range(brackets.code_width)}
        else:
            units, stack = parts.units(parts.paired), parts.paired
            cell = (parts.relu_map(parts.paired, units),)
            readout = {("alive", 0): 1, **parts.errors(), **parts.level(parts.paired, 1, range(parts.bits), -1)}
        matrix = numpy.zeros((1, stack.width), dtype=numpy.int64)
        initial = numpy.zeros((stack.width, 1), dtype=numpy.int64)
        initial[stack.columns("alive")] = 1
        for (slot, place), weight in readout.items():
            matrix[0, stack.columns(slot).start + place] = weight
        nothing = zeros(1, 1)
        return RecurrentNetwork(
            2 * brackets.types, length, token_table(brackets), ExactMatrix(initial), cell,
            Readout(ExactMatrix(matrix), nothing, "bits"), about=about,
        )  # fmt: skip

    def default_exponent(self, task: Task, length: int) -> int:
        # The largest sum is the overflow unit's: w for the lowest level, w for the token, w for alive.
        return least_exponent(length, 3 * brackets_of(task).weight)

    def claimed_width(self, task: Task, length: int, code_width: int) -> int:
        """2kL + 2."""
        del length
        return 2 * int(task.parameters()["depth"]) * code_width + 2


def token_table(brackets: Brackets) -> ExactMatrix:
    """Embedding [code if opening, code if closing, opening, closing] of all tokens: (2n, 2L + 2)."""
    types, bits = brackets.code.shape
    table = numpy.zeros((2 * types, 2 * bits + 2), dtype=numpy.int64)
    table[:types, :bits] = brackets.code
    table[types:, bits : 2 * bits] = brackets.code
    table[:types, 2 * bits] = 1
    table[types:, 2 * bits + 1] = 1
    return ExactMatrix(table)


Reads = dict[tuple[str, int], int]
Row = tuple[tuple[str, int], Reads, int]
"""The coordinate that a unit writes, its weights, its bias."""


class _Parts:
    """The coordinates of the two kinds of states, and the units of the cell by name."""

    def __init__(self, brackets: Brackets) -> None:
        self.brackets = brackets
        self.bits = bits = brackets.code_width
        levels = range(1, brackets.depth + 1)
        # Nothing can move up into the lowest level, so it has no second unit.
        down, up = [(f"down{j}", bits) for j in levels], [(f"up{j}", bits) for j in levels[:-1]]
        self.paired = Slots((*down, *up, ("mismatch", bits), ("overflow", 1), ("alive", 1)))
        self.summed = Slots((*[(f"level{j}", bits) for j in levels], ("alive", 1)))
        self.tokens = Slots((("open-code", bits), ("close-code", bits), ("opening", 1), ("closing", 1)))

    def level(self, state: Slots, number: int, bits: range, weight: int = 1) -> Reads:
        """Return weights that read some coordinates of a level; nothing for levels that do not exist."""
        known = {name for name, _ in state.parts}
        names = [name for name in (f"level{number}", f"down{number}", f"up{number}") if name in known]
        return dict.fromkeys(product(names, bits), weight)

    def errors(self) -> Reads:
        """Return weights -1 on all error units."""
        return {("mismatch", bit): -1 for bit in range(self.bits)} | {("overflow", 0): -1}

    def units(self, state: Slots) -> list[Row]:
        """Return the units that read a state of either kind and write a paired one."""
        bits, depth, weight = self.bits, self.brackets.depth, self.brackets.weight
        alive: Reads = {("alive", 0): 1}
        rows: list[Row] = []
        for bit in range(bits):
            one = range(bit, bit + 1)
            # Each unit is ReLU(a - b + alive - 1) with a, b in {0, 1}: it is a and not b and alive.
            rows.append((("down1", bit), {("open-code", bit): 1} | alive, -1))
            for j in range(2, depth + 1):
                above = self.level(state, j - 1, one)
                rows.append(((f"down{j}", bit), above | {("closing", 0): -1} | alive, -1))
            for j in range(1, depth):
                below = self.level(state, j + 1, one)
                rows.append(((f"up{j}", bit), below | {("opening", 0): -1} | alive, -1))
            top = self.level(state, 1, one, -1)
            rows.append((("mismatch", bit), top | {("close-code", bit): 1} | alive, -1))
        # The lowest level holds w ones or none: full + opening + alive - 2, times w.
        full = self.level(state, depth, range(bits))
        rows.append((("overflow", 0), full | {("opening", 0): weight, ("alive", 0): weight}, -2 * weight))
        # With pairs the errors of the step before are in the state; otherwise the second map takes them off.
        rows.append((("alive", 0), alive | (self.errors() if state is self.paired else {}), 0))
        return rows

    def sums(self) -> list[Row]:
        """Return the second map of the narrow cell: pairs added up, errors taken off ``alive``."""
        rows: list[Row] = [
            ((f"level{j}", bit), self.level(self.paired, j, range(bit, bit + 1)), 0)
            for j in range(1, self.brackets.depth + 1)
            for bit in range(self.bits)
        ]
        return [*rows, (("alive", 0), {("alive", 0): 1} | self.errors(), 0)]

    def relu_map(self, reads: Slots, rows: list[Row], embedded: bool = True) -> ReluMap:
        """Return a map from [state, embedding] (or the state alone) to the coordinates that the rows write."""
        source = Slots((*reads.parts, *self.tokens.parts)) if embedded else reads
        target = self.paired if any(slot == "overflow" for (slot, _), _, _ in rows) else self.summed
        weights: Integers = numpy.zeros((target.width, source.width), dtype=numpy.int64)
        bias: Integers = numpy.zeros((target.width, 1), dtype=numpy.int64)
        for (slot, place), entries, constant in rows:
            row = target.columns(slot).start + place
            bias[row, 0] = constant
            for (name, offset), weight in entries.items():
                weights[row, source.columns(name).start + offset] = weight
        return ReluMap(ExactMatrix(weights), ExactMatrix(bias))


CONSTRUCTION = DyckRecurrent()
