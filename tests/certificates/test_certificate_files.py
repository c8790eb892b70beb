"""Certificates on disk: whole, honest, bound to one weight file."""

import json
from fractions import Fraction

import pytest

from separatrix.certificates import check
from separatrix.certificates.certificate import check_certificate, write_certificate
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
            ("task", "nope"),
            ("length", "16"),
            ("parameters", {"nope": 1}),
            ("arithmetic", "fixed:x"),
        ],
    )
    def test_unreadable_statements_are_refused(self, folder, field, value):
        path = folder / "certificate.json"
        content = json.loads(path.read_text())
        content[field] = value
        path.write_text(json.dumps(content))
        with pytest.raises(SeparatrixError):
            check_certificate(path)

    def test_there_is_no_certificate_for_a_false_claim(self, tmp_path):
        network, claim = build("equality", 16, gain=Fraction(1))
        with pytest.raises(SeparatrixError, match="no certificate"):
            write_certificate(network, claim, check(network, claim), tmp_path, {})
        assert not list(tmp_path.iterdir())
