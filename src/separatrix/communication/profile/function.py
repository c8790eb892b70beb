"""A user's function: loaded from a file, called on batches or on single inputs, and never trusted.

A function takes one input (a tuple or string, or a one-dimensional array) or, if it accepts arrays, a batch (count, N).
It returns a decision (True/False, a whole number or a string) for each input, or a labelling: one of these for each
position. Which way to call is found by probing: a batch call is used when its result has the right shape, does not
depend on the order or the size of the batch, and agrees with single calls where those work. Everything a function can
do wrong ends in one line that names the input.
"""

import importlib
import importlib.util
import sys
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, cast

import numpy
from numpy.typing import NDArray

from separatrix.communication.problem import Integers
from separatrix.communication.profile.alphabet import Alphabet
from separatrix.errors import SeparatrixError

Mode = Literal["arrays", "inputs", "rows"]
"""A batch (count, N) at once; one tuple or string at a time; one array (N,) at a time."""
Kind = Literal["decision", "labelling"]
PROBES = 12
PARTS = (1, 2, 3, 7)
RETURNS = "return True or False, a whole number, a string, or a list of these with one entry for each position"


class FunctionError(SeparatrixError):
    """The user's function did something wrong on an input."""


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


def load_function(target: str) -> tuple[str, Callable[[Any], Any]]:
    """The function of ``FILE.py:function`` or ``package.module:function``, and its short name.

    >>> load_function("separatrix.communication.profile.examples:parity")[0]
    'examples:parity'
    """
    where, colon, name = target.rpartition(":")
    if not colon or not name.isidentifier():
        raise SeparatrixError(f"{target!r} does not name a function; write it as path/to/file.py:function")
    parts = where.split(".")
    as_module = parts[-1] != "py" and all(part.isidentifier() for part in parts) and not Path(where).exists()
    module = _imported(where) if as_module else _executed(where)
    found = getattr(module, name, None)
    if not callable(found):
        known = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
        raise SeparatrixError(f"{where} has no function {name!r}; it has {', '.join(known[:8]) if known else 'none'}")
    return f"{where.rpartition('.')[2] if as_module else Path(where).name}:{name}", found


def _imported(where: str) -> ModuleType:
    try:
        with _quiet():
            return importlib.import_module(where)
    except (Exception, SystemExit) as error:
        raise SeparatrixError(
            f"{where} could not be imported: {_raised(error)}; give path/to/file.py:function or a module's name"
        ) from error


def _executed(where: str) -> ModuleType:
    """The module of a file; its folder is importable while it is loaded."""
    path = Path(where)
    if not path.is_file():
        raise SeparatrixError(f"{where} is not a file; give the path of a Python file before the colon")
    specification = importlib.util.spec_from_file_location(f"_separatrix_profile_{path.stem}", path)
    if specification is None or specification.loader is None or path.suffix != ".py":
        raise SeparatrixError(f"{where} is not a Python file; its name must end in .py")
    module = importlib.util.module_from_spec(specification)
    try:
        with _importable(path.resolve().parent), _quiet():
            specification.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise SeparatrixError(f"{where} could not be loaded: {_raised(error)}") from error
    return module


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
    arrays = _attempt(name, function, mine, "arrays", inputs)
    if isinstance(arrays, UserFunction) and isinstance(single, UserFunction):
        same = arrays.kind == single.kind and bool((arrays.values(inputs) == single.values(inputs)).all())
        return arrays if same else single
    for found in (arrays, single, _attempt(name, function, mine, "rows", inputs)):
        if isinstance(found, UserFunction):
            return found
    # The message of single calls says which input went wrong.
    assert isinstance(single, FunctionError)
    raise single


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
    """A few different-looking inputs; their number is never the length, so that shapes can be told apart."""
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
        # A function of one input that asks for its length gives itself away on a batch of as many inputs.
        for size in PARTS if mode == "arrays" else ():
            if not numpy.array_equal(found.values(inputs[:size]), first[:size]):
                raise FunctionError(f"{name} gives other results for a part of a batch than for the whole batch")
    except FunctionError as error:
        return error
    return found


def _batch(function: UserFunction, inputs: Integers) -> NDArray[Any]:
    try:
        with _quiet():
            result: Any = function.function(function.alphabet.batch(inputs))
        raw: NDArray[Any] = numpy.asarray(result)
    except MemoryError:
        raise
    except (Exception, SystemExit) as error:
        raise FunctionError(
            f"{function.name} raised {_raised(error)} on an array of {len(inputs)} inputs of length {inputs.shape[1]}"
        ) from error
    if raw.shape not in (inputs.shape[:1], inputs.shape):
        raise FunctionError(
            f"{function.name} returned shape {raw.shape} for an array of shape {inputs.shape}; {RETURNS}"
        )
    return _checked(function, raw, "an array")


def _singles(function: UserFunction, inputs: Integers) -> NDArray[Any]:
    results: list[Any] = []
    length = inputs.shape[1]
    with _quiet():
        for numbers in inputs.tolist():
            try:
                result: Any = function.function(_one(function, numbers))
            except MemoryError:
                raise
            except (Exception, SystemExit) as error:
                raise FunctionError(
                    f"{function.name} raised {_raised(error)} on {function.alphabet.written(numbers)}"
                ) from error
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
        for entry in raw.ravel().tolist():
            if not isinstance(entry, bool | int | str | numpy.integer | numpy.bool_):
                raise FunctionError(f"{function.name} returned {type(entry).__name__} for {given}; {RETURNS}")
        return raw
    raise FunctionError(f"{function.name} returned {raw.dtype} values for {given}; {RETURNS}")


def _raised(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__


@contextmanager
def _quiet() -> Generator[None]:
    """What a function prints belongs to standard error, and its warnings are its own affair."""
    with redirect_stdout(sys.stderr), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def _importable(folder: Path) -> Generator[None]:
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        if str(folder) in sys.path:
            sys.path.remove(str(folder))
