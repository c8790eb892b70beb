"""A trained Transformer of one layer that looks up the symbol at an asked position: bounds over all texts.

The model reads s_1 … s_N and a question @p at the last place, and answers there. Fix the question p and the symbol c
at its place; each other symbol is any of a set, so that symbols are chosen one by one. A linear form w of what a head
gives (``heads``) is at least λ on all contexts if Σ_j min_s e_j(s) (w·o_j(s) - λ) ≥ 0. That inequality is all that is
checked; who found λ does not matter. A cheaper bound takes no λ: what keys other than the fixed ones get together is at
most T/(D + T), D the least sum of the fixed keys' e and T the sum over other keys of their largest e.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from math import isqrt
from typing import Any

from separatrix_kernel.answers import Box
from separatrix_kernel.balls import BITS, ONE, dot, power_range
from separatrix_kernel.heads import Heads, Sets, least_product, lifted
from separatrix_kernel.reading import integers, require
from separatrix_kernel.transformer import Weights

STATED_BITS = 20


class Chosen(Heads):
    """Heads over texts whose symbols are chosen one by one."""

    @cached_property
    def place_hulls(self) -> list[list[tuple[list[int], list[int]]]]:
        """Of each head and place the least and the greatest of each coordinate and form of ``seen``."""
        return [
            [_ends([place[s] for s in some]) for place, some in zip(head, self.held, strict=True)] for head in self.seen
        ]

    @cached_property
    def hulls(self) -> list[tuple[list[int], list[int]]]:
        """The same over all places."""
        return [
            (_ends([part[0] for part in head])[0], _ends([part[1] for part in head])[1]) for head in self.place_hulls
        ]

    @cached_property
    def rounds(self) -> list[tuple[list[int], int]]:
        """Of each head a point, and at least the distance of every vector of ``adds`` from it."""
        found: list[tuple[list[int], int]] = []
        for head in self.adds:
            vectors = [place[s] for place, some in zip(head, self.held, strict=True) for s in some]
            point = [sum(each) // len(vectors) for each in zip(*vectors, strict=True)]
            found.append((point, max(_distance(vector, point) for vector in vectors)))
        return found

    def leak(self, p: int, sets: Sets) -> Box:
        """The box for all texts with these symbols, from what the keys get together whose symbols are not fixed.

        A head gives (1 - ε)·base + ε·average. The base is the average over keys with a single symbol and the question,
        with their powers e; it differs from the one with powers m by Σ(e - m)(v - base)/Σe. The other average is of
        vectors that other keys add, and ε is at most T/(D + T), D the least Σe of the first keys and T the greatest of
        the others. So it is with every linear form of what the head gives.
        """
        found, width = self.question(p), self.width
        low, high = list(found.seen_base.centres), list(found.seen_base.centres)
        reach, start = 0, list(found.base.centres)
        for head in range(self.heads):
            scores, own, error = found.scores[head], found.own[head], found.error[head]
            largest = [max(map(place.__getitem__, some)) for place, some in zip(scores, sets, strict=True)]
            most = lifted(max([own, *largest]), error)
            powers = [power_range(each - most, error) for each in largest]
            fixed_at = [place for place, some in enumerate(sets) if len(some) == 1]
            keys = [power_range(own - most, error), *(powers[place] for place in fixed_at)]
            vectors = [found.seen[head], *(self.seen[head][place][sets[place][0]] for place in fixed_at)]
            others = sum(power[1] for place, power in enumerate(powers) if len(sets[place]) > 1)
            least = sum(key[0] for key in keys)
            require(least > 0, "the fixed keys may get no weight")
            leaks = others * ONE // (least + others) + 1 if others else 0
            middles, spreads = [a + b for a, b in keys], [b - a for a, b in keys]
            whole = sum(middles)
            base = [dot(middles, each) // whole for each in zip(*vectors, strict=True)]
            apart = [
                sum(s * (abs(v - b) + 1) for s, v in zip(spreads, each, strict=True)) // (2 * least) + 2
                for each, b in zip(zip(*vectors, strict=True), base, strict=True)
            ]
            lowest, highest = self._hull(head, sets) if leaks else (base, base)
            for i, (b, r) in enumerate(zip(base, apart, strict=True)):
                first, last = b - r, b + r + 1
                low[i] += first + min(0, leaks * (lowest[i] - first) >> BITS) - 1
                high[i] += last + max(0, leaks * (highest[i] + 1 - last) >> BITS) + 2
            start = [v + b for v, b in zip(start, base, strict=False)]
            wide = isqrt(dot(apart[:width], apart[:width])) + 1
            reach += wide + width + 4
            if leaks:
                point, distance = self.rounds[head]
                reach += leaks * (distance + _distance(base[:width], point) + wide) >> BITS
        box, radii = self.boxed(p, low, high), found.base.radii
        reach += _distance(start, box.y.centres) + isqrt(dot(radii, radii)) + 1
        return box._replace(reach=min(reach, box.reach))

    def _hull(self, head: int, sets: Sets) -> tuple[list[int], list[int]]:
        """The least and the greatest of what keys add that are not fixed; of all keys where almost none is fixed."""
        every = [len(some) == len(held) for some, held in zip(sets, self.held, strict=True)]
        if sum(every) >= self.length - 1:
            return self.hulls[head]
        parts = [
            self.place_hulls[head][place] if every[place] else _ends([self.seen[head][place][s] for s in some])
            for place, some in enumerate(sets)
            if len(some) > 1
        ]
        return _ends([part[0] for part in parts])[0], _ends([part[1] for part in parts])[1]

    def stated(self, p: int, sets: Sets, bounds: Mapping[int, list[int]], k: int, head: int, form: list[int]) -> int:
        """The bound that is stated for a class and a head, which must hold."""
        require(k in bounds, f"question {p}: class {k} may win")
        self.verify(p, head, sets, form, bounds[k][head])
        return bounds[k][head]

    def verify(self, p: int, head: int, sets: Sets, form: Sequence[int], least: int) -> None:
        """That a linear form of what a head gives is nowhere below ``least``, on texts with these symbols."""
        powers, itself = self.powers(p, head)
        total = least_product(itself, self.own_value(p, head, form) - least)
        for place, some, numbers in zip(powers, sets, self.values(head, form), strict=True):
            total += min(least_product(place[s], numbers[s] - least) for s in some)
        require(total >= 0, f"question {p}: a bound of head {head} does not hold")

    def prove(self, p: int, sets: Sets, right: int, proof: Any) -> None:
        """Check a proof that the question p has the answer ``right`` on every text with these symbols.

        A leaf lists [class, λ of each head] for those classes that boxes leave in doubt, λ in units of 2^-20.
        """
        for some, said in self.leaves(sets, proof):
            require(len(said) == 1 and isinstance(said[0], list), "a leaf has other than a list of classes")
            stated: dict[int, list[int]] = {}
            for each in said[0]:
                numbers = integers(each, "a class's bounds")
                require(len(numbers) == 1 + self.heads, "a class has other than one bound for each head")
                stated[numbers[0]] = [number << (BITS - STATED_BITS) for number in numbers[1:]]
            self.work.spend(self.steps)
            self.show(p, right, self.leak(p, some), partial(self.stated, p, some, stated))


class Lookup(Chosen):
    """A model and a length; places and symbols count from 0."""

    def __init__(self, weights: Weights, alphabet: int, length: int) -> None:
        require(weights.classes == alphabet, f"the model has {weights.classes} classes, not {alphabet}")
        # A length is a number in a small file: nothing is made of it before it is known to be one of the model's.
        require(length < weights.positions, f"the model has positions for inputs of {weights.positions} cells alone")
        super().__init__(weights, [range(alphabet)] * length, range(alphabet, alphabet + length))


def _ends(vectors: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    """The least and the greatest of each coordinate."""
    columns = list(zip(*vectors, strict=True))
    return [min(each) for each in columns], [max(each) for each in columns]


def _distance(left: Sequence[int], right: Sequence[int]) -> int:
    """At least the distance of two points."""
    return isqrt(sum((a - b) ** 2 for a, b in zip(left, right, strict=True))) + 1


def everything(alphabet: int, length: int, p: int, c: int) -> list[list[int]]:
    """All contexts of a pair, as sets."""
    return [[c] if place == p else list(range(alphabet)) for place in range(length)]


def proved(model: Lookup, p: int, c: int, proof: Any) -> None:
    """Check the proof of one pair: on every text that has the symbol c at place p the answer to the question p is c."""
    model.prove(p, everything(model.alphabet, model.length, p, c), c, proof)
