"""Which calls are made: every verb with its own options, sensible and hostile values mixed (Hypothesis strategies).

The verbs and their options are read from the application itself, so a new verb or option is attacked by existing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import typer
from hypothesis import strategies
from hypothesis.strategies import DrawFn, SearchStrategy

from separatrix.cli.app import application
from separatrix.communication.capacity.catalog import presets
from separatrix.constructions.catalog import constructions
from separatrix.models.architecture import architectures
from separatrix.tasks.catalog import tasks
from separatrix.training.experiments.catalog import experiments

HOSTILE = (
    "", " ", "-", "--", "-1", "0", "1", "2", "3", "7", "1000003", "99999999999999999999", "-99999999999999999999",
    "1e400", "nan", "inf", "-inf", "0x10", "1/0", "1/3", "1e-300", "½", "naïve 💥", "\u202e", "a" * 5000, "{}", "[]",
    "None", "%s%n", "$(true)", "../../../../etc/passwd", "/", "/dev/null", "/dev/full", "/proc/self/mem", "missing",
    "missing/deeper/file.json", "folder", "closed", "closed/new", "outside", "good", "good/network.safetensors",
    "cut", "flipped", "empty.json", "deep.json", "nan.json", "binary.toml", "several.toml", "text.sqlite",
    "newer.sqlite", "raises.py:raises", "raises.py:sleeps", "raises.py:missing", "raises.py:wrong",
    "raises.py:majority", "raises.py", "syntax.py:f", "a=b", "a=b=c", "=", "length=8", "alphabet=NaN", "cut:0",
    "cut:-1", "1,2,3", ",", ",,,", "1-1000000000",
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
    "max_training_seconds": ("1", "30"),
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
    "target": ("raises.py:majority",),
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


def verbs() -> dict[str, tuple[Parameter, ...]]:
    """Every verb with its parameters, as the application declares them."""
    commands = typer.main.get_command(application()).commands  # pyright: ignore[reportAttributeAccessIssue]
    return {
        name: tuple(
            Parameter(
                each.name,
                () if each.param_type_name == "argument" else (*each.opts, *each.secondary_opts),
                not getattr(each, "is_flag", False),
                each.required,
                bool(each.multiple),
            )
            for each in command.params
        )
        for name, command in commands.items()
    }


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
def calls(draw: DrawFn, verb: str, parameters: Sequence[Parameter]) -> tuple[str, ...]:
    """One call of a verb: its required parameters, some of the others, now and then a value too many."""
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
    return tuple(words)


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
