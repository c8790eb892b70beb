"""A checkpoint that is not whole is never taken for one, and none is ever unpickled."""

import json
import pickle
from functools import cache
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save

from separatrix.errors import SeparatrixError
from separatrix.training.checkpoints import (
    Checkpoint,
    DamagedCheckpointError,
    part_of,
    read_checkpoint,
    weights_file,
    weights_of,
    written,
)
from separatrix.training.ensemble import Ensemble
from separatrix.training.group_files import GroupFiles
from separatrix.training.grouping import Group
from tests.training.cases import CPU, grid

SPECS = grid(3)
GROUP = Group(SPECS)


@cache
def ensemble() -> Ensemble:
    found = Ensemble(SPECS, CPU)
    found.advance(3)
    return found


@cache
def content() -> bytes:
    runs = tuple(spec.name for spec in SPECS)
    return written(Checkpoint(GROUP.name, runs, 3, 1.5, ensemble().tensors()))


def test_a_checkpoint_is_read_back_as_it_was_written() -> None:
    found = read_checkpoint(content(), GROUP.name)
    assert (found.runs, found.step, found.seconds) == (tuple(spec.name for spec in SPECS), 3, 1.5)
    assert all(torch.equal(found.tensors[name], each) for name, each in ensemble().tensors().items())


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_no_flipped_bit_goes_unnoticed(data: st.DataObject) -> None:
    whole = content()
    # Half of the flips fall into the header, which is the smaller part.
    place = data.draw(st.integers(0, 800) | st.integers(0, len(whole) - 1))
    damaged = bytearray(whole)
    damaged[place] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(DamagedCheckpointError):
        read_checkpoint(bytes(damaged), GROUP.name)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_no_truncated_or_longer_file_is_read(data: st.DataObject) -> None:
    whole = content()
    with pytest.raises(DamagedCheckpointError):
        read_checkpoint(whole[: data.draw(st.integers(0, len(whole) - 1))], GROUP.name)
    with pytest.raises(DamagedCheckpointError):
        read_checkpoint(whole + data.draw(st.binary(min_size=1, max_size=20)), GROUP.name)


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_refused_in_one_line(garbage: bytes) -> None:
    with pytest.raises(DamagedCheckpointError) as caught:
        read_checkpoint(garbage, GROUP.name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("about", ["[]", "{}", "null", '{"group": 1}', '"text"', "{"])
def test_a_file_of_another_kind_is_refused(about: str) -> None:
    other = save({"weights": torch.zeros(2)}, {"about": about, "checksum": ""})
    with pytest.raises(DamagedCheckpointError):
        read_checkpoint(other, GROUP.name)
    with pytest.raises(DamagedCheckpointError):
        read_checkpoint(save({"weights": torch.zeros(2)}), GROUP.name)


def test_the_checkpoint_of_another_group_is_refused() -> None:
    with pytest.raises(DamagedCheckpointError, match="belongs to"):
        read_checkpoint(content(), Group(SPECS[:2]).name)


def test_a_pickle_is_never_opened(tmp_path: Path) -> None:
    trap = tmp_path / "trap"

    class Bomb:
        def __reduce__(self) -> tuple[object, tuple[object, ...]]:
            return (Path.touch, (trap,))

    for file in (pickle.dumps(Bomb()), json.dumps({"about": 1}).encode()):
        with pytest.raises(DamagedCheckpointError):
            read_checkpoint(file, GROUP.name)
        with pytest.raises(SeparatrixError):
            weights_of(file, SPECS[0].name)
    assert not trap.exists()


def test_a_part_of_a_checkpoint_goes_on_with_its_members() -> None:
    names = [SPECS[2].name, SPECS[0].name, "not in training any more"]
    part = read_checkpoint(part_of(read_checkpoint(content(), GROUP.name), "other", names), "other")
    assert part.runs == (SPECS[0].name, SPECS[2].name)
    assert (part.step, part.seconds) == (3, 1.5)
    rest = Ensemble([SPECS[0], SPECS[2]], CPU)
    rest.load(part.tensors, part.step)
    rest.advance(4)
    everyone = Ensemble(SPECS, CPU)
    everyone.advance(7)
    assert torch.equal(rest.tensors()["weights"], everyone.tensors()["weights"][[0, 2]])
    assert torch.equal(rest.tensors()["sums"], everyone.tensors()["sums"][:, [0, 2]])


def test_weights_are_found_by_run_and_name() -> None:
    found = weights_of(weights_file(ensemble(), [0, 2]), SPECS[2].name)
    for name, parameter in ensemble().model.named_parameters():
        assert torch.equal(found[name], parameter.detach()[2])
    with pytest.raises(SeparatrixError, match="holds no weights"):
        weights_of(weights_file(ensemble(), [0, 2]), SPECS[1].name)


# -- on the disk -----------------------------------------------------------------------------------------


def saved_twice(tmp_path: Path) -> tuple[GroupFiles, list[str], Path]:
    said: list[str] = []
    files = GroupFiles(tmp_path, said.append)
    earlier = Checkpoint(GROUP.name, tuple(spec.name for spec in SPECS), 2, 1.0, ensemble().tensors())
    files.save(GROUP.name, written(earlier))
    files.save(GROUP.name, content())
    return files, said, tmp_path / "checkpoints" / f"{GROUP.name}.safetensors"


def step_of(found: bytes | None) -> int | None:
    return None if found is None else read_checkpoint(found, GROUP.name).step


def test_the_one_before_is_used_when_the_newest_is_damaged(tmp_path: Path) -> None:
    files, said, newest = saved_twice(tmp_path)
    runs = [spec.name for spec in SPECS]
    assert step_of(files.checkpoint(GROUP.name, runs)) == 3
    newest.write_bytes(content()[:-1])
    assert step_of(files.checkpoint(GROUP.name, runs)) == 2
    assert len(said) == 1
    assert str(newest) in said[0]
    newest.unlink()
    assert step_of(files.checkpoint(GROUP.name, runs)) == 2
    newest.with_suffix(".previous").write_bytes(b"")
    assert files.checkpoint(GROUP.name, runs) is None


def test_a_checkpoint_without_a_run_that_has_no_result_is_not_used(tmp_path: Path) -> None:
    """The run would never be trained: it had ended when the checkpoint was made, and its result was removed."""
    files, said, _ = saved_twice(tmp_path)
    assert files.checkpoint(GROUP.name, ["0123456789abcdef"]) is None
    assert len(said) == 2


def test_what_was_only_begun_is_removed_and_locks_exclude(tmp_path: Path) -> None:
    files, _, newest = saved_twice(tmp_path)
    begun = newest.with_name(f".{newest.name}.abc.partial")
    begun.write_bytes(b"half")
    other = newest.with_name(".ffffffffffffffff.safetensors.abc.partial")
    other.write_bytes(b"somebody else is writing this")
    files.tidy(GROUP.name)
    assert not begun.exists()
    assert other.exists()
    held = files.locked(["a", "b"])
    assert held is not None
    assert files.locked(["b", "c"]) is None
    free = files.locked(["c"])
    assert free is not None, "what could not be had whole was let go"
    held.close()
    again = files.locked(["b"])
    assert again is not None
    again.close()
    free.close()
    files.remove_checkpoints(GROUP.name)
    assert [each.name for each in newest.parent.iterdir()] == [other.name]
