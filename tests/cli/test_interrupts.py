"""Progress on a terminal, silence elsewhere, and Ctrl-C in a real process: nothing half-written is left."""

import json
import math
import os
import pty
import select
import signal
import subprocess
import sys

import pytest

from separatrix.cli import app
from separatrix.cli.interrupts import uninterrupted

LOOPS = {
    "choices of tokens": ("certify", "equality", "--length", "4096", "--exponent", "1"),
    "query positions": ("certify", "nearest-neighbour", "--length", "64"),
}
"""Certifications by what their longest loop says it is doing."""
SCRIPT = """
import os, time
from separatrix.cli import main

def slowly(method):
    def slowed(bar, *arguments, **settings):
        method(bar, *arguments, **settings)
        if os.environ["SLOW"] in bar.tasks[0].description:
            until = time.monotonic() + float(os.environ["SECONDS"])
            while time.monotonic() < until:
                time.sleep(0.01)
    return slowed

if "SLOW" in os.environ:
    from rich.progress import Progress
    Progress.update, Progress.reset = slowly(Progress.update), slowly(Progress.reset)
main()
"""
"""The command; where SLOW names a loop, each of its rounds takes SECONDS, so that no interrupt comes too late. It takes
them in small steps: a signal that comes just before a pause is only seen after it."""
HANGING = 600
"""Seconds after which something is taken to hang; nothing takes as long, however busy the machine."""


def start(
    *arguments: str, terminal: int | None = None, slow: str | None = None, seconds: float = math.inf
) -> subprocess.Popen[bytes]:
    more = {} if slow is None else {"SLOW": slow, "SECONDS": str(seconds)}
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if terminal is None else terminal,
        env={**os.environ, "COLUMNS": "120", "TERM": "xterm", **more},
        start_new_session=True,
    )


def read_until(terminal: int, words: bytes) -> bytes:
    """What the terminal shows until these words appear."""
    seen = b""
    while words not in seen:
        assert select.select([terminal], [], [], HANGING)[0], seen
        seen += os.read(terminal, 65536)
    return seen


@pytest.mark.parametrize("doing", LOOPS)
def test_interrupting_a_certification_leaves_nothing(tmp_path, doing):
    ours, theirs = pty.openpty()
    process = start(*LOOPS[doing], "--out", str(tmp_path / "made"), terminal=theirs, slow=doing)
    os.close(theirs)
    shown = read_until(ours, doing.encode())
    shown += read_until(ours, b"left")
    assert "━".encode() in shown or b"-" in shown, "a bar is drawn"
    process.send_signal(signal.SIGINT)
    read_until(ours, b"interrupted")
    out, _ = process.communicate(timeout=HANGING)
    os.close(ours)
    assert process.returncode == 130
    assert out == b""
    assert list(tmp_path.iterdir()) == []


def test_interrupting_a_check_leaves_the_certificate_as_it_was(call, tmp_path):
    folder = tmp_path / "made"
    # A method over the reals, because the kernel shows no progress.
    made = call("certify", "associative-recall", "--length", "16", "--arithmetic", "balls", "--out", str(folder))
    assert made.code == 0
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    ours, theirs = pty.openpty()
    process = start("check", str(folder), terminal=theirs, slow="query positions")
    os.close(theirs)
    read_until(ours, b"query positions")
    process.send_signal(signal.SIGINT)
    read_until(ours, b"interrupted")
    process.communicate(timeout=HANGING)
    os.close(ours)
    assert process.returncode == 130
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_without_a_terminal_nothing_is_drawn(tmp_path, more):
    process = start("certify", "index-lookup", "--length", "64", "--out", str(tmp_path / "made"), *more)
    out, errors = process.communicate(timeout=HANGING)
    assert process.returncode == 0
    assert errors == b""
    if more:
        assert json.loads(out)["certified"] is True


def test_json_is_silent_on_a_terminal_too(tmp_path):
    ours, theirs = pty.openpty()
    process = start("certify", "equality", "--length", "8", "--out", str(tmp_path), "--json", terminal=theirs)
    out, _ = process.communicate(timeout=HANGING)
    assert not select.select([ours], [], [], 0)[0], "nothing was written to the terminal"
    os.close(theirs)
    os.close(ours)
    assert json.loads(out)["certified"] is True


def test_an_interrupt_waits_until_the_files_are_there():
    steps, before = [], signal.getsignal(signal.SIGINT)  # ignored where the tests run in the background of a shell
    with pytest.raises(KeyboardInterrupt), uninterrupted():
        steps.append("network")
        signal.raise_signal(signal.SIGINT)
        steps.append("certificate")
    assert steps == ["network", "certificate"]
    assert signal.getsignal(signal.SIGINT) is before


def test_without_an_interrupt_nothing_happens():
    with uninterrupted():
        done = True
    assert done


@pytest.mark.parametrize("raised", [ImportError("initialization failed"), RuntimeError("Failed to export the model")])
def test_ctrl_c_that_a_library_turns_into_its_own_error_is_ctrl_c(monkeypatch, capsys, raised):
    """A compiled module that loads says that it could not be initialised, torch's exporter that it failed."""

    def loading(arguments):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise raised from None

    monkeypatch.setattr(app, "_run", loading)
    assert app.run(["list"]) == 130
    assert capsys.readouterr().err == f"separatrix: {app.INTERRUPTED}\n"


def test_a_module_that_is_missing_is_no_interruption(monkeypatch):
    def missing(arguments):
        raise ImportError("no such thing")

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(app, "_run", missing)
    with pytest.raises(ImportError, match="no such thing"):
        app.run(["list"])
    assert signal.getsignal(signal.SIGINT) is before
