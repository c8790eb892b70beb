"""From a name to a user's own architecture: ``package.module:MixerClass``, ``FILE.py:MixerClass``, ``fla:NAME``.

Importing the module runs its code, as every import does: name only modules that you would run. ``fla:NAME`` wraps a
layer of the package flash-linear-attention, where that is installed; its kernels run on a GPU.
"""

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.models.architecture import Architecture, Option, Options, Place, Value
from separatrix.models.architectures._attention import POSITIONS
from separatrix.models.mixer import Mixer
from separatrix.models.user_mixer import UserMixer


@dataclass(frozen=True)
class ConstructorParameter(Option):
    """A parameter of a user's constructor: any value is passed on, and None stands for "not given"."""

    def checked(self, value: Value, owner: str) -> Value:
        """The value itself."""
        del owner
        return value


@dataclass(frozen=True, kw_only=True)
class UserArchitecture(Architecture):
    """A user's class in the common block."""

    make: Callable[..., nn.Module]
    needs_gpu: bool = False

    def mixer(self, width: int, options: Options, members: int, place: Place) -> Mixer:
        """The stacked module, tried on a small input."""
        del place
        if self.needs_gpu and not torch.cuda.is_available():
            raise SeparatrixError(f"{self.name} runs on a GPU only, and torch finds none on this machine")
        own = {name: value for name, value in options.items() if name != POSITIONS.name and value is not None}
        trial = torch.device("cuda" if self.needs_gpu else "cpu")
        return UserMixer(lambda: self.make(width, **own), self.name, width, members, trial)

    def state_numbers(self, width: int, options: Options, length: int) -> int:
        """What the class says, else its whole input."""
        del options
        told = getattr(self.make, "state_numbers", None)
        return width * length if told is None else int(told(width, length))


@lru_cache(maxsize=64)
def user_architecture(name: str) -> UserArchitecture:
    """The architecture behind ``package.module:MixerClass``, ``FILE.py:MixerClass`` or ``fla:NAME``."""
    module, _, class_name = name.rpartition(":")
    make, skipped = (fla_layer(class_name), 0) if module == "fla" else (load_class(module, class_name, name), 1)
    parameters = list(inspect.signature(make).parameters.values())[skipped:]
    return UserArchitecture(
        name=name,
        short=name,
        title=f"{class_name} of {module}",
        reference=f"the module {name}",
        equations="as the module computes",
        options=(POSITIONS, *[_constructor_option(each) for each in parameters if each.kind not in _VARIADIC]),
        make=make,
        needs_gpu=module == "fla",
    )


_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _constructor_option(parameter: inspect.Parameter) -> ConstructorParameter:
    return ConstructorParameter(parameter.name, None, "parameter of the module's constructor")  # type: ignore[arg-type]


def load_class(module: str, class_name: str, name: str) -> Callable[..., nn.Module]:
    """The class, from an importable module, a module in the current folder, or a file."""
    try:
        with current_folder_importable():
            loaded = load_file(Path(module)) if module.endswith(".py") else importlib.import_module(module)
    except SeparatrixError:
        raise
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise SeparatrixError(f"{module} of {name!r} cannot be imported: {what}; write package.module:Class") from error
    found = getattr(loaded, class_name, None)
    if found is None:
        modules = [
            key for key, value in vars(loaded).items() if inspect.isclass(value) and issubclass(value, nn.Module)
        ]
        raise UnknownNameError(f"class of {module}", class_name, modules or ["(no torch modules there)"])
    if not (inspect.isclass(found) and issubclass(found, nn.Module)):
        raise SeparatrixError(f"{name} is {type(found).__name__} {class_name!r}, not a class of torch modules")
    return found


def load_file(path: Path) -> Any:
    """A module from a file, under a name of its own."""
    if not path.is_file():
        raise SeparatrixError(f"there is no file {path}; write FILE.py:Class or package.module:Class")
    described = importlib.util.spec_from_file_location(f"separatrix_user_{path.stem}", path)
    assert described is not None and described.loader is not None
    module = importlib.util.module_from_spec(described)
    described.loader.exec_module(module)
    return module


@contextmanager
def current_folder_importable() -> Iterator[None]:
    """Installed commands do not look for modules in the current folder; while a user's module is loaded, we do."""
    here = str(Path.cwd())
    sys.path.append(here)
    try:
        yield
    finally:
        sys.path.remove(here)


def fla_layer(class_name: str) -> Callable[..., nn.Module]:
    """A maker of modules around a layer of flash-linear-attention; its kernels are causal and run on a GPU."""
    try:
        layers = importlib.import_module("fla.layers")
    except ImportError:
        raise SeparatrixError(
            f"fla:{class_name} needs the package flash-linear-attention, which is not installed; "
            "run  pip install flash-linear-attention"
        ) from None
    kind = getattr(layers, class_name, None)
    if not inspect.isclass(kind):
        names = getattr(layers, "__all__", None) or [each for each in dir(layers) if each[0].isupper()]
        raise UnknownNameError("layer of flash-linear-attention", class_name, names)

    layer: Any = kind

    def make(width: int, **options: Any) -> nn.Module:
        return FlaModule(layer(hidden_size=width, **options))

    parameters = [each for each in inspect.signature(layer).parameters.values() if each.name != "hidden_size"]
    vars(make)["__signature__"] = inspect.Signature(parameters)
    return make


class FlaModule(nn.Module):
    """A layer of flash-linear-attention, which returns its output first of several things."""

    causal = True

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor) -> Tensor:
        """(batch, length, width) to the same."""
        found = self.layer(x)
        return found[0] if isinstance(found, tuple) else found
