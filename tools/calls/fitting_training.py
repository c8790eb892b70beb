"""What fits together for the verbs that train, show runs, draw them or serve them."""

from hypothesis import strategies
from hypothesis.strategies import DrawFn
from tools.calls.fitting_parts import (
    PICTURES,
    SIZES,
    Drawing,
    Given,
    Place,
    add,
    chosen,
    is_accepted,
    length_from,
    likely,
    small_model,
    switch,
    task_with_length,
)

from separatrix.cli.verb_runs import ACTIONS
from separatrix.constructions.catalog import constructions
from separatrix.models.naming import parse_spec
from separatrix.models.task_model import check_fit
from separatrix.table.frontier import LARGEST
from separatrix.tasks.catalog import tasks
from separatrix.training.experiments.catalog import experiments
from separatrix.training.recipes import RECIPES

LEARNED = ("LSTM-(1,W)", "TF-(1,W)", "RNN-(1,W)")
RATES = ("1e-3", "1e-3,5e-4", "0.1")
STORES = ("good.sqlite", "new.sqlite", "new/deeper.sqlite")
EXPORTS = ("new.json", "new.csv", "new.parquet")


def _trained(draw: DrawFn, given: Given) -> None:
    """Options that all verbs have that train."""
    add(draw, given, device=("cpu", "auto"), executor=("local",), workers=("0", "1"))


def _trained_and_saved(draw: DrawFn, given: Given) -> None:
    _trained(draw, given)
    add(draw, given, store=STORES, threads=("0", "1"), save_every=("0.5", "30"))
    switch(draw, given, full_grid=("--full-grid",), resume=("--resume", "--fresh"))


def _train(draw: DrawFn, place: Place) -> Given:
    given, task, length = task_with_length(draw, place.own, settings="parameters")
    model = small_model(draw)
    if not is_accepted(check_fit, parse_spec(model), task, length):
        model = "LSTM-(1,8)"
    given["architecture" if likely(draw, 3) else "arch"] = (model,)
    steps = draw(strategies.integers(1, 4))
    given |= {"steps": (str(steps),), "batch": (chosen(draw, ("2", "4")),), "examples": (chosen(draw, ("8", "16")),)}
    add(draw, given, rates=RATES, seeds=("0", "1,2"), weight_decay=("0", "0.1"), warmup=("0", "1"), clip=("0", "1"))
    add(draw, given, every=("1", "2"), goal=("0.5", "1"), precision=("float32", "float64", "bfloat16"), plot=PICTURES)
    add(draw, given, recipe=RECIPES, final_rate=("0", "0.5", "1"))
    if task.asks_last:
        add(draw, given, questions=("1", "2"))
    if likely(draw, 1, 6):
        for name in ("goal", "precision", "parameters", "arch", "questions"):
            given.pop(name, None)
        given |= {"task": ("index-lookup",), "architecture": ("TF-(1,8)",), "length": ("4",)}
        given["certifiable"] = ("--certifiable",)
    _trained_and_saved(draw, given)
    return given


def _sweep(draw: DrawFn, place: Place) -> Given:
    if likely(draw, 2):
        given: Given = {"name": ("small.toml",), "store": (chosen(draw, STORES),)}
        add(draw, given, only=("length=4", "length=6", "learning_rate=0.001"))
        given["estimate"] = (chosen(draw, ("--no-estimate",) * 3 + ("--estimate",)),)
        switch(draw, given, dry_run=("--dry-run",))
        _trained_and_saved(draw, given)
        return given
    experiment = experiments()[chosen(draw, experiments())]
    given = {"name": (experiment.name,), "dry_run": ("--dry-run",), "estimate": ("--no-estimate",)}
    scale = chosen(draw, experiment.scales)
    if scale != "quick" or likely(draw, 2):
        given["scale"] = (scale,)
    if likely(draw, 2):
        cell = draw(strategies.sampled_from(experiment.sweep(scale).cells()))
        axis = chosen(draw, [name for name, _ in cell.coordinates])
        given["only"] = (f"{axis}={cell.at(axis)}",)
    _trained_and_saved(draw, given)
    return given


def _frontier(draw: DrawFn, place: Place) -> Given:
    given: Given
    if likely(draw, 1, 3):
        task = tasks()[chosen(draw, [name for name in place.own if name in tasks()] or ("index-lookup", "dyck"))]
        lengths = sorted({length_from(draw, task.minimum_length, task.length_step) for _ in range(2)})
        given = {"construction": (task.name,), "learned": (chosen(draw, LEARNED),), "steps": ("2",)}
        given |= {"widths": (chosen(draw, ("4", "4,8")),), "ladder": (",".join(map(str, lengths)),)}
        add(draw, given, rates=RATES, goal=("0.1", "0.99"), store=STORES, figure=PICTURES)
        _trained(draw, given)
        return given
    name = chosen(draw, LARGEST)
    least = max(2, (constructions()[name].minimum_length - 1).bit_length())
    first = least + draw(strategies.integers(0, 1))
    given = {"construction": (name,), "first": (str(first),), "last": (str(first + draw(strategies.integers(0, 1))),)}
    add(draw, given, figure=PICTURES, store=("frontier.json", "new.json"), max_memory=SIZES)
    return given


def _source(draw: DrawFn, given: Given) -> None:
    """Where runs are read from: the store, files exported from it, or both kinds of files at once."""
    if likely(draw, 1):
        given["records"] = draw(strategies.sampled_from((("exported.json",), ("good.sqlite",), ("exports",))))
    else:
        given["store"] = ("good.sqlite",)


def _runs(draw: DrawFn, place: Place) -> Given:
    action = chosen(draw, ACTIONS)
    given: Given = {"action": (action,)}
    runs = strategies.sampled_from(place.runs)
    if action == "bits":
        given |= {"names": (draw(runs)[: draw(strategies.integers(10, 40))],), "store": ("good.sqlite",)}
        add(draw, given, bits=("4", "1,2,16", "8,24"))
        return given
    _source(draw, given)
    if action in ("show", "compare"):
        few, many = (1, 1) if action == "show" else (2, 3)
        given["names"] = tuple(draw(strategies.lists(runs, min_size=few, max_size=many, unique=True)))
        add(draw, given, plot=PICTURES)
        return given
    add(draw, given, task=("index-lookup",), length=("4", "6"), limit=("0", "1", "5"))
    add(draw, given, architecture=("LSTM", "LSTM-(1,4)", "lstm-(1,4)"))
    if action == "list":
        add(draw, given, experiment=[f"{name}{scale}" for name in experiments() for scale in ("", "/quick")])
        return given
    given["names"] = (chosen(draw, EXPORTS),)
    if given["names"] != ("new.json",):
        switch(draw, given, curves=("--curves",))
    return given


def _figure(draw: DrawFn, place: Place) -> Given:
    given: Given
    if likely(draw, 1):
        given = {"name": ("small.toml",)}
        _source(draw, given)
    else:
        given = {"name": (chosen(draw, experiments()),), "store": ("invented.sqlite",)}
        add(draw, given, scale=("quick",))
    add(draw, given, out=("new", "new/deeper", "folder"))
    return given


def _atlas(draw: DrawFn, place: Place) -> Given:
    given: Given = {}
    add(draw, given, out=("new", "folder"), store=("good.sqlite",), records=("exported.json", "exports"))
    return given


def _serve(draw: DrawFn, place: Place) -> Given:
    given: Given = {"port": ("0",)}
    add(draw, given, host=("127.0.0.1", "localhost", "::1"), store=("good.sqlite", "new.sqlite"), workers=("1", "2"))
    add(draw, given, max_length=("16", "64"), max_seconds=("1", "30"), atlas=("new", "folder"))
    add(draw, given, max_memory=SIZES, allow_host=("explorer.example", "other"))
    return given


TRAINING: dict[str, Drawing] = {
    "train": _train, "sweep": _sweep, "frontier": _frontier, "runs": _runs, "figure": _figure, "atlas": _atlas,
    "serve": _serve,
}  # fmt: skip
