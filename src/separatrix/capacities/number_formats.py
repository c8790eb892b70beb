"""How many bits each number of a model's state has: by its config, by the code that runs it, or by a guess.

A config file names the format of the weights (``dtype``, once ``torch_dtype``). Keys, values and the last inputs of a
convolution are kept in it. A *running* state, to which every step adds, mostly is not: where the table of families
names a format, the code keeps it in that one whatever the weights are in (the tests run small models and look at their
caches). Of others, such as torch's LSTMs, whose fused kernels may keep more than they return, float32 is a guess. Files
may ask for another format (``mamba_ssm_cache_dtype``, ``mamba_ssm_dtype``), which ``transformers`` does not follow and
other programs do: the wider of that and float32 counts. xLSTM's ``inference_state_dtype`` is followed.

Too few bits would call impossible what is not. So a running state has at least the bits of the weights and of what the
file asks for, and where a file says nothing, or what is not known here, float32 is taken, the widest format that models
are released in, or as many bits as the name says if they are more (complex64); a guess is named one.
"""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from separatrix.capacities.layers import ModelDescription, StatePart
from separatrix.wording import counted

Source: TypeAlias = Literal["given", "config", "code", "guess"]
"""Who says how many bits a number has: the user, the config file, the code that runs the model, or nobody."""
FORMATS = {
    "float64": 64, "double": 64, "fp64": 64, "float32": 32, "float": 32, "fp32": 32,
    "bfloat16": 16, "bf16": 16, "float16": 16, "half": 16, "fp16": 16, "int64": 64, "long": 64, "longdouble": 128,
    "cfloat": 64, "cdouble": 128,
}  # fmt: skip
"""Bits of the formats that config files name."""
WIDEST = "float32"
"""What running states are kept in, and what is taken where nothing is known."""


def guessed_bits(name: str) -> int:
    """The bits that are counted for a format that is not known: those of float32, or more where its name says more.

    >>> guessed_bits(""), guessed_bits("float8_e4m3fn"), guessed_bits("complex64"), guessed_bits("jnp.float64")
    (32, 32, 64, 64)
    """
    return max(FORMATS[WIDEST], *map(int, _DIGITS.findall(name)), 0)


_DIGITS = re.compile(r"\d{1,3}")


@dataclass(frozen=True)
class Bits:
    """The bits of a number, and who says so: in a word for programs, in words for people."""

    bits: int
    source: Source
    because: str

    @property
    def in_words(self) -> str:
        """The bits and the reason."""
        return f"{counted(self.bits, 'bit')} ({self.because})"


def number_bits(model: ModelDescription, given: int | None = None) -> Bits:
    """The bits of the numbers that come in the model's own format: keys, values, activations.

    >>> from separatrix.capacities import describe
    >>> gru = {"model_type": "gru", "hidden_size": 64}
    >>> number_bits(describe({**gru, "torch_dtype": "bfloat16"})).in_words
    '16 bits (bfloat16, from its config)'
    >>> number_bits(describe(gru)).in_words
    '32 bits (a guess, its config names none: float32, the widest that models are released in)'
    """
    if given is not None:
        return Bits(given, "given", "as given")
    stated = model.number_format
    if bits := FORMATS.get(stated.lower()):
        return Bits(bits, "config", f"{stated}, from {model.number_format_from}")
    why = f"{model.number_format_from} names {stated!r}" if stated else "its config names none"
    bits = guessed_bits(stated)
    taken = f"{WIDEST}, the widest that models are released in" if bits == FORMATS[WIDEST] else "the bits in that name"
    return Bits(bits, "guess", f"a guess, {why}: {taken}")


def part_bits(model: ModelDescription, part: StatePart, given: int | None = None) -> Bits:
    """The bits of each number of one array that a layer keeps.

    >>> from separatrix.capacities import describe
    >>> model = describe({"model_type": "mamba", "hidden_size": 8, "num_hidden_layers": 1, "torch_dtype": "bfloat16"})
    >>> [part_bits(model, part).bits for part in model.layers[0].state]
    [32, 16]
    """
    own = number_bits(model, given)
    if given is not None or not (part.running or part.number_format):
        return own
    asked = model.state_format.lower()
    stated = FORMATS.get(asked)
    kept = max(FORMATS[part.number_format or WIDEST], guessed_bits(asked)) if stated is None else stated
    if kept < own.bits or (kept == own.bits and own.source != "guess"):
        return own
    if stated is not None:
        return Bits(kept, "config", f"{model.state_format}, from its config")
    if not part.number_format:
        return Bits(kept, "guess", f"a guess: running states are mostly kept in {WIDEST}")
    return Bits(kept, "code", f"{part.number_format}, as {model.code} keeps it")


def kept_bits(model: ModelDescription, part: StatePart, given: int | None = None) -> int:
    """The bits that each number of an array takes in memory: those of its code, else of the weights.

    :func:`part_bits` may count more, where other code than the one that was looked at keeps more.

    >>> from separatrix.capacities import describe
    >>> model = describe({"model_type": "xlstm", "hidden_size": 128, "num_hidden_layers": 1, "num_heads": 4,
    ...     "torch_dtype": "bfloat16"})
    >>> part = model.layers[0].state[0]
    >>> kept_bits(model, part), part_bits(model, part).bits
    (16, 32)
    """
    own = number_bits(model, given).bits
    if given is None and part.number_format:
        kept = FORMATS[part.number_format]
        return max(kept, own) if part.or_wider else kept
    return own


def layer_bits(model: ModelDescription, state: tuple[StatePart, ...], given: int | None = None) -> int:
    """The bits that one layer with these arrays keeps."""
    return sum(part.numbers * part_bits(model, part, given).bits for part in state)


def bounded_state_bits(model: ModelDescription, given: int | None = None) -> int:
    """The bits that the layers of bounded memory keep, all together.

    >>> from separatrix.capacities import describe
    >>> bounded_state_bits(describe("codestral-mamba-7b"))
    2178940928
    """
    return sum(layer_bits(model, layer.state, given) * layer.count for layer in model.layers if layer.bounded)
