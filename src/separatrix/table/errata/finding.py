"""What comes out when an erratum is run: findings about the original and the repair."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from separatrix.certificates import Claim, Verdict, check, shown_count
from separatrix.constructions import Built, Options, constructions


@dataclass(frozen=True)
class Finding:
    """One thing that was run: about the original or the repair, what came out, and whether that is what is claimed."""

    about: Literal["original", "repair"]
    text: str
    holds: bool


def _decided(construction: str, length: int, variant: str, options: Mapping[str, Any]) -> tuple[Built, Verdict]:
    """Return one construction's network and the verdict on it."""
    built = constructions()[construction].build(length, Options(variant=variant, **options))
    return built, check(built.network, Claim(built.task, built.length, built.arithmetic))


def refuted(construction: str, length: int, variant: str = "repaired", **options: Any) -> Finding:
    """Show that the original is refuted, with the input that breaks it.

    >>> finding = refuted("equality", 4, "paper")
    >>> finding.about, finding.holds
    ('original', True)
    """
    built, verdict = _decided(construction, length, variant, options)
    example = "none found"
    if verdict.counterexample is not None:
        text = built.task.write(list(verdict.counterexample), length)
        example = text if len(text) <= 120 else f"{text[:120]}…"
    kind = _kind(variant, options)
    return Finding("original", f"{construction} at N = {length}{kind} is refuted; wrong on: {example}", verdict.refuted)


def certified(construction: str, length: int, variant: str = "repaired", **options: Any) -> Finding:
    """Show that the repaired one is certified.

    >>> certified("equality", 4).text
    'equality at N = 4 is certified; inputs covered: 2^4'
    """
    _, verdict = _decided(construction, length, variant, options)
    kind = _kind(variant, options)
    text = f"{construction} at N = {length}{kind} is certified; inputs covered: {shown_count(verdict.inputs_covered)}"
    return Finding("repair", text, verdict.valid)


def _kind(variant: str, options: Mapping[str, Any]) -> str:
    parts = [f"variant {variant}"] if variant != "repaired" else []
    parts += [f"Kc = {options['exponent']}"] if "exponent" in options else []
    return f" ({', '.join(parts)})" if parts else ""
