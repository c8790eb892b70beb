"""Trained recurrent weights as the file that ``separatrix_kernel.words`` reads, and such a model run on words.

A word is run token by token in the step form, which is the formula. With ``bits`` = p every number of the state is
rounded after each token to one of 2^p levels, see :func:`levels`; answers are read from the rounded state. Mamba reads
them before, with the token, and its convolution's last inputs are not rounded: they are a function of the last tokens.
"""

import json
from collections.abc import Sequence

import torch
from safetensors.torch import load, save
from torch import Tensor

from separatrix.errors import SeparatrixError
from separatrix.models.architecture import ModelSpec
from separatrix.models.naming import parse_spec
from separatrix.models.saved_tensors import fill, kept_tensors
from separatrix.models.sequence_model import SequenceModel
from separatrix_kernel.cells import SELECTIVE
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.selective import Selective
from separatrix_kernel.words import network_of

COVERED_CELLS = "covered are RNN, GRU, LSTM and Mamba of one layer, in float32"
CELLS = {"rnn": "RNN", "gru": "GRU", "lstm": "LSTM", SELECTIVE: "Mamba"}


def check_recurrent(spec: ModelSpec, precision: str) -> None:
    """Refuse a model by its description.

    >>> check_recurrent(parse_spec("GRU-(1,16)"), "float32")
    >>> check_recurrent(parse_spec("Mamba-(2,16)"), "float32")
    Traceback (most recent call last):
    separatrix.errors.SeparatrixError: Mamba-(2,16) cannot be certified for words: covered are RNN, GRU, LSTM and \
Mamba of one layer, in float32
    """
    if len(spec.entries) != 1 or spec.entries[0].name not in CELLS or precision != "float32":
        raise SeparatrixError(f"{spec} cannot be certified for words: {COVERED_CELLS}")


def recurrent_file(model: SequenceModel) -> bytes:
    """Return the file of a model of one member."""
    check_recurrent(model.spec, "float32" if model.readout.weight.dtype == torch.float32 else "float64")
    if model.members != 1 or model.columns:
        raise SeparatrixError(f"{model.spec} with {model.members} members or numbers as inputs has no such file")
    tensors = {name: each.detach()[0].cpu().contiguous() for name, each in kept_tensors(model).items()}
    structure = {
        "kind": "recurrent",
        "cell": model.spec.entries[0].name,
        "width": model.spec.width,
        "vocabulary": model.vocabulary,
        "classes": model.classes,
    }
    if structure["cell"] == SELECTIVE:
        options = model.spec.options_of(model.spec.entries[0])
        structure |= {"state": options["state"], "expansion": options["expansion"]}
    return save(tensors, {"separatrix": json.dumps(structure)})


def recurrent_from(data: bytes) -> SequenceModel:
    """Return the model of a file that :func:`recurrent_file` wrote."""
    try:
        cell = network_of(data)
    except RefusedError as refusal:
        raise SeparatrixError(f"the weights cannot be read: {refusal}; {COVERED_CELLS}") from refusal
    more = f",state={cell.state},expansion={cell.expansion}" if isinstance(cell, Selective) else ""
    spec = parse_spec(f"{CELLS[cell.kind]}-(1,{cell.width}{more})")
    model = SequenceModel(spec, vocabulary=cell.vocabulary, classes=cell.classes, length=1, members=1)
    fill(model, load(data))
    return model.eval()


def levels(values: Tensor, bits: int) -> Tensor:
    """Return numbers rounded to the nearest of 2^bits levels from -1 to 1, the midpoints of equal intervals.

    >>> levels(torch.tensor([-5.0, -0.6, -0.01, 0.0, 0.49, 0.5]), 2)
    tensor([-0.7500, -0.7500, -0.2500,  0.2500,  0.2500,  0.7500])
    """
    most = 2**bits - 1
    return ((values * 2.0 ** (bits - 1)).floor() * 2 + 1).clamp(-most, most) / 2.0**bits


@torch.no_grad()
def answers_to_words(model: SequenceModel, words: Sequence[Sequence[int]] | Tensor, bits: int = 0) -> Tensor:
    """Return the model's answers after each prefix of words of one length: (words, length + 1), the empty one first.

    Mamba has none after the empty one: (words, length).
    """
    tokens = torch.as_tensor(words, dtype=torch.int64)
    (state,) = model.initial_state(len(tokens))
    selective = model.spec.entries[0].name == SELECTIVE
    found = [] if selective else [model.readout(state[0])[0].argmax(dim=-1)]
    for token in tokens.T:
        logits, (state,) = model.step(token[None], (state,))
        if bits:
            kept, rounded = (state[:1], state[1:]) if selective else ((), state)
            state = (*kept, *(levels(part, bits) for part in rounded))
        found.append((logits if selective else model.readout(state[0]))[0].argmax(dim=-1))
    return torch.stack(found, dim=1) if found else tokens
