"""Examples for anyone's own loop: the same for every number of workers, and the same again from files."""

import json
import pickle
from itertools import islice

import numpy
import pytest
from torch.utils.data import DataLoader, IterableDataset

import separatrix as sx
from separatrix.cli.app import run
from separatrix.tasks.example_files import BLOCK, CARD, IGNORED


def listed(stream, workers=0):
    loader = DataLoader(stream, batch_size=None, num_workers=workers)
    return [(tuple(each["input_ids"].tolist()), tuple(each["labels"].tolist())) for each in loader]


def test_workers_draw_the_same_examples_between_them():
    stream = sx.dataset("index", length=6, count=2 * BLOCK + 5)
    assert isinstance(stream, IterableDataset)
    alone = listed(stream)
    assert len(alone) == len(stream) == 2 * BLOCK + 5
    assert sorted(listed(stream, workers=2)) == sorted(alone)
    assert listed(pickle.loads(pickle.dumps(stream))) == alone == listed(stream)


def test_seed_and_split_choose_the_examples_and_the_count_only_their_number():
    def some(**asked):
        return listed(sx.dataset("dyck", length=12, **asked))

    assert some(count=BLOCK + 1)[:BLOCK] == some(count=BLOCK)
    assert some(count=9) != some(count=9, seed=1)
    assert some(count=9) != some(count=9, split="eval")
    endless = sx.dataset("dyck", length=12)
    first = [tuple(each["input_ids"].tolist()) for each in islice(endless, BLOCK)]
    assert first == [row for row, _ in some(count=BLOCK)]
    with pytest.raises(TypeError):
        len(endless)


@pytest.mark.parametrize("task", ["mqar", "sparse-averaging", "match3", "mqar:zoology"])
def test_labels_are_the_answers_of_the_task(task):
    stream = sx.dataset(task, length=16, split="eval", count=8)
    for example in stream:
        row, labels = example["input_ids"].tolist(), example["labels"].tolist()
        wanted = stream.task.solve(row, 16)
        empty = [IGNORED] * len(labels[0]) if isinstance(labels[0], list) else IGNORED
        assert labels == [empty if each is None else list(each) if isinstance(each, tuple) else each for each in wanted]


@pytest.mark.parametrize("kind", ["jsonl", "npz", "huggingface"])
def test_files_hold_the_same_examples_and_a_card(tmp_path, kind):
    stream = sx.dataset("mqar", length=8, count=70, seed=3)
    folder = tmp_path / "deeper" / "data"
    data = stream.export(folder, kind)
    if kind == "jsonl":
        rows = [json.loads(line) for line in data.read_text().splitlines()]
    elif kind == "npz":
        with numpy.load(data) as arrays:
            columns = {name: arrays[name].tolist() for name in arrays}
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    else:
        datasets = pytest.importorskip("datasets")
        rows = list(datasets.load_from_disk(str(folder))["train"])
    assert [(tuple(row["input_ids"]), tuple(row["labels"])) for row in rows] == listed(stream)
    card = (folder / CARD).read_text()
    assert stream.task.title in card and "seed 3" in card
    asked = next(line for line in card.splitlines() if line.startswith("sx.dataset("))
    assert listed(eval(asked)) == listed(stream)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["deeper"]


def test_what_cannot_be_exported_ends_in_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    finite = sx.dataset("mqar", length=8, count=3)
    for call in (
        lambda: sx.dataset("mqar", length=8).export(tmp_path / "data"),
        lambda: finite.export(tmp_path / "data", "csv"),
        lambda: finite.export(tmp_path / "file"),
        lambda: finite.export(tmp_path, "huggingface"),
        lambda: sx.dataset("mqar", length=8, count=0),
        lambda: sx.dataset("mqar", length=7),
        lambda: sx.dataset("mqar", length=8, seed=-1),
    ):
        with pytest.raises(sx.SeparatrixError):
            call()
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_verb_writes_the_same_files(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    command = ["sample", "mqar", "--length", "8", "--count", "70", "--seed", "3", "--split", "train", "--out", "a"]
    assert run([*command, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    sx.dataset("mqar", length=8, count=70, seed=3).export("b")
    assert (tmp_path / told["data"]).read_bytes() == (tmp_path / "b" / "train.jsonl").read_bytes()
    assert run(["sample", "mqar", "--length", "8", "--format", "npz"]) == 2
    assert "--out" in capsys.readouterr().err
