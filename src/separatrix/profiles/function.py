"""A user's function: called on batches or on single inputs, and never trusted.

A function takes one input (a tuple or string, or a one-dimensional array) or, if it accepts arrays, a batch (count, N).
It returns a decision (True/False, a whole number or a string) for each input, or a labelling: one of these for each
position. Which way to call is found by probing: a batch call is used when its result has the right shape, does not
depend on the order or the size of the batch, and agrees with single calls where those work. Where a tuple or string
works for some inputs and raises for others, that is the function's own error and no reason to call it with arrays,
unless what it raises says that an array was meant (a tuple has no ``.sum``). Everything a function can do wrong ends in
one line that names the input.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy
from numpy.typing import NDArray

from separatrix.communication import Integers
from separatrix.errors import SeparatrixError
from separatrix.profiles.alphabet import Alphabet
from separatrix.profiles.guard import TimeUp, guarded
from separatrix.sources import raised

Mode = Literal["arrays", "inputs", "rows"]
"""A batch (count, N) at once; one tuple or string at a time; one array (N,) at a time."""
Kind = Literal["decision", "labelling"]
PROBES = 12
PARTS = (1, 2, 3, 7)
OF_THE_FORM = (AttributeError, TypeError)
"""What a function raises that wants an array and is given a tuple."""
RETURNS = "return True or False, a whole number, a string, or a list of these with one entry for each position"


class FunctionError(SeparatrixError):
    """The user's function did something wrong on an input."""


class WrongKindError(FunctionError):
    """The user's function returned values of a wrong kind, as many as there were inputs."""


class MaskedError(ValueError):
    """The user's function returned a masked array; numpy would take what is under the mask for answers."""


class NotDeterministicError(FunctionError):
    """The user's function gave two answers for one input."""


@dataclass(frozen=True)
class UserFunction:
    """A function of sequences over an alphabet, and how to call it."""

    name: str
    function: Callable[[Any], Any]
    alphabet: Alphabet
    mode: Mode
    kind: Kind

    def values(self, inputs: Integers) -> NDArray[Any]:
        """Results of inputs (count, N): (count,) of a decision, (count, N) of a labelling.

        Whole numbers are int64, booleans bool, strings str or objects.
        """
        raw = _batch(self, inputs) if self.mode == "arrays" else _singles(self, inputs)
        expected = inputs.shape[:1] if self.kind == "decision" else inputs.shape
        if raw.shape != expected:
            raise FunctionError(
                f"{self.name} returned shape {raw.shape} for {len(inputs)} inputs of length {inputs.shape[1]}, "
                f"expected {expected}; {RETURNS}"
            )
        return raw


def probe(
    name: str, function: Callable[[Any], Any], alphabet: Alphabet, length: int, mode: Mode | None = None, seed: int = 0
) -> UserFunction:
    """Find out how the function is called and what it returns, at one length.

    Raises :class:`FunctionError` when neither way works, when results are of a wrong type, or when two calls differ.
    """
    inputs = probe_inputs(alphabet.at(length).size, length, seed)
    mine = alphabet.at(length)
    if mode is not None:
        only = _attempt(name, function, mine, mode, inputs)
        if isinstance(only, FunctionError):
            raise only
        return only
    single = _attempt(name, function, mine, "inputs", inputs)
    if isinstance(single, FunctionError) and _own_error(
        UserFunction(name, function, mine, "inputs", "decision"), inputs
    ):
        raise single
    arrays = _attempt(name, function, mine, "arrays", inputs)
    if isinstance(arrays, UserFunction) and isinstance(single, UserFunction):
        same = arrays.kind == single.kind and bool((arrays.values(inputs) == single.values(inputs)).all())
        return arrays if same else single
    no_tuples = isinstance(single, FunctionError) and isinstance(single.__cause__, OF_THE_FORM)
    if no_tuples and isinstance(arrays, WrongKindError):
        # It is called as it wants to be; one array at a time could only be a misreading.
        raise arrays
    found = (arrays, single, _attempt(name, function, mine, "rows", inputs))
    for each in found:
        if isinstance(each, UserFunction):
            return each
    # A division by zero in arrays says that those were the right form; else single calls say which input went wrong.
    errors = [each for each in found if isinstance(each, FunctionError)]
    of_arrays = FloatingPointError | MaskedError
    said = next((error for error in errors if isinstance(error.__cause__, of_arrays)), None)
    returned = next((error for error in errors if no_tuples and error.__cause__ is None), None)
    raise said or returned or errors[1]


def check_deterministic(function: UserFunction, inputs: Integers, expected: NDArray[Any]) -> None:
    """Call the inputs again, in the opposite order; raise when any result differs from the first."""
    again = function.values(inputs[::-1].copy())[::-1]
    same = again == expected
    if not bool(numpy.all(same)):
        place = int(numpy.argmin(same if same.ndim == 1 else same.all(axis=1)))
        raise NotDeterministicError(
            f"{function.name} is not deterministic: it gave {expected[place].tolist()!r} and then "
            f"{again[place].tolist()!r} for {function.alphabet.written(inputs[place].tolist())}; a function of the "
            "input alone is needed, without random numbers or state"
        )


def probe_inputs(symbols: int, length: int, seed: int) -> Integers:
    """Return a few different-looking inputs; their number is never the length, so that shapes can be distinguished."""
    count = PROBES + (length == PROBES)
    generator = numpy.random.default_rng([seed, length, symbols])
    drawn = generator.integers(0, symbols, (count, length))
    drawn[0] = 0
    drawn[1] = symbols - 1
    return drawn


def _attempt(
    name: str, function: Callable[[Any], Any], alphabet: Alphabet, mode: Mode, inputs: Integers
) -> "UserFunction | FunctionError":
    try:
        trial = UserFunction(name, function, alphabet, mode, "decision")
        raw = _batch(trial, inputs) if mode == "arrays" else _singles(trial, inputs)
        kind: Kind = "decision" if raw.ndim == 1 else "labelling"
        found = UserFunction(name, function, alphabet, mode, kind)
        first = found.values(inputs)
        check_deterministic(found, inputs, first)
        # A function of one input that reads its length is detected on a batch of as many inputs.
        for size in PARTS if mode == "arrays" else ():
            if not numpy.array_equal(found.values(inputs[:size]), first[:size]):
                raise FunctionError(f"{name} gives other results for a part of a batch than for the whole batch")
    except FunctionError as error:
        return error
    return found


def _own_error(function: UserFunction, inputs: Integers) -> bool:
    """Return whether tuples or strings are the function's form and some of them raise, for a reason that is not the
    form."""
    causes: list[BaseException | None] = []
    for each in inputs:
        try:
            with guarded():
                _call(function, each.tolist())
            causes.append(None)
        except FunctionError as error:
            causes.append(error.__cause__)
    return None in causes and any(cause is not None and not isinstance(cause, OF_THE_FORM) for cause in causes)


def _batch(function: UserFunction, inputs: Integers) -> NDArray[Any]:
    try:
        with guarded():
            result: Any = function.function(function.alphabet.batch(inputs))
        if numpy.ma.is_masked(result):
            raise MaskedError("some answers are masked")
        raw: NDArray[Any] = numpy.asarray(result)
    except MemoryError:
        raise
    except TimeUp:
        raise _too_slow(function, f"an array of {len(inputs)} inputs of length {inputs.shape[1]}") from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if len(inputs) > 1:
            # Halves are tried until one input is left, which the message can name.
            for half in (inputs[: len(inputs) // 2], inputs[len(inputs) // 2 :]):
                _batch(function, half.copy())
        what = function.alphabet.written(inputs[0].tolist()) if len(inputs) == 1 else f"{len(inputs)} inputs"
        raise FunctionError(
            f"{function.name} raised {raised(error)} on an array of {what} of length {inputs.shape[1]}"
        ) from error
    if raw.shape not in (inputs.shape[:1], inputs.shape):
        raise FunctionError(
            f"{function.name} returned shape {raw.shape} for an array of shape {inputs.shape}; {RETURNS}"
        )
    return _checked(function, raw, "an array")


def _singles(function: UserFunction, inputs: Integers) -> NDArray[Any]:
    results: list[Any] = []
    length = inputs.shape[1]
    with guarded():
        for numbers in inputs.tolist():
            result = _call(function, numbers)
            if isinstance(result, numpy.ndarray):
                result = cast("NDArray[Any]", result).tolist()
            if isinstance(result, list | tuple):
                result = tuple(cast("Sequence[Any]", result))
                if len(result) != length:
                    raise FunctionError(
                        f"{function.name} returned {len(result)} labels for {function.alphabet.written(numbers)} of "
                        f"length {length}; {RETURNS}"
                    )
            results.append(result)
    labelled = [isinstance(result, tuple) for result in results]
    if any(labelled) and not all(labelled):
        raise FunctionError(f"{function.name} returns a list for some inputs and a single value for others; {RETURNS}")
    raw = _array(results)
    return _checked(function, raw, function.alphabet.written(inputs[0].tolist()) if len(inputs) else "no input")


def _call(function: UserFunction, numbers: list[int]) -> Any:
    """Return one call for one input, with whatever it raises in one line."""
    try:
        return function.function(_one(function, numbers))
    except MemoryError:
        raise
    except TimeUp:
        raise _too_slow(function, function.alphabet.written(numbers)) from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit and what asyncio cancels with among them
        raise FunctionError(
            f"{function.name} raised {raised(error)} on {function.alphabet.written(numbers)}"
        ) from error


def _too_slow(function: UserFunction, given: str) -> SeparatrixError:
    """Not a FunctionError: no other way of calling is tried, and no length is skipped."""
    return SeparatrixError(
        f"{function.name} was still running when --max-time was over, on {given}; end the loop in it, raise --max-time "
        "or lower --length"
    )


def _one(function: UserFunction, numbers: list[int]) -> Any:
    if function.mode == "rows":
        return function.alphabet.batch(numpy.array([numbers], dtype=numpy.int64))[0]
    return function.alphabet.one(numbers)


def _array(results: list[Any]) -> NDArray[Any]:
    """Results as an array without conversions between kinds of values: 1 and "1" must stay different."""
    labelled = bool(results) and isinstance(results[0], tuple)
    entries: list[Any] = [entry for result in results for entry in result] if labelled else results
    kinds: set[type] = {type(entry) for entry in entries}
    shape = (len(results), -1) if labelled and entries else (len(results), 0) if labelled else (len(results),)
    if kinds <= {bool, numpy.bool_}:
        return numpy.array(entries, dtype=bool).reshape(shape)
    if all(issubclass(kind, int | numpy.integer | numpy.bool_) for kind in kinds):
        try:
            return numpy.array(entries, dtype=numpy.int64).reshape(shape)
        except OverflowError:
            pass
    raw = numpy.empty(len(entries), dtype=object)
    raw[:] = entries
    return raw.reshape(shape)


def _checked(function: UserFunction, raw: NDArray[Any], given: str) -> NDArray[Any]:
    if raw.dtype.kind in "bU":
        return raw
    if raw.dtype.kind in "iu":
        return raw.astype(numpy.int64)
    if raw.dtype.kind == "O":
        plain = numpy.empty(raw.size, dtype=object)
        for place, entry in enumerate(raw.ravel().tolist()):
            if not isinstance(entry, bool | int | str | numpy.integer | numpy.bool_):
                raise WrongKindError(f"{function.name} returned {type(entry).__name__} for {given}; {RETURNS}")
            # What subclasses make of equality and hashes is not asked.
            if isinstance(entry, str):
                plain[place] = str.__str__(entry)
            else:
                plain[place] = (bool if isinstance(entry, bool | numpy.bool_) else int)(cast("int", entry))
        return plain.reshape(raw.shape)
    raise WrongKindError(f"{function.name} returned {raw.dtype} values for {given}; {RETURNS}")
