"""The weights of a trained Transformer of few layers, read strictly from a safetensors file of float32 numbers.

Positions are a table that is added to the embedding, or turn queries and keys in pairs of halves ("rotary"): then the
file has the cosines and sines of each place.
"""

from fractions import Fraction
from typing import NamedTuple

from separatrix_kernel.balls import ONE, fixed
from separatrix_kernel.reading import Tensors, fields, integer, integers, require, text

STRUCTURE = ("kind", "width", "heads", "hidden", "epsilon", "vocabulary", "classes", "positions")
MOST_WIDTH = 1024
Matrix = list[list[int]]


class Layer(NamedTuple):
    """Norms as gain and shift, maps as matrix and bias."""

    first_norm: tuple[list[int], list[int]]
    project: tuple[Matrix, list[int]]
    output: tuple[Matrix, list[int]]
    second_norm: tuple[list[int], list[int]]
    inner: tuple[Matrix, list[int]]
    outer: tuple[Matrix, list[int]]


class Weights:
    """The weights of a model of so many layers in units of 2^-40; a file that does not name their number has one."""

    def __init__(self, data: bytes, layers: int = 1) -> None:
        self._tensors = Tensors(data)
        about = fields(self._tensors.structure, "the model's structure", STRUCTURE, ["layers"])
        kind = text(about["kind"], "the model's kind", ["transformer", "rotary-transformer"])
        depth = integer(about.get("layers", 1), "the number of layers", 1)
        require(depth == layers, f"the model has {depth} layers, not {layers}")
        require(layers == 1 or kind == "transformer", "rotary positions are for one layer")
        self.width = integer(about["width"], "the width", 1, MOST_WIDTH)
        self.heads = integer(about["heads"], "the number of heads", 1, self.width)
        require(self.width % self.heads == 0, "the heads do not divide the width")
        self.hidden = integer(about["hidden"], "the feed-forward's width", 1, 4 * MOST_WIDTH)
        self.vocabulary = integer(about["vocabulary"], "the vocabulary", 1)
        self.classes = integer(about["classes"], "the number of classes", 2)
        self.positions = integer(about["positions"], "the number of positions", 1)
        small = integers(about["epsilon"], "the norms' epsilon", 1)
        require(len(small) == 2 and small[0] <= small[1], "the norms' epsilon is not a fraction up to 1")
        self.epsilon = Fraction(*small)
        width = self.width
        self.embedding = self._matrix("embedding.weight", self.vocabulary, width)
        self.turns: tuple[Matrix, Matrix] | None = None
        """Cosines and sines of each place, at most 1 in size, for pairs of coordinates of each head."""
        if kind == "transformer":
            self.places = self._matrix("positions.table", self.positions, width)
        else:
            pairs, odd = divmod(width // self.heads, 2)
            require(not odd, "a head's coordinates are not pairs")
            cosines, sines = (self._matrix(f"positions.{name}", self.positions, pairs) for name in ("cosine", "sine"))
            require(
                all(abs(each) <= ONE for table in (cosines, sines) for row in table for each in row), "a turn is large"
            )
            self.turns = cosines, sines
            # As many as the tables have rows: the number alone could be any.
            self.places = [[0] * width] * len(cosines)
        self.layers = [self._layer(f"blocks.{number}") for number in range(layers)]
        self.last_norm = self._affine("norm")
        self.readout = self._map("readout", width, self.classes)
        self._tensors.finish()

    def _layer(self, name: str) -> Layer:
        width, hidden = self.width, self.hidden
        return Layer(
            self._affine(f"{name}.norm"),
            self._map(f"{name}.mixer.project", width, 3 * width),
            self._map(f"{name}.mixer.output", width, width),
            self._affine(f"{name}.feed_forward_norm"),
            self._map(f"{name}.feed_forward.inner", width, hidden),
            self._map(f"{name}.feed_forward.outer", hidden, width),
        )

    def _matrix(self, name: str, rows: int, columns: int) -> Matrix:
        shape, values = self._tensors.take(name, "F32", 2, name)
        require(shape == [rows, columns], f"{name} has the shape {shape}, not {[rows, columns]}")
        return [[fixed(each) for each in values[row * columns : (row + 1) * columns]] for row in range(rows)]

    def _vector(self, name: str, count: int) -> list[int]:
        shape, values = self._tensors.take(name, "F32", 1, name)
        require(shape == [count], f"{name} has the shape {shape}, not {[count]}")
        return [fixed(each) for each in values]

    def _affine(self, name: str) -> tuple[list[int], list[int]]:
        return self._vector(f"{name}.weight", self.width), self._vector(f"{name}.bias", self.width)

    def _map(self, name: str, inputs: int, outputs: int) -> tuple[Matrix, list[int]]:
        return self._matrix(f"{name}.weight", inputs, outputs), self._vector(f"{name}.bias", outputs)
