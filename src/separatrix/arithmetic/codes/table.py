"""Widths side by side: every family, the Delsarte limit, and the random draw of BHBK24 Lemma 2.

This is the table behind erratum E1 of the claims list: the random draw wastes width. Each width in it belongs to a code
that was built and verified while the table was made.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from separatrix.arithmetic.codes.catalog import families
from separatrix.arithmetic.codes.choose import check_request, narrowest
from separatrix.arithmetic.codes.delsarte import DelsarteBound, delsarte_width
from separatrix.arithmetic.codes.random_draw import drawn_width, paper_width
from separatrix.arithmetic.codes.sign_code import QUARTER, SignCode
from separatrix.errors import SeparatrixError


@final
@dataclass(frozen=True)
class CodeRow:
    """What is known about one N: a width per family (None where it has no code), the best code and the limits.

    ``drawn`` is the width of the narrowest random draw, where one was searched for.
    """

    count: int
    max_inner: Fraction
    two_sided: bool
    widths: Mapping[str, int | None]
    best: SignCode
    limit: DelsarteBound
    drawn: int | None
    paper_width: int

    @property
    def optimal(self) -> bool:
        """Whether the best code is proved narrowest: its width is the Delsarte limit."""
        return self.best.width == self.limit.width


def code_table(counts: Iterable[int], max_inner: Fraction = QUARTER, two_sided: bool = False) -> tuple[CodeRow, ...]:
    """Return one row per N; every code in it is built and verified."""
    return tuple(_row(count, max_inner, two_sided) for count in counts)


def _row(count: int, max_inner: Fraction, two_sided: bool) -> CodeRow:
    check_request(count, max_inner)
    codes = {
        name: narrowest(list(family.proposals(count, max_inner, two_sided)), count, max_inner, two_sided)
        for name, family in families().items()
    }
    built = [code for code in codes.values() if code is not None]
    if not built:
        raise SeparatrixError(
            f"no sign code holds {count} vectors within {max_inner}; give a smaller count or a larger inner product"
        )
    return CodeRow(
        count,
        max_inner,
        two_sided,
        {name: None if code is None else code.width for name, code in codes.items()},
        min(built, key=lambda code: (code.width, code.description_bits)),
        delsarte_width(count, max_inner, two_sided),
        None if two_sided or max_inner < QUARTER else drawn_width(count),
        paper_width(count, max_inner),
    )
