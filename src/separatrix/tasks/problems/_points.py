"""Points of the nearest-neighbour task: unit vectors on an integer grid, or corners of a hypercube.

BHBK24 §5.2 asks for unit vectors and a margin. So that answers and margins are exact, points are integers:
``sphere`` points are unit vectors times R = 2^20, each coordinate rounded to the nearest integer, which moves the
norm by at most √d/2 grid units (the promise allows √d, a relative error of √d/2^20); ``hypercube`` points have
coordinates ±1 and norm √d exactly. Inner products are compared on the scale of a squared norm, R² or d.

Queries are placed near one earlier point each, at a cosine drawn uniformly between 7/8 and 1 (sphere), or with a
number of flipped coordinates uniform in 0 … ⌊d/16⌋ (hypercube, again a cosine of at least 7/8).
"""

import math

from separatrix.tasks.arrays import Array, columns, integers, namespace_of, random_order
from separatrix.tasks.draws import Draws
from separatrix.tasks.problems._rows import row_numbers

GRID = 1 << 20
SMALLEST_COSINE = 7 / 8
BELOW_EVERY_PRODUCT = -(1 << 41)
"""Represents "no such point"; inner products of points within the promise are above -2^40 - 2^31."""


def gaussians(draws: Draws, *shape: int) -> Array:
    """Independent standard normal numbers by the Box-Muller transform, two from two uniform numbers."""
    size = math.prod(shape[:-1])
    pairs = -(-shape[-1] // 2)
    first, second = draws.uniform(size, pairs), draws.uniform(size, pairs)
    xp = namespace_of(first)
    radius, angle = xp.sqrt(-2.0 * xp.log1p(-first)), 2.0 * math.pi * second
    normal = xp.concat([radius * xp.cos(angle), radius * xp.sin(angle)], axis=1)
    return xp.reshape(normal[:, : shape[-1]], shape)


def unit(vectors: Array) -> Array:
    """Vectors scaled to norm 1 along the last axis; the zero vector, of probability 0, stays zero."""
    xp = namespace_of(vectors)
    norm = xp.sqrt(xp.sum(vectors * vectors, axis=-1, keepdims=True))
    return vectors / xp.where(norm == 0.0, 1.0, norm)


def chosen_points(points: Array, choice: Array) -> Array:
    """``points[row, choice[row, k]]``: shapes (count, n, d) and (count, w) give (count, w, d)."""
    return points[row_numbers(points, points.shape[0]), choice]


def sphere_points(draws: Draws, count: int, half: int, dimension: int) -> Array:
    """``half`` random points and ``half`` queries, each near another one of them; (count, 2·half, d)."""
    base = unit(gaussians(draws, count, half, dimension))
    xp = namespace_of(base)
    centre = chosen_points(base, random_order(draws.uniform(count, half)))
    noise = gaussians(draws, count, half, dimension)
    aside = unit(noise - xp.sum(noise * centre, axis=-1, keepdims=True) * centre)
    cosine = SMALLEST_COSINE + (1.0 - SMALLEST_COSINE) * draws.uniform(count, half, 1)
    queries = unit(cosine * centre + xp.sqrt(1.0 - cosine * cosine) * aside)
    return xp.astype(xp.round(xp.concat([base, queries], axis=1) * GRID), xp.int64)


def hypercube_points(draws: Draws, count: int, half: int, dimension: int) -> Array:
    """``half`` random corners and ``half`` queries, each a few flips from another one; (count, 2·half, d)."""
    corners = draws.digits(2, count * half, dimension) * 2 - 1
    xp = namespace_of(corners)
    base = xp.reshape(corners, (count, half, dimension))
    centre = chosen_points(base, random_order(draws.uniform(count, half)))
    flips = integers(draws.uniform(count, half, 1), 0, dimension // 16 + 1)
    flipped = random_order(draws.uniform(count, half, dimension)) < flips
    return xp.concat([base, xp.where(flipped, -centre, centre)], axis=1)


def earlier_products(points: Array) -> Array:
    """Inner products of every query x_k, k > N/2, with every point; (count, N/2, N), int64.

    Points that do not come before the query get a value below every product. The product runs in float64,
    where it is exact: all coordinates are integers and every partial sum is below 2^53 in size.
    """
    xp = namespace_of(points)
    length = points.shape[1]
    half = length // 2
    exact = xp.astype(points, xp.float64)
    products = xp.matmul(exact[:, half:, :], xp.permute_dims(exact, (0, 2, 1)))
    column = columns(points, length)
    earlier = column < xp.permute_dims(column[:, half:], (1, 0))
    return xp.where(earlier, xp.astype(products, xp.int64), BELOW_EVERY_PRODUCT)


def keeps_margin(points: Array, numerator: int, denominator: int, scale: int) -> Array:
    """Return whether every query's best product is ahead of the next by numerator/denominator · scale; bool (count,).

    All integers: differences are below 2^42 and denominators at most 2^20.
    """
    xp = namespace_of(points)
    products = earlier_products(points)
    best = xp.max(products, axis=2, keepdims=True)
    nearest = xp.argmax(products, axis=2, keepdims=True)
    others = xp.where(columns(points, points.shape[1]) == nearest, BELOW_EVERY_PRODUCT, products)
    second = xp.max(others, axis=2, keepdims=True)
    ahead = (best - second) * denominator >= numerator * scale
    return xp.all(ahead | (second == BELOW_EVERY_PRODUCT), axis=(1, 2))
