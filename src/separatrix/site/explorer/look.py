"""What the page shows about one input: its answers and margins, a map of the attention, one position's slots."""

import time
from functools import lru_cache

import numpy

from separatrix.arithmetic import FixedPoint, RawArray
from separatrix.certificates import Claim, size_of
from separatrix.constructions import Built
from separatrix.errors import SeparatrixError
from separatrix.networks import Integers
from separatrix.site.explorer.automata import automaton_of
from separatrix.site.explorer.building import (
    answer_text,
    built,
    cells_of,
    chosen_here,
    keeps_promise,
    labels_of,
    own_gain,
    running_arithmetic,
    symbols_of,
)
from separatrix.site.explorer.limits import ExplorerError
from separatrix.site.explorer.maps import attention_of, rounded
from separatrix.site.explorer.replies import AnswerAt, At, LookReply, MarginAt, MarginsReply, ShownInput, StageReply
from separatrix.site.explorer.requests import Look, Setting
from separatrix.site.pages.formulas import prose
from separatrix.table import Reals, Trace, rows_to_run, slots_of, trace

PERCENTS = (10, 20, 30, 40, 50, 55, 60, 65, 70, 80, 90, 100, 110, 125, 150)
"""Where the margin is computed, in per cent of the theorem default of η."""
LONGEST = 5.0
KEPT = 4
"""Traces that a process caches, so that choosing another position is cheap."""


def look(request: Look) -> LookReply:
    """Run one input and show one position."""
    setting = request.setting
    made = built(setting)
    cells = cells_of(request.input, made.task, made.length)
    promised = keeps_promise(made.task, cells, made.length)
    expected, read = _expected(made, cells, promised)
    positions = made.network.positions
    position = read[-1] if request.position is None and read else request.position or 0
    if position >= positions:
        raise ExplorerError(f"position {position + 1} is not there; this input has {positions}, counted from 1")
    run = traced(setting, made, cells, promised, position)
    own = own_gain(setting)
    return LookReply(
        layout=prose(made.task.layout(made.length)), chosen=chosen_here(setting),
        size=size_of(made.network, Claim(made.task, made.length, made.arithmetic)),
        exponent=made.arithmetic.exponent if isinstance(made.arithmetic, FixedPoint) else None,
        own_gain=None if own is None else str(own),
        input=ShownInput(
            text=made.task.write(cells.tolist(), made.length), symbols=symbols_of(cells, made.task, made.length),
            promised=promised,
        ),
        answers=_answers(made, run, expected, read), not_run=sum(run.readout(place) is None for place in read),
        margin=_margin(run, expected, read), position=position, stages=_stages(run, position),
        attention=attention_of(run, request.layer, request.head, position, read),
        automaton=automaton_of(made, cells, running_arithmetic(setting, made)),
    )  # fmt: skip


def margins(request: Look) -> MarginsReply:
    """Run one input at several η; after :data:`LONGEST` seconds no further one is begun."""
    own = own_gain(request.setting)
    found: dict[int, MarginAt] = {}
    until = time.monotonic() + LONGEST
    for percent in sorted(PERCENTS, key=lambda each: abs(each - 100)):
        if own is None or time.monotonic() > until:
            break
        gain = str(own * percent / 100)
        setting = request.setting.model_copy(update={"gain": gain})
        margin, lead = _margin_and_lead(request.model_copy(update={"setting": setting}))
        found[percent] = MarginAt(percent=percent, gain=gain, margin=margin, lead=lead)
    return MarginsReply(points=[found[percent] for percent in sorted(found)])


def _margin_and_lead(request: Look) -> tuple[float | None, float | None]:
    """Return the margin of one input and the lead of its best keys; None where it cannot be run with these numbers."""
    try:
        found = look(request)
    except SeparatrixError:
        return None, None
    lead = found.attention.lead
    return None if found.margin is None else found.margin.value, None if lead is None else lead.value


def traced(setting: Setting, made: Built, cells: Integers, promised: bool, position: int) -> Trace:
    """Run an input, this position included; one that breaks the promise may be impossible to run."""
    try:
        # One run serves all positions, unless it is too long to be run whole.
        whole = len(rows_to_run(made.network, ())) == made.network.positions
        return _traced(setting.model_dump_json(), cells.tobytes(), cells.shape, () if whole else (position,))
    except (IndexError, OverflowError) as error:
        if promised:
            raise
        raise ExplorerError(
            f"this input breaks the promise of {made.task.name} and cannot be run: {made.task.layout(made.length)}"
        ) from error


@lru_cache(maxsize=KEPT)
def _traced(text: str, data: bytes, shape: tuple[int, ...], first: tuple[int, ...]) -> Trace:
    setting = Setting.model_validate_json(text)
    made = built(setting)
    cells = numpy.frombuffer(data, dtype=numpy.int64).reshape(shape)
    return trace(made.network, cells, running_arithmetic(setting, made), first)


def _expected(made: Built, cells: Integers, promised: bool) -> tuple[Integers | None, list[int]]:
    """Return the right answers (positions, …), None where the promise is broken, and the query positions."""
    if not promised:
        last = [made.network.positions - 1]
        return None, list(range(made.network.positions)) if made.network.readout.at == "every" else last
    return labels_of(made.task, cells, made.length)


def _answers(made: Built, run: Trace, expected: Integers | None, read: list[int]) -> list[AnswerAt]:
    found: list[AnswerAt] = []
    for position in read:
        readout = run.readout(position)
        if readout is None:
            continue
        given = readout[1].tolist()
        right = None if expected is None else expected[position].tolist()
        found.append(
            AnswerAt(
                position=position,
                given=answer_text(made, given),
                expected=None if right is None else answer_text(made, right),
                right=None if right is None else given == right,
            )
        )
    return found


def _margin(run: Trace, expected: Integers | None, read: list[int]) -> At | None:
    """Return the distance of this input's readouts from a wrong answer; negative where one is wrong."""
    margins = {
        place: _distance(run, run.arithmetic.to_float64(readout[0]), expected[place])
        for place in read
        if expected is not None and (readout := run.readout(place)) is not None
    }
    if not margins:
        return None
    worst = min(margins, key=lambda place: margins[place])
    return At(value=margins[worst], position=worst)


def _distance(run: Trace, values: Reals, answer: RawArray) -> float:
    decoding = run.network.readout.decoding
    if decoding in ("bits", "exact"):
        bits = int(answer) >> numpy.arange(len(values) - 1, -1, -1) & 1
        return float(numpy.where(bits == 1, values - 0.5, 0.5 - values).min())
    if decoding == "argmax":
        others = numpy.delete(values, int(answer))
        return float(values[int(answer)] - others.max(initial=-numpy.inf))
    nearest = numpy.rint(values) if decoding == "power-sums" else answer
    return float((0.5 - numpy.abs(values - nearest)).min())


def _stages(run: Trace, position: int) -> list[StageReply]:
    """Return the stream of one position after every step, by slots, and the readout."""
    found: list[StageReply] = []
    for stage in run.stages:
        stream = run.at(stage, position)
        if stream is None:
            break
        values = run.arithmetic.to_float64(stream)
        slots = {name: rounded(values[place]) for name, place in slots_of(run.network, stage)}
        found.append(StageReply(title=stage.title, kind=stage.kind, slots=slots))
    readout = run.readout(position)
    if readout is not None:
        values = rounded(run.arithmetic.to_float64(readout[0]))
        found.append(StageReply(title="readout", kind="readout", slots={"output": values}))
    return found
