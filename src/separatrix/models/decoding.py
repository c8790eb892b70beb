"""From readouts to answers in torch, as ``separatrix.networks.decoding`` has it, on tensors and without Python loops
over the batch or the positions, so that it can be exported together with the model.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from separatrix.errors import SeparatrixError
from separatrix.models.tensors import Tensors

DECODINGS = ("bits", "argmax", "round", "power-sums")
LARGEST_BITS = 62


class ReadoutModule(nn.Module):
    """W x + b, and what it means.

    ``bits``: coordinates above 1/2 are ones, most significant first; ``argmax``: the number of the largest coordinate,
    the smallest number on ties; ``round``: a vector of the nearest whole numbers; ``power-sums``: whether a triple
    matches, from a residue and the power sums of all residues.
    """

    def __init__(self, tensors: Tensors, readout: Mapping[str, Any], width: int) -> None:
        super().__init__()
        self.decoding, self.at = str(readout["decoding"]), str(readout["at"])
        if self.decoding not in DECODINGS or self.at not in ("last", "every"):
            raise SeparatrixError(
                f"a readout of {self.decoding!r} at {self.at!r} is unknown; there are {', '.join(DECODINGS)}"
            )
        self.matrix = tensors.parameter("matrix", None, width)
        self.bias = tensors.parameter("bias", self.matrix.shape[0])
        if self.decoding == "bits" and self.matrix.shape[0] > LARGEST_BITS:
            raise SeparatrixError(
                f"{self.matrix.shape[0]} bits do not fit an answer of 64; there may be {LARGEST_BITS}"
            )
        if self.decoding == "power-sums":
            self.modulus, self.prime = (int(each) for each in readout["power_sums"])

    def forward(self, stream: Tensor) -> Tensor:
        """Return readouts (…, outputs)."""
        return stream @ self.matrix.T + self.bias

    def decode(self, raw: Tensor) -> Tensor:
        """Answers (…) from readouts (…, outputs), int64; after ``round`` they are vectors (…, outputs)."""
        outputs = raw.shape[-1]
        if self.decoding == "bits":
            powers = torch.tensor([1 << place for place in reversed(range(outputs))], device=raw.device)
            return ((raw + raw > 1).to(torch.int64) * powers).sum(dim=-1)
        if self.decoding == "argmax":
            place = torch.arange(outputs, device=raw.device)
            best = raw == raw.amax(dim=-1, keepdim=True)
            return torch.where(best, place, outputs).amin(dim=-1)
        whole = torch.floor(raw + 0.5).to(torch.int64)
        return whole if self.decoding == "round" else self._triple_in_sums(whole)

    def _triple_in_sums(self, numbers: Tensor) -> Tensor:
        """Return whether two values that occur add up with the residue to 0: Newton's identities, then all roots by
        trial.

        Everything stays below 2^31 before a product, so that no product exceeds 2^62.
        """
        residue, sums = numbers[..., :1], numbers[..., 1:] % self.prime
        symmetric = [torch.ones_like(residue)]
        for degree in range(1, numbers.shape[-1]):
            signs = torch.tensor([(-1) ** place for place in range(degree)], device=numbers.device)
            products = torch.cat(symmetric[::-1], dim=-1) * sums[..., :degree] % self.prime
            total = (products * signs).sum(dim=-1, keepdim=True) % self.prime
            symmetric.append(total * pow(degree, -1, self.prime) % self.prime)
        candidates = torch.arange(self.modulus, device=numbers.device)
        values = torch.zeros_like(residue)
        for degree, each in enumerate(symmetric):
            values = (values * candidates + (-1) ** degree * each) % self.prime
        occurring = (values == 0).to(torch.int64)
        partner = (-residue - candidates) % self.modulus
        return (occurring * occurring.gather(-1, partner)).amax(dim=-1)
