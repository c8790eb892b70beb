"""Networks as data, read strictly and encoded in the arithmetic of the claim.

Two formats of files are read: ``separatrix-network-1``, a Transformer on tokens, on cells of several numbers or on the
vertices of a graph, and ``separatrix-recurrent-1``. Parts that read sets are in a file of their own (``sets``).
A matrix is kept as sparse rows of (column, raw weight): a weight that rounds to 0 makes products that are 0.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isqrt
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from separatrix_kernel.numbers import Numbers
from separatrix_kernel.reading import (
    RefusedError,
    Tensors,
    fields,
    integer,
    integers,
    interval,
    items,
    require,
    text,
    truth,
)

if TYPE_CHECKING:
    from separatrix_kernel.sets import Dual

Row: TypeAlias = tuple[tuple[int, int], ...]
"""The (column, raw weight) of a row that are not 0."""
LARGEST_DENOMINATOR = 1 << 62
LARGEST_SIZE = 1 << 32
MOST_COORDINATES = 1 << 25
HEAD = ("query", "key", "value", "output")
PATTERNS = 8
LARGEST_PRIME = 1 << 31
PAIR_HEAD = ("query", "first_key", "second_key", "first_value", "second_value", "output")
SCORINGS = ("softmax", "hard", "leftmost", "linear", "relu")
FEED_FORWARD = ("inner", "inner_bias", "outer", "outer_bias")


@dataclass(frozen=True)
class Matrix:
    """Sparse rows of raw weights."""

    rows: tuple[Row, ...]
    columns: int

    @property
    def reads(self) -> set[int]:
        """The columns that matter."""
        return {column for row in self.rows for column, _ in row}

    @cached_property
    def size(self) -> int:
        """How many weights and rows it has: the steps that applying it takes."""
        return len(self.rows) + sum(map(len, self.rows))

    def column(self) -> list[int]:
        """The entries of a matrix of one column."""
        return [row[0][1] if row else 0 for row in self.rows]

    def apply(self, vector: list[int], numbers: Numbers) -> list[int]:
        """W x: every product rounded and saturated, the sum exact and saturated once."""
        numbers.work.spend(self.size)
        product, found, one = numbers.product, list[int](), numbers.scale
        for row in self.rows:
            if len(row) == 1:
                # A single product is in the range already, and one with the weight 1 is exact.
                ((place, weight),) = row
                found.append(vector[place] if weight == one else product(weight, vector[place]))
            else:
                found.append(numbers.saturate(sum([product(weight, vector[place]) for place, weight in row])))
        return found


@dataclass(frozen=True)
class Head:
    """One attention head; its mask shows a query at position p all keys, those up to p, or those before p."""

    query: Matrix
    key: Matrix
    value: Matrix
    output: Matrix
    scoring: str
    mask: str

    def visible(self, position: int, positions: int) -> int:
        """How many keys, the first ones, a query sees."""
        return positions if self.mask == "none" else position + (self.mask == "causal")

    def needs(self, entries: set[int]) -> set[int]:
        """The columns that some entries of the average depend on."""
        used = {column for entry in entries for column, _ in self.value.rows[entry]}
        return used | self.query.reads | self.key.reads


@dataclass(frozen=True)
class PairHead:
    """A third-order head: the key and the value of a pair of positions (j, k) are products, coordinate by coordinate,
    of the first matrix at j and the second one at k."""

    query: Matrix
    keys: tuple[Matrix, Matrix]
    values: tuple[Matrix, Matrix]
    output: Matrix
    scoring: str

    def needs(self, entries: set[int]) -> set[int]:
        """The columns that some entries of the average depend on."""
        used = {column for value in self.values for entry in entries for column, _ in value.rows[entry]}
        return used | self.query.reads | self.keys[0].reads | self.keys[1].reads


@dataclass(frozen=True)
class GraphHead:
    """A head of vertices that attend to pairs of vertices: vertex i gives the pair (j, k) the score number
    4 x_ij + 2 x_jk + x_ki, where x_ij is 1 if there is an edge from i to j, and a dummy pair of value 0 its own score.

    The value of a pair is a product as in ``PairHead``; the dummy comes last.
    """

    scores: list[int]
    dummy: int
    values: tuple[Matrix, Matrix]
    output: Matrix
    scoring: str

    def needs(self, entries: set[int]) -> set[int]:
        """The columns that some entries of the average depend on."""
        return {column for value in self.values for entry in entries for column, _ in value.rows[entry]}


@dataclass(frozen=True)
class Attention:
    """Heads whose outputs are added one after the other; with ``residual`` to the layer's input."""

    heads: tuple[Head, ...]
    residual: bool


@dataclass(frozen=True)
class PairAttention:
    """The same with third-order heads."""

    heads: tuple[PairHead, ...]
    residual: bool


@dataclass(frozen=True)
class GraphAttention:
    """The same on the edges of a graph."""

    heads: tuple[GraphHead, ...]
    residual: bool


@dataclass(frozen=True)
class FeedForward:
    """x ↦ W₂ ReLU(W₁ x + b₁) + b₂, with ``residual`` added to x."""

    inner: Matrix
    inner_bias: list[int]
    outer: Matrix
    outer_bias: list[int]
    residual: bool


Layer: TypeAlias = Attention | PairAttention | GraphAttention | FeedForward


@dataclass(frozen=True)
class Readout:
    """W x + b at the last position, or at every one, and how an answer is decoded from it.

    ``sums`` are the modulus M and the prime P of a readout by power sums, (0, 0) for others.
    """

    matrix: Matrix
    bias: list[int]
    decoding: str
    at: str
    sums: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Signs:
    """Sign vectors numbered from 0 to 2^bits - 1: signs (-1)^(Σ of the ``words`` that the bits of the number name).

    Words are integers of ``width`` bits, of which the first sign's is the highest.
    """

    words: tuple[int, ...]
    width: int

    def word(self, number: int) -> int:
        """The signs of one vector, as bits."""
        found = 0
        for bit, each in enumerate(self.words):
            if number >> bit & 1:
                found ^= each
        return found


@dataclass(frozen=True)
class Part:
    """Adds the ``row`` that a token or a position names to the stream from ``start`` on, where both are in range."""

    start: int
    width: int
    by_token: bool
    tokens: tuple[int, int]
    positions: tuple[int, int]
    indices: tuple[int, ...] | None
    row: Callable[[int], list[int]]
    signs: Signs | None = None

    def at_token(self, token: int) -> int | None:
        """What the part needs to know of a token: None out of range, else the row's number, or 0 if it has no say."""
        return self._number(token, self.tokens, self.by_token)

    def at_position(self, position: int) -> int | None:
        """The same of a position."""
        return self._number(position, self.positions, not self.by_token)

    def _number(self, at: int, reach: tuple[int, int], deciding: bool) -> int | None:
        if not reach[0] <= at < reach[1]:
            return None
        local = at - reach[0]
        return (local if self.indices is None else self.indices[local]) if deciding else 0


@dataclass(frozen=True)
class Feature:
    """Adds W · cell / ``denominator`` to the stream from ``start`` on, where cells are several whole numbers.

    ``rows`` are the (column, number) of W that are not 0. Cells may be larger than the arithmetic can represent, so the
    product is exact and is rounded once.
    """

    start: int
    rows: tuple[Row, ...]
    columns: int
    denominator: int

    @property
    def width(self) -> int:
        """How many coordinates it writes."""
        return len(self.rows)

    def of(self, cell: Sequence[int], numbers: Numbers) -> list[int]:
        """What it adds for a cell."""
        numbers.work.spend(len(self.rows) + sum(map(len, self.rows)))
        return [numbers.encode(sum(w * cell[c] for c, w in row), self.denominator) for row in self.rows]


@dataclass(frozen=True)
class Transformer:
    """A network of attention layers and feed-forwards on a residual stream of ``width`` numbers.

    Rules may count feed-forwards before the first attention among the embedding: the ``prefix``. With ``features`` its
    inputs are cells of several numbers, which all have token 0; ``duals`` read the sets of positions that cells name.
    """

    vocabulary: int
    positions: int
    width: int
    parts: tuple[Part, ...]
    layers: tuple[Layer, ...]
    readout: Readout
    prefix: tuple[FeedForward, ...] = ()
    features: tuple[Feature, ...] = ()
    duals: "tuple[Dual, ...]" = ()

    @property
    def cell_size(self) -> int:
        """How many numbers a cell of its inputs has; 0 where inputs are tokens."""
        return next((each.columns for each in self.features), 0)

    @property
    def reads_graphs(self) -> bool:
        """Whether its inputs are graphs, and its positions their vertices, which all hold token 0."""
        return any(isinstance(layer, GraphAttention) for layer in self.layers)


@dataclass(frozen=True)
class Recurrent:
    """h ↦ the chain of ReLU maps on [h, embedding of the token]; the readout sees the last state."""

    vocabulary: int
    positions: int
    embedding: list[list[int]]
    initial: list[int]
    cell: tuple[tuple[Matrix, list[int]], ...]
    readout: Readout
    reads_graphs = False
    cell_size = 0
    duals = ()


Network: TypeAlias = Transformer | Recurrent


class Encoder(Protocol):
    """What reading needs of an arithmetic."""

    def encode(self, numerator: int, denominator: int) -> int:
        """A weight in the arithmetic."""
        ...


class Reader:
    """Reads the structure in a file's header and takes each of its tensors once."""

    def __init__(self, data: bytes, numbers: Encoder) -> None:
        self.tensors, self.numbers = Tensors(data), numbers

    def network(self) -> Network:
        """The network; refused unless structure and tensors fit together and nothing is left over."""
        structure = self.tensors.structure
        require(isinstance(structure, dict), "the structure is not an object")
        kind = text(structure.get("format"), "the network's format", ["separatrix-network-1", "separatrix-recurrent-1"])
        found = self._transformer(structure) if kind == "separatrix-network-1" else self._recurrent(structure)
        self.tensors.finish()
        return found

    def _dense(self, value: Any, what: str) -> tuple[int, int, list[int]]:
        """Rows, columns and the raw entries, row by row."""
        found = fields(value, what, ["numerators", "denominator"])
        denominator = integer(found["denominator"], f"the denominator of {what}", 1, LARGEST_DENOMINATOR)
        (rows, columns), numerators = self.tensors.take(found["numerators"], "I64", 2, what)
        known: dict[int, int] = {}
        for each in set(numerators):
            known[each] = self.numbers.encode(each, denominator)
        return rows, columns, [known[each] for each in numerators]

    def _matrix(self, value: Any, what: str, rows: int | None, columns: int | None) -> Matrix:
        height, width, raw = self._dense(value, what)
        require(rows in (None, height) and columns in (None, width), f"{what} is {height} x {width}; that does not fit")
        lines = (raw[row * width : row * width + width] for row in range(height))
        return Matrix(tuple(tuple((c, w) for c, w in enumerate(line) if w) for line in lines), width)

    def _readout(self, value: Any, width: int) -> Readout:
        found = fields(value, "the readout", ["matrix", "bias", "decoding", "at"], ["power_sums"])
        matrix = self._matrix(found["matrix"], "the readout", None, width)
        bias = self._matrix(found["bias"], "the readout's bias", len(matrix.rows), 1).column()
        decoding = text(found["decoding"], "the decoding", ["bits", "argmax", "exact", "power-sums", "round"])
        require(bool(matrix.rows), "the readout has no coordinate")
        at = text(found["at"], "the readout's place", ["last", "every"])
        require(("power_sums" in found) == (decoding == "power-sums"), "a readout by power sums needs both numbers")
        if decoding != "power-sums":
            return Readout(matrix, bias, decoding, at)
        modulus, prime = integers(items(found["power_sums"], "the power sums", 2), "the power sums", 2, LARGEST_PRIME)
        known = modulus <= prime and all(prime % each for each in range(2, isqrt(prime) + 1))
        require(known and len(matrix.rows) <= prime, "power sums need a prime, at least the modulus and the rows")
        return Readout(matrix, bias, decoding, at, (modulus, prime))

    def _recurrent(self, structure: Any) -> Recurrent:
        names = ["format", "vocabulary", "positions", "embedding", "initial", "cell", "readout", "about"]
        found = fields(structure, "the structure", names)
        vocabulary = integer(found["vocabulary"], "the vocabulary", 1, LARGEST_SIZE)
        positions = integer(found["positions"], "the number of positions", 1, LARGEST_SIZE)
        text(found["about"], "the description")
        rows, entering, raw = self._dense(found["embedding"], "the embedding")
        require(rows == vocabulary, "the embedding does not have one row for each token")
        embedding = [raw[row * entering : row * entering + entering] for row in range(rows)]
        initial = self._matrix(found["initial"], "the initial state", None, 1).column()
        cell: list[tuple[Matrix, list[int]]] = []
        entering += len(initial)
        for number, each in enumerate(items(found["cell"], "the cell")):
            what = f"map {number} of the cell"
            one = fields(each, what, ["weights", "bias"])
            weights = self._matrix(one["weights"], what, None, entering)
            entering = len(weights.rows)
            cell.append((weights, self._matrix(one["bias"], f"the bias of {what}", entering, 1).column()))
        require(bool(cell) and entering == len(initial), "the cell does not end in a new state")
        readout = self._readout(found["readout"], len(initial))
        return Recurrent(vocabulary, positions, embedding, initial, tuple(cell), readout)

    def _transformer(self, structure: Any) -> Transformer:
        names = ["format", "slots", "vocabulary", "positions", "embedding", "features", "layers", "readout", "about"]
        found = fields(structure, "the structure", names, ["duals"])
        text(found["about"], "the description")
        places: dict[str, tuple[int, int]] = {}
        width = 0
        for entry in items(found["slots"], "the slots"):
            name, size = items(entry, "a slot", 2)
            require(text(name, "a slot's name") not in places, "two slots have one name")
            places[name] = (width, integer(size, "a slot's width", 0, LARGEST_SIZE))
            width += size
        vocabulary = integer(found["vocabulary"], "the vocabulary", 1, LARGEST_SIZE)
        positions = integer(found["positions"], "the number of positions", 1, LARGEST_SIZE)
        parts = tuple(
            self._part(part, f"part {number} of the embedding", places)
            for number, part in enumerate(items(found["embedding"], "the embedding"))
        )
        listed = items(found["layers"], "layers")
        require(len(listed) * width <= MOST_COORDINATES, f"there are too many layers, {len(listed)}, of width {width}")
        layers = tuple(self._layer(layer, f"layer {number}", width) for number, layer in enumerate(listed))
        named = enumerate(items(found["features"], "the features"))
        features = tuple(self._feature(each, f"feature {number}", places) for number, each in named)
        require(len({each.columns for each in features}) <= 1, "the features read cells of different sizes")
        duals: list[Dual] = []
        for number, each in enumerate(items(found.get("duals", []), "the parts that read sets")):
            from separatrix_kernel.sets import read_dual

            duals.append(read_dual(self, each, f"set {number}", places, max([0, *[one.columns for one in features]])))
        readout = self._readout(found["readout"], width)
        return Transformer(vocabulary, positions, width, parts, layers, readout, features=features, duals=tuple(duals))

    def _feature(self, value: Any, what: str, places: dict[str, tuple[int, int]]) -> Feature:
        found = fields(value, what, ["slot", "matrix"])
        start, size = places[text(found["slot"], f"the slot of {what}", places)]
        weights = fields(found["matrix"], what, ["numerators", "denominator"])
        denominator = integer(weights["denominator"], f"the denominator of {what}", 1, LARGEST_DENOMINATOR)
        (rows, columns), raw = self.tensors.take(weights["numerators"], "I64", 2, what)
        require(rows == size and columns > 0, f"{what} is {rows} x {columns}; that does not fit")
        lines = (raw[row * columns : row * columns + columns] for row in range(rows))
        sparse = tuple(tuple((c, w) for c, w in enumerate(line) if w) for line in lines)
        return Feature(start, sparse, columns, denominator)

    def _part(self, value: Any, what: str, places: dict[str, tuple[int, int]]) -> Part:
        found = fields(value, what, ["slot", "source", "tokens", "positions", "rule", "indices"])
        start, width = places[text(found["slot"], f"the slot of {what}", places)]
        by_token = text(found["source"], f"the source of {what}", ["token", "position"]) == "token"
        tokens, positions = (interval(found[name], f"the {name} of {what}") for name in ("tokens", "positions"))
        count, row, signs = self._rule(found["rule"], f"the rule of {what}", width)
        first, stop = tokens if by_token else positions
        indices = None
        if found["indices"] is None:
            require(stop - first <= count, f"{what} asks for rows beyond those of its rule")
        else:
            (listed,), indices = self.tensors.take(found["indices"], "I64", 1, f"the indices of {what}")
            require(listed >= stop - first, f"{what} has fewer indices than it needs")
            require(all(0 <= each < count for each in indices), f"{what} asks for rows beyond those of its rule")
        return Part(start, width, by_token, tokens, positions, indices, row, signs)

    def _rule(self, value: Any, what: str, width: int) -> tuple[int, Callable[[int], list[int]], Signs | None]:
        """How many rows there are, and the rows as raw numbers; also as words if they are sign vectors."""
        require(isinstance(value, dict), f"{what} is not an object")
        kind = text(value.get("kind"), f"the kind of {what}", ["signs", "table"])
        if kind == "table":
            rows, columns, raw = self._dense(fields(value, what, ["kind", "table"])["table"], what)
            require(columns == width, f"{what} has another width than its slot")
            return rows, lambda number: raw[number * width : number * width + width], None
        vectors = self.signs(fields(value, what, ["kind", "generator"])["generator"], what, width)
        signs = {"0": self.numbers.encode(1, 1), "1": self.numbers.encode(-1, 1)}

        def row(number: int) -> list[int]:
            """The signs of a vector, the first one first."""
            return [signs[digit] for digit in format(vectors.word(number), f"0{width}b")] if width else []

        return 1 << len(vectors.words), row, vectors

    def signs(self, name: Any, what: str, width: int) -> Signs:
        """Sign vectors from the bits of their generator."""
        (bits, columns), entries = self.tensors.take(name, "U8", 2, what)
        require(columns == width and max(entries, default=0) <= 1, f"{what} is not a generator of signs for its slot")
        lines = (entries[bit * width : bit * width + width] for bit in range(bits))
        return Signs(tuple(int("0" + "".join(map(str, line)), 2) for line in lines), width)

    def _layer(self, value: Any, what: str, width: int) -> Layer:
        require(isinstance(value, dict), f"{what} is not an object")
        kind = text(value.get("kind"), f"the kind of {what}")
        if kind == "feed-forward":
            found = fields(value, what, ["kind", "residual", *FEED_FORWARD])
            residual = truth(found["residual"], f"the residual of {what}")
            inner = self._matrix(found["inner"], f"{what}, inner", None, width)
            bias = self._matrix(found["inner_bias"], f"{what}, inner bias", len(inner.rows), 1)
            outer = self._matrix(found["outer"], f"{what}, outer", width, len(inner.rows))
            shift = self._matrix(found["outer_bias"], f"{what}, outer bias", width, 1)
            return FeedForward(inner, bias.column(), outer, shift.column(), residual)
        if kind not in ("attention", "third-order-attention", "graph-attention"):
            raise RefusedError(f"{what} is {kind[:40]!r}; the kernel covers attention and feed-forward")
        found = fields(value, what, ["kind", "residual", "heads"])
        residual = truth(found["residual"], f"the residual of {what}")
        named = [(head, f"head {n} of {what}") for n, head in enumerate(items(found["heads"], f"the heads of {what}"))]
        if kind == "attention":
            return Attention(tuple(self._head(head, name, width) for head, name in named), residual)
        if kind == "graph-attention":
            return GraphAttention(tuple(self._graph_head(head, name, width) for head, name in named), residual)
        return PairAttention(tuple(self._pair_head(head, name, width) for head, name in named), residual)

    def _graph_head(self, value: Any, what: str, width: int) -> GraphHead:
        found = fields(value, what, ["scoring", "scores", "dummy", *PAIR_HEAD[3:]])
        scoring = text(found["scoring"], f"the scoring of {what}", SCORINGS)
        both: list[list[int]] = []
        for name, size in (("scores", PATTERNS), ("dummy", 1)):
            rows, columns, raw = self._dense(found[name], f"{what}, {name}")
            require((rows, columns) == (1, size), f"{what}, {name}, is {rows} x {columns}; that does not fit")
            both.append(raw)
        return GraphHead(both[0], both[1][0], *self._pair_values(found, what, width), scoring)

    def _pair_values(self, found: dict[str, Any], what: str, width: int) -> tuple[tuple[Matrix, Matrix], Matrix]:
        first = self._matrix(found["first_value"], f"{what}, first value", None, width)
        second = self._matrix(found["second_value"], f"{what}, second value", len(first.rows), width)
        return (first, second), self._matrix(found["output"], f"{what}, output", width, len(first.rows))

    def _pair_head(self, value: Any, what: str, width: int) -> PairHead:
        found = fields(value, what, ["scoring", *PAIR_HEAD])
        scoring = text(found["scoring"], f"the scoring of {what}", SCORINGS)
        query = self._matrix(found["query"], f"{what}, query", None, width)
        size = len(query.rows)
        keys = [self._matrix(found[name], f"{what}, {name}", size, width) for name in PAIR_HEAD[1:3]]
        return PairHead(query, (keys[0], keys[1]), *self._pair_values(found, what, width), scoring)

    def _head(self, value: Any, what: str, width: int) -> Head:
        found = fields(value, what, ["scoring", "mask", *HEAD])
        scoring = text(found["scoring"], f"the scoring of {what}", SCORINGS)
        mask = text(found["mask"], f"the mask of {what}", ["none", "causal", "strict"])
        query = self._matrix(found["query"], f"{what}, query", None, width)
        key = self._matrix(found["key"], f"{what}, key", len(query.rows), width)
        values = self._matrix(found["value"], f"{what}, value", None, width)
        output = self._matrix(found["output"], f"{what}, output", width, len(values.rows))
        return Head(query, key, values, output, scoring, mask)
