"""A trained Transformer of one layer that answers by a count: right on all inputs with one last token and some counts.

The specification is a count (``specification``). Where each condition looks at one place, every symbol at every place
counts a fixed number, and the answer depends on the sum K. Majority is the case of bits that count themselves.
The last place is read; its token t asks.

RULE (counts). Fix t and let K be from a to b. A linear form w of what a head gives (``heads``) is at least λ on these
inputs if Σ_j e_j(s_j)(w·o_j(s_j) - λ) ≥ 0 on them. At each place the symbols count in at most two ways, g_j apart.
Start with the least term of each place among the symbols that count less; choosing one that counts more instead adds
d_j. So the least sum with K fixed takes those that count more at places whose g_j add up to k = K less the rest, and
with each d_j in g_j equal parts it is at least the sum of the k smallest parts; where all g_j are 1, exactly that.
Parts are sorted, so that for K from a to b the negative ones between the first and the last k are taken too.

Any λ gives a bound: with F the least sum and D a number that every Σ_j e_j is at least (at most, where F ≥ 0), the
form is at least λ + F/D; and it is at least the least of all values. F falls with λ and is concave, so that a few
evaluations along secants come near its zero, the true minimum (Dinkelbach 1967); nothing needs to be stated. That
bounds all coordinates and the feed-forward's forms, which is a box; classes that the box leaves in doubt get a form of
their own (``answers``). A proof may split the symbols of a place in two.

JOINT CONDITIONS look at several places, as those of equality do. On a leaf's symbols each of them holds always, never,
or is not determined, so that from m to M of them hold. With K from a to b the other conditions then count from a - M to
b - m together; the bounds are about all inputs for which they do, the slice's own and perhaps more. Where that range is
empty the slice has no input there. So a proof splits until joint conditions are determined: its size grows with the
number of ways in which they come out, and lengths are small.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from itertools import product
from math import lcm
from typing import Any, NamedTuple

from separatrix_kernel.answers import Box
from separatrix_kernel.heads import Heads, Power, least_product
from separatrix_kernel.reading import Budget, RefusedError, fields, hashed, integer, integers, items, require, text
from separatrix_kernel.specification import Count, Inputs, read_specification
from separatrix_kernel.trained import COUNTS_FORMAT
from separatrix_kernel.transformer import Weights

COUNTS_FIELDS = ("format", "task", "length", "specification", "sha256", "certified", "counterexamples", "open")
ROUNDS = 6
CLOSE = 1 << 12
MOST_SUMS = 1 << 26
MOST_SLICES = 1 << 22
Listener = Callable[[int, int], None]
Group = tuple[list[int], list[int], int]
"""Of a place the symbols that count less, those that count more, and how much more."""
Condition = tuple[tuple[int, ...], tuple[int, ...]]
"""Several places, and a table of 0 and 1 over their tokens."""


class Part(NamedTuple):
    """Inputs with one last token and some counts, as far as bounds see them."""

    groups: list[Group]
    fewest: int
    most: int
    """How much those symbols that count more add together."""
    room: int
    """How much they could add."""
    unit: int
    """A multiple of how much each adds."""

    def least(self, terms: Sequence[Sequence[int]]) -> int:
        """At most the sum of the terms of each place and symbol, on every input."""
        total, parts = 0, list[tuple[int, int]]()
        for (less, more, apart), row in zip(self.groups, terms, strict=True):
            first = min([row[s] for s in less])
            total += first
            if apart:
                parts.append(((min([row[s] for s in more]) - first) * (self.unit // apart), apart))
        total, taken = total * self.unit, 0
        for each, apart in sorted(parts):
            some = min(apart, (self.most if each < 0 else self.fewest) - taken)
            if some > 0:
                total, taken = total + some * each, taken + some
        return total // self.unit


class Thresholds(Heads):
    """A model and a specification that counts places."""

    def __init__(self, weights: Weights, inputs: Inputs, count: Count) -> None:
        *before, last = inputs.tokens
        require(len(before) > 0, "inputs have a single place")
        require(all(answer < weights.classes for _, answer in count.answers), "an answer is not a class of the model")
        super().__init__(weights, before, last)
        self.inputs, self.count = inputs, count
        self.worth = [[0] * len(tokens) for tokens in inputs.tokens]
        self.joint: list[Condition] = []
        for places, table in count.conditions:
            require(len(places) > 0, "a condition looks at no place")
            if len(places) == 1:
                self.worth[places[0]] = [a + b for a, b in zip(self.worth[places[0]], table, strict=True)]
            else:
                self.joint.append((places, table))
        self.reading = sum(len(places) * len(table) for places, table in self.joint)
        """Steps in which all entries of joint conditions are found."""
        self.greatest = sum(max(each) for each in self.worth) + len(self.joint)
        Budget(MOST_SLICES, "slices").spend(len(last) * (self.greatest + 1))
        # Every form that a box needs is bounded from both sides, some times.
        forms = self.heads * (self.width + weights.hidden)
        self.steps += 2 * ROUNDS * forms * (self.length * self.alphabet + len(count.conditions))

    def worth_of(self, place: int, token: int) -> int:
        """What a token counts at a place."""
        return self.worth[place][token - self.inputs.tokens[place].start]

    def counted(self, tokens: Sequence[int]) -> int:
        """The count of an input."""
        return sum(self.worth_of(place, token) for place, token in enumerate(tokens)) + self._holding(
            tokens, self.joint
        )

    def _holding(self, tokens: Mapping[int, int] | Sequence[int], conditions: list[Condition]) -> int:
        """How many joint conditions hold with these tokens."""
        entry = self.count.entry
        return sum(table[entry(places, [tokens[place] for place in places])] for places, table in conditions)

    @cached_property
    def numbers(self) -> list[list[int]]:
        """How many inputs there are, by the number of the last token and the count."""
        work = Budget(MOST_SUMS, "sums of numbers of inputs")
        *others, last = self._tied()
        before = [1]
        for places, conditions in others:
            (own,) = self._counts(places, conditions, work, [None])
            before = _times(before, own, work)
        return [_times(before, own, work) for own in self._counts(*last, work, self.asking)]

    def _tied(self) -> list[tuple[list[int], list[Condition]]]:
        """Places in sets such that no joint condition looks at two of them, each with its conditions; the last place's
        set is the last."""
        above = list(range(self.length + 1))

        def top(place: int) -> int:
            while above[place] != place:
                above[place] = place = above[above[place]]
            return place

        for places, _ in self.joint:
            for place in places[1:]:
                above[top(place)] = top(places[0])
        above[top(self.length)] = self.length
        above[self.length] = self.length
        sets: dict[int, tuple[list[int], list[Condition]]] = {}
        for place in range(self.length + 1):
            sets.setdefault(top(place), ([], []))[0].append(place)
        for places, table in self.joint:
            sets[top(places[0])][1].append((places, table))
        last = sets.pop(self.length)
        return [*sets.values(), last]

    def _counts(
        self, places: list[int], conditions: list[Condition], work: Budget, asking: Iterable[int | None]
    ) -> list[list[int]]:
        """How many choices of tokens at some places count so much; with each last token, where these are given."""
        most = len(conditions) + sum(max(self.worth[place]) for place in places)
        steps = len(places) + sum(len(each) for each, _ in conditions)
        found: list[list[int]] = []
        for token in asking:
            row = [0] * (most + 1)
            choices = [self.inputs.tokens[place] for place in places]
            if token is not None:
                choices[-1] = range(token, token + 1)
            for held in product(*choices):
                work.spend(steps)
                chosen = dict(zip(places, held, strict=True))
                row[sum(self.worth_of(*each) for each in chosen.items()) + self._holding(chosen, conditions)] += 1
            found.append(row)
        return found

    def holding(self, p: int, sets: Sequence[Sequence[int]]) -> tuple[int, int]:
        """At least and at most how many joint conditions hold on inputs with these symbols."""
        held, low, high = [*sets, [self.asking[p]]], 0, 0
        for places, table in self.joint:
            some = {table[self.count.entry(places, each)] for each in product(*(held[place] for place in places))}
            low, high = low + min(some), high + max(some)
        return low, high

    def part(self, p: int, sets: Sequence[Sequence[int]], low: int, high: int) -> Part | None:
        """Inputs with these symbols, and counts from ``low`` to ``high`` among them; None where there are none."""
        least, most = self.holding(p, sets)
        low, high = low - most, high - least
        rest, groups = self.worth[-1][p], list[Group]()
        for place, some in enumerate(sets):
            kinds = sorted({self.worth_of(place, s) for s in some})
            require(len(kinds) <= 2, f"symbols at place {place} count in more than two ways")
            less = [s for s in some if self.worth_of(place, s) == kinds[0]]
            groups.append((less, [s for s in some if self.worth_of(place, s) != kinds[0]], kinds[-1] - kinds[0]))
            rest += kinds[0]
        room = sum(group[2] for group in groups)
        fewest, most = max(0, low - rest), min(room, high - rest)
        unit = lcm(*(group[2] for group in groups if group[2]))
        return Part(groups, fewest, most, room, unit) if fewest <= most else None

    # -- bounds ----------------------------------------------------------------------------------------------

    @cached_property
    def seen_by_form(self) -> list[list[list[tuple[int, ...]]]]:
        """``seen`` by head, form and place."""
        by_place = [[list(zip(*place, strict=True)) for place in head] for head in self.seen]
        return [[list(each) for each in zip(*head, strict=True)] for head in by_place]

    def sums(self, p: int, head: int, part: Part) -> tuple[int, int]:
        """At most and at least every sum of a head's exponentials."""
        powers, own = self.powers(p, head)
        low = own[0] + part.least([[power[0] for power in place] for place in powers])
        high = own[1] - part.least([[-power[1] for power in place] for place in powers])
        require(low > 0, "keys may get no weight")
        return low, high

    def shares(self, p: int, head: int, part: Part) -> tuple[list[list[int]], int]:
        """Weights of an average to start from, of each place and symbol and of the asking token; any would do."""
        powers, own = self.powers(p, head)
        whole = max(2 * part.room, 1)
        taken = part.fewest + part.most
        found: list[list[int]] = []
        for (less, more, apart), place in zip(part.groups, powers, strict=True):
            row = [0] * self.alphabet
            for some, share in ((less, whole - taken if apart else whole), (more, taken)):
                for s in some:
                    row[s] = share * place[s][1] // len(some)
            found.append(row)
        return found, whole * own[1]

    def lowest(
        self,
        part: Part,
        powers: tuple[list[list[Power]], Power],
        sums: tuple[int, int],
        shares: tuple[list[list[int]], int],
        values: Sequence[Sequence[int]],
        own: int,
    ) -> int:
        """At most the average of values by a head's weights, on every input of a part."""
        total = shares[1] * own + sum(
            w * v for row, some in zip(shares[0], values, strict=True) for w, v in zip(row, some, strict=True)
        )
        point = total // (shares[1] + sum(map(sum, shares[0])))
        allowed = (some[s] for (less, more, _), some in zip(part.groups, values, strict=True) for s in (*less, *more))
        bound, before, (fewest, most) = min(own, *allowed), (point, 0), sums
        for number in range(ROUNDS):
            terms = [
                [least_product(power, value - point) for power, value in zip(place, some, strict=True)]
                for place, some in zip(powers[0], values, strict=True)
            ]
            least = part.least(terms) + least_product(powers[1], own - point)
            bound = max(bound, point + least // (fewest if least < 0 else most))
            # The next point is where a line through this one and the one before it is 0; any would do.
            (other, value), before = before, (point, least)
            if number and value != least:
                point -= least * (point - other) // (least - value)
            point = max(point, bound) if number else bound
            if number and point - bound < CLOSE:
                break
        return bound

    def box(self, p: int, part: Part) -> Box:
        """The box behind the attention; what a key adds to a form is below the next unit."""
        found = self.question(p)
        low, high = list(found.seen_base.centres), list(found.seen_base.centres)
        for head in range(self.heads):
            about = self.powers(p, head), self.sums(p, head, part), self.shares(p, head, part)
            for i, (values, own) in enumerate(zip(self.seen_by_form[head], found.seen[head], strict=True)):
                low[i] += self.lowest(part, *about, values, own)
                high[i] -= self.lowest(part, *about, [[-v - 1 for v in some] for some in values], -own - 1)
        return self.boxed(p, low, high)

    def form(self, p: int, part: Part, k: int, head: int, form: list[int]) -> int:
        """At most a linear form of what a head gives, on every input of a part."""
        del k
        about = self.powers(p, head), self.sums(p, head, part), self.shares(p, head, part)
        return self.lowest(part, *about, self.values(head, form), self.own_value(p, head, form))

    def show_part(self, p: int, part: Part, answer: int) -> None:
        """Refuse unless the answer has the only largest logit on every input of a part."""
        self.work.spend(self.steps)
        self.show(p, answer, self.box(p, part), partial(self.form, p, part))


def _times(left: list[int], right: list[int], work: Budget) -> list[int]:
    """The product of two polynomials."""
    found = [0] * (len(left) + len(right) - 1)
    for at, number in enumerate(right):
        if number:
            work.spend(len(left))
            for place, each in enumerate(left):
                found[at + place] += number * each
    return found


def proved(model: Thresholds, p: int, low: int, high: int, proof: Any) -> None:
    """Check the proof of one slice: inputs that end in token number p, with counts from ``low`` to ``high``.

    A leaf says nothing more: one box is enough.
    """
    answers = model.count.of_counts(low, high)
    require(len(answers) == 1, f"counts from {low} to {high} have different answers")
    (answer,) = answers
    for sets, said in model.leaves([list(each) for each in model.held], proof):
        require(not said, "a leaf has further entries")
        model.work.spend(model.length * model.alphabet + model.reading)
        part = model.part(p, sets, low, high)
        if part is not None:
            model.show_part(p, part, answer)


@dataclass(frozen=True)
class CountsAccepted:
    """What was shown about trained weights and a task that counts."""

    task: str
    length: int
    """Like the task's name this is for people; the specification decides."""
    sha256: str
    specification: tuple[Inputs, Count]
    certified: tuple[tuple[int, int, int], ...]
    """Last token, least and greatest count."""
    inputs_certified: int
    inputs: int
    counterexamples: tuple[tuple[int, ...], ...]
    """Inputs that are stated to fail; whoever believes that runs them."""
    left_open: int

    @property
    def share(self) -> Fraction:
        """The share of all inputs that are certified."""
        return Fraction(self.inputs_certified, self.inputs)

    def share_in_words(self) -> str:
        """That share for people."""
        return "all inputs" if self.share == 1 else f"{self.share} of all inputs"

    def words(self) -> str:
        """The claim in plain words, one fact a line."""
        inputs, count = self.specification
        return "\n".join(
            [
                f"weights     weights.safetensors, SHA-256 {self.sha256}",
                f"task        {self.task}, length {self.length}",
                f"inputs      {inputs.covered} of {len(inputs.tokens)} tokens; right is {count.words()}",
                f"shown       {len(self.certified)} slices by last token and count, each for all of its inputs: "
                f"{self.share_in_words()}",
                f"not shown   {self.left_open} slices; {len(self.counterexamples)} inputs, it says, fail",
                "arithmetic  exact over the stored float32 weights, and float32 in any order of summation",
            ]
        )


def _slice(value: Any, model: Thresholds) -> tuple[int, int, int]:
    """The number of the last token, and the counts."""
    token, low, high = integers(items(value, "a slice", 3), "a slice", 0, max(model.asking.stop, model.greatest))
    require(token in model.asking and low <= high <= model.greatest, "a slice is not one of this model's inputs")
    return token - model.asking.start, low, high


def read_counting(value: Any) -> tuple[Inputs, Count]:
    """A specification that counts."""
    inputs, count = read_specification(value)
    if not isinstance(count, Count):
        raise RefusedError("the specification does not count")
    return inputs, count


def check_counts(content: Any, data: bytes, listen: Listener | None = None) -> CountsAccepted:
    """Check the content of ``trained.json`` against the bytes of the weights; refuses with the slice that failed."""
    found = fields(content, "trained.json", COUNTS_FIELDS)
    text(found["format"], "the format", [COUNTS_FORMAT])
    digest = hashed(found["sha256"], data, "the weights have")
    task = text(found["task"], "the task")
    require(len(task) <= 200 and task.isprintable(), "the task is not a short name")
    length = integer(found["length"], "the length", 1)
    inputs, count = read_counting(found["specification"])
    model = Thresholds(Weights(data), inputs, count)
    taken = [[False] * (model.greatest + 1) for _ in model.asking]
    shown: list[tuple[int, int, int]] = []
    covered = 0
    rows = items(found["certified"], "the certified slices")
    for number, each in enumerate(rows):
        if listen is not None:
            listen(number, len(rows))
        row = items(each, "a certified slice", 4)
        p, low, high = _slice(row[:3], model)
        require(not any(taken[p][low : high + 1]), f"counts from {low} to {high} are listed twice")
        taken[p][low : high + 1] = [True] * (high + 1 - low)
        proved(model, p, low, high, row[3])
        covered += sum(model.numbers[p][low : high + 1])
        shown.append((model.asking[p], low, high))
    for each in items(found["open"], "the open slices"):
        _slice(each, model)
    failing: list[tuple[int, ...]] = []
    for each in items(found["counterexamples"], "the counterexamples"):
        tokens = integers(each, "a counterexample", 0)
        right = len(tokens) == len(inputs.tokens) and all(
            token in some for token, some in zip(tokens, inputs.tokens, strict=True)
        )
        require(right, "a counterexample is not an input")
        p = tokens[-1] - model.asking.start
        require(not taken[p][model.counted(tokens)], "a counterexample is of a certified slice")
        failing.append(tuple(tokens))
    whole = sum(map(sum, model.numbers))
    return CountsAccepted(
        task, length, digest, (inputs, count), tuple(shown), covered, whole, tuple(failing), len(found["open"])
    )
