"""What an erratum is: a claim, what happens when it is run, the repair, and a function that shows both.

Every file of ``entries`` exports one ``ERRATUM``; its number is that of ``docs/errata.md``. The function runs while the
atlas is built, so that the page shows what came out and not what was written down.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from separatrix.catalog import Catalog, discover
from separatrix.certificates import Claim, Verdict, check, shown_count
from separatrix.constructions import Built, Options, constructions
from separatrix.table.errata import entries

SLIDES = "SHT23 slides"
"""How the source of an erratum begins that is about the talk: of SHT23 its slides were read, not the paper."""
ABOUT_SLIDES = "About the wording of the talk's slides; the paper was not checked for it."


@dataclass(frozen=True)
class Finding:
    """One thing that was run: about the original or the repair, what came out, and whether that is what is claimed."""

    about: Literal["original", "repair"]
    text: str
    holds: bool


@dataclass(frozen=True, kw_only=True)
class Erratum:
    """One entry; ``number`` sorts them, ``command`` shows the same on the command line where there is one."""

    number: int
    source: str
    title: str
    claim: str
    fault: str
    repair: str
    show: Callable[[], tuple[Finding, ...]]
    command: str = ""
    arithmetic: str = "fixed point and integers"

    @property
    def name(self) -> str:
        """E1, E2, …."""
        return f"E{self.number}"

    @property
    def remark(self) -> str:
        """What the entry does not say about: empty, or that only the slides were read."""
        return ABOUT_SLIDES if self.source.startswith(SLIDES) else ""


@cache
def errata() -> Catalog[Erratum]:
    """All errata by name.

    >>> errata()["E1"].number
    1
    """
    return discover("erratum", entries, "ERRATUM", Erratum)


def _decided(construction: str, length: int, variant: str, options: Mapping[str, Any]) -> tuple[Built, Verdict]:
    """One construction's network and the verdict on it."""
    built = constructions()[construction].build(length, Options(variant=variant, **options))
    return built, check(built.network, Claim(built.task, built.length, built.arithmetic))


def refuted(construction: str, length: int, variant: str = "repaired", **options: Any) -> Finding:
    """The original is refuted, with the input that breaks it.

    >>> finding = refuted("equality", 4, "paper")
    >>> finding.about, finding.holds
    ('original', True)
    """
    built, verdict = _decided(construction, length, variant, options)
    shown = "none found"
    if verdict.counterexample is not None:
        text = built.task.write(list(verdict.counterexample), length)
        shown = text if len(text) <= 120 else f"{text[:120]}…"
    kind = _kind(variant, options)
    return Finding("original", f"{construction} at N = {length}{kind} is refuted; wrong on: {shown}", verdict.refuted)


def certified(construction: str, length: int, variant: str = "repaired", **options: Any) -> Finding:
    """The repaired one is certified.

    >>> certified("equality", 4).text
    'equality at N = 4 is certified; inputs covered: 2^4'
    """
    _, verdict = _decided(construction, length, variant, options)
    kind = _kind(variant, options)
    text = f"{construction} at N = {length}{kind} is certified; inputs covered: {shown_count(verdict.inputs_covered)}"
    return Finding("repair", text, verdict.valid)


def _kind(variant: str, options: Mapping[str, Any]) -> str:
    told = [f"variant {variant}"] if variant != "repaired" else []
    told += [f"Kc = {options['exponent']}"] if "exponent" in options else []
    return f" ({', '.join(told)})" if told else ""
