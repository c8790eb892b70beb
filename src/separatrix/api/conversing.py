"""A protocol run on one input of a network: every message, the counted bits next to the claim, both answers."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from separatrix.answer import Answer, Fact, Grid, Sheet, Tone
from separatrix.wording import counted

if TYPE_CHECKING:
    from separatrix.arithmetic import Arithmetic
    from separatrix.communication import Conversation
    from separatrix.networks import AnyNetwork, Integers
    from separatrix.tasks import Task

SHOWN_BITS, SHOWN_INPUT = 24, 200
COLUMNS = ("", "from", "what", "bits", "sent")


@dataclass(frozen=True)
class Subject:
    """The network to run and where its inputs come from; a network file without a certificate has no task."""

    name: str
    network: "AnyNetwork"
    arithmetic: "Arithmetic"
    task: "Task | None"
    length: int


@dataclass(frozen=True, repr=False)
class Conversed(Answer):
    """A conversation of Alice and Bob about one input of a network, by Theorem 2's or Theorem 4's protocol."""

    subject: Subject
    cells: "Integers"
    found: "Conversation"

    def __bool__(self) -> bool:
        """Return whether the protocol found the network's numbers."""
        return self.found.equal

    @property
    def input_text(self) -> str | None:
        """The input as the task writes it."""
        task = self.subject.task
        return None if task is None else task.write(self.cells.tolist(), self.subject.length)

    def as_dict(self) -> dict[str, Any]:
        """Return the conversation as plain data, with what the theorem claims."""
        subject, found, claim, facts = self.subject, self.found, self.found.claim, self.found.one_layer
        what: dict[str, Any] = {
            "version": "one-way", "formula": "m*p",
            "claim": {"formula": "m*p", "m": claim.m, "precision_bits": claim.p, "claimed_bits": claim.bits,
                      "holds": claim.holds},
        }  # fmt: skip
        if facts is not None:
            plan, stated = facts.plan, facts.sufficient
            what = {
                "version": plan.version.name, "about_version": plan.version.about, "products": plan.products,
                "read_position": plan.position, "held_by": plan.holder, "step_bits": plan.step_bits(),
                "formula": "query + maxima + totals + values + answer",
                "claim": {
                    **facts.sizes.as_json(),
                    "sufficient": {"constant": stated.constant, "when": stated.when, "met": stated.met},
                    "told": facts.caveats,
                },
            }  # fmt: skip
        split = found.partition
        return {
            "network": subject.name, "length": subject.length, "positions": subject.network.positions,
            "arithmetic": str(subject.arithmetic),
            "partition": {"name": split.name, "alice": list(split.alice), "bob": list(split.bob)},
            "input": self.cells.tolist(), "input_text": self.input_text, "theorem": found.theorem, **what,
            "bits": found.transcript.total_bits, "formula_bits": found.formula_bits, "answer": found.answer.tolist(),
            "direct_answer": found.direct.answer.tolist(), "equal": found.equal,
            "transcript": found.transcript.as_json(),
        }  # fmt: skip

    def sheet(self) -> Sheet:
        """Show who holds what, the messages, their bits next to the claim, and the answer."""
        subject, found, claim, facts = self.subject, self.found, self.found.claim, self.found.one_layer
        shown = self.input_text or (
            " ".join(map(str, self.cells)) if self.cells.ndim == 1 else str(self.cells.tolist())
        )
        held = (("Alice", found.partition.alice), ("Bob", found.partition.bob))
        who = " and ".join(f"{name} {counted(len(part), 'position')}" for name, part in held)
        rows = tuple(
            (
                str(each.round), each.sender, each.what, str(each.length),
                each.bits if each.length <= SHOWN_BITS else f"{each.bits[:SHOWN_BITS]}…",
            )
            for each in found.transcript.messages
        )  # fmt: skip
        sides: dict[str, Tone] = {"Alice": "alice", "Bob": "bob"}
        tones: dict[tuple[int, int], Tone] = {
            (place, column): sides[each[1]] for place, each in enumerate(rows) for column in (1, 4)
        }
        sizes = f"m = {claim.m}, p = {claim.p}"
        if facts is not None:
            sizes += f", N = {facts.sizes.positions}, H = {facts.sizes.heads}"
        claimed = f"the claimed {'mp' if facts is None else claim.formula} = {claim.bits} ({sizes})"
        within = "within" if claim.holds else "beyond"
        equal = f"protocol and direct evaluation are {'equal bit for bit' if found.equal else 'not equal'}"
        facts_shown = (
            Fact("input", shown if len(shown) <= SHOWN_INPUT else f"{shown[:SHOWN_INPUT]} …"),
            Fact("partition", f"{who} ({found.partition.name})"),
            Fact("numbers", counted(subject.arithmetic.precision_bits, "bit")),
            Fact("sent", f"{counted(found.transcript.total_bits, 'bit')}, {within} {claimed}", _tone(claim.holds)),
            *(Fact("claim", line) for line in ([] if facts is None else facts.caveats)),
            Fact("answer", f"{self._answer()}; {equal}", _tone(found.equal)),
        )
        version = "" if facts is None else f", {facts.plan.version.name}"
        title = f"{subject.name}, length {subject.length}: {found.theorem}{version}"
        return Sheet(title, facts_shown, (Grid("", COLUMNS, rows, tones, ("", "bits")),))

    def _answer(self) -> str:
        task, answer = self.subject.task, self.found.answer.tolist()
        if task is None:
            return str(answer)
        return task.write_answer(answer if isinstance(answer, int) else tuple(answer), self.subject.length)


def _tone(good: bool) -> Tone:
    return "good" if good else "bad"
