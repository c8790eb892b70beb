"""The benchmarks measure what they say, and the pages that they fill have room for them."""

import time
from pathlib import Path

import pytest
import torch
from tools.pages import fill_section

from benchmarks import models
from benchmarks.__main__ import NAMES, OWN_PAGES, SECTIONS, module_of, section
from benchmarks.models import kept_bytes, timed
from benchmarks.report import Report
from benchmarks.training import RATES, Watched, recorded_run, specification
from separatrix.models.naming import parse_spec
from separatrix.training.group import Group

ROOT = Path(__file__).resolve().parent.parent
PAGES = {"models": "docs/architectures.md", "training": "docs/training.md"}


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


def test_slow_passes_are_timed_once_and_quick_ones_are_warmed_up(monkeypatch):
    calls: list[float] = []
    cpu = torch.device("cpu")
    timed(lambda: calls.append(0.0), cpu, 0.01)
    assert len(calls) >= 2
    calls.clear()

    def slow() -> None:
        calls.append(0.0)
        _work_for(0.2)

    monkeypatch.setattr(models, "SLOW", 0.1)
    assert timed(slow, cpu, 60.0) >= 0.2
    assert len(calls) == 1


def _work_for(seconds: float) -> None:
    started = time.process_time()
    while time.process_time() - started < seconds:
        pass


def test_what_is_kept_for_the_backward_pass_is_counted_once():
    x = torch.ones(1000, requires_grad=True)
    assert kept_bytes(lambda: (x * x).sum()) == 4000, "both factors are one storage"


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
