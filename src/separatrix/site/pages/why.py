"""Why a task is easy for one class of models and hard for another, in plain sentences for the task's page.

How a network does it is a field of its construction, why a task is hard one of its bound; the evidence on the page
proves both. A task without sentences of its own has those of the communication problem that it encodes.
"""

from separatrix.bounds import FIXED, bounds
from separatrix.constructions import constructions
from separatrix.table import serving


def why(task: str, problem: str, note: str) -> tuple[str, ...]:
    """Return the paragraphs of a task; where there are none, the problem that it encodes; nothing where there is none.

    >>> why("new", "EQ", "the halves are the strings")
    ('What makes it hard is the communication problem EQ inside it: the halves are the strings.',)
    """
    found = [each for each, _ in serving(constructions().values(), task)]
    hard = [each.why for each in bounds().values() if task in each.task_names and each.why]
    # A construction in another arithmetic than the bounds' is an answer to them.
    fixed = [text for each in found if each.arithmetic_kind == FIXED.name for text in each.how]
    others = [text for each in found if each.arithmetic_kind != FIXED.name for text in each.how]
    paragraphs = tuple(dict.fromkeys([*fixed, *hard, *others]))
    if paragraphs or problem == "none":
        return paragraphs
    return (f"What makes it hard is the communication problem {problem} inside it: {note}.",)
