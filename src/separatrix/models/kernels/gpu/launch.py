"""How a kernel's function is called: out of the compiler's sight.

The compiler would look into the function, replace the tensors that a kernel writes to by copies with strides of their
own, and take a number such as a scale for float64 where a launch takes it for float32. Both were seen on an H200 with
torch 2.11: the first read and wrote outside of its memory (retention), the second did not compile (linear attention).
So a compiled block is cut here into what is before a kernel and what is behind it.
"""

from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor


def _launched_pair(function: type[torch.autograd.Function], *inputs: Any) -> tuple[Tensor, Tensor]:
    first, second = function.apply(*inputs)
    return first, second


def _launched(function: type[torch.autograd.Function], *inputs: Any) -> Tensor:
    result: Any = function.apply(*inputs)
    assert isinstance(result, Tensor)
    return result


launched_pair = cast(Callable[..., tuple[Tensor, Tensor]], torch.compiler.disable(_launched_pair))
"""The same for a function of two outputs."""
launched = cast(Callable[..., Tensor], torch.compiler.disable(_launched))
"""The output of a function (a ``torch.autograd.Function``) for the inputs that follow it, differentiable."""
