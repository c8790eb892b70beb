"""Derivatives that are written out by hand are written out once: a second derivative is refused, never wrong.

A function with a ``backward`` of its own keeps numbers from its forward pass (gates, attention weights) that autograd
takes for constants. Differentiated again, it would give a wrong second derivative without a word.
``torch.autograd.function.once_differentiable`` does not help: where ``torch.autograd.grad`` is asked for the
derivative to some tensors only and there is another way to them, such as a residual connection, it leaves out the
share of the function instead of raising.
"""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import torch

from separatrix.errors import SeparatrixError

Given = ParamSpec("Given")
Found = TypeVar("Found")


def differentiable_once(backward: Callable[Given, Found]) -> Callable[Given, Found]:
    """Return a ``backward`` that refuses to be differentiated itself (``create_graph=True``).

    >>> class Square(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.twice = 2 * x
    ...         return x * x
    ...     @staticmethod
    ...     @differentiable_once
    ...     def backward(ctx, outer):
    ...         return ctx.twice * outer
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> torch.autograd.grad(Square.apply(x), x)
    (tensor(6.),)
    >>> torch.autograd.grad(Square.apply(x), x, create_graph=True)
    Traceback (most recent call last):
    separatrix.errors.SeparatrixError: ...Square has no second derivative; differentiate without create_graph=True
    """

    @wraps(backward)
    def refusing(*given: Given.args, **more: Given.kwargs) -> Found:
        # A backward pass records itself only where it is to be differentiated. The compiler traces it as if it were.
        if torch.is_grad_enabled() and not torch.compiler.is_compiling():
            name = backward.__qualname__.rpartition(".")[0]
            raise SeparatrixError(f"{name} has no second derivative; differentiate without create_graph=True")
        return backward(*given, **more)

    return refusing
