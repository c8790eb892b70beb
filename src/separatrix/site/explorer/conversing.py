"""A protocol on one input, message by message: BHBK24 Theorem 4 for one attention layer, Theorem 2 for a recurrence."""

from typing import Any

from separatrix.communication import (
    VERSIONS,
    Partition,
    Transcript,
    caveats,
    compare,
    condition,
    one_layer_directly,
    parse_partition,
    recurrent_directly,
    run_one_layer,
    run_recurrent,
)
from separatrix.constructions import Built
from separatrix.networks import Integers, Network, RecurrentNetwork
from separatrix.site.explorer.building import answer_text, built, cells_of, keeps_promise, labels_of, symbols_of
from separatrix.site.explorer.limits import ExplorerError
from separatrix.site.explorer.requests import Converse

LARGEST_BITS = 4096
"""Bits of a message that are sent to the page; the rest is counted, not shown."""


def converse(request: Converse) -> dict[str, Any]:
    """All messages, what they cost beside what the theorem allows, and that the answer is the network's own."""
    made = built(request.setting)
    network = made.network
    if request.setting.numbers == "reals":
        raise ExplorerError("messages are bits, so that a protocol needs numbers of finitely many; choose fixed point")
    if isinstance(network, Network) and network.reads_graphs:
        raise ExplorerError(
            "graph attention weighs pairs of vertices, which no partition of positions splits; choose another "
            "construction"
        )
    cells = cells_of(request.input, made.task, made.length)
    recurrent = isinstance(network, RecurrentNetwork)
    split = parse_partition(request.partition or ("halves" if recurrent else "odd-even"), network.positions)
    found = (
        _recurrent(made, network, cells, split)
        if isinstance(network, RecurrentNetwork)
        else _one_layer(made, network, cells, split, request)
    )
    return {
        "partition": {"name": split.name, "alice": list(split.alice)},
        "needs_cut": recurrent,
        "input": {
            "text": made.task.write(cells.tolist(), made.length),
            "symbols": symbols_of(cells, made.task, made.length),
        },
        "precision_bits": made.arithmetic.precision_bits,
        "width": network.width,
        **found,
    }


def _recurrent(made: Built, network: RecurrentNetwork, cells: Integers, split: Partition) -> dict[str, Any]:
    run = run_recurrent(network, cells, made.arithmetic, split)
    direct = recurrent_directly(run, network, cells, made.arithmetic)
    assert run.answers is not None
    return {
        "theorem": "BHBK24 Theorem 2",
        "version": "one-way",
        "about_version": "Alice sends the state after her prefix, Bob goes on from there",
        "read_position": network.positions - 1,
        "claimed": {"formula": "m·p", "bits": run.formula_bits, "told": []},
        "answer": answer_text(made, run.answers[-1].tolist()),
        "direct_answer": answer_text(made, direct.answer.tolist()),
        "equal": direct.equal,
        **_messages(run.transcript),
    }


def _one_layer(made: Built, network: Network, cells: Integers, split: Partition, request: Converse) -> dict[str, Any]:
    position = request.position
    if position is None and network.readout.at == "every":
        position = _last_read(made, cells)
    run = run_one_layer(
        network, cells, made.arithmetic, split,
        version=request.version, products=request.products, position=position,
    )  # fmt: skip
    plan = run.plan
    direct = one_layer_directly(run, cells)
    claim = compare(plan, run.transcript.total_bits)
    told = caveats(claim, condition(plan))
    return {
        "theorem": "BHBK24 Theorem 4",
        "version": plan.version.name,
        "about_version": VERSIONS[plan.version.name].about,
        "read_position": plan.position,
        "claimed": {"formula": "3m(p + log N)H", "bits": claim.claimed(), "told": told},
        "answer": answer_text(made, run.answer.tolist()),
        "direct_answer": answer_text(made, direct.answer.tolist()),
        "equal": direct.equal,
        **_messages(run.transcript),
    }


def _last_read(made: Built, cells: Integers) -> int | None:
    """The last position at which the task asks for an answer; None, for the last of all, where nothing is promised."""
    if not keeps_promise(made.task, cells, made.length):
        return None
    _, places = labels_of(made.task, cells, made.length)
    return places[-1] if places else None


def _messages(transcript: Transcript) -> dict[str, Any]:
    listed = [
        {**each.as_json(), "bits": each.bits[:LARGEST_BITS], "shown": min(each.length, LARGEST_BITS)}
        for each in transcript.messages
    ]
    return {"total_bits": transcript.total_bits, "messages": listed}
