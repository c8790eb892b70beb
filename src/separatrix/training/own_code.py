"""The code of a run that is not of this package: a user's own module or architecture, and a user's own task."""

from separatrix.models.architecture import ModelSpec
from separatrix.models.naming import parse_spec
from separatrix.models.user_architecture import UserArchitecture
from separatrix.sources import outside_sources
from separatrix.training.spec import RunSpec


def own_code(spec: RunSpec, architecture: ModelSpec | None = None) -> dict[str, str]:
    """Digests of the files with the classes of a run's model and task that are not of this package; mostly none.

    >>> own_code(RunSpec(task="dyck", architecture="TF-(1,8)", length=6, learning_rate=0.1, steps=1))
    {}
    """
    found = outside_sources(type(spec.the_task()))
    for entry in dict.fromkeys((architecture or parse_spec(spec.architecture)).entries):
        found |= entry.sources if isinstance(entry, UserArchitecture) else outside_sources(type(entry))
    return found
