"""What fits together: for every verb settings that it accepts with one another, so that the call reaches a result.

Each verb has one function that draws the settings by the names of the verb's parameters, in ``fitting_computing`` or
``fitting_training``. Everything is small: short inputs, few steps. ``FITTING`` must have an entry for every verb, and
its function must draw every parameter of the verb sooner or later, but those of ``NEVER``: a test asks for both, so
that a verb or an option cannot be added without a call that uses it.
"""

from hypothesis.strategies import DrawFn
from tools.calls.fitting_computing import COMPUTING
from tools.calls.fitting_parts import Drawing, Given, Place, likely
from tools.calls.fitting_training import TRAINING

FITTING: dict[str, Drawing] = {**COMPUTING, **TRAINING}
NEVER = {
    "address": "a running Ray cluster",
    "sinks": "a package that shows runs, or an account",
    "budget": "the time that it asks for",
}
"""Parameters that no fitting call has, with what they need."""


def fitting(draw: DrawFn, verb: str, place: Place) -> Given:
    """Settings of a verb that fit together; half of the calls ask for JSON."""
    given = FITTING[verb](draw, place)
    if likely(draw, 1, 2):
        given["as_json"] = ("--json",)
    return given
