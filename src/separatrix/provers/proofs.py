"""From a network and a specification to a proof file that the kernel accepts, or to none."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy

from separatrix.arithmetic import FixedPoint, Floating
from separatrix.networks import (
    NETWORK_FILE,
    AnyNetwork,
    Attention,
    FeedForward,
    Network,
    RecurrentNetwork,
    TableRows,
    ThirdOrderAttention,
    to_bytes,
)
from separatrix.provers.places import stated_places
from separatrix.provers.running import running_sums
from separatrix.tasks import Task, own_specification
from separatrix_kernel.boxes import is_idle, live_coordinates
from separatrix_kernel.checker import FORMAT, Accepted, check
from separatrix_kernel.network import Reader, Transformer
from separatrix_kernel.numbers import Numbers
from separatrix_kernel.reading import RefusedError

MOST_POSITIONS = (1 << 16) + 1
"""Positions of networks that are tried: the kernel takes about a fifth of a millisecond for each."""
MOST_LOOKED_UP = (1 << 20) + 1
"""The same for a lookup whose certificate is asked for; at 2^20 symbols the kernel takes two minutes."""
MOST_TOKENS, MOST_ROWS, MOST_RECALLED = 1 << 14, 1 << 10, (1 << 8) + 1
"""Tokens that are compared; those where keys are rows of a table, each with each; keys and queries of a recall."""
MOST_WINDOWS = (1 << 10) + 1
"""Positions whose windows are searched."""
MOST_TRIPLES = 1 << 21
"""Triples of tokens that are compared one by one."""
MOST_SUMMED = 1 << 20
"""The same for running sums, recurrent networks and sums over sets, which take a few microseconds for each."""
FEW_INPUTS = 1 << 10
"""Inputs that are run one by one where nothing else applies."""


@dataclass(frozen=True)
class Proved:
    """The content of a proof file, and what the kernel says about it."""

    content: dict[str, Any]
    accepted: Accepted


def prove(network: AnyNetwork, task: Task, length: int, arithmetic: object) -> Proved | None:
    """A proof that the network solves the task at this length, checked by the kernel; None where there is none.

    >>> from separatrix.constructions import constructions
    >>> built = constructions()["index-lookup"].build(8)
    >>> prove(built.network, built.task, built.length, built.arithmetic).accepted.inputs_covered
    '64^8*8'
    """
    found = attempt(network, task, length, arithmetic, most_looked_up=MOST_LOOKED_UP)
    return found if isinstance(found, Proved) else None


def attempt(
    network: AnyNetwork,
    task: Task,
    length: int,
    arithmetic: object,
    most_run: int = FEW_INPUTS,
    most_looked_up: int = MOST_POSITIONS,
) -> Proved | str | None:
    """The same, or why the kernel refuses what a prover wrote, or None where none has anything to write.

    Up to ``most_run`` inputs may be run one by one; a lookup may have ``most_looked_up`` positions.
    """
    specification = own_specification(task, length)
    if specification is None:
        return None
    if isinstance(arithmetic, FixedPoint) and arithmetic.softmax_rule == "appendix-d":
        most = most_looked_up if specification["answer"]["kind"] == "select" else MOST_POSITIONS
        if isinstance(network, RecurrentNetwork) or specification["answer"]["kind"] == "named-sums":
            most = MOST_SUMMED
        found = candidates(network, specification, arithmetic, most_run)
    elif isinstance(arithmetic, Floating) and arithmetic.in_order:
        most, found = MOST_SUMMED, running_sums(network, specification)
    else:
        return None
    if network.positions > most:
        return None
    refused = None
    data = to_bytes(network)
    content: dict[str, Any] = {
        "format": FORMAT,
        "task": task.name,
        "parameters": task.parameters(),
        "length": length,
        "arithmetic": str(arithmetic),
        "specification": specification,
        "network": NETWORK_FILE,
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    for proof in found:
        try:
            full = {**content, "proof": proof}
            return Proved(full, check(full, data))
        except RefusedError as refusal:
            refused = refused or str(refusal)
    return refused


def candidates(
    network: AnyNetwork, specification: dict[str, Any], arithmetic: FixedPoint, most_run: int
) -> Iterator[dict[str, Any]]:
    """Proofs worth trying, the quickest to check first."""
    inputs = [range(*run["tokens"]) for run in specification["inputs"] for _ in range(run["count"])]
    if isinstance(network, RecurrentNetwork):
        if specification["answer"]["kind"] == "automaton":
            yield {"rule": "automaton"}
    elif specification["answer"]["kind"] == "automaton":
        yield {"rule": "prefixes", "age": age_of(network)}
    elif network.positions == positions_of(specification["answer"], len(inputs)):
        try:
            statements = stated_layers(network, inputs, specification["answer"], arithmetic)
        except RefusedError:
            # Of a kind that the kernel does not read; no proof would be.
            return
        if statements is not None:
            yield {"rule": "layers", "statements": statements}
    count = 1
    for tokens in inputs:
        count = min(count * len(tokens), most_run + 1)
    if count <= most_run:
        yield {"rule": "enumeration"}


def positions_of(answer: dict[str, Any], tokens: int) -> int:
    """How many positions a network reads where inputs have so many tokens: vertices, cells, or points and labels."""
    if answer["kind"] == "nearest":
        return 2 * answer["points"] - 1
    return answer.get("vertices", answer.get("cells", tokens))


def age_of(network: Network) -> list[int]:
    """The coordinates of a lookup's keys that read what the first attention layer writes: they tell how old a key is.

    >>> from separatrix.constructions import Options, constructions
    >>> age_of(constructions()["dyck-transformer"].build(8, Options(parameters={"depth": 3})).network)
    [2]
    """
    layers = [layer.heads for layer in network.layers if isinstance(layer, Attention)]
    acting = [some for heads in layers if (some := [head for head in heads if head.output.numerators.any()])]
    if len(acting) < 3:
        return []
    counted = numpy.any([head.output.numerators.any(axis=1) for head in acting[0]], axis=0)
    return numpy.nonzero(acting[1][0].key.numerators[:, counted].any(axis=1))[0].tolist()


def stated_layers(
    network: Network, inputs: list[range], answer: dict[str, Any], arithmetic: FixedPoint
) -> list[dict[str, Any]] | None:
    """One statement for each layer of a network with attention, and perhaps once more.

    Where the answer is about tokens that are compared, the first attention must match them.
    """
    asked = answer["kind"]
    idle = idle_layers(network, arithmetic)
    acting = [number for number in range(len(network.layers)) if number not in idle]
    attention = [number for number in acting if not isinstance(network.layers[number], FeedForward)]
    if not 0 < len(attention) <= 2:
        return None
    if asked == "named-sums":
        return [{"kind": "average" if number == attention[0] else "idle"} for number in range(len(network.layers))]
    if asked == "nearby-sums":
        return stated_windows(network, inputs, attention[0], acting)
    first = network.layers[attention[0]]
    assert not isinstance(first, FeedForward)
    matching = asked in ("recall", "sums", "cycles", "nearest")
    summed = network.readout.decoding == "power-sums"
    if matching and not summed and not comparable(network, inputs, answer):
        return None
    places = {"kind": "power-sums" if summed else "match"} if matching else None
    straight = attention[0] == acting[0] and network.readout.at == "last"
    if not matching and straight and isinstance(first, Attention):
        places = stated_places(network, first.heads, inputs, arithmetic, everywhere=len(attention) == 2)
    if places is None:
        return None
    later = "fetch" if asked in ("recall", "nearest") else "count"
    kinds = {number: later if number in attention else "feed-forward" for number in acting}
    stated = [{"kind": kinds.get(number, "idle")} for number in range(len(network.layers))]
    return [places if number == attention[0] else each for number, each in enumerate(stated)]


def stated_windows(
    network: Network, inputs: list[range], attention: int, acting: list[int]
) -> list[dict[str, Any]] | None:
    """The statements about a network that searches windows of tokens in its last feed-forward."""
    if len(inputs) > MOST_WINDOWS or max(map(len, inputs)) > MOST_TOKENS or attention == acting[-1]:
        return None
    kinds = {**dict.fromkeys(acting, "feed-forward"), attention: "windows", acting[-1]: "search"}
    return [{"kind": kinds.get(number, "idle")} for number in range(len(network.layers))]


def comparable(network: Network, inputs: list[range], answer: dict[str, Any]) -> bool:
    """Whether tokens, or points, are so few that the kernel compares them in seconds."""
    if answer["kind"] == "nearest":
        return answer["points"] <= MOST_RECALLED
    rules = [part.rule for part in network.embedding if part.source == "token"]
    rows = max([rule.count for rule in rules if isinstance(rule, TableRows)], default=0)
    recalled = inputs.count(inputs[-1]) if answer["kind"] == "recall" else 0
    pairs = any(isinstance(layer, ThirdOrderAttention) for layer in network.layers)
    tokens = max(map(len, inputs))
    few = tokens <= MOST_TOKENS and rows <= MOST_ROWS and recalled <= MOST_RECALLED
    return few and (not pairs or tokens**3 <= MOST_TRIPLES)


def idle_layers(network: Network, arithmetic: FixedPoint) -> set[int]:
    """The layers that add 0 to every coordinate that matters after them."""
    read = Reader(to_bytes(network), Numbers(str(arithmetic))).network()
    assert isinstance(read, Transformer)
    live = live_coordinates(read)
    return {number for number, layer in enumerate(read.layers) if is_idle(layer, live[number + 1])}
