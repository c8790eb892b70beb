"""The Triton kernels against their plain oracles: on a GPU where there is one, else in Triton's interpreter.

The cases are in ``kernel_cases``, small ones without a GPU. They run in a process of their own, because Triton must be
told to interpret before it is first imported. Where it is not installed they are skipped; the plain versions that then
run are held against loops in ``test_scans`` and ``test_gated_scans``.
"""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from torch.nn import functional

from separatrix.models.kernels.available import kernel_takes
from separatrix.models.kernels.convolution import convolve_silu
from separatrix.models.kernels.lstm import LARGEST, lstm_states
from separatrix.models.scans.gated import lstm_scan
from tests.models.kernel_cases import Case, cases, held_against, normal, run_all

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(find_spec("triton") is None, reason="Triton is not installed")
def test_kernels_are_their_plain_versions() -> None:
    command = [sys.executable, "-W", "error", "-m", "tests.models.kernel_cases"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1200, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    right = [line.partition(": right")[0] for line in found.stdout.splitlines() if ": right" in line]
    assert right == [case.name for case in cases()]


def test_a_wrong_kernel_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    x = normal(2, 2, 5, 8)

    def held(scale: float) -> Case:
        return Case(f"scaled {scale}", lambda: held_against(lambda x: scale * x, lambda x: x, (x,), torch.float32))

    assert run_all([held(1.0)], []) == 0
    assert run_all([held(1.0), held(1.001)], []) == 1
    assert run_all([held(1.001)], ["other"]) == 0
    assert "scaled 1.001: WRONG: AssertionError: outputs differ by 0.001" in capsys.readouterr().out


def test_without_triton_or_gpu_the_plain_version_runs() -> None:
    assert not kernel_takes(torch.zeros(1, dtype=torch.float64))
    inputs = (torch.ones(1, 1, 3, 2, dtype=torch.float64), torch.ones(1, 2, 4, dtype=torch.float64), None)
    torch.testing.assert_close(
        convolve_silu(*inputs)[0, 0, :, 0], functional.silu(torch.tensor([1.0, 2.0, 3.0])).double()
    )


@pytest.mark.parametrize("width", [3, LARGEST + 1])
def test_the_lstm_is_the_plain_scan_where_no_kernel_takes_it(width: int) -> None:
    entering = torch.randn(2, 2, 3, 4 * width, dtype=torch.float64)
    weight = torch.randn(2, 4 * width, width, dtype=torch.float64) / width
    assert torch.equal(lstm_states(entering, weight), lstm_scan(entering, weight.transpose(1, 2)))
