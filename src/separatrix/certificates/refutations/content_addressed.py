"""Inputs against a network for recall: one pair has one label and all others have another."""

from collections.abc import Iterator

import numpy

from separatrix.certificates.meanings.recalls import Recall, SymbolContents, recall_of
from separatrix.certificates.refutations import Search
from separatrix.certificates.verdict import Claim, Tokens
from separatrix.networks import Network
from separatrix.tasks import draws_from

ATTEMPTS = 32


def inputs(
    network: Network,
    claim: Claim,
    query: int,
    symbols: tuple[int, ...] = (),
    pair: int | None = None,
    label: int | None = None,
) -> Iterator[Tokens]:
    """Random inputs, rearranged so that suspected symbols are among the keys and the suspected pair is asked for."""
    del network
    recall, random = recall_of(claim.task, claim.length), numpy.random.default_rng(0)
    stream = draws_from(random)
    for attempt in range(ATTEMPTS):
        tokens = claim.task.sample(stream, 1, claim.length).inputs[0]
        target = pair if pair is not None and attempt % 4 < 2 else int(random.integers(recall.pairs))
        chosen = label if label is not None else attempt % recall.labels
        other = (chosen + 1 + attempt // 2 % (recall.labels - 1)) % recall.labels
        marks = numpy.full(recall.pairs, other)
        marks[target] = chosen
        if isinstance(recall.contents, SymbolContents):
            _arrange(tokens, recall, recall.contents.keys, query, symbols, target, random)
            tokens[1 : 2 * recall.pairs : 2] = recall.contents.keys + marks
        else:
            tokens[1 : 2 * recall.pairs : 2, 1] = marks
        yield tokens


def _arrange(
    tokens: Tokens,
    recall: Recall,
    symbols_in_all: int,
    query: int,
    symbols: tuple[int, ...],
    pair: int,
    random: numpy.random.Generator,
) -> None:
    """Put the suspected symbols among the keys, the first of them at the pair and at the query."""
    pairs = recall.pairs
    rest = [symbol for symbol in random.permutation(symbols_in_all).tolist() if symbol not in symbols]
    used = [*symbols, *rest][:pairs]
    keys = numpy.array([*used[:1], *random.permutation(numpy.array(used[1:], dtype=numpy.int64)).tolist()])
    keys[[0, pair]] = keys[[pair, 0]]
    tokens[0 : 2 * pairs : 2] = keys
    asked = random.permutation(keys)[: len(recall.queries)] if len(recall.queries) > 1 else keys[[pair]]
    place = recall.queries.index(query)
    where = int(numpy.nonzero(asked == keys[pair])[0][0])
    asked[[place, where]] = asked[[where, place]]
    tokens[list(recall.queries)] = asked


SEARCH = Search("content-addressed", inputs, also=("content-addressed-reals",))
