"""From a folder to a verdict: read the claim, the network and the proof, check the proof, say what was shown."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, cast

from separatrix_kernel.network import Reader
from separatrix_kernel.numbers import Numbers
from separatrix_kernel.reading import fields, hashed, integer, parse, read_bytes, require, text
from separatrix_kernel.rules import Claim
from separatrix_kernel.specification import read_specification

FORMAT = "separatrix-proof-1"
PROOF_FILE = "proof.json"
FIELDS = ("format", "task", "parameters", "length", "arithmetic", "specification", "network", "sha256", "proof")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
FLOAT32 = "float32:in-order"
FLOAT32_MEANS = "IEEE 754 float32, each sum taken in the order of its terms and rounded to nearest after every addition"
LAST_NET = 8
SHORT = 32
SHOWN = 200
LONGEST = 1 << 62


@dataclass(frozen=True)
class Accepted:
    """A claim that was shown to be true, and how."""

    task: str
    parameters: dict[str, Any]
    length: int
    arithmetic: str
    specification: dict[str, Any]
    network: str
    sha256: str
    inputs_covered: str
    rule: str
    answer: str
    positions: int
    special: str
    """The file of the kernel whose rule was needed as well, if any."""

    @property
    def rules(self) -> str:
        """The rule, with that file."""
        return f"{self.rule}, {self.special}" if self.special else self.rule

    def words(self) -> str:
        """The claim in plain words, one fact a line; names that decide nothing are cut off and called names."""
        parameters = json.dumps(self.parameters)
        parameters = parameters if len(parameters) <= SHOWN else f"{parameters[:SHOWN]} ..."
        return "\n".join(
            [
                f"network     {self.network}, SHA-256 {self.sha256}",
                f"named       {self.task} {parameters} of length {self.length} (names; what was checked is below)",
                f"inputs      all {self.inputs_covered} inputs of {self.positions} tokens",
                f"arithmetic  {self.arithmetic}{f': {FLOAT32_MEANS}' if self.arithmetic == FLOAT32 else ''}",
                f"right is    {self.answer}",
                f"rule        {self.rules}",
            ]
        )


def check_folder(folder: Path) -> Accepted:
    """Check the proof in a folder; refuses with the obligation that failed."""
    found = fields(parse(read_bytes(folder / PROOF_FILE), PROOF_FILE), PROOF_FILE, FIELDS)
    return check(found, read_bytes(folder / plain_name(found["network"], "the network's file")))


def plain_name(value: Any, what: str) -> str:
    """A name that is not a path and cannot disguise what is printed."""
    require(NAME.fullmatch(text(value, what)) is not None, f"{what} is not named by letters, digits, '.', '_' and '-'")
    return cast("str", value)


def check(content: Any, data: bytes) -> Accepted:
    """Check the content of a proof file against the bytes of a network file."""
    found = fields(content, PROOF_FILE, FIELDS)
    text(found["format"], "the format", [FORMAT])
    task, file = plain_name(found["task"], "the task"), plain_name(found["network"], "the network's file")
    require(isinstance(found["parameters"], dict), "the parameters are not an object")
    length = integer(found["length"], "the length", 1, LONGEST)
    digest = hashed(found["sha256"], data, "the network file has")
    arithmetic = text(found["arithmetic"], "the arithmetic")
    inputs, answers = read_specification(found["specification"])
    if arithmetic == FLOAT32:
        from separatrix_kernel.running import Floats, RunningClaim

        numbers = Floats()
        claim = RunningClaim(Reader(data, numbers).network(), inputs, answers, numbers)
    else:
        fixed = Numbers(arithmetic)
        claim = Claim(Reader(data, fixed).network(), inputs, answers, fixed)
    rule = claim.prove(found["proof"])
    # The last net: should a rule ever be wrong, some inputs are run as well.
    random = Random(digest)
    for _ in range(LAST_NET if claim.network.positions <= SHORT else 0):
        tokens = answers.draw(inputs, random)
        if tokens is not None:
            require(not claim.wrong(tokens), f"the input {' '.join(map(str, tokens))} is answered wrongly")
    return Accepted(
        task, cast("dict[str, Any]", found["parameters"]), length, arithmetic,
        cast("dict[str, Any]", found["specification"]), file, digest,
        answers.covered(inputs), rule, answers.words(), len(inputs.tokens), claim.special,
    )  # fmt: skip
