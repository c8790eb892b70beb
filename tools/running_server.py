"""The explorer in a process of its own, as ``separatrix serve`` starts it; for tests, measurements and screenshots."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ENDED_WITHIN = 600
"""Seconds that a busy machine may need to end a server."""


@contextmanager
def running_server(store: Path, *options: str) -> Iterator[str]:
    """The address of a server on a free port of this machine, ended with Ctrl-C."""
    call = "from separatrix.cli import main; main()"
    command = [sys.executable, "-c", call, "serve", "--port", "0", "--store", str(store), "--json", *options]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as server:
        try:
            assert server.stdout is not None
            lines: list[str] = []
            while not lines or lines[-1] != "}\n":
                line = server.stdout.readline()
                assert line, server.stderr.read() if server.stderr else ""
                lines.append(line)
            yield json.loads("".join(lines))["address"].rstrip("/")
        finally:
            server.send_signal(signal.SIGINT)
            _, said = server.communicate(timeout=ENDED_WITHIN)
    # Whatever went wrong inside is reported on standard error.
    assert (server.returncode, said) == (0, ""), said
