"""Proofs next to certificates: provers write them, the kernel decides about them, and nothing here is trusted alone.

A certificate that names a proof is valid only if ``separatrix_kernel`` accepts that proof, and only if the proof is
about the claim of the certificate: the same task, length, arithmetic and weights, and the specification that the
installed task states. The verdict then says ``trust: kernel``. Any other valid certificate relies on a method of this
room and says ``trust: wide``.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from separatrix.certificates.verdict import Claim, Verdict
from separatrix.errors import SeparatrixError
from separatrix.files import write_atomically
from separatrix.networks import AnyNetwork
from separatrix.progress import report
from separatrix.provers import prove
from separatrix.tasks import Task, draws_from, own_specification
from separatrix_kernel.checker import PROOF_FILE, Accepted, check_folder
from separatrix_kernel.points import Nearest
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.sets import NamedSums
from separatrix_kernel.specification import Answers, read_specification

RIGHT = "every input is answered correctly"
NO_STATEMENT = "the task states no specification"
SAMPLES = 8
MOST_SAMPLED = 1 << 16
"""Tokens of all samples together, if there is more than one."""


def with_proof(network: AnyNetwork, claim: Claim, verdict: Verdict) -> tuple[Verdict, Mapping[str, Any] | None]:
    """A verdict with the kernel's trust and the proof for it, where a prover finds one; else as it was, and None.

    What no method of this room decides may still be proved: provers go by specifications, not by the names of tasks.

    >>> from separatrix.certificates import check
    >>> from separatrix.constructions import constructions
    >>> built = constructions()["index-lookup"].build(8)
    >>> claim = Claim(built.task, built.length, built.arithmetic)
    >>> with_proof(built.network, claim, check(built.network, claim))[0].trust
    'kernel'
    """
    if verdict.refuted or not states_itself(claim.task, claim.length):
        return verdict, None
    report("proof for the kernel", 0, None)
    found = prove(network, claim.task, claim.length, claim.arithmetic)
    if found is None:
        return verdict, None
    covered = found.accepted.inputs_covered
    if not verdict.valid:
        verdict = Verdict(True, False, RIGHT, "kernel", covered)
    return replace(verdict, trust="kernel", inputs_covered=covered), found.content


def states_itself(task: Task, length: int) -> bool:
    """Whether a task has a specification that agrees with it on a sample.

    The tests hold the package's own tasks to theirs on every input of small lengths. For tasks from outside, and at
    other lengths, this is evidence: the number of inputs, and the slow ``solve`` of some of them.

    >>> from separatrix.tasks import tasks
    >>> states_itself(tasks()["dyck"], 100), states_itself(tasks()["sparse-averaging"], 8)
    (True, True)
    """
    stated = own_specification(task, length)
    if stated is None:
        return False
    try:
        inputs, answers = read_specification(json.loads(json.dumps(stated)))
    except RefusedError as refusal:
        raise SeparatrixError(
            f"the kernel does not read the specification of {task.name} at length {length}: {refusal}; choose a "
            "shorter length, or correct it"
        ) from refusal
    # Points on the sphere are not counted.
    if not isinstance(answers, Nearest) and task.count(length) != answers.count(inputs):
        raise SeparatrixError(f"the specification of {task.name} has other inputs than the task; correct it")
    count = max(1, min(SAMPLES, MOST_SAMPLED // len(inputs.tokens)))
    for row in task.sample(draws_from(0), count, length).inputs.tolist():
        tokens = tokens_of(row, answers)
        inside = all(each in some for each, some in zip(tokens, inputs.tokens, strict=True)) and answers.admits(tokens)
        given: list[Any] = [None] * len(row)
        right, size = answers.right(tokens), answers.rounded
        if size:
            right = [tuple(right[place : place + size]) for place in range(0, len(right), size)]
        given[len(row) - 1 - (answers.asked - 1) * answers.stride :: answers.stride] = right
        if not inside or given != list(task.solve(row, length)):
            raise SeparatrixError(f"the specification of {task.name} answers {row[:20]} otherwise; correct it")
    return True


def tokens_of(row: Any, answers: Answers) -> list[int]:
    """One input of a task as the kernel reads it."""
    if isinstance(answers, Nearest):
        coordinates = [(each - answers.first) // answers.step for cell in row[::2] for each in cell[2:]]
        return [*coordinates, *(cell[1] for cell in row[1::2])]
    if isinstance(answers, NamedSums):
        members = [each - 1 for cell in row for each in cell[1 : 1 + answers.named]]
        return [*members, *(each + answers.norm for cell in row for each in cell[1 + answers.named :])]
    return off_diagonal(row) if answers.on_graphs else row


def off_diagonal(graph: Sequence[Sequence[int]]) -> list[int]:
    """An adjacency matrix as the kernel reads it: row by row, without the diagonal.

    >>> off_diagonal([[0, 1], [2, 0]])
    [1, 2]
    """
    return [entry for i, row in enumerate(graph) for j, entry in enumerate(row) if i != j]


def write_proof(folder: Path, proof: Mapping[str, Any] | None) -> None:
    """Put a proof into a folder; without one, whatever an earlier certificate left there is removed."""
    if proof is None:
        (folder / PROOF_FILE).unlink(missing_ok=True)
    else:
        write_atomically(folder / PROOF_FILE, json.dumps(proof, ensure_ascii=True) + "\n")


def kernel_verdict(folder: Path, named: Any, claim: Claim, network: str, digest: str) -> Verdict:
    """What the kernel says about the proof that a certificate names; raises where the file is not there."""
    if named != PROOF_FILE:
        raise SeparatrixError(f"the certificate names the proof {named!r}; it must be {PROOF_FILE} in the same folder")
    if not (folder / PROOF_FILE).is_file():
        raise SeparatrixError(f"{folder / PROOF_FILE} is missing, and the certificate names it; certify again")
    try:
        accepted = check_folder(folder)
    except RefusedError as refusal:
        return Verdict(False, False, f"the kernel refuses the proof: {refusal}", "kernel")
    other = _other_claim(accepted, claim, network, digest) if states_itself(claim.task, claim.length) else NO_STATEMENT
    if other is not None:
        return Verdict(False, False, f"the proof is about another claim: {other}", "kernel")
    covered = accepted.inputs_covered
    return Verdict(True, False, RIGHT, "kernel", covered, trust="kernel", rule=accepted.rules)


def _other_claim(accepted: Accepted, claim: Claim, network: str, digest: str) -> str | None:
    """What an accepted proof is about and the claim is not, or None."""
    specification = own_specification(claim.task, claim.length)
    pairs = {
        "task": (accepted.task, claim.task.name),
        "parameters": (accepted.parameters, claim.task.parameters()),
        "length": (accepted.length, claim.length),
        "arithmetic": (accepted.arithmetic, str(claim.arithmetic)),
        "network": (accepted.network, network),
        "sha256": (accepted.sha256, digest),
        # Through JSON and back, as the kernel has read it.
        "specification": (accepted.specification, json.loads(json.dumps(specification))),
    }
    return next((f"its {name} differs" for name, (stated, own) in pairs.items() if stated != own), None)
