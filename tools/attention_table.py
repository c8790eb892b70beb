"""Other attention in the place of the theorems' own: ``python -m tools.attention_table docs/constructions.md`` puts the
table there.

Every construction with attention is built with each kind of attention in every head and otherwise the same weights, at
a length at which all inputs can be tried and at N = 16, and checked. What a cell says holds for every input of the
length, or comes with an input that fails; where neither is known it says so.
"""

import sys
from functools import cache
from pathlib import Path

from tools.pages import replace_table

from separatrix.certificates import Claim, Verdict, check
from separatrix.constructions import Built, Options, constructions
from separatrix.errors import SeparatrixError
from separatrix.networks import Network
from separatrix.networks.weights import SCORINGS, Scoring
from separatrix.tasks import tasks

LONGER = 16


SHORT, MOST_INPUTS = 6, 4096
"""All inputs are tried at the largest length up to this one that has no more inputs than that."""


@cache
def names() -> tuple[str, ...]:
    """The constructions that have attention."""
    return tuple(name for name in constructions() if isinstance(small(name, None).network, Network))


def small(name: str, kind: Scoring | None) -> Built:
    """A construction at a length at which all inputs can be tried, with its task's own small parameters."""
    construction = constructions()[name]
    task = tasks()[construction.task_name]
    options = Options(attention=kind, parameters=dict(task.small))
    for length in range(SHORT, 0, -1):
        try:
            built = construction.build(length, options)
        except SeparatrixError:
            continue
        if built.task.space(length).count <= MOST_INPUTS:
            return built
    raise SeparatrixError(f"{name} has more than {MOST_INPUTS} inputs at every length; give its task small parameters")


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
    replace_table(Path(sys.argv[1]), table())
