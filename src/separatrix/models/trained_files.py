"""Trained weights as the file that ``separatrix_kernel`` reads: float32 tensors, and the structure in the header.

What is not covered by the kernel's bounds is refused in one line. Sinusoidal and rotary positions are not kept in a
run's files; here their float32 tables are written out like a learned one.
"""

import json
from fractions import Fraction
from typing import Any, cast

import torch
from safetensors.torch import load, save

from separatrix.errors import SeparatrixError
from separatrix.models.architecture import ModelSpec
from separatrix.models.mixers.attention import rotate
from separatrix.models.naming import parse_spec
from separatrix.models.saved_tensors import fill, kept_tensors
from separatrix.models.sequence_model import SequenceModel
from separatrix_kernel.reading import RefusedError, Tensors, integer
from separatrix_kernel.transformer import Weights

COVERED = (
    "covered are TF-(1,WIDTH) with learned, sinusoidal or rotary positions and TF-(2,WIDTH) with learned or sinusoidal "
    "ones, any number of heads, in float32"
)


def weights_file(model: SequenceModel) -> bytes:
    """Return the file of a model of one member."""
    check_covered(model)
    entry = model.spec.entries[0]
    tensors = {name: each.detach()[0].cpu().contiguous() for name, each in kept_tensors(model).items()}
    if model.positions is None:
        tensors |= turns(model.length, model.spec.width // model.spec.options_of(entry)["heads"] // 2)
    else:
        tensors["positions.table"] = model.positions.table.detach()[0].cpu().contiguous()
    small = Fraction(str(entry.norm_epsilon))
    structure = {
        "kind": "rotary-transformer" if model.positions is None else "transformer",
        "width": model.spec.width,
        "heads": model.spec.options_of(entry)["heads"],
        "hidden": tensors["blocks.0.feed_forward.inner.bias"].numel(),
        "epsilon": [small.numerator, small.denominator],
        "vocabulary": model.vocabulary,
        "classes": model.classes,
        "positions": model.length,
    }
    if model.spec.depth > 1:
        structure["layers"] = model.spec.depth
    return save(tensors, {"separatrix": json.dumps(structure)})


def turns(length: int, pairs: int) -> dict[str, torch.Tensor]:
    """Return the tables of rotary positions: the float32 cosine and sine of each place and pair, as torch computes them
    here.

    >>> [table.shape for table in turns(5, 3).values()]
    [torch.Size([5, 3]), torch.Size([5, 3])]
    """
    ones = torch.cat([torch.ones(length, pairs), torch.zeros(length, pairs)], dim=1)
    cosine, sine = rotate(ones, torch.arange(length)).chunk(2, dim=1)
    return {"positions.cosine": cosine.contiguous(), "positions.sine": sine.contiguous()}


def check_covered(model: SequenceModel) -> None:
    """Refuse what the kernel has no bounds for.

    >>> from separatrix.models.naming import parse_spec
    >>> from separatrix.models.sequence_model import build_model
    >>> check_covered(build_model(parse_spec("LSTM-(1,8)"), vocabulary=7, classes=3, length=4, seeds=[0]))
    Traceback (most recent call last):
    separatrix.errors.SeparatrixError: LSTM-(1,8) cannot be certified: covered are TF-(1,WIDTH) with learned, \
sinusoidal or rotary positions and TF-(2,WIDTH) with learned or sinusoidal ones, any number of heads, in float32
    """
    double = model.readout.weight.dtype != torch.float32 or model.members != 1 or bool(model.columns)
    check_described(model.spec, "float64" if double else "float32")


def check_described(spec: ModelSpec, precision: str) -> None:
    """Refuse a model by its description, before anything of it is made."""
    entries, positions = spec.entries, ["learned", "sinusoidal", *(["rotary"] if spec.depth == 1 else [])]
    plain = {entry.name for entry in entries} == {"transformer"} and spec.depth <= 2 and precision == "float32"
    if not plain or spec.options_of(entries[0])["positions"] not in positions:
        raise SeparatrixError(f"{spec} cannot be certified: {COVERED}")


def model_from(data: bytes) -> SequenceModel:
    """Return the model of a file that :func:`weights_file` wrote, with its positions as a learned table."""
    try:
        depth = cast("dict[str, Any]", Tensors(data).structure).get("layers", 1)
        Weights(data, integer(depth, "the number of layers", 1, 2))
    except RefusedError as refusal:
        raise SeparatrixError(f"the weights cannot be read: {refusal}; {COVERED}") from refusal
    size = int.from_bytes(data[:8], "little")
    about = json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["separatrix"])
    rotary = ",positions=rotary" if about["kind"] == "rotary-transformer" else ""
    spec = parse_spec(f"TF-({depth},{about['width']},heads={about['heads']}{rotary})")
    model = SequenceModel(
        spec, vocabulary=about["vocabulary"], classes=about["classes"], length=about["positions"], members=1
    )
    tensors = load(data)
    if rotary:
        expected = turns(model.length, about["width"] // about["heads"] // 2)
        if any(not torch.equal(tensors.pop(name), table) for name, table in expected.items()):
            raise SeparatrixError("the weights turn queries and keys in another way than rotary positions do here")
    fill(model, tensors)
    return model.eval()
