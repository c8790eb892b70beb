"""Which class of the lower bounds a trainable model belongs to, and how large it is in that class's terms.

The bounds (``separatrix.bounds``) speak about recurrent models with so many bits of state (BHBK24 Theorem 2), about
Transformers of one layer with H heads of dimension m (Theorem 4), and about graph Transformers (SHT23). A feed-forward
network on the whole input is a recurrent model here, one that passes on the sums of its first layer. A mixture of
recurrent layers is one recurrent model with all their states; attention in any layer makes what is carried grow with
the input, unless such a network is before it, so that only pure Transformers of one and two layers have a class.
"""

from typing import TYPE_CHECKING

from separatrix.models.architecture import Architecture, ModelSpec
from separatrix.sources import is_outside

if TYPE_CHECKING:
    from separatrix.bounds import Model, ModelSize
    from separatrix.models.user_architecture import UserArchitecture

LONGEST_SUM = 48
"""A sum of up to 2^48 products has at most so many bits more than one of them."""


def user_module(entry: Architecture) -> "UserArchitecture | None":
    """Return the entry if it wraps a user's module; decided by its name, so that torch is loaded only where one is
    there."""
    if ":" not in entry.name:
        return None
    from separatrix.models.user_architecture import UserArchitecture

    return entry if isinstance(entry, UserArchitecture) else None


def constant_state(spec: ModelSpec) -> bool:
    """Return whether what is carried past a cut does not grow with the input; a user's module may say so as well."""
    return spec.state_numbers(1 << 20) == spec.state_numbers(1 << 10)


def states_its_size(spec: ModelSpec) -> bool:
    """Return whether what is carried past a cut is known: of a user's module only what the module states."""
    return all((module := user_module(entry)) is None or module.stated is not None for entry in spec.entries)


def layer_keeps(spec: ModelSpec, layer: int, precision: int) -> tuple[int, str] | None:
    """Return bits that a layer passes on, however long the input, and the numbers they belong to; None where they grow.

    What comes behind a feed-forward network on the whole input waits for its sums, and passes on nothing before.
    """
    entry, names = spec.entries[layer], [each.name for each in spec.entries]
    options = spec.options_of(entry)
    if "fnn" in names[:layer]:
        return 0, "0"
    if entry.name == "fnn":
        # Alice sends her part of the sums, exact ones: a sum of products has more bits than its factors.
        sums = int(options["expansion"]) * spec.width
        return sums * (2 * precision + LONGEST_SUM), f"{sums} × (2p + {LONGEST_SUM})/p"
    short, long = (entry.state_numbers_at(layer, spec.width, options, length) for length in (1 << 10, 1 << 20))
    return (short * precision, str(short)) if short == long else None


def ahead_in(spec: ModelSpec) -> tuple[str, ...]:
    """Return a user's layers that say what they carry and look ahead in a trial, so that it is not used."""
    return tuple(
        entry.name
        for entry in dict.fromkeys(spec.entries)
        if (own := user_module(entry)) is not None
        and own.stated is not None
        and own.looks_ahead(spec.width, spec.options_of(entry))
    )


def own_statements(spec: ModelSpec) -> tuple[str, ...]:
    """Return what the sizes rest on that is said by code outside this package, a sentence for each such layer."""
    found: list[str] = []
    ahead = ahead_in(spec)
    for entry in dict.fromkeys(spec.entries):
        if (own := user_module(entry)) is not None:
            if entry.name in ahead:
                found.append(f"{entry.name} looks ahead in a trial, so that its state_numbers are not used")
            elif own.stated is not None:
                found.append(f"what {entry.name} carries past a cut is the module's own statement (state_numbers)")
        elif is_outside(type(entry)):
            found.append(f"what {entry.name} carries past a cut is the architecture's own statement (state_numbers)")
    return tuple(found)


def bounded_as(spec: ModelSpec, length: int, precision: int) -> "tuple[Model, ModelSize] | None":
    """Return the class of a model and its size with numbers of ``precision`` bits; None where no class holds it."""
    from separatrix.bounds import ModelSize  # python-flint, which the trainer does without

    first, names = spec.entries[0], {entry.name for entry in spec.entries}
    options = spec.options_of(first)
    if names == {"graph-transformer"}:
        heads = int(options["heads"])
        return "graph-transformer", ModelSize(spec.width // heads, precision, heads, spec.depth)
    if names == {"third-order"} and spec.depth == 1:
        heads = int(options["heads"])
        return "third-order", ModelSize(spec.width // heads, precision, heads)
    kept = [layer_keeps(spec, layer, precision) for layer in range(spec.depth)]
    if None not in kept:
        # The class "fnn" does not know the embedding's numbers, which the sums of "rnn" hold as well.
        return "rnn", ModelSize(spec.width, precision, state_bits=sum(each[0] for each in kept if each is not None))
    shapes = [entry.attention(spec.width, spec.options_of(entry)) for entry in spec.entries]
    if spec.depth > 2 or None in shapes:
        return None
    assert shapes[0] is not None
    kind: Model = "transformer-1layer" if spec.depth == 1 else "transformer-2layer"
    return kind, ModelSize(shapes[0].dimension, precision, shapes[0].heads, spec.depth)
