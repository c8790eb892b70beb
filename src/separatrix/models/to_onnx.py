"""A model as an ONNX graph with two outputs: ``readout``, the numbers, and ``answers``, decoded.

Made by torch's exporter (``torch.onnx.export`` over ``torch.export``), which needs onnxscript. The batch is free, the
number of positions fixed, as it is in the network. The graph's metadata holds the model's description.
"""

import json
import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from separatrix.errors import SeparatrixError
from separatrix.extras import require
from separatrix.models.assemble import NetworkModule

LARGEST_BYTES = (1 << 31) - 1
"""A protocol buffer, which an ONNX file is, cannot be larger."""


class _WithAnswers(nn.Module):
    """Readouts and answers in one call."""

    def __init__(self, model: NetworkModule) -> None:
        super().__init__()
        self.model = model

    def forward(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        raw = self.model(inputs)
        return raw, self.model.readout.decode(raw)


@contextmanager
def _without_remarks() -> Iterator[None]:
    """Keep to themselves what torch's exporter says about its own parts, about which nobody here can do anything."""
    # It logs which functions of torchvision it leaves out when that is not installed.
    logger = logging.getLogger("torch.onnx._internal.exporter._registration")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            # torch and onnxscript use each other's and Python's deprecated functions.
            warnings.filterwarnings("ignore", category=DeprecationWarning)
            warnings.filterwarnings("ignore", category=FutureWarning)
            yield
    finally:
        logger.setLevel(level)


def onnx_bytes(model: NetworkModule) -> bytes:
    """Return the content of an ``.onnx`` file."""
    require("exporting to ONNX", "onnx", "onnxscript")  # torch's exporter would fail late and not say what to do
    weights = sum(tensor.nbytes for tensor in model.state_dict().values())
    if weights > LARGEST_BYTES:
        raise SeparatrixError(f"an ONNX file holds at most 2 GiB and the weights take {weights >> 20} MiB; use torch")
    example = torch.zeros((2, *model.input_shape), dtype=torch.int64)
    with _without_remarks():
        program = torch.onnx.export(
            _WithAnswers(model).eval(),
            (example,),
            input_names=["inputs"],
            output_names=["readout", "answers"],
            dynamic_shapes={"inputs": {0: torch.export.Dim("batch")}},
            dynamo=True,
            verbose=False,
        )
    if program is None:
        raise SeparatrixError("torch made no ONNX program of this model; export to torch")
    proto = program.model_proto
    # The exporter notes at every node in which lines of which files it was traced: of no use elsewhere.
    for each in (*proto.graph.node, *(node for function in proto.functions for node in function.node)):
        del each.metadata_props[:]
    del proto.graph.metadata_props[:]
    del proto.metadata_props[:]
    proto.metadata_props.add(key="separatrix", value=json.dumps(model.description, sort_keys=True))
    return proto.SerializeToString()


def onnx_answers(data: bytes) -> Callable[[NDArray[numpy.int64]], NDArray[numpy.int64]]:
    """Return the answers of an ONNX graph, run by the reference evaluator of the onnx package: slow, and shares no
    code."""
    from onnx import load_from_string
    from onnx.reference import ReferenceEvaluator

    evaluator = ReferenceEvaluator(load_from_string(data))

    def answers(inputs: NDArray[numpy.int64]) -> NDArray[numpy.int64]:
        (found,) = evaluator.run(["answers"], {"inputs": inputs})
        return numpy.asarray(found)

    return answers
