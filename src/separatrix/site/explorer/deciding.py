"""Verdicts about all inputs: is a setting certified, refuted by an input that was run, or undecided; and how small η
may be made before the certificate is lost."""

import time
from fractions import Fraction
from typing import cast

from separatrix.certificates import (
    Claim,
    Verdict,
    check,
    check_memory,
    shown_counterexample,
    shown_reason,
    size_of,
    state_of,
)
from separatrix.constructions import Built
from separatrix.site.explorer.building import built, claim_of, command_of, own_gain
from separatrix.site.explorer.limits import ExplorerError
from separatrix.site.explorer.replies import Counterexample, State, ThresholdReply, VerdictReply
from separatrix.site.explorer.requests import Decide, Setting

ETA_STEPS = 64
"""η is searched among the multiples of 1/64 of the theorem default."""


def decide(request: Decide, max_memory: int) -> VerdictReply:
    """Decide the claim of one setting for every input."""
    started = time.perf_counter()
    made = built(request.setting)
    check_memory(made.network, max_memory)
    claim = claim_of(request.setting, made)
    verdict = check(made.network, claim)
    state = cast("State", state_of(verdict))
    return VerdictReply(
        state=state, reason=shown_reason(verdict.reason, claim), method=verdict.method,
        inputs_covered=verdict.inputs_covered, counterexample=_counterexample(made, claim, verdict),
        size=size_of(made.network, claim), command=command_of(request.setting),
        seconds=round(time.perf_counter() - started, 3),
    )  # fmt: skip


def _counterexample(made: Built, claim: Claim, verdict: Verdict) -> Counterexample | None:
    """Run the input that breaks a claim once more."""
    if verdict.counterexample is None:
        return None
    shown = shown_counterexample(made.network, claim, verdict.counterexample)
    return Counterexample(**{name: shown[name] for name in Counterexample.model_fields})


def smallest_gain(request: Decide, max_memory: int) -> ThresholdReply:
    """Find the smallest certified η by bisection between 0 and the theorem default.

    What is reported as certified was certified, and the step below it was tried and was not; that nothing further below
    is certified either is assumed.
    """
    setting = request.setting
    own = own_gain(setting)
    if own is None:
        raise ExplorerError(f"no score of {setting.construction} depends on η; choose another construction")
    check_memory(built(setting).network, max_memory)

    def certified(step: int) -> bool:
        return _holds(setting, own * step / ETA_STEPS)

    top = ETA_STEPS
    if not certified(top):
        raise ExplorerError(
            f"not even the theorem default η = {float(own):.4g} is certified with these numbers; raise Kc first"
        )
    low = 0
    while top - low > 1:
        middle = (top + low) // 2
        if certified(middle):
            top = middle
        else:
            low = middle
    return ThresholdReply(
        own_gain=str(own), smallest_gain=str(own * top / ETA_STEPS), tried_below=str(own * low / ETA_STEPS),
        share=top / ETA_STEPS,
    )  # fmt: skip


def _holds(setting: Setting, gain: Fraction) -> bool:
    changed = setting.model_copy(update={"gain": str(gain)})
    made = built(changed)
    return check(made.network, claim_of(changed, made)).valid
