"""``--max-memory`` as text, as an estimate, and as a limit that the running process really meets."""

import json
import re
import subprocess
import sys
import textwrap

import numpy
import pytest

from separatrix.cli import limits
from separatrix.cli.limits import limited_memory, memory_limit, parse_bytes
from separatrix.errors import SeparatrixError

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="only Linux enforces the limit")


def resident() -> int:
    return limits._now("VmRSS")


@pytest.mark.parametrize(
    ("text", "size"), [("8G", 8 << 30), ("500m", 500 << 20), ("1024", 1024), ("2 ", 2), ("3KB", 3 << 10)]
)
def test_sizes(text, size):
    assert parse_bytes(text) == size


@pytest.mark.parametrize("text", ["", "G", "-1G", "8X", "1e9", "9" * 40])
def test_sizes_that_are_none(text):
    with pytest.raises(SeparatrixError, match="not a size"):
        parse_bytes(text)


def in_a_process_of_its_own(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program as the command line would run: freed memory that other tests left to this process would be
    handed out again, and nothing new would be asked of the system, so that no limit could be met."""
    command = [sys.executable, "-c", textwrap.dedent(program), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@linux_only
def test_a_process_meets_its_limit_and_is_free_again_afterwards():
    ended = in_a_process_of_its_own("""
        import resource
        import numpy
        from separatrix.cli import limits
        from separatrix.errors import SeparatrixError
        before = resource.getrlimit(resource.RLIMIT_DATA)
        try:
            with limits.limited_memory(limits._now("VmRSS")):
                numpy.ones(200 << 17)  # 200 MiB
        except SeparatrixError as error:
            print(error)
        print(resource.getrlimit(resource.RLIMIT_DATA) == before, numpy.ones(200 << 17).nbytes >> 20)
    """)
    assert re.fullmatch(r"stopped: .* more than the .* GiB of --max-memory; .*\nTrue 200\n", ended.stdout), ended


@linux_only
def test_what_fits_is_left_alone():
    with limited_memory(resident() + (400 << 20)):
        assert numpy.ones(100 << 17).nbytes == 100 << 20


@linux_only
def test_a_certification_that_outgrows_its_estimate_ends_in_one_line(tmp_path):
    ended = in_a_process_of_its_own(
        """
        import sys
        from separatrix.certificates import memory
        from separatrix.cli import limits, main
        memory.estimated_bytes = lambda network: 0
        import separatrix.cli.verb_certify
        sys.argv += ["--max-memory", str(limits._now("VmRSS") + (30 << 20))]
        main()
        """,
        *("certify", "match2-code", "-n", "512", "--out", str(tmp_path / "made")),
    )
    assert ended.returncode == 2, ended
    assert ended.stdout == ""
    assert len(ended.stderr.splitlines()) == 1
    assert "--max-memory" in ended.stderr
    assert not (tmp_path / "made").exists()


def test_the_estimate_refuses_before_any_work(call, tmp_path):
    ended = call("certify", "equality", "-n", "8", "--max-memory", "1M", "--out", str(tmp_path / "made"))
    assert ended.code == 2
    assert "GiB" in ended.err


def test_a_system_that_does_not_enforce_it_says_so(capsys, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert memory_limit("2G") == 2 << 30
    assert "does not enforce --max-memory" in capsys.readouterr().err
    assert memory_limit(None) == 8 << 30
    assert capsys.readouterr().err == ""
    with limited_memory(1):
        assert numpy.ones(10 << 17).nbytes == 10 << 20


def test_check_takes_the_limit_too(call, tmp_path):
    folder = str(tmp_path / "made")
    call("certify", "index-lookup", "-n", "16", "--out", folder)
    assert json.loads(call("check", folder, "--max-memory", "4G", "--json").out)["valid"] is True
    assert call("check", folder, "--max-memory", "lots").code == 2
