"""Freed memory stays in the process once that was asked for."""

import json
import platform
import subprocess
import sys

import pytest

SCRIPT = """
import json, resource, torch
from separatrix.models.allocator import keep_freed_memory

def faults():
    for _ in range(5):
        torch.zeros(16 << 20)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(10):
        torch.zeros(16 << 20)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

print(json.dumps([faults(), keep_freed_memory(), faults()]))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="settings of glibc")
def test_kept_memory_is_used_again():
    ended = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    before, done, after = json.loads(ended.stdout)
    assert done is True
    # 64 MiB are 16384 pages of 4 KiB, or 32 of 2 MiB; kept memory is faulted in again only where the heap still grew.
    assert before >= 10 * 32
    assert after * 2 < before
