"""``sx.check`` of trained weights: a folder with a weight file and what ``certify`` claims of it."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from separatrix.answer import Answer, Fact, Sheet
from separatrix.api.trained_weights import WEIGHTS_ARITHMETIC
from separatrix.errors import SeparatrixError
from separatrix.extras import require
from separatrix_kernel.cells import SELECTIVE
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.specification import read_specification
from separatrix_kernel.thresholds import CountsAccepted
from separatrix_kernel.trained import WEIGHTS_FILE, TrainedAccepted, check_trained_folder
from separatrix_kernel.two_layers import TwoLayersAccepted
from separatrix_kernel.words import WordsAccepted, read_automaton

Accepted: TypeAlias = TrainedAccepted | CountsAccepted | TwoLayersAccepted | WordsAccepted
PARTS = {TrainedAccepted: "pairs_certified", CountsAccepted: "slices_certified", TwoLayersAccepted: "cases_certified"}

LABEL = 12
"""Columns of the label in each line of the kernel's own words."""


@dataclass(frozen=True, repr=False)
class CheckedWeights(Answer):
    """What the kernel accepted of a certificate of trained weights; ``reason``: why nothing, where nothing.

    ``replayed``: for each counterexample whether torch answers it wrongly, where that was run.
    """

    accepted: Accepted | None
    reason: str
    kernel: dict[str, Any] | None
    seconds: float
    replayed: tuple[bool, ...] | None = None
    arithmetic: str = WEIGHTS_ARITHMETIC

    @property
    def valid(self) -> bool:
        """Whether the kernel accepted the claim."""
        return self.accepted is not None

    def __bool__(self) -> bool:
        """Return whether the claim is valid, and every counterexample that was run again fails."""
        return self.valid and all(self.replayed or ())

    def as_dict(self) -> dict[str, Any]:
        """Return what is claimed and whether it is shown, as plain data."""
        shown = self.accepted
        found: dict[str, Any] = {
            "task": getattr(shown, "task", "index-lookup"), "valid": self.valid,
            "trust": "kernel" if self.valid else None, "kernel": self.kernel, "reason": self.reason,
            "arithmetic": self.arithmetic, "seconds": self.seconds,
        }  # fmt: skip
        if isinstance(shown, WordsAccepted):
            every = "every length but 0" if shown.cell == SELECTIVE else "every length"
            found |= {
                "words": every, "state_bits": shown.bits or None, "sha256": shown.sha256, "boxes": shown.boxes,
            }  # fmt: skip
        elif shown is not None:
            found |= {
                "length": shown.length, "sha256": shown.sha256, "share_certified": str(shown.share),
                "counterexamples": list(map(list, shown.counterexamples)), PARTS[type(shown)]: len(shown.certified),
            }  # fmt: skip
            if isinstance(shown, TrainedAccepted):
                found["alphabet"] = shown.alphabet
        return found if self.replayed is None else {**found, "replayed": list(self.replayed)}

    def sheet(self) -> Sheet:
        """Show the kernel's words of the claim first, then what it relies on and the verdict."""
        from separatrix.certificates import shown_kernel

        if self.accepted is None or self.kernel is None:
            return Sheet(facts=(Fact("verdict", f"not valid: {self.reason}", "bad"),))
        facts = [
            *(Fact(line[:LABEL].strip(), line[LABEL:]) for line in self.accepted.words().splitlines()),
            Fact("relies on", shown_kernel(self.kernel)),
            Fact("verdict", f"valid: right on {self.accepted.share_in_words()}", "good"),
        ]
        if self.replayed is not None:
            again = f"{sum(self.replayed)} of {len(self.replayed)} counterexamples fail in torch"
            facts.append(Fact("replayed", again))
        return Sheet(facts=tuple(facts))


def check_weights(folder: Path, replay: bool) -> CheckedWeights:
    """Check the certificate of trained weights in a folder; ``replay`` runs its counterexamples in torch."""
    if replay:
        require("--replay of a trained model", "torch")
    from separatrix.certificates import relied_on
    from separatrix.progress import report

    started = time.perf_counter()

    def seconds() -> float:
        return round(time.perf_counter() - started, 3)

    try:
        shown = check_trained_folder(folder, lambda done, total: report(f"checking {folder}", done, total))
        check_task(shown)
    except RefusedError as refusal:
        return CheckedWeights(None, str(refusal), None, seconds())
    again = None
    if replay and not isinstance(shown, WordsAccepted):
        again = _replayed((folder / WEIGHTS_FILE).read_bytes(), shown)
    return CheckedWeights(shown, "what it claims is shown", relied_on(rule_of(shown)), seconds(), again)


def rule_of(shown: Accepted) -> str:
    """Return the rule of the kernel that decided, named by its files."""
    if isinstance(shown, TrainedAccepted):
        return "lookup"
    last = ", selective" if isinstance(shown, WordsAccepted) and shown.cell == SELECTIVE else ""
    return type(shown).__module__.rpartition(".")[2] + last


def check_task(shown: Accepted) -> None:
    """Refuse a certificate whose automaton or specification is not that of the task and length that it names."""
    from separatrix.tasks import automaton_of, labelled_task

    if isinstance(shown, TrainedAccepted):
        return
    try:
        task = labelled_task(shown.task)
        if isinstance(shown, WordsAccepted):
            plain = automaton_of(task)
            what, same = "automaton", plain is not None and read_automaton(plain) == shown.automaton
        else:
            task.check_length(shown.length)
            what, same = "specification", read_specification(task.specification(shown.length)) == shown.specification
    except SeparatrixError as error:
        raise RefusedError(f"the certificate's task cannot be read: {error}") from error
    if not same:
        raise RefusedError(f"the certificate's {what} is not that of {shown.task}")


def _replayed(data: bytes, shown: TrainedAccepted | CountsAccepted | TwoLayersAccepted) -> tuple[bool, ...]:
    """Return whether torch answers the stated counterexamples wrongly."""
    from separatrix.models import answers_wrongly, model_from
    from separatrix.tasks import labelled_task, tasks

    model = model_from(data)
    lookup = isinstance(shown, TrainedAccepted)
    task = tasks()["index-lookup"].with_parameters(alphabet=model.classes) if lookup else labelled_task(shown.task)
    return tuple(answers_wrongly(model, task, shown.length, row) for row in shown.counterexamples)
