"""The automaton of a recurrent network, found by running its cell: the states that any input reaches, and how."""

import numpy

from separatrix.arithmetic import Arithmetic, RawArray
from separatrix.certificates import written_answer
from separatrix.constructions import Built
from separatrix.networks import Integers, RecurrentCell, RecurrentNetwork, decode
from separatrix.site.explorer.replies import AutomatonReply, Move, StateAbout

MOST_STATES = 24
"""More are not drawn."""
MOST_REACHED = 1024


def automaton_of(made: Built, cells: Integers, arithmetic: Arithmetic) -> AutomatonReply | None:
    """Return the states that inputs reach, the moves between them, and the walk of one input.

    States that give the same answers on every continuation are one. None for Transformers, and where the states are
    too many to draw.
    """
    network = made.network
    if not isinstance(network, RecurrentNetwork):
        return None
    cell = RecurrentCell(network, arithmetic)
    symbols = made.task.vocabulary(made.length).texts(list(range(network.vocabulary)))
    numbers, held, words, after = {_name(cell.initial): 0}, [cell.initial], [""], list[list[int]]()
    while len(after) < len(held) <= MOST_REACHED:
        here = numpy.broadcast_to(held[len(after)], (network.vocabulary, network.width))
        found = cell.step(here, numpy.arange(network.vocabulary))
        for symbol, state in zip(symbols, found, strict=True):
            if numbers.setdefault(_name(state), len(held)) == len(held):
                held.append(state)
                words.append(words[len(after)] + symbol)
        after.append([numbers[_name(state)] for state in found])
    if len(held) > MOST_REACHED:
        return None
    answers = decode(network, cell.read(numpy.stack(held)), arithmetic).tolist()
    kinds = _merged([str(each) for each in answers], after)
    if max(kinds) >= MOST_STATES:
        return None
    first = [kinds.index(kind) for kind in range(max(kinds) + 1)]
    moves: dict[tuple[int, int], list[str]] = {}
    for kind, number in enumerate(first):
        for symbol, target in zip(symbols, after[number], strict=True):
            moves.setdefault((kind, kinds[target]), []).append(symbol)
    walk, number = [0], 0
    for token in cells:
        number = after[number][int(token)]
        walk.append(kinds[number])
    return AutomatonReply(
        states=[
            StateAbout(word=words[number], answer=written_answer(made.task, answers[number], made.length))
            for number in first
        ],
        moves=[Move(start=start, end=end, symbols=by) for (start, end), by in moves.items()],
        walk=walk,
    )


def _merged(answers: list[str], after: list[list[int]]) -> list[int]:
    """Number the classes of states that no continuation tells apart (Moore's algorithm), in the order of the states."""
    kinds = [list(dict.fromkeys(answers)).index(each) for each in answers]
    while True:
        seen: dict[tuple[int, ...], int] = {}
        finer = [
            seen.setdefault((kind, *(kinds[each] for each in targets)), len(seen))
            for kind, targets in zip(kinds, after, strict=True)
        ]
        if len(seen) == len(set(kinds)):
            return finer
        kinds = finer


def _name(state: RawArray) -> tuple[object, ...]:
    return tuple(state.tolist())
