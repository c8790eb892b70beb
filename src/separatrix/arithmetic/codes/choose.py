"""Choosing the narrowest sign code for N and γ, and making a code again from its description.

BHBK24 Lemma 2 fixes one width, (8/γ²) ln 2N, for a random draw; here every family proposes codes and the narrowest one
whose measured inner products keep the bound is taken. Nothing a family claims is trusted: a proposal counts only after
its code was built and all its inner products were verified.
"""

from fractions import Fraction
from typing import Any, cast

from separatrix.arithmetic.codes.catalog import families
from separatrix.arithmetic.codes.family import CodeFamily, Proposal
from separatrix.arithmetic.codes.sign_code import QUARTER, Parameters, SignCode
from separatrix.catalog import ExecutedClaim
from separatrix.errors import SeparatrixError

SIGN_CODES = ExecutedClaim(
    "BHBK24 Lemma 2, Corollary 8.1", "sign code", "sign-code", "separatrix code --count 256", __file__
)
FIELDS = ("family", "count", "width", "parameters", "max_inner", "min_inner")


def sign_code(
    count: int,
    max_inner: Fraction = QUARTER,
    two_sided: bool = False,
    family: str | None = None,
) -> SignCode:
    """Return the narrowest code known to the package with ``count`` vectors and inner products at most ``max_inner``.

    With ``two_sided`` they are also at least −``max_inner``. ``family`` restricts the choice to one family.
    """
    check_request(count, max_inner)
    known = families()
    offered = [known[family]] if family is not None else list(known.values())
    proposals = [each for one in offered for each in one.proposals(count, max_inner, two_sided)]
    code = narrowest(proposals, count, max_inner, two_sided)
    if code is None:
        raise SeparatrixError(
            f"no {family or 'known'} sign code holds {count} vectors within {max_inner}"
            f"{' on both sides' if two_sided else ''}; give a smaller count"
            f"{', a larger inner product or another family' if family is not None else ' or a larger inner product'}"
        )
    return code


def narrowest(proposals: list[Proposal], count: int, max_inner: Fraction, two_sided: bool) -> SignCode | None:
    """Return the first proposal by width that holds up when built; among equal widths the smallest description wins.

    What is wider than the one found is not even built.
    """
    best: SignCode | None = None
    for proposal in sorted(proposals, key=lambda each: (each.width, each.family, str(each.parameters))):
        if best is not None and proposal.width > best.width:
            break
        code = families()[proposal.family].build(count, proposal.parameters)
        better = best is None or (code.width, code.description_bits) < (best.width, best.description_bits)
        if better and code.satisfies(max_inner, two_sided):
            best = code
    return best


def code_from_description(data: object) -> SignCode:
    """Return the code that :meth:`SignCode.description` described, built and verified anew.

    Raises :class:`SeparatrixError` when the data is malformed or claims other inner products than the code has.
    """
    if not isinstance(data, dict):
        raise SeparatrixError(f"a code description is an object with {', '.join(FIELDS)}, not {type(data).__name__}")
    entries = cast("dict[str, Any]", data)
    missing = [name for name in FIELDS if name not in entries]
    if missing:
        raise SeparatrixError(f"the code description lacks {', '.join(missing)}; give {', '.join(FIELDS)}")
    count, parameters = entries["count"], entries["parameters"]
    if not isinstance(count, int) or count < 2 or not isinstance(parameters, dict):
        raise SeparatrixError("a code description needs an integer count of at least 2 and an object of parameters")
    family: CodeFamily = families()[str(entries["family"])]
    code = family.build(count, _frozen(cast("dict[str, Any]", parameters)))
    measured = {"width": code.width, "max_inner": str(code.max_inner), "min_inner": str(code.min_inner)}
    wrong = [f"{name} {entries[name]} (is {value})" for name, value in measured.items() if entries[name] != value]
    if wrong:
        raise SeparatrixError(f"the code description claims {', '.join(wrong)}; correct it or describe another code")
    return code


def check_request(count: int, max_inner: Fraction) -> None:
    """Refuse counts and bounds for which the question has no meaning.

    >>> check_request(16, Fraction(3, 2))
    Traceback (most recent call last):
    separatrix.errors.SeparatrixError: max_inner is 3/2; give a fraction strictly between 0 and 1
    """
    if count < 2:
        raise SeparatrixError(f"a sign code needs at least 2 vectors, not {count}; give a larger count")
    if not 0 < max_inner < 1:
        raise SeparatrixError(f"max_inner is {max_inner}; give a fraction strictly between 0 and 1")


def _frozen(parameters: dict[str, Any]) -> Parameters:
    """Lists become tuples, as in the parameters that families propose; anything else is left to their checks."""
    frozen: dict[str, Any] = {}
    for name, value in parameters.items():
        frozen[name] = tuple(cast("list[int]", value)) if isinstance(value, list) else value
    return cast("Parameters", frozen)
