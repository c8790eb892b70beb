"""From a request to a network, an input and a claim.

Each process caches networks, so that a slider that moves back and forth builds each only once. A construction does not
state its default η: it is read off the weights, by comparison with a network that is built with a known η.
"""

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy

from separatrix.arithmetic import Arithmetic, Balls, FixedPoint, Floating
from separatrix.certificates import Claim, written_answer
from separatrix.constructions import Built, Construction, Options, constructions
from separatrix.errors import SeparatrixError
from separatrix.networks import (
    Attention,
    ExactMatrix,
    FeedForward,
    GraphAttention,
    Integers,
    Network,
    TableRows,
)
from separatrix.site.explorer.limits import ExplorerError
from separatrix.site.explorer.requests import Input, Setting
from separatrix.tasks import Task, draws_from, tasks, to_numpy, with_text_parameters
from separatrix.text_numbers import parse_fraction

BALL_BITS = 128
KEPT = 16
"""Networks that a process caches."""
PROBE = Fraction(1024)
"""The η of the network that the default is compared with."""
SIMPLE = 64
"""The largest denominator of a theorem's η."""


def options_of(setting: Setting) -> tuple[Construction, Options]:
    """Return the construction and the options of a setting."""
    chosen = constructions()[setting.construction]
    task = tasks()[chosen.task_name]
    task.check_length(setting.length)
    inner = parse_fraction("γ at most", setting.max_inner)
    if not 0 < inner < 1:
        raise ExplorerError(f"γ at most {inner} is out of range; choose a fraction between 0 and 1, such as 1/4")
    gain = None if setting.gain is None else parse_fraction("score scale η", setting.gain)
    if gain is not None and gain <= 0:
        raise ExplorerError(f"score scale η = {gain} favours no right key; choose a number above 0")
    own = task.parameters()
    changed = parameters_of(task, {**chosen_here(setting), **setting.parameters}).parameters()
    return chosen, Options(
        exponent=setting.exponent, rounding=setting.rounding, variant=setting.variant, gain=gain,
        family=setting.family, max_inner=inner, attention=setting.attention,
        parameters={name: value for name, value in changed.items() if value != own[name]},
    )  # fmt: skip


def chosen_here(setting: Setting) -> dict[str, str]:
    """Return task parameters that the explorer chooses: a modulus of N where the default N² takes numbers of more than
    62 bits, in which the checker decides nothing, or tables that cannot be built."""
    chosen, length = constructions()[setting.construction], setting.length
    task = tasks()[chosen.task_name]
    if "modulus" in setting.parameters or task.parameters().get("modulus", 0) is not None:
        return {}
    usual = FixedPoint(length, chosen.default_exponent(task, length))
    return {"modulus": str(length)} if length > 1 and usual.dtype == object else {}


def parameters_of(task: Task, given: dict[str, str]) -> Task:
    """Return the task with parameters from text."""
    return with_text_parameters(task, [f"{name}={value}" for name, value in given.items()])


def built(setting: Setting) -> Built:
    """Build the network of a setting."""
    return _built(setting.model_dump_json())


@lru_cache(maxsize=KEPT)
def _built(text: str) -> Built:
    setting = Setting.model_validate_json(text)
    chosen, options = options_of(setting)
    return chosen.build(setting.length, options)


def claim_of(setting: Setting, made: Built) -> Claim:
    """Return the claim: in fixed point, or over the real numbers by balls."""
    numbers: Arithmetic = Balls(BALL_BITS) if setting.numbers == "reals" else made.arithmetic
    return Claim(made.task, made.length, numbers)


def running_arithmetic(setting: Setting, made: Built) -> Arithmetic:
    """Return the arithmetic of one run: fixed point, or float64 in place of the real numbers."""
    return Floating("float64") if setting.numbers == "reals" else made.arithmetic


def own_gain(setting: Setting) -> Fraction | None:
    """Return the theorem default of η, or None where no score depends on it."""
    plain = setting.model_copy(update={"gain": None, "exponent": None, "rounding": "down", "numbers": "fixed"})
    return _own_gain(plain.model_dump_json())


@lru_cache(maxsize=4 * KEPT)
def _own_gain(text: str) -> Fraction | None:
    setting = Setting.model_validate_json(text)
    chosen, options = options_of(setting)
    network = built(setting).network
    try:
        probe = chosen.build(setting.length, replace(options, gain=PROBE)).network
    except SeparatrixError:
        return None
    if not isinstance(network, Network) or not isinstance(probe, Network):
        return None
    pairs = zip(_scales(network), _scales(probe), strict=True)
    found = next((PROBE * own / other for own, other in pairs if own != other and other), None)
    # Scores that a theorem rounds up to whole numbers are not quite proportional to η.
    return found if found is None or found.denominator <= SIMPLE else Fraction(round(found * SIMPLE), SIMPLE)


def _scales(network: Network) -> list[Fraction]:
    """Return the largest score weights of each attention layer, the last one first, and of embedded sets."""
    found: list[Fraction] = [part.gain for part in network.dual_parts]
    tables = (part.rule for part in network.embedding if part.source == "position")
    found += [_largest(rule.table) for rule in tables if isinstance(rule, TableRows)]
    for layer in reversed(network.layers):
        if isinstance(layer, Attention):
            found.append(max(_largest(head.query) for head in layer.heads))
        elif isinstance(layer, GraphAttention):
            found.append(max(_largest(head.scores) for head in layer.heads))
        elif not isinstance(layer, FeedForward):
            found.append(max(_largest(head.query) for head in layer.heads))
    return found


def _largest(matrix: ExactMatrix) -> Fraction:
    return Fraction(int(numpy.abs(matrix.numerators).max(initial=0)), matrix.denominator)


def cells_of(asked: Input, task: Task, length: int) -> Integers:
    """Return the cells (positions,) or (positions, features) of the requested input."""
    if asked.text is None:
        return numpy.asarray(to_numpy(task.sample(draws_from(asked.seed), 1, length).inputs)[0], dtype=numpy.int64)
    row = task.read(asked.text, length)
    positions, features = task.positions(length), task.features(length)
    wide = features and any(len(cell) != features for cell in row)
    if len(row) != positions or wide:
        raise ExplorerError(
            f"the input has {len(row)} {'cells' if features else 'symbols'}, {task.name} at N = {length} has "
            f"{positions}: {task.layout(length)}"
        )
    try:
        return numpy.array(row, dtype=numpy.int64)
    except (OverflowError, ValueError) as error:
        raise ExplorerError("the input has numbers beyond 64 bits; give smaller ones") from error


def keeps_promise(task: Task, cells: Integers, length: int) -> bool:
    """Return whether an input keeps the promise of the task."""
    return bool(to_numpy(task.admissible(cells[None], length))[0])


def labels_of(task: Task, cells: Integers, length: int) -> tuple[Integers, list[int]]:
    """Return the right answers (positions, …) of an input that keeps the promise, and the query positions."""
    targets, read = task.label(cells[None], length)
    return to_numpy(targets)[0], to_numpy(read)[0].nonzero()[0].tolist()


def symbols_of(cells: Integers, task: Task, length: int) -> list[str]:
    """Return a short text for each position; numbers of positions count from 1, as everywhere on the page."""
    if cells.ndim == 1:
        return task.vocabulary(length).texts(cells.tolist())
    if cells.shape[0] == cells.shape[1]:
        return [f"v{vertex}" for vertex in range(1, len(cells) + 1)]
    words = task.write(cells.tolist(), length).split()
    return words if len(words) == len(cells) else [str(place) for place in range(1, len(cells) + 1)]


def answer_text(made: Built, answer: Any) -> str:
    """Return an answer in readable form, also where a wrong network gives none of the task's."""
    return written_answer(made.task, answer, made.length)


def command_of(setting: Setting) -> str:
    """Return the command that decides the same claim."""
    words = ["separatrix certify", setting.construction, f"--length {setting.length}"]
    plain = Setting(construction=setting.construction, length=setting.length)
    for option in ("variant", "gain", "attention", "family", "exponent", "rounding"):
        value: Any = getattr(setting, option)
        if value != getattr(plain, option):
            words.append(f"--{option} {value}")
    if setting.max_inner != plain.max_inner:
        words.append(f"--max-inner {setting.max_inner}")
    if setting.numbers == "reals":
        words.append("--arithmetic balls")
    words += [f"--set {name}={value}" for name, value in {**chosen_here(setting), **setting.parameters}.items()]
    return " ".join(words)
