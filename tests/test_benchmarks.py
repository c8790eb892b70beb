"""The benchmarks measure what they say, and the pages that they fill have room for them."""

import time
from pathlib import Path

import numpy
import pytest
import torch
from tools.pages import fill_section

from benchmarks import models, peers
from benchmarks.__main__ import NAMES, OWN_PAGES, SECTIONS, module_of, section
from benchmarks.model_tables import json_lines, kept_records, read_records, tables
from benchmarks.model_tables import main as fill_tables
from benchmarks.models import Measurements, against_baselines, growth, kept_bytes, timed
from benchmarks.report import Report
from benchmarks.training import RATES, Watched, recorded_run, specification
from separatrix.models.naming import parse_spec
from separatrix.training.ensemble import Ensemble
from separatrix.training.grouping import Group
from tests.training.test_gpu_figures import run_without

ROOT = Path(__file__).resolve().parent.parent
PAGES = {"models": "docs/architectures.md", "training": "docs/training.md", "peers": "docs/training.md"}


@pytest.mark.parametrize("name", NAMES)
def test_every_benchmark_is_found_by_its_name(name):
    module = module_of(name)
    assert callable(module.reports)
    assert name not in OWN_PAGES or (module.TITLE and module.INTRO)
    assert name not in SECTIONS or module.ABOUT


@pytest.mark.parametrize("name", SECTIONS)
def test_a_section_has_its_place_and_is_replaced_as_a_whole(name, tmp_path):
    page = tmp_path / "page.md"
    page.write_text((ROOT / PAGES[name]).read_text(encoding="utf-8"), encoding="utf-8")
    report = Report("Numbers", "as measured", ("what", "ms"))
    report.add("this", 3)
    for _ in range(2):
        fill_section(page, f"benchmark {name}", section(name, "python -m benchmarks", [report]))
    text = page.read_text(encoding="utf-8")
    assert text.count("### Numbers") == text.count("| this | 3 |") == 1
    assert text.count(f"<!-- end of benchmark {name} -->") == 1
    (tmp_path / "none.md").write_text("# Nothing\n", encoding="utf-8")
    with pytest.raises(ValueError, match="has no section between"):
        fill_section(tmp_path / "none.md", f"benchmark {name}", "text")


def test_careful_peers_compute_what_the_trainer_computes():
    """With our weights they give our outputs, and one step of each moves its weights."""
    specs = [specification(peers.MODEL, rate, batch=4) for rate in RATES[:2]]
    ensemble = Ensemble(specs, torch.device("cpu"))
    tokens, read, _ = peers.Chunks(ensemble).next()
    ours = ensemble.model(tokens.expand(2, -1, -1), read=read[:, None].expand(2, -1, -1))[:, :, 0]
    theirs = torch.func.vmap(peers.logits, in_dims=(0, None, None))(peers.weights_of(ensemble.model), tokens, read)
    torch.testing.assert_close(theirs, ours, rtol=1e-4, atol=1e-5)
    for make in (peers.plain_torch, peers.by_vmap, peers.by_jax):
        steps = make(ensemble)
        assert steps is None or steps(2) is None


def test_the_peer_in_jax_computes_the_loss_of_the_one_in_torch():
    """JAX is in no extra, because no feature needs it; where it is installed, its row is held to the others."""
    jax = pytest.importorskip("jax")
    ensemble = Ensemble([specification(peers.MODEL, RATES[0], batch=4)], torch.device("cpu"))
    weights = {name: value[0] for name, value in peers.weights_of(ensemble.model).items()}
    batch = peers.Chunks(ensemble).next()
    theirs = peers.jax_loss(jax)(
        {name: value.detach().numpy() for name, value in weights.items()}, *map(numpy.asarray, batch)
    )
    assert float(theirs) == pytest.approx(peers.loss(weights, *batch).item(), rel=1e-5)


def test_slow_passes_are_timed_once_and_quick_ones_are_warmed_up(monkeypatch):
    calls: list[float] = []
    cpu = torch.device("cpu")
    timed(lambda: calls.append(0.0), cpu, 0.01)
    assert len(calls) >= 2
    calls.clear()

    def slow() -> None:
        calls.append(0.0)
        _work_for(0.2)

    monkeypatch.setitem(models.SLOW, "cpu", 0.1)
    assert timed(slow, cpu, 60.0) >= 0.2
    assert len(calls) == 1


def _work_for(seconds: float) -> None:
    started = time.process_time()
    while time.process_time() - started < seconds:
        pass


def test_what_is_kept_for_the_backward_pass_is_counted_once():
    x = torch.ones(1000, requires_grad=True)
    assert kept_bytes(lambda: (x * x).sum()) == 4000, "both factors are one storage"

    def loop() -> torch.Tensor:
        for _ in range(3):
            last = x.exp()
        return last

    assert kept_bytes(loop) == 4000, "what is let go before the end is not kept"


@pytest.fixture
def small(monkeypatch):
    """Sizes at which a row takes a moment."""
    monkeypatch.setitem(models.BUDGET, "cpu", 0.0)
    for name, value in (("WIDTH", 8), ("BATCH", 2)):
        monkeypatch.setattr(models, name, value)


CPU = torch.device("cpu")


def test_rows_are_kept_as_they_come_and_a_run_that_was_cut_off_goes_on(small, tmp_path):
    file = tmp_path / "rows.jsonl"
    against_baselines(["lstm", "third-order"], [4], [1, 3], Measurements(CPU, file))
    assert [record["table"] for record in read_records(file)] == ["machine", "baselines", "baselines"]
    whole = file.read_text(encoding="utf-8")
    file.write_text(whole[:-20], encoding="utf-8")
    again = Measurements(CPU, file)
    assert len(again.records) == 2 and file.read_text(encoding="utf-8").endswith("}\n")
    against_baselines(["lstm", "third-order"], [4], [1, 3], again)
    growth(["lstm"], [8, 16, 32], again)
    records = read_records(file)
    assert [record.get("model") for record in records] == [None, "LSTM-(1,8)", "ThirdTF-(1,8)", "LSTM-(1,16)"]
    assert records[0]["device"] == "cpu" and records[0]["versions"]["torch"]
    late = Measurements(CPU, file, until=0.0)
    against_baselines(["rnn", "lstm"], [4, 5], [1], late)
    assert late.left == 3 and read_records(file) == records, "nothing is begun after the limit"


def test_a_row_that_fails_is_told_and_the_others_are_measured(small, monkeypatch, capsys):
    found = Measurements(CPU)
    make = models.baseline_row

    def sometimes(spec, *more):
        if spec.layers[0] == "rnn":
            raise RuntimeError("no memory left")
        return make(spec, *more)

    monkeypatch.setattr(models, "baseline_row", sometimes)
    against_baselines(["rnn", "gru"], [4], [1], found)
    assert found.failed == 1 and len(found.records) == 2
    assert "RNN-(1,8) at N = 4 failed: RuntimeError: no memory left" in capsys.readouterr().err


def of_a_gpu(records):
    """The records as a GPU would give them."""
    machine = {**records[0], "device": "cuda", "name": "NVIDIA H200"}
    rows = json_lines(records[1:]).replace('"peak_bytes": null', '"peak_bytes": 3145728')
    return json_lines([machine]) + rows


def test_tables_of_two_machines_fill_one_section(small, monkeypatch, tmp_path):
    monkeypatch.setitem(models.LARGEST_BASELINES["cpu"], "third-order", 3)
    here = Measurements(CPU)
    against_baselines(["gru", "third-order"], [4], [1, 2], here)
    growth(["rnn"], [8, 32], here)
    page, file = tmp_path / "page.md", tmp_path / "here.jsonl"
    page.write_text("before\n\n<!-- benchmark models -->\n\n<!-- end of benchmark models -->\n", encoding="utf-8")
    file.write_text(json_lines(here.records), encoding="utf-8")
    assert fill_tables([str(file), "--write", str(page)]) == 0
    alone = page.read_text(encoding="utf-8")
    assert "(cuda)" not in alone and "N³ scores do not fit" in alone
    file.write_text(of_a_gpu(here.records) + '{"table": "grow', encoding="utf-8")
    assert fill_tables([str(file), "--write", str(page)]) == 0
    both = page.read_text(encoding="utf-8")
    assert both.count("(cpu)\n") == both.count("(cuda)\n") == 2 and "Measured on NVIDIA H200" in both
    assert "| 3.0 |" in both and both.startswith("before\n")
    assert [records[0]["device"] for records in kept_records(page=page)] == ["cpu", "cuda"]


def test_exponents_are_those_of_doubling_whatever_the_lengths():
    costs = [{"length": n, "milliseconds": 1e-3 * n**2, "kept_bytes": 5 * n, "peak_bytes": None} for n in (8, 32, 64)]
    machine = {"table": "machine", "device": "cpu", "name": "here", "versions": {}}
    (report,) = tables([machine, {"table": "growth", "model": "RNN-(1,16)", "batch": 1, "ours": costs}])
    assert report.rows[0][-2:] == ["2.00, 2.00", "1.00, 1.00"]


def test_one_read_is_measured_beside_every_position(small, monkeypatch):
    monkeypatch.setitem(models.ONE_READ_SIZES, "cpu", (8, 2))
    found = Measurements(CPU)
    models.one_read(["transformer", "retnet"], [8, 16], found)
    (record,) = found.records[1:]
    assert record["model"] == "RetNet-(1,8)", "only linear-time models"
    for one, every in zip(record["ours"], record["every"], strict=True):
        assert one["length"] == every["length"] and one["kept_bytes"] < every["kept_bytes"]
    (report,) = tables(found.records)
    assert report.title == "One position read against all (cpu)" and len(report.rows[0]) == len(report.headings) == 8


def test_a_file_that_is_none_of_ours_is_refused(tmp_path):
    file = tmp_path / "rows.jsonl"
    for content, words in (('{"a": 1}\n', "does not begin with a machine"), ("{\n{}\n", "line 1 of .* is not JSON")):
        file.write_text(content, encoding="utf-8")
        with pytest.raises(ValueError, match=words):
            read_records(file)


def test_the_models_are_measured_with_what_a_gpu_machine_has(tmp_path):
    file = tmp_path / "rows.jsonl"
    run_without(
        "benchmarks.models", "--device", "cpu", "--names", "RNN", "--lengths", "4", "--members", "1",
        "--growth-lengths", "8,16", "--one-read-lengths", "8,16", "--json", str(file),
    )  # fmt: skip
    assert [record["table"] for record in read_records(file)] == ["machine", "baselines", "growth", "one-read"]


def test_steps_and_evaluations_of_a_recorded_run_are_told_apart(tmp_path):
    spec = parse_spec("TF-(1,8)")
    few = {"steps": 4, "evaluate_every": 2, "probe_examples": 8, "evaluation_examples": 8, "goal": 0.0}
    watched, before = Watched(), time.process_time()
    with watched():
        recorded_run(Group(tuple(specification(spec, rate, **few) for rate in RATES[:2])), tmp_path)
    whole = time.process_time() - before
    assert watched.evaluation > 0
    assert watched.training > 0
    assert watched.training + watched.evaluation < whole
    assert (tmp_path / "runs.sqlite").exists()
