"""``sx.profile``, ``sx.capacity`` and ``sx.design``: what a function needs, a model keeps, a task requires."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from separatrix.answer import Answer, Sheet, plain
from separatrix.api.arguments import checked
from separatrix.api.models import described
from separatrix.api.text_memory import Crossing, Fits, crossing, texts_that_fit
from separatrix.bit_counts import OWN_PRECISION, PUBLISHED_PRECISION
from separatrix.errors import SeparatrixError

if TYPE_CHECKING:
    from separatrix.bounds import Numbers
    from separatrix.capacities import Budget, Capacity, CapacityRecord
    from separatrix.models import Held, Measured
    from separatrix.profiles import Estimate, Exclusion, Limits, Profile
    from separatrix.table import Design, ProvedNetwork
    from separatrix.tasks import Task


# -- a function -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Profiled(Answer):
    """What any recurrent model and any one-layer Transformer need for a function; ``found`` has every count.

    ``network``: the two-layer network of Theorem 13 and its verdict, where the function has a sparse form. ``model``:
    whether a model that was asked about is excluded.
    """

    found: "Profile"
    network: "ProvedNetwork | None"
    model: "Exclusion | None"

    @property
    def state_bits(self) -> int:
        """Bits of state that any recurrent model needs at N."""
        return self.found.residuals.minimum_state_bits

    @property
    def communication_bits(self) -> int | None:
        """Bits that the best partition found forces; None where none applies."""
        return None if self.found.best is None else self.found.best.bits

    @property
    def classes(self) -> tuple[int, ...]:
        """Residual classes after 0, 1, … N symbols."""
        return tuple(self.found.residuals.classes)

    def __bool__(self) -> bool:
        """Return whether no network that was built for the function failed."""
        return self.network is None or self.network.certified

    def as_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        from separatrix.profiles import profile_record

        return {**plain(profile_record(self.found)), "network": plain(self.network), "model": plain(self.model)}

    def sheet(self) -> Sheet:
        """Show the needs, then the counts behind them."""
        from separatrix.api.profile_sheet import profile_sheet

        return profile_sheet(self.found, self.network, self.model)


@checked
def profile(
    function: "str | Callable[[Any], Any]",
    length: int,
    alphabet: str = "2",
    *,
    partitions: Iterable[str] = (),
    precision: int | None = None,
    model: "str | Mapping[str, Any] | None" = None,
    limits: "Limits | None" = None,
    seed: int = 0,
    announce: "Callable[[Estimate], None] | None" = None,
) -> Profiled:
    """Evaluate a function on all inputs up to a length, and count what models need for it.

    ``function``: a Python function of a tuple (or string) of symbols, or FILE.py:function. ``alphabet``: a size, "N",
    characters such as "()[]", or words with commas. ``model``: also say at which length a model cannot compute it.

    >>> found = profile(lambda bits: bits == bits[::-1], 8)
    >>> found.state_bits, found.communication_bits
    (4, 5)
    """
    from separatrix.capacities import capacity as card_of
    from separatrix.profiles import Limits, ProfileOptions, exclusion, load_function, parse_alphabet
    from separatrix.profiles import profile as run_profile
    from separatrix.progress import report
    from separatrix.table import certify_sparse_form

    symbols = parse_alphabet(alphabet)
    bits = PUBLISHED_PRECISION if precision is None else precision
    options = ProfileOptions(tuple(partitions), bits, limits or Limits(), seed)
    # A name that is not known ends here, before anything is computed.
    asked = None if model is None else card_of(described(model, precision), precision, only=())
    name, called = load_function(function) if isinstance(function, str) else (_name(function), function)
    found = run_profile(name, called, length, symbols, options, announce)
    report("building and certifying the network of Theorem 13", 0, None)
    network = None if found.sparse is None else certify_sparse_form(found.sparse.function, length)
    return Profiled(found, network, None if asked is None else exclusion(found, asked))


def _name(function: object) -> str:
    if not callable(function):
        raise SeparatrixError(f"{function!r} is not a function; give one of a tuple of symbols, or FILE.py:function")
    return getattr(function, "__name__", type(function).__name__).replace("<lambda>", "the function")


# -- a model --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Kept(Answer):
    """What a model keeps of a text, and which tasks are impossible for it at any weights.

    ``card``: the verdicts. ``measured``: what a model at hand was seen to keep; None for a model by name or config.
    ``fits``: how many texts fit into a memory. ``against``: another model. ``asked``: the tasks that were named.
    """

    card: "Capacity"
    measured: "Measured | None" = field(default=None)
    fits: "Fits | None" = None
    against: "Crossing | None" = None
    asked: tuple[str, ...] = ()

    @property
    def record(self) -> "CapacityRecord":
        """The card as plain values, which everything that is shown is made from."""
        from separatrix.capacities import capacity_record

        return capacity_record(self.card)

    @property
    def name(self) -> str:
        """The model's name."""
        return self.card.model.name if self.measured is None else self.measured.name

    @property
    def state_bits(self) -> int | None:
        """Bits that the model passes from token to token; None where they grow with the length."""
        return self.card.state_bits

    @property
    def bytes_at(self) -> Mapping[int, int]:
        """The bytes of a text, by its length: measured where the model is at hand."""
        return self.card.bytes_at if self.measured is None else self.measured.bytes_at

    @property
    def arrays(self) -> "tuple[Held, ...]":
        """The arrays that a model at hand keeps."""
        return () if self.measured is None else self.measured.arrays

    @property
    def fixed_bytes(self) -> int:
        """The bytes of arrays that have the same size at all lengths, of a model at hand."""
        return 0 if self.measured is None else self.measured.fixed_bytes

    @property
    def by_config(self) -> bool:
        """Whether the verdicts are those of the model's config."""
        return self.measured is None or self.measured.by_config

    @property
    def agrees(self) -> bool:
        """Whether the card counts what was measured."""
        return self.measured is None or self.measured.agrees

    def as_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        seen = None if self.measured is None else {"bytes_at": dict(self.bytes_at), "agrees": self.agrees}
        more = {"measured": seen, "fits": plain(self.fits), "against": plain(self.against)}
        return {**plain(self.record), **{name: each for name, each in more.items() if each is not None}}

    def sheet(self) -> Sheet:
        """Show memory first, then what each layer keeps, then what is impossible."""
        from separatrix.api.capacity_sheet import capacity_sheet

        return capacity_sheet(self)


@checked
def capacity(
    model: "str | Path | Mapping[str, Any] | Any",
    lengths: Sequence[int] | None = None,
    *,
    length: int | None = None,
    precision: int | None = None,
    tasks: "Sequence[str | Task] | None" = None,
    alphabet: int = 64,
    arithmetic: "str | Numbers | None" = None,
    budget: "Budget | None" = None,
    keeps: "Callable[[Any, int], object] | None" = None,
    memory: int | None = None,
    weights: int | None = None,
    against: str | None = None,
) -> Kept:
    """Return what a model keeps of a text, against the lower bounds.

    ``model``: a preset, an id at Hugging Face, the path or the fields of a config, a model such as "LSTM-(3,256)", or a
    torch module at hand, which is run on texts of several ``lengths`` (``keeps`` runs one of another kind). ``length``:
    that of the verdicts. ``budget``: what its caches may keep. ``memory``: bytes, into which texts fit next to
    ``weights``, left out those of the model. ``against``: another model, whose bytes are compared.

    >>> capacity("mamba-130m").state_bits
    22413312
    >>> capacity({"model_type": "gru", "hidden_size": 64}).state_bits
    2048
    """
    from separatrix.bounds import numbers_named
    from separatrix.capacities import Budget
    from separatrix.capacities import capacity as card_of

    seen = None
    if not isinstance(model, str | Path | Mapping):
        from separatrix.models import LENGTHS
        from separatrix.models import capacity as measure

        seen = measure(model, lengths or LENGTHS, keeps=keeps, length=length)
        found = seen.card.model
    elif lengths is not None or keeps is not None:
        raise SeparatrixError("lengths and keeps are for a model at hand; of a name or config give length")
    else:
        found = described(str(model) if isinstance(model, Path) else model, precision)
    computed = numbers_named(arithmetic) if isinstance(arithmetic, str) else arithmetic
    card = card_of(found, precision, length, alphabet, tasks, computed, budget or Budget())
    if memory is None and weights is not None:
        raise SeparatrixError(f"weights of {weights} bytes are next to the texts in a memory; give the memory as well")
    fits = None if memory is None else texts_that_fit(card, memory, weights, model)
    crossed = None if against is None else crossing(card, against)
    asked = tuple(dict.fromkeys(each if isinstance(each, str) else each.name for each in tasks or ()))
    return Kept(card, seen, fits, crossed, asked)


# -- a task ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Designed(Answer):
    """What a task of a length needs at least, what is enough, and which published models pass; ``found`` has it all."""

    found: "Design"

    def as_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return self.found.plain()

    def sheet(self) -> Sheet:
        """Show a row for each design, why, then the presets by outcome."""
        from separatrix.api.design_sheet import design_sheet

        return design_sheet(self.found)


@checked
def design(
    task: "str | Task | Callable[[Any], Any]",
    length: int,
    *,
    precision: int = OWN_PRECISION,
    heads: int = 1,
    certify: bool = False,
) -> Designed:
    """Return what a model for a task needs at least, which construction is enough, and which published models pass.

    ``certify``: certify every network at this length, however long it takes. Of a function (FILE.py:function, or one
    in Python) all inputs of the length are evaluated.

    >>> [row.design for row in design("majority", 64).found.rows]
    ['recurrent', 'windows', 'one-layer', 'two-layer', 'hybrid']
    """
    from separatrix.profiles import FunctionTask, task_argument
    from separatrix.table import design as find

    chosen = task_argument(task)
    if isinstance(chosen, FunctionTask):
        from separatrix.api.function_design import function_design

        return Designed(function_design(chosen, length, precision, heads))
    return Designed(find(chosen, length, precision, heads, certify=certify))
