"""Which calls are made: every verb with its own options, in three kinds (Hypothesis strategies).

``fitting`` calls have settings that go with one another and reach a result (see ``fitting``). ``one wild`` calls are
such calls with one change: a hostile value in the place of another, a setting that is missing or one too many. ``wild``
calls draw every value for itself, sensible and hostile ones mixed. The verbs and their options, and those in front of
the verb, are read from the application itself, so a new verb or option is attacked by existing.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, TypeAlias, get_args

import typer
from hypothesis import strategies
from hypothesis.strategies import DrawFn, SearchStrategy
from tools.calls.fitting import fitting
from tools.calls.fitting_parts import Given, Place, chosen, likely

from separatrix.capacities.catalog import presets
from separatrix.cli.app import application
from separatrix.constructions.catalog import constructions
from separatrix.models.architecture import architectures
from separatrix.own_files import using_files
from separatrix.tasks.catalog import tasks
from separatrix.training.experiments.catalog import experiments

Kind: TypeAlias = Literal["fitting", "one wild", "wild"]
KINDS: tuple[Kind, ...] = get_args(Kind)
SHARES: dict[Kind, int] = {"fitting": 3, "one wild": 2, "wild": 1}
"""How the calls of a verb are shared out."""
OWN = {"ends_agree.py": "ends-agree", "one_hot_lookup.py": "one-hot-lookup", "majority_lemma.py": "majority"}
"""Files for ``--with`` with the name that they are asked by: a task, a construction, a bound for a task."""
EAGER = ("--version", "--help", "--show-completion")
"""Written in front of a verb, these are answered in its place."""
HOSTILE = (
    "", " ", "-", "--", "-1", "0", "1", "2", "3", "7", "1000003", "99999999999999999999", "-99999999999999999999",
    "1e400", "nan", "inf", "-inf", "0x10", "1/0", "1/3", "1e-300", "½", "naïve 💥", "\u202e", "a" * 5000, "{}", "[]",
    "None", "%s%n", "$(true)", "../../../../etc/passwd", "/", "/dev/null", "/dev/full", "/proc/self/mem", "missing",
    "missing/deeper/file.json", "folder", "closed", "closed/new", "outside", "good", "good/network.safetensors",
    "cut", "flipped", "empty.json", "unreadable.json", "deep.json", "nan.json", "binary.toml", "several.toml",
    "text.sqlite", "newer.sqlite", "functions.py:raises", "functions.py:sleeps", "functions.py:missing",
    "functions.py:wrong", "functions.py:majority", "functions.py", "syntax.py:f", "a=b", "a=b=c", "=", "length=8",
    "alphabet=NaN", "cut:0", "cut:-1", "1,2,3", ",", ",,,", "1-1000000000",
)  # fmt: skip
"""Given to any option: wrong types, extremes, odd text, and the files of the folder in which a call is made."""
LENGTHS = ("2", "4", "5", "8", "12", "16", "24", "64", "256")
SENSIBLE: dict[str, Sequence[str]] = {
    "length": LENGTHS,
    "count": ("1", "3", "16", "64"),
    "seed": ("0", "1"),
    "seeds": ("0", "1,2"),
    "max_inner": ("1/4", "1/2"),
    "precision": ("8", "16", "32"),
    "bits": ("8", "16", "32"),
    "exponent": ("1", "2", "3"),
    "rounding": ("down", "nearest"),
    "arithmetic": ("fixed:N=16,Kc=2,down", "float32", "float64", "bfloat16"),
    "gain": ("4", "1/2", "64"),
    "limit": ("1", "20"),
    "position": ("0", "3"),
    "max_length": ("16", "64"),
    "max_seconds": ("1", "30"),
    "settings": ("alphabet=4", "symbols=4"),
    "version": ("repaired", "token"),
    "attention": ("softmax", "hard", "linear", "leftmost", "relu"),
    "max_memory": ("300M", "1G", "4G"),
    "out": ("new", "new/deeper", "good"),
    "store": ("good.sqlite", "good.sqlite", "new.sqlite"),
    "first": ("16", "32"),
    "last": ("16", "32", "64"),
    "model": ("rnn", "transformer-1layer", "LSTM-(1,64)", "TF-(1,64)", "fnn", "graph-transformer"),
    "heads": ("1", "4"),
    "layers": ("1", "2"),
    "alphabet": ("2", "01", "abc"),
    "partition": ("cut:4", "odd-even", "odd", "0,2,4"),
    "max_time": ("2", "10"),
    "to": ("torch", "safetensors"),
    "dtype": ("float32", "float64"),
    "rates": ("1e-3", "1e-3,5e-4"),
    "steps": ("1", "3"),
    "batch": ("2", "4"),
    "examples": ("8", "16"),
    "every": ("1", "2"),
    "goal": ("0.5", "0.99"),
    "widths": ("8", "8,16"),
    "ladder": ("4", "4,8"),
    "learned": ("LSTM-(1,8)",),
    "device": ("cpu", "auto"),
    "executor": ("local",),
    "workers": ("1",),
    "threads": ("1",),
    "save_every": ("1", "30"),
    "scale": ("quick",),
    "only": ("length=5", "architecture=TF-(1,64)"),
    "figure": ("figure.svg", "figure.png"),
    "plot": ("plot.svg", "plot.png"),
    "action": ("list", "show", "compare", "export"),
    "names": ("all", "runs.csv", "runs.parquet"),
    "catalog": ("tasks", "constructions", "codes", "architectures", "bounds", "experiments"),
    "split": ("train", "eval"),
    "file": ("good", "good/certificate.json", "cut", "flipped"),
    "target": ("functions.py:majority",),
    "port": ("0", "8765"),
    "host": ("127.0.0.1",),
}
ALWAYS = ("length", "steps", "examples", "max_time", "executor", "batch")
"""Options that are nearly always given: their defaults ask for long work or another machine."""


@dataclass(frozen=True)
class Parameter:
    """One argument or option of a verb."""

    name: str
    flags: tuple[str, ...]
    takes_value: bool
    required: bool
    several: bool


@cache
def verbs() -> dict[str, tuple[Parameter, ...]]:
    """Every verb with its parameters, as the application declares them."""
    return {name: _parameters(command) for name, command in commands().items()}


@cache
def root_options() -> tuple[Parameter, ...]:
    """The options that stand in front of a verb."""
    return _parameters(typer.main.get_command(application()))


@cache
def commands() -> dict[str, Any]:
    """Every verb with its command, as Typer's copy of Click has it."""
    return typer.main.get_command(application()).commands  # pyright: ignore[reportAttributeAccessIssue]


def _parameters(command: Any) -> tuple[Parameter, ...]:
    return tuple(
        Parameter(
            each.name,
            () if each.param_type_name == "argument" else (*each.opts, *each.secondary_opts),
            not getattr(each, "is_flag", False),
            each.required,
            bool(each.multiple),
        )
        for each in command.params
    )


def names_for(parameter: str, verb: str) -> Sequence[str]:
    """Values that make sense for a parameter, from the catalogs where it names an entry."""
    if parameter == "task":
        return tuple(tasks())
    if parameter in ("construction", "network"):
        return tuple(constructions())
    if parameter == "architecture":
        return tuple(f"{name}-(1,8)" for name in architectures())
    if parameter == "config":
        return tuple(presets())
    if parameter in ("name", "experiment") and verb in ("sweep", "figure", "runs"):
        return tuple(experiments())
    if parameter == "precision" and verb == "train":
        return ("float32", "float64", "bfloat16")
    return SENSIBLE.get(parameter, ())


@strategies.composite
def calls(draw: DrawFn, verb: str, kind: Kind, place: Place) -> tuple[str, ...]:
    """One call of a verb, with what stands in front of it."""
    parameters = verbs()[verb]
    if kind == "wild":
        return (*_wild_root(draw), *_wild(draw, verb, parameters))
    with ExitStack() as stack:
        files = draw(strategies.lists(strategies.sampled_from(sorted(OWN)), min_size=1, max_size=2, unique=True))
        used = files if likely(draw, 1, 6) else []
        if used:
            stack.enter_context(using_files([place.folder / file for file in used]))
        given = fitting(draw, verb, replace(place, own=tuple(OWN[file] for file in used)))
    root = [word for file in used for word in ("--with", file)]
    if kind == "fitting":
        if likely(draw, 1, 24):
            return (*root, chosen(draw, EAGER), *written(draw, verb, parameters, given))
        return (*root, *written(draw, verb, parameters, given))
    if likely(draw, 1, 10):
        return (*root, *_wild_root(draw, 1), *written(draw, verb, parameters, given))
    changed = _one_changed(draw, verb, parameters, given)
    words = list(written(draw, verb, parameters, changed))
    if changed == given:
        words.insert(draw(strategies.integers(0, len(words))), chosen(draw, HOSTILE))
    return (*root, *words)


def written(draw: DrawFn, verb: str, parameters: Sequence[Parameter], given: Given) -> tuple[str, ...]:
    """The settings as words: arguments in their order, options anywhere between them, in any spelling."""
    known = {parameter.name: parameter for parameter in parameters}
    options: list[list[str]] = []
    arguments: list[str] = []
    for name, values in given.items():
        parameter = known[name]
        if not parameter.flags:
            continue
        for value in values:
            flag = chosen(draw, parameter.flags)
            if not parameter.takes_value:
                options.append([value])
            elif flag.startswith("--") and likely(draw, 1):
                options.append([f"{flag}={value}"])
            else:
                options.append([flag, value])
    for parameter in parameters:
        if not parameter.flags:
            arguments += given.get(parameter.name, ())
    groups = [[argument] for argument in arguments]
    for option in draw(strategies.permutations(options)):
        groups.insert(draw(strategies.integers(0, len(groups))), option)
    return (verb, *(word for group in groups for word in group))


def _one_changed(draw: DrawFn, verb: str, parameters: Sequence[Parameter], given: Given) -> Given:
    """The settings with one of them hostile, gone or more; the same settings where a word too many is to follow."""
    way = draw(strategies.sampled_from(("hostile",) * 5 + ("more", "more", "gone", "word")))
    valued = [each.name for each in parameters if each.takes_value]
    given_values = [name for name in given if name in valued]
    if way == "gone" and (removable := [name for name in given if name not in ALWAYS]):
        lost = chosen(draw, removable)
        return {name: values for name, values in given.items() if name != lost}
    if way == "more" and (others := [each for each in parameters if each.name not in given]):
        more = draw(strategies.sampled_from(others))
        value = draw(_values(more.name, verb, 5)) if more.takes_value else chosen(draw, more.flags)
        return {**given, more.name: (value,)}
    if way == "hostile" and given_values:
        name = chosen(draw, given_values)
        at = draw(strategies.integers(0, len(given[name]) - 1))
        hostile = draw(_values(name, verb, 10))
        return {**given, name: (*given[name][:at], hostile, *given[name][at + 1 :])}
    return given


def _wild_root(draw: DrawFn, out_of: int = 8) -> list[str]:
    """Options in front of the verb, now and then; files of ``--with`` that are none, and that are."""
    words: list[str] = []
    if not likely(draw, 1, out_of):
        return words
    for parameter in draw(strategies.lists(strategies.sampled_from(root_options()), min_size=1, max_size=2)):
        words.append(chosen(draw, parameter.flags))
        if parameter.takes_value:
            words.append(draw(strategies.sampled_from((*HOSTILE, *OWN, "broken_own.py", "config.json"))))
    return words


def _wild(draw: DrawFn, verb: str, parameters: Sequence[Parameter]) -> list[str]:
    """The required parameters of a verb, some of the others, now and then a value too many."""
    hostility = draw(strategies.sampled_from((0, 0, 1, 3, 6)))
    words: list[str] = [verb]
    for parameter in parameters:
        wanted = parameter.required or parameter.name in ALWAYS
        if not draw(_chances(19 if wanted else 3, 20 if wanted else 12)):
            continue
        if parameter.takes_value and hostility == 0 and not names_for(parameter.name, verb):
            continue
        for _ in range(draw(strategies.integers(1, 2)) if parameter.several else 1):
            if parameter.flags:
                words.append(draw(strategies.sampled_from(parameter.flags)))
            if parameter.takes_value:
                words.append(draw(_values(parameter.name, verb, hostility)))
    if draw(_chances(hostility, 60)):
        words.insert(draw(strategies.integers(0, len(words))), draw(strategies.sampled_from(HOSTILE)))
    return words


def _values(parameter: str, verb: str, hostility: int) -> SearchStrategy[str]:
    hostile = strategies.one_of(
        strategies.sampled_from(HOSTILE),
        strategies.integers().map(str),
        strategies.floats().map(str),
        strategies.text(strategies.characters(blacklist_characters="\0", blacklist_categories=("Cs",)), max_size=12),
    )
    sensible = names_for(parameter, verb)
    if not sensible:
        return hostile
    good = strategies.sampled_from(sensible)
    return _chances(hostility, 10).flatmap(lambda wanted: hostile if wanted else good)


def _chances(of: int, out_of: int) -> SearchStrategy[bool]:
    return strategies.integers(1, out_of).map(lambda drawn: drawn <= of)
