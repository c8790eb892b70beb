"""Which published models pass: the card of each preset at the length of a design."""

from separatrix.capacities import Capacity, Preset, capacity
from separatrix.table.design_needs import bounded_as
from separatrix.table.design_record import Judged, Outcome
from separatrix.tasks import Task


def judged(preset: Preset, task: Task, length: int) -> Judged:
    """Return what the card of a preset says about the task at the length, in the formats of its numbers."""
    chosen, _ = bounded_as(task)
    found = capacity(preset.describe(), length=length, only=[chosen])
    outcome, reason, needed, available = _outcome(found, chosen, length)
    return Judged(preset.name, outcome, reason, needed, available, found.model.trained_length)


def _outcome(found: Capacity, task: Task, length: int) -> tuple[Outcome, str, int | None, int | None]:
    limits = [limit for limit in found.limits if limit.scope == "model"]
    excluding = [limit for limit in limits if limit.impossible_at_length]
    if excluding:
        limit = min(excluding, key=lambda each: each.longest or 0)
        reason = f"{limit.claim}: from N = {limit.first_impossible:,} on"
        return Outcome.EXCLUDED, reason, limit.needed_bits, limit.available_bits
    for need in found.needs:
        # A cache has no more entries than the text has positions.
        held = need.state_bits + need.bits_per_token * task.positions(length)
        if need.needed_bits > held:
            return Outcome.EXCLUDED, f"{need.claim}, with the cache as the state", need.needed_bits, held
        reason = f"its caches must keep {need.tokens:,} tokens at least"
        return Outcome.PASSES, reason, need.needed_bits, held
    if limits:
        limit = min(limits, key=lambda each: (each.longest is None, each.longest or 0))
        until = "at every length" if limit.longest is None else f"up to N = {limit.longest:,}"
        return Outcome.PASSES, f"room {until}", limit.needed_bits, limit.available_bits or found.state_bits
    why = next((text for name, text in found.silent if name == task.name), "no bound that covers it speaks of the task")
    return Outcome.UNKNOWN, why, None, None
