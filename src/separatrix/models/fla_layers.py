"""Layers of the package flash-linear-attention (Yang and Zhang 2024) as modules of ours: ``fla:NAME-(2,128)``.

Every layer of ``fla.layers`` is made with ``hidden_size``, the width, and further parameters by name, which are options
of the model's name (``fla:GatedDeltaNet-(2,128,num_heads=4,mode=chunk)``). Called with ``hidden_states`` of shape
(batch, length, width) it returns a tuple: the output, attentions and a cache, which stays empty; the output is taken.

- ``layer_idx``, where a layer has it, is the place in the stack, as in the package's own models. A layer that passes
  something on to the next one (RWKV7's first values) works with ``layer_idx=0`` as an option: each for itself.
- All of them are causal, so that padding, which lies in the future, needs no ``attention_mask``.
- Their Triton kernels are launched where ``torch.func.vmap`` cannot see them, and some have derivatives in training
  mode alone, so that an ensemble runs member by member without a trial.
- They run on a GPU; Triton's interpreter (TRITON_INTERPRET=1) runs them on a CPU, slowly.
"""

import importlib
import inspect
from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from separatrix.errors import SeparatrixError, UnknownNameError

WIDTH_PARAMETER, LAYER_PARAMETER = "hidden_size", "layer_idx"


def fla_layer(class_name: str) -> Callable[..., nn.Module]:
    """Return a maker of modules around a layer of flash-linear-attention; its signature is that of the layer's
    options."""
    layers = _layers(class_name)
    kind = getattr(layers, class_name, None)
    if not (inspect.isclass(kind) and issubclass(kind, nn.Module)):
        names = getattr(layers, "__all__", None) or [each for each in dir(layers) if each[0].isupper()]
        raise UnknownNameError("layer of flash-linear-attention", class_name, names)
    parameters = inspect.signature(kind).parameters
    if WIDTH_PARAMETER not in parameters:
        raise SeparatrixError(
            f"fla:{class_name} takes no {WIDTH_PARAMETER}, so its width cannot be set; choose another"
        )

    layer: Any = kind

    def make(width: int, **options: Any) -> nn.Module:
        return FlaModule(layer(**{WIDTH_PARAMETER: width}, **options))

    vars(make)["__signature__"] = inspect.Signature(
        [each for each in parameters.values() if each.name != WIDTH_PARAMETER]
    )
    return make


def _layers(class_name: str) -> Any:
    """Return the module ``fla.layers``."""
    try:
        return importlib.import_module("fla.layers")
    except ModuleNotFoundError as error:
        if error.name in ("fla", "fla.layers"):
            raise SeparatrixError(
                f"fla:{class_name} needs the package flash-linear-attention, which is not installed; "
                "run  pip install 'flash-linear-attention[cuda]'"
            ) from None
        missing: Exception = error
    except Exception as error:
        missing = error
    # Installed, but not for this machine: no Triton, another torch, no driver.
    raise SeparatrixError(
        f"fla:{class_name} cannot be used: importing fla.layers ends in {type(missing).__name__}: {missing}; "
        "run  pip install 'flash-linear-attention[cuda]'"
    ) from missing


class FlaModule(nn.Module):
    """A layer of flash-linear-attention as a module from (batch, length, width) to the same."""

    causal = True
    vmap = False

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor) -> Tensor:
        """(batch, length, width) to the same."""
        found = self.layer(x)
        return found[0] if isinstance(found, tuple) else found
