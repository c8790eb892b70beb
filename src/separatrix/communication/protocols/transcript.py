"""Two parties who can only exchange bits, and the record of what they said.

A party is an object that holds its own part of the input and what is public. It speaks in rounds: in each round it
yields a message or nothing and is handed the bits of the other's message or nothing. :func:`converse` is the only place
where both parties meet, and all it moves between them are strings of zeros and ones, each of which it records first.
So a protocol written this way cannot use what it did not pay for.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from separatrix.errors import SeparatrixError

ALICE = "Alice"
"""The party that begins."""
BOB = "Bob"
"""The other party."""

Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)


@dataclass(frozen=True)
class Outgoing:
    """What a party says in a round: the step of the protocol, what it is in words, and the bits."""

    step: str
    what: str
    bits: str


@dataclass(frozen=True)
class Message:
    """One message: who to whom, in which round and step of the protocol, what it says, and its bits."""

    round: int
    sender: str
    receiver: str
    step: str
    what: str
    bits: str

    def __post_init__(self) -> None:
        if self.bits.strip("01"):
            raise SeparatrixError(f"a message holds zeros and ones, not {self.bits.strip('01')[:20]!r}")

    @property
    def length(self) -> int:
        """How many bits were sent."""
        return len(self.bits)

    def as_json(self) -> dict[str, Any]:
        """Return plain data for machines."""
        return {
            "round": self.round,
            "sender": self.sender,
            "receiver": self.receiver,
            "step": self.step,
            "what": self.what,
            "length": self.length,
            "bits": self.bits,
        }


@dataclass(frozen=True)
class Transcript:
    """All messages of a conversation, in order."""

    messages: tuple[Message, ...]

    @property
    def total_bits(self) -> int:
        """The communication of the protocol."""
        return sum(message.length for message in self.messages)

    @property
    def rounds(self) -> int:
        """How many rounds there were."""
        return max((message.round for message in self.messages), default=0)

    @property
    def one_way(self) -> bool:
        """Whether one party alone sent bits."""
        return len({message.sender for message in self.messages if message.length}) <= 1

    def bits_from(self, sender: str) -> int:
        """Return how many bits one party sent."""
        return sum(message.length for message in self.messages if message.sender == sender)

    def table(self) -> list[dict[str, Any]]:
        """Return one row for each round: the step and the bits of either side."""
        rows: list[dict[str, Any]] = []
        for number in range(1, self.rounds + 1):
            said = [message for message in self.messages if message.round == number]
            sent = {name: sum(each.length for each in said if each.sender == name) for name in (ALICE, BOB)}
            step = said[0].step if said else ""
            rows.append({"round": number, "step": step, **sent, "bits": sum(sent.values())})
        return rows

    def as_json(self) -> dict[str, Any]:
        """Return plain data for machines, bits included."""
        return {
            "total_bits": self.total_bits,
            "bits_from_alice": self.bits_from(ALICE),
            "bits_from_bob": self.bits_from(BOB),
            "one_way": self.one_way,
            "rounds": self.table(),
            "messages": [message.as_json() for message in self.messages],
        }


Speech: TypeAlias = Generator[Outgoing | None, str | None, Result]
"""One party's side: yields what it says in a round, is sent the bits that it hears, returns what it found out."""

Wire: TypeAlias = Callable[[Message], str]
"""What carries a message: gives the bits that arrive. Tests damage messages with it."""


class Party(Protocol[Result_co]):
    """Somebody with a part of the input."""

    def speech(self) -> Speech[Result_co]:  # pyright: ignore[reportInvalidTypeVarUse]
        """Take part in one conversation."""
        ...


@dataclass(frozen=True)
class Conversation(Generic[Result]):
    """What was said, and what either side knows at the end."""

    transcript: Transcript
    alice: Result
    bob: Result


def faithful(message: Message) -> str:
    """Return the wire that changes nothing."""
    return message.bits


def converse(alice: Party[Result], bob: Party[Result], wire: Wire = faithful) -> Conversation[Result]:
    """Let two parties talk until both are done; nothing but recorded bits passes between them."""
    messages: list[Message] = []
    sides = {ALICE: alice.speech(), BOB: bob.speech()}
    heard: dict[str, str | None] = {ALICE: None, BOB: None}
    results: dict[str, Result] = {}
    while len(results) < 2:
        said: dict[str, Outgoing] = {}
        for name, side in sides.items():
            if name in results:
                raise RuntimeError(f"{name} is done and the other is not: the two sides follow different protocols")
            try:
                outgoing = side.send(heard[name])
            except StopIteration as end:
                results[name] = end.value
                continue
            if outgoing is not None:
                said[name] = outgoing
        if results and said:
            raise RuntimeError("a message was sent to somebody who is done")
        heard = {ALICE: None, BOB: None}
        number = 1 + (messages[-1].round if messages else 0)
        for name, outgoing in said.items():
            receiver = BOB if name == ALICE else ALICE
            message = Message(number, name, receiver, outgoing.step, outgoing.what, outgoing.bits)
            messages.append(message)
            heard[receiver] = wire(message)
    return Conversation(Transcript(tuple(messages)), results[ALICE], results[BOB])
