"""The code of a run that is not of this package: a user's own module or architecture, and a user's own task.

Whoever names a model to be trained names its code and means it to run. A record names code as well, and a record may
come from anybody: its file can lie next to the store, and a digest in the store is written by who wrote the store. So
nothing is imported because a record says so; the person who asks must have named that code (:func:`check_trusted`). A
user's task needs no such leave: it is brought by ``--with FILE.py``, an installed package or a function that the
person names, and a record can only name one.

Every parameter of a user's module is trained, each member with its own copy. What that would overrun is refused
before (:func:`check_trainable`): parameters that are frozen, of whole numbers, or without a shape until the first call.
"""

import inspect
from collections.abc import Collection
from contextlib import suppress

import torch
from torch import nn
from torch.nn.parameter import is_lazy

from separatrix.errors import SeparatrixError
from separatrix.models import ConstructorParameter, ModelSpec, UserArchitecture, code_named_in, parse_spec
from separatrix.profiles import FunctionTask
from separatrix.sources import outside_sources
from separatrix.training.spec import RunSpec


def user_code(spec: RunSpec, architecture: ModelSpec | None = None) -> dict[str, str]:
    """Return digests of the files with the classes of a run's model and task that are not of this package; mostly none.

    The code is imported for it: of a run from a record ask :func:`check_trusted` first.

    >>> user_code(RunSpec(task="dyck", architecture="TF-(1,8)", length=6, learning_rate=0.1, steps=1))
    {}
    """
    task = spec.the_task()
    found = task.sources if isinstance(task, FunctionTask) else outside_sources(type(task))
    for entry in dict.fromkeys((architecture or parse_spec(spec.architecture)).entries):
        found |= entry.sources if isinstance(entry, UserArchitecture) else outside_sources(type(entry))
    return found


def check_trainable(architecture: ModelSpec) -> None:
    """Raise a one-line error where a user's module has parameters that cannot be trained as they are.

    A constructor that fails is left to who builds the model, who says so.
    """
    for entry, module in _modules_of(architecture):
        for name, parameter in module.named_parameters():
            if is_lazy(parameter):
                raise SeparatrixError(
                    f"{entry.name} gives its parameter {name} a shape only when it is called; make it in the "
                    "constructor, which receives the width (such as nn.Linear for nn.LazyLinear)"
                )
            if not (parameter.is_floating_point() or parameter.is_complex()) or not parameter.requires_grad:
                kind = "frozen (requires_grad=False)" if parameter.is_floating_point() else f"of {parameter.dtype}"
                raise SeparatrixError(
                    f"{entry.name} has the parameter {name}, which is {kind}, and parameters are trained here without "
                    f"exception; keep it as a buffer: self.register_buffer('{name.rpartition('.')[2]}', tensor)"
                )


def drawing_remarks(architecture: ModelSpec) -> list[str]:
    """Return what a person should know about users' modules that draw random numbers, found by a small trial."""
    found: list[str] = []
    for entry, module in _modules_of(architecture):
        if _draws(module.eval(), architecture.width):
            found.append(f"{entry.name} draws random numbers in evaluation, too: its accuracy is that of one draw")
        elif _draws(module.train(), architecture.width):
            found.append(
                f"{entry.name} draws random numbers in training, as dropout does: on a CPU the same command repeats "
                "them, but a run that was interrupted, has other company or takes turns ends with other numbers"
            )
    return found


@torch.no_grad()
def _draws(module: nn.Module, width: int) -> bool:
    """Return whether a call takes numbers from torch's generator; what fails is reported when the model is built."""
    with torch.random.fork_rng(devices=[]):
        before = torch.random.get_rng_state()
        more = {"lengths": torch.full((2,), 5)} if "lengths" in inspect.signature(module.forward).parameters else {}
        with suppress(Exception):
            module(torch.zeros(2, 5, width), **more)
        return not torch.equal(before, torch.random.get_rng_state())


def _modules_of(architecture: ModelSpec) -> list[tuple[UserArchitecture, nn.Module]]:
    """Make a module of each of the user's classes; a constructor that fails is reported when the model is built."""
    found: list[tuple[UserArchitecture, nn.Module]] = []
    for entry in dict.fromkeys(architecture.entries):
        if not isinstance(entry, UserArchitecture) or entry.needs_gpu:
            continue
        given = architecture.options_of(entry)
        named = [option.name for option in entry.options if isinstance(option, ConstructorParameter)]
        own = {name: given[name] for name in named if given[name] is not None}
        with suppress(Exception), torch.random.fork_rng(devices=[]):
            found.append((entry, entry.make(architecture.width, **own)))
    return found


def check_trusted(recorded: RunSpec, trusted: Collection[str]) -> None:
    """Raise a one-line error where a record names code that is not among the ``trusted`` names.

    >>> run = RunSpec(task="dyck", architecture="mine.py:Mixer-(1,8)", length=6, learning_rate=0.1, steps=1)
    >>> check_trusted(run, ["mine.py:Mixer"])
    >>> check_trusted(run, [])
    Traceback (most recent call last):
    separatrix.errors.SeparatrixError: the record of run 397dcd8487853b82 names the code mine.py:Mixer, which a \
record alone cannot have run; read it, then load the model with trusted=['mine.py:Mixer']
    """
    if named := [code for code in code_named_in(recorded.architecture) if code not in trusted]:
        raise SeparatrixError(
            f"the record of run {recorded.name} names the code {', '.join(named)}, which a record alone cannot have "
            f"run; read it, then load the model with trusted={named}"
        )
