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
    check_certificate,
    stated_claim,
    write_certificate,
)
from separatrix.constructions import Options, constructions
from separatrix.errors import SeparatrixError
from separatrix.networks.store import from_bytes

KINDS = (*BOUND, *LOOSE, "bit", "bit, hash fits", "truncated", "subclassed task")


@dataclass(frozen=True)
class Case:
    """A certified network to start from."""

    name: str
    length: int
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    arithmetic: Arithmetic | None = None


HYPERCUBE = {"points": "hypercube", "dimension": 2, "margin": "1/2"}
CASES = (
    Case("associative-recall", 3), Case("cnf", 6), Case("directed-3-cycle", 3), Case("disjointness", 6),
    Case("dnf", 6), Case("dnf", 5, {"sparsity": 2}, {"rounding": "nearest"}), Case("dyck-dfa", 6),
    Case("dyck-dfa", 4, {}, {"variant": "one-hot"}), Case("dyck-float", 4), Case("dyck-rnn", 4),
    Case("dyck-transformer", 4),
    Case("dyck-transformer", 4, {}, {"variant": "lookup"}), Case("equality", 6), Case("equality", 4, {"alphabet": 3}),
    Case("equality", 8, {}, {"family": "circle"}), Case("equality-partition", 6),
    Case("index-lookup", 4, {"alphabet": 3}), Case("index-lookup", 4, {"alphabet": 3}, {"family": "circles:2"}),
    Case("index-lookup", 4, {"alphabet": 3}, {"attention": "hard"}), Case("majority", 7),
    Case("match2", 3, {"modulus": 7}), Case("match2-code", 3, {"modulus": 7}), Case("match3", 3, {"modulus": 7}),
    Case("match3-heads", 3, {"modulus": 7}), Case("match3-last", 4, {"modulus": 7}),
    Case("match3-local", 3, {"modulus": 7, "window": 1}), Case("mqar", 4), Case("nearest-neighbour", 4, HYPERCUBE),
    Case("sparse-averaging", 3, {"sparsity": 2, "resolution": 1}),
    Case("index-lookup", 3, {"alphabet": 2}, {}, Balls(96)), Case("equality", 4, {}, {}, Balls(96)),
    Case("mqar", 2, {}, {}, Balls(96)), Case("nearest-neighbour", 2, HYPERCUBE, {}, Balls(96)),
)  # fmt: skip
LONGER = (
    Case("associative-recall", 16), Case("cnf", 32), Case("directed-3-cycle", 10), Case("disjointness", 32),
    Case("dnf", 33), Case("dyck-float", 32), Case("dyck-rnn", 40), Case("dyck-transformer", 40),
    Case("equality", 64),
    Case("equality", 40, {}, {"family": "circle"}), Case("equality-partition", 64), Case("index-lookup", 64),
    Case("index-lookup", 50, {"alphabet": 5}), Case("majority", 33), Case("match2", 8), Case("match2-code", 16),
    Case("match3", 8), Case("match3-heads", 8), Case("match3-last", 16), Case("match3-local", 16), Case("mqar", 32),
    Case("nearest-neighbour", 16), Case("sparse-averaging", 16),
)  # fmt: skip


class Campaign:
    """Mutants from certificates that are written once; the same seed gives the same mutants."""

    def __init__(self, folder: Path, seed: int, cases: tuple[Case, ...] = CASES, longer: bool = False) -> None:
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
            claim = stated_claim(files.certificate)
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
