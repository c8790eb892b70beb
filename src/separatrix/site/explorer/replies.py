"""What the server answers: one record for each computation, made by the function that computes it.

The page reads their JSON, and the OpenAPI description has them as schemas. Layouts, formulas and caveats are HTML with
MathML; everything else is text.
"""

from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from separatrix.site.explorer.limits import Kind

State: TypeAlias = Literal["certified", "refuted", "undecided"]


class Reply(BaseModel):
    """Base of all replies: frozen, and nothing is left out of the description."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Problem(Reply):
    """Why a request has no reply, in one line."""

    error: str
    kind: Kind


class ShownInput(Reply):
    """An input in readable form, and a short text for each position."""

    text: str
    symbols: list[str]
    promised: bool = True


class AnswerAt(Reply):
    """The network's answer at a position; the right one is unknown where the input breaks the task's promise."""

    position: int
    given: str
    expected: str | None
    right: bool | None


class At(Reply):
    """A number and the position at which it is smallest."""

    value: float
    position: int


class StageReply(Reply):
    """The residual stream of one position after a step of the network, by named slot."""

    title: str
    kind: Literal["embedding", "attention", "feed-forward", "state", "readout"]
    slots: dict[str, list[float]]


class Picture(Reply):
    """A matrix as base64 of one byte for each entry, row by row.

    ``weights`` are 255·√w for w from 0 to 1, ``linear`` goes from ``low`` to ``high``. An entry is the largest of
    ``block`` · ``block`` of the matrix.
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


class AttentionReply(Reply):
    """A head's weights, of all queries and of one; for a recurrent network its states over positions."""

    layers: list[LayerAbout]
    layer: int
    head: int
    kind: Literal["positions", "pairs", "state"]
    map: Picture
    top: list[Weighed] = []
    lead: At | None = Field(default=None, description="Smallest distance of a query's best weight to its second.")
    dummy: float | None = None


class StateAbout(Reply):
    """A state of a recurrent network: the shortest input that reaches it, and what is answered there."""

    word: str
    answer: str


class Move(Reply):
    """The symbols that lead from one state to another."""

    start: int
    end: int
    symbols: list[str]


class AutomatonReply(Reply):
    """The states that a recurrent network reaches, state 0 first, and the ``walk`` of one input through them."""

    states: list[StateAbout]
    moves: list[Move]
    walk: list[int]


class MarginAt(Reply):
    """The margin of one input at an η, in per cent of the theorem default; None where it cannot be run."""

    percent: int
    gain: str
    margin: float | None
    lead: float | None


class MarginsReply(Reply):
    """The margin of one input against η, and the smallest lead of a best key; empty where no score depends on η."""

    points: list[MarginAt]


class LookReply(Reply):
    """One input in one network."""

    layout: str
    chosen: dict[str, str] = Field(description="Task parameters that the explorer chose so that claims are decidable.")
    size: dict[str, int]
    exponent: int | None
    own_gain: str | None
    input: ShownInput
    answers: list[AnswerAt]
    not_run: int = Field(description="Query positions that were not run, because each attends to all pairs.")
    margin: At | None
    position: int
    stages: list[StageReply]
    attention: AttentionReply
    automaton: AutomatonReply | None = Field(description="Of a recurrent network with few states.")


class Counterexample(Reply):
    """An input that was run and has a wrong answer."""

    text: str
    given: str
    expected: str
    wrong_answers: int
    answers: int


class VerdictReply(Reply):
    """Whether a claim holds for every input."""

    state: State
    reason: str
    method: str
    inputs_covered: str
    counterexample: Counterexample | None
    size: dict[str, int]
    command: str
    seconds: float


class ThresholdReply(Reply):
    """The smallest certified η, and the largest one below it that is not certified."""

    own_gain: str
    smallest_gain: str
    tried_below: str
    share: float


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


class ProtocolReply(Reply):
    """A protocol on one input, and what the theorem allows it to send."""

    theorem: str
    about_version: str
    partition: str
    alice: list[int]
    needs_cut: bool
    input: ShownInput
    precision_bits: int
    formula: str
    claimed_bits: int
    caveats: list[str]
    answer: str
    direct_answer: str
    equal: bool
    total_bits: int
    messages: list[MessageReply]


class ConstructedMap(AttentionReply):
    """The attention of a construction."""

    construction: str


class ComparisonReply(Reply):
    """The attention of a trained model and of a construction on the same input."""

    architecture: str
    accuracy: float
    step: int
    input: ShownInput
    read: list[int]
    trained: Picture
    constructed: ConstructedMap | None
    share: float | None = Field(description="Trained weight on the keys that the construction attends to.")


class RunSummary(Reply):
    """A recorded run; ``kept_steps`` are those whose weights are in the folder of the store."""

    name: str
    task: str
    architecture: str
    length: int
    learning_rate: float
    parameters: dict[str, str]
    seed: int
    accuracy: float
    ending: str
    step: int
    finished_at: str
    kept_steps: list[int]
    why_not: str = Field(description="Why its attention cannot be compared; empty where it can.")


class RunsReply(Reply):
    """Recorded runs, of one task or of all; ``recorded`` counts the whole store."""

    store: str
    recorded: int
    runs: list[RunSummary]
