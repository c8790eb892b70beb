"""Recorded runs by their task, model, length or experiment, as ``separatrix runs`` takes them."""

from separatrix.errors import SeparatrixError
from separatrix.models import code_named_in, parse_spec
from separatrix.tasks import tasks
from separatrix.training.experiments.catalog import experiments
from separatrix.training.record import Record
from separatrix.training.run_source import RunSource


def selected(
    source: RunSource,
    *,
    task: str | None = None,
    architecture: str | None = None,
    length: int | None = None,
    experiment: str | None = None,
) -> list[Record]:
    """Return the runs of a source that fit all that is given; ``architecture`` may be a family, such as TF."""
    found = source.all()
    if experiment is not None:
        wanted = _runs_of(experiment)
        found = [record for record in found if record.spec.name in wanted]
    if task is not None:
        name = tasks()[task].name
        found = [record for record in found if record.spec.task == name]
    if architecture is not None:
        text = as_recorded(architecture).casefold()
        found = [
            record
            for record in found
            if text in (record.spec.architecture.casefold(), record.spec.architecture.rpartition("-(")[0].casefold())
        ]
    return [record for record in found if length is None or record.spec.length == length]


def as_recorded(architecture: str) -> str:
    """Return the name under which runs of a model are recorded: options at their defaults are left out.

    >>> as_recorded("ThirdTF-(1, 64, mask=none)"), as_recorded("ThirdTF"), as_recorded("nothing-(1,64)")
    ('ThirdTF-(1,64)', 'ThirdTF', 'nothing-(1,64)')
    """
    text = architecture.replace(" ", "")
    if "(" not in text or code_named_in(text):  # a user's code is not run to look for its records
        return text
    try:
        return str(parse_spec(text))
    except SeparatrixError:
        return text


def _runs_of(text: str) -> set[str]:
    """Return the names of the runs of an experiment, given as NAME or NAME/SCALE."""
    name, _, scale = text.partition("/")
    experiment = experiments()[name]
    scales = [scale] if scale else list(experiment.scales)
    return {run.name for each in scales for cell in experiment.sweep(each).cells() for run in cell.runs}
