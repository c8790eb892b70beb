"""Writing a construction for other tools, after a look at whether its answers survive in floats.

Four targets:

* ``safetensors``: the exact network, rational weights and all, as ``separatrix certify`` writes it; a file.
* ``torch``: float weights under the names of a state dict, and a description; a folder for ``models.load_exported``.
* ``onnx``: a graph with readouts and answers as outputs; a file.
* ``transformer-lens``: weights in that library's form; a folder for ``models.lens_bridge.load_lens``.

A certificate speaks of the fixed point, not of floats. So before anything is written, the float model answers a sample
of the task's inputs next to the exact network in the certificate's arithmetic; one difference, and nothing is written.
That is evidence and no proof: how many inputs were compared is part of the result.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy
from numpy.typing import NDArray

from separatrix.arithmetic import Floating
from separatrix.constructions import Built
from separatrix.errors import SeparatrixError, UnknownNameError
from separatrix.files import write_atomically
from separatrix.networks import AnyNetwork, Network, ThirdOrderAttention, evaluate, save_network
from separatrix.tasks import draws_from

if TYPE_CHECKING:
    import torch

TARGETS = ("torch", "safetensors", "onnx", "transformer-lens")
FOLDERS = ("torch", "transformer-lens")
LARGEST_SAMPLE = 32
LARGEST_WORK = 1 << 22
SEED = 0

Answer = Callable[[NDArray[numpy.int64]], NDArray[numpy.int64]]


@dataclass(frozen=True)
class Export:
    """What was written, how to open it, and on how many inputs it was compared (none where nothing was rounded)."""

    files: tuple[Path, ...]
    inputs_compared: int
    load: str


def export(built: Built, to: str, path: Path, dtype: str = "float64") -> Export:
    """Write the network for another tool at ``path``, a folder for torch and transformer-lens and else a file."""
    if to not in TARGETS:
        raise UnknownNameError("export target", to, TARGETS)
    if to in FOLDERS and path.exists() and not path.is_dir():
        raise SeparatrixError(f"{path} is a file; --to {to} writes a folder")
    if to not in FOLDERS and path.is_dir():
        raise SeparatrixError(f"{path} is a folder; --to {to} writes a file, give its name")
    if to == "safetensors":
        save_network(built.network, path)
        return Export((path,), 0, f"separatrix.networks.store.load_network(Path({str(path)!r}))")
    return _rounded(built, to, path, dtype)


def _rounded(built: Built, to: str, path: Path, dtype: str) -> Export:
    """Return the targets that hold floats; these need torch."""
    import torch

    from separatrix.models.exported import CONFIG, WEIGHTS, save_exported
    from separatrix.models.from_network import DTYPES, module_from_network
    from separatrix.models.to_onnx import onnx_answers, onnx_bytes

    if dtype not in DTYPES:
        raise UnknownNameError("type of numbers", dtype, DTYPES)
    if isinstance(built.arithmetic, Floating):
        raise SeparatrixError(
            f"this network for {built.task.name} is right in {built.arithmetic}, and {to} adds up in another order; "
            "write it --to safetensors"
        )
    if built.network.readout.decoding == "exact":
        raise SeparatrixError(
            f"this network for {built.task.name} takes only an exact 0 or 1 for an answer, which floats do not give; "
            "write it --to safetensors, or choose a variant that rounds"
        )
    if to == "transformer-lens":
        return _to_lens(built, path, DTYPES[dtype])
    module = module_from_network(built.network, DTYPES[dtype])
    if to == "torch":
        compared = _compare(built, lambda inputs: module.answers(torch.from_numpy(inputs)).numpy())
        save_exported(module, path)
        return Export((path / WEIGHTS, path / CONFIG), compared, f"separatrix.models.load_exported({str(path)!r})")
    data = onnx_bytes(module)
    compared = _compare(built, onnx_answers(data))
    write_atomically(path, data)
    return Export((path,), compared, f"onnxruntime.InferenceSession({str(path)!r})")


def _to_lens(built: Built, path: Path, dtype: "torch.dtype") -> Export:
    import torch

    from separatrix.models.exported import CONFIG, WEIGHTS
    from separatrix.models.from_network import module_from_network
    from separatrix.models.lens import lens_form, occurring_pairs
    from separatrix.models.lens_bridge import lens_bridge, save_lens

    form = lens_form(built.network, dtype, lambda: occurring_pairs(built.task, built.length))
    bridge = lens_bridge(form)
    readout = module_from_network(built.network, dtype).readout

    def answer(inputs: NDArray[numpy.int64]) -> NDArray[numpy.int64]:
        with torch.no_grad():
            raw = bridge(torch.from_numpy(inputs))
        return readout.decode(raw[:, -1:] if readout.at == "last" else raw).numpy()

    compared = _compare(built, answer)
    save_lens(form, path)
    load = f"separatrix.models.lens_bridge.load_lens({str(path)!r})"
    return Export((path / WEIGHTS, path / CONFIG), compared, load)


def _compare(built: Built, answer: Answer) -> int:
    """Return how many inputs were compared; raises when one was answered otherwise at a position that is read."""
    count = max(1, min(LARGEST_SAMPLE, LARGEST_WORK // _work(built.network)))
    examples = built.task.sample(draws_from(SEED), count, built.length)
    expected = evaluate(built.network, examples.inputs, built.arithmetic).answers
    found = answer(examples.inputs)
    asked = examples.read if built.network.readout.at == "every" else numpy.ones((count, 1), dtype=bool)
    differing = (found != expected).reshape(*asked.shape, -1).any(axis=-1) & asked
    wrong = int(differing.any(axis=1).sum())
    if wrong:
        raise SeparatrixError(
            f"in floats {wrong} of {count} sampled inputs get other answers than in {built.arithmetic}; "
            f"nothing was written; try --dtype float64, or --to safetensors, which is exact"
        )
    return count


def _work(network: AnyNetwork) -> int:
    """About how many numbers one input costs: scores, or the stream where only the last position looks."""
    if not isinstance(network, Network):
        return network.positions
    pairs = network.reads_graphs or any(isinstance(layer, ThirdOrderAttention) for layer in network.layers)
    if network.depth == 1 and network.readout.at == "last" and not pairs:
        return network.positions * network.width
    return network.positions ** (3 if pairs else 2)
