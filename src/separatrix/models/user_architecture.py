"""From a name to a user's own architecture: ``package.module:MixerClass``, ``FILE.py:MixerClass``, ``fla:NAME``.

Importing the module runs its code, as every import does: name only modules that you would run. How ``fla:NAME`` wraps
a layer of flash-linear-attention is in ``fla_layers``.

A loaded class is kept together with the digest of its source, which records and checkpoints hold (see ``sources``). A
file that was edited is loaded again when a model of that name is parsed; a model in training keeps what it began with.
"""

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import ModuleType

import torch
from torch import nn

from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.models.architecture import Architecture, ModelSpec, Option, Options, Place, Value
from separatrix.models.architectures._options import POSITIONS
from separatrix.models.fla_layers import LAYER_PARAMETER, fla_layer
from separatrix.models.kernels.available import interpreted
from separatrix.models.mixer import Mixer
from separatrix.models.sequence_model import build_model
from separatrix.models.user_mixer import TRIAL, UserMixer
from separatrix.reading import read_file
from separatrix.sources import LARGEST_SOURCE, digest, outside_sources

WIDEST_TRIAL = 1024


@dataclass(frozen=True)
class ConstructorParameter(Option):
    """A parameter of a user's constructor: any value is passed on, and None represents "not given"."""

    def checked(self, value: Value, owner: str) -> Value:
        """Return the value itself."""
        del owner
        return value


@dataclass(frozen=True, kw_only=True)
class UserArchitecture(Architecture):
    """A user's class in the common block."""

    make: Callable[..., nn.Module]
    needs_gpu: bool = False
    layer_parameter: str | None = None
    """The parameter of the constructor that receives the number of its layer, counted from 0, unless an option does."""
    sources: Mapping[str, str] = field(default_factory=dict[str, str], compare=False)
    """Digests of the files that the class was loaded from, by the names that a person gave them."""

    def mixer(self, width: int, options: Options, members: int, place: Place) -> Mixer:
        """Return the stacked module, tried on a small input."""
        if self.needs_gpu and not (torch.cuda.is_available() or interpreted()):
            raise SeparatrixError(f"{self.name} runs on a GPU only, and torch finds none on this machine")
        own = {name: value for name, value in options.items() if name != POSITIONS.name and value is not None}
        if self.layer_parameter is not None:
            own = {self.layer_parameter: place.layer, **own}
        trial = torch.device("cuda" if self.needs_gpu and torch.cuda.is_available() else "cpu")
        return UserMixer(lambda: self.make(width, **own), self.name, width, members, trial)

    def state_numbers(self, width: int, options: Options, length: int) -> int:
        """Return what the class says, else its whole input, which is also what a module that looks ahead passes on."""
        if self.stated is None:
            return width * length
        if self.looks_ahead(width, options):
            return width * length
        found = self._told(width, options, length)
        if found == 0 and _reaches(self, width, _listed(options))[1]:
            raise SeparatrixError(
                f"state_numbers of {self.name} is 0, and its outputs depend on earlier positions; give the numbers "
                "that it carries past a cut"
            )
        return found

    def looks_ahead(self, width: int, options: Options) -> bool:
        """Return whether an output depends on a later position in a trial."""
        return _reaches(self, width, _listed(options))[0]

    @property
    def stated(self) -> Callable[..., object] | None:
        """The module's own statement of what it carries past a cut."""
        return getattr(self.make, "state_numbers", None)

    def _told(self, width: int, options: Options, length: int) -> int:
        """Return what the module states, asked with those options of the constructor that it wants to know."""
        assert self.stated is not None
        try:
            asked = inspect.signature(self.stated).parameters.values()
            known = {each.name: each.default for each in inspect.signature(self.make).parameters.values()}
            known |= {name: value for name, value in options.items() if name in known and value is not None}
            every = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in asked)
            wanted = list(known)[1:] if every else [each.name for each in list(asked)[2:] if each.name in known]
            own = {name: known[name] for name in wanted if known[name] is not inspect.Parameter.empty}
            found = self.stated(width, length, **own)
        except Exception as error:
            raise SeparatrixError(
                f"state_numbers of {self.name} failed on width {width} and length {length}: {type(error).__name__}: "
                f"{error}; it takes the width, the length, and options of the constructor"
            ) from error
        if isinstance(found, bool) or not hasattr(found, "__index__") or int(found) < 0:  # type: ignore[call-overload]
            raise SeparatrixError(f"state_numbers of {self.name} is {found!r}; expected a whole number from 0 on")
        return int(found)  # type: ignore[call-overload]


def _listed(options: Options) -> tuple[tuple[str, Value], ...]:
    return tuple(sorted(options.items()))


@lru_cache(maxsize=64)
def _reaches(architecture: UserArchitecture, width: int, options: tuple[tuple[str, Value], ...]) -> tuple[bool, bool]:
    """Return whether a module looks ahead, and whether it looks back; tried with a smaller width where it is a large
    one."""
    while width > WIDEST_TRIAL and width % 2 == 0:
        width //= 2
    mixer = architecture.mixer(width, dict(options), 1, Place(0, 1, TRIAL[1]))
    assert isinstance(mixer, UserMixer)
    return mixer.reaches()


_loaded: dict[str, UserArchitecture] = {}
"""What was loaded, as Python keeps its modules; :func:`look_again` lets go of a file that was edited."""


def user_architecture(name: str) -> UserArchitecture:
    """Return the architecture behind ``package.module:MixerClass``, ``FILE.py:MixerClass`` or ``fla:NAME``."""
    if name not in _loaded:
        _loaded[name] = _load(name)
    return _loaded[name]


def look_again(name: str) -> None:
    """Forget a file that was edited since it was loaded, so that it is loaded anew; an edited module is refused.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "same.py")
    ...     _ = file.write_text("from torch.nn import Identity as Same")
    ...     before = user_architecture(f"{file}:Same")
    ...     _ = file.write_text("from torch.nn import Linear as Same")
    ...     look_again(f"{file}:Same")
    ...     user_architecture(f"{file}:Same") is before
    False
    """
    known = _loaded.get(name)
    module = name.rpartition(":")[0]
    if known is None or module == "fla":
        return
    if module.endswith(".py"):
        if known.sources != {module: digest(_content(Path(module)))}:
            del _loaded[name]
    elif isinstance(known.make, type) and known.sources != outside_sources(known.make):
        raise SeparatrixError(
            f"{module} has changed since it was imported; start Python anew, or name it as a file, FILE.py:Class"
        )


def _load(name: str) -> UserArchitecture:
    module, _, class_name = name.rpartition(":")
    content = _content(Path(module)) if module.endswith(".py") else None
    if module == "fla":
        make, skipped, sources = fla_layer(class_name), 0, dict[str, str]()
    else:
        make, skipped = _load_class(module, class_name, name, content), 1
        sources = outside_sources(make) if content is None else {module: digest(content)}
    parameters = list(inspect.signature(make).parameters.values())[skipped:]
    layer_parameter = (
        LAYER_PARAMETER if module == "fla" and LAYER_PARAMETER in [each.name for each in parameters] else None
    )
    return UserArchitecture(
        name=name,
        short=name,
        title=f"{class_name} of {module}",
        reference=f"the module {name}",
        equations="as the module computes",
        options=(POSITIONS, *[_constructor_option(each) for each in parameters if each.kind not in _VARIADIC]),
        make=make,
        needs_gpu=module == "fla",
        layer_parameter=layer_parameter,
        sources=sources,
    )


def remarks_on(spec: ModelSpec, members: int = 2) -> list[str]:
    """Return what a person should know about how an ensemble of a model runs: which of a user's modules go one by one.

    Modules that cannot run are refused here, before anything else is done.

    >>> from separatrix.models.naming import parse_spec
    >>> remarks_on(parse_spec("LSTM-(1,8)"))
    []
    """
    if not any(":" in name for name in spec.layers):
        return []
    return build_model(spec, vocabulary=2, classes=2, length=TRIAL[1], seeds=range(min(2, members))).remarks()


_VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _constructor_option(parameter: inspect.Parameter) -> ConstructorParameter:
    return ConstructorParameter(parameter.name, None, "parameter of the module's constructor")  # type: ignore[arg-type]


def _load_class(module: str, class_name: str, name: str, content: bytes | None) -> type[nn.Module]:
    """Return the class, from an importable module, a module in the current folder, or the content of a file."""
    try:
        with _current_folder_importable():
            loaded = importlib.import_module(module) if content is None else _executed(Path(module), content)
    except SeparatrixError:
        raise
    except Exception as error:
        what, remedy = f"{type(error).__name__}: {error}", "package.module:Class"
        if isinstance(error, ModuleNotFoundError) and "." not in module:
            remedy = f"{module}.py:{class_name} with the path of the file before it, or {remedy}"
        raise SeparatrixError(f"{module} of {name!r} cannot be imported: {what}; write {remedy}") from error
    found = getattr(loaded, class_name, None)
    if found is None:
        modules = [
            key for key, value in vars(loaded).items() if inspect.isclass(value) and issubclass(value, nn.Module)
        ]
        raise UnknownNameError(f"class of {module}", class_name, modules or ["(no torch modules there)"])
    if not (inspect.isclass(found) and issubclass(found, nn.Module)):
        raise SeparatrixError(f"{name} is {type(found).__name__} {class_name!r}, not a class of torch modules")
    return found


def _content(path: Path) -> bytes:
    if not path.is_file():
        raise SeparatrixError(f"there is no file {path}; write FILE.py:Class or package.module:Class")
    return read_file(path, LARGEST_SOURCE, "write FILE.py:Class or package.module:Class")


def _executed(path: Path, content: bytes) -> ModuleType:
    """Return a module from a file, under a name of its own."""
    described = importlib.util.spec_from_file_location(f"separatrix_user_{path.stem}", path)
    assert described is not None
    module = importlib.util.module_from_spec(described)
    # Not by the module's loader: its cache takes an edit of the same size in the same second for no edit.
    exec(compile(content, str(path), "exec"), module.__dict__)
    return module


@contextmanager
def _current_folder_importable() -> Iterator[None]:
    """Installed commands do not look for modules in the current folder; while a user's module is loaded, we do."""
    here = str(Path.cwd())
    sys.path.append(here)
    try:
        yield
    finally:
        sys.path.remove(here)
