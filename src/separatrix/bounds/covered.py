"""Whether a bound covers a model, by the arithmetic in which the model computes: the gate of every verdict.

A bound turns a model into a protocol, and each way of doing so needs something of the model's arithmetic
(:class:`separatrix.bounds.simulations.Needs`). What an arithmetic offers is data as well
(:class:`Numbers`). :func:`covered` compares the two. BHBK24 Theorem 4 needs sums that are exact before they are
rounded: of a float model it says nothing (E26), unless Alice holds a prefix; then the version for running sums replaces
it, with its own count of bits. Nothing is said of numbers without a fixed number of bits: one exact rational holds any
input.

Every verdict, in ``bound``, ``capacity``, ``profile``, the separation table and on trained models, passes here and
names :attr:`Coverage.arithmetic`. A bound of the catalog goes through :func:`covered`, a simulation that is used by
itself, as ``profile`` does, through :func:`simulation_in`.
"""

from dataclasses import dataclass, replace

from separatrix.arithmetic import arithmetic_named
from separatrix.bounds.bound import ProtocolBound, smallest_number
from separatrix.bounds.simulations import (
    Attention,
    FirstLayer,
    ModelSize,
    Needs,
    Simulation,
    accumulator_bits,
)
from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.tasks import Task


@dataclass(frozen=True)
class Numbers:
    """The arithmetic of a model, as far as protocols depend on it.

    ``fixed_bits``: each number has a fixed number of bits. ``exact_sums``: a sum over positions is rounded once, at its
    end; otherwise after every addition, and then ``running_bits`` are those of the running sum. ``bits``: those of a
    number, where the name says them.
    """

    name: str
    fixed_bits: bool
    exact_sums: bool
    running_bits: int | None = None
    bits: int | None = None


def _rounded(name: str, bits: int) -> Numbers:
    return Numbers(name, fixed_bits=True, exact_sums=False, running_bits=accumulator_bits(bits), bits=bits)


FIXED = Numbers("fixed", fixed_bits=True, exact_sums=True)
"""Fixed point as in BHBK24 B.2, rounded down or to nearest: what the theorems are about."""
NUMBERS: dict[str, Numbers] = {
    "fixed": FIXED,
    "exact": Numbers("exact", fixed_bits=False, exact_sums=True),
    "float64": _rounded("float64", 64),
    "float32": _rounded("float32", 32),
    **{name: _rounded(name, 16) for name in ("bfloat16", "float16")},
    **{name: _rounded(name, 8) for name in ("float8_e4m3fn", "float8_e5m2")},
}
"""The arithmetics that a model can be asked about, by name."""
_FLOATS = {64: "float64", 32: "float32", 16: "bfloat16"}


def numbers_named(name: str) -> Numbers:
    """The arithmetic with this name: one of ``NUMBERS``, ``fixed:down``, ``fixed:nearest``, or the name of an
    :class:`separatrix.arithmetic.Arithmetic` of these kinds, whose bits are then known as well.

    >>> numbers_named("fixed:N=1024,Kc=2,nearest").bits, numbers_named("float32:in-order") == numbers_named("float32")
    (42, True)
    """
    kind, _, more = name.partition(":")
    found = NUMBERS.get(kind)
    if found is None:
        raise UnknownNameError("arithmetic of a model", name, NUMBERS)
    if not more or (kind, more) in (("fixed", "down"), ("fixed", "nearest")):
        return found
    return replace(found, bits=arithmetic_named(name).precision_bits)


def agreed_bits(numbers: Numbers, given: int | None) -> int | None:
    """The bits of a number: those of the arithmetic where its name says them, and then no others may be given.

    >>> agreed_bits(NUMBERS["float64"], None), agreed_bits(FIXED, 20), agreed_bits(FIXED, None)
    (64, 20, None)
    """
    if numbers.bits is None:
        return given
    if given is not None and given != numbers.bits:
        raise SeparatrixError(
            f"--precision {given} and --arithmetic {numbers.name}, whose numbers have {numbers.bits} bits, do not go "
            "together; leave one of them out"
        )
    return numbers.bits


def floating(precision: int) -> Numbers:
    """The floating point of a model that is run by torch, from the bits of its numbers.

    >>> floating(32).name, floating(12).name
    ('float32', 'floating point of 12 bits')
    """
    known = _FLOATS.get(precision)
    return _rounded(f"floating point of {precision} bits", precision) if known is None else NUMBERS[known]


@dataclass(frozen=True)
class SimulationIn:
    """A simulation in an arithmetic: the version to use, None where there is none, and then ``reason`` says why.

    ``arithmetic`` is what a verdict by it holds for.
    """

    simulation: Simulation | None
    arithmetic: str
    reason: str = ""


def simulation_in(simulation: Simulation, numbers: Numbers, *, prefix: bool) -> SimulationIn:
    """The version of a simulation that holds in an arithmetic; ``prefix``: Alice holds the first positions."""
    needs = simulation.needs
    if needs.fixed_bits and not numbers.fixed_bits:
        why = (
            f"{_theorem(simulation)} counts numbers of p bits; {numbers.name} numbers have no fixed number, and "
            "one of them can hold the whole input"
        )
        return SimulationIn(None, numbers.name, why)
    if not needs.exact_sums or numbers.exact_sums:
        return SimulationIn(simulation, _name(needs, numbers))
    running = simulation.with_running_sums()
    if running is None or not prefix:
        why = (
            f"{_theorem(simulation)} adds up scattered positions, which needs sums exact before they are rounded; "
            f"{numbers.name} rounds after every addition, and a running sum remembers more (E26)"
        )
        return SimulationIn(None, numbers.name, why)
    return SimulationIn(running, _name(running.needs, numbers))


@dataclass(frozen=True)
class Coverage:
    """What the gate answers: ``bound`` is the one to use and ``arithmetic`` what it holds for, to be printed with the
    verdict; where ``covered`` is false ``reason`` says why and no verdict may be given.

    ``bound`` differs from the one that was asked about where a version for running sums replaces it.
    """

    covered: bool
    bound: ProtocolBound
    arithmetic: str
    reason: str = ""


def covered(bound: ProtocolBound, numbers: Numbers, task: Task | None = None) -> Coverage:
    """Whether a bound says anything about models that compute in this arithmetic, and which version of it does."""
    found = simulation_in(bound.simulation, numbers, prefix=bound.prefix(bound.task_of(task)))
    if found.simulation is None:
        return Coverage(False, bound, found.arithmetic, found.reason)
    if found.simulation is not bound.simulation:
        # The papers' own formulas are for exact sums.
        bound = replace(bound, simulation=found.simulation, paper=None, paper_in_words="")
    return Coverage(True, bound, found.arithmetic)


def most_partial_sums(bound: ProtocolBound, length: int, size: ModelSize, task: Task | None = None) -> int | None:
    """How many partial sums an order of additions may pass on at the cut so that the bound still excludes a model.

    None where the bound is not one for running sums; 0 where it excludes nothing.

    >>> from separatrix.bounds import bounds
    >>> from separatrix.tasks import tasks
    >>> halves = covered(bounds()["inequality-transformer-1layer"], floating(32), tasks()["equality"]).bound
    >>> most_partial_sums(halves, 8192, ModelSize(width=16, precision=32), tasks()["equality"])
    6
    """
    running = bound.simulation
    if not isinstance(running, Attention | FirstLayer) or not running.partial_sums:
        return None
    needed, setting = bound.required_bits(length, task), bound.setting_at(length, task)
    return smallest_number(lambda many: replace(running, partial_sums=many).bits(size, setting) >= needed) - 1


def _theorem(simulation: Simulation) -> str:
    """The short name of the theorem: "Theorem 4", "SHT23"."""
    words = simulation.theorem.replace(",", " ").replace(":", " ").split()
    return " ".join(words[1:3]) if words[:1] == ["BHBK24"] else words[0]


def _name(needs: Needs, numbers: Numbers) -> str:
    """What a verdict holds for, in words."""
    if needs.exact_sums:
        return "fixed point of p bits, sums over positions exact before they are rounded"
    if needs.step_by_step:
        return "any numbers of p bits, the state passed on step by step"
    if not needs.prefix:
        return "any numbers of p bits"
    return (
        f"{numbers.name}, sums over positions taken in their order, a running sum of {numbers.running_bits} bits "
        "passed on at the cut"
    )
