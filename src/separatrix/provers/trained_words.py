"""Invariants of trained recurrent networks: boxes of states that no token leaves, for ``separatrix_kernel.words``.

Two searches, both float64 and untrusted. For a network with rounded states: all pairs (rounded state, state of the
automaton) that words reach, breadth first; where rounding is not certain, a box of the neighbouring states. For a
network as it is: words are divided by a graph, and each of its nodes has a box, grown from the start until nothing
leaves it. Graphs are the state of the automaton with the last k tokens, for k = 0, 1, …, and then the reachable states
of the same network with rounded states, which sees what the network itself tells apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy
from numpy.typing import NDArray

from separatrix_kernel.balls import ONE
from separatrix_kernel.cells import Cell
from separatrix_kernel.specification import Automaton

Floats: TypeAlias = NDArray[numpy.float64]
Integers: TypeAlias = NDArray[numpy.int64]
Boxes: TypeAlias = list[list[Any]]
UNIT = 16
"""Boxes of a network as it is have ends that are multiples of 2^-16."""
LONGEST_MEMORY = 8
MOST_ROUNDS = 400
TRIED_BITS = (3, 4, 5, 6)
ROUNDOFF = 2.0**-24
ACTIVATION_ERROR = 36 * ROUNDOFF
TINY = 1e-9


@dataclass(frozen=True)
class Found:
    """Boxes that are an invariant, or a word after which the answer is wrong, or neither."""

    boxes: Boxes | None = None
    failing: tuple[int, ...] | None = None
    last: list[list[int]] | None = None
    """The last tokens of each box, where they are a part of the state."""


class WordsProver:
    """Searches for one network and automaton; ``most`` is how many boxes a certificate may have.

    >>> from separatrix.models.naming import parse_spec
    >>> from separatrix.models.recurrent_files import recurrent_file
    >>> from separatrix.models.task_model import model_for_task
    >>> from separatrix.tasks import tasks
    >>> dyck = tasks()["dyck"]
    >>> model = model_for_task(parse_spec("RNN-(1,4)"), dyck, 4, seeds=[0])
    >>> answer = dyck.specification(4)["answer"]
    >>> automaton = Automaton(answer["start"], answer["steps"], answer["answers"])
    >>> WordsProver(Cell(recurrent_file(model)), automaton).rounded(3).failing is None
    False
    """

    def __init__(self, cell: Cell, automaton: Automaton, most: int = 1 << 15) -> None:
        self.cell, self.automaton, self.most = cell, automaton, most
        self.steps = numpy.array(automaton.steps, dtype=numpy.int64)
        self.right = numpy.array(automaton.answers, dtype=numpy.int64)
        width = cell.width
        linears = [cell.gates]
        if cell.kind == "gru":
            # As one map: those of the gates, then the candidate's two halves.
            linears += [cell.entering, cell.recurrent]
        self.maps = [numpy.array(each.columns, dtype=numpy.float64).T / ONE for each in linears]
        self.embedding = numpy.array(cell.embedding, dtype=numpy.float64) / ONE
        self.readout = numpy.array(cell.readout_rows, dtype=numpy.float64) / ONE
        self.bias = numpy.array(cell.readout.bias, dtype=numpy.float64) / ONE
        self.noise = (2 * width + 16) * ROUNDOFF

    # -- one step of boxes -----------------------------------------------------------------------------------

    def after(self, token: int, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Where states between these ends are after a token: (boxes, numbers) both, with the kernel's errors."""
        w, x = self.cell.width, self.embedding[token]
        hidden = low[:, :w], high[:, :w]
        gates = self.maps[0]
        sums = self._sums(hidden, x @ gates[:w] + gates[-2:].sum(axis=0), gates[w:-2], _sizes(gates, x, w))
        if self.cell.kind == "rnn":
            return _tanh(*sums)
        if self.cell.kind == "gru":
            return self._gated(hidden, sums, x)
        i, f, g, o = (tuple(end[:, part * w : (part + 1) * w] for end in sums) for part in range(4))
        held = _product(_sigmoid(*f), (low[:, w:], high[:, w:]))
        added = _product(_sigmoid(*i), _tanh(*g))
        cell = _wider((held[0] + added[0], held[1] + added[1]), 8)
        shown = _wider(_product(_sigmoid(*o), _tanh(*cell)), 6)
        return numpy.concatenate([shown[0], cell[0]], axis=1), numpy.concatenate([shown[1], cell[1]], axis=1)

    def _sums(
        self, hidden: tuple[Floats, Floats], fixed: Floats, weight: Floats, sizes: Floats
    ) -> tuple[Floats, Floats]:
        middle, radius = (hidden[0] + hidden[1]) / 2, (hidden[1] - hidden[0]) / 2
        centre, spread = middle @ weight + fixed, radius @ numpy.abs(weight)
        spread = spread + self.noise * ((numpy.abs(middle) + radius) @ numpy.abs(weight) + sizes) + TINY
        return centre - spread, centre + spread

    def _gated(self, hidden: tuple[Floats, Floats], sums: tuple[Floats, Floats], x: Floats) -> tuple[Floats, Floats]:
        w, (low, high) = self.cell.width, hidden
        reset, update = (tuple(end[:, part * w : (part + 1) * w] for end in sums) for part in range(2))
        entering, recurrent = self.maps[1:]
        given = x @ entering[:w] + entering[-1]
        wrong = self.noise * (numpy.abs(x) @ numpy.abs(entering[:w]) + numpy.abs(entering[-1])) + TINY
        kept = self._sums(hidden, recurrent[-1], recurrent[:w], numpy.abs(recurrent[-1]))
        scaled = _product(_sigmoid(*reset), kept)
        new = _tanh(*_wider((given + scaled[0] - wrong, given + scaled[1] + wrong), w + 8))
        z = [numpy.clip(each, 0.0, 1.0) for each in _sigmoid(*update)]
        least = numpy.minimum(*(new[0] + each * (low - new[0]) for each in z))
        most = numpy.maximum(*(new[1] + each * (high - new[1]) for each in z))
        return _wider((least, most), 160)

    def margins(self, states: Integers, low: Floats, high: Floats) -> Floats:
        """What the right answer has more than the best other one, at least: (boxes,)."""
        w = self.cell.width
        middle, radius = (low[:, :w] + high[:, :w]) / 2, (high[:, :w] - low[:, :w]) / 2
        right = self.right[states]
        found = numpy.full(len(states), numpy.inf)
        size = numpy.abs(self.readout).sum(axis=0).max() + numpy.abs(self.bias).max()
        for other in range(self.cell.classes):
            row = self.readout[:, right].T - self.readout[:, other]
            least = (middle * row).sum(axis=1) + self.bias[right] - self.bias[other]
            least = least - (radius * numpy.abs(row)).sum(axis=1) - 4 * self.noise * size - TINY
            found = numpy.where(right == other, found, numpy.minimum(found, least))
        return found

    # -- the network as it is ----------------------------------------------------------------------------------

    def as_it_is(self) -> Found:
        """An invariant of the network itself, by boxes for the last tokens."""
        for memory in range(LONGEST_MEMORY + 1):
            keys, followers = self._keys(memory)
            if len(keys) > self.most:
                break
            boxes = self._grown(numpy.array([key[0] for key in keys]), followers)
            if boxes is not None:
                return Found(boxes)
        for bits in TRIED_BITS:
            graph = self.rounded(bits).boxes
            if graph is None:
                continue
            followers = numpy.array([each[1] for each in graph], dtype=numpy.int64)
            boxes = self._grown(numpy.array([each[0] for each in graph]), followers)
            if boxes is not None:
                return Found(boxes)
        return Found()

    def _keys(self, memory: int) -> tuple[list[tuple[int, tuple[int, ...]]], Integers]:
        """Pairs (state of the automaton, last tokens) that words reach, and which follows which."""
        known: dict[tuple[int, tuple[int, ...]], int] = {(self.automaton.start, ()): 0}
        listed, followers = list(known), list[list[int]]()
        for state, last in listed:
            row: list[int] = []
            for token, after in enumerate(self.automaton.steps[state]):
                key = after, ((*last, token)[-memory:] if memory else ())
                if key not in known:
                    known[key] = len(listed)
                    listed.append(key)
                row.append(known[key])
            followers.append(row)
            if len(listed) > self.most:
                break
        return listed, numpy.array(followers, dtype=numpy.int64)

    def _grown(self, states: Integers, followers: Integers) -> Boxes | None:
        """The least boxes around the start that no token leaves, if the answers are right on them."""
        count, numbers, scale = len(states), self.cell.numbers, 2.0**UNIT
        low = numpy.full((count, numbers), numpy.iinfo(numpy.int64).max)
        high = -low
        low[0] = high[0] = 0
        changed = numpy.zeros(count, dtype=bool)
        changed[0] = True
        for number in range(MOST_ROUNDS):
            (active,) = changed.nonzero()
            if not len(active):
                return [
                    [int(states[i]), followers[i].tolist(), low[i].tolist(), high[i].tolist()] for i in range(count)
                ]
            ends = low[active] / scale, high[active] / scale
            if (self.margins(states[active], *ends) <= 0).any():
                return None
            before = low.copy(), high.copy()
            for token in range(followers.shape[1]):
                least, most = self.after(token, *ends)
                target = followers[active, token]
                numpy.minimum.at(low, target, numpy.floor(least * scale).astype(numpy.int64))
                numpy.maximum.at(high, target, numpy.ceil(most * scale).astype(numpy.int64))
            moved = (low != before[0]) | (high != before[1])
            changed = moved.any(axis=1)
            if number >= 8:
                # What still grows gets more than it asks for, so that the growth ends.
                low, high = low - 16 * (low != before[0]), high + 16 * (high != before[1])
        return None

    # -- the network with rounded states -----------------------------------------------------------------------

    def rounded(self, bits: int) -> Found:
        """All rounded states that words reach, or a word after which the answer is wrong."""
        scale = 2.0**bits

        zero = numpy.zeros(self.cell.numbers, dtype=numpy.int64)
        known: dict[tuple[int, bytes, bytes], int] = {(self.automaton.start, zero.tobytes(), zero.tobytes()): 0}
        parents: list[tuple[int, int]] = [(-1, -1)]
        boxes: Boxes = [[self.automaton.start, [], zero.tolist()]]
        front, states, ends = [0], numpy.array([self.automaton.start]), (zero[None], zero[None])
        while front:
            real = ends[0] / scale, ends[1] / scale
            (wrong,) = (self.margins(states, *real) <= 0).nonzero()
            if len(wrong):
                return Found(failing=self._word(parents, front[int(wrong[0])]))
            fresh: list[tuple[int, Integers, Integers]] = []
            added: list[int] = []
            for token in range(self.steps.shape[1]):
                least, most = (levels(each, bits) for each in self.after(token, *real))
                after = self.steps[states, token]
                for place, box in enumerate(front):
                    key = int(after[place]), least[place].tobytes(), most[place].tobytes()
                    number = known.setdefault(key, len(boxes))
                    boxes[box][1].append(number)
                    if number == len(boxes):
                        same = key[1] == key[2]
                        boxes.append([key[0], [], least[place].tolist(), *([] if same else [most[place].tolist()])])
                        parents.append((box, token))
                        fresh.append((key[0], least[place], most[place]))
                        added.append(number)
                        if len(boxes) > self.most:
                            return Found()
            front = added
            if front:
                states = numpy.array([each[0] for each in fresh])
                ends = numpy.array([each[1] for each in fresh]), numpy.array([each[2] for each in fresh])
        return Found(boxes)

    @staticmethod
    def _word(parents: Sequence[tuple[int, int]], box: int) -> tuple[int, ...]:
        """The tokens on the way to a box."""
        word: list[int] = []
        while box > 0:
            box, token = parents[box]
            word.append(token)
        return tuple(reversed(word))


def levels(values: Floats, bits: int) -> Integers:
    """The levels that values are rounded to, in units of 2^-bits."""
    most = (1 << bits) - 1
    return numpy.clip(2 * numpy.floor(values * 2.0 ** (bits - 1)).astype(numpy.int64) + 1, -most, most)


def _sizes(gates: Floats, x: Floats, width: int) -> Floats:
    """Sizes of the fixed terms of a sum, added up."""
    return numpy.abs(x) @ numpy.abs(gates[:width]) + numpy.abs(gates[-2:]).sum(axis=0)


def _tanh(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    return numpy.tanh(low) - ACTIVATION_ERROR, numpy.tanh(high) + ACTIVATION_ERROR


def _sigmoid(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    return (1 + numpy.tanh(low / 2)) / 2 - ACTIVATION_ERROR, (1 + numpy.tanh(high / 2)) / 2 + ACTIVATION_ERROR


def _product(left: Sequence[Floats], right: Sequence[Floats]) -> tuple[Floats, Floats]:
    ends = numpy.stack([a * b for a in left for b in right])
    return ends.min(axis=0), ends.max(axis=0)


def _wider(ends: tuple[Floats, Floats], roundings: int) -> tuple[Floats, Floats]:
    extra = roundings * ROUNDOFF * (1 + numpy.maximum(numpy.abs(ends[0]), numpy.abs(ends[1]))) + TINY
    return ends[0] - extra, ends[1] + extra
