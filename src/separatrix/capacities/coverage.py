"""Which classes of models cover a model, so that their bounds apply to it.

- Every layer has bounded memory and the input is read once: the model is a recurrent model in the sense of BHBK24 §2,
  whose update is arbitrary, and its state is the sum over all layers (a stack of recurrent layers is one recurrent
  model). Theorems 3, 8, 11, Proposition 9 and SHT23's bound for sparse averaging apply.
- One layer of attention and nothing else that mixes positions: Theorem 4's protocol applies, and with it Theorems 5
  and 12 and SHT23's bounds for one layer.
- Nothing but graph self-attention: SHT23's bound for graph Transformers of any depth applies.
- A module that does not state what it keeps: nothing is known. Layers of bounded memory whose positions read later
  ones: nothing but Theorem 4 where there is a single layer.
- Anything else (several layers of full attention; attention and recurrence mixed): no bound is known. BHBK24 Corollary
  13.1 shows that a protocol like Theorem 4's cannot exist for two layers.

Published bounds for several layers are about a task that is not in the catalog, the composition of functions.
:func:`cited` names those whose conditions a model meets; they were not executed, and no verdict rests on them.
"""

from dataclasses import dataclass
from typing import Literal

from separatrix.bounds import Model
from separatrix.capacities.layers import LayerDescription, ModelDescription
from separatrix.wording import counted


@dataclass(frozen=True)
class Cited:
    """A published bound that was not executed: where, what it says, for which models, and how much of it was read."""

    paper: str
    statement: str
    conditions: str
    read: Literal["abstract"] = "abstract"


DECODERS = Cited(
    "Chen, Peng and Wu, arXiv 2412.02975",
    "an L-layer decoder needs a width polynomial in n to compose L functions over n tokens",
    "decoder-only, L constant",
)
HYBRIDS = Cited(
    "Ye, He, Liao, Wu and Lu, arXiv 2602.01763",
    "L - 1 layers of full attention with 2^(3L²) of linear attention cannot compose functions as L + 1 of full "
    "attention can",
    "linear attention that is a recurrence, such as Mamba and DeltaNet, within one forward pass",
)
STATE_SPACES = Cited(
    "Zubić, Li, Wang and Scaramuzza, arXiv 2604.14501",
    "state-space models of several layers are limited in composing functions, where streaming algorithms are not",
    "finite precision, no chain of thought while they read",
)


def cited(model: ModelDescription) -> tuple[Cited, ...]:
    """The published bounds whose conditions a model meets, as far as their abstracts name them.

    >>> from separatrix.capacities import describe
    >>> [each.paper[-10:] for each in (*cited(describe("llama-3-8b")), *cited(describe("jamba-v0.1")))]
    ['2412.02975', '2602.01763']
    """
    kinds = {layer.kind for layer in model.layers}
    if model.depth < 2 or not model.causal or model.passes > 1:
        return ()
    if kinds == {"attention"} and all(is_softmax(layer) for layer in model.layers):
        return (DECODERS,)
    # A convolution is no linear attention: nothing in it adds up over the text.
    if kinds == {"attention", "recurrent"} and all(
        is_softmax(each) if each.kind == "attention" else any(part.running for part in each.state)
        for each in model.layers
    ):
        return (HYBRIDS,)
    return (STATE_SPACES,) if kinds == {"recurrent"} and model.state_space else ()


def which_bounds(model: ModelDescription) -> tuple[tuple[Model, ...], str]:
    """The classes of models that cover a model, and why, in a sentence.

    >>> from separatrix.capacities import describe
    >>> which_bounds(describe("recurrentgemma-2b"))[0], which_bounds(describe("jamba-v0.1"))[0]
    (('rnn',), ())
    """
    attending = sum(layer.count for layer in model.layers if not layer.bounded)
    local = sum(layer.count for layer in model.layers if layer.kind == "local-attention")
    depth = model.depth
    single = depth == 1 and is_softmax(model.layers[0])
    if model.passes > 1:
        return (), f"No bound applies: the input is read {model.passes} times; Theorem 2's protocol needs one pass."
    silent = [layer.name for layer in model.layers if layer.kind == "unstated"]
    if silent:
        remedy = (
            "Describe it layer by layer; see docs/capacity.md."
            if model.evidence == "guess"
            else "Give the class a static method state_numbers(width, length) that returns how many numbers that is; "
            "see docs/how-to/own-architecture.md."
        )
        return (), (
            "Nothing is known about this model: it is not stated what is passed from one position to the next by "
            f"{' and '.join(silent)}. {remedy}"
        )
    if model.evidence == "guess":
        return (), "No bound applies: its type is not known, so that what its layers read and keep is a guess."
    if attending == 0 and model.ahead and not single:
        return (), (
            "No bound applies: positions read later ones, so that what its layers keep of a prefix depends on what "
            "follows as well (no Theorem 2)."
        )
    if attending == 0 and not model.ahead:
        which = "its one layer keeps" if depth == 1 else f"all its {depth} layers keep"
        so = "so it is a recurrent model" if depth == 1 else "so together they are one recurrent model"
        part = "" if depth == 1 else f"{local} of them "
        windows = f" ({part}the last keys and values of an attention over a bounded window)" if local else ""
        more = " A single attention layer, it also gives the protocol of Theorem 4." if single else ""
        return ("rnn", "transformer-1layer") if single else ("rnn",), (
            f"The bounds for recurrent models apply: {which} a state of fixed size{windows}, {so} (Theorem 2).{more}"
        )
    if single:
        return ("transformer-1layer",), (
            "The bounds for one-layer Transformers apply: a single attention layer mixes the positions (Theorem 4)."
        )
    if all(layer.kind == "graph-attention" for layer in model.layers):
        which = "its one layer is" if depth == 1 else f"all its {depth} layers are"
        return ("graph-transformer",), f"The bounds for graph Transformers apply: {which} graph self-attention (SHT23)."
    if attending < depth:
        return (), (
            f"No bound applies to the whole model: {counted(attending, 'attention')} over the whole input next to "
            f"{counted(depth - attending, 'layer')} of bounded memory, so its memory grows (no Theorem 2), and Theorem "
            "4 covers one attention layer with nothing next to it."
        )
    if depth == 1:
        return (
            (),
            "No bound applies: its one layer reads the whole input, and not by the softmax attention of Theorem 4.",
        )
    if not all(is_softmax(layer) for layer in model.layers):
        return (), (
            f"No bound applies to the whole model: its {depth} layers read the whole input, and not all of them by the "
            "softmax attention of Theorem 4, which covers one."
        )
    return (), (
        f"No bound applies to the whole model: it has {depth} attention layers. Theorem 4 covers one; by Corollary "
        "13.1 no such protocol exists for two."
    )


def is_softmax(layer: LayerDescription) -> bool:
    """Whether a layer is softmax attention of known heads and width, as Theorem 4 has it."""
    attends = layer.kind in ("attention", "local-attention")
    return attends and layer.softmax and layer.heads > 0 and layer.head_width > 0
