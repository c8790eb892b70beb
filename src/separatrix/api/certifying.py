"""``sx.certify`` and ``sx.check``: a theorem's network proved for every input, and a proof checked from its files."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from separatrix.answer import Answer, Fact, Sheet, Tone
from separatrix.api.arguments import checked
from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.wording import counted

if TYPE_CHECKING:
    from separatrix.api.trained_check import CheckedWeights
    from separatrix.arithmetic import Arithmetic
    from separatrix.constructions import Options
    from separatrix.networks import AnyNetwork

BALL_BITS = 128
KEEP = "give --out FOLDER to keep network and input"
TONES: dict[str, Tone] = {"certified": "good", "refuted": "bad", "undecided": "doubt"}


@dataclass(frozen=True, repr=False)
class Certified(Answer):
    """What was decided about a theorem's network; ``certified`` only where every input of the length is answered."""

    claim: str
    construction: str
    task: str
    length: int
    layers: int
    heads: int
    width: int
    precision_bits: int
    size_bits: int
    arithmetic: str
    inputs_covered: str
    method: str
    trust: str | None
    state: str
    certified: bool
    reason: str
    reasons: tuple[str, ...]
    counterexample: tuple[Any, ...] | None
    counterexample_shown: dict[str, Any] | None
    seconds: float
    claimed_width: int | None
    width_as_claimed: bool | None
    own: bool
    own_task: bool
    certificate: str | None
    refutation: str | None
    reason_shown: str

    def __bool__(self) -> bool:
        """Return whether the network is certified, and no wider than its claim says."""
        return self.certified and self.width_as_claimed is not False

    def as_dict(self) -> dict[str, Any]:
        """Return the record as plain data; the reason is that of the checker."""
        return {name: value for name, value in super().as_dict().items() if name != "reason_shown"}

    def sheet(self) -> Sheet:
        """Show claim, verdict, size and files."""
        from separatrix.certificates import WORDS, shown_count, shown_trust

        sizes = f"{counted(self.layers, 'layer')}, {counted(self.heads, 'head')}, width {self.width}"
        verdict = f"{WORDS[self.state]}: {self.reason_shown}"
        rows = [
            Fact("verdict", verdict, TONES[self.state]),
            Fact("claim", self.claim),
            Fact("inputs covered", shown_count(self.inputs_covered)),
            Fact("size", f"{sizes}, {self.size_bits} bits"),
            *([Fact("trust", shown_trust(self.trust))] if self.trust else []),
            Fact("certificate", self.certificate or "none"),
        ]
        if self.own and self.certified:
            rows.insert(
                2, Fact("what is certified", f"these weights on every input of length {self.length}, no other claim")
            )
        if self.width_as_claimed is False:
            wrong = f"claimed_width gives {self.claimed_width}, the network has {self.width}"
            rows.insert(2, Fact("width", f"{wrong}: what the claim says about its size is false", "bad"))
        if self.own_task and self.state == "undecided":
            rows.insert(
                2, Fact("a task of your own", "all inputs are tried, up to 2^20; no other method knows the task")
            )
        if self.counterexample_shown is not None:
            kept = self.refutation
            rows += [
                Fact("counterexample", self.counterexample_shown["shortened"]),
                Fact("it shows", self.counterexample_shown["in_words"]),
                Fact("run it again", f"separatrix check {kept} --replay" if kept else KEEP),
            ]
        details = (
            Fact("method", self.method),
            Fact("arithmetic", f"{self.arithmetic} ({self.precision_bits} bits)"),
        )
        return Sheet(facts=tuple(rows), details=details)


@checked
def certify(
    construction: str,
    length: int,
    options: "Options | None" = None,
    *,
    arithmetic: str | None = None,
    out: str | Path | None = None,
    keep_refutation: bool = True,
    memory: int | None = None,
    inspect: "Callable[[AnyNetwork], None]" = lambda network: None,
    writing: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Certified:
    """Build a theorem's network for a length and decide it for every input.

    ``options`` are those of the construction (``separatrix.constructions.Options``). ``arithmetic`` is "balls" for the
    real numbers or a fixed point by name. ``out``: a folder for the weights and the certificate; nothing is written
    without it. ``memory``: refuse what would need more bytes. ``inspect`` sees the network before it is checked, and
    ``writing`` is entered while files are written.

    >>> found = certify("index-lookup", 16)
    >>> found.certified, found.inputs_covered, found.width
    (True, '64^16*16', 16)
    """
    from separatrix.certificates import (
        Claim,
        check_memory,
        shown_counterexample,
        shown_reason,
        size_of,
        state_of,
        states_itself,
        with_proof,
        write_certificate,
        write_refutation,
    )
    from separatrix.certificates import check as decide
    from separatrix.constructions import Options, claimed_width, constructions
    from separatrix.files import check_writable
    from separatrix.progress import report
    from separatrix.sources import is_outside
    from separatrix.tasks import try_user_task

    started = time.perf_counter()
    chosen = constructions()[construction]
    settings = options or Options()
    other = None if arithmetic is None else rigorous(arithmetic)
    folder = None if out is None else Path(out)
    if folder is not None:
        if folder.exists() and not folder.is_dir():
            raise SeparatrixError(f"--out {folder} is a file; give a folder")
        check_writable(folder / "certificate.json")
    report(f"building {construction} for length {length}", 0, None)
    built = chosen.build(length, settings)
    inspect(built.network)
    claim = Claim(built.task, built.length, other or built.arithmetic)
    if memory is not None:
        check_memory(built.network, memory)
    try_user_task(built.task, length)
    states_itself(built.task, built.length)  # what the kernel will not read is refused before the work, not after it
    report(f"checking all inputs of length {length}", 0, None)
    verdict, proof = with_proof(built.network, claim, decide(built.network, claim))
    path: Path | None = None
    refuted: Path | None = None
    about = {"construction": construction, "theorem": chosen.theorem, "variant": settings.variant}
    if folder is not None:
        with writing():
            if verdict.valid:
                path = write_certificate(built.network, claim, verdict, folder, about, proof)
            elif verdict.refuted and keep_refutation:
                refuted = write_refutation(built.network, claim, verdict, folder, about)
    failing = verdict.counterexample
    shown = None if failing is None else shown_counterexample(built.network, claim, failing)
    claimed = claimed_width(chosen, built) if is_outside(type(chosen)) else None
    return Certified(
        claim=f"{chosen.theorem}: {chosen.statement}",
        construction=construction,
        task=built.task.name,
        length=length,
        **size_of(built.network, claim),
        arithmetic=str(claim.arithmetic),
        inputs_covered=verdict.inputs_covered,
        method=verdict.method,
        trust=verdict.trust if verdict.valid else None,
        state=state_of(verdict),
        certified=verdict.valid,
        reason=verdict.reason,
        reasons=tuple(verdict.reasons),
        counterexample=failing,
        counterexample_shown=shown,
        seconds=round(time.perf_counter() - started, 3),
        claimed_width=claimed,
        width_as_claimed=None if claimed is None else built.network.width <= claimed,
        own=is_outside(type(chosen)),
        own_task=is_outside(type(built.task)),
        certificate=str(path) if path else None,
        refutation=str(refuted) if refuted else None,
        reason_shown=shown_reason(verdict.reason, claim),
    )


def rigorous(name: str) -> "Arithmetic":
    """Return the arithmetic of a name, if a proof can be about it.

    >>> str(rigorous("balls"))
    'balls:128'
    """
    from separatrix.arithmetic import arithmetic_named

    found = arithmetic_named(f"balls:{BALL_BITS}" if name == "balls" else name)
    if not found.rigorous:
        raise SeparatrixError(f"--arithmetic {name} is rounded as machines please; choose balls or a fixed point")
    return found


@dataclass(frozen=True, repr=False)
class Checked(Answer):
    """What the checker found in a certificate's files; ``valid`` only where it proves the claim for every input."""

    task: str
    parameters: dict[str, Any]
    length: int
    arithmetic: str
    inputs: str | None
    claim: str
    state: str
    valid: bool
    reason: str
    reasons: tuple[str, ...]
    method: str
    trust: str | None
    kernel: dict[str, Any] | None
    inputs_covered: str
    counterexample: tuple[Any, ...] | None
    counterexample_shown: dict[str, Any] | None
    seconds: float
    replay: Any | None
    reason_shown: str

    def __bool__(self) -> bool:
        """Return whether the certificate is valid."""
        return self.valid

    def as_dict(self) -> dict[str, Any]:
        """Return the record as plain data; ``replay`` only where a counterexample was run again."""
        left_out = {"reason_shown"} | ({"replay"} if self.replay is None else set())
        return {name: value for name, value in super().as_dict().items() if name not in left_out}

    def sheet(self) -> Sheet:
        """Show what was checked first: valid for an easier claim must not look the same."""
        from separatrix.certificates import shown_count, shown_kernel

        word = "valid" if self.valid else "refuted" if self.state == "refuted" else "not valid"
        wide = ", wide trust" if self.valid and self.trust == "wide" else ""
        covered = f"{shown_count(self.inputs_covered)} inputs, {self.method}{wide}"
        rows = [
            Fact("claim", self.claim),
            Fact("verdict", f"{word}: {self.reason_shown} ({covered})", "good" if self.valid else "bad"),
            *([Fact("relies on", shown_kernel(self.kernel))] if self.kernel else []),
        ]
        if self.counterexample_shown is not None:
            rows += [
                Fact("counterexample", self.counterexample_shown["shortened"]),
                Fact("it shows" if self.replay is None else "replayed", self.counterexample_shown["in_words"]),
            ]
        return Sheet(facts=tuple(rows))


@checked
def check(folder: str | Path, *, replay: bool = False, memory: int | None = None) -> "Checked | CheckedWeights":
    """Decide a certificate or refutation again, from its files alone; ``replay`` runs its counterexample.

    A folder of trained weights has a record of its own.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as place:
    ...     _ = certify("index-lookup", 8, out=place)
    ...     bool(check(place))
    True
    """
    from separatrix_kernel.trained import TRAINED_FILE

    file = Path(folder)
    if (file / TRAINED_FILE).is_file():
        from separatrix.api.trained_check import check_weights

        return check_weights(file, replay)
    import numpy

    from separatrix.certificates import (
        check_certificate,
        claimed_inputs,
        relied_on,
        shown_claim,
        shown_counterexample,
        shown_reason,
        state_of,
    )
    from separatrix.certificates import replay as run_again
    from separatrix.tasks import try_user_task

    started = time.perf_counter()
    try:
        checked = check_certificate(file, memory)
    except UnknownNameError as error:
        if error.kind != "task":
            raise
        own = f"if it is of your own, give its file: separatrix --with FILE.py check {file}"
        raise SeparatrixError(f"{error}; {own}") from error
    try_user_task(checked.claim.task, checked.claim.length)
    verdict, network, claim = checked.verdict, checked.network, checked.claim
    failing = verdict.counterexample
    return Checked(
        task=claim.task.name,
        parameters=claim.task.parameters(),
        length=claim.length,
        arithmetic=str(claim.arithmetic),
        inputs=claimed_inputs(claim, verdict.inputs_covered),
        claim=shown_claim(claim, verdict.inputs_covered),
        state=state_of(verdict),
        valid=verdict.valid,
        reason=verdict.reason,
        reasons=tuple(verdict.reasons),
        method=verdict.method,
        trust=verdict.trust if verdict.valid else None,
        kernel=None if verdict.rule is None else relied_on(verdict.rule),
        inputs_covered=verdict.inputs_covered,
        counterexample=failing,
        counterexample_shown=None if failing is None else shown_counterexample(network, claim, failing),
        seconds=round(time.perf_counter() - started, 3),
        replay=run_again(network, claim, numpy.array(failing, dtype=numpy.int64)) if replay and failing else None,
        reason_shown=shown_reason(verdict.reason, claim),
    )
