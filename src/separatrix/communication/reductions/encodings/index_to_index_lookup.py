"""INDEX inside index lookup (BHBK24 Theorem 3, Appendix C.1).

Alice writes her n bits with two symbols of the alphabet, Bob writes his place as the position token; the symbol found
is Alice's bit. N = n.

*Packed*, which the paper does not need: with 2^k of the symbols each of Alice's symbols writes k of her n = N·k bits;
Bob looks up the symbol that holds his place and reads his bit off it. The same maps as without packing serve ``index``,
which is index lookup over two symbols.
"""

import numpy

from separatrix.communication.problem import Integers
from separatrix.communication.reductions.reduction import Reduction, as_given, only_answer
from separatrix.tasks import tasks


def _bob(places: Integers, size: int, task: str = "index-lookup") -> Integers:
    # Position tokens follow the symbols of the alphabet.
    _, first, *_ = tasks()[task].vocabulary(size).starts
    return (first + places)[:, None]


def _packed_alice(bits: Integers, size: int) -> Integers:
    each = _bits_of_symbol()
    return bits.reshape(len(bits), size, each) @ (1 << numpy.arange(each - 1, -1, -1))


def _packed_bob(places: Integers, size: int) -> Integers:
    return _bob(places // _bits_of_symbol(), size)


def _packed_decode(answers: Integers, own: Integers, size: int) -> Integers:
    each = _bits_of_symbol()
    return (only_answer(answers, own, size) >> (each - 1 - own % each)) & 1


def _bits_of_symbol() -> int:
    """⌊log2 |Σ|⌋ of the task's alphabet."""
    return int(tasks()["index-lookup"].parameters()["alphabet"]).bit_length() - 1


REDUCTION = Reduction(
    name="index-to-index-lookup",
    source="BHBK24 Theorem 3, Appendix C.1",
    statement="s_1 … s_N are Alice's bits, the position token is Bob's place; the answer is Alice's bit there",
    problem="INDEX",
    task=lambda size: tasks()["index-lookup"],
    length=lambda size: size,
    alice=as_given,
    bob=_bob,
    decode=only_answer,
    variants=(
        Reduction(
            name="index-to-index",
            source="BHBK24 Appendix B.1",
            statement="the task is INDEX itself",
            problem="INDEX",
            task=lambda size: tasks()["index"],
            length=lambda size: size,
            alice=as_given,
            bob=lambda places, size: _bob(places, size, "index"),
            decode=only_answer,
        ),
        Reduction(
            name="index-to-index-lookup-packed",
            source="not in the papers",
            statement="each symbol writes ⌊log2 |Σ|⌋ of Alice's bits; Bob looks up the symbol of his place and reads "
            "his bit off it",
            problem="INDEX",
            task=lambda size: tasks()["index-lookup"],
            length=lambda size: size,
            bits=lambda size: size * _bits_of_symbol(),
            alice=_packed_alice,
            bob=_packed_bob,
            decode=_packed_decode,
        ),
    ),
)
