"""What the pages say in words: how to read training tables, why a task is hard, the glossary, errata, caveats."""

import html
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from separatrix import shipped
from separatrix.cli import verb_atlas
from separatrix.constructions import constructions
from separatrix.site.html import asset, piece
from separatrix.site.pages.cells import BITS, Grid
from separatrix.site.pages.found import Found
from separatrix.site.pages.glossary import FILE, converted
from separatrix.site.pages.why import why
from separatrix.site.sections import separation, training
from separatrix.table import Sources
from separatrix.table.certified import kind_of
from separatrix.table.errata import Finding
from tests.site.reading import read_sections

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def sections(site: Path) -> dict:
    return json.loads((site / "atlas.json").read_text(encoding="utf-8"))["sections"]


def text_of(site: Path, path: str) -> str:
    return (site / path).read_text(encoding="utf-8")


# -- training -----------------------------------------------------------------------------------------------


def test_tables_of_short_runs_say_how_to_read_them(site, sections):
    steps = sections["training"]["steps"]
    assert steps["least"] < steps["most"] < steps["paper"]
    note = piece("reading_note", training.Steps(**steps), source="experiments.html")
    assert "a low number says nothing about what the model could learn" in note
    for path in ("training.html", "tasks/index-lookup.html"):
        page = text_of(site, path)
        assert note in page, path
        assert page.index(note) < page.index('class="experiment"'), path
        assert re.search(r'class="budget">\d+(\.\d+)?k × \d+</span>', page), path
    assert note not in text_of(site, "tasks/cnf.html"), "no experiment, no note"
    full = training.Steps(250000, 250000, 250000)
    assert all(piece("reading_note", each, source="experiments.html") == "" for each in (None, full))


def test_an_experiment_has_the_scale_that_its_runs_are_of(sections):
    rows = {row["figure"]: row for row in sections["training"]["rows"]}
    assert rows["beyond-widths"]["scale"] == "reduced"
    assert all(row["recorded"] == len(row["cells"]) for row in rows.values() if row["recorded"])


def test_a_reader_can_train_each_experiment_with_the_installed_command(site, sections):
    page = text_of(site, "tasks/index-lookup.html").split('id="reproduce"')[1]
    page = html.unescape(re.sub("<[^>]*>", "", page))
    commands = [row["train_command"] for row in sections["training"]["rows"] if row["task"] == "index-lookup"]
    assert commands
    assert all(each in page for each in commands)
    assert all(each.startswith("separatrix ") for each in commands)
    assert training.SECTION.collect_from(Sources(), lambda what: None).steps is None


# -- theory -------------------------------------------------------------------------------------------------


def paragraphs(entry: dict) -> tuple[str, ...]:
    return why(entry["name"], entry["communication"]["problem"], entry["communication"]["note"])


def test_task_pages_say_why(site, sections):
    page = text_of(site, "tasks/index-lookup.html")
    assert page.split('id="why"')[1].split("</section>")[0].count("<p>") == 4
    entries = {entry["name"]: entry for entry in sections["tasks"]["tasks"]}
    for construction in constructions().values():
        assert set(construction.how) <= set(paragraphs(entries[construction.task_name])), construction.name
    for entry in sections["tasks"]["tasks"]:
        told = 'id="why"' in text_of(
            site, "tasks/index-task.html" if entry["name"] == "index" else f"tasks/{entry['name']}.html"
        )
        assert told == bool(paragraphs(entry)), entry["name"]


def test_the_protocol_s_caveat_is_carried_over(site, sections):
    claim = sections["protocols"]["runs"]["index-lookup"]["claim"]
    rows = claim["for_rows"]
    assert (claim["m"], rows["rows"], claim["holds"], rows["holds"], rows["met"]) == (16, 6, True, False, False)
    page = text_of(site, "tasks/index-lookup.html")
    assert page.count("Here m is the width of the network") == 1
    assert f"with m = 6, the rows of the projections: beyond {rows['bits']}" in page
    assert all(sentence in html.unescape(page) for sentence in rows["caveats"]) and "(not met with m = 6)" in page
    assert "Here m is the width" not in text_of(site, "tasks/dyck.html"), "Theorem 2 counts the state itself"


def test_a_network_of_another_class_is_named_in_the_chart(site):
    assert kind_of(constructions()["directed-3-cycle"]) == "higher-order graph unit"
    assert kind_of(constructions()["index-lookup"]) == "1-layer Transformer"
    page = text_of(site, "tasks/directed-3-cycle.html")
    assert "higher-order graph unit: enough (directed-3-cycle)" in page
    assert "directed-3-cycle is a higher-order graph unit, to which no bound here applies." in page


def test_the_terminal_shows_the_numbers_of_the_front_page(sections):
    read = read_sections(sections)
    grid = Grid(Found.of(read))
    place = grid.lengths.index(separation.LENGTH)
    terminal = Console(width=80, file=io.StringIO())
    shown = separation.terminal_table(read)
    terminal.print(shown)
    assert "…" not in terminal.file.getvalue(), "it fits 80 columns"
    columns = {str(column.header): list(column.cells) for column in shown.columns}
    names = [row["task"] for row in sections["separation"]["rows"]]
    for model, heading in separation.COLUMNS.items():
        for name, cell in zip(names, columns[heading], strict=True):
            numbers = grid.cell(name, model)
            upper, lower, _ = numbers.at(place, grid.precision)
            unit = "b" if numbers.unit == BITS else ""
            assert (f"≤{upper.text.replace(' × ', '×')}{unit}[" in cell) == bool(upper.text), (name, model)
            assert (f"≥{lower}{unit}[" in cell) == bool(lower), (name, model)
    assert "≥384b" in columns["RNN"][names.index("index-lookup")]


# -- errata and glossary ------------------------------------------------------------------------------------


def test_only_errata_that_were_run_are_called_shown(site, sections):
    found = read_sections(sections)["errata"]
    rows = found.rows
    shown = [row.name for row in rows if row.shown_by_running]
    assert "E24" not in shown and "E12" not in shown and "E20" in shown
    title = found.summary
    assert title.startswith(f"{len(rows)} errata, {len(shown)} of them shown by running the original; the others (")
    assert title in text_of(site, "errata.html")
    assert not replace(rows[0], findings=(Finding("original", "it ran", False),)).shown_by_running


def test_numbers_of_errata_lead_to_their_entries(site):
    assert '<a href="../errata.html#E11">E11</a>' in text_of(site, "tasks/match3-last.html")
    assert '<a href="errata.html#E13">E13</a>' in text_of(site, "bounds.html")
    assert '<a href="errata.html#E13">E13</a>' in text_of(site, "glossary.html")


def test_the_glossary_is_the_documentation_s(site):
    written = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    assert asset(FILE) == written, f"copy docs/glossary.md to src/separatrix/site/pages/assets/{FILE}"
    page = text_of(site, "glossary.html")
    assert page.count("<h2>") == written.count("\n## ")
    assert page.count("<tr><td>") == len(re.findall(r"^\| (?!term |--)", written, flags=re.MULTILINE))
    assert "](" not in page and "`" not in page.split("<main")[1].split("</main>")[0]
    assert 'href="glossary.html"' in text_of(site, "index.html")
    assert converted("# Title\n\nwords\n\n## A\n\nmore\n") == "<h2>A</h2><p>more</p>"


def test_cards_of_architectures_show_the_equation_of_the_state(sections):
    shown = {row["name"]: row["equations"][row["main_equation"]] for row in sections["architectures"]["rows"]}
    assert shown["mamba"].startswith("h_t = exp(Δ_t A)")
    assert shown["lstm"] == "c_t = f∘c_{t-1} + i∘g"
    assert "softmax" in shown["transformer"]
    assert shown["fnn"].startswith("y_i = ")


# -- the command --------------------------------------------------------------------------------------------


def test_the_command_reads_shipped_records_unless_others_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SEPARATRIX_STORE", str(tmp_path / "none.sqlite"))
    assert verb_atlas._sources(None, None).recorded == (shipped.FOLDER,)
    assert verb_atlas._sources([tmp_path], None).recorded == (tmp_path,)
