"""Freed memory stays in the process once that was asked for."""

import platform
import subprocess
import sys

import pytest

SCRIPT = """
import resource, sys, torch
from separatrix.models.allocator import keep_freed_memory
if sys.argv[1] == "keep":
    assert keep_freed_memory()
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    torch.zeros(16 << 20)
before = faults()
for _ in range(10):
    torch.zeros(16 << 20)
print(faults() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="settings of glibc")
def test_kept_memory_is_used_again():
    counts = {
        mode: int(
            subprocess.run([sys.executable, "-c", SCRIPT, mode], capture_output=True, text=True, check=True).stdout
        )
        for mode in ("keep", "leave")
    }
    # 64 MiB are 16384 pages of 4 KiB, or 32 of 2 MiB. Kept memory is faulted in again at most where the heap still grew.
    assert counts["leave"] >= 10 * 32
    assert counts["keep"] * 2 < counts["leave"]
