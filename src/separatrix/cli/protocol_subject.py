"""What ``separatrix protocol`` runs: a network, built or read from a file, and one input of it."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from separatrix.cli.construction_options import options_from, rounding_named
from separatrix.errors import SeparatrixError, UnknownNameError

if TYPE_CHECKING:
    from separatrix.api import Subject
    from separatrix.certificates import Claim
    from separatrix.networks import AnyNetwork, Integers


def subject_named(
    name: str, length: int | None, exponent: int | None, rounding: str, arithmetic: str | None, attention: str | None,
    settings: list[str],
) -> "Subject":  # fmt: skip
    """Return the construction of this name, built as the options say, or the network in a file or folder of this
    name."""
    from separatrix.api import Subject
    from separatrix.arithmetic import FixedPoint, arithmetic_named

    other = None if arithmetic is None else arithmetic_named(arithmetic)
    if other is not None and exponent is not None:
        raise SeparatrixError(f"give one of --arithmetic {arithmetic} and --exponent {exponent}, not both")
    path = Path(name)
    if path.suffix == ".safetensors" or path.is_dir():
        from separatrix.networks import NETWORK_FILE, load_network

        loaded, _ = load_network(path / NETWORK_FILE if path.is_dir() else path)
        if settings or attention is not None:
            raise SeparatrixError("--set and --attention are for constructions; a file holds a finished network")
        claim = _claim_of(path, loaded)
        if claim is not None and length not in (None, claim.length):
            raise SeparatrixError(f"--length {length}: {name} is about length {claim.length}; leave it out")
        rounded = rounding_named(rounding)
        count = loaded.positions if length is None else length
        count = count if claim is None else claim.length
        if claim is not None and isinstance(claim.arithmetic, FixedPoint) and (exponent, rounding) == (None, "down"):
            other = other or claim.arithmetic
        numbers = other or FixedPoint(max(2, count), 2 if exponent is None else exponent, rounded)
        return Subject(name, loaded, numbers, None if claim is None else claim.task, count)
    from separatrix.constructions import constructions

    chosen = constructions()[name]
    if length is None:
        raise SeparatrixError(f"{name} can be built for many lengths; give one with --length")
    options = options_from(chosen, length, exponent=exponent, rounding=rounding, attention=attention, settings=settings)
    built = chosen.build(length, options)
    return Subject(name, built.network, other or built.arithmetic, built.task, length)


def _claim_of(path: Path, network: "AnyNetwork") -> "Claim | None":
    """Return the claim of the certificate in a folder, by which its inputs can be read; None where there is no use in
    it."""
    from separatrix.certificates import claim_in

    try:
        claim = claim_in(path) if path.is_dir() else None
    except UnknownNameError:  # a user's task, without its file
        return None
    return claim if claim is not None and claim.task.positions(claim.length) == network.positions else None


def input_of(subject: "Subject", text: str | None, seed: int) -> "tuple[Integers, int | None]":
    """Return the cells of one input, and the last query position of the task."""
    import numpy

    from separatrix.communication import read_position
    from separatrix.networks import Network
    from separatrix.tasks import draws_from, to_numpy

    network, task, length = subject.network, subject.task, subject.length
    if isinstance(network, Network) and network.reads_graphs:
        # The protocol refuses these; there is nothing to read.
        return numpy.zeros((network.positions, network.positions), dtype=numpy.int64), None
    if task is None:
        return _input_of_file(network, text, seed), None
    if text is None:
        row = to_numpy(task.sample(draws_from(seed), 1, length).inputs)[0]
    else:
        row = numpy.array(task.read(text, length), dtype=numpy.int64)
        if len(row) != network.positions:
            raise SeparatrixError(
                f"--input has {len(row)} symbols, {subject.name} at length {length} reads {network.positions}: "
                f"{task.layout(length)}"
            )
    return row, read_position(network, task, row, length)


def _input_of_file(network: "AnyNetwork", text: str | None, seed: int) -> "Integers":
    import numpy

    from separatrix.networks import Network

    features = network.features if isinstance(network, Network) else 0
    if text is None:
        if features:
            raise SeparatrixError(f"the cells of this network are {features} numbers each; give them with --input")
        return numpy.random.default_rng(seed).integers(0, network.vocabulary, network.positions)
    try:
        numbers: Any = json.loads(text) if text.lstrip().startswith("[") else [int(word) for word in text.split()]
        return numpy.array(numbers, dtype=numpy.int64)
    except (ValueError, TypeError, OverflowError) as error:
        raise SeparatrixError(
            f"--input {text[:40]!r} is not a list of whole numbers; write '0 2 1', or '[[0, 1], [2, 3]]' for cells"
        ) from error
