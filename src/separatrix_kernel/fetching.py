"""Recall's second layer: a query whose vector names a pair fetches that pair's label.

RULE (fetch). Let a box hold a query's vector after the first layer if it asks for pair i, whose label is at place
2i + 1. The second layer's keys and values must read coordinates that no layer before it changes: there every vector is
still its embedding, and the rule of weights fixed by positions (``attention``) applies, with the query's box in the
place of its embedding: it must be a single point where the query reads it. The answer must be the label at that place,
whichever it is.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from separatrix_kernel.attention import Fixed, FixedWeights, Seen, written
from separatrix_kernel.boxes import Box, is_idle
from separatrix_kernel.network import Attention, Head, Matrix, Row
from separatrix_kernel.reading import require

if TYPE_CHECKING:
    from separatrix_kernel.layers import Layers


class Fetching:
    """The second layer of recall. ``labels`` are the tokens of labels, which are 0, 1, … as answers."""

    def __init__(self, layers: "Layers", labels: range) -> None:
        self.layers, self.labels, self.numbers = layers, labels, layers.numbers
        network, second = layers.network, layers.second
        require(second < len(network.layers), "recall needs a second attention layer that fetches labels")
        layers.state(0, "match")
        layers.state(second, "fetch")
        fetching = network.layers[second]
        assert isinstance(fetching, Attention)
        after, acting = layers.live[second + 1], list[tuple[Head, list[Row]]]()
        for head in fetching.heads:
            rows = [head.output.rows[place] for place in after]
            used = {entry for row in rows for entry, _ in row}
            if used:
                acting.append((replace(head, value=_only(head.value, used)), rows))
        columns = sorted({column for head, _ in acting for column in head.key.reads | head.value.reads})
        idle = all(is_idle(layer, columns) for layer in network.layers[:second])
        require(idle, "the second layer's keys or values read what an earlier layer writes")
        # Keys and values are those of the embedding. What matters from here on is what the query reads.
        asking = (replace(head, key=_only(head.key, set()), value=_only(head.value, set())) for head, _ in acting)
        path = (*network.layers[:second], replace(fetching, heads=tuple(asking)), *network.layers[second + 1 :])
        layers.follow(replace(network, layers=path))
        place = {column: number for number, column in enumerate(layers.live[second])}
        self.heads: list[tuple[FixedWeights, Matrix, list[Row]]] = []
        for number, (head, rows) in enumerate(acting):
            query = Matrix(tuple(tuple((place[c], w) for c, w in row) for row in head.query.rows), len(place))
            fixed = FixedWeights(head, network, layers.inputs, self.numbers, f"layer {second}, head {number}")
            self.heads.append((fixed, query, rows))
        self.own = [place[each] if fetching.residual else -1 for each in after]

    def forget(self) -> None:
        """Make room: queries for another pair see something else."""
        for head, _, _ in self.heads:
            head.forget()

    def fetch(self, position: int, pair: int, box: Box) -> None:
        """The label of a pair is answered by a query with this box."""
        averages: list[tuple[FixedWeights, list[Row], Seen, tuple[Fixed, ...]]] = []
        for head, query, rows in self.heads:
            sure = all(box[column][0] == box[column][1] for column in query.reads)
            require(sure, f"what the query at position {position + 1} finds of pair {pair + 1} is not known exactly")
            asked = query.apply([low for low, _ in box], self.numbers)
            seen, fixed = head.fetch(asked, position, (2 * pair + 1,), None)
            averages.append((head, rows, seen, fixed))
        own = tuple(box[each] if each >= 0 else (0, 0) for each in self.own)
        for label in self.labels:
            heads = [(rows, head.average(seen, fixed, (label,))) for head, rows, seen, fixed in averages]
            after = written(own, heads, self.numbers)
            answer = self.layers.readout(
                self.layers.through(after, self.layers.second + 1, len(self.layers.network.layers))
            )
            which = f"the query at position {position + 1} for pair {pair + 1} with token {label}"
            require(answer == label - self.labels.start, f"{which} is answered {answer}")


def _only(matrix: Matrix, used: set[int]) -> Matrix:
    """A matrix with some rows, the others 0."""
    rows = (row if number in used else () for number, row in enumerate(matrix.rows))
    return Matrix(tuple(rows), matrix.columns)
