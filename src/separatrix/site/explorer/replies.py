"""What the server answers, described for machines: these models are the OpenAPI description's schemas.

Replies of computations are made as JSON by the process that computed them and are passed on as they are; the tests hold
them against these models.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from separatrix.site.explorer.limits import Kind


class Reply(BaseModel):
    """What all replies share: nothing is left out of the description."""

    model_config = ConfigDict(extra="forbid")


class Problem(Reply):
    """Why a request was not answered, in one line."""

    error: str
    kind: Kind


class Size(Reply):
    """The size of a network as the papers count it."""

    layers: int
    heads: int
    width: int
    precision_bits: int
    size_bits: int


class ShownInput(Reply):
    """An input: its readable form and a short text for each position."""

    text: str
    symbols: list[str]


class CheckedInput(ShownInput):
    """An input, and whether it keeps the promise of its task."""

    promised: bool


class AnswerAt(Reply):
    """What the network answers at a position, and what is right."""

    position: int
    given: str
    expected: str | None
    right: bool | None


class Margin(Reply):
    """How far the readouts of this input are from being wrong, and where that is nearest."""

    readout: float
    position: int


class Slot(Reply):
    """A named part of the residual stream."""

    name: str
    values: list[float]


class StageReply(Reply):
    """One position's stream after a step of the network."""

    title: str
    kind: Literal["embedding", "attention", "feed-forward", "state", "readout"]
    slots: list[Slot]


class Picture(Reply):
    """A matrix as bytes: base64 of rows · columns of them, row by row.

    ``weights``: 255·√w for w from 0 to 1. ``linear``: from ``low`` to ``high``. Each entry stands for ``block`` · block
    of the matrix, by its largest.
    """

    rows: int
    columns: int
    block: int
    kind: Literal["weights", "linear"]
    low: float
    high: float
    data: str


class LayerAbout(Reply):
    """An attention layer."""

    heads: int
    mask: str
    scoring: str


class Weighed(Reply):
    """A key, or a pair of keys, and its weight."""

    keys: list[int]
    weight: float


class Lead(Reply):
    """By how much the best key of a query is ahead of the next, where that is least."""

    weight: float
    position: int


class AttentionReply(Reply):
    """A head's weights: of all queries, and of the one that is looked at."""

    layers: list[LayerAbout]
    layer: int
    head: int
    kind: Literal["positions", "pairs", "state"]
    map: Picture
    row: list[float]
    top: list[Weighed]
    lead: Lead | None
    dummy: float | None


class LookReply(Reply):
    """One input in one network."""

    theorem: str
    statement: str
    deviations: list[str]
    task: str
    question: str
    layout: str
    command: str
    chosen: dict[str, str] = Field(
        description="Parameters of the task that the explorer chose: smaller than the task's own, which is not decided."
    )
    size: Size
    arithmetic: str
    exponent: int | None
    own_gain: str | None
    input: CheckedInput
    answers: list[AnswerAt]
    not_run: int = Field(description="Positions that are read and were not run, because each attends to all pairs.")
    margin: Margin | None
    position: int
    stages: list[StageReply]
    attention: AttentionReply


class Counterexample(Reply):
    """An input that was run and is answered wrongly."""

    text: str
    given: str
    expected: str
    wrong_answers: int
    answers: int


class VerdictReply(Reply):
    """Whether a claim holds for every input."""

    state: Literal["certified", "refuted", "undecided"]
    reason: str
    method: str
    inputs_covered: str
    counterexample: Counterexample | None
    size: Size
    arithmetic: str
    command: str
    seconds: float


class Tried(Reply):
    """A score scale η and whether it is certified."""

    gain: str
    certified: bool


class ThresholdReply(Reply):
    """The smallest certified η."""

    own_gain: str
    smallest_gain: str
    tried_below: str
    share: float
    tried: list[Tried]
    seconds: float


class PartitionReply(Reply):
    """Who holds what."""

    name: str
    alice: list[int]


class MessageReply(Reply):
    """One message of a protocol; of a long one only the first bits are ``shown``."""

    round: int
    sender: Literal["Alice", "Bob"]
    receiver: Literal["Alice", "Bob"]
    step: str
    what: str
    length: int
    bits: str
    shown: int


class Claimed(Reply):
    """What the theorem allows, and what is to be told beside it: for which m and when the constant holds (E13)."""

    formula: str
    bits: int
    told: list[str]


class ProtocolReply(Reply):
    """A whole conversation."""

    theorem: str
    version: str
    about_version: str
    partition: PartitionReply
    needs_cut: bool
    input: ShownInput
    precision_bits: int
    width: int
    read_position: int
    claimed: Claimed
    answer: str
    direct_answer: str
    equal: bool
    total_bits: int
    messages: list[MessageReply]


class TrainedMap(Reply):
    """The attention of a trained model."""

    map: Picture
    row: list[float]


class ConstructedMap(AttentionReply):
    """The attention of a construction."""

    construction: str
    offered: list[str]


class ComparisonReply(Reply):
    """A trained model and a construction on the same input."""

    run: str
    task: str
    architecture: str
    length: int
    accuracy: float
    steps: list[int]
    step: int
    input: ShownInput
    position: int
    read: list[int]
    trained: TrainedMap
    constructed: ConstructedMap | None
    share: float | None


class ProgressReply(Reply):
    """How far a computation is."""

    what: str
    done: int
    total: int | None


class JobReply(Reply):
    """A computation that takes a while; ``reply`` is that of its kind once it is done."""

    job: str
    kind: str
    state: Literal["waiting", "running", "done", "failed", "cancelled"]
    progress: ProgressReply | None
    seconds: float
    error: str | None
    error_kind: Kind | None
    reply: Any = Field(default=None)
