"""Invariants of a trained one-layer Mamba: boxes of states that no token leaves, for ``separatrix_kernel.words``.

Float64 and untrusted. Given the last tokens each number of the state goes its own way: a token sends it to a multiple
of it plus a constant, rounded where the claim is about rounded states. So a few numbers can be followed exactly, and
all others by boxes. Words are divided by the state of the automaton, the last three tokens and the levels of the
numbers that are followed, none at first; boxes grow around the start until no token leaves them. Where the right answer
is not certain on a box, the number whose range there counts most is followed too, and all is done again.

A network as it is has no levels. There words are divided by the automaton's state with the last k tokens, k = 3, 4, …
Every decay is below 1, so that such a network forgets: the states after two words that go on with the same tokens come
nearer and nearer, and no boxes with a lead exist where the automaton has to remember more than the last tokens.
"""

import itertools
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy
from numpy.typing import NDArray

from separatrix.provers.trained_words import MOST_ROUNDS, ROUNDOFF, UNIT, Found, levels
from separatrix_kernel.balls import ONE
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.selective import Form, Selective, Step
from separatrix_kernel.specification import Automaton
from separatrix_kernel.words import LARGEST_STATE

Floats: TypeAlias = NDArray[numpy.float64]
Integers: TypeAlias = NDArray[numpy.int64]
LONGEST_MEMORY = 7
MOST_FOLLOWED = 24
ROUGH = 1 << 10
"""How many boxes are divided by the numbers followed while others are still added to them."""
CHUNK = 1 << 11
NARROW = 1e-11
Key: TypeAlias = tuple[int, tuple[int, ...], bytes, bytes]


class Graph(NamedTuple):
    """Nodes that words are divided into."""

    states: Integers
    lasts: list[tuple[int, ...]]
    followers: Integers
    rows: Integers
    """Of each node and token the row of the tables about its last tokens and this one."""
    parents: list[tuple[int, int]]


class SelectiveProver:
    """Searches for one network and automaton; ``most`` is how many boxes a certificate may have.

    >>> from separatrix.models.naming import parse_spec
    >>> from separatrix.models.recurrent_files import recurrent_file
    >>> from separatrix.models.task_model import model_for_task
    >>> from separatrix.tasks import tasks
    >>> dyck = tasks()["dyck"].with_parameters(types=1, depth=1)
    >>> model = model_for_task(parse_spec("Mamba-(1,2,state=1)"), dyck, 4, seeds=[0])
    >>> answer = dyck.specification(4)["answer"]
    >>> automaton = Automaton(answer["start"], answer["steps"], answer["answers"])
    >>> SelectiveProver(Selective(recurrent_file(model)), automaton).search(2).failing is None
    False
    """

    def __init__(self, network: Selective, automaton: Automaton, most: int = 1 << 15) -> None:
        self.network, self.automaton, self.most = network, automaton, most
        self.tokens = len(automaton.steps[0])
        self.steps = numpy.array(automaton.steps, dtype=numpy.int64)
        self.right = numpy.array(automaton.answers, dtype=numpy.int64)
        self.known: dict[tuple[tuple[int, ...], int], int] = {}
        self.windows: list[Step] = []
        self.tables: list[Floats] = []
        self.forms: dict[tuple[int, int, int], tuple[Floats, Floats, float, float]] = {}
        self.out = numpy.array(network.out_rows, dtype=numpy.float64) / ONE

    def search(self, bits: int) -> Found:
        """An invariant, or a word after which the answer is wrong, or neither."""
        try:
            return self._rounded(bits) if bits else self._as_it_is()
        except RefusedError:
            # Weights with which a number on the way is larger than the kernel reads.
            return Found()

    def _as_it_is(self) -> Found:
        for memory in range(self.network.memory, LONGEST_MEMORY + 1):
            graph = self._graph((), 0, memory)
            if graph is None:
                break
            low, high = self._boxes(graph, 0)
            if not len(self._uncertain(graph, low, high, 0)[0]):
                return self._written(graph, low, high)
        return Found()

    def _rounded(self, bits: int) -> Found:
        followed: list[int] = []
        while len(followed) <= MOST_FOLLOWED:
            graph = self._graph(followed, bits, self.network.memory)
            if graph is None:
                break
            low, high = self._boxes(graph, bits)
            nodes, tokens, reasons = self._uncertain(graph, low, high, bits)
            if not len(nodes):
                return self._written(graph, low, high)
            points = (low[nodes] == high[nodes]).all(axis=1)
            if points.any():
                place = int(points.nonzero()[0][0])
                return Found(failing=self._word(graph, int(nodes[place]), int(tokens[place])))
            weights = reasons.sum(axis=0)
            weights[followed] = 0
            if not weights.any():
                break
            # Where little is followed yet, several numbers that count as much are added at once.
            order = numpy.argsort(-weights)[: 4 if len(graph.states) < ROUGH else 1]
            followed += [int(each) for each in order if weights[each] > 0.5 * weights[order[0]]]
        return Found()

    # -- tables for the last tokens and the next one -------------------------------------------------------------

    def _row(self, last: tuple[int, ...], token: int) -> int:
        """Where the tables hold this token after those: least and greatest factors and constants of each number."""
        if (last, token) not in self.known:
            step = self.network.step(last, token)
            self.known[last, token] = len(self.windows)
            self.windows.append(step)
            ends = [numpy.array(each, dtype=numpy.float64).T / ONE for each in (step.factors, step.given)]
            self.tables.append(numpy.concatenate(ends))
        return self.known[last, token]

    def _images(self, tables: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Where a step sends numbers between these ends; tables (boxes, 4, numbers), or of some of the numbers."""
        least, most, under, over = (tables[:, part] for part in range(4))
        a = low * numpy.where(low >= 0, least, most)
        b = high * numpy.where(high >= 0, most, least)
        sizes = numpy.maximum(abs(a), abs(b)) + numpy.maximum(abs(under), abs(over))
        extra = 9 * ROUNDOFF * sizes + NARROW
        return a + under - extra, b + over + extra

    # -- nodes ---------------------------------------------------------------------------------------------------

    def _graph(self, followed: Sequence[int], bits: int, memory: int) -> Graph | None:
        """All nodes that words reach, None if they are too many."""
        start: Key = (self.automaton.start, (), bytes(8 * len(followed)), bytes(8 * len(followed)))
        known: dict[Key, int] = {start: 0}
        listed: list[Key] = [start]
        followers, rows, parents = list[list[int]](), list[list[int]](), [(-1, -1)]
        chosen = list(followed)
        for number, (state, last, least, most) in enumerate(listed):
            ends = [numpy.frombuffer(each, dtype=numpy.int64)[None] / 2.0**bits for each in (least, most)]
            followers.append([])
            rows.append([])
            for token in range(self.tokens):
                row = self._row(last[-self.network.memory :], token)
                image = self._images(self.tables[row][None][:, :, chosen], *ends)
                low, high = (each[0] for each in image) if not bits else (levels(each[0], bits) for each in image)
                key = int(self.steps[state, token]), (*last, token)[-memory:], low.tobytes(), high.tobytes()
                if key not in known:
                    if len(listed) >= self.most:
                        return None
                    known[key] = len(listed)
                    listed.append(key)
                    parents.append((number, token))
                followers[-1].append(known[key])
                rows[-1].append(row)
        states = numpy.array([each[0] for each in listed])
        lasts = [each[1][-self.network.memory :] for each in listed]
        return Graph(states, lasts, numpy.array(followers), numpy.array(rows), parents)

    def _boxes(self, graph: Graph, bits: int) -> tuple[Integers, Integers]:
        """The least boxes around the start that no token leaves, in units of 2^-bits, or in 2^-16 a little more."""
        count, scale = len(graph.states), 2.0 ** (bits or UNIT)
        low = numpy.full((count, self.network.numbers), numpy.iinfo(numpy.int64).max)
        high, widest = -low, LARGEST_STATE << (bits or UNIT)
        low[0] = high[0] = 0
        active, tables = numpy.zeros(1, dtype=numpy.int64), numpy.array(self.tables)
        for number in range(MOST_ROUNDS if not bits else 1 << 30):
            before = low.copy(), high.copy()
            for part in range(0, len(active), CHUNK):
                nodes = active[part : part + CHUNK]
                for token in range(self.tokens):
                    ends = low[nodes] / scale, high[nodes] / scale
                    least, most = self._images(tables[graph.rows[nodes, token]], *ends)
                    if bits:
                        under, over = levels(least, bits), levels(most, bits)
                    else:
                        under, over = (
                            numpy.clip(each, -widest, widest).astype(numpy.int64)
                            for each in (numpy.floor(least * scale), numpy.ceil(most * scale))
                        )
                    numpy.minimum.at(low, graph.followers[nodes, token], under)
                    numpy.maximum.at(high, graph.followers[nodes, token], over)
            (active,) = ((low != before[0]) | (high != before[1])).any(axis=1).nonzero()
            if not len(active):
                break
            if not bits and number >= 8:
                # What still grows gets more than it asks for, so that the growth ends.
                low = numpy.maximum(low - 16 * (low != before[0]), -widest)
                high = numpy.minimum(high + 16 * (high != before[1]), widest)
        return low, high

    # -- answers -------------------------------------------------------------------------------------------------

    def _form(self, row: int, answer: int, other: int) -> tuple[Floats, Floats, float, float]:
        if (row, answer, other) not in self.forms:
            form = Form(self.windows[row], answer, other)
            centres, errors = (numpy.array(each, dtype=numpy.float64) / ONE for each in (form.centres, form.errors))
            self.forms[row, answer, other] = centres, errors, form.constant / ONE, form.apart / ONE
        return self.forms[row, answer, other]

    def _uncertain(self, graph: Graph, low: Integers, high: Integers, bits: int) -> tuple[Integers, Integers, Floats]:
        """Nodes and tokens after which another answer may win, and what each number's range takes from the lead."""
        scale = 2.0 ** (bits or UNIT)
        found: list[tuple[int, int, Floats]] = []
        order = {token: numpy.argsort(graph.rows[:, token], kind="stable") for token in range(self.tokens)}
        for token in range(self.tokens):
            rows = graph.rows[order[token], token]
            starts = numpy.concatenate([[0], (rows[1:] != rows[:-1]).nonzero()[0] + 1, [len(rows)]])
            for first, stop in itertools.pairwise(starts):
                nodes, row = order[token][first:stop], int(rows[first])
                least, most = self._images(self.tables[row][None], low[nodes] / scale, high[nodes] / scale)
                middle, reach = (least + most) / 2, (most - least) / 2
                deviations = self._deviations(self.windows[row], middle, reach)
                answers = self.right[self.steps[graph.states[nodes], token]]
                for answer in set(answers.tolist()):
                    mine = answers == answer
                    for other in range(self.network.classes):
                        if other == answer:
                            continue
                        centres, errors, constant, apart = self._form(row, answer, other)
                        loss = abs(centres) * reach[mine]
                        lead = constant + middle[mine] @ centres - loss.sum(axis=1)
                        lead = lead - (abs(middle[mine]) + reach[mine]) @ errors - NARROW
                        divisor = numpy.where(lead >= 0, deviations[1][mine], deviations[0][mine])
                        (bad,) = (lead / divisor + apart <= 0).nonzero()
                        found += [(int(nodes[mine][each]), token, loss[each]) for each in bad]
        nodes, tokens = (numpy.array([each[part] for each in found], dtype=numpy.int64) for part in (0, 1))
        return nodes, tokens, numpy.array([each[2] for each in found])

    def _deviations(self, step: Step, middle: Floats, reach: Floats) -> tuple[Floats, Floats]:
        """About the least and the greatest deviation in the last norm."""
        query, gate, skipped = (
            numpy.array([each[0] for each in balls], dtype=numpy.float64) / ONE
            for balls in (step.query, step.gates, step.skipped)
        )
        shape = len(middle), self.network.inner, self.network.state
        mixed = (middle.reshape(shape) @ query + skipped) * gate
        spread = (reach.reshape(shape) @ abs(query) + 1e-5) * abs(gate)
        centre = mixed @ self.out + numpy.array([each[0] for each in step.x], dtype=numpy.float64) / ONE
        radius = spread @ abs(self.out) + 1e-5
        ends = numpy.maximum(abs(centre) - radius, 0), abs(centre) + radius
        least, most = (numpy.sqrt((each**2).mean(axis=1) + 1e-5) for each in ends)
        return least * (1 - 1e-5), most * (1 + 1e-5)

    # -- what was found ------------------------------------------------------------------------------------------

    def _written(self, graph: Graph, low: Integers, high: Integers) -> Found:
        boxes = [
            [int(state), followers.tolist(), a.tolist(), *([] if (a == b).all() else [b.tolist()])]
            for state, followers, a, b in zip(graph.states, graph.followers, low, high, strict=True)
        ]
        return Found(boxes, last=[list(each) for each in graph.lasts])

    @staticmethod
    def _word(graph: Graph, node: int, token: int) -> tuple[int, ...]:
        """The tokens on the way to a node, and one more."""
        word = [token]
        while node > 0:
            node, before = graph.parents[node]
            word.append(before)
        return tuple(reversed(word))
