"""A protocol on one input, message by message: BHBK24 Theorem 4 for one attention layer, Theorem 2 for a recurrence."""

from separatrix.communication import (
    VERSIONS,
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
from separatrix.site.explorer.replies import MessageReply, ProtocolReply, ShownInput
from separatrix.site.explorer.requests import Converse
from separatrix.site.pages.formulas import equation, prose

LARGEST_BITS = 4096
"""Bits of a message that the page gets; the rest is counted."""


def converse(request: Converse) -> ProtocolReply:
    """Return all messages, their bits, the theorem's bound, and the answer next to that of a direct run."""
    made = built(request.setting)
    network = made.network
    if request.setting.numbers == "reals":
        raise ExplorerError("messages are bits, so a protocol needs numbers of finitely many bits; choose fixed point")
    if isinstance(network, Network) and network.reads_graphs:
        raise ExplorerError(
            "graph attention weighs pairs of vertices, which no partition of positions splits; choose another "
            "construction"
        )
    cells = cells_of(request.input, made.task, made.length)
    recurrent = isinstance(network, RecurrentNetwork)
    split = parse_partition(request.partition or ("halves" if recurrent else "odd-even"), network.positions)
    if isinstance(network, RecurrentNetwork):
        one_way = run_recurrent(network, cells, made.arithmetic, split)
        direct = recurrent_directly(one_way, network, cells, made.arithmetic)
        assert one_way.answers is not None
        transcript, answer, formula, claimed = one_way.transcript, one_way.answers[-1], "m·p", one_way.formula_bits
        about, warnings = "Alice sends the state after her prefix, Bob goes on from there", list[str]()
    else:
        position = _last_read(made, cells) if network.readout.at == "every" else None
        run = run_one_layer(
            network, cells, made.arithmetic, split,
            version=request.version, products=request.products, position=position,
        )  # fmt: skip
        direct = one_layer_directly(run, cells)
        claim = compare(run.plan, run.transcript.total_bits)
        transcript, answer, formula, claimed = run.transcript, run.answer, "3m(p + log N)H", claim.claimed()
        about, warnings = VERSIONS[run.plan.version.name].about, caveats(claim, condition(run.plan))
    return ProtocolReply(
        theorem="BHBK24 Theorem 2" if recurrent else "BHBK24 Theorem 4", about_version=about,
        partition=split.name, alice=list(split.alice), needs_cut=recurrent,
        input=ShownInput(
            text=made.task.write(cells.tolist(), made.length), symbols=symbols_of(cells, made.task, made.length)
        ),
        precision_bits=made.arithmetic.precision_bits, formula=equation(formula), claimed_bits=claimed,
        caveats=[prose(each) for each in warnings],
        answer=answer_text(made, answer.tolist()), direct_answer=answer_text(made, direct.answer.tolist()),
        equal=direct.equal, total_bits=transcript.total_bits, messages=_messages(transcript),
    )  # fmt: skip


def _last_read(made: Built, cells: Integers) -> int | None:
    """Return the last query position; None, for the last position, where the input breaks the promise."""
    if not keeps_promise(made.task, cells, made.length):
        return None
    _, places = labels_of(made.task, cells, made.length)
    return places[-1] if places else None


def _messages(transcript: Transcript) -> list[MessageReply]:
    return [
        MessageReply.model_validate(
            {**each.as_json(), "bits": each.bits[:LARGEST_BITS], "shown": min(each.length, LARGEST_BITS)}
        )
        for each in transcript.messages
    ]
