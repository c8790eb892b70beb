"""Feed-forwards and readouts on boxes: every vector between two bounds at once.

A box gives each coordinate a least and a greatest raw number. Only *live* coordinates are kept: those that a later
layer or the readout reads. What a layer writes to live coordinates depends on its input through live ones alone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from separatrix_kernel.evaluation import decode
from separatrix_kernel.network import FeedForward, Layer, Matrix, Readout, Row, Transformer
from separatrix_kernel.numbers import Numbers

Box: TypeAlias = tuple[tuple[int, int], ...]
"""(least, greatest) of each live coordinate."""


def exactly(value: int) -> tuple[int, int]:
    """The interval of a single number."""
    return value, value


def is_idle(layer: Layer, after: list[int]) -> bool:
    """Whether a layer leaves every coordinate as it is that matters after it: it adds 0, and x + 0 = x in the range."""
    if isinstance(layer, FeedForward):
        writes = any(layer.outer.rows[place] or layer.outer_bias[place] for place in after)
    else:
        writes = any(head.output.rows[place] for head in layer.heads for place in after)
    return layer.residual and not writes


def live_coordinates(network: Transformer) -> list[list[int]]:
    """The coordinates that matter before each layer, and last those before the readout, ascending.

    Going backwards: before a layer matter those that the layer needs to compute what matters after it.
    """
    return live_before(network.layers, network.readout.matrix.reads)


def live_before(layers: Sequence[Layer], last: Iterable[int]) -> list[list[int]]:
    """The same for some layers, where after them the coordinates ``last`` matter."""
    live = [sorted(last)]
    for layer in reversed(layers):
        after = live[0]
        before = set(after) if layer.residual else set[int]()
        if isinstance(layer, FeedForward):
            units = {unit for place in after for unit, _ in layer.outer.rows[place]}
            before |= {column for unit in units for column, _ in layer.inner.rows[unit]}
        else:
            for head in layer.heads:
                entries = {entry for place in after for entry, _ in head.output.rows[place]}
                before |= head.needs(entries) if entries else set()
        live.insert(0, sorted(before))
    return live


def restricted(layer: FeedForward, before: list[int], after: list[int]) -> FeedForward:
    """What a layer adds to some coordinates, as a function of some that hold all that it needs for that."""
    place = {coordinate: number for number, coordinate in enumerate(before)}
    units = sorted({unit for each in after for unit, _ in layer.outer.rows[each]})
    unit_place = {unit: number for number, unit in enumerate(units)}
    inner = tuple(tuple((place[c], w) for c, w in layer.inner.rows[unit]) for unit in units)
    outer = tuple(tuple((unit_place[u], w) for u, w in layer.outer.rows[each]) for each in after)
    bias, shift = [layer.inner_bias[unit] for unit in units], [layer.outer_bias[each] for each in after]
    return FeedForward(Matrix(inner, len(before)), bias, Matrix(outer, len(units)), shift, False)


def row_range(row: Row, box: Box, numbers: Numbers) -> tuple[int, int, bool]:
    """The least and the greatest exact sum of rounded products over a box, before it is saturated.

    Each product is monotone in its coordinate and coordinates vary freely. The third value says that no product, nor
    the sum, can be saturated anywhere in the box.
    """
    numbers.work.spend(1 + len(row))
    low = high = 0
    free = True
    for place, weight in row:
        least, greatest = box[place]
        ends = numbers.quotient(weight * least, numbers.scale), numbers.quotient(weight * greatest, numbers.scale)
        a, b = ends if weight >= 0 else (ends[1], ends[0])
        free = free and -numbers.limit <= a and b <= numbers.limit
        low, high = low + numbers.saturate(a), high + numbers.saturate(b)
    return low, high, free and -numbers.limit <= low and high <= numbers.limit


def affine_range(row: Row, bias: int, box: Box, numbers: Numbers) -> tuple[int, int, bool]:
    """The range of W x + b for one row, saturated, and whether saturation never acts."""
    low, high, free = row_range(row, box, numbers)
    low, high = numbers.saturate(low) + bias, numbers.saturate(high) + bias
    free = free and -numbers.limit <= low and high <= numbers.limit
    return numbers.saturate(low), numbers.saturate(high), free


@dataclass(frozen=True)
class Unit:
    """A hidden unit on a box: its range, and whether it is affine there (positive all over, nothing saturated)."""

    low: int
    high: int
    affine: bool


class BoxLayer:
    """One feed-forward as a map from boxes of live coordinates to boxes of live coordinates."""

    def __init__(self, layer: FeedForward, before: list[int], after: list[int], numbers: Numbers) -> None:
        self.numbers, self.residual = numbers, layer.residual
        part = restricted(layer, before, after)
        self.inner, self.inner_bias = part.inner.rows, part.inner_bias
        self.outer, self.outer_bias = part.outer.rows, part.outer_bias
        place = {coordinate: number for number, coordinate in enumerate(before)}
        self.own = [place[each] if layer.residual else -1 for each in after]
        # S · round(y / S) - y for one product that is not exact lies between these.
        half = numbers.scale // 2
        self.error = (-half, half) if numbers.rounding == "nearest" else (1 - numbers.scale, 0)
        self._known: dict[Box, Box] = {}

    def __call__(self, box: Box) -> Box:
        """A box that holds the layer's output for every vector of the box.

        Two bounds are computed for each coordinate, and both hold, so their intersection does. The first goes through
        the monotone steps one by one. The second is exact about what units have in common: where a unit is positive
        all over the box and nothing is saturated, it *is* the affine map S·h = Σ w x + S·b + e, with e the rounding
        errors of those products whose weight is not a whole number. Adding up these maps before bounding lets noise
        cancel: that is how ReLU(4a - 1) - ReLU(4a - 2) is exactly 1 for every a from 1/2 on.
        """
        if box not in self._known:
            units = [self._unit(row, bias, box) for row, bias in zip(self.inner, self.inner_bias, strict=True)]
            self._known[box] = tuple(self._coordinate(number, units, box) for number in range(len(self.outer)))
        return self._known[box]

    def _unit(self, row: Row, bias: int, box: Box) -> Unit:
        low, high, free = affine_range(row, bias, box, self.numbers)
        return Unit(max(0, low), max(0, high), free and low >= 0)

    def _coordinate(self, number: int, units: list[Unit], box: Box) -> tuple[int, int]:
        numbers, row, bias = self.numbers, self.outer[number], self.outer_bias[number]
        low, high, free = affine_range(row, bias, tuple((unit.low, unit.high) for unit in units), numbers)
        if self.residual:
            own = box[self.own[number]]
            low, high = low + own[0], high + own[1]
            free = free and -numbers.limit <= low and high <= numbers.limit
            low, high = numbers.saturate(low), numbers.saturate(high)
        if not free or low == high:
            return low, high
        least, greatest = self._common(number, units, box)
        return max(low, least), min(high, greatest)

    def _common(self, number: int, units: list[Unit], box: Box) -> tuple[int, int]:
        """The second bound: S² times the coordinate as one affine form of the box, and what is added to it."""
        scale, row = self.numbers.scale, self.outer[number]
        slopes: dict[int, int] = {}
        self.numbers.work.spend(sum(len(self.inner[unit]) for unit, _ in row))
        low = high = scale * scale * self.outer_bias[number]
        for unit, weight in row:
            if not units[unit].affine:
                least, greatest = self.numbers.product_range(weight, units[unit].low, units[unit].high)
                low, high = low + scale * scale * least, high + scale * scale * greatest
                continue
            low, high = low + weight * scale * self.inner_bias[unit], high + weight * scale * self.inner_bias[unit]
            errors = 0
            for place, slope in self.inner[unit]:
                slopes[place] = slopes.get(place, 0) + weight * slope
                errors += slope % scale != 0
            ends = sorted(weight * errors * end for end in self.error)
            low, high = low + ends[0], high + ends[1]
            if weight % scale:
                low, high = low + scale * self.error[0], high + scale * self.error[1]
        if self.residual:
            slopes[self.own[number]] = slopes.get(self.own[number], 0) + scale * scale
        for place, slope in slopes.items():
            ends = sorted(slope * end for end in box[place])
            low, high = low + ends[0], high + ends[1]
        # The coordinate is a whole number, so the bounds move inwards to whole numbers.
        return -(-low // (scale * scale)), high // (scale * scale)


class BoxReadout:
    """The readout on boxes."""

    def __init__(self, readout: Readout, live: list[int], numbers: Numbers) -> None:
        place = {coordinate: number for number, coordinate in enumerate(live)}
        self.readout, self.numbers = readout, numbers
        self.rows: list[Row] = [tuple((place[c], w) for c, w in row) for row in readout.matrix.rows]

    def __call__(self, box: Box) -> int | None:
        """The answer to every vector of the box; None where it is not the same all over.

        Bits grow with their coordinate, so equal bits at both bounds are equal in between. Coordinate i is the first
        largest one for certain if its least value exceeds the greatest of each one before it and reaches that of each
        one after it; the bounds' own answers must agree then. Any other answer needs a single point.
        """
        ranges = [affine_range(r, b, box, self.numbers) for r, b in zip(self.rows, self.readout.bias, strict=True)]
        low, high = [each[0] for each in ranges], [each[1] for each in ranges]
        answer = decode(self.readout, low, self.numbers)
        if self.readout.decoding == "argmax":
            assert answer is not None
            sure = all(low[answer] >= high[n] + (n < answer) for n in range(len(high)) if n != answer)
            return answer if sure else None
        if self.readout.decoding != "bits" and low != high:
            return None
        return answer if answer == decode(self.readout, high, self.numbers) else None
