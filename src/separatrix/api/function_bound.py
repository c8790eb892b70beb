"""Bounds and designs for a function of your own: all its values at a length, counted, in place of a theorem.

The bounds are those of :mod:`separatrix.profiles`: the residual classes of every cut for a recurrent model
(BHBK24 Theorem 2), the best partition found for one attention layer (Theorem 4, repaired). They are about the one
length at which all inputs were evaluated.
"""

from typing import TYPE_CHECKING

from separatrix.api.bound_record import Bounded, BoundSize, ModelVerdict, Sufficient, bounded
from separatrix.bit_counts import bits_for
from separatrix.errors import SeparatrixError
from separatrix.wording import counted

if TYPE_CHECKING:
    from separatrix.bounds import Evidence, Numbers
    from separatrix.profiles import FunctionTask, Profile

COVERED = ("rnn", "transformer-1layer")
RECURRENT = "any numbers of p bits, the state passed on step by step"
ATTENTION = "fixed point: a sum is rounded once"
DETERMINISTIC = "the model is deterministic and correct on every input of length N"


def profiled(task: "FunctionTask", length: int, precision: int) -> "Profile":
    """Return the profile of a task's function, with its alphabet."""
    from separatrix.profiles import ProfileOptions, profile

    return profile(task.name, task.function, length, task.symbols, ProfileOptions(precision=precision))


def function_bound(
    task: "FunctionTask", model: str, length: int, precision: int, heads: int, layers: int, asked: "Numbers | None"
) -> Bounded:
    """Return what a class of models, or one model, needs for a function at a length."""
    from separatrix.profiles import changed_parameters

    named = "(" in model
    if not named and model not in COVERED:
        raise SeparatrixError(
            f"{model} has no bound that is computed for functions; choose {' or '.join(COVERED)}, or a model such as "
            "'LSTM-(1,64)'"
        )
    if asked is not None:
        raise SeparatrixError(
            f"--arithmetic {asked.name} is for the tasks of the papers; of a function leave it out, or ask about a "
            "model such as 'TF-(1,64)', whose own arithmetic counts"
        )
    if model == "transformer-1layer" and heads != 1:
        raise SeparatrixError(
            f"--heads {heads} is for the tasks of the papers; the bound here counts m·H, leave it out"
        )
    found = profiled(task, length, precision)
    excluded = _excluded(found, model, precision) if named else None
    kinds = COVERED if named else (model,)
    bounds = [each for kind in kinds if (each := _bound(found, kind, precision)) is not None]
    if excluded is not None:  # only what is about this model's kind, which the exclusion knows
        bounds = [each for each in bounds if each.kind == excluded.class_]
    return bounded(
        bounds,
        None if bounds else "no partition forces a bit: no bound is known",
        task=task.name,
        parameters=dict(task.parameters()),
        settings=dict(changed_parameters(task)),
        model=model,
        length=length,
        precision_bits=precision,
        heads=heads,
        layers=layers,
        arithmetic=bounds[0].arithmetic if bounds else "any",
        evidence=(_evidence(found),) if bounds else (),
        architecture=excluded,
        upper_bounds=_above(found),
    )


def _bound(found: "Profile", kind: str, precision: int) -> BoundSize | None:
    """Return what a class of models needs by its theorem; None where no partition forces a bit."""
    if kind == "rnn":
        bits = found.residuals.minimum_state_bits
        width = -(-bits // precision)
        claim, quantity, bounded = "Theorem 2, with the residual classes of this function", "state numbers", "m"
        statement = f"{max(found.residuals.classes)} residual classes after some prefix need {bits} bits of state"
        formula = f"m·p = {precision}m ≥ {bits} at N = {found.length}, so m ≥ {width}"
    elif found.need is None or found.best is None:
        return None
    else:
        bits, width = found.need.bits, found.need.width
        claim = "Theorem 4 (repaired), with the best partition found of this function"
        quantity, bounded = "width", "mH(p + log2 N)"
        statement = f"the partition {found.best.partition.name} needs {bits} bits of communication"
        formula = f"{bounded} ≥ {bits}/3 for m ≥ 4 at N = {found.length}, so m ≥ {width} with one head"
    return BoundSize(
        name=f"{found.name} at N = {found.length}", kind=kind, claim=f"BHBK24 {claim}", statement=statement,
        in_the_papers=False, quantity=quantity, at_least=width, bounded=bounded, bits_needed=bits, formula=formula,
        assumptions=(DETERMINISTIC,), arithmetic=RECURRENT if kind == "rnn" else ATTENTION,
    )  # fmt: skip


def _excluded(found: "Profile", model: str, precision: int) -> ModelVerdict:
    """Return what the counts say about one of this package's models at the longest length."""
    from separatrix.api.models import described
    from separatrix.capacities import capacity
    from separatrix.profiles import exclusion

    card = capacity(described(model, precision), precision, only=())
    excluded = exclusion(found, card)
    kind = {"state bits": "rnn", "bits of communication": "transformer-1layer"}.get(str(excluded.quantity), "unbounded")
    layer = card.model.layers[0]
    return ModelVerdict(
        class_=kind,
        width=layer.head_width or layer.width,
        heads=layer.heads or 1,
        layers=sum(each.count for each in card.model.layers),
        state_bits=card.state_bits if kind == "rnn" else None,
        possible=excluded.first is None,
        excluded_by=() if excluded.first is None else (excluded.in_words(),),
        arithmetic=(excluded.arithmetic,) if excluded.arithmetic else (),
        assumed=() if excluded.quantity is not None else (excluded.reason,),
    )


def _evidence(found: "Profile") -> "Evidence":
    from separatrix.bounds import Evidence

    inputs = f"{found.table.symbols}^{found.length}"
    return Evidence("verified", f"counted on all {inputs} inputs of length {found.length}")


def fewest_states(found: "Profile") -> tuple[int, str]:
    """Return the states of the smallest automaton that is known to compute a function, and at which lengths it does."""
    states = found.residuals.automaton_states if found.yes_no else found.residuals.states
    if found.automaton is not None and found.automaton.exact and found.automaton.states <= states:
        return found.automaton.states, f"at every length up to N = {found.length}"
    return states, f"at exactly N = {found.length}"


def _above(found: "Profile") -> tuple[Sufficient, ...]:
    """List recurrent models that compute it: the residual class as the state, whose update depends on time as Theorem 2
    allows, and the smallest automaton that is known, whose update does not."""
    states, where = fewest_states(found)
    known = [(max(1, bits_for(states)), f"an automaton of {states} states computes it {where}")]
    if found.table.kind == "decision":
        text = f"the residual class as the state, with an update that depends on time, at exactly N = {found.length}"
        known.append((found.residuals.minimum_state_bits, text))
    return tuple(
        Sufficient(f"{counted(bits, 'bit')} of state", "fact", text, "counted here", RECURRENT)
        for bits, text in sorted(known, key=lambda each: each[0])
    )
