"""Triple matching from power sums: uniform attention without loss, and a sketch that determines the set, on all inputs.

With uniform attention every position has the same weight ω, a raw number computed as the network's own evaluation does.
All matrices are whole numbers, so that nothing else is rounded: coordinate t of the raw readout is ω·Σ_j a_t(z_j),
where a_t(z) is what token z contributes. For every token

* a_t(z) = (N + 1)·b_t(z) with whole numbers b_t(z) ≡ y^t modulo the prime P, y the residue of z modulo M, and
* N·|ω·(N + 1) - 1|·max |b_t| < 1/2 in the fixed point's units,

so that the nearest whole number is Σ_j b_t(z_j), which is the power sum s_t of the residues in the field of P elements.
The position's own residue passes by the residual.

Then s_1 … s_N determine the set {y_1, …, y_N}, as ``networks.decoding`` computes it. Proof: e_t, the elementary
symmetric functions of y_1 … y_N in the field, satisfy Newton's identities, and these have one solution because P > N
makes 1 … N invertible; Π (X - y_j) = Σ (-1)^t e_t X^(N-t) vanishes exactly at the y_j, and 0 … M - 1 are different
elements because P ≥ M. The decoding asks whether two of them add up with the own residue to 0 modulo M: that is Match3.
"""

import numpy

from separatrix.arithmetic import FixedPoint
from separatrix.certificates.meanings.matchings import MatchingInputs, matching_inputs
from separatrix.certificates.methods._numbers import Raw, fixed_point, whole, whole_part
from separatrix.certificates.methods._streams import only_by_token
from separatrix.certificates.methods._uniform import uniform_weight
from separatrix.certificates.verdict import Claim, Method, SuspicionError, UnsupportedError
from separatrix.networks import Attention, Head, Network, embed
from separatrix.progress import tracked

LARGEST_STREAM = 1 << 25
LARGEST_NUMBER = 1 << 62


class PowerSumMatching(Method):
    """One layer of uniform heads, decoded from power sums."""

    name = "power-sums"
    order = 37
    extensions = True

    def prove(self, network: Network, claim: Claim) -> str:
        """Examine what every token contributes to every sum."""
        inputs = matching_inputs(claim, ("match3",))
        examine(network, inputs, fixed_point(claim, once=True, wide=True))
        return f"{inputs.modulus}^{inputs.length}"


def examine(network: Network, inputs: MatchingInputs, arithmetic: FixedPoint) -> None:
    """Raise unless every input is answered correctly."""
    sums, length, positions = network.readout.power_sums, inputs.length, network.positions
    layer = network.layers[0] if len(network.layers) == 1 else None
    if sums is None or not isinstance(layer, Attention) or not layer.residual or network.dual_parts:
        raise UnsupportedError("the method covers one attention layer with residual, decoded from power sums")
    if network.readout.at != "every" or not layer.heads or any(head.mask != "none" for head in layer.heads):
        raise UnsupportedError("the method covers heads without a mask, read at every position")
    only_by_token(network, {part.slot for part in network.embedding})
    # The decoding's own conditions; a network with others answers another question.
    rows = network.readout.matrix.shape[0]
    if sums.modulus != inputs.modulus or rows != length + 1 or sums.prime <= length:
        reason = f"the decoding is for {rows - 1} numbers modulo {sums.modulus} in a field of {sums.prime}"
        raise SuspicionError(reason, numbers=[])
    weight, *others = {uniform_weight(head, positions, arithmetic) for head in layer.heads}
    if others or weight * positions > 2 * arithmetic.largest:
        raise UnsupportedError("the method covers heads that all weigh alike, with a sum of weights of at most 2")
    if (inputs.modulus + 1) * network.slots.width > LARGEST_STREAM:
        raise UnsupportedError("the tokens' embedding is too large for the method; choose a smaller modulus")
    own, given = contributions(network, layer.heads, inputs, arithmetic)
    residues = (numpy.arange(inputs.modulus + 1, dtype=numpy.int64) % inputs.modulus)[:, None]
    if own[:, 1:].any() or given[:, 0].any() or ((own[1:, :1] - residues[1:]) % inputs.modulus).any():
        raise SuspicionError("the decoding does not get the own residue and the sums alone", numbers=[])
    scaled, rest = given[:, 1:] // positions, given[:, 1:] % positions
    powers = residues % sums.prime
    for place in tracked(range(length), "powers"):
        # Products of two numbers below 2^31.
        wrong = (scaled[1:, place] - powers[1:, 0]) % sums.prime != 0
        if wrong.any() or rest[:, place].any() or scaled[0, place]:
            token = int(numpy.nonzero(wrong)[0][0]) + 1 if wrong.any() else 0
            reason = f"token {token} does not add its power {place + 1} modulo {sums.prime}"
            raise SuspicionError(reason, numbers=[token or inputs.modulus])
        powers = powers * (residues % sums.prime) % sums.prime
    loss = abs(weight * positions - arithmetic.largest) * length * int(numpy.abs(scaled).max(initial=0))
    if 2 * loss >= arithmetic.largest:
        off = loss / arithmetic.largest
        reason = f"rounding the weights may put a sum off by {off:.3g}, which rounding does not restore"
        raise SuspicionError(reason, numbers=numpy.unique(numpy.abs(scaled[1:]).argmax(axis=0) + 1).tolist())


def contributions(
    network: Network, heads: tuple[Head, ...], inputs: MatchingInputs, arithmetic: FixedPoint
) -> tuple[Raw, Raw]:
    """What each token adds to its own readout and, times the weight, to everyone's: (tokens, outputs) each."""
    tokens = numpy.arange(inputs.modulus + 1, dtype=numpy.int64)
    raw = embed(network.embedding, network.slots, tokens, numpy.zeros_like(tokens), arithmetic)
    stream = whole_part(raw, arithmetic, "embedded tokens").astype(numpy.int64)
    readout = whole(network.readout.matrix, "the readout")
    if network.readout.bias.parameters:
        raise UnsupportedError("the method covers a readout without a constant")
    bound = int(numpy.abs(stream).max(initial=0))
    total = numpy.zeros((len(tokens), readout.shape[0]), dtype=numpy.int64)
    # Python's integers bound every step: an average, the output matrix, the readout. Weights add up to at most 2.
    reach, largest = [bound] * network.slots.width, 0
    for head in heads:
        value, output = whole(head.value, "a value matrix"), whole(head.output, "an output matrix")
        valued = [2 * bound * sum(map(abs, row)) for row in value.tolist()]
        for place in numpy.flatnonzero(output.any(axis=1)).tolist():
            added = sum(abs(w) * each for w, each in zip(output[place].tolist(), valued, strict=True))
            reach[place], largest = reach[place] + added, max(largest, added)
        largest = max([largest, *valued])
        total += (stream @ value.T) @ (readout @ output).T
    read = [sum(abs(w) * each for w, each in zip(row, reach, strict=True)) for row in readout.tolist()]
    if max([largest, *reach, *read]) > min(arithmetic.largest, LARGEST_NUMBER):
        raise UnsupportedError(f"sums may leave the range ±{arithmetic.largest}; a larger Kc keeps them inside")
    return stream @ readout.T, total


METHOD = PowerSumMatching()
