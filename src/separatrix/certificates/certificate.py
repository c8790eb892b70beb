"""Certificates on disk: a claim, the hash of the weight file it speaks about, and what the checker found.

A certificate is JSON next to its network file. Where it names a proof, the kernel decides about that; else the checker
recomputes everything from the weights. A certificate is valid only if that agrees with all that it states. The same
build gives the same bytes, so times are not in it.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, cast

from separatrix.arithmetic import arithmetic_named
from separatrix.certificates.checker import check
from separatrix.certificates.memory import check_memory
from separatrix.certificates.proofs import kernel_verdict, write_proof
from separatrix.certificates.verdict import Claim, Verdict
from separatrix.errors import SeparatrixError
from separatrix.files import write_atomically
from separatrix.networks import NETWORK_FILE, AnyNetwork, load_network, save_network
from separatrix.provenance import versions
from separatrix.reading import contained, parse_json, read_file
from separatrix.tasks import tasks, with_plain_parameters
from separatrix_kernel.checker import PROOF_FILE

FORMAT = "separatrix-certificate-1"
CERTIFICATE_FILE = "certificate.json"
REFUTED_FILE = "refuted.json"
REFUTED_NETWORK_FILE = "refuted.safetensors"
LARGEST_FILE = 16 << 20
"""Bytes; a certificate has a few thousand."""


@dataclass(frozen=True)
class Stated:
    """The fields of a certificate, or of a refutation; those with a default may be absent."""

    format: str
    task: str
    parameters: dict[str, Any]
    length: int
    arithmetic: str
    network: str
    sha256: str
    size: dict[str, int]
    method: str
    inputs_covered: str
    proof: str | None = None
    refuted: str | None = None
    counterexample: Sequence[Any] | None = None
    about: dict[str, Any] | None = None
    versions: dict[str, str] | None = None


KINDS = {
    "format": str, "task": str, "parameters": dict, "length": int, "arithmetic": str, "network": str, "sha256": str,
    "size": dict, "method": str, "inputs_covered": str, "proof": str, "refuted": str, "counterexample": list,
    "about": dict, "versions": dict,
}  # fmt: skip
"""The types of all fields in a file."""
FIELDS = tuple(each.name for each in fields(Stated) if each.default is MISSING)
"""Those that must be there."""


@dataclass(frozen=True)
class Checked:
    """A certificate's verdict and the claim and network it speaks about."""

    verdict: Verdict
    claim: Claim
    network: AnyNetwork


def size_of(network: AnyNetwork, claim: Claim) -> dict[str, int]:
    """The size of a network as the papers count it.

    >>> from separatrix.constructions import constructions
    >>> built = constructions()["index-lookup"].build(8)
    >>> claim = Claim(built.task, built.length, built.arithmetic)
    >>> size_of(built.network, claim)
    {'layers': 1, 'heads': 1, 'width': 14, 'precision_bits': 14, 'size_bits': 6268}
    """
    bits = claim.arithmetic.precision_bits
    return {
        "layers": network.depth,
        "heads": network.heads,
        "width": network.width,
        "precision_bits": bits,
        "size_bits": network.size_bits(bits),
    }


def state_of(verdict: Verdict) -> str:
    """The three cases of a verdict in one word, for machines.

    >>> state_of(Verdict(False, False, "no method covers it", "enumeration"))
    'undecided'
    """
    return "certified" if verdict.valid else "refuted" if verdict.refuted else "undecided"


def write_certificate(
    network: AnyNetwork,
    claim: Claim,
    verdict: Verdict,
    folder: Path,
    about: dict[str, Any],
    proof: Mapping[str, Any] | None = None,
) -> Path:
    """Write a network and the certificate of a valid claim about it; ``about`` names where the network comes from.

    A ``proof`` goes into a file of its own, which the certificate names.

    >>> import tempfile
    >>> from separatrix.constructions import constructions
    >>> built = constructions()["dyck-dfa"].build(8)
    >>> claim = Claim(built.task, built.length, built.arithmetic)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_certificate(built.network, claim, check(built.network, claim), Path(folder), {}).name
    'certificate.json'
    """
    if not verdict.valid:
        raise SeparatrixError(f"there is no certificate for a claim that does not hold: {verdict.reason}")
    write_proof(folder, proof)
    more = {"about": about} if proof is None else {"proof": PROOF_FILE, "about": about}
    return _write(network, claim, verdict, folder, (CERTIFICATE_FILE, NETWORK_FILE), more)


def write_refutation(network: AnyNetwork, claim: Claim, verdict: Verdict, folder: Path, about: dict[str, Any]) -> Path:
    """Write a network and the claim about it that is false, with the input that shows it, for ``check --replay``.

    Both files have names of their own, so that a certificate that lies in the folder stays what it is. Checking the
    file finds the claim false again, whatever it says.

    >>> import tempfile
    >>> from separatrix.constructions import Options, constructions
    >>> built = constructions()["index-lookup"].build(8, Options(gain=0))
    >>> claim = Claim(built.task, built.length, built.arithmetic)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_refutation(built.network, claim, check(built.network, claim), Path(folder), {})
    ...     path.name, check_certificate(path).verdict.refuted
    ('refuted.json', True)
    """
    if not verdict.refuted:
        raise SeparatrixError(f"there is no refutation of a claim that was not found false: {verdict.reason}")
    more = {"refuted": verdict.reason, "counterexample": verdict.counterexample, "about": about}
    return _write(network, claim, verdict, folder, (REFUTED_FILE, REFUTED_NETWORK_FILE), more)


def _write(
    network: AnyNetwork, claim: Claim, verdict: Verdict, folder: Path, names: tuple[str, str], more: dict[str, Any]
) -> Path:
    _check_rigorous(claim)
    digest = save_network(network, folder / names[1])
    stated = Stated(
        format=FORMAT,
        task=claim.task.name,
        parameters=claim.task.parameters(),
        length=claim.length,
        arithmetic=str(claim.arithmetic),
        network=names[1],
        sha256=digest,
        size=size_of(network, claim),
        method=verdict.method,
        inputs_covered=verdict.inputs_covered,
        versions=versions(),
        **more,
    )
    content = {name: value for name, value in asdict(stated).items() if value is not None}
    path = folder / names[0]
    write_atomically(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    return path


def check_certificate(path: Path, most_memory: int | None = None) -> Checked:
    """Check a certificate from its weight file alone; a wrong statement in it makes the verdict invalid.

    Raises :class:`SeparatrixError` for files that are unreadable or incomplete, and before the work starts where it
    would take more than ``most_memory`` bytes.

    >>> import tempfile
    >>> from separatrix.constructions import constructions
    >>> built = constructions()["index-lookup"].build(8)
    >>> claim = Claim(built.task, built.length, built.arithmetic)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_certificate(built.network, claim, check(built.network, claim), Path(folder), {})
    ...     check_certificate(path).verdict.inputs_covered
    '64^8*8'
    """
    if path.is_dir():
        refuted = not (path / CERTIFICATE_FILE).exists() and (path / REFUTED_FILE).exists()
        path /= REFUTED_FILE if refuted else CERTIFICATE_FILE
    stated = _read(path)
    claim = stated_claim(stated)
    beside = "the network must be in the same folder"
    network, digest = load_network(contained(path.parent, stated.network, beside))
    misstated = _statements(stated, network, claim, digest)
    if misstated is not None and misstated.method != "size":
        return Checked(misstated, claim, network)
    if most_memory is not None:
        check_memory(network, most_memory)
    verdict = _decided(path.parent, stated, network, claim, digest)
    if misstated is not None:
        # An input that fails, or that there is none, tells more than a count of bits.
        both = f"{misstated.reason}; {'even so ' if verdict.valid else ''}{verdict.reason}"
        verdict = replace(verdict, reason=both) if verdict.refuted else replace(misstated, reason=both)
    method = stated.method if verdict.trust == "kernel" else verdict.method
    if verdict.valid and (method, verdict.inputs_covered) != (stated.method, stated.inputs_covered):
        claimed = f"{stated.inputs_covered} inputs by {stated.method}"
        found = f"{verdict.inputs_covered} inputs by {verdict.method}"
        verdict = Verdict(False, False, f"the certificate states {claimed}, the checker covers {found}", verdict.method)
    return Checked(verdict, claim, network)


def _decided(folder: Path, stated: Stated, network: AnyNetwork, claim: Claim, digest: str) -> Verdict:
    """The kernel's verdict where the certificate names a proof; the methods look for a counterexample if it refuses."""
    if stated.proof is None:
        return check(network, claim)
    verdict = kernel_verdict(folder, stated.proof, claim, stated.network, digest)
    if verdict.valid:
        return verdict
    searched = check(network, claim)
    return searched if searched.refuted else verdict


def claim_in(folder: Path) -> Claim | None:
    """The claim that the certificate in a folder states, or its refutation; None where neither is there.

    >>> claim_in(Path("no/such/folder")) is None
    True
    """
    for name in (CERTIFICATE_FILE, REFUTED_FILE):
        if (folder / name).exists():
            return stated_claim(_read(folder / name))
    return None


def stated_claim(stated: Stated) -> Claim:
    """The claim that a certificate states; raises a one-line error where it states none."""
    task = with_plain_parameters(tasks()[stated.task], stated.parameters)
    task.check_length(stated.length)
    claim = Claim(task, stated.length, arithmetic_named(stated.arithmetic))
    _check_rigorous(claim)
    return claim


def _check_rigorous(claim: Claim) -> None:
    """Floats may be added in another order elsewhere, so that what holds on one machine may fail on the next."""
    if not claim.arithmetic.rigorous:
        raise SeparatrixError(f"no certificate speaks about {claim.arithmetic}; choose balls or a fixed point")


def _statements(stated: Stated, network: AnyNetwork, claim: Claim, digest: str) -> Verdict | None:
    """A verdict if what the certificate says about the file is not so."""
    if digest != stated.sha256:
        why = "the weight file is not the one that was certified: its hash differs"
        remedy = f"to look for an input that it gets wrong, put {digest} as sha256 into the certificate and check again"
        return Verdict(False, False, f"{why}; {remedy}", "hash")
    if size_of(network, claim) != stated.size:
        return Verdict(False, False, _other_size(size_of(network, claim), stated.size), "size")
    if network.positions != claim.task.positions(claim.length):
        given, needed = network.positions, claim.task.positions(claim.length)
        return Verdict(False, False, f"the network reads {given} positions, the task has {needed}", "size")
    return None


def _other_size(found: dict[str, int], stated: dict[str, int]) -> str:
    """The fields of a network's size that are not as stated, with both values.

    >>> _other_size({"layers": 1, "size_bits": 12322}, {"layers": 1, "size_bits": 12348})
    'the network is not of the stated size: size_bits is 12322, stated is 12348'
    """
    names = [name for name in {**found, **stated} if found.get(name) != stated.get(name)]
    parts = [f"{name} is {found.get(name, 'nothing')}, stated is {stated.get(name, 'nothing')}" for name in names]
    return f"the network is not of the stated size: {', '.join(parts)}"


def _read(path: Path) -> Stated:
    if path.suffix == ".safetensors" and path.is_file():
        raise SeparatrixError(
            f"{path} is a network, not a certificate: it does not say what is claimed; check the {CERTIFICATE_FILE} of "
            "separatrix certify CONSTRUCTION --out FOLDER, or the network in Python with load_network and check, as "
            "docs/export.md shows"
        )
    data = read_file(path, LARGEST_FILE, "give a certificate file")
    try:
        content = parse_json(data)
    except ValueError as error:
        raise SeparatrixError(f"{path} is not a certificate: it is not JSON ({error}); certify again") from error
    if not isinstance(content, dict):
        raise SeparatrixError(f"{path} is not a certificate: it holds no object; certify again")
    entries = cast("dict[str, Any]", content)
    missing = [name for name in FIELDS if name not in entries]
    if missing:
        raise SeparatrixError(f"{path} is not a whole certificate: it lacks {', '.join(missing)}; certify again")
    unknown = [name for name in entries if name not in KINDS]
    if unknown:
        raise SeparatrixError(f"{path} has the field {unknown[0][:40]!r}, which no certificate has; certify again")
    if entries["format"] != FORMAT:
        raise SeparatrixError(f"{path} has format {entries['format']!r}; this version reads {FORMAT!r}")
    for name, value in entries.items():
        # JSON's true is a bool, which Python takes for an integer.
        if type(value) is not KINDS[name]:
            raise SeparatrixError(f"{path} states a {name} of the wrong type; certify again")
    for name, value in entries["size"].items():
        # 8.0 equals 8 in Python, and true equals 1.
        if type(value) is not int:
            raise SeparatrixError(f"{path} states a size with {name[:40]!r} of the wrong type; certify again")
    if Path(entries["network"]).name != entries["network"] or "\0" in entries["network"]:
        raise SeparatrixError(f"{path} names the network {entries['network']!r}; it must be in the same folder")
    return Stated(**entries)
