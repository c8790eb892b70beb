"""Files have one meaning or none: every looseness of JSON, of the structure and of the tensors is refused."""

import json
from pathlib import Path

import pytest

from separatrix_kernel.checker import check, check_folder
from separatrix_kernel.reading import RefusedError, parse, read_bytes
from tests.kernel.files import File, claimed, joined, proved

CONTENT, DATA = proved("equality", 4)
RECURRENT, CELLS = proved("dyck-rnn", 4)


def refused(data: bytes, content: dict = CONTENT) -> str:
    """What the kernel says to a file that it must refuse."""
    with pytest.raises(RefusedError) as caught:
        check(claimed(content, data), data)
    return str(caught.value)


@pytest.mark.parametrize(
    "text", [b'{"a": 1, "a": 2}', b"1.5", b"1e3", b"NaN", b"-Infinity", b"{", b"\xff", b"[" * 100_000, b"9" * 5000]
)
def test_json_is_strict(text):
    with pytest.raises(RefusedError):
        parse(text, "a text")


def test_files_that_cannot_be_read_are_refused(tmp_path, monkeypatch):
    with pytest.raises(RefusedError):
        read_bytes(tmp_path)
    (tmp_path / "file").write_bytes(b"x")
    monkeypatch.setattr(Path, "read_bytes", lambda self: (_ for _ in ()).throw(PermissionError(13, "denied")))
    with pytest.raises(RefusedError):
        read_bytes(tmp_path / "file")


@pytest.mark.parametrize("field", sorted(CONTENT))
def test_a_claim_lacks_no_field_and_has_no_other(field):
    with pytest.raises(RefusedError):
        check({name: value for name, value in CONTENT.items() if name != field}, DATA)
    with pytest.raises(RefusedError):
        check({**CONTENT, "more": 1}, DATA)
    with pytest.raises(RefusedError):
        check({**CONTENT, field: [True]}, DATA)


@pytest.mark.parametrize(
    "changes",
    [
        {"task": "a\nvalid: all"}, {"network": "../network"}, {"network": ".."}, {"length": 0}, {"length": True},
        {"sha256": "0" * 64}, {"format": "separatrix-proof-2"},
    ],
)  # fmt: skip
def test_what_a_claim_says_is_checked(changes):
    with pytest.raises(RefusedError):
        check({**CONTENT, **changes}, DATA)


def test_a_folder_is_checked(tmp_path):
    (tmp_path / "proof.json").write_text(json.dumps(CONTENT))
    with pytest.raises(RefusedError):
        check_folder(tmp_path)
    (tmp_path / "network.safetensors").write_bytes(DATA)
    accepted = check_folder(tmp_path)
    assert (accepted.inputs_covered, accepted.rule, accepted.positions) == ("2^4", "layers", 4)
    assert "2^4" in accepted.words()


def walk(value, path=()):
    """Every place in a structure that holds a number, a text, a truth value or a list."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from walk(each, (*path, name))
    else:
        yield path
        if isinstance(value, list):
            for place, each in enumerate(value):
                yield from walk(each, (*path, place))


@pytest.mark.parametrize(("content", "data"), [(CONTENT, DATA), (RECURRENT, CELLS)])
def test_no_entry_of_the_structure_is_read_loosely(content, data):
    for path in walk(File(data).structure):
        for forged in (1.0, "true", None, [], {}, -1, True):
            file = File(data)
            holder = file.structure
            for step in path[:-1]:
                holder = holder[step]
            old, holder[path[-1]] = holder[path[-1]], forged
            # A residual may be another one, and the description and a slot that nothing writes may have any name.
            free = path[-1] in ("residual", "about") or path[0] == "slots"
            fine = type(old) is type(forged) and (old == forged or free)
            if not fine:
                refused(file.to_bytes(), content)


@pytest.mark.parametrize("data", [DATA, CELLS])
def test_no_object_of_the_structure_has_a_field_more_or_less(data):
    content = CONTENT if data is DATA else RECURRENT

    def objects(value):
        if isinstance(value, dict):
            yield value
            value = list(value.values())
        for each in value if isinstance(value, list) else []:
            yield from objects(each)

    for number in range(len(list(objects(File(data).structure)))):
        file = File(data)
        list(objects(file.structure))[number]["more"] = 1
        refused(file.to_bytes(), content)
        for name in list(objects(File(data).structure))[number]:
            file = File(data)
            del list(objects(file.structure))[number][name]
            refused(file.to_bytes(), content)


def test_tensors_neither_overlap_nor_hide_nor_change_their_type():
    header, body = File(DATA).header()
    name = "readout.bias"
    entry = header[name]
    start, stop = entry["data_offsets"]
    cases = [
        {**entry, "dtype": "F64"}, {**entry, "dtype": "U8", "shape": [8, 1]}, {**entry, "shape": [2, 1]},
        {**entry, "shape": [1, 1, 1]}, {**entry, "shape": [True, 1]}, {**entry, "data_offsets": [start - 8, stop - 8]},
        {**entry, "data_offsets": [stop, start]}, {**entry, "more": 0}, [], None,
    ]  # fmt: skip
    for forged in cases:
        refused(joined(json.dumps({**header, name: forged}), body))
    refused(joined(json.dumps({**header, "extra": {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}}), body))
    refused(joined(json.dumps(header), body + b"\0"))
    refused(joined(json.dumps({**header, "__metadata__": {}}), body))
    refused(joined(json.dumps({**header, "__metadata__": {"separatrix": "\ud800"}}), body))
    refused(joined("[]", body))
    refused(b"\xff" * 9)
    refused(b"")
    file = File(DATA)
    file.structure["readout"]["bias"] = file.structure["readout"]["matrix"]
    refused(file.to_bytes())
    file = File(DATA)
    file.structure = [1]
    refused(file.to_bytes())


def test_shapes_must_fit_together():
    for name in File(DATA).tensors:
        kind, shape, numbers = File(DATA).tensors[name]
        if kind == "I64" and len(shape) == 2 and "generator" not in name:
            for other, filled in (([shape[0] + 1, shape[1]], shape[1]), ([shape[0], shape[1] + 1], shape[0])):
                file = File(DATA)
                file.tensors[name] = (kind, other, numbers + [0] * filled)
                # One more row of a table that nobody asks for is the only shape that is free.
                if not (name.startswith("embedding") and other[1] == shape[1]):
                    refused(file.to_bytes())


def test_kinds_of_networks_that_the_rules_do_not_cover_are_named():
    file = File(DATA)
    file.structure["layers"][0]["kind"] = "fourth-order-attention"
    assert "fourth-order-attention" in refused(file.to_bytes())
    file = File(DATA)
    file.structure["readout"]["power_sums"] = [3, 3]
    assert "power sums" in refused(file.to_bytes())
    file = File(DATA)
    file.structure["slots"][1][0] = file.structure["slots"][0][0]
    assert "one name" in refused(file.to_bytes())
    file = File(DATA)
    name = file.structure["embedding"][2]["indices"]
    file.tensors[name][2][0] = 1 << 40
    refused(file.to_bytes())
    file = File(DATA)
    kind, shape, numbers = file.tensors[name]
    file.tensors[name] = (kind, [shape[0] - 1], numbers[:-1])
    refused(file.to_bytes())
    file = File(DATA)
    file.tensors[file.structure["embedding"][1]["rule"]["generator"]][2][0] = 2
    refused(file.to_bytes())
    file = File(DATA)
    file.structure["embedding"][1]["positions"] = [0, 1 << 40]
    refused(file.to_bytes())
    file = File(CELLS)
    file.structure["cell"] = []
    for name in [name for name in file.tensors if name.startswith("cell")]:
        del file.tensors[name]
    refused(file.to_bytes(), RECURRENT)


def test_denominators_are_at_least_1_and_headers_have_a_length_of_eight_bytes():
    file = File(DATA)
    file.structure["layers"][0]["heads"][0]["query"]["denominator"] = 0
    refused(file.to_bytes())
    for place in range(8):
        refused(DATA[:place] + bytes([DATA[place] ^ 128]) + DATA[place + 1 :])


def test_features_read_cells_of_one_size():
    content, data = proved("nearest-neighbour", 2, {"points": "hypercube", "dimension": 2})
    file = File(data)
    file.structure["features"][0]["matrix"]["denominator"] = 0
    refused(file.to_bytes(), content)
    file = File(data)
    assert len(file.structure["features"]) > 1
    name = file.structure["features"][-1]["matrix"]["numerators"]
    kind, (rows, columns), numbers = file.tensors[name]
    held = [numbers[row * columns : row * columns + columns] for row in range(rows)]
    for change in (lambda row: row[:-1], lambda row: [*row, 0]):
        changed = [change(row) for row in held]
        file.tensors[name] = (kind, [rows, len(changed[0])], [each for row in changed for each in row])
        refused(file.to_bytes(), content)
