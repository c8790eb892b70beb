"""A trainable model as the bounds see it: what each of its layers keeps, for ``separatrix capacity`` and its relatives.

Layers of one kind may keep different amounts, such as convolutions whose reach doubles; equal ones are counted. What a
layer keeps is given in numbers of the precision asked for, rounded up. Of a user's module that has no
``state_numbers`` nothing is known, and nothing is claimed.
"""

from separatrix.bit_counts import OWN_PRECISION
from separatrix.capacities import Kind, LayerDescription, ModelDescription, StatePart
from separatrix.models.architecture import Architecture, ModelSpec
from separatrix.models.bounded import layer_keeps, own_statements, user_module


def description(spec: ModelSpec, precision: int) -> ModelDescription:
    """Return what each layer of a model keeps, with numbers of ``precision`` bits."""
    layers: list[LayerDescription] = []
    kept = [(entry, layer_keeps(spec, layer, precision)) for layer, entry in enumerate(spec.entries)]
    for entry, found in dict.fromkeys(kept):
        options = spec.options_of(entry)
        shape = entry.attention(spec.width, options)
        heads, head_width = (0, 0) if shape is None else (shape.heads, shape.dimension)
        if entry.reads_graphs:
            heads, head_width = int(options["heads"]), spec.width // int(options["heads"])
        state = () if found is None else (StatePart("state", -(-found[0] // precision), found[1]),)
        layers.append(
            LayerDescription(
                kind="recurrent" if state else _growing(entry),
                name=entry.short,
                width=spec.width,
                heads=heads,
                head_width=head_width,
                state=state,
                count=kept.count((entry, found)),
            )
        )
    own = any(user_module(entry) is not None for entry in spec.entries)
    return ModelDescription(
        name=str(spec),
        family="separatrix",
        layers=tuple(layers),
        notes=_notes(spec),
        number_format=f"float{OWN_PRECISION}",
        number_format_from="this package",
        source="your own module" if own else "this package",
    )


def _growing(entry: Architecture) -> Kind:
    """Return what a layer is that does not keep a fixed amount."""
    own = user_module(entry)
    if own is not None and own.stated is None:
        return "unstated"
    return "graph-attention" if entry.reads_graphs else "attention"


def _notes(spec: ModelSpec) -> tuple[str, ...]:
    """Return what is not plain from the numbers."""
    assumed = tuple(f"assumed: {each}." for each in own_statements(spec))
    if "fnn" not in [entry.name for entry in spec.entries]:
        return assumed
    return (
        *assumed,
        "of a feed-forward network on the whole input, the sums of its first layer over the part before a cut cross "
        "it, and what comes behind waits for them; a sum of products of p-bit numbers has up to 2p + 48 bits.",
    )
