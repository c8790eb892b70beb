"""The code of a run that is not of this package: a user's own module or architecture, and a user's own task.

Whoever names a model to be trained names its code and means it to run. A record names code as well, and a record may
come from anybody: its file can lie beside the store, and a digest in the store is written by who wrote the store. So
nothing is imported because a record says so; the person who asks must have named that code (:func:`check_trusted`). A
task of one's own needs no such leave: it is brought by ``--with FILE.py`` or an installed package, and a record can
only name one.
"""

from collections.abc import Collection

from separatrix.errors import SeparatrixError
from separatrix.models.architecture import ModelSpec
from separatrix.models.naming import code_named_in, parse_spec
from separatrix.models.user_architecture import UserArchitecture
from separatrix.sources import outside_sources
from separatrix.training.spec import RunSpec


def own_code(spec: RunSpec, architecture: ModelSpec | None = None) -> dict[str, str]:
    """Digests of the files with the classes of a run's model and task that are not of this package; mostly none.

    The code is imported for it: of a run from a record ask :func:`check_trusted` first.

    >>> own_code(RunSpec(task="dyck", architecture="TF-(1,8)", length=6, learning_rate=0.1, steps=1))
    {}
    """
    found = outside_sources(type(spec.the_task()))
    for entry in dict.fromkeys((architecture or parse_spec(spec.architecture)).entries):
        found |= entry.sources if isinstance(entry, UserArchitecture) else outside_sources(type(entry))
    return found


def check_trusted(recorded: RunSpec, trusted: Collection[str]) -> None:
    """Raise a one-line error where a record names code that is not among the ``trusted`` names.

    >>> run = RunSpec(task="dyck", architecture="mine.py:Mixer-(1,8)", length=6, learning_rate=0.1, steps=1)
    >>> check_trusted(run, ["mine.py:Mixer"])
    >>> check_trusted(run, [])
    Traceback (most recent call last):
    separatrix.errors.SeparatrixError: the record of run d927b9115779900c names the code mine.py:Mixer, which a \
record alone cannot have run; read it, then load the model with trusted=['mine.py:Mixer']
    """
    if named := [code for code in code_named_in(recorded.architecture) if code not in trusted]:
        raise SeparatrixError(
            f"the record of run {recorded.name} names the code {', '.join(named)}, which a record alone cannot have "
            f"run; read it, then load the model with trusted={named}"
        )
