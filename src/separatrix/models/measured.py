"""The capacity of a model that is at hand: an instantiated module is run, and what it keeps is weighed.

    import separatrix as sx
    sx.capacity(model).bytes_at

Of a model of ``transformers``, of torch's recurrent modules and of this package's own recurrent models (a trained run
is one, see :func:`separatrix.training.trained.trained_model`) it is known where they return what they continue from:
caches and states. Any other module needs ``keeps``, a function that runs it on a text and returns that. All arrays in
it are counted with their formats, at several lengths, exactly; small integers that count tokens are left out, because
the theory gives every model the number of tokens read.

Verdicts need more than bytes: what each array is. Where the config of a model is known to
:mod:`separatrix.capacities` its card speaks, and ``agrees`` says whether it has the measured bytes at every
length. Otherwise an array of equal size at all lengths is taken for a state, one that grows with each token for a
cache, and anything else makes the model one of which nothing is known. A state in fewer than 32 bits is measured as it
is, and verdicts count 32, as they do for every card.
"""

import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

import torch
from torch import nn

from separatrix.bit_counts import OWN_PRECISION
from separatrix.capacities import Capacity, LayerDescription, ModelDescription, StatePart, bytes_at, describe, recurrent
from separatrix.capacities import capacity as card_of
from separatrix.errors import SeparatrixError
from separatrix.models.described import description
from separatrix.models.sequence_model import SequenceModel

LENGTHS = (3, 17, 64)
"""Lengths at which a model is run where none are given: odd ones show what is kept for every so many tokens."""
LARGEST_LENGTH = 1 << 24
COUNTERS = ("_sliding_window_tensor", "seqlen_offset", "cumulative_length")
KEPT_IN = ("past_key_values", "cache_params", "state", "mems", "past_buckets_states")
"""Where the outputs of models of transformers hold what they continue from."""
HELD = {8: "float64", 4: "float32", 2: "float16"}
"""A format of as many bytes; only their number counts."""

Growth: TypeAlias = Literal["fixed", "token", "other"]
Keeps: TypeAlias = Callable[[Any, int], object]


@dataclass(frozen=True)
class Held:
    """One array that a model keeps: the way to it, its format, and the bytes at each length."""

    path: str
    number_format: str
    bytes_at: tuple[int, ...]
    growth: Growth


@dataclass(frozen=True)
class Measured:
    """What a model keeps of one text, measured, and what follows from it.

    ``card``: verdicts, by its config where that is known, else by the arrays. ``agrees``: whether the card has the
    measured bytes at every length.
    """

    name: str
    bytes_at: Mapping[int, int]
    arrays: tuple[Held, ...]
    card: Capacity
    by_config: bool

    @property
    def fixed_bytes(self) -> int:
        """The bytes of arrays that have the same size at all lengths."""
        return sum(each.bytes_at[-1] for each in self.arrays if each.growth == "fixed")

    @property
    def agrees(self) -> bool:
        """Whether the card counts what was measured."""
        return all(bytes_at(self.card.model, length) == held for length, held in self.bytes_at.items())


def capacity(
    model: nn.Module, lengths: Sequence[int] = LENGTHS, *, keeps: Keeps | None = None, length: int | None = None
) -> Measured:
    """Run a model on texts of several lengths and weigh what it keeps; ``length`` is that of the card's verdicts.

    ``keeps(model, length)`` runs a module of another kind on one text of so many tokens, a batch of 1, and returns
    everything that it continues from, as tensors in lists, tuples and dicts.

    >>> found = capacity(nn.LSTM(8, 16, num_layers=2))
    >>> found.bytes_at[64], found.card.state_bits
    (256, 2048)
    """
    chosen = sorted(set(lengths))
    if len(chosen) < 2 or any(type(each) is not int or not 1 <= each <= LARGEST_LENGTH for each in chosen):
        raise SeparatrixError(f"lengths {list(lengths)} are not two or more from 1 to {LARGEST_LENGTH}; give such")
    if not isinstance(cast("object", model), nn.Module):
        raise SeparatrixError(
            f"{model!r} is neither a model's name, a config nor a torch module; give one of them, such as "
            "capacity('mamba-130m')"
        )
    run = keeps or _keeps(model)
    found = [list(arrays(_run(model, each, run))) for each in chosen]
    held = _compared(chosen, found)
    name = str(model.spec) if isinstance(model, SequenceModel) else type(model).__name__
    known = None if keeps else _by_config(model)
    if not (held or keeps) and (known is None or any(bytes_at(known, each) for each in chosen)):
        raise SeparatrixError(f"{type(model).__name__} keeps nothing that it hands out; give keeps")
    description_used = known or _described(name, held, chosen, model)
    sizes = {each: sum(map(_bytes, (array for _, array in some))) for each, some in zip(chosen, found, strict=True)}
    return Measured(name, sizes, held, card_of(description_used, length=length), known is not None)


# -- running ------------------------------------------------------------------------------------------------------


def _keeps(model: nn.Module) -> Keeps:
    """Return how a module of a known kind is run."""
    if isinstance(model, SequenceModel):
        return _of_ours
    if isinstance(model, nn.RNNBase):
        return _of_torch
    if hasattr(model, "config") and hasattr(model.config, "model_type"):
        return kept
    raise SeparatrixError(
        f"it is not known what {type(model).__name__} keeps; give keeps, a function of the model and a length that "
        "runs it on a text of that length and returns its caches and states"
    )


def _run(model: nn.Module, length: int, run: Keeps) -> object:
    training = model.training
    try:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return run(model.eval(), length)
    except SeparatrixError:
        raise
    except Exception as error:
        text = " ".join(str(error).split())[:200]
        raise SeparatrixError(
            f"{type(model).__name__} cannot be run on {length} tokens: {type(error).__name__}: {text}; "
            "give other lengths, or keeps"
        ) from error
    finally:
        model.train(training)


def _of_torch(model: nn.RNNBase, length: int) -> object:
    weight = next(model.parameters())
    zeros = torch.zeros(length, model.input_size, dtype=weight.dtype, device=weight.device)
    return model(zeros)[1]


def _of_ours(model: SequenceModel, length: int) -> object:
    """Return the state of one member after so many steps, one text."""
    one = model.member(0) if model.members > 1 else model
    state = one.initial_state(1)
    shape = (1, 1, one.features) if one.features else (1, 1)
    cell = torch.zeros(shape, dtype=torch.int64, device=one.readout.weight.device)
    for _ in range(length):
        _, state = one.step(cell, state)
    return state


def kept(model: Any, length: int) -> Any:
    """Return what a model of transformers keeps of a text of a length; None where it hands out nothing."""
    device = next(model.parameters()).device
    ids = (torch.arange(length, device=device) % 29 + 3).reshape(1, length)
    given = {}
    if model.config.model_type == "recurrent_gemma":  # it does not hand out the cache that it makes
        from transformers import DynamicCache

        given = {"past_key_values": DynamicCache(config=model.config)}
        model.model._setup_cache(model.config, 1, ids.device, torch.bfloat16)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = model(input_ids=ids, use_cache=True, **given)
    if given:
        blocks = [layer.temporal_block for layer in model.model.layers if hasattr(layer.temporal_block, "rg_lru")]
        return [given, [(each.rg_lru.recurrent_states, each.conv1d_state) for each in blocks]]
    return next((found[each] for each in KEPT_IN if found.get(each) is not None), None)


# -- weighing -----------------------------------------------------------------------------------------------------


def arrays(held: object, path: str = "", seen: set[int] | None = None) -> Iterator[tuple[str, Any]]:
    """Yield every array in what a model keeps, with the way to it; one that is there twice counts once."""
    seen = set() if seen is None else seen
    if id(held) in seen or path.endswith(COUNTERS):
        return
    seen.add(id(held))
    if isinstance(held, torch.Tensor):
        yield path, held
    elif isinstance(held, dict):
        for key, each in held.items():
            yield from arrays(each, f"{path}.{key}", seen)
    elif isinstance(held, list | tuple):
        for key, each in enumerate(held):
            yield from arrays(each, f"{path}.{key}", seen)
    elif type(held).__module__.startswith("transformers") and not isinstance(held, nn.Module):
        for key, each in vars(held).items():
            if key != "config":
                yield from arrays(each, f"{path}.{key}", seen)


def size(held: object) -> int:
    """Return the bytes of all arrays.

    >>> size({"a": torch.zeros(3), "b": [torch.zeros(2, dtype=torch.bfloat16)]})
    16
    """
    return sum(_bytes(each) for _, each in arrays(held))


def _bytes(array: Any) -> int:
    return array.numel() * array.element_size()


def _compared(lengths: list[int], found: list[list[tuple[str, Any]]]) -> tuple[Held, ...]:
    """Return each array at all lengths, and how it grows; one that is not always there grows in another way."""
    listed: dict[str, list[int]] = {}
    formats: dict[str, str] = {}
    for number, some in enumerate(found):
        for path, array in some:
            listed.setdefault(path, [0] * len(lengths))[number] += _bytes(array)
            formats[path] = str(array.dtype).removeprefix("torch.")
    return tuple(
        Held(path, formats[path], tuple(sizes), _growth(lengths, sizes)) for path, sizes in sorted(listed.items())
    )


def _growth(lengths: list[int], sizes: list[int]) -> Growth:
    if len(set(sizes)) == 1:
        return "fixed"
    each, rest = divmod(sizes[-1], lengths[-1])
    linear = not rest and all(held == each * length for held, length in zip(sizes, lengths, strict=True))
    return "token" if linear else "other"


# -- verdicts -----------------------------------------------------------------------------------------------------


def _by_config(model: nn.Module) -> ModelDescription | None:
    """Return the description of a model by its config or its specification, where that is known."""
    if isinstance(model, SequenceModel):
        return description(model.spec, OWN_PRECISION)
    config = getattr(model, "config", None)
    if not hasattr(config, "to_json_string"):
        return None
    fields = {**json.loads(cast("Any", config).to_json_string(use_diff=False)), "dtype": _format_of(model)}
    try:
        return describe(fields)
    except SeparatrixError:
        return None


def _format_of(model: nn.Module) -> str:
    return str(next(model.parameters()).dtype).removeprefix("torch.")


def _described(name: str, held: tuple[Held, ...], lengths: list[int], model: nn.Module) -> ModelDescription:
    """Return a model as its arrays show it."""
    states = [each for each in held if each.growth == "fixed"]
    caches = [each for each in held if each.growth == "token"]
    others = [each for each in held if each.growth == "other"]
    layers: list[LayerDescription] = []
    if states:
        layers.append(recurrent("states", 0, *(_part(each, each.bytes_at[-1], running=True) for each in states)))
    if caches:
        per_token = tuple(_part(each, each.bytes_at[-1] // lengths[-1], running=False) for each in caches)
        layers.append(LayerDescription(kind="attention", name="caches", cache=per_token, softmax=False))
    if others or not layers:
        what = ", ".join(each.path for each in others[:3]) or "it keeps nothing that was handed out"
        layers.append(LayerDescription(kind="unstated", name=what))
    both_ways = isinstance(model, nn.RNNBase) and model.bidirectional
    shown = ", ".join(map(str, lengths))
    return ModelDescription(
        name=name,
        family="measured",
        layers=tuple(layers),
        passes=2 if both_ways else 1,
        number_format="float16",
        number_format_from="the smallest that is counted",
        source=f"measured at {shown} tokens",
        code=name,
        notes=(f"measured at {shown} tokens: what has one size there is taken to have it at every length.",),
    )


def _part(each: Held, held: int, *, running: bool) -> StatePart:
    """Return an array as so many numbers of a format with the bytes that it takes."""
    per = "sequence" if running else "token"
    wide = 4 if "complex64" in each.number_format else 8 if "complex" in each.number_format else 0
    wide = wide or next((n for n, name in HELD.items() if name.removeprefix("float") in each.number_format), 2)
    wide = wide if held % wide == 0 else 2
    return StatePart(
        each.path or "state", -(-held // wide), f"{held} bytes", running=running, number_format=HELD[wide], per=per
    )
