"""Certified networks to start from, and mutants of them, drawn from a seed."""

import hashlib
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tools.mutants.changes import BOUND, LOOSE
from tools.mutants.impostors import impostor
from tools.mutants.judging import Judged, few_enough, is_right, judged, judged_by_samples
from tools.mutants.network_changes import Files

from separatrix.arithmetic import Arithmetic, Balls
from separatrix.certificates import Claim, check
from separatrix.certificates.certificate import (
    CERTIFICATE_FILE,
    NETWORK_FILE,
    Stated,
    check_certificate,
    stated_claim,
    write_certificate,
)
from separatrix.constructions import Construction, Options, constructions
from separatrix.errors import SeparatrixError
from separatrix.networks.store import from_bytes
from separatrix.tasks import tasks

KINDS = (*BOUND, *LOOSE, "bit", "bit, hash fits", "truncated", "subclassed task")


@dataclass(frozen=True)
class Case:
    """A certified network to start from."""

    name: str
    length: int
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    arithmetic: Arithmetic | None = None


MOST_INPUTS, LONGEST = 1000, 6
"""A case has the largest length up to this one that has so few inputs."""
MOST_IN_BALLS, LONGEST_IN_BALLS = 100, 4
LONGER_LENGTH = 32


def cases() -> tuple[Case, ...]:
    """Every construction with the parameters that its task calls ``small``: as it is, with each option that it names in
    ``also``, and in balls."""
    found: list[Case] = []
    for name, construction in constructions().items():
        parameters = dict(tasks()[construction.task_name].small)
        length = longest_with(construction, parameters, MOST_INPUTS, LONGEST)
        found += [
            Case(name, length, parameters, options)
            for options in ({}, *({key: value} for key, value in construction.also))
        ]
        if construction.arithmetic_kind == "fixed":
            length = longest_with(construction, parameters, MOST_IN_BALLS, LONGEST_IN_BALLS)
            found.append(Case(name, length, parameters, arithmetic=Balls(96)))
    return tuple(found)


def longest_with(construction: Construction, parameters: dict[str, Any], inputs: int, longest: int) -> int:
    """The largest length up to ``longest`` at which there are at most so many inputs."""
    task = tasks()[construction.task_name].with_parameters(**parameters)
    for length in range(longest, 0, -1):
        try:
            construction.check_length(task, length)
            if task.count(length) <= inputs:
                return length
        except SeparatrixError:
            continue
    raise SeparatrixError(f"{construction.name} has more than {inputs} inputs at every length; give its task small")


def longer_cases() -> tuple[Case, ...]:
    """Every construction at a length with too many inputs to run all of them."""
    return tuple(Case(name, LONGER_LENGTH) for name in constructions())


class Campaign:
    """Mutants from certificates that are written once; the same seed gives the same mutants."""

    def __init__(self, folder: Path, seed: int, cases: tuple[Case, ...], longer: bool = False) -> None:
        self.folder, self.chance, self.longer, self.originals = folder, random.Random(seed), longer, list[Files]()
        for case in cases:
            options = Options(parameters=case.parameters, **case.options)
            built = constructions()[case.name].build(case.length, options)
            claim = Claim(built.task, case.length, case.arithmetic or built.arithmetic)
            verdict = check(built.network, claim)
            assert verdict.valid and (longer or few_enough(claim)), f"{case} cannot be mutated: {verdict.reason}"
            write_certificate(built.network, claim, verdict, folder, {"construction": case.name})
            network, certificate = (folder / name for name in (NETWORK_FILE, CERTIFICATE_FILE))
            self.originals.append(Files.of(network.read_bytes(), certificate.read_text(encoding="utf-8")))

    def mutant(self, kind: str) -> tuple[str, Judged]:
        """One mutant of a kind: what was changed, and what became of it."""
        while True:
            files = self.chance.choice(self.originals).copy()
            changed: str | None = kind
            if kind in BOUND or kind in LOOSE:
                changed = (BOUND.get(kind) or LOOSE[kind])(files, self.chance)
            if changed is None:
                continue
            found = self.checked(kind, files)
            if found is not None:
                return f"{files.certificate.get('task')}: {changed}", found

    def checked(self, kind: str, files: Files) -> Judged | None:
        """What the checker says about changed files; None where what is true of them could not be shown."""
        try:
            if kind in LOOSE or kind in ("bit", "truncated"):
                return self.checked_files(kind, files)
            network = files.network()
            if kind == "bit, hash fits":
                network = self.flipped(network)
            claim = stated_claim(Stated(**files.certificate))
            if kind == "subclassed task":
                claim = replace(claim, task=impostor(claim.task))
            changed = from_bytes(network, NETWORK_FILE)
            if self.longer:
                return judged_by_samples(changed, claim)
            return judged(changed, claim) if few_enough(claim) else None
        except SeparatrixError as refusal:
            lines = len(str(refusal).splitlines())
            return Judged("rejected", 0) if lines == 1 else Judged("wrong, no input named", 0, f"{lines} lines")

    def flipped(self, data: bytes) -> bytes:
        """The same bytes but for one bit."""
        place, bit = self.chance.randrange(len(data)), self.chance.randrange(8)
        return data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :]

    def checked_files(self, kind: str, files: Files) -> Judged:
        """The certificate as it lies in a folder, with statements that were not made to fit."""
        network, text = files.network(), json.dumps(files.certificate)
        if kind == "truncated":
            text = text[: self.chance.randrange(len(text))]
        if kind == "bit":
            assert hashlib.sha256(network).hexdigest() == files.certificate["sha256"]
            network = self.flipped(network)
        (self.folder / NETWORK_FILE).write_bytes(network)
        (self.folder / CERTIFICATE_FILE).write_text(text, encoding="utf-8")
        checked = check_certificate(self.folder)
        if not checked.verdict.valid:
            return Judged("rejected", 1)
        right = few_enough(checked.claim) and is_right(checked.network, checked.claim)
        return Judged("still right, accepted" if right else "wrongly accepted", 1, "" if right else kind)

    def run(self, count: int, kinds: Sequence[str] = KINDS) -> Iterator[tuple[str, str, Judged]]:
        """``count`` mutants, the kinds in turn: kind, what was changed, what became of it."""
        for number in range(count):
            kind = kinds[number % len(kinds)]
            yield (kind, *self.mutant(kind))
