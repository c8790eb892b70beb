"""Other attention in the place of the theorems' own: ``python -m tools.attention_table`` prints the table of the docs
and ``--write docs/constructions.md`` puts it there.

Every construction with attention is built with each kind of attention in every head and otherwise the same weights, at
a length at which all inputs can be tried and at N = 16, and checked. What a cell says holds for every input of the
length, or comes with an input that fails; where neither is known it says so.
"""

import sys
from dataclasses import dataclass
from functools import cache
from typing import Any

from tools.pages import print_or_write

from separatrix.certificates import Claim, Verdict, check
from separatrix.constructions import Built, Options, constructions
from separatrix.networks import Network
from separatrix.networks.weights import SCORINGS, Scoring

LONGER = 16


@dataclass(frozen=True)
class Small:
    """A length and parameters with few enough inputs to try them all."""

    length: int = 6
    parameters: tuple[tuple[str, Any], ...] = ()


SMALL = {
    "associative-recall": Small(3),
    "directed-3-cycle": Small(4),
    "dyck-float": Small(4),
    "index-lookup": Small(4, (("alphabet", 3),)),
    "match2": Small(3, (("modulus", 7),)),
    "match2-code": Small(3, (("modulus", 7),)),
    "match3": Small(3, (("modulus", 7),)),
    "match3-heads": Small(3, (("modulus", 7),)),
    "match3-last": Small(4, (("modulus", 7),)),
    "match3-local": Small(3, (("modulus", 7), ("window", 1))),
    "mqar": Small(4),
    "nearest-neighbour": Small(4, (("points", "hypercube"), ("dimension", 3), ("margin", "1/3"))),
    "sparse-averaging": Small(3, (("sparsity", 2), ("resolution", 1))),
}


@cache
def names() -> tuple[str, ...]:
    """The constructions that have attention."""
    return tuple(name for name in constructions() if isinstance(small(name, None).network, Network))


def small(name: str, kind: Scoring | None) -> Built:
    """A construction at its small length."""
    chosen = SMALL.get(name, Small())
    options = Options(attention=kind, parameters=dict(chosen.parameters))
    return constructions()[name].build(chosen.length, options)


def verdict_of(built: Built) -> Verdict:
    """The checker's verdict."""
    return check(built.network, Claim(built.task, built.length, built.arithmetic))


def word(verdict: Verdict) -> str:
    """A verdict in one word or two."""
    return "certified" if verdict.valid else "refuted" if verdict.refuted else "not decided"


def cell(name: str, kind: Scoring) -> str:
    """What is known at both lengths."""
    short, longer = small(name, kind), constructions()[name].build(LONGER, Options(attention=kind))
    words = [word(verdict_of(built)) for built in (short, longer)]
    if words[0] == words[1]:
        return words[0]
    return f"{words[0]} at {short.length}, {words[1]} at {LONGER}"


def table() -> str:
    """The table in Markdown."""
    rows = [f"| construction | {' | '.join(SCORINGS)} |", "|---|" + "---|" * len(SCORINGS)]
    rows += [f"| {name} | {' | '.join(cell(name, kind) for kind in SCORINGS)} |" for name in names()]
    return "\n".join(rows)


if __name__ == "__main__":
    sys.exit(print_or_write(table(), sys.argv[1:]))
