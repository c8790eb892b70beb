"""A profile as plain data for machines: what ``separatrix profile --json`` prints."""

from dataclasses import asdict
from typing import Any

from separatrix.bounds import FIXED, ONE_LAYER, simulation_in
from separatrix.profiles.engine import Profile
from separatrix.profiles.partitions import PartitionProfile
from separatrix.profiles.words import PROTOCOL_CONSTANT


def as_record(found: Profile) -> dict[str, Any]:
    """Every number of a profile, with the evidence for it."""
    return {
        "function": found.name,
        "length": found.length,
        "alphabet": {"size": found.alphabet.at(found.length).size, "symbols": found.alphabet.in_words()},
        "kind": found.table.kind,
        "causal": found.table.causal,
        "called": found.function.mode,
        "inputs": f"{found.table.symbols}^{found.length}",
        "values": [str(found.values[number]) for number in sorted(set(found.table.last.tolist()))][:64],
        "residual_classes": list(found.residuals.classes),
        "state_bits": list(found.residuals.bits),
        "minimum_state_bits": found.residuals.minimum_state_bits,
        "hardest_cut": found.residuals.hardest_cut,
        "automaton": _automaton(found),
        "partitions": [_partition(each) for each in found.partitions],
        "one_layer": _one_layer(found),
        "lengths": [asdict(each) for each in found.lengths],
        "skipped": [{"length": length, "reason": reason} for length, reason in found.skipped],
        "sparse_threshold": _sparse(found),
    }


def _automaton(found: Profile) -> dict[str, Any]:
    record: dict[str, Any] = {
        "layered_states": found.residuals.states,
        "fixed_length_dfa_states": found.residuals.automaton_states if found.yes_no else None,
        "all_lengths": None,
    }
    if found.automaton is not None:
        record["all_lengths"] = {
            "states": found.automaton.states,
            "exact": found.automaton.exact,
            "meaning": (
                f"the smallest automaton that agrees on all strings up to length {found.length}"
                if found.automaton.exact
                else f"no automaton with fewer states agrees on all strings up to length {found.length}"
            ),
        }
    return record


def _partition(each: PartitionProfile) -> dict[str, Any]:
    return {
        "name": each.partition.name,
        "alice": list(each.partition.alice),
        "searched": each.searched,
        "distinct_rows": each.rows,
        "distinct_columns": each.columns,
        "one_way_bits": each.one_way_bits,
        "bits": each.bits,
        "rank_bits": each.bound.rank_bits,
        "fooling_bits": each.bound.fooling_bits,
        "cut_to_part": not each.whole,
        "values_in_groups": each.merged,
        "values": [
            {
                "value": value.value,
                "rank_at_least": value.rank_at_least,
                "rank_exact": value.rank is not None and value.rank.exact and each.whole,
                "prime": None if value.rank is None else value.rank.certificate.prime,
                "fooling_set": value.fooling.size,
                "rectangle_size_bound": value.by_size,
            }
            for value in each.bound.values
        ],
    }


def _one_layer(found: Profile) -> dict[str, Any] | None:
    if found.need is None or found.best is None:
        return None
    return {
        "partition": found.best.partition.name,
        "communication_bits": found.need.bits,
        "arithmetic": simulation_in(ONE_LAYER, FIXED, prefix=False).arithmetic,
        "inequality": f"m*H*(p + log2 N) >= {found.need.bits}/{PROTOCOL_CONSTANT} (BHBK24 Theorem 4, E13, m >= 4)",
        "product_at_least": found.need.product,
        "precision_bits": found.need.precision,
        "smallest_width_one_head": found.need.width,
    }


def _sparse(found: Profile) -> dict[str, Any] | None:
    if found.sparse is None:
        return None
    function = found.sparse.function
    return {
        "sparsity": found.sparse.sparsity,
        "form": found.sparse.form,
        "in_words": found.sparse.in_words(),
        "features": found.sparse.features,
        "positions": function.indices.tolist(),
        "tables": function.tables.tolist(),
        "threshold": function.threshold,
    }
