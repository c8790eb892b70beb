"""A capacity as plain data, for ``--json`` and the atlas."""

from dataclasses import asdict
from typing import Any

from separatrix.capacities.coverage import cited
from separatrix.capacities.layers import StatePart
from separatrix.capacities.number_formats import Bits, layer_bits, part_bits
from separatrix.capacities.report import Capacity


def plain(found: Capacity) -> dict[str, Any]:
    """Everything about a model's capacity, ready for JSON.

    >>> from separatrix.capacities import capacity, describe
    >>> plain(capacity(describe("lstm-3-256"), precision=32))["state_bits"]
    49152
    """
    model = found.model
    return {
        "model": model.name,
        "family": model.family,
        "source": model.source,
        "evidence": model.evidence,
        "notes": list(model.notes),
        "trained_length": model.trained_length,
        "passes": model.passes,
        "precision_bits": found.precision,
        "precision_from": found.numbers.because,
        "precision_source": found.numbers.source,
        "guessed": found.guessed,
        "length": found.length,
        "layers": [
            {
                "kind": layer.kind,
                "name": layer.name,
                "count": layer.count,
                "width": layer.width,
                "heads": layer.heads,
                "head_width": layer.head_width,
                "key_value_heads": layer.key_value_heads,
                "window": layer.window,
                "shared": layer.shared,
                "state_numbers": layer.state_numbers,
                "state_bits": None if layer.state_numbers is None else layer_bits(model, layer.state, found.given),
                "state": [_part(part, part_bits(model, part, found.given)) for part in layer.state],
                "cache": [_part(part, part_bits(model, part, found.given)) for part in layer.cache],
            }
            for layer in model.layers
        ],
        "memory": {
            "fixed_bytes": found.memory.fixed,
            "bytes_per_token": found.memory.per_token / found.memory.per_tokens,
            "complete": found.memory.complete,
            "bytes_at": {str(length): size for length, size in found.bytes_at.items()},
            "states_cheaper": None if (crossing := found.crossover) is None else asdict(crossing),
        },
        "causal": model.causal,
        "budget": {"tokens": found.budget.tokens, "bits": found.budget.bits, "window": found.budget.window},
        "cache_needs": [{**asdict(need), "impossible": need.impossible} for need in found.needs],
        "state_numbers": model.state_numbers,
        "state_bits": found.state_bits,
        "bounded_state_bits": found.bounded_state_bits,
        "reach": model.reach,
        "bounds_apply": list(found.applies),
        "reason": found.reason,
        "cited": [asdict(each) for each in cited(model)],
        "limits": [
            {
                "task": limit.task,
                "parameters": dict(limit.parameters),
                "scope": limit.scope,
                "layer": limit.layer,
                "class": limit.model,
                "bound": limit.bound,
                "claim": limit.claim,
                "in_the_papers": limit.in_the_papers,
                "from_file": limit.from_file or None,
                "needs": limit.needs,
                "arithmetic": limit.arithmetic,
                "longest_possible": limit.longest,
                "first_impossible": limit.first_impossible,
                "at_length": limit.at_length,
                "needed_bits": limit.needed_bits,
                "available_bits": limit.available_bits,
                "impossible_at_length": limit.impossible_at_length,
            }
            for limit in found.limits
        ],
        "arithmetic": found.arithmetic.name,
        "not_covered": [{"task": task, "reason": reason} for task, reason in found.silent],
        "refuted": [{"task": task, "text": text} for task, text in found.refuted],
        "caveats": list(found.caveats),
    }


def _part(part: StatePart, bits: Bits) -> dict[str, Any]:
    return {
        "name": part.name,
        "numbers": part.numbers,
        "formula": part.formula,
        "per": part.per,
        "of": part.size,
        "held_and_unread": part.unread,
        "bits_of_a_number": bits.bits,
        "source": bits.source,
        "because": bits.because,
    }
