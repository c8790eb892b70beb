"""Certificates on disk: whole, honest, bound to one weight file."""

import hashlib
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import numpy
import pytest
from tools.mutants.network_changes import Files

from separatrix.arithmetic import Floating
from separatrix.certificates import certificate, check
from separatrix.certificates.certificate import check_certificate, write_certificate
from separatrix.cli.app import run
from separatrix.constructions import constructions
from separatrix.errors import SeparatrixError
from tests.certificates.changes import build


class TestCertificateFiles:
    """What a reader of the two files may rely on."""

    @pytest.fixture
    def folder(self, tmp_path):
        network, claim = build("equality", 16)
        write_certificate(network, claim, check(network, claim), tmp_path, {"construction": "equality"})
        return tmp_path

    def test_a_fresh_certificate_is_valid(self, folder):
        assert check_certificate(folder / "certificate.json").verdict.valid
        assert check_certificate(folder).verdict.valid
        assert sorted(path.name for path in folder.iterdir()) == ["certificate.json", "network.safetensors"]

    def test_the_same_build_gives_the_same_bytes(self, folder, tmp_path_factory):
        other = tmp_path_factory.mktemp("other")
        network, claim = build("equality", 16)
        write_certificate(network, claim, check(network, claim), other, {"construction": "equality"})
        for name in ("certificate.json", "network.safetensors"):
            assert (folder / name).read_bytes() == (other / name).read_bytes()

    def test_another_weight_file_is_rejected(self, folder):
        path = folder / "network.safetensors"
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(content)
        verdict = check_certificate(folder).verdict
        assert not verdict.valid
        assert "hash" in verdict.reason

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("length", 18),
            ("inputs_covered", "2^17"),
            ("method", "enumeration"),
            ("sha256", "0" * 64),
            ("arithmetic", "fixed:N=16,Kc=1,down"),
            ("parameters", {"alphabet": 2, "answer_one": "unequal"}),
            ("size", {"layers": 1}),
        ],
    )
    def test_every_edited_statement_is_rejected(self, folder, field, value):
        path = folder / "certificate.json"
        content = json.loads(path.read_text())
        content[field] = value
        path.write_text(json.dumps(content))
        assert not check_certificate(path).verdict.valid

    @pytest.mark.parametrize("damage", ["", "{", "[]", "null", '{"format": "x"}', "\x00\x01"])
    def test_damaged_certificates_are_refused(self, folder, damage):
        path = folder / "certificate.json"
        path.write_text(damage)
        with pytest.raises(SeparatrixError) as caught:
            check_certificate(path)
        assert "\n" not in str(caught.value)

    def test_truncated_certificates_are_refused(self, folder):
        path = folder / "certificate.json"
        text = path.read_text()
        path.write_text(text[: len(text) // 2])
        with pytest.raises(SeparatrixError, match="not JSON"):
            check_certificate(path)

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("network", "../x"),
            ("format", "separatrix-certificate-0"),
            ("task", "nope"),
            ("length", "16"),
            ("parameters", {"nope": 1}),
            ("arithmetic", "fixed:x"),
            ("network", "a\0b"),
            ("network", "missing.safetensors"),
            ("network", ".."),
            ("network", None),
            ("task", 3),
            ("length", True),
            ("length", 10**30),
            ("arithmetic", ["balls:96"]),
            ("arithmetic", "float64"),
            ("parameters", {"alphabet": 2.5}),
            ("parameters", {"alphabet": "2"}),
            ("parameters", {"alphabet": True}),
            ("parameters", {"answer_one": "neither"}),
            ("parameters", {"alice": [1, 2]}),
        ],
    )
    def test_unreadable_statements_are_refused(self, folder, field, value):
        path = folder / "certificate.json"
        content = json.loads(path.read_text())
        content[field] = value
        path.write_text(json.dumps(content))
        with pytest.raises(SeparatrixError) as caught:
            check_certificate(path)
        assert len(str(caught.value).splitlines()) == 1

    def test_there_is_no_certificate_for_a_false_claim(self, tmp_path):
        network, claim = build("equality", 16, gain=Fraction(1))
        with pytest.raises(SeparatrixError, match="no certificate"):
            write_certificate(network, claim, check(network, claim), tmp_path, {})
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
    @pytest.mark.parametrize("where", ["weights", "denominator", "positions"])
    def test_numbers_that_are_none_are_refused_in_weights(self, folder, number, where):
        """NaN and infinity have no place in exact weights: as an array of floats or in the structure."""
        path = folder / "network.safetensors"
        files = Files.of(path.read_bytes(), (folder / "certificate.json").read_text())
        if where == "weights":
            name = files.structure["layers"][0]["heads"][0]["query"]["numerators"]
            files.tensors[name] = numpy.full(files.tensors[name].shape, number)
        elif where == "denominator":
            files.structure["readout"]["matrix"]["denominator"] = number
        else:
            files.structure["positions"] = number
        path.write_bytes(files.network())
        with pytest.raises(SeparatrixError, match="not a readable network file"):
            check_certificate(folder)

    def test_a_forged_certificate_is_refuted_and_its_counterexample_can_be_replayed(self, folder, capsys):
        """Someone moves a bias and makes the hash fit again: the weights themselves give it away."""
        path = folder / "network.safetensors"
        files = Files.of(path.read_bytes(), (folder / "certificate.json").read_text())
        files.tensors[files.structure["layers"][1]["inner_bias"]["numerators"]][0, 0] -= 3
        path.write_bytes(files.network())
        files.certificate["sha256"] = hashlib.sha256(files.network()).hexdigest()
        (folder / "certificate.json").write_text(json.dumps(files.certificate))
        assert run(["check", str(folder), "--replay", "--json"]) == 1
        record = json.loads(capsys.readouterr().out)
        assert record["valid"] is False
        assert record["counterexample"] is not None
        assert record["replay"]["right"] is False
        assert record["replay"]["answers"] != record["replay"]["expected"]

    def test_a_weight_set_to_zero_is_told_by_the_field_and_by_an_input(self, folder, capsys):
        """With the hash put right the size differs first; the input that fails is shown all the same."""
        path, certified = folder / "network.safetensors", folder / "certificate.json"
        files = Files.of(path.read_bytes(), certified.read_text())
        bias = files.tensors[files.structure["layers"][1]["inner_bias"]["numerators"]]
        bias[bias != 0] = 0
        path.write_bytes(files.network())
        digest = hashlib.sha256(files.network()).hexdigest()
        assert run(["check", str(folder), "--json"]) == 1
        record = json.loads(capsys.readouterr().out)
        assert record["reason"].endswith(f"put {digest} as sha256 into the certificate and check again")
        assert (record["state"], record["method"]) == ("undecided", "hash")
        files.certificate["sha256"] = digest
        certified.write_text(json.dumps(files.certificate))
        assert run(["check", str(folder), "--json"]) == 1
        record = json.loads(capsys.readouterr().out)
        stated = files.certificate["size"]["size_bits"]
        assert re.search(rf"stated size: size_bits is \d+, stated is {stated}; ", record["reason"])
        assert "layers" not in record["reason"]
        assert record["counterexample"] is not None
        assert record["state"] == "refuted"

    @pytest.mark.parametrize("size", [None, [], 3, {"size_bits": None, "more": 1}, {"layers": 1.0}])
    def test_a_size_of_the_wrong_type_is_refused(self, folder, size):
        path = folder / "certificate.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "size": size}))
        with pytest.raises(SeparatrixError, match="wrong type"):
            check_certificate(path)

    @pytest.mark.parametrize("size", [{}, {"size_bits": 7, "more": 1}])
    def test_a_right_network_of_a_wrong_size_stays_invalid(self, folder, size):
        path = folder / "certificate.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "size": size}))
        verdict = check_certificate(path).verdict
        assert (verdict.valid, verdict.refuted, verdict.method) == (False, False, "size")
        assert "stated is nothing" in verdict.reason
        assert verdict.reason.endswith("; even so every input is answered correctly")

    def test_a_network_is_not_taken_for_a_certificate(self, folder):
        with pytest.raises(SeparatrixError, match=r"is a network, not a certificate.*load_network and check"):
            check_certificate(folder / "network.safetensors")

    def test_a_certificate_that_is_not_there(self, tmp_path):
        with pytest.raises(SeparatrixError, match="cannot read"):
            check_certificate(tmp_path / "nothing.json")

    def test_there_is_no_certificate_in_floats(self, tmp_path):
        network, claim = build("equality", 6)
        claim = replace(claim, arithmetic=Floating("float64"))
        verdict = check(network, claim)
        with pytest.raises(SeparatrixError, match="float64"):
            write_certificate(network, claim, verdict, tmp_path, {})
        assert not list(tmp_path.iterdir())

    def test_memory_is_estimated_before_a_check_starts(self, folder, capsys, monkeypatch):
        monkeypatch.setattr(certificate, "check", lambda *_: pytest.fail("the work was started"))
        assert run(["check", str(folder), "--max-memory", "100M"]) == 2
        error = capsys.readouterr().err
        assert "more than" in error
        assert "raise --max-memory" in error
        assert len(error.splitlines()) == 1


WRITE_ALL = """
import sys
from pathlib import Path
from separatrix.certificates import Claim, check
from separatrix.certificates.certificate import write_certificate
from separatrix.constructions import constructions

for name, construction in constructions().items():
    built = construction.build(8)
    claim = Claim(built.task, 8, built.arithmetic)
    write_certificate(built.network, claim, check(built.network, claim), Path(sys.argv[1]) / name, {"name": name})
"""


def test_other_processes_write_the_same_bytes(tmp_path):
    """Neither the seed of Python's hashes nor the number of threads shows in a network or a certificate."""
    for number, (seed, threads) in enumerate((("1", "1"), ("2", "2"))):
        environment = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "OMP_NUM_THREADS": threads,
            "OPENBLAS_NUM_THREADS": threads,
        }
        command = [sys.executable, "-c", WRITE_ALL, str(tmp_path / str(number))]
        subprocess.run(command, check=True, env=environment, timeout=1200)
    written = sorted(path.relative_to(tmp_path / "0") for path in (tmp_path / "0").rglob("*.*"))
    assert len(written) == 2 * len(constructions())
    for path in written:
        assert (tmp_path / "0" / path).read_bytes() == (tmp_path / "1" / path).read_bytes(), path
