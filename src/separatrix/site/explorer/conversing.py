"""A protocol on one input, message by message: BHBK24 Theorem 4 for one attention layer, Theorem 2 for a recurrence."""

from separatrix.communication import Transcript, hold_conversation, read_position
from separatrix.networks import Network
from separatrix.site.explorer.building import answer_text, built, cells_of, keeps_promise, symbols_of
from separatrix.site.explorer.limits import ExplorerError
from separatrix.site.explorer.replies import MessageReply, ProtocolReply, ShownInput
from separatrix.site.explorer.requests import Converse
from separatrix.site.pages.formulas import equation, prose

ONE_WAY = "Alice sends the state after her prefix, Bob continues from there"
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
    promised = keeps_promise(made.task, cells, made.length)
    found = hold_conversation(
        network, cells, made.arithmetic, request.partition or None, version=request.version, products=request.products,
        position=read_position(network, made.task, cells, made.length) if promised else None,
    )  # fmt: skip
    facts, split = found.one_layer, found.partition
    return ProtocolReply(
        theorem=found.theorem, about_version=ONE_WAY if facts is None else facts.plan.version.about,
        partition=split.name, alice=list(split.alice), needs_cut=facts is None,
        input=ShownInput(
            text=made.task.write(cells.tolist(), made.length), symbols=symbols_of(cells, made.task, made.length)
        ),
        precision_bits=made.arithmetic.precision_bits, formula=equation(found.claim.formula),
        claimed_bits=found.claim.bits,
        caveats=[prose(each) for each in (facts.caveats if facts else ())],
        answer=answer_text(made, found.answer.tolist()), direct_answer=answer_text(made, found.direct.answer.tolist()),
        equal=found.equal, total_bits=found.transcript.total_bits, messages=_messages(found.transcript),
    )  # fmt: skip


def _messages(transcript: Transcript) -> list[MessageReply]:
    return [
        MessageReply.model_validate(
            {**each.as_json(), "bits": each.bits[:LARGEST_BITS], "shown": min(each.length, LARGEST_BITS)}
        )
        for each in transcript.messages
    ]
