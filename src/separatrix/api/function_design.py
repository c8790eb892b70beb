"""``sx.design`` for a function of your own: the rows of a design from all its values at one length."""

from dataclasses import replace

from separatrix.api.function_bound import ATTENTION, RECURRENT, fewest_states, profiled
from separatrix.bit_counts import bits_for
from separatrix.capacities import Preset, capacity, presets
from separatrix.errors import SeparatrixError
from separatrix.profiles import FunctionTask, Profile, exclusion
from separatrix.table import Design, Enough, Judged, Need, Outcome, Row, certify_sparse_form


def function_design(task: FunctionTask, length: int, precision: int, heads: int) -> Design:
    """Return what the function needs at exactly this length, counted on all its inputs."""
    if heads != 1:
        raise SeparatrixError(f"--heads {heads} is for the tasks of the papers; of a function leave it out")
    found = profiled(task, length, precision)
    here = found.lengths[-1]
    before = "⌈log2 of the residual classes⌉ before the last position"
    passed_on = Need("bits of memory", here.handed_on, before, "BHBK24 Theorem 2", False, RECURRENT)
    kept = (passed_on,) if here.handed_on else ()
    back = here.reads_back
    farthest = f"the output depends on the position {back} before the last"
    reach = (Need("positions back", back, farthest, "elementary", False, "any numbers"),) if back else ()
    classes = f"⌈log2 of {max(found.residuals.classes):,} residual classes⌉ after some prefix"
    automaton = _automaton(found)
    sparse = _sparse(found)
    rows = (
        Row(
            "recurrent",
            (Need("state bits", here.state_bits, classes, "BHBK24 Theorem 2", False, RECURRENT),),
            (automaton,),
        ),
        Row("windows", (*reach, *kept), (), "windows that cover the whole text"),
        Row("one-layer", _one_layer(found), ()),
        Row("two-layer", kept, sparse, "no lower bound on the width is known"),
        Row("hybrid", kept, (automaton,), "the other layers may do nothing"),
    )
    judged = tuple(_judged(each, found) for each in presets().values())
    return Design(task, length, precision, heads, rows, judged)


def _one_layer(found: Profile) -> tuple[Need, ...]:
    if found.need is None or found.need.width == 1:
        return ()
    bits = f"the best partition found needs {found.need.bits:,} bits of communication"
    return (Need("width of one head", found.need.width, bits, "BHBK24 Theorem 4, repaired", False, ATTENTION),)


def _automaton(found: Profile) -> Enough:
    states, where = fewest_states(found)
    bits = max(1, bits_for(states))
    how = f"an automaton of {states:,} states computes it {where}"
    return Enough("automaton", "counted here", "fact", 1, 1, bits, 1, bits, how, memory_bits=bits)


def _sparse(found: Profile) -> tuple[Enough, ...]:
    if found.sparse is None:
        return ()
    made = certify_sparse_form(found.sparse.function, found.length)
    if not made.certified:
        return ()
    bits = made.width * made.precision_bits * made.heads
    how = f"BHBK24 Theorem 13 on its sparse form: {found.sparse.in_words()}"
    return (
        Enough(
            "theorem-13", made.theorem, "certified", made.layers, made.heads, made.width,
            made.precision_bits, bits, how, model_width=made.width, certified_length=found.length,
        ),
    )  # fmt: skip


def _judged(preset: Preset, found: Profile) -> Judged:
    card = capacity(preset.describe(), only=())
    ending = exclusion(replace(found, lengths=found.lengths[-1:]), card)
    outcome = (
        Outcome.UNKNOWN if ending.quantity is None else Outcome.PASSES if ending.first is None else Outcome.EXCLUDED
    )
    return Judged(preset.name, outcome, ending.in_words(), ending.needs, ending.has, card.model.trained_length)
