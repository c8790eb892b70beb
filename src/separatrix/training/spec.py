"""What a training run is: a frozen, plain description whose content is its name.

Two runs with the same description are the same run, wherever and in whatever company they train. The name is a hash of
the description's canonical JSON. The recipe's defaults are those of BHBK24 Appendix H: Adam, cross-entropy, batch 64,
fresh data at every step, 5000 fresh examples of exactly length N in evaluation, stop at (almost) perfect accuracy.
``recipes`` names this one and another.

Deviation: between the full evaluations a curve is drawn from smaller probes of ``probe_examples``; a probe that reaches
the goal is confirmed by a full evaluation before a run stops.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import MISSING, dataclass, fields, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.profiles import known_task
from separatrix.tasks import Task, with_plain_parameters

FORMAT = 1
"""Part of every name: raised when the same description would train differently."""

Recipe: TypeAlias = Literal["paper", "strong", "own"]
START = 2
"""The version of the initial weights that models have now."""
SINCE_START = ("questions", "final_rate", "start")
"""Fields that descriptions with the first start do not have: their names are made without them."""

PRECISIONS = ("float32", "float64", "bfloat16")
LARGEST = 1e300
Count: TypeAlias = tuple[int, int, str]
Range: TypeAlias = tuple[Callable[[float], bool], str]
POSITIVE: Count = (1, 1 << 31, "1 to 2^31")
COUNTS: Mapping[str, Count] = {
    "steps": POSITIVE, "batch": POSITIVE, "evaluate_every": POSITIVE, "probe_examples": POSITIVE,
    "evaluation_examples": POSITIVE, "questions": POSITIVE,
    "warmup": (0, 1 << 31, "0 to 2^31"),
    "seed": (0, (1 << 63) - 1, "0 to 2^63 - 1"),
}  # fmt: skip
"""Fields that are whole numbers: the least, the largest, and both in words."""
_SIZE: Range = (lambda value: 0 <= value < LARGEST, "a finite number, at least 0")
_DECAY: Range = (lambda value: 0 <= value < 1, "a share from 0 to below 1")
RANGES: Mapping[str, Range] = {
    "learning_rate": (lambda value: 0 < value < LARGEST, "a finite number above 0"),
    "weight_decay": _SIZE, "clip": _SIZE, "leak_margin": _SIZE, "state_radius": _SIZE,
    "goal": (lambda value: 0 <= value <= 1, "an accuracy of at most 1, or 0 to train all steps"),
    "final_rate": (lambda value: 0 <= value <= 1, "a share of the learning rate, from 0 to 1"),
    "full_length": (lambda value: 0 <= value <= 1, "a share of the training examples, from 0 to 1"),
    "growth": (lambda value: 0 <= value < 1, "a share of the steps, from 0 to below 1"),
    "beta1": _DECAY, "beta2": _DECAY,
    "epsilon": (lambda value: 0 < value < 1, "above 0 and below 1"),
}  # fmt: skip
"""Fields that are numbers: which ones are allowed, as code and in words."""
MEMBER_FIELDS: Mapping[str, Any] = {
    "learning_rate": 1.0, "weight_decay": 0.0, "seed": 0, "warmup": 0, "clip": 0.0, "final_rate": 1.0,
}  # fmt: skip
"""What may differ between runs that train as one ensemble, with the values that represent them in a shape."""


@dataclass(frozen=True, kw_only=True)
class RunSpec:
    """One model trained once on one task.

    ``precision`` is the type of weights and activations; "bfloat16" keeps float32 weights and computes the products in
    bfloat16. ``clip`` bounds the norm of a gradient (0: no bound). ``warmup`` steps raise the learning rate linearly;
    behind them it falls along a cosine to ``final_rate`` of itself (1: it stays). ``questions`` are asked of each text
    in training, in evaluation one. ``full_length`` is the share of the training examples that have exactly the length
    of the evaluation; the others have the lengths that the task draws for training, from ``shortest`` to ``longest``
    where these are given (0: no limit). Over the first ``growth`` of the steps the texts are drawn as for a shorter
    evaluation, whose length grows evenly up to the run's own (0: it has it from the first step). ``beta1``, ``beta2``
    and ``epsilon`` are those of Adam. ``leak_margin`` asks a lookup's attention for a gap, so that it can be certified
    (see ``leaks``; 0: none), ``state_radius`` a recurrent network for tubes around its states (see ``tubes``).
    ``start`` is the version of the initial weights: 2 are those of the published code,
    1 those of records made before, which can be read and not trained.
    ``goal`` is the accuracy at which a run stops; 0 trains all steps. ``snapshots`` are the steps after which the
    weights are kept, 0 for the weights before the first.
    """

    task: str
    architecture: str
    length: int
    learning_rate: float
    steps: int
    task_parameters: tuple[tuple[str, Any], ...] = ()
    weight_decay: float = 0.0
    batch: int = 64
    warmup: int = 0
    clip: float = 0.0
    evaluate_every: int = 500
    probe_examples: int = 512
    evaluation_examples: int = 5000
    goal: float = 0.999
    seed: int = 0
    precision: str = "float32"
    snapshots: tuple[int, ...] = ()
    questions: int = 1
    final_rate: float = 1.0
    start: int = START
    leak_margin: float = 0.0
    state_radius: float = 0.0
    full_length: float = 0.0
    shortest: int = 0
    longest: int = 0
    growth: float = 0.0
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8

    def __post_init__(self) -> None:
        if isinstance(self.task_parameters, Mapping):
            object.__setattr__(self, "task_parameters", tuple(sorted(self.task_parameters.items())))
        elif _are_pairs(self.task_parameters):
            object.__setattr__(self, "task_parameters", tuple((str(a), b) for a, b in self.task_parameters))
        if isinstance(self.snapshots, Sequence) and not isinstance(self.snapshots, str):
            object.__setattr__(self, "snapshots", tuple(self.snapshots))
        for name in RANGES:
            # 1 and 1.0 are the same run and must have the same name.
            value = getattr(self, name)
            if type(value) is int and abs(value) < 1 << 53:
                object.__setattr__(self, name, float(value))
        if problems := self.problems():
            raise SeparatrixError("; ".join(problems))

    def problems(self) -> list[str]:
        """Return every reason why this is not a run, not only the first."""
        found: list[str] = []
        for name, (least, most, words) in COUNTS.items():
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= most:
                found.append(f"{name}={value!r} must be a whole number from {words}")
        for name, (inside, words) in RANGES.items():
            value = getattr(self, name)
            if type(value) not in (int, float) or not inside(value):
                found.append(f"{name}={value!r} must be {words}")
        if self.growth and (self.shortest or self.longest):
            found.append("growth sets the lengths of training itself; leave shortest and longest out")
        found += self._length_problems()
        if self.start not in (1, START) or isinstance(self.start, bool):
            found.append(f"start={self.start!r} is unknown; leave it out")
        elif self.start == 1 and (self.questions, self.final_rate) != (1, 1.0):
            found.append("start=1 is of records without questions and final_rate; leave it out")
        if self.precision not in PRECISIONS:
            found.append(f"precision={self.precision!r} is unknown; choose {', '.join(PRECISIONS)}")
        if not isinstance(self.snapshots, tuple) or not all(self._is_step(each) for each in self.snapshots):
            found.append(f"snapshots={self.snapshots!r} must be a list of steps, whole numbers from 0 to {self.steps}")
        elif list(self.snapshots) != sorted(set(self.snapshots)):
            found.append(f"snapshots={list(self.snapshots)} must ascend, each step once; sort them")
        named = ("task", self.task), ("architecture", self.architecture)
        found += [f"{name}={value!r} must be a name" for name, value in named if not isinstance(value, str)]
        if not isinstance(self.task, str):
            return found
        whole = type(self.length) is int
        if not whole:
            found.append(f"length={self.length!r} must be a whole number")
        if not _are_pairs(self.task_parameters):
            found.append(f"task_parameters={self.task_parameters!r} must be a table of names and values")
            return found
        try:
            task = self.the_task()
            if whole:
                task.check_length(self.length)
            if self.questions != 1 and not task.asks_last:
                found.append(f"{task.name} has no question behind its text; leave questions={self.questions!r} out")
        except SeparatrixError as error:
            found.append(str(error))
        return found

    def _length_problems(self) -> list[str]:
        found = [
            f"{name}={value!r} must be a length from 1 to {self.length}, or 0 for no limit"
            for name, value in (("shortest", self.shortest), ("longest", self.longest))
            if type(value) is not int or value < 0 or (isinstance(self.length, int) and value > self.length)
        ]  # fmt: skip
        if not found and 0 < self.longest < self.shortest:
            found.append(f"shortest={self.shortest} is above longest={self.longest}")
        return found

    def _is_step(self, value: Any) -> bool:
        return type(value) is int and isinstance(self.steps, int) and 0 <= value <= self.steps

    def the_task(self) -> Task:
        """Return the task with this run's parameters."""
        return with_plain_parameters(known_task(self.task), dict(self.task_parameters))

    def as_dict(self) -> dict[str, Any]:
        """Return plain data; :func:`spec_from` reads it back."""
        # Not by ``asdict``, which copies every number: a store of a thousand runs is read by their names.
        plain = {name: getattr(self, name) for name in FIELDS}
        plain["task_parameters"] = dict(deepcopy(self.task_parameters))
        plain["snapshots"] = list(self.snapshots)
        for name in LATER_FIELDS:
            # Descriptions from before the fields, and their names, stay as they are.
            if plain[name] == _DEFAULTS[name]:
                del plain[name]
        return plain

    def with_changes(self, **changes: Any) -> "RunSpec":
        """Return the same run with other values; an unknown field names the nearest."""
        _check_known(changes)
        return replace(self, **changes)

    @cached_property
    def name(self) -> str:
        """Sixteen hexadecimal digits of the hash of the content; kept, because figures ask for it again and again."""
        plain = self.as_dict()
        return _hashed({key: plain[key] for key in plain if self.start != 1 or key not in SINCE_START})

    @property
    def recipe(self) -> Recipe:
        """How it is trained: as the paper says, with all that makes training stable, or otherwise."""
        steady = self.warmup == 0, self.clip == 0, self.final_rate == 1, self.questions == 1
        if any(getattr(self, name) != _DEFAULTS[name] for name in LATER_FIELDS if name not in OF_STRONG):
            return "own"
        if all(steady):
            return "own" if self.full_length or self.growth else "paper"
        return "strong" if not any(steady[:3]) else "own"

    @property
    def shape(self) -> "RunSpec":
        """The same description with the members' own fields set to fixed values: equal shapes train together."""
        return replace(self, **MEMBER_FIELDS)


FIELDS = tuple(field.name for field in fields(RunSpec))
LATER_FIELDS = (
    "leak_margin", "state_radius", "full_length", "shortest", "longest", "growth", "beta1", "beta2", "epsilon",
)  # fmt: skip
"""Fields that earlier descriptions do not have; left out of a description where they have their defaults."""
OF_STRONG = ("full_length", "growth")
"""Those of the later fields that the recipe ``strong`` may set."""
_DEFAULTS = {field.name: field.default for field in fields(RunSpec)}
REQUIRED_FIELDS = tuple(field.name for field in fields(RunSpec) if field.default is MISSING)
"""Without these there is no run."""


def _check_known(names: Iterable[str]) -> None:
    for name in names:
        if name not in FIELDS:
            raise UnknownNameError("field of a run", name, FIELDS)


def _are_pairs(value: Any) -> bool:
    """Return whether these are pairs of a name and a value, or can be read so."""
    listed = isinstance(value, Sequence) and not isinstance(value, str)
    return listed and all(isinstance(each, list | tuple) and len(each) == 2 for each in value)


def spec_from(plain: Mapping[str, Any]) -> RunSpec:
    """Return a run from plain data; unknown and missing fields raise."""
    if not isinstance(plain, Mapping):
        raise SeparatrixError(f"{str(plain)[:40]!r} describes no run; it must be a table of {', '.join(FIELDS)}")
    _check_known(plain)
    missing = [name for name in REQUIRED_FIELDS if name not in plain]
    if missing:
        raise SeparatrixError(f"a run needs {', '.join(missing)}; add {'it' if len(missing) == 1 else 'them'}")
    return RunSpec(**plain)


def _hashed(plain: Mapping[str, Any]) -> str:
    text = json.dumps({"format": FORMAT, **plain}, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def group_name(specs: Sequence[RunSpec], rungs: Sequence[int], first_goal_ends: bool, together: bool = False) -> str:
    """Return the name of runs that train together, in this order and competing in this way.

    >>> spec = RunSpec(task="equality", architecture="TF-(1,8)", length=8, learning_rate=0.1, steps=800)
    >>> group_name([spec], [], False) == group_name([spec], [200], False)
    False
    """
    members = [spec.name for spec in specs]
    more = {"together": True} if together else {}
    return _hashed({"members": members, "rungs": list(rungs), "first_goal_ends": first_goal_ends, **more})
