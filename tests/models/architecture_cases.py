"""Small models of every architecture in the catalog, for the contract tests."""

import torch

from separatrix.models.architecture import ModelSpec, architectures
from separatrix.models.naming import parse_spec
from separatrix.models.sequence_model import build_model

VOCABULARY, CLASSES, WIDTH = 7, 3, 16
NAMES = list(architectures())
RECURRENT = [name for name, entry in architectures().items() if entry.recurrent]
# Beyond the defaults: other positions, heads, masks and patterns.
MORE = [
    "TF-(2,16,heads=4)",
    "TF-(2,16,heads=2,positions=rotary)",
    "TF-(1,16,positions=sinusoidal,mask=none)",
    "TF-(2,16,positions=none,mask=none,heads=2)",
    "HardTF-(1,16,heads=2,mask=none)",
    "ThirdTF-(1,16,heads=2,mask=causal)",
    "GraphTF-(2,16,heads=2,edges=masked)",
    "LSTM,TF-(3,16)",
    "CNN-(2,16,kernel=2,dilation=3)",
]


def specs(depth: int = 2) -> list[ModelSpec]:
    """One model of each architecture, and some more."""
    return [ModelSpec((name,) * depth, WIDTH) for name in NAMES] + [parse_spec(text) for text in MORE]


def model_of(spec: ModelSpec, length: int, seeds=(3,), dtype=torch.float64):
    graph = any(entry.reads_graphs for entry in spec.entries)
    features = length if graph else 0
    return build_model(
        spec, vocabulary=VOCABULARY, classes=CLASSES, length=length, features=features, seeds=seeds, dtype=dtype
    )


def inputs_of(spec: ModelSpec, members: int, batch: int, length: int, seed: int = 0):
    generator = torch.Generator().manual_seed(seed)
    if any(entry.reads_graphs for entry in spec.entries):
        return torch.randint(2, (members, batch, length, length), generator=generator)
    # The last token stays free for padding.
    return torch.randint(VOCABULARY - 1, (members, batch, length), generator=generator)


def pick(outputs, read):
    """Rows of (members, batch, length, classes) at (members, batch, reads)."""
    return outputs.gather(2, read.unsqueeze(-1).expand(*read.shape, outputs.shape[-1]))


def gradients(model, outputs, seed: int = 0):
    """Gradients of a random sum of the outputs, by parameter; zero where a parameter has no part in it."""
    generator = torch.Generator().manual_seed(seed)
    weights = torch.randn(outputs.shape, generator=generator, dtype=outputs.dtype)
    named = dict(model.named_parameters())
    found = torch.autograd.grad((outputs * weights).sum(), list(named.values()), allow_unused=True)
    return {
        name: torch.zeros_like(parameter) if gradient is None else gradient
        for (name, parameter), gradient in zip(named.items(), found, strict=True)
    }
