"""Figures from records: every cell's number, what is missing or far off, and that the pictures hold it all."""

import json
import sys

import numpy
import pytest
import torch

from separatrix.errors import SeparatrixError
from separatrix.models.attention_maps import attention_weights
from separatrix.models.naming import parse_spec
from separatrix.models.sequence_model import build_model
from separatrix.site.html import piece
from separatrix.site.training_figures import attention_figure, curve_figure, experiment_figure, table_panels
from separatrix.site.training_page import figure_page, headings
from separatrix.training.events import Point, Result
from separatrix.training.experiments.attention_data import attention_maps, best_run
from separatrix.training.experiments.catalog import experiments
from separatrix.training.experiments.figure_data import (
    best_scale,
    experiment_of,
    gather,
    paper_figures,
    paper_table,
    plain_model,
)
from separatrix.training.grouping import Group
from separatrix.training.record import Record
from separatrix.training.records import Records
from separatrix.training.sweep import Cell, Sweep
from separatrix.training.sweep_file import read_sweep
from separatrix.training.undertrained import undertrained
from tests.cli.conftest import call  # noqa: F401 - the fixture
from tests.training.cases import drive, tiny

WHERE = {"device_name": "a processor", "group": "g", "members": 3}


def recorded(store, name, scale, accuracy, *, left_out=(), changes=None):
    """Write made-up results of an experiment's runs: ``accuracy`` of (row, column, place in the grid)."""
    experiment = experiments()[name]
    points = []
    with Records(store) as records:
        for cell in experiment.sweep(scale).cells():
            key = (cell.at(experiment.rows), cell.at(experiment.columns))
            if key in left_out:
                continue
            runs = [run.with_changes(**(changes or {})) for run in cell.runs]
            results = []
            for place, run in enumerate(runs):
                reached = accuracy(*key, place)
                points += [Point(run.name, step, 1.0, 0.1, reached * step / 500) for step in (250, 500)]
                results.append(Result(run.name, "goal" if reached > 0.998 else "steps", 500, reached, 0.5, 30.0, 1000))
            records.add_results(runs, results, {**WHERE, "group": f"{key}"}, None)
        records.add_points(points)
    return experiment


@pytest.fixture
def store(tmp_path):
    return tmp_path / "runs.sqlite"


def test_the_papers_tables_are_whole():
    for experiment in experiments().values():
        if experiment.paper is not None:
            table = paper_table(experiment.paper)
            assert len(table.accuracy) == len(table.rows) * len(table.columns)
            sweep = experiment.sweep("paper")
            assert {plain_model(name) for name in sweep.axes["architecture"]} == set(table.rows)
            assert tuple(map(str, sweep.axes["length"])) == table.columns
    assert paper_figures()["source"].startswith("BHBK24")


def test_a_run_of_more_steps_than_the_scale_has_is_shown_with_its_steps(store):
    recorded(store, "figure3", "reduced", lambda *_: 0.1)
    experiment = recorded(store, "figure3", "reduced", lambda *_: 0.6, changes={"steps": 60_000})
    with Records(store) as records:
        data = gather(experiment, "reduced", records)
    cell = data.cells["Mamba-(2,64)", "50"]
    assert cell.accuracy == pytest.approx(60.0)
    assert cell.record is not None and cell.record.spec.steps == 60_000
    assert not cell.of_this_scale


def test_a_cell_is_the_best_of_its_grid_beside_the_papers_number(store):
    experiment = recorded(
        store, "figure2-left", "reduced", lambda row, length, place: 0.9 - 0.1 * place if length < 400 else 0.05,
        left_out=[("TF-(1,64)", 50)],
    )  # fmt: skip
    with Records(store) as records:
        data = gather(experiment, "reduced", records)
        assert best_scale(experiment, records) == "reduced"
    cell = data.cells["Mamba-(6,256)", "200"]
    assert cell.accuracy == pytest.approx(90.0)
    assert cell.paper == 28.9
    assert cell.deviation == pytest.approx(61.1)
    assert cell.runs == 5
    assert cell.of_this_scale
    missing = data.cells["TF-(1,64)", "50"]
    assert missing.record is None
    assert missing.deviation is None
    text = " ".join(data.remarks)
    assert "29 of 30 cells" in text
    assert "No record: TF-(1,64) at 50. Train with: separatrix sweep figure2-left --scale reduced" in text
    assert "29 cells did not reach the goal with 20,000 steps; the paper allows 250,000" in text
    assert "Mamba-(6,256) at 200 (+61.1)" in text
    # 29 groups of 30 s each, not 145 runs of 30 s.
    assert "870 s on a processor" in text
    assert json.loads(json.dumps(data.as_dict()))["scale"] == "reduced"


def test_models_that_score_what_a_constant_answer_does_are_named(store):
    """Index lookup has 64 symbols: 1.6 %; equality 50 %; and nobody gets whole strings right by one symbol."""

    def telling(name: str, accuracy: float) -> str:
        file = store.with_name(f"{name}-{accuracy}.sqlite")
        experiment = recorded(file, name, "reduced", lambda row, *_: 0.9 if row.startswith("TF") else accuracy)
        with Records(file) as records:
            return " ".join(gather(experiment, "reduced", records).remarks)

    for name, nothing, something in (
        ("figure2-left", 0.02, 0.05), ("figure4-random", 0.51, 0.6), ("figure4-ncp", 0.0, 0.01),
    ):  # fmt: skip
        said = telling(name, nothing).partition("majority baseline (within 3 standard errors): ")[2]
        assert said.startswith("LSTM"), name
        assert "TF-(1" not in said.partition(". ")[0], name
        assert "TF-(2,64,heads" not in said.partition(". ")[0], name
        assert "majority baseline" not in telling(name, something), name


def test_runs_of_other_settings_count_within_the_budget_of_the_scale(store):
    """Fewer steps, more heads: shown at the paper's scale and said; more steps than the scale allows: not shown."""
    experiment = recorded(store, "figure4-random", "reduced", lambda *_: 0.999, changes={"seed": 5})
    with Records(store) as records:
        paper, quick = gather(experiment, "paper", records), gather(experiment, "quick", records)
    assert paper.recorded == 30
    assert not any(cell.of_this_scale for cell in paper.cells.values())
    assert paper.cells["TF-(2,256,heads=4)", "400"].paper == 99.9
    assert quick.recorded == 0
    assert "LSTM-(2,256) at 400 (+50.2)" in " ".join(paper.remarks)


def test_the_scale_is_that_of_the_most_cells_also_when_runs_were_cut_short(store):
    experiment = recorded(store, "figure3", "reduced", lambda *_: 0.5, changes={"steps": 1500})
    with Records(store) as records:
        assert best_scale(experiment, records) == "reduced"
        assert best_scale(experiments()["figure4-ncp"], records) == "quick"


def test_a_complete_small_scale_is_preferred_to_short_runs_on_a_larger_grid(store):
    """Nine of the paper's twelve cells have runs of few steps; all six of the reduced scale have theirs."""
    reduced = recorded(store, "beyond-widths", "reduced", lambda *_: 0.5)
    unrecorded = [(row, length) for row in ("Mamba-(2,1024)", "Mamba-(2,2048)") for length in (50, 100, 200)]
    recorded(
        store, "beyond-widths", "paper", lambda *_: 0.5, changes={"steps": 20000},
        left_out=[*unrecorded, ("Mamba-(2,2048)", 20), ("Mamba-(2,2048)", 75), ("Mamba-(2,2048)", 400)],
    )  # fmt: skip
    with Records(store) as records:
        assert gather(reduced, "paper", records).recorded == 9
        assert best_scale(reduced, records) == "reduced"
    recorded(store, "beyond-widths", "paper", lambda *_: 0.5)
    with Records(store) as records:
        assert best_scale(reduced, records) == "paper", "all of it with the paper's steps"


def test_far_cells_say_whether_they_were_still_learning(store):
    def accuracy(row, length, place):
        return 0.5 if row == "Mamba-(2,32)" else 0.0

    experiment = recorded(store, "figure3", "reduced", accuracy)
    with Records(store) as records:
        for cell in experiment.sweep("reduced").cells():
            records.add_points(
                Point(run.name, step, 1.0, 0.1, accuracy(cell.at("architecture"), 0, 0) * step / 1000)
                for run in cell.runs
                for step in range(525, 1001, 25)
            )
        data = gather(experiment, "reduced", records)
    text = " ".join(data.remarks)
    assert "still rising at the end of training: Mamba-(2,32) at 20, 50, 75, 100, 200, 400. More" in text
    assert "level at the end of training: Mamba-(2,64) at 20, 50, 75, 100, 200; Mamba-(2,256) at 20," in text


def test_a_model_of_other_heads_is_the_papers_row_and_other_options_are_not(store):
    experiment = experiments()["figure2-left"]
    base = next(cell for cell in experiment.sweep("paper").cells() if cell.at("architecture") == "TF-(1,64)").runs[0]
    with Records(store) as records:
        for model, accuracy in (("TF-(1,64,heads=4)", 0.5), ("TF-(1,64,positions=none)", 0.9)):
            run = base.with_changes(architecture=model)
            records.add_results([run], [Result(run.name, "steps", 10, accuracy, 1.0, 1.0, 1)], WHERE, None)
        data = gather(experiment, "paper", records)
    assert data.cells["TF-(1,64)", str(base.length)].accuracy == 50.0


def test_cells_in_training_are_told_from_cells_without_a_record(store):
    experiment = experiments()["figure2-curves"]
    first, *_ = experiment.sweep("quick").cells()
    with Records(store) as records:
        records.add_points([Point(first.runs[1].name, 150, 1.0, 0.1, 0.2)])
        data = gather(experiment, "quick", records)
    cell = data.cells[first.at("architecture"), "20"]
    assert cell.unfinished_step == 150
    assert "(in training, step 150)" in " ".join(data.remarks)


def test_runs_given_up_for_others_that_still_train_say_nothing_of_their_cell(store):
    experiment = experiments()["figure2-left"]
    first, *_ = experiment.sweep("reduced").cells()
    key = (str(first.at("architecture")), str(first.at("length")))
    with Records(store) as records:
        records.add_points([Point(first.runs[0].name, 5000, 1.0, 0.1, 0.3)])
        given_up = Result(first.runs[0].name, "pruned", 5000, 0.3, 1.0, 1.0, 1)
        records.add_results([first.runs[0]], [given_up], WHERE, None)
        before = gather(experiment, "reduced", records).cells[key]
        ended = Result(first.runs[1].name, "steps", 20000, 0.2, 1.0, 1.0, 1)
        records.add_results([first.runs[1]], [ended], WHERE, None)
        after = gather(experiment, "reduced", records).cells[key]
    assert (before.record, before.unfinished_step) == (None, 5000)
    assert after.accuracy == pytest.approx(30.0)


@pytest.mark.parametrize(
    ("name", "scale", "panels"),
    [
        ("figure2-left", "quick", ["ours, scale quick", "paper"]),
        ("figure2-left", "reduced", ["ours, scale reduced", "paper", "ours − paper"]),
        ("figure3", "reduced", ["ours, scale reduced", "paper", "ours − paper"]),
        ("figure2-dyck", "quick", ["ours, scale quick"]),
        ("figure2-curves", "quick", []),
    ],
)
def test_panels_are_those_of_the_paper(store, name, scale, panels):
    experiment = recorded(store, name, scale, lambda row, length, place: 1 / (1 + len(row) % 5 + length / 50))
    with Records(store) as records:
        data = gather(experiment, scale, records)
    assert [panel[0] for panel in table_panels(data)] == panels
    assert bool(data.curves) == experiment.curves


@pytest.mark.parametrize(("name", "scale", "plots"), [("figure3", "quick", 3), ("figure2-curves", "quick", 1)])
def test_figures_and_pages_are_drawn(store, name, scale, plots):
    experiment = recorded(store, name, scale, lambda row, length, place: 0.5)
    with Records(store) as records:
        data = gather(experiment, scale, records)
    figure = experiment_figure(data)
    assert figure.png.startswith(b"\x89PNG")
    assert figure.svg.startswith("<svg")
    page = figure_page(data, None, "made by a test")
    assert page.count('Plotly.newPlot("plot') == plots
    assert "src=" not in page.split("<script>", 1)[0]
    for row in data.rows:
        assert row in page


def test_nothing_in_a_page_ends_its_script_early(store):
    recorded(store, "figure2-curves", "quick", lambda *_: 0.5)
    with Records(store) as records:
        data = gather(experiments()["figure2-curves"], "quick", records)
    curves = {"</script><b>": next(iter(data.curves.values()))}
    page = figure_page(type(data)(**{**vars(data), "curves": curves}), None, "x")
    assert "</script><b>" not in page


def test_a_curve_of_one_point_is_drawn():
    assert curve_figure("one", [("run", [Point("r", 10, 1.0, 0.1, 0.2)])]).png.startswith(b"\x89PNG")


def test_a_sweep_of_ones_own_is_a_figure_too(call, tmp_path, monkeypatch):  # noqa: F811
    """Three axes: architectures and batch sizes make the rows, lengths the columns."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(
        "title = 'Mine'\n[base]\ntask = 'index-lookup'\nsteps = 20\nevaluate_every = 10\nprobe_examples = 32\n"
        "evaluation_examples = 50\nlearning_rate = 0.01\n[axes]\narchitecture = ['TF-(1,8)']\nbatch = [4, 8]\n"
        "length = [5, 6]\n"
    )
    assert call("sweep", "mine.toml", "--only", "batch=8", "--no-estimate").code == 0
    ended = call("figure", "mine.toml", "--out", "out", "--json")
    found = json.loads(ended.out)
    assert [(cell["row"], cell["column"], cell["record"] is None) for cell in found["cells"]] == [
        ("TF-(1,8), 4", "5", True), ("TF-(1,8), 4", "6", True),
        ("TF-(1,8), 8", "5", False), ("TF-(1,8), 8", "6", False),
    ]  # fmt: skip
    assert found["scale"] is None
    assert "separatrix sweep mine.toml" in " ".join(found["remarks"])
    assert sorted(each.name for each in (tmp_path / "out").iterdir()) == [
        f"mine.{kind}" for kind in ("html", "json", "png", "svg")
    ]
    page = (tmp_path / "out" / "mine.html").read_text(encoding="utf-8")
    assert "learning rate</th>" in page
    assert "paper %</th>" not in page, "there is no paper beside it"
    assert "says its own sizes" in call("figure", "mine.toml", "--scale", "quick").err


def test_a_sweep_over_tasks_says_task_and_not_length(call, store, tmp_path):  # noqa: F811
    file = tmp_path / "three.toml"
    file.write_text(
        "[base]\nlength = 8\nsteps = 20\nlearning_rate = 0.001\narchitecture = 'TF-(1,16)'\n"
        "[axes]\ntask = ['index-lookup', 'equality', 'dyck']\n"
    )
    sweep = read_sweep(file)
    with Records(store) as records:
        for run in [cell.runs[0] for cell in sweep.cells()][1:]:
            records.add_results([run], [Result(run.name, "steps", 20, 0.1, 1.0, 1.0, 1)], WHERE, None)
            records.add_points([Point(run.name, 20, 1.0, 0.1, 0.1)])
        data = gather(experiment_of(sweep, "three.toml"), None, records, sweep)
    svg, page = experiment_figure(data).svg, figure_page(data, None, "made by a test")
    assert "validation curves on dyck" in svg
    assert "validation curves on dyck" in page
    assert "TF-(1,16) on equality" in page
    assert "No record: TF-(1,16) on index-lookup." in " ".join(data.remarks)
    assert headings(data)[:2] == ("model", "task")
    printed = call("figure", str(file), "--store", str(store), "--out", str(tmp_path / "out")).out
    assert "length" not in svg + printed
    assert "length</th>" not in page


# -- attention -------------------------------------------------------------------------------------------------


def test_attention_weights_are_those_the_layer_averages_with():
    model = build_model(parse_spec("TF-(2,16,heads=2,mask=none)"), vocabulary=5, classes=3, length=8, seeds=[0, 1])
    tokens = torch.randint(5, (2, 3, 8), generator=torch.Generator().manual_seed(0))
    for layer in (0, 1):
        weights = attention_weights(model, tokens, layer)
        assert weights.shape == (2, 3, 2, 8, 8)
        assert torch.allclose(weights.sum(dim=-1), torch.ones(2, 3, 2, 8))
    assert not torch.allclose(attention_weights(model, tokens, 0), attention_weights(model, tokens, 1))
    for text, layer, word in (("TF-(1,16)", 1, "layers 0 to 0"), ("LSTM-(1,16)", 0, "no attention weights")):
        other = build_model(parse_spec(text), vocabulary=5, classes=3, length=8, seeds=[0, 1])
        with pytest.raises(SeparatrixError, match=word):
            attention_weights(other, tokens, layer)


def averaging(**changes):
    return tiny(
        task="sparse-averaging", task_parameters={"sparsity": 2}, architecture="TF-(1,16,mask=none)", length=6,
        steps=60, snapshots=(0, 20, 60), **changes,
    )  # fmt: skip


def test_attention_is_shown_where_weights_were_kept(store):
    drive(store, [Group((averaging(), averaging(learning_rate=0.001)))])
    with Records(store) as records:
        record = best_run(records.all(), records)
        maps = attention_maps(record, records)
    assert [each.step for each in maps.maps] == [0, 20, 60]
    assert maps.named.sum(axis=1).tolist() == [2] * 6
    assert maps.chance == pytest.approx(1 / 3)
    for each in maps.maps:
        assert numpy.allclose(each.matrix.sum(axis=1), 1)
        assert each.share == pytest.approx(float((each.matrix * maps.named).sum() / 6))
    # Freshly started attention looks everywhere alike.
    assert maps.maps[0].share == pytest.approx(maps.chance, abs=0.05)
    assert not numpy.allclose(maps.maps[0].matrix, maps.maps[2].matrix)
    assert attention_figure(maps, "maps", "a title").png.startswith(b"\x89PNG")


def test_runs_without_kept_weights_or_named_cells_are_refused(store):
    drive(store, [Group((averaging().with_changes(snapshots=()),)), Group((tiny(snapshots=(0,)),))])
    with Records(store) as records:
        messages = []
        for record in records.all():
            with pytest.raises(SeparatrixError) as caught:
                attention_maps(record, records)
            messages.append(str(caught.value))
        assert best_run([record for record in records.all() if not record.spec.snapshots], records) is None
    assert any("snapshots" in text for text in messages)
    assert any("sparse-averaging" in text for text in messages)


# -- the verb --------------------------------------------------------------------------------------------------


def test_the_verb_writes_every_file_and_names_what_is_missing(call, store, tmp_path):  # noqa: F811
    recorded(store, "figure2-curves", "quick", lambda row, length, place: 0.5, left_out=[("TF-(1,64)", 20)])
    ended = call("figure", "figure2-curves", "--store", str(store), "--out", str(tmp_path / "figures"), "--json")
    assert ended.code == 0
    found = json.loads(ended.out)
    assert sorted(each.name for each in (tmp_path / "figures").iterdir()) == [
        f"figure2-curves-quick.{kind}" for kind in ("html", "json", "png", "svg")
    ]
    assert found["scale"] == "quick"
    assert sum(cell["record"] is None for cell in found["cells"]) == 1
    written = json.loads((tmp_path / "figures" / "figure2-curves-quick.json").read_text())
    assert written["cells"] == found["cells"]
    text = call("figure", "figure2-curves", "--store", str(store), "--out", str(tmp_path / "figures")).out
    assert "5 of 6 cells" in text
    assert "no record" in text


def test_the_same_figure_from_exported_runs(call, store, tmp_path):  # noqa: F811
    recorded(store, "figure2-curves", "quick", lambda row, length, place: 0.5)
    assert call("runs", "export", str(tmp_path / "results" / "figure2-curves.json"), "--store", str(store)).code == 0
    figures = [
        json.loads(call("figure", "figure2-curves", *source, "--out", str(tmp_path / "out"), "--json").out)
        for source in (("--store", str(store)), ("--records", str(tmp_path / "results")))
    ]
    rows = [[(cell["row"], cell["column"], cell["accuracy"]) for cell in each["cells"]] for each in figures]
    assert rows[0] == rows[1]


def test_attention_comes_with_the_figure(call, store, tmp_path, monkeypatch):  # noqa: F811
    """The real experiment with a small run in place of its own."""
    run = averaging(probe_examples=32)
    experiment = experiments()["qsa-attention"]
    cell = Cell((("architecture", run.architecture), ("length", run.length)), (run,))
    monkeypatch.setattr("separatrix.training.sweep.Sweep.cells", lambda self: [cell])
    drive(store, [Group((run,))])
    assert call("runs", "export", str(tmp_path / "runs.json"), "--store", str(store)).code == 0
    ended = call("figure", experiment.name, "--records", str(tmp_path / "runs.json"), "--out", str(tmp_path), "--json")
    found = json.loads(ended.out)
    assert [each["step"] for each in found["attention"]["maps"]] == [0, 20, 60]
    assert (tmp_path / "qsa-attention-quick-matrices.png").exists()
    assert "What the model attends to" in (tmp_path / "qsa-attention-quick.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("figure9",), ("figure9", "nearest")),
        (("figure3", "--store", "runs.sqlite"), ("no store", "runs.sqlite")),
        (("figure3", "--records", "none"), ("--records none does not exist", "separatrix runs export")),
        (("figure3", "--records", "a.json", "--store", "b.sqlite"), ("a.json", "b.sqlite")),
    ],
)
def test_bad_input_is_one_line(call, tmp_path, monkeypatch, arguments, words):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    ended = call("figure", *arguments)
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1)
    for word in words:
        assert word in ended.err
    assert list(tmp_path.iterdir()) == []


def test_an_empty_store_says_what_to_train(call, store):  # noqa: F811
    Records(store).close()
    ended = call("figure", "figure2-left", "--store", str(store))
    assert ended.code == 2
    assert "separatrix sweep figure2-left --scale quick" in ended.err
    assert f"in {store}; name other runs with --records or --store" in ended.err


def test_without_a_store_the_runs_that_ship_with_the_package_are_read(call, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SEPARATRIX_STORE", raising=False)
    for arguments in (("figure", "figure2-curves"), ("runs", "list", "--limit", "2")):
        ended = call(*arguments)
        assert ended.code == 0
        assert "runs.sqlite" in ended.err
    named = call("runs", "list", "--limit", "2", "--records", "shipped")
    assert (named.code, named.out, named.err) == (0, ended.out, "")
    assert not (tmp_path / "runs.sqlite").exists()
    # A folder of that name wins over the word.
    recorded(tmp_path / "shipped" / "all.sqlite", "figure2-curves", "quick", lambda *_: 0.5)
    assert call("runs", "list", "--limit", "2", "--records", "shipped").out != named.out
    # What was named is not replaced by what is usual.
    assert "there is no store mine.sqlite" in call("runs", "list", "--store", "mine.sqlite").err
    monkeypatch.setenv("SEPARATRIX_STORE", "other.sqlite")
    assert "there is no store other.sqlite" in call("runs", "list").err
    monkeypatch.delenv("SEPARATRIX_STORE")
    Records(tmp_path / "runs.sqlite").close()
    assert call("runs", "list").err == ""


def test_without_plotly_it_ends_in_one_line(call, store, tmp_path, monkeypatch):  # noqa: F811
    recorded(store, "figure2-curves", "quick", lambda *_: 0.5)
    monkeypatch.setitem(sys.modules, "plotly", None)
    ended = call("figure", "figure2-curves", "--store", str(store), "--out", str(tmp_path / "out"))
    assert ended.code == 2
    assert "separatrix[atlas]" in ended.err
    assert not (tmp_path / "out").exists()


def test_undertrained_cells_are_marked_and_not_coloured():
    """A cell that missed what was wanted with few steps, while it still learned, or at chance, is no failure."""
    level = [Point("a", step, 1.0, 0.5, 0.5) for step in range(8)]
    rising = [Point("a", step, 1.0, 0.5, step / 10) for step in range(8)]
    falling = [Point("a", step, 1.0 - step / 10, 0.5, 0.5) for step in range(8)]

    def why(accuracy, wanted, curve=level, *, ending="steps", most=100):
        record = Record(tiny(steps=100), Result("a", ending, 100, accuracy, 0.1, 1.0, 8), {}, "", None)
        return undertrained(record, curve, wanted, most)

    assert why(0.5, 0.99, most=400) == ("0.1k of 0.4k steps",)
    assert why(0.5, 0.99, rising) == ("accuracy still rising",)
    assert why(0.5, 0.99, falling) == ("loss still falling",)
    assert why(0.5, 0.99, level[:3]) == ("too short a curve to tell",)
    assert why(0.01, 0.99) == ("at chance",)
    assert why(0.5, 0.99, most=200) == (), "as much as the others, above chance, and level: a result"
    assert why(0.98, 0.98, rising, most=400) == why(0.5, 0.99, rising, ending="goal") == ()
    assert why(0.01, 0.99, ending="diverged") == ()
    reasons = {("r", "c"): ("at chance",)}
    shown = {("r", "c"): 10.0, ("r", "d"): 90.0}
    table = piece("heat_table", "t", ["r"], ["c", "d"], shown, "share", undertrained=reasons, source="experiments.html")
    assert table.count('class="undertrained"') == 1 and table.count("--strength") == 1 and "at chance" in table


def test_a_cell_tells_its_seeds_and_its_recipe(tmp_path):
    strong = {"warmup": 1, "clip": 1.0, "final_rate": 0.0, "questions": 2}
    specs = tuple(tiny(seed=seed, length=20, steps=20, **strong) for seed in (0, 1))
    store = tmp_path / "runs.sqlite"
    drive(store, [Group(specs)])
    experiment = experiments()["figure2-left"]
    with Records(store, create=False) as records:
        base = {"task": "index-lookup", "steps": 40, "learning_rate": 0.1}
        chosen = Sweep("mine", "", base, {"architecture": ["TF-(1,8)"], "length": [20]})
        cell = gather(experiment, None, records, chosen).cells["TF-(1,8)", "20"]
    assert cell.recipe == "strong" and len(cell.seeds) == 2 and "2 seeds" in cell.budget and "strong" in cell.budget
    assert cell.as_dict()["seeds"] == list(cell.seeds)
