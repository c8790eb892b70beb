"""Trained models in the package that are certified for every input, and attacks on others: a kind of evidence.

A construction says what weights can do, a run what training reached on samples; a certificate of trained weights says
both for every input (docs/kernel.md). What is here is read from the certificates' claims; ``separatrix check`` proves
each again. A model that a lower bound excludes would be a contradiction, and is compared with every bound.
"""

import json
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from separatrix.bounds import NUMBERS, Model, ModelSize, ProtocolBound, bounds_for, covered
from separatrix.shipped import FOLDER, short_path
from separatrix.tasks import tasks
from separatrix_kernel.selective import TAPS
from separatrix_kernel.specification import read_specification

PLACE = FOLDER / "trained"
CLAIM, WEIGHTS, ATTACKS = "trained.json", "weights.safetensors", "attacks.json"
LONG_TEXT = 60
LONG = 1 << 16
"""The length at which bounds are asked about a model that is right at every length."""


@dataclass(frozen=True)
class TrainedModel:
    """Weights that gradient descent found, right on every input."""

    task: str
    """With parameters where they are not the usual ones."""
    model: str
    column: Model
    length: int | None
    """None: every length."""
    inputs: str
    state: str
    """What is claimed is about the unmodified model, where this is empty."""
    numbers: int
    """What a bound counts: numbers of a state, or rows of a head's projections."""
    precision: int
    heads: int
    command: str
    kilobytes: int

    @property
    def name(self) -> str:
        """The model, and how its state is rounded where it is."""
        return f"{self.model} with its state {self.state}" if self.state else self.model

    @property
    def text(self) -> str:
        """In words, for a cell."""
        return f"{self.name}: trained, and right on {self.inputs}"


@cache
def trained_models() -> tuple[TrainedModel, ...]:
    """Return all of the package, by task and length.

    >>> [each.model for each in trained_models() if each.task == "index-lookup"][-1]
    'TF-(1,64)'
    """
    found = [_model(path.parent) for path in sorted(PLACE.glob(f"*/{CLAIM}"))]
    return tuple(sorted(found, key=lambda one: (one.task, one.column, one.length or 0, one.model)))


def trained_on(task: str, column: Model) -> tuple[TrainedModel, ...]:
    """Return those of a cell of the table; raises ``ContradictionError`` where a bound says that one cannot be."""
    found = tuple(each for each in trained_models() if (each.task, each.column) == (task, column))
    for one in found:
        for bound in bounds_for(task, column):
            if not isinstance(bound, ProtocolBound):
                continue
            reached = covered(bound, NUMBERS["float32"], tasks()[task])
            if reached.covered:
                size = ModelSize(one.numbers, one.precision, one.heads)
                reached.bound.check_consistent(one.length or LONG, size, one.text, tasks()[task])
    return found


@dataclass(frozen=True)
class AttackedRun:
    """A run that was right on all sampled inputs; ``failing`` inputs a search then found, ``one`` of them."""

    task: str
    model: str
    length: int
    seed: int
    step: int
    """At which its training ended."""
    accuracy: float
    failing: int
    one: str
    certified: bool
    device: str = "CPU"
    """That trained it."""
    figure: str = ""
    """The figure of the recorded run that it is, where a GPU trained it, or whose description it repeats."""
    recorded: str = ""
    """The name of that run."""
    same_start: bool = True
    """Whether the description is the same to the last field; older records have other initial weights."""

    @property
    def name(self) -> str:
        """What was trained."""
        return f"{self.task}, {self.model}, N = {self.length}, seed {self.seed}"

    @property
    def text(self) -> str:
        """The failing input, where it is long with equal tokens in a row counted.

        >>> AttackedRun("", "", 0, 0, 0, 1.0, 1, "4 " * 99 + "f @100", False).text
        '4 (99 times) f @100'
        """
        tokens = self.one.split(" ")
        if len(tokens) <= LONG_TEXT:
            return self.one
        runs = [(token, len([*same])) for token, same in groupby(tokens)]
        return " ".join(f"{token} ({times} times)" if times > 2 else " ".join([token] * times) for token, times in runs)

    @property
    def cell(self) -> str:
        """The recorded run of a figure that it repeats, or is."""
        return f"{self.figure}, run {self.recorded}{'' if self.same_start else ', other start'}" if self.figure else ""


@dataclass(frozen=True)
class Attacks:
    """All attacked runs: the inputs ``sampled``, and the ``seconds`` or failing inputs after which a search ended.

    ``python -m tools.attacked_runs`` trains and attacks them and writes the record; ``missed`` runs answered a sampled
    input wrongly and are left out.
    """

    sampled: int
    seconds: int
    most: int
    missed: int
    commands: tuple[str, ...]
    rows: tuple[AttackedRun, ...]
    missed_repeats: int = 0
    """Repeated runs of the figures that missed a sampled input here."""


@cache
def attacks() -> Attacks:
    """Return the attacks that the package records."""
    from pydantic import TypeAdapter

    return TypeAdapter(Attacks).validate_json((PLACE / ATTACKS).read_bytes())


def attacked_in_words() -> str:
    """Return how many of the attacked runs have failing inputs.

    >>> attacked_in_words().split(" of ")[1].split()[1]
    'runs'
    """
    rows = attacks().rows
    failing = sum(row.failing > 0 for row in rows)
    proved = sum(row.certified for row in rows)
    repeats = [row for row in rows if row.figure and row.device == "CPU"]
    also = sum(row.failing > 0 for row in repeats)
    return (
        f"{failing} of {len(rows)} runs that answered every sampled input correctly have inputs on which they fail; "
        f"{proved} are certified for every input. {len(repeats)} of them repeat recorded runs of the figures on a CPU "
        f"({also} fail somewhere). A GPU computes with other floats, so these are the same specifications, not the "
        "same weights. Where a row says other start, the record's initial weights were drawn in an earlier way."
    )


@dataclass(frozen=True)
class _Claim:
    """What a certificate of trained weights states, as far as the table shows it; ``boxes`` are those of words."""

    task: str
    length: int = 0
    alphabet: int | None = None
    bits: int = 0
    boxes: list[Any] | None = None
    specification: dict[str, Any] | None = None

    @property
    def inputs(self) -> str:
        """How many inputs the claim is about."""
        if self.specification is None:
            return f"all {self.length}·{self.alphabet}^{self.length} inputs"
        inputs, answer = read_specification(self.specification)
        return f"all {answer.covered(inputs)} inputs".replace("*", "·")


@dataclass(frozen=True)
class _Structure:
    """What the header of a weight file says of its model; ``state`` is that of a selective recurrence."""

    kind: str
    width: int
    heads: int = 1
    layers: int = 1
    cell: str = ""
    expansion: int = 1
    state: int | None = None

    @property
    def model(self) -> str:
        """The model's name."""
        if self.kind == "recurrent":
            return f"{self.cell.upper() if self.state is None else self.cell.title()}-(1,{self.width})"
        heads = f",heads={self.heads}" if self.heads > 1 else ""
        rotary = ",positions=rotary" if self.kind == "rotary-transformer" else ""
        return f"TF-({self.layers},{self.width}{heads}{rotary})"

    @property
    def numbers(self) -> int:
        """Numbers of a state, with a convolution's last inputs, or rows of a head's projections."""
        if self.kind != "recurrent":
            return self.width // self.heads
        if self.state is not None:
            return self.expansion * self.width * (self.state + TAPS - 1)
        return self.width * (2 if self.cell == "lstm" else 1)


def _model(folder: Path) -> TrainedModel:
    from pydantic import TypeAdapter

    from separatrix.tasks import changed_label, labelled_task

    claim = TypeAdapter(_Claim).validate_json((folder / CLAIM).read_bytes())
    with (folder / WEIGHTS).open("rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    about = TypeAdapter(_Structure).validate_json(header["__metadata__"]["separatrix"])
    column: Model = "transformer-1layer" if about.layers == 1 else "transformer-2layer"
    length, inputs, state = claim.length, claim.inputs if claim.boxes is None else "", ""
    if claim.boxes is not None:
        column, length = "rnn", None
        # Without a token Mamba has no last token, and so no answer.
        inputs = f"words of every length{'' if about.state is None else ' but 0'}"
        state = f"rounded to {claim.bits} bits" if claim.bits else ""
    return TrainedModel(
        changed_label(labelled_task(claim.task)), about.model, column, length, inputs, state, about.numbers,
        claim.bits or 32, about.heads, f"separatrix check {short_path(folder)}",
        round(sum(file.stat().st_size for file in folder.iterdir()) / 1000),
    )  # fmt: skip
