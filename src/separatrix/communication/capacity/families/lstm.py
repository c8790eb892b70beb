"""LSTM, GRU and plain recurrent networks, described by hand with the arguments of torch's modules.

    {"model_type": "lstm", "hidden_size": 256, "num_layers": 3}

An LSTM layer keeps h and c, a GRU or a plain RNN keeps h. With ``proj_size`` the h of an LSTM has that size. A
bidirectional network reads its input twice, once from each end, so the one-way protocol of Theorem 2 does not apply.
Hochreiter and Schmidhuber (1997); Cho et al. (2014); Elman (1990).
"""

from typing import Annotated

from pydantic import Field

from separatrix.communication.capacity.family import Config, Depth, Family, Flag, Size, spelled
from separatrix.communication.capacity.layers import LayerDescription, StatePart, recurrent
from separatrix.errors import SeparatrixError


class LstmConfig(Config):
    """Arguments of torch.nn.LSTM, GRU or RNN."""

    hidden_size: Size
    num_layers: Depth = Field(default=1, validation_alias=spelled("num_layers", "num_hidden_layers"))
    proj_size: Annotated[int, Field(strict=True, ge=0)] = 0
    bidirectional: Flag = False


def layers(config: LstmConfig) -> tuple[LayerDescription, ...]:
    """Equal layers, or twice as many if the network is bidirectional."""
    size, projected = config.hidden_size, config.proj_size
    if projected and (config.model_type != "lstm" or projected >= size):
        raise SeparatrixError(f"proj_size {projected} is only for an lstm, and smaller than its hidden_size {size}")
    parts = [StatePart("h", projected or size, str(projected or size))]
    if config.model_type == "lstm":
        parts.append(StatePart("c", size, str(size)))
    count = config.num_layers * (2 if config.bidirectional else 1)
    return (recurrent(config.model_type.upper(), size, *parts, count=count),)


FAMILY = Family(
    name="lstm",
    title="LSTM, GRU, plain RNN",
    model_types=("lstm", "gru", "rnn"),
    schema=LstmConfig,
    layers=layers,
    state="LSTM layer: 2 × hidden_size; GRU or RNN layer: hidden_size",
    source="torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN",
    passes=lambda config: 2 if config.bidirectional else 1,
)
