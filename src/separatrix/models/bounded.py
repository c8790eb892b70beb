"""Which class of the lower bounds a trainable model belongs to, and how large it is in that class's terms.

The bounds (``communication.bounds``) speak about recurrent models with so many bits of state (BHBK24 Theorem 2), about
Transformers of one layer with H heads of dimension m (Theorem 4), and about graph Transformers (SHT23). A feed-forward
network on the whole input is a recurrent model here, one that hands on the sums of its first layer. A mixture of
recurrent layers is one recurrent model with all their states; attention in any layer makes what is carried grow with
the input, so that only pure Transformers of one and two layers have a class.
"""

from typing import TYPE_CHECKING

from separatrix.models.architecture import ModelSpec

if TYPE_CHECKING:
    from separatrix.communication.bounds import Model, ModelSize

LONGEST_SUM = 48
"""A sum of up to 2^48 products has at most so many bits more than one of them."""


def constant_state(spec: ModelSpec) -> bool:
    """Whether what is carried past a cut does not grow with the input; anyone's own module may say so as well.

    >>> from separatrix.models.naming import parse_spec
    >>> constant_state(parse_spec("LSTM-(3,256)")), constant_state(parse_spec("LSTM,TF-(2,64)"))
    (True, False)
    """
    return spec.state_numbers(1 << 20) == spec.state_numbers(1 << 10)


def bounded_as(spec: ModelSpec, length: int, precision: int) -> "tuple[Model, ModelSize] | None":
    """The class of a model and its size with numbers of ``precision`` bits; None where no class holds it.

    >>> from separatrix.models.naming import parse_spec
    >>> bounded_as(parse_spec("TF-(1,64,heads=4)"), 400, 32)
    ('transformer-1layer', ModelSize(width=16, precision=32, heads=4, layers=1, state_bits=None))
    >>> bounded_as(parse_spec("LSTM-(3,256)"), 400, 32)[1].memory_bits
    49152
    """
    from separatrix.communication.bounds import ModelSize  # python-flint, which the trainer does without

    first, names = spec.entries[0], {entry.name for entry in spec.entries}
    options = spec.options_of(first)
    if names == {"fnn"}:
        # One-way as a recurrent model is: Alice sends her part of the first layer's sums, exact ones, which also hold
        # the embedding's numbers that the class "fnn" does not know.
        hidden = int(options["expansion"]) * spec.width
        return "rnn", ModelSize(hidden, precision, state_bits=hidden * (2 * precision + LONGEST_SUM))
    if names == {"graph-transformer"}:
        heads = int(options["heads"])
        return "graph-transformer", ModelSize(spec.width // heads, precision, heads, spec.depth)
    if names == {"third-order"} and spec.depth == 1:
        heads = int(options["heads"])
        return "third-order", ModelSize(spec.width // heads, precision, heads)
    if constant_state(spec):
        return "rnn", ModelSize(spec.width, precision, state_bits=spec.state_bits(length, precision))
    shapes = [entry.attention(spec.width, spec.options_of(entry)) for entry in spec.entries]
    if spec.depth > 2 or None in shapes:
        return None
    assert shapes[0] is not None
    kind: Model = "transformer-1layer" if spec.depth == 1 else "transformer-2layer"
    return kind, ModelSize(shapes[0].dimension, precision, shapes[0].heads, spec.depth)
