"""A differential fuzzer: small networks with several adversarial changes, and every *valid* held to a slow enumeration.

Each draw takes a right network, rebalances it so that it stays right in real numbers and is cut off elsewhere, puts
numbers at the ends of the range or of 64 bits, turns it into another arithmetic, and asks every method by itself,
without the last net of random inputs. Whatever is called valid is run on every input in Python's fractions
(``tools.mutants.slow_evaluation``) and compared with the task's own ``solve``.

``python -m tests.certificates.test_fuzz SECONDS [SEED]`` runs it longer.
"""

import random
import sys
import time
from collections import Counter
from typing import Any

import numpy
import pytest
from tools.mutants.changes import arithmetic, bias, scale, sign, weight
from tools.mutants.extremes import cut_off, extreme, weighing
from tools.mutants.network_changes import Files
from tools.mutants.slow_evaluation import OpenError, Slow, right_on

from separatrix.arithmetic import Arithmetic, Balls, arithmetic_named
from separatrix.certificates import Claim, checker
from separatrix.constructions import Options, constructions
from separatrix.errors import SeparatrixError
from separatrix.networks import AnyNetwork, Network
from separatrix.networks.store import from_bytes, to_bytes
from separatrix.tasks import Task

STARTS: tuple[tuple[str, int, dict[str, Any], dict[str, Any], Arithmetic | None], ...] = (
    ("index-lookup", 3, {"alphabet": 2}, {}, None),
    ("index-lookup", 3, {"alphabet": 2}, {}, Balls(96)),
    ("index-lookup", 2, {"alphabet": 3}, {"attention": "hard"}, None),
    ("equality", 4, {}, {}, None),
    ("equality", 4, {}, {}, Balls(96)),
    ("disjointness", 4, {}, {}, None),
    ("majority", 3, {}, {}, None),
    ("match2", 2, {"modulus": 3}, {}, None),
    ("match2-code", 2, {"modulus": 3}, {}, None),
    ("match3", 2, {"modulus": 3}, {}, None),
    ("match3-last", 3, {"modulus": 3}, {}, None),
    ("directed-3-cycle", 3, {}, {}, None),
    ("dyck-transformer", 4, {"types": 1}, {}, None),
    ("dyck-rnn", 4, {"types": 1}, {}, None),
    ("dyck-dfa", 4, {"types": 1}, {}, None),
    ("mqar", 2, {}, {}, None),
    ("mqar", 2, {}, {}, Balls(96)),
    ("associative-recall", 2, {"keys": 2}, {}, None),
    ("nearest-neighbour", 2, {"points": "hypercube", "dimension": 1, "margin": "1/2"}, {}, None),
    ("nearest-neighbour", 2, {"points": "hypercube", "dimension": 1, "margin": "1/2"}, {}, Balls(96)),
)
PARTNERS = (("value", "output"), ("query", "key"), ("inner", "outer"), ("first_value", "output"))
CHANGES = (extreme, cut_off, cut_off, weighing, weight, bias, sign, scale, arithmetic)


def rebalanced(files: Files, chance: random.Random) -> str | None:
    """One matrix times a factor and its partner over it: the same over the reals, cut off or rounded elsewhere."""
    layers = files.structure.get("layers", [])
    units = [unit for layer in layers for unit in layer.get("heads", [layer])]
    pairs = [(unit[a], unit[b], unit) for unit in units for a, b in PARTNERS if a in unit and b in unit]
    if not pairs:
        return None
    first, second, unit = chance.choice(pairs)
    if chance.random() < 0.5 and "inner" not in unit:
        first, second = second, first
    factor = chance.choice([2, 3, 2**10, 2**20, 2**31, 2**40])
    grown = [first, unit["inner_bias"]] if "inner" in unit else [first]
    for each in grown:
        array = files.tensors[each["numerators"]]
        if max(map(abs, array.reshape(-1).tolist()), default=0) * factor >= 2**63:
            return None
        files.tensors[each["numerators"]] = array * factor
    second["denominator"] *= factor
    return f"{first['numerators']} times {factor}, {second['numerators']} over it"


class Fuzzer:
    """Draws from a seed; ``valid`` counts what was accepted by method, ``wrong`` says what should not have been."""

    def __init__(self, seed: int) -> None:
        self.chance, self.valid, self.drawn, self.wrong = random.Random(seed), Counter[str](), 0, list[str]()
        self.starts: list[tuple[Files, Task, int]] = []
        for name, length, parameters, options, other in STARTS:
            built = constructions()[name].build(length, Options(parameters=parameters, **options))
            files = Files.of(to_bytes(built.network), "{}")
            files.certificate["arithmetic"] = str(other or built.arithmetic)
            self.starts.append((files, built.task, length))
        self.inputs = [
            [row for examples in task.enumerate(length) for row in examples.inputs.tolist()]
            for _, task, length in self.starts
        ]

    def draw(self) -> None:
        """One network with one to four changes."""
        number = self.chance.randrange(len(self.starts))
        start, task, length = self.starts[number]
        files, told = start.copy(), list[str]()
        for _ in range(self.chance.choice([1, 1, 2, 3, 4])):
            change = rebalanced if self.chance.random() < 0.35 else self.chance.choice(CHANGES)
            told.append(change(files, self.chance) or "nothing")
        self.drawn += 1
        try:
            network = from_bytes(files.network(), "a draw")
            claim = Claim(task, length, arithmetic_named(files.certificate["arithmetic"]))
        except SeparatrixError:
            return
        if not claim.arithmetic.rigorous or ",once" in str(claim.arithmetic):
            return
        accepted = [name for name in checker.methods() if checker.check(network, claim, name).valid]
        self.valid.update(accepted)
        if accepted:
            failing = self.failing(network, claim, self.inputs[number])
            if failing is not None:
                what = f"{task.name} {claim.arithmetic}: {'; '.join(told)}: wrong on {failing}"
                self.wrong.append(f"{accepted}: {what}")

    @staticmethod
    def failing(network: AnyNetwork, claim: Claim, inputs: list[Any]) -> Any:
        """An input that the slow evaluation answers wrongly, or None."""
        for row in inputs:
            try:
                if not right_on(network, claim.arithmetic, row, claim.task.solve(row, claim.length)):
                    return row
            except OpenError:
                continue
        return None


@pytest.fixture
def fuzzer(monkeypatch):
    monkeypatch.setattr(checker, "failing_sample", lambda *_: None)
    return Fuzzer(2024)


def test_whatever_is_valid_is_right_on_every_input(fuzzer):
    for _ in range(120):
        fuzzer.draw()
    assert fuzzer.wrong == []
    assert sum(fuzzer.valid.values()) > 30
    assert len(fuzzer.valid) > 5


def test_the_slow_evaluation_and_the_quick_one_agree_on_what_the_fuzzer_draws(fuzzer):
    """Whether valid or not: answers are the same, so that neither is a mistake of one of them."""
    from separatrix.networks import evaluate

    compared = 0
    for _ in range(60):
        number = fuzzer.chance.randrange(len(fuzzer.starts))
        files = fuzzer.starts[number][0].copy()
        for change in (rebalanced, extreme, cut_off):
            change(files, fuzzer.chance)
        given = arithmetic_named(files.certificate["arithmetic"])
        try:
            network = from_bytes(files.network(), "a draw")
            rows = fuzzer.inputs[number][:: max(1, len(fuzzer.inputs[number]) // 3)]
            quick = evaluate(network, numpy.array(rows, dtype=numpy.int64), given).answers.tolist()
            assert quick == [Slow(network, given).answers(row) for row in rows]
        except (SeparatrixError, OpenError):
            continue
        assert isinstance(network, Network) or network.positions
        compared += 1
    assert compared > 20


def main(seconds: float, seed: int) -> int:
    """Draw for some seconds of processor time and print what was found."""
    checker.failing_sample = lambda *_: None  # type: ignore[assignment]
    fuzzer, end = Fuzzer(seed), time.process_time() + seconds
    while time.process_time() < end:
        known = len(fuzzer.wrong)
        fuzzer.draw()
        for each in fuzzer.wrong[known:]:
            sys.stdout.write(f"{each}\n")
    found = f"{fuzzer.drawn} networks, {sum(fuzzer.valid.values())} times valid, {len(fuzzer.wrong)} wrong"
    sys.stdout.write(f"{found}\n{dict(fuzzer.valid)}\n")
    return 1 if fuzzer.wrong else 0


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0))
