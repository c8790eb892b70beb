"""Whether inputs are what a model reads; what is not ends in one line that says what would be."""

import torch
from torch import Tensor

from separatrix.errors import SeparatrixError


def check_inputs(inputs: Tensor, shape: tuple[int, ...], what: str, bound: int | None) -> None:
    """Raise a one-line error unless inputs are (batch, *shape) and, with a bound, whole numbers from 0 below it."""
    if tuple(inputs.shape[1:]) != shape:
        wanted = ", ".join(map(str, shape))
        raise SeparatrixError(f"the model reads {what}: (batch, {wanted}), not {tuple(inputs.shape)}")
    if bound is None:
        return
    if inputs.dtype != torch.int64:
        raise SeparatrixError(f"the model reads {what} as torch.int64, not {inputs.dtype}")
    check_range(inputs, what, bound)


def check_range(numbers: Tensor, what: str, bound: int, first: int = 0) -> None:
    """Raise a one-line error unless all numbers, counted from ``first``, are from 0 to ``bound`` - 1."""
    # While a graph is traced there are no values to look at.
    if torch.compiler.is_compiling() or not numbers.numel():
        return
    lowest, highest = int(numbers.min()), int(numbers.max())
    if lowest < 0 or highest >= bound:
        raise SeparatrixError(
            f"the model reads {what} from {first} to {first + bound - 1}, not {first + lowest} to {first + highest}"
        )
