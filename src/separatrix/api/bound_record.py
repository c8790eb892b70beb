"""The record of ``sx.bound``, and the records in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from separatrix.answer import Answer, Sheet

if TYPE_CHECKING:
    from separatrix.bounds import Evidence


@dataclass(frozen=True, kw_only=True)
class BoundSize:
    """One bound with its numbers; ``kind``: the class of models that it is about here."""

    name: str
    kind: str
    claim: str
    statement: str
    in_the_papers: bool
    from_file: str | None = None
    other_parameters: bool = False
    quantity: str
    at_least: int
    bounded: str
    bits_needed: int
    formula: str
    paper_formula: str | None = None
    paper_at_least: int | None = None
    problem: str | None = None
    reduction: str | None = None
    assumptions: tuple[str, ...]
    deviations: tuple[str, ...] = ()
    arithmetic: str

    @property
    def short(self) -> "ShortBound":
        """Its claim and its size alone."""
        return ShortBound(self.name, self.claim, self.at_least)


@dataclass(frozen=True)
class ShortBound:
    """The claim and the size of a bound."""

    name: str
    claim: str
    at_least: int


@dataclass(frozen=True)
class RefutedBound:
    """A bound of a user's file that was run and does not hold, and why."""

    name: str
    claim: str
    from_file: str
    text: str


@dataclass(frozen=True)
class SilentBound:
    """A bound that does not apply here, and why."""

    name: str
    claim: str
    text: str


@dataclass(frozen=True)
class Remark:
    """A barrier or a conjecture."""

    name: str
    kind: str
    claim: str
    statement: str


@dataclass(frozen=True)
class Sufficient:
    """A sufficient size, and the arithmetic that it is proved in."""

    growth: str
    kind: str
    text: str
    source: str
    arithmetic: str


@dataclass(frozen=True, kw_only=True)
class ModelVerdict:
    """What the bounds say about a model of this size, in its arithmetic: whether it is possible, and up to which
    length.

    ``functions``: the class all of which is impossible, where a bound is about a class and not about one function.
    """

    class_: str
    width: int
    heads: int
    layers: int
    state_bits: int | None
    possible: bool
    excluded_by: tuple[str, ...]
    functions: str = ""
    partial_sums: int | None = None
    arithmetic: tuple[str, ...]
    longest_possible: int | None = None
    assumed: tuple[str, ...]


@dataclass(frozen=True, repr=False, kw_only=True)
class Bounded(Answer):
    """The strongest bound on a model for a task at a length, with its evidence and what else is known.

    ``at_least`` counts the ``quantity``: numbers of a state, or the width of a head; None where no bound is ``known``.
    ``holds``: every piece of evidence was run and held, and no bound of your own was refuted.
    """

    task: str
    parameters: Mapping[str, Any]
    settings: Mapping[str, Any]
    model: str
    length: int
    precision_bits: int
    heads: int
    layers: int
    known: bool
    claim: str
    statement: str | None
    in_the_papers: bool | None
    quantity: str | None
    at_least: int | None
    formula: str | None
    assumptions: tuple[str, ...]
    strongest: ShortBound | None
    strongest_of_the_papers: ShortBound | None
    arithmetic: str
    holds: bool = True
    refuted: tuple[RefutedBound, ...] = ()
    silent: tuple[SilentBound, ...] = ()
    rests_on: tuple[str, ...] = ()
    evidence: "tuple[Evidence, ...]"
    bounds: tuple[BoundSize, ...]
    architecture: ModelVerdict | None
    remarks: tuple[Remark, ...] = ()
    upper_bounds: tuple[Sufficient, ...]

    def __bool__(self) -> bool:
        """Return whether nothing that was run refutes the bound."""
        return self.holds and all(each.holds for each in self.evidence)

    def sheet(self) -> Sheet:
        """Show the claim with its numbers, then the evidence, then what else is known."""
        from separatrix.api.bound_sheet import bound_sheet

        return bound_sheet(self)

    def as_dict(self) -> dict[str, Any]:
        """Return the record as plain data; the numbers of a piece of evidence are next to its text."""
        found = super().as_dict()
        above = found.pop("upper_bounds")
        return {**found, "evidence": [each.described() for each in self.evidence], "known_from_above": above}


def bounded(bounds: Sequence[BoundSize], nothing: str | None, **others: Any) -> Bounded:
    """Return the record that begins with the first bound; ``nothing`` is the claim where no bound is known."""
    first = bounds[0] if bounds and nothing is None else None
    papers = next((each.short for each in bounds if each.in_the_papers), None)
    return Bounded(
        known=first is not None,
        claim=first.claim if first else nothing or "",
        statement=first.statement if first else None,
        in_the_papers=first.in_the_papers if first else None,
        quantity=first.quantity if first else None,
        at_least=first.at_least if first else None,
        formula=first.formula if first else None,
        assumptions=first.assumptions if first else (),
        strongest=max(bounds, key=lambda each: each.at_least).short if first else None,
        strongest_of_the_papers=papers if first else None,
        bounds=tuple(bounds),
        **others,
    )
