"""Trained weights as the file that ``separatrix_kernel`` reads: float32 tensors, and the structure in the header.

What is not covered by the kernel's bounds is refused in one line. Sinusoidal positions are not kept in a run's files;
here their float32 table is written out like a learned one.
"""

import json
from fractions import Fraction

import torch
from safetensors.torch import load, save

from separatrix.errors import SeparatrixError
from separatrix.models.architecture import ModelSpec
from separatrix.models.kept_weights import fill, kept_tensors
from separatrix.models.naming import parse_spec
from separatrix.models.sequence_model import SequenceModel
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.transformer import Weights

COVERED = "covered are TF-(1,WIDTH) with learned or sinusoidal positions, any number of heads, in float32"


def weights_file(model: SequenceModel) -> bytes:
    """The file of a model of one member.

    >>> from separatrix.models.naming import parse_spec
    >>> from separatrix.models.sequence_model import build_model
    >>> model = build_model(parse_spec("TF-(1,8)"), vocabulary=7, classes=3, length=4, seeds=[0])
    >>> from separatrix_kernel.transformer import Weights
    >>> Weights(weights_file(model)).width
    8
    """
    check_covered(model)
    entry = model.spec.entries[0]
    tensors = {name: each.detach()[0].cpu().contiguous() for name, each in kept_tensors(model).items()}
    assert model.positions is not None
    tensors["positions.table"] = model.positions.table.detach()[0].cpu().contiguous()
    small = Fraction(str(entry.norm_epsilon))
    structure = {
        "kind": "transformer",
        "width": model.spec.width,
        "heads": model.spec.options_of(entry)["heads"],
        "hidden": tensors["blocks.0.feed_forward.inner.bias"].numel(),
        "epsilon": [small.numerator, small.denominator],
        "vocabulary": model.vocabulary,
        "classes": model.classes,
        "positions": model.length,
    }
    return save(tensors, {"separatrix": json.dumps(structure)})


def check_covered(model: SequenceModel) -> None:
    """Refuse what the kernel has no bounds for.

    >>> from separatrix.models.naming import parse_spec
    >>> from separatrix.models.sequence_model import build_model
    >>> check_covered(build_model(parse_spec("LSTM-(1,8)"), vocabulary=7, classes=3, length=4, seeds=[0]))
    Traceback (most recent call last):
    separatrix.errors.SeparatrixError: LSTM-(1,8) cannot be certified: covered are TF-(1,WIDTH) with learned or \
sinusoidal positions, any number of heads, in float32
    """
    double = model.readout.weight.dtype != torch.float32 or model.members != 1 or bool(model.columns)
    check_described(model.spec, "float64" if double else "float32")


def check_described(spec: ModelSpec, precision: str) -> None:
    """Refuse a model by its description, before anything of it is made.

    >>> check_described(parse_spec("TF-(1,64,heads=4)"), "float32")
    """
    entries = spec.entries
    plain = len(entries) == 1 and entries[0].name == "transformer" and precision == "float32"
    if not plain or spec.options_of(entries[0])["positions"] not in ("learned", "sinusoidal"):
        raise SeparatrixError(f"{spec} cannot be certified: {COVERED}")


def model_from(data: bytes) -> SequenceModel:
    """The model of a file that :func:`weights_file` wrote, with its positions as a learned table.

    >>> from separatrix.models.naming import parse_spec
    >>> from separatrix.models.sequence_model import build_model
    >>> data = weights_file(build_model(parse_spec("TF-(1,8)"), vocabulary=7, classes=3, length=4, seeds=[0]))
    >>> model_from(data).length
    4
    """
    try:
        Weights(data)
    except RefusedError as refusal:
        raise SeparatrixError(f"the weights cannot be read: {refusal}; {COVERED}") from refusal
    size = int.from_bytes(data[:8], "little")
    about = json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["separatrix"])
    spec = parse_spec(f"TF-(1,{about['width']},heads={about['heads']})")
    model = SequenceModel(
        spec, vocabulary=about["vocabulary"], classes=about["classes"], length=about["positions"], members=1
    )
    fill(model, load(data))
    return model.eval()
