"""Progress on a terminal, silence elsewhere, and Ctrl-C in a real process: nothing half-written is left."""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time

import pytest

from separatrix.cli.interrupts import uninterrupted

SLOW = ("certify", "dyck-transformer", "--length", "2048")
SCRIPT = "import sys; from separatrix.cli import main; main()"


def start(*arguments: str, terminal: int | None = None) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if terminal is None else terminal,
        env={**os.environ, "COLUMNS": "120", "TERM": "xterm"},
        start_new_session=True,
    )


def read_until(terminal: int, words: bytes, patience: float = 60) -> bytes:
    """What the terminal shows until these words appear."""
    seen, end = b"", time.monotonic() + patience
    while words not in seen:
        assert time.monotonic() < end, seen
        if select.select([terminal], [], [], 0.2)[0]:
            seen += os.read(terminal, 65536)
    return seen


def test_interrupting_a_certification_leaves_nothing(tmp_path):
    ours, theirs = pty.openpty()
    process = start(*SLOW, "--out", str(tmp_path / "made"), terminal=theirs)
    os.close(theirs)
    shown = read_until(ours, b"checking all inputs")
    assert "━".encode() in shown or b"-" in shown, "a bar is drawn"
    process.send_signal(signal.SIGINT)
    read_until(ours, b"interrupted")
    out, _ = process.communicate(timeout=60)
    os.close(ours)
    assert process.returncode == 130
    assert out == b""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_without_a_terminal_nothing_is_drawn(tmp_path, more):
    process = start("certify", "index-lookup", "--length", "64", "--out", str(tmp_path / "made"), *more)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 0
    assert errors == b""
    if more:
        assert json.loads(out)["certified"] is True


def test_json_is_silent_on_a_terminal_too(tmp_path):
    ours, theirs = pty.openpty()
    process = start("certify", "equality", "--length", "8", "--out", str(tmp_path), "--json", terminal=theirs)
    out, _ = process.communicate(timeout=60)
    assert not select.select([ours], [], [], 0)[0], "nothing was written to the terminal"
    os.close(theirs)
    os.close(ours)
    assert json.loads(out)["certified"] is True


def test_an_interrupt_waits_until_the_files_are_there():
    steps = []
    with pytest.raises(KeyboardInterrupt), uninterrupted():
        steps.append("network")
        signal.raise_signal(signal.SIGINT)
        steps.append("certificate")
    assert steps == ["network", "certificate"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_without_an_interrupt_nothing_happens():
    with uninterrupted():
        done = True
    assert done
