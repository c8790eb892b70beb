"""E21: rounding real coordinates costs margin."""

from separatrix.constructions import constructions
from separatrix.table.errata.erratum import Erratum, Finding, certified
from separatrix.tasks import tasks


def show() -> tuple[Finding, ...]:
    """The constant Kc that the rounded coordinates ask for, at two lengths."""
    construction, task = constructions()["nearest-neighbour"], tasks()["nearest-neighbour"]
    exponents = {length: construction.default_exponent(task, length) for length in (16, 256)}
    told = ", ".join(f"Kc = {exponent} at N = {length}" for length, exponent in exponents.items())
    return (
        Finding("repair", f"margin {task.parameters()['margin']}: {told}", min(exponents.values()) >= 2),
        certified("nearest-neighbour", 64),
    )


ERRATUM = Erratum(
    number=21,
    source="BHBK24 Theorem 7",
    title="Rounding real coordinates costs margin",
    claim="Points are real vectors; precision O(log N) suffices.",
    fault="Rounding coordinates to steps of N^−Kc shrinks the first layer's gap by about 2√d·η·N^−Kc.",
    repair="N^Kc of at least about 8η(√d + 1); p = O(log N) then needs γ ≥ N^−c.",
    show=show,
    command="separatrix certify nearest-neighbour --length 64",
)
