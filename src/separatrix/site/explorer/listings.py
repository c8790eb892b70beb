"""What the server lists, described for machines: catalogs, recorded runs, and runs in training.

The other half of the OpenAPI description's schemas is in ``replies``.
"""

from typing import Any, Literal

from separatrix.site.explorer.replies import Reply


class ParameterAbout(Reply):
    """A parameter of a task."""

    name: str
    default: str


class ConstructionAbout(Reply):
    """A construction of the catalog."""

    name: str
    title: str
    theorem: str
    statement: str
    task: str
    variants: list[str]
    deviations: list[str]
    minimum_length: int
    maximum_length: int
    length_step: int
    parameters: list[ParameterAbout]


class TaskAbout(Reply):
    """A task of the catalog."""

    name: str
    title: str
    question: str
    minimum_length: int
    maximum_length: int
    length_step: int
    parameters: list[ParameterAbout]


class VersionAbout(Reply):
    """A version of Theorem 4's protocol."""

    name: str
    about: str


class WordAbout(Reply):
    """A word of the page and what it means."""

    key: str
    word: str
    meaning: str


class ErratumAbout(Reply):
    """A claim of a source that does not hold as written, and what holds instead."""

    name: str
    source: str
    title: str
    claim: str
    repair: str


class Catalog(Reply):
    """Everything that can be chosen, and what this server allows."""

    version: str
    constructions: list[ConstructionAbout]
    tasks: list[TaskAbout]
    codes: list[str]
    attentions: list[str]
    protocol_versions: list[VersionAbout]
    limits: dict[str, float]
    words: list[WordAbout]
    errata: list[ErratumAbout]


class OptionAbout(Reply):
    """A setting of an architecture."""

    name: str
    default: str | int | float | bool
    about: str
    choices: list[str | int | float | bool]


class ArchitectureAbout(Reply):
    """An architecture of the catalog."""

    name: str
    short: str
    title: str
    attention: bool
    options: list[OptionAbout]


class Architectures(Reply):
    """Every architecture that may be trained from a page."""

    architectures: list[ArchitectureAbout]


class RunSummary(Reply):
    """A recorded run."""

    name: str
    task: str
    architecture: str
    length: int
    learning_rate: float
    parameters: dict[str, str]
    steps: int
    seed: int
    accuracy: float
    loss: float | None
    ending: str
    step: int
    finished_at: str
    kept_steps: list[int]


class RunsReply(Reply):
    """The newest runs of the store."""

    store: str
    exists: bool
    runs: list[RunSummary]
    more: int


class LeftOut(Reply):
    """Runs that are not listed, and why."""

    why: str
    count: int


class ComparableReply(Reply):
    """The runs of a task whose attention can be shown, the newest first; of other tasks how many there are."""

    store: str
    exists: bool
    recorded: int
    runs: list[RunSummary]
    left_out: list[LeftOut]
    elsewhere: dict[str, int]


class PointReply(Reply):
    """A point of a curve."""

    step: int
    loss: float | None
    accuracy: float
    training_accuracy: float


class RunReply(RunSummary):
    """A recorded run with its description and its curve."""

    spec: dict[str, Any]
    curve: list[PointReply]


class TrainingReply(Reply):
    """A run that this server started."""

    training: str
    state: Literal["starting", "running", "stopping", "ended", "stopped", "failed"]
    run: str | None
    step: int
    steps: int
    task: str
    architecture: str
    length: int
    message: str | None


class TrainingsReply(Reply):
    """All runs that this server started, the newest first."""

    trainings: list[TrainingReply]
