"""Where there is a GPU: every architecture gives there what it gives on the CPU, outputs and gradients."""

import pytest
import torch

from tests.models.cuda_cases import Case, cases

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")


@pytest.mark.parametrize("case", list(cases()), ids=lambda case: case.name)
def test_the_gpu_gives_what_the_cpu_gives(case: Case):
    case.run()
