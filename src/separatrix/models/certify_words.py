"""Certify a trained recurrent network for words of every length: boxes that no token leaves, or a word that fails.

A word that fails was run in torch; boxes have been accepted by the kernel (``separatrix_kernel.words``) before they are
written next to the weights. With ``bits`` the network with rounded states is meant, which is another one.
"""

import hashlib
import itertools
import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy
import torch
from torch import Tensor

from separatrix.errors import SeparatrixError
from separatrix.files import write_atomically
from separatrix.models.certify_parts import refused
from separatrix.models.recurrent_files import answers_to_words, recurrent_file
from separatrix.models.sequence_model import SequenceModel
from separatrix.progress import report
from separatrix.provers import UNIT, Found, Outcome, SelectiveProver, WordsProver
from separatrix.tasks import Task, needed_automaton, task_label
from separatrix_kernel.cells import Cell
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.selective import Selective
from separatrix_kernel.specification import Automaton
from separatrix_kernel.trained import TRAINED_FILE, WEIGHTS_FILE, WORDS_FORMAT
from separatrix_kernel.words import MOST_BITS, check_words, network_of, read_automaton

WORDS_TRIED = 1 << 12
WALKS, WALK_LENGTH = 1024, 32


@dataclass(frozen=True)
class WordsVerdict:
    """What is known about a network and an automaton."""

    outcome: Outcome
    bits: int
    states: int
    """Of the automaton."""
    boxes: int = 0
    failing: tuple[int, ...] | None = None
    empty: bool = True
    """Whether the network answers after the empty word."""


def certify_words(model: SequenceModel, task: Task, folder: Path, bits: int = 0, most: int = 1 << 15) -> WordsVerdict:
    """Decide a recurrent model for all words, and write weights and certificate into a folder if it is right."""
    plain = needed_automaton(task)
    if not 0 <= bits <= MOST_BITS:
        raise SeparatrixError(f"--bits {bits} is out of range; choose 1 to {MOST_BITS}, or leave it out")
    data, automaton = recurrent_file(model), read_automaton(plain)
    with refused():
        network = network_of(data)
    verdict = partial(WordsVerdict, bits=bits, states=len(automaton.steps), empty=network.answers_before)
    failing = first_failing(model, automaton, words_to_try(automaton), bits)
    if failing is not None:
        return verdict(Outcome.COUNTEREXAMPLE, failing=failing)
    found = searched(network, automaton, bits, most)
    if found.failing is not None:
        replayed = first_failing(model, automaton, torch.tensor([found.failing], dtype=torch.int64), bits)
        if replayed is not None:
            return verdict(Outcome.COUNTEREXAMPLE, failing=replayed)
    if found.boxes is None:
        return verdict(Outcome.OPEN)
    content = {
        "format": WORDS_FORMAT,
        "task": task_label(task),
        "sha256": hashlib.sha256(data).hexdigest(),
        "bits": bits,
        "unit": bits or UNIT,
        "automaton": plain,
        "boxes": found.boxes,
    }
    if found.last is not None:
        content["last"] = found.last
    try:
        check_words(content, data, lambda done, total: report("checking boxes", done, total))
    except RefusedError:
        return verdict(Outcome.OPEN)
    write_atomically(folder / WEIGHTS_FILE, data)
    write_atomically(folder / TRAINED_FILE, json.dumps(content, separators=(",", ":")) + "\n")
    return verdict(Outcome.CERTIFIED, boxes=len(found.boxes))


def searched(network: Cell | Selective, automaton: Automaton, bits: int, most: int) -> Found:
    """Return what the prover of this network finds."""
    if isinstance(network, Selective):
        return SelectiveProver(network, automaton, most).search(bits)
    prover = WordsProver(network, automaton, most)
    return prover.rounded(bits) if bits else prover.as_it_is()


def words_to_try(automaton: Automaton, seed: int = 0) -> Tensor:
    """Return all short words, each followed by a walk that avoids states of no return, but for one token in sixteen."""
    tokens = len(automaton.steps[0])
    length = 1
    while tokens ** (length + 1) <= WORDS_TRIED and length < 12:
        length += 1
    short = numpy.array(list(itertools.product(range(tokens), repeat=length)), dtype=numpy.int64)
    generator = numpy.random.default_rng(seed)
    steps = numpy.array(automaton.steps, dtype=numpy.int64)
    final = (steps == numpy.arange(len(steps))[:, None]).all(axis=1)
    living = [[t for t in range(tokens) if not final[row[t]]] or list(range(tokens)) for row in steps]
    table = numpy.array([[kept[i % len(kept)] for i in range(12 * tokens)] for kept in living])
    rows = [*range(len(short)), *([0] * WALKS)]
    words = numpy.zeros((len(rows), length + WALK_LENGTH), dtype=numpy.int64)
    state = numpy.full(len(rows), automaton.start)
    for place in range(words.shape[1]):
        choice = generator.integers(0, table.shape[1], len(rows))
        token = numpy.where(generator.random(len(rows)) < 1 / 16, choice % tokens, table[state, choice])
        if place < length:
            token[: len(short)] = short[:, place]
        words[:, place] = token
        state = steps[state, token]
    return torch.from_numpy(words)


def first_failing(model: SequenceModel, automaton: Automaton, words: Tensor, bits: int) -> tuple[int, ...] | None:
    """Return the shortest prefix of these words after which the model's answer in torch is wrong."""
    steps, answers = torch.tensor(automaton.steps), torch.tensor(automaton.answers)
    state = torch.full((len(words),), automaton.start)
    right = [answers[state]]
    for token in words.T:
        state = steps[state, token]
        right.append(answers[state])
    found = answers_to_words(model, words, bits)
    first = len(right) - found.shape[1]
    wrong = found != torch.stack(right, dim=1)[:, first:]
    if not bool(wrong.any()):
        return None
    place = int(wrong.any(dim=0).nonzero()[0, 0])
    return tuple(words[int(wrong[:, place].nonzero()[0, 0]), : place + first].tolist())
