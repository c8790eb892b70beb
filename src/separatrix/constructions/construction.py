"""What a construction is: a theorem that turns a length into a network with explicit weights.

Each file of ``theorems/`` exports one ``CONSTRUCTION``. It cites its theorem, states it, says where it deviates and
why, and claims a width as a function of N that the tests compare with the built network.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal, TypeAlias, cast

from separatrix.arithmetic import FixedPoint, Floating
from separatrix.constructions.exponents import USUAL
from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.networks import SCORINGS, AnyNetwork, FeedForward, Layer, Network, RecurrentNetwork, Scoring
from separatrix.tasks import Task, tasks

LARGEST_VOCABULARY = 1 << 27

Growth: TypeAlias = Literal["constant", "logarithmic", "linear", "quadratic"]
Addressing: TypeAlias = Literal["position", "position-and-average", "content"]
"""``position``: attention finds a position by its code. ``position-and-average``: a second layer then averages over all
positions. ``content``: the score compares contents, so the gain is the gap between the best score and the next."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """How to build: the fixed point of BHBK24 B.2, the variant of the proof, and overrides for experiments.

    ``exponent`` is Kc, by default the construction's own; ``gain`` replaces the score scale η, ``family`` the choice of
    sign code, ``parameters`` those of the task. ``attention`` replaces the theorem's own attention, in
    every head and with the same weights.
    """

    exponent: int | None = None
    rounding: Literal["down", "nearest"] = "down"
    variant: str = "repaired"
    gain: Fraction | None = None
    family: str | None = None
    max_inner: Fraction = Fraction(1, 4)
    attention: Scoring | None = None
    parameters: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Built:
    """A network and what it is claimed to do."""

    network: AnyNetwork
    task: Task
    length: int
    arithmetic: FixedPoint | Floating


@dataclass(frozen=True, kw_only=True)
class Construction(ABC):
    """One theorem; subclasses are frozen dataclasses."""

    name: str
    title: str
    theorem: str
    statement: str
    task_name: str
    serves: tuple[tuple[str, str], ...] = ()
    """Other tasks that its networks solve, each with the reason."""
    growth: Growth = "logarithmic"
    """How the bits of its networks grow with N, up to powers of log N; "logarithmic" is the papers' width O(log N) at
    precision O(log N)."""
    how: tuple[str, ...] = ()
    """How the network does it, in paragraphs for the pages of its tasks."""
    addressing: Addressing | None = None
    """How attention uses the addresses of a code, which ``separatrix frontier`` then varies; None: there is no code."""
    frontier_power: int = 0
    """The largest power of two at which ``separatrix frontier`` certifies it within minutes; 0: docs/frontier.md has no
    table of it."""
    longest_certified: int | None = None
    """The largest N that the atlas certifies, where the next one takes the checker many times as long."""
    longest_built: int | None = None
    """The largest N that the atlas builds, where the next one takes seconds."""
    deviations: tuple[str, ...] = ()
    variants: tuple[str, ...] = ("repaired",)
    also: tuple[tuple[str, str], ...] = ()
    """Other values of fields of :class:`Options` with which it certifies too; campaigns against the checker start from
    these networks as well."""
    minimum_length: int = 2
    arithmetic_kind: str = "fixed"
    """The arithmetic that it is about, by the name that models have; bounds for another one say nothing of it."""
    arithmetic_in_words: str = "fixed point, Appendix B.2"

    def reason_for(self, task: str) -> str | None:
        """Return why its networks solve a task: empty for its own task, None where they do not solve it.

        >>> from separatrix.constructions import constructions
        >>> equality = constructions()["equality"]
        >>> equality.reason_for("equality"), equality.reason_for("inequality"), equality.reason_for("dyck")
        ('', 'the complement of the answer', None)
        """
        return "" if task == self.task_name else dict(self.serves).get(task)

    def statement_in(self, arithmetic: str) -> str | None:
        """Return what it states in an arithmetic, by the name that models have; None where it states nothing."""
        return self.statement if arithmetic == self.arithmetic_kind else None

    def build(self, length: int, options: Options | None = None) -> Built:
        """Return the network for inputs of this length; bad lengths and options end in one line."""
        chosen = options or Options()
        if chosen.variant not in self.variants:
            raise UnknownNameError(f"variant of {self.name}", chosen.variant, self.variants)
        task = tasks()[self.task_name].with_parameters(**chosen.parameters)
        self.check_length(task, length)
        arithmetic = self.own_arithmetic(task, length, chosen)
        made = cast("object", self.network(task, length, chosen))
        if not isinstance(made, Network | RecurrentNetwork):  # of a class from outside
            raise SeparatrixError(f"network of {self.name} returned {type(made).__name__}; return a Network")
        network: AnyNetwork = made
        if chosen.attention is not None:
            network = with_attention(network, chosen.attention)
        return Built(network, task, length, arithmetic)

    def check_length(self, task: Task, length: int) -> None:
        """Raise a one-line error unless both the construction and the task have this length."""
        step = task.length_step
        least = -(-max(self.minimum_length, task.minimum_length) // step) * step
        if length < least:
            steps = f" in steps of {step}" if step > 1 else ""
            raise SeparatrixError(
                f"{self.name} has no network of length {length}; choose {least} to {task.maximum_length}{steps}"
            )
        task.check_length(length)
        # Embeddings are tables with a row for each token; more would end in a lack of memory, after minutes.
        tokens = task.vocabulary(length).size
        if tokens > LARGEST_VOCABULARY:
            raise SeparatrixError(
                f"{self.name} of length {length} has {tokens} tokens, and tables hold at most {LARGEST_VOCABULARY}; "
                "choose a smaller length"
            )

    def own_arithmetic(self, task: Task, length: int, options: Options) -> FixedPoint | Floating:
        """Return the arithmetic in which the network is right: the fixed point of BHBK24 B.2, unless it is about
        floats."""
        exponent = self.default_exponent(task, length) if options.exponent is None else options.exponent
        return FixedPoint(length, exponent, options.rounding, self.softmax_rule(options.variant))

    def softmax_rule(self, variant: str) -> Literal["appendix-d", "once"]:
        """Return how a variant's softmax rounds: as Appendix D says, unless the variant is about another rounding."""
        del variant
        return "appendix-d"

    def default_exponent(self, task: Task, length: int) -> int:
        """Return the constant Kc to use when none is asked for: 2, as BHBK24's repaired proofs need."""
        del task, length
        return USUAL

    @abstractmethod
    def network(self, task: Task, length: int, options: Options) -> AnyNetwork:
        """Return the weights for this task and length."""

    @abstractmethod
    def claimed_width(self, task: Task, length: int, code_width: int) -> int:
        """Return the width that the theorem claims, given the width k of its sign code."""


def claimed_width(construction: Construction, built: Built) -> int | None:
    """Return the width that a construction claims for what it built; None where it depends on a code, which nobody
    tells."""
    with_code, without = (construction.claimed_width(built.task, built.length, code) for code in (1, 0))
    if type(without) is not int:
        raise SeparatrixError(f"claimed_width of {construction.name} gives {without!r}; give an int")
    return without if with_code == without else None


def with_attention(network: AnyNetwork, kind: Scoring) -> AnyNetwork:
    """Return the same weights with another attention in every head; without attention there is nothing to replace."""
    if kind not in SCORINGS:
        raise UnknownNameError("attention", kind, SCORINGS)
    if not isinstance(network, Network):
        raise SeparatrixError(f"a recurrent network has no attention that {kind} could replace; leave the option out")

    def replaced(layer: Layer) -> Layer:
        if isinstance(layer, FeedForward):
            return layer
        return replace(layer, heads=tuple(replace(head, scoring=kind) for head in layer.heads))  # type: ignore[arg-type]

    return replace(network, layers=tuple(map(replaced, network.layers)), about=f"{network.about}; {kind} attention")
