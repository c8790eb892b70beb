"""Whole files or none."""

import os
from pathlib import Path

import pytest

from separatrix.errors import SeparatrixError
from separatrix.files import check_writable, write_atomically


def test_content_and_folders(tmp_path):
    target = tmp_path / "a" / "b" / "file.txt"
    write_atomically(target, "héllo")
    assert target.read_text(encoding="utf-8") == "héllo"
    write_atomically(target, b"\x00\x01")
    assert target.read_bytes() == b"\x00\x01"
    assert [path.name for path in target.parent.iterdir()] == ["file.txt"]


def test_a_full_disk_leaves_the_old_file_and_no_partial_one(tmp_path, monkeypatch):
    target = tmp_path / "file.txt"
    write_atomically(target, "old")

    def no_room(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("separatrix.files.os.fsync", no_room)
    with pytest.raises(SeparatrixError, match="No space left on device"):
        write_atomically(target, "new")
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["file.txt"]


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "blocked").write_text("a file")
    with pytest.raises(SeparatrixError, match="cannot write"):
        write_atomically(tmp_path / "blocked" / "x.txt", "data")


def test_devices_pipes_and_open_files_are_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for place, told in ((pipe, "it is a pipe, not a file"), (Path("/dev/null"), "it is a device, not a file")):
        with pytest.raises(SeparatrixError, match=told):
            write_atomically(place, "data")
    assert pipe.is_fifo()
    assert Path("/dev/null").is_char_device()
    with (tmp_path / "output").open("w") as stream:
        link = tmp_path / "stdout"
        link.symlink_to(f"/proc/self/fd/{stream.fileno()}")
        with pytest.raises(SeparatrixError, match="a link to what a process has open"):
            write_atomically(link, "data")
    assert link.is_symlink()
    assert {path.name for path in tmp_path.iterdir()} == {"pipe", "output", "stdout"}


def test_what_cannot_be_written_is_known_before_the_work(tmp_path, monkeypatch):
    check_writable(tmp_path / "new" / "folder" / "file.txt")
    (tmp_path / "old.txt").write_text("old")
    check_writable(tmp_path / "old.txt")
    (tmp_path / "folder").mkdir()
    with pytest.raises(SeparatrixError, match=r"cannot write .*folder: Is a directory"):
        check_writable(tmp_path / "folder")
    for place, told in ((tmp_path / "old.txt" / "x", "Not a directory"), (Path("/proc/none/x"), "cannot write")):
        with pytest.raises(SeparatrixError, match=told):
            check_writable(place)

    def no_room(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("separatrix.files.os.fsync", no_room)
    with pytest.raises(SeparatrixError, match="No space left on device"):
        check_writable(tmp_path / "file.txt")
    assert {path.name for path in tmp_path.iterdir()} == {"old.txt", "folder"}
    assert (tmp_path / "old.txt").read_text() == "old"


def test_a_link_to_a_file_gives_way_and_the_file_stays(tmp_path):
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to("file")
    write_atomically(tmp_path / "link", "new")
    assert (tmp_path / "link").read_text() == "new"
    assert (tmp_path / "file").read_text() == "old"
