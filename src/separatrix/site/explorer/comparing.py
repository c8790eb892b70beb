"""The attention of a trained model and of a construction on the same input, at any step whose weights are kept.

This is the only computation that needs torch, which the first comparison imports.
"""

from pathlib import Path

import numpy

from separatrix.constructions import constructions
from separatrix.extras import require
from separatrix.networks import Integers
from separatrix.site.explorer.building import built, cells_of, keeps_promise, labels_of, symbols_of
from separatrix.site.explorer.limits import ExplorerError, Limits
from separatrix.site.explorer.look import traced
from separatrix.site.explorer.maps import attention_of, picture
from separatrix.site.explorer.replies import ComparisonReply, ConstructedMap, ShownInput
from separatrix.site.explorer.requests import Compare, Setting
from separatrix.site.explorer.runs import LARGEST_MAP, opened, run_named, snapshot_file, snapshot_steps
from separatrix.table import Reals
from separatrix.tasks import Matching, Task, tasks
from separatrix.training import Record, Records


def compare(request: Compare, store: Path, limits: Limits) -> ComparisonReply:
    """Return both maps, and the share of trained weight on the keys that the construction attends to."""
    require("a trained model's attention", "torch")
    with opened(store) as records:
        record = run_named(records, request.run)
        steps = snapshot_steps(records, record)
        if not steps:
            raise ExplorerError(f"the folder of the store has no weights of run {record.spec.name}; train it again")
        step = steps[-1] if request.step is None else request.step
        if step not in steps:
            listed = ", ".join(map(str, steps))
            raise ExplorerError(f"run {record.spec.name} kept no weights after {step} steps; choose one of {listed}")
        spec = record.spec
        limits.check_length(spec.length)
        task = spec.the_task()
        cells = cells_of(request.input, task, spec.length)
        trained = _trained(records, record, step, cells)
    if not keeps_promise(task, cells, spec.length):
        raise ExplorerError(f"this input breaks the promise of {task.name}: {task.layout(spec.length)}")
    read = labels_of(task, cells, spec.length)[1]
    constructed, share = _constructed(request, task, spec.length, cells, trained, read)
    return ComparisonReply(
        architecture=spec.architecture, accuracy=record.result.accuracy, step=step, read=read, share=share,
        input=ShownInput(
            text=task.write(cells.tolist(), spec.length), symbols=symbols_of(cells, task, spec.length)
        ),
        trained=picture(trained), constructed=constructed,
    )  # fmt: skip


def _trained(records: Records, record: Record, step: int, cells: Integers) -> Reals:
    """Return the weights (N, N) of the trained model's first layer, the mean over its heads."""
    spec = record.spec
    if ":" in spec.architecture:
        raise ExplorerError(
            f"the model of run {spec.name} is the Python module {spec.architecture}, which a page may not load",
            "refused",
        )
    if spec.length > LARGEST_MAP:
        raise ExplorerError(f"run {spec.name} has N = {spec.length}; maps are drawn up to {LARGEST_MAP}", "limit")
    from separatrix.models import attention_of_kept_weights, parse_spec
    from separatrix.training import read_weights

    kept = read_weights(snapshot_file(records, record, step), spec.name)
    model = parse_spec(spec.architecture)
    return attention_of_kept_weights(model, spec.the_task(), spec.length, kept, cells, 0).mean(axis=0)


def _constructed(
    request: Compare, task: Task, length: int, cells: Integers, trained: Reals, read: list[int]
) -> tuple[ConstructedMap | None, float | None]:
    """Return the construction's map and the share of trained weight on its keys; None where there is none."""
    offered = [each.name for each in constructions().values() if each.task_name == task.name]
    if request.construction is not None and request.construction not in offered:
        raise ExplorerError(f"{request.construction} is not about {task.name}; choose {', '.join(offered) or 'none'}")
    own = tasks()[task.name].parameters()
    changed = {name: str(value) for name, value in task.parameters().items() if value != own[name]}
    if isinstance(task, Matching):
        # Given explicitly, because the explorer may choose another one.
        changed["modulus"] = str(task.modulus_at(length))
    names = offered if request.construction is None else [request.construction]
    for name in names:
        setting = Setting(construction=name, length=length, parameters=changed)
        run = traced(setting, built(setting), cells, promised=True, position=read[-1])
        found = attention_of(run, 0, 0, read[-1], read)
        if found.kind == "positions" or request.construction is not None:
            share = None
            if found.kind == "positions":
                queries = numpy.array(read)
                share = _share(trained[queries], run.weights(found.layer, found.head, queries))
            return ConstructedMap(construction=name, **dict(found)), share
    return None, None


def _share(trained: Reals, constructed: Reals) -> float:
    """Return the mean weight of trained queries on the construction's keys: those above half its best."""
    best = constructed.max(axis=1, keepdims=True)
    looked_at = (constructed > best / 2) & (best > 0)
    return float((trained * looked_at).sum(axis=1).mean())
