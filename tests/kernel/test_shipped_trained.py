"""Trained models in the package: what their certificates claim, and some of it proved again."""

import json
from fractions import Fraction
from pathlib import Path

import numpy
import pytest
import torch

from separatrix.models.attack import Attack
from separatrix.models.certify_words import first_failing, words_to_try
from separatrix.models.recurrent_files import recurrent_from
from separatrix.models.trained_files import model_from
from separatrix.shipped import FOLDER
from separatrix.tasks import draws_from, tasks
from separatrix.tasks.automata import automaton_of
from separatrix_kernel.lookup import Lookup, proved
from separatrix_kernel.thresholds import check_counts, read_counting
from separatrix_kernel.trained import TRAINED_FILE, WEIGHTS_FILE, check_trained, check_trained_folder, read_claim
from separatrix_kernel.transformer import Weights
from separatrix_kernel.two_layers import check_two_layers, groups_of, read_lookup
from separatrix_kernel.words import WordsAccepted, read_automaton

PLACE: Path = FOLDER / "trained" / "index-lookup-100"
ALPHABET, LENGTH = 64, 100
LOOKUPS = sorted(int(path.name.rpartition("-")[2]) for path in (FOLDER / "trained").glob("index-lookup-*"))


@pytest.fixture(scope="module")
def weights():
    return (PLACE / WEIGHTS_FILE).read_bytes()


@pytest.mark.parametrize("length", LOOKUPS)
def test_every_pair_is_claimed_of_these_very_weights(length):
    place = FOLDER / "trained" / f"index-lookup-{length}"
    claim = read_claim(json.loads((place / TRAINED_FILE).read_text()))
    pairs = {(p, c) for p, c, _ in claim["certified"]}
    assert pairs == {(p, c) for p in range(length) for c in range(ALPHABET)}
    assert (claim["alphabet"], claim["length"], claim["open"], claim["counterexamples"]) == (ALPHABET, length, [], [])
    # The hash is checked before any proof is.
    nothing = check_trained({**claim, "certified": []}, (place / WEIGHTS_FILE).read_bytes())
    assert nothing.sha256 == claim["sha256"]


def test_some_pairs_are_proved_again(weights):
    rows = json.loads((PLACE / TRAINED_FILE).read_text())["certified"]
    model = Lookup(Weights(weights), ALPHABET, LENGTH)
    for p, c, proof in rows[0:64:42] + rows[-64::42]:
        proved(model, p, c, proof)


def test_majority_is_right_on_all_inputs():
    """Slices by one box are proved again, those with splits claimed; together they are all inputs."""
    place = FOLDER / "trained" / "majority-31"
    claim, data = json.loads((place / TRAINED_FILE).read_text()), (place / WEIGHTS_FILE).read_bytes()
    assert read_counting(claim["specification"]) == read_counting(tasks()["majority"].specification(31))
    slices = {(token, count) for token, low, high, _ in claim["certified"] for count in range(low, high + 1)}
    assert slices == {(token, count) for token in (0, 1) for count in range(32)}
    assert (claim["open"], claim["counterexamples"]) == ([], [])
    quick = [row for row in claim["certified"] if row[3] == ["leaf"]][::6]
    assert check_counts({**claim, "certified": quick}, data).share > 0
    search = Attack(model_from(data), tasks()["majority"], 31)
    generator = numpy.random.default_rng(0)
    near = numpy.argsort(generator.random((512, 31)), axis=1) < generator.integers(15, 17, (512, 1))
    inputs = numpy.concatenate([numpy.full((512, 1), 2), near.astype(numpy.int64)], axis=1)
    assert (search.margins(inputs) > 0).all()


def test_equality_is_right_on_all_inputs():
    """All of it is proved again, and torch agrees on every input."""
    place, task = FOLDER / "trained" / "equality-8", tasks()["equality"]
    claim, data = json.loads((place / TRAINED_FILE).read_text()), (place / WEIGHTS_FILE).read_bytes()
    assert read_counting(claim["specification"]) == read_counting(task.specification(8))
    accepted = check_counts(claim, data)
    assert (accepted.share, accepted.inputs, accepted.counterexamples) == (1, 2**8, ())
    search = Attack(model_from(data), task, 8)
    assert (search.margins(numpy.array([*accepted.specification[0].all()])) > 0).all()


def test_recall_of_two_layers_is_right_on_all_inputs():
    """Every case is claimed, and the cases of two keys are proved again; torch agrees on inputs of the task."""
    place = FOLDER / "trained" / "recall-8"
    claim, data = json.loads((place / TRAINED_FILE).read_text()), (place / WEIGHTS_FILE).read_bytes()
    task = tasks()["associative-recall"]
    specification = read_lookup(task.specification(8))
    assert read_lookup(claim["specification"]) == specification
    cases = {(p, tuple(held)) for p, held, _ in claim["certified"]}
    assert cases == set(groups_of(specification).every()) and len(cases) == 8 * 16 * 2
    assert (claim["open"], claim["counterexamples"]) == ([], [])
    some = [row for row in claim["certified"] if row[1][0] in (3, 11)]
    assert check_two_layers({**claim, "certified": some}, data).share == Fraction(1, 8)
    search = Attack(model_from(data), task, 8)
    assert (search.margins(numpy.asarray(task.sample(draws_from(0), 512, 8, "eval").inputs)) > 0).all()


def test_torch_agrees_on_texts_of_repeated_symbols(weights):
    task = tasks()["index-lookup"]
    search = Attack(model_from(weights), task, LENGTH)
    generator = numpy.random.default_rng(0)
    texts = numpy.repeat(generator.integers(0, ALPHABET, (48, 1)), LENGTH, axis=1)
    asked = generator.integers(0, LENGTH, 48)
    texts[numpy.arange(48), asked] = generator.integers(0, ALPHABET, 48)
    inputs = numpy.concatenate([texts, ALPHABET + asked[:, None]], axis=1)
    assert (search.margins(inputs) > 0).all()


@pytest.mark.parametrize(
    ("name", "cell", "width", "bits", "task"),
    [
        ("dyck-rnn", "rnn", 16, 0, {}),
        ("dyck-gru-3-bits", "gru", 16, 3, {}),
        ("dyck-lstm-3-bits", "lstm", 16, 3, {}),
        ("dyck-lstm-64", "lstm", 64, 0, {}),
        ("dyck-mamba-2-bits", "mamba", 8, 2, {"types": 1, "depth": 1}),
    ],
)
def test_recurrent_networks_are_right_after_every_word(name, cell, width, bits, task):
    accepted = check_trained_folder(FOLDER / "trained" / name)
    assert isinstance(accepted, WordsAccepted)
    assert (accepted.cell, accepted.width, accepted.bits) == (cell, width, bits)
    assert accepted.automaton == read_automaton(automaton_of(tasks()["dyck"].with_parameters(**task)))
    model = recurrent_from((FOLDER / "trained" / name / WEIGHTS_FILE).read_bytes())
    assert first_failing(model, accepted.automaton, words_to_try(accepted.automaton, seed=1), bits) is None


@pytest.mark.parametrize("name", ["dyck-rnn", "dyck-lstm-64"])
def test_torchs_own_layer_is_right_on_long_words(name):
    """Words far longer than the ten brackets of training: balanced ones, and the same with one bracket changed."""
    task, length = tasks()["dyck"], 400
    model = recurrent_from((FOLDER / "trained" / name / WEIGHTS_FILE).read_bytes())
    examples = task.sample(draws_from(0), 64, length)
    inputs = torch.from_numpy(numpy.asarray(examples.inputs))
    answers = model(inputs[None])[0, :, -1].argmax(dim=-1)
    right = [task.solve(row, length)[-1] for row in inputs.tolist()]
    assert answers.tolist() == right
    assert set(right) == {0, 1}
