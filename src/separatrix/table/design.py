"""The inverse question: what a task of one length needs at least, what is enough, and which published models pass.

Everything comes from the catalogs. *At least*: the bounds of :mod:`separatrix.bounds` for a task and a
length. *Enough*: the constructions, built at that length with all their weights and certified for every input, and
facts that need no theorem (``bounds/upper_bounds.py``). *Presets*: the card of each
(:mod:`separatrix.capacities`) at that length. Five designs are asked about:

- ``recurrent``: a state of fixed size, any update, one pass (BHBK24 Theorem 2).
- ``windows``: local attention alone; what an answer depends on must be within the sum of the windows (elementary).
- ``one-layer``: one layer of softmax attention (Theorem 4).
- ``two-layer``: two of them. No bound on their width is known (Corollary 13.1 is a barrier), but a causal one
  continues from its cache, which therefore holds as many bits as one-way protocols need.
- ``hybrid``: states and caches of any layers; together they hold those bits.

What it needs is in ``design_needs``, what is enough in ``design_enough``, the presets in ``design_presets``.
"""

from collections.abc import Iterable

from separatrix.bit_counts import OWN_PRECISION
from separatrix.capacities import Preset, presets
from separatrix.errors import SeparatrixError
from separatrix.table.design_enough import BuiltHere, built_here, enough
from separatrix.table.design_needs import kept_need, needs, reach_need
from separatrix.table.design_presets import judged
from separatrix.table.design_record import CLASSES, Design, Enough, Kind, Row
from separatrix.tasks import Task

LARGEST_LENGTH = 1 << 40
LARGEST_PRECISION = 4096


def design(
    task: Task,
    length: int,
    precision: int = OWN_PRECISION,
    heads: int = 1,
    *,
    certify: bool = False,
    models: Iterable[Preset] | None = None,
) -> Design:
    """Return what a task of a length needs, what is enough, and which presets pass; ``precision`` and ``heads`` are
    those of the models that the lower bounds speak about. With ``certify`` every network is certified at the length
    itself. ``models``: the presets to judge, all where it is left out.

    >>> from separatrix.tasks import tasks
    >>> found = design(tasks()["majority"], 64)
    >>> [each.name for each in found.row("recurrent").enough][0]
    'counts'
    """
    _check(task, length, precision, heads)
    models = presets().values() if models is None else models
    built = built_here(task, length, certify)
    recurrent = Row("recurrent", needs(task, "rnn", length, precision, heads), enough(task, "rnn", length, built))
    one = _attention_row("one-layer", task, length, precision, heads, built)
    two = _attention_row("two-layer", task, length, precision, heads, built)
    kept = kept_need(task, length)
    causal = [each for each in (*one.enough, *two.enough) if each.memory_bits is not None]
    unbounded = "" if two.needs else "no lower bound on the width is known"
    two = Row(two.design, (*two.needs, *kept), two.enough, unbounded)
    rows = (
        recurrent,
        Row("windows", (*reach_need(task, length), *kept), _distinct(causal), "windows that cover the whole text"),
        one,
        two,
        Row("hybrid", kept, _distinct([*causal, *recurrent.enough]), "the other layers may do nothing"),
    )
    return Design(task, length, precision, heads, rows, tuple(judged(each, task, length) for each in models))


def _check(task: Task, length: int, precision: int, heads: int) -> None:
    if not task.minimum_length <= length <= LARGEST_LENGTH or length % task.length_step:
        step = f" in steps of {task.length_step}" if task.length_step > 1 else ""
        raise SeparatrixError(
            f"{task.name} has no inputs of length {length}; choose {task.minimum_length} to 2^40{step}"
        )
    if not 1 <= precision <= LARGEST_PRECISION:
        raise SeparatrixError(f"--precision {precision} is out of range; choose 1 to {LARGEST_PRECISION} bits")
    if not 1 <= heads <= 1 << 20:
        raise SeparatrixError(f"--heads {heads} is out of range; choose 1 to 2^20")


def _attention_row(
    kind: Kind, task: Task, length: int, precision: int, heads: int, built: tuple[BuiltHere, ...]
) -> Row:
    model = CLASSES[kind]
    return Row(kind, needs(task, model, length, precision, heads), enough(task, model, length, built))


def _distinct(found: Iterable[Enough]) -> tuple[Enough, ...]:
    by_name: dict[str, Enough] = {}
    for each in sorted(found, key=lambda one: (one.evidence == "fact", one.memory_bits or one.bits)):
        by_name.setdefault(each.name, each)
    return tuple(by_name.values())
