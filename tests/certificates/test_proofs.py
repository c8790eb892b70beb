"""Proofs next to certificates: the kernel decides where there is one, and a proof of another claim proves nothing."""

import json
from dataclasses import dataclass, replace
from typing import Any

import pytest

from separatrix.arithmetic import Balls
from separatrix.certificates import Claim, check
from separatrix.certificates.certificate import check_certificate, write_certificate
from separatrix.certificates.proofs import states_itself, with_proof
from separatrix.constructions import Options, constructions
from separatrix.errors import SeparatrixError
from separatrix.networks.store import save_network
from separatrix.tasks import tasks
from separatrix.tasks.problems.sparse_threshold import SparseThreshold
from tests.certificates.changes import build, changed, with_layer


def certified(name, folder, length=8):
    """Certify as the command line does; the certificate's path."""
    built = constructions()[name].build(length)
    claim = Claim(built.task, length, built.arithmetic)
    verdict, proof = with_proof(built.network, claim, check(built.network, claim))
    assert verdict.valid
    return write_certificate(built.network, claim, verdict, folder, {}, proof), verdict


@pytest.mark.parametrize("name", sorted(constructions()))
def test_certificates_say_what_they_rely_on(name, tmp_path):
    # Triples of 64 numbers take seconds.
    path, verdict = certified(name, tmp_path, 4 if name == "match3" else 8)
    assert verdict.trust == "kernel"
    checked = check_certificate(path).verdict
    assert (checked.valid, checked.trust, checked.inputs_covered) == (True, verdict.trust, verdict.inputs_covered)
    assert checked.method == "kernel"


def test_a_certificate_without_a_proof_leaves_none_of_an_earlier_one(tmp_path):
    certified("index-lookup", tmp_path)
    assert (tmp_path / "proof.json").exists()
    network, claim = build("index-lookup", 8)
    claim = replace(claim, arithmetic=Balls(96))
    path = write_certificate(network, claim, check(network, claim), tmp_path, {}, None)
    assert not (tmp_path / "proof.json").exists()
    verdict = check_certificate(path).verdict
    assert (verdict.valid, verdict.trust) == (True, "wide")


def test_a_proof_that_is_gone_or_elsewhere_is_an_error(tmp_path):
    path, _ = certified("index-lookup", tmp_path)
    (tmp_path / "proof.json").rename(tmp_path / "other.json")
    with pytest.raises(SeparatrixError):
        check_certificate(path)
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, "proof": "other.json"}))
    with pytest.raises(SeparatrixError):
        check_certificate(path)
    # Without a proof the certificate relies on the method again.
    del content["proof"]
    path.write_text(json.dumps(content))
    assert check_certificate(path).verdict.trust == "wide"


@pytest.mark.parametrize(
    "change",
    [
        {"proof": {"rule": "enumeration"}},
        {"task": "index"},
        {"parameters": {"alphabet": 63}},
        {"length": 9},
        {"more": 1},
        {"network": "copy.safetensors"},
    ],
)
def test_a_proof_of_another_claim_proves_nothing(tmp_path, change):
    path, _ = certified("index-lookup", tmp_path)
    (tmp_path / "copy.safetensors").write_bytes((tmp_path / "network.safetensors").read_bytes())
    proof = json.loads((tmp_path / "proof.json").read_text())
    (tmp_path / "proof.json").write_text(json.dumps({**proof, **change}))
    verdict = check_certificate(path).verdict
    assert (verdict.valid, verdict.refuted, verdict.method) == (False, False, "kernel")


def test_a_proof_of_an_easier_specification_proves_nothing(tmp_path):
    path, _ = certified("majority", tmp_path)
    proof = json.loads((tmp_path / "proof.json").read_text())
    first = proof["specification"]["inputs"][1]
    first["tokens"] = [0, 1]
    for group in proof["specification"]["answer"]["conditions"]:
        group["table"] = group["table"][:1]
    (tmp_path / "proof.json").write_text(json.dumps(proof))
    verdict = check_certificate(path).verdict
    assert not verdict.valid
    assert verdict.method == "kernel"


def test_changed_weights_are_refuted_by_an_input_even_with_a_proof(tmp_path):
    path, _ = certified("equality", tmp_path)
    network, _ = build("equality", 8)
    wrong = with_layer(network, 3, inner_bias=changed(network.layers[3].inner_bias, 0, 0, 9))
    digest = save_network(wrong, tmp_path / "network.safetensors")
    for name in ("certificate.json", "proof.json"):
        content = json.loads((tmp_path / name).read_text())
        (tmp_path / name).write_text(json.dumps({**content, "sha256": digest}))
    verdict = check_certificate(path).verdict
    assert verdict.refuted
    assert verdict.counterexample is not None


@dataclass(frozen=True, kw_only=True)
class ThirdsTask(SparseThreshold):
    """Are more than a third of the bits 1? A task that no method of the checker knows by name."""

    name: str = "sparse-threshold"
    instance: Any = "majority"

    def function(self, length):
        found = super().function(length)
        return replace(found, threshold=length // 3)

    def specification(self, length):
        return SparseThreshold.specification(self, length)


@dataclass(frozen=True, kw_only=True)
class MisstatedTask(ThirdsTask):
    """States the majority and asks for a third."""

    def specification(self, length):
        return tasks()["majority"].specification(length)


@dataclass(frozen=True, kw_only=True)
class NarrowTask(ThirdsTask):
    """States other inputs than there are."""

    def specification(self, length):
        stated = super().specification(length)
        return {**stated, "inputs": [*stated["inputs"], {"count": 1, "tokens": [0, 2]}]}


@dataclass(frozen=True, kw_only=True)
class UnreadableTask(ThirdsTask):
    """States something without a meaning."""

    def specification(self, length):
        return {"inputs": [], "answer": {}}


def test_a_task_is_proved_by_its_specification_and_not_by_its_name(tmp_path):
    task, length = ThirdsTask(), 100
    built = constructions()["majority"].build(length)
    network = constructions()["majority"].network(task, length, Options())
    claim = Claim(task, length, built.arithmetic)
    undecided = replace(check(built.network, replace(claim, task=built.task)), valid=False, method="none")
    verdict, proof = with_proof(network, claim, undecided)
    assert (verdict.valid, verdict.trust, verdict.method) == (True, "kernel", "kernel")
    assert proof is not None
    # The majority's own network does not solve it, and a claim that is refuted is not tried.
    assert with_proof(built.network, claim, undecided)[1] is None
    assert with_proof(network, claim, replace(undecided, refuted=True))[1] is None


@pytest.mark.parametrize("task", [MisstatedTask(), NarrowTask(), UnreadableTask()])
def test_a_specification_that_is_not_the_tasks_is_an_error(task):
    with pytest.raises(SeparatrixError):
        states_itself(task, 9)


def test_a_task_that_no_longer_states_itself_is_not_proved_by_an_old_proof(tmp_path, monkeypatch):
    path, _ = certified("majority", tmp_path)
    monkeypatch.setattr(SparseThreshold, "specification", lambda self, length: None)
    verdict = check_certificate(path).verdict
    assert (verdict.valid, verdict.method) == (False, "kernel")
