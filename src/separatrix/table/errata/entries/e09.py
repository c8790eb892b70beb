"""E9: the slides' dual certificates are wider than they need to be."""

from separatrix.constructions import Options, constructions
from separatrix.table.errata.erratum import Erratum, Finding, certified

LENGTH = 64


def show() -> tuple[Finding, ...]:
    """Width with the bound 1/2 outside a set, and with a bound below 1."""
    widths = {
        variant: constructions()["sparse-averaging"].build(LENGTH, Options(variant=variant)).network.width
        for variant in ("half", "repaired")
    }
    return (
        Finding(
            "original",
            f"at N = {LENGTH}, q = 3 least-norm certificates bounded by 1/2 make a network of width {widths['half']}",
            widths["half"] > widths["repaired"],
        ),
        Finding(
            "repair",
            f"bounded by q/(q + 1) they make one of width {widths['repaired']}",
            widths["repaired"] < widths["half"],
        ),
        certified("sparse-averaging", LENGTH),
    )


ERRATUM = Erratum(
    number=9,
    source="SHT23 slides, q-sparse averaging",
    title="Dual certificates need not stay below 1/2",
    claim="Dual certificates with inner products of 1 on a set and at most 1/2 outside it, in O(q log N) dimensions.",
    fault="The least-norm certificate needs many dimensions for 1/2, more than N at small sizes.",
    repair="Any bound below 1 serves with a larger gain: q/(q + 1) here.",
    show=show,
    command=f"separatrix certify sparse-averaging --length {LENGTH} --variant half",
)
