"""Files are read as they are: no unknown field, no number of another type, no key twice, no array left over."""

import hashlib
import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy
import pytest
from tools.mutants.network_changes import Files

from separatrix.certificates import check
from separatrix.certificates.certificate import write_certificate
from separatrix.cli.app import run
from separatrix.constructions import constructions
from separatrix.errors import SeparatrixError
from separatrix.networks.store import from_bytes, to_bytes
from tests.certificates.changes import build


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("written")
    network, claim = build("sparse-averaging", 3, {"sparsity": 2, "resolution": 1})
    write_certificate(network, claim, check(network, claim), folder, {"construction": "sparse-averaging"})
    return Files.of((folder / "network.safetensors").read_bytes(), (folder / "certificate.json").read_text())


def objects(structure: Any) -> list[tuple[str | int, ...]]:
    """The paths of all objects within a structure."""
    found: list[tuple[str | int, ...]] = []
    children = structure.items() if isinstance(structure, dict) else enumerate(structure)
    if isinstance(structure, dict):
        found.append(())
    for key, value in children:
        if isinstance(value, dict | list):
            found += [(key, *rest) for rest in objects(value)]
    return found


def at(structure: Any, path: tuple[str | int, ...]) -> Any:
    for key in path:
        structure = structure[key]
    return structure


def refused(files: Files) -> str:
    with pytest.raises(SeparatrixError) as caught:
        from_bytes(files.network(), "the file")
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


def test_no_object_of_a_network_has_an_unknown_field_or_lacks_one(written):
    optional = {"features", "power_sums"}
    for path in objects(written.structure):
        files = written.copy()
        at(files.structure, path)["more"] = 1
        assert "more" in refused(files), path
        for name in at(written.structure, path):
            files = written.copy()
            del at(files.structure, path)[name]
            if name not in optional:
                refused(files)


def numbers_and_truths(structure: Any) -> list[tuple[str | int, ...]]:
    children = structure.items() if isinstance(structure, dict) else enumerate(structure)
    found: list[tuple[str | int, ...]] = []
    for key, value in children:
        if isinstance(value, dict | list):
            found += [(key, *rest) for rest in numbers_and_truths(value)]
        elif isinstance(value, int):
            found.append((key,))
    return found


def test_no_number_of_a_network_is_read_from_something_else(written):
    places = numbers_and_truths(written.structure)
    assert len(places) > 20
    for path in places:
        old = at(written.structure, path)
        others = (
            ["false", "true", 0, 1, None] if isinstance(old, bool) else [old + 0.99, float(old), str(old), True, None]
        )
        for value in others:
            files = written.copy()
            at(files.structure, path[:-1])[path[-1]] = value
            refused(files)


@pytest.mark.parametrize(
    "change",
    [
        lambda files: files.tensors.update(more=numpy.zeros((1, 1), dtype=numpy.int64)),
        lambda files: files.structure.update(about=3),
        lambda files: files.structure.update(slots=[["a", 1, 2]]),
        lambda files: files.structure.update(layers={}),
        lambda files: files.structure["layers"].append("feed-forward"),
        lambda files: files.structure["layers"][0].update(kind="attention-2"),
        lambda files: files.structure["readout"].update(decoding=["bits"]),
        lambda files: files.structure["embedding"][0]["rule"].update(kind="signs-2"),
        lambda files: files.structure["embedding"][0].update(positions=[0, 3, 4]),
        lambda files: files.structure["embedding"][0].update(slot=7),
    ],
)
def test_what_stands_in_the_wrong_place_is_refused(written, change: Callable[[Files], object]):
    files = written.copy()
    change(files)
    refused(files)


def test_a_key_that_stands_twice_is_refused(written):
    data = written.network()
    twice = data.replace(b'\\"vocabulary\\": ', b'\\"positions\\":  ')
    assert len(twice) == len(data) and twice != data
    with pytest.raises(SeparatrixError):
        from_bytes(twice, "the file")


def test_every_construction_survives_its_file():
    for name, construction in constructions().items():
        length = next(each for each in (8, 16, 6, 7) if construction.build(each) is not None)
        network = construction.build(length).network
        assert to_bytes(from_bytes(to_bytes(network), name)) == to_bytes(network)


@pytest.mark.parametrize(
    "change",
    [
        {"more": 1},
        {"length": 3.0},
        {"size": {"layers": True}},
        {"size": {"layers": 1.0}},
        {"size": []},
        {"method": 1},
        {"about": "x"},
        {"versions": []},
        {"inputs_covered": 27},
        {"counterexample": "1"},
    ],
)
def test_a_certificate_is_read_strictly(written, change, tmp_path, capsys):
    certificate = {**deepcopy(written.certificate), **change}
    (tmp_path / "network.safetensors").write_bytes(written.network())
    (tmp_path / "certificate.json").write_text(json.dumps(certificate))
    assert run(["check", str(tmp_path)]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_check_says_what_it_checked(tmp_path, capsys):
    """An easier claim about the same network is valid too, and does not look the same."""
    network, claim = build("index-lookup", 8)
    write_certificate(network, claim, check(network, claim), tmp_path, {})
    assert run(["check", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "index-lookup" in shown
    assert "alphabet 64" in shown
    assert "length 8" in shown
    assert str(claim.arithmetic) in shown
    assert shown.index("length 8") < shown.index("valid")
    assert run(["check", str(tmp_path), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["task"], record["parameters"], record["length"]) == ("index-lookup", {"alphabet": 64}, 8)
    assert (record["arithmetic"], record["inputs"]) == (str(claim.arithmetic), record["inputs_covered"])
    easier = json.loads((tmp_path / "certificate.json").read_text())
    easier["parameters"] = {"alphabet": 63}
    assert hashlib.sha256((tmp_path / "network.safetensors").read_bytes()).hexdigest() == easier["sha256"]
    (tmp_path / "certificate.json").write_text(json.dumps(easier))
    run(["check", str(tmp_path)])
    assert "alphabet 63" in capsys.readouterr().out
