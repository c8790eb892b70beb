"""What a trained Transformer makes of the vector behind its attention: from a box to margins between classes.

x + W_2 GELU(W_1 norm x), a last norm, a linear readout. Norms, GELU and readout take boxes to boxes; where that is too
coarse for a class, its margin over the answer is bounded by a linear form of what the heads give, plus what the
tangents of norms and GELUs leave out. All numbers are balls (``balls``).
"""

from functools import cached_property, lru_cache
from math import isqrt
from typing import NamedTuple

from separatrix_kernel.balls import BITS, ONE, Balls, Bend, Linear, Normed, Packed, dot, gelu, norm, slack
from separatrix_kernel.transformer import Weights

MOST_DIFFERENCES = 1 << 21


class Box(NamedTuple):
    """Where the vector behind the attention is, on some texts."""

    y: Balls
    forms: list[tuple[int, int]]
    """The least and the greatest of each form a_i, see ``Answers.inward``."""
    reach: int
    """At least its distance from the centre."""


class Halfway(NamedTuple):
    """A box behind the attention and what it becomes before the last norm."""

    y: Balls
    reach: int
    normed: Normed
    hidden: Balls
    hidden_noise: list[int]
    bends: list[Bend]
    active: list[int]
    """Radii of the GELUs' values."""
    z: Balls
    z_noise: list[int]
    z_reach: int


class Passed(NamedTuple):
    """The same through the last norm."""

    half: Halfway
    last: Normed
    wrong: list[int]
    """How far each logit of float32 may be off, times the last norm's largest deviation."""


class Answers:
    """A layer's feed-forward, and the last norm and readout of a model."""

    def __init__(self, weights: Weights, layer: int = 0) -> None:
        self.weights, self.width = weights, weights.width
        inner, outer = weights.layers[layer].inner, weights.layers[layer].outer
        self.first = Linear(*inner, weights.layers[layer].second_norm)
        self.second = Linear(*outer)
        self.readout = Linear(*weights.readout, weights.last_norm)
        self.first_rows = Packed([list(row) for row in zip(*self.first.columns, strict=True)])
        self.outer_rows = Packed(outer[0])
        # Those of all answers to many classes would take gigabytes.
        kept = 1 + MOST_DIFFERENCES // (weights.classes * (8 + 2 * self.width))
        self._differences = lru_cache(maxsize=kept)(self._differences_from)

    @cached_property
    def inward(self) -> Packed:
        """The coordinates and then the forms a_i, the centred columns of the feed-forward's first map, as one map.

        a_i·y is σ times what unit i gets, without its bias, up to ``_form_error``.
        """
        width = self.width
        unit = [[ONE if i == k else 0 for k in range(width)] for i in range(width)]
        return Packed(unit + [[w - sum(column) // width for w in column] for column in self.first.columns])

    @cached_property
    def inward_sizes(self) -> Packed:
        """The same with the sizes of all entries."""
        return Packed([[abs(each) for each in column] for column in self.inward.columns])

    def passed(self, box: Box) -> Passed:
        """A box through feed-forward and last norm."""
        half = self.halfway(box)
        last = norm(half.z, self.weights.epsilon, half.z_reach, self._least_deviation(half))
        return Passed(half, last, self._wrong(last))

    def halfway(self, box: Box) -> Halfway:
        """A box through the feed-forward."""
        epsilon, y = self.weights.epsilon, box.y
        normed = norm(y, epsilon, box.reach)
        hidden, hidden_noise = self.first.apply(normed.balls)
        hidden = Balls(hidden.centres, self._narrowed(box, normed, hidden, hidden_noise))
        bends = [gelu(c, r) for c, r in zip(hidden.centres, hidden.radii, strict=True)]
        active = [
            (abs(bend.slope) * r >> BITS) + 1 + max(-bend.low, bend.high)
            for bend, r in zip(bends, hidden.radii, strict=True)
        ]
        out, out_noise = self.second.apply(Balls([bend.value for bend in bends], active))
        centres = [a + b for a, b in zip(y.centres, out.centres, strict=True)]
        noise = [
            n + slack(2, abs(a) + abs(b) + r + q)
            for n, a, b, r, q in zip(out_noise, y.centres, out.centres, y.radii, out.radii, strict=True)
        ]
        radii = [r + q + n for r, q, n in zip(y.radii, out.radii, noise, strict=True)]
        z, reach = Balls(centres, radii), isqrt(dot(radii, radii)) + 1
        return Halfway(y, box.reach, normed, hidden, hidden_noise, bends, active, z, noise, reach)

    def _least_deviation(self, half: Halfway) -> int:
        """At most every σ(z): σ is convex, so that it is above its tangent, which is a linear form of z."""
        centre = norm(Balls(half.z.centres, [0] * self.width), self.weights.epsilon)
        tangent, error = _tangent(centre, self.width)
        form, loss = self.pulled(half, tangent)
        loss += (error * sum(half.z.radii) >> BITS) + 1
        across = dot(map(abs, form), half.y.radii) >> BITS
        length = (isqrt(dot(form, form)) + 1) * half.reach >> BITS
        return centre.deviation - 2 - loss - min(across, length) - 1

    def _narrowed(self, box: Box, normed: Normed, hidden: Balls, noise: list[int]) -> list[int]:
        """Radii of what the feed-forward's units get, from the ranges of the forms a_i where they are smaller.

        A unit gets a_i·y/σ and its bias, up to noise. a_i differs from the true column by its error and by the
        rounding of its mean, on numbers that add up to at most twice Σ|y|.
        """
        size = sum(abs(c) + r for c, r in zip(box.y.centres, box.y.radii, strict=True))
        error = ((self.first.error + 4) * 2 * size >> BITS) + 2
        inverses = ONE * ONE // normed.most, ONE * ONE // normed.least + 1
        caused = self.first.packed_sizes.floors(normed.noise)
        radii: list[int] = []
        for i, (low, high) in enumerate(box.forms):
            low, high = low - error, high + error
            least = low * inverses[low < 0] >> BITS
            most = (high * inverses[high > 0] >> BITS) + 1
            centre = hidden.centres[i] - self.first.bias[i]
            own = max(most - centre, centre - least) + caused[i] + noise[i] + 2
            radii.append(min(own, hidden.radii[i]))
        return radii

    def _wrong(self, last: Normed) -> list[int]:
        """Of each class how far a logit of float32 may be off, times the norm's largest deviation."""
        terms = self.readout.terms
        off = [
            n + slack(terms, abs(c) + r)
            for n, c, r in zip(last.noise, last.balls.centres, last.balls.radii, strict=True)
        ]
        pairs = zip(self.readout.sizes, self.readout.bias_noise, strict=True)
        return [((dot(sizes, off) >> BITS) + own + 1) * last.most // ONE + 1 for sizes, own in pairs]

    def _differences_from(self, c: int) -> list[tuple[list[int], list[int], int]]:
        """Of each class: the rows' difference to c's, less its mean, the sizes of that, and the biases' difference."""
        return [self._difference(c, k) for k in range(self.weights.classes)]

    def _difference(self, c: int, k: int) -> tuple[list[int], list[int], int]:
        rows, bias = self.readout.columns, self.readout.bias
        apart = [a - b for a, b in zip(rows[c], rows[k], strict=True)]
        mean = sum(apart) // self.width
        centred = [each - mean for each in apart]
        return centred, [abs(each) for each in centred], bias[c] - bias[k]

    def margins(self, passed: Passed, c: int) -> list[int]:
        """Of each other class a lower bound of what c has more, times σ, where boxes are all that is known.

        With D the centred difference of rows and δ of biases, the margin times σ is D·u(z) + δσ(z).
        """
        return [0 if k == c else self._margin(passed, c, k) for k in range(self.weights.classes)]

    def _margin(self, passed: Passed, c: int, k: int) -> int:
        _, sizes, bias = self._differences(c)[k]
        value, _, bias_error = self._centre(passed, c, k)
        last = passed.last
        radii = passed.half.z.radii
        value -= (dot(sizes, radii) + (2 * self.readout.error + 4) * sum(radii) >> BITS) + 1
        # |σ(z) - σ(centre)|, where the sign of the bias says which side matters.
        down, up = last.deviation - last.least + 2, last.most - last.deviation + 2
        value -= (abs(bias) + bias_error) * (down if bias >= 0 else up) + bias_error * max(down, up) + ONE >> BITS
        return value - passed.wrong[c] - passed.wrong[k]

    def _centre(self, passed: Passed, c: int, k: int) -> tuple[int, int, int]:
        """The margin times σ at the centre, from below; and the errors of the rows' and biases' difference."""
        row, sizes, bias = self._differences(c)[k]
        centred, deviation = passed.last.centred, passed.last.deviation
        row_error, bias_error = 2 * self.readout.error + 4, 2 * self.readout.bias_error
        value = dot(row, centred) + bias * deviation >> BITS
        lost = row_error * sum(map(abs, centred)) + 2 * sum(sizes) + bias_error * deviation + 2 * abs(bias)
        return value - (lost >> BITS) - 6, row_error, bias_error

    def form(self, base: Balls, passed: Passed, c: int, k: int) -> tuple[list[int], int]:
        """A linear form w and a number b: c's margin over k, times σ, is at least b plus w of what the heads give.

        ``base`` is the vector to which they add.

        The margin at the centre, plus D·dz + δdσ. For δ ≥ 0 the tangent of σ is below it. Else σ exceeds its tangent by
        at most |dz|²/(2·width·σ), and its value at the centre by at most |dz|/√width.
        """
        half, last, width = passed.half, passed.last, self.width
        row, _, bias = self._differences(c)[k]
        value, row_error, bias_error = self._centre(passed, c, k)
        w, error, size = row, row_error, abs(bias) + bias_error
        bulge, away = _bulge(half.z_reach, last, width), isqrt(half.z_reach**2 // width) + 2
        if bias >= bias_error or bulge < away:
            tangent, tangent_error = _tangent(last, width)
            w = [d + (bias * t >> BITS) for d, t in zip(row, tangent, strict=True)]
            error += (abs(bias) * tangent_error >> BITS) + bias_error + 3
            value -= 0 if bias >= bias_error else (size * bulge >> BITS) + 1
        else:
            value -= (size * away >> BITS) + 1
        form, loss = self.pulled(half, w)
        value -= loss + (error * sum(half.z.radii) >> BITS) + 1
        value += dot(form, [b - a for a, b in zip(half.y.centres, base.centres, strict=True)]) >> BITS
        value -= (dot(map(abs, form), base.radii) >> BITS) + 1
        return form, value - passed.wrong[c] - passed.wrong[k]

    def pulled(self, half: Halfway, w: list[int]) -> tuple[list[int], int]:
        """A form f and a loss: w·(z - its centre) ≥ f·(y - its centre) - loss.

        The gradient, and what it leaves out. The numbers in it are chosen; where one is not the true derivative, the
        difference times a radius is lost. σ is convex with second derivative at most 1/(width·σ), so that it exceeds
        its tangent by 0 to |distance|²/(2·width·σ). With q = κ·u the quotient q/σ is, around the centre,
        q_0/σ_0 + dq/σ_0 - q_0 dσ/σ_0² - dq dσ/(σσ_0) + q_0 dσ²/(σσ_0²).
        """
        width, y, normed = self.width, half.y, half.normed
        # z is y plus the feed-forward's output.
        loss = (dot(map(abs, w), half.z_noise) >> BITS) + 1
        v = self.outer_rows.floors(w)
        loss += (sum(half.active) >> BITS) + 1
        loss -= sum(min(f * bend.low, f * bend.high) for f, bend in zip(v, half.bends, strict=True)) >> BITS
        t = [f * bend.slope >> BITS for f, bend in zip(v, half.bends, strict=True)]
        loss += (sum(half.hidden.radii) + dot(map(abs, t), half.hidden_noise) >> BITS) + 2
        kappa = self.first_rows.floors(t)
        sizes = list(map(abs, kappa))
        loss += (sum(normed.balls.radii) + dot(sizes, normed.noise) >> BITS) + 2
        # κ·u/σ as a function of y.
        sigma, least = normed.deviation - 2, min(normed.least, normed.deviation - 2)
        q = dot(kappa, normed.centred) >> BITS
        q_error = (2 * sum(sizes) >> BITS) + 2
        q_size = abs(q) + q_error
        slope, slope_error = _tangent(normed, width)
        mean = sum(kappa) // width
        kappa = [each - mean for each in kappa]
        first = [each * ONE // normed.deviation for each in kappa]
        share = q * ONE // normed.deviation
        second = [(share * s >> BITS) * ONE // normed.deviation for s in slope]
        form = [a + b - d for a, b, d in zip(w, first, second, strict=True)]
        total, square = sum(y.radii), ONE * ONE
        error = 2 * ONE // sigma + 4
        error += q_error * square // (sigma * sigma) + q_size * slope_error * ONE // (sigma * sigma)
        error += 8 * q_size * square // (sigma * sigma * sigma) + 4 * ONE // sigma + 8
        across = dot(map(abs, kappa), y.radii)
        # σ is known within two units where κ is divided by it.
        loss += (error * total >> BITS) + 4 * across // (sigma * sigma) + 2
        # σ changes by at most |distance|/√width; κ·u by at most that of κ, and by what each coordinate allows.
        bulge, away = _bulge(half.reach, normed, width), isqrt(half.reach**2 // width) + 2
        length = isqrt(dot(kappa, kappa)) + width
        moved = min(across + total >> BITS, length * half.reach >> BITS) + 2
        loss += moved * away * ONE // (least * sigma) + 1
        loss += q_size * away * away * ONE // (least * sigma * sigma) + 1
        loss += q_size * bulge * ONE // (sigma * sigma) + 1
        return form, loss


def _tangent(normed: Normed, width: int) -> tuple[list[int], int]:
    """The gradient of σ at the centre, u/(width·σ), and how far its entries may be off; they are at most 1 in size."""
    sigma = normed.deviation
    return [c * ONE // (width * sigma) for c in normed.centred], 4 * ONE // (sigma - 2) + 4


def _bulge(reach: int, normed: Normed, width: int) -> int:
    """How far σ can exceed its tangent within this distance from the centre."""
    return reach**2 // (2 * width * normed.least) + 1
