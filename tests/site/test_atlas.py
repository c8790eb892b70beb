"""The mechanism of the atlas: results alone make the pages, files are whole, figures repeat, records are read."""

import copy
import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from separatrix.answer import plain
from separatrix.cli.app import run
from separatrix.errors import SeparatrixError
from separatrix.site import Atlas, Figure, Section, build, ordered_sections, render, units, write
from separatrix.site import build as whole_build
from separatrix.site.build import schema
from separatrix.site.figure import draw, look, plot_named, themed
from separatrix.site.html import page, table
from separatrix.site.pages.shell import Page
from separatrix.site.pages.site import rendered
from separatrix.table import Sources
from separatrix.tasks import tasks
from tests.site.reading import read_sections


@pytest.fixture(scope="module")
def results(site: Path) -> dict:
    return json.loads((site / "atlas.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def read(results: dict) -> dict:
    """The results on the disk, with their types."""
    return read_sections(results["sections"])


@pytest.fixture(scope="module")
def pages(results: dict, read: dict) -> dict[str, str]:
    """Every page without figures, made from the results on the disk."""
    return rendered(read, results["provenance"], ordered_sections(), {})


def test_pages_are_made_from_the_results_alone(site, results, read, pages):
    for path, text in pages.items():
        built = (site / path).read_text(encoding="utf-8")
        assert built.split("<h1>")[1].split("</h1>")[0] == text.split("<h1>")[1].split("</h1>")[0]
    assert "".join(pages) == "".join(render(Atlas(results["provenance"], read, {})))
    front = (site / "index.html").read_text(encoding="utf-8")
    # The front page has no figures, so that it must be the same to the letter.
    assert front == pages["index.html"]


def test_every_construction_is_certified_on_the_page(results):
    for entry in results["sections"]["constructions"]["constructions"]:
        assert entry["sizes"], entry["name"]
        for row in entry["sizes"]:
            assert row["certified"], (entry["name"], row["length"], row["reason"])


def test_data_carries_its_provenance(results):
    record = results["provenance"]
    assert record["versions"]["numpy"]
    assert record["seed"] == 0
    assert record["command"].startswith("separatrix atlas")
    for row in results["sections"]["sign-codes"]["rows"]:
        assert row["width"] >= row["delsarte_limit"]
        assert row["evidence"]


def test_the_data_is_what_its_schema_says(site, results, read):
    """The same types write the data, make the schema and read the data back, and nothing is lost between them."""
    published = json.loads((site / "atlas.schema.json").read_text(encoding="utf-8"))
    assert published == json.loads(json.dumps(schema(ordered_sections())))
    jsonschema.validate(results, published)
    assert json.loads(json.dumps(plain(read))) == results["sections"]
    broken = copy.deepcopy(results)
    del broken["sections"]["errata"]["rows"][0]["claim"]
    with pytest.raises(jsonschema.ValidationError, match="claim"):
        jsonschema.validate(broken, published)


def test_text_is_escaped_everywhere(results):
    broken = json.loads(json.dumps(results))
    sections = broken["sections"]
    sections["tasks"]["tasks"][0]["question"] = "<b>&1"
    sections["separation"]["rows"][0]["cells"]["rnn"]["upper"][0]["text"] = "<b>&2</script>"
    sections["errata"]["rows"][0]["claim"] = "<b>&3"
    sections["bounds"]["rows"][0]["statement"] = "<b>&4"
    text = "".join(rendered(read_sections(sections), broken["provenance"], ordered_sections(), {}).values())
    assert "<b>&" not in text
    assert all(f"&lt;b&gt;&amp;{number}" in text for number in range(1, 5))
    assert "&2</script>" not in text


def test_files_are_written_whole_and_repeat(site, results, read, tmp_path):
    figure = draw("one", "caption", lambda axes: axes.plot([1, 2, 3]))
    atlas = Atlas(results["provenance"], read, {"sign-codes": [figure]})
    written, again = write(atlas, tmp_path / "one"), write(atlas, tmp_path / "two")
    names = [path.relative_to(tmp_path / "one") for path in written]
    assert names == [path.relative_to(tmp_path / "two") for path in again]
    assert {Path("atlas.json"), Path("figures/one.svg"), Path("figures/one.png"), Path("assets/site.css")} <= set(names)
    assert names[-1] == Path("index.html"), "when it is there, everything it leads to is"
    for first, second in zip(written, again, strict=True):
        assert first.read_bytes() == second.read_bytes()
    assert not list(tmp_path.rglob("*.partial"))


def test_the_whole_site_is_small(site):
    assert sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) < 24_000_000


def test_two_pages_of_one_name_are_refused(results, read):
    class Doubled(Section):
        def collect(self, advance):
            raise NotImplementedError

        def figures(self, results):
            raise NotImplementedError

        def body(self, results):
            return ""

    section = Doubled(name="sign-codes", title="Again", order=1, page="index")
    with pytest.raises(SeparatrixError, match=r"two pages of the atlas would be index\.html"):
        rendered(read, results["provenance"], [section], {})


def test_no_section_writes_a_body_that_no_page_shows():
    writing = {section.name for section in ordered_sections() if type(section).body is not Section.body}
    assert writing == {section.name for section in ordered_sections() if section.page}


def test_progress_is_told_as_often_as_announced(monkeypatch):
    """With sections that do nothing: what is counted is the mechanism."""

    class Quick(Section):
        @property
        def units(self):
            return 2

        def collect(self, advance):
            advance("one")
            advance("two")
            return {"order": self.order}

        def figures(self, results):
            return [Figure(self.name, "", "<svg/>", b"")] if results["order"] == 1 else []

        def body(self, results):
            return ""

    import importlib

    module = importlib.import_module("separatrix.site.build")
    entries = {name: Quick(name=name, title=name, order=order) for order, name in enumerate(("b", "a"))}
    monkeypatch.setattr(module, "sections", lambda: entries)
    monkeypatch.setattr(module, "composed_figures", lambda results: [])
    calls: list[str] = []
    atlas = build(calls.append)
    assert whole_build is build
    assert len(calls) == units() == 7
    assert list(atlas.results["sections"]) == ["b", "a"]
    assert [figure.name for group in atlas.figures.values() for figure in group] == ["a"]
    alone = build(calls.append, Sources(), only=[entries["a"]])
    assert alone.results["sections"] == {"a": atlas.results["sections"]["a"]}
    assert len(calls) == 7 + 3
    assert render(alone) == {}, "a section without a page has none alone either"


# -- figures and single pages ---------------------------------------------------------------------------------


def test_the_same_drawing_gives_the_same_bytes():
    one, two = (draw("name", "caption", lambda axes: axes.plot([1, 2, 3])) for _ in range(2))
    assert one == two
    assert one.png.startswith(b"\x89PNG")


@pytest.mark.parametrize(("for_papers_alone", "formats"), [(False, 4), (True, 2)])
def test_each_format_is_drawn_once(monkeypatch, for_papers_alone, formats):
    from matplotlib.figure import Figure as Canvas

    plain, drawn = Canvas.draw, []
    monkeypatch.setattr(Canvas, "draw", lambda self, renderer: (drawn.append(renderer), plain(self, renderer))[1])
    figure = draw("name", "caption", lambda axes: axes.plot([1, 2]), for_papers_alone=for_papers_alone)
    # Drawing is most of what the atlas takes, and a layout engine that is left in place draws everything twice.
    assert len(drawn) == formats
    assert (figure.inline == "") is (figure.narrow == "") is for_papers_alone
    assert "scale(0.015625)" in figure.svg, "letters keep their size"
    assert figure.svg.startswith("<svg") and figure.png.startswith(b"\x89PNG")


def test_series_differ_without_colours_and_those_that_coincide_are_one():
    looks = [look(number) for number in range(20)]
    assert len({(each["marker"], each["linestyle"]) for each in looks}) == len(looks)
    lines = [("first", [(1.0, 2.0), (2.0, 4.0)]), ("empty", []), ("other", [(1.0, 3.0)]),
             ("second", [(1.0, 2.0), (2.0, 4.0)])]  # fmt: skip
    found = []

    def paint(axes):
        plot_named(axes, lines, fontsize=8)
        found.append([line.get_label() for line in axes.get_lines()])

    drawn = draw("named", "Named", paint, width=5.0)
    assert len(found) == 2, "for wide and for narrow pages"
    assert all(each == ["first, second", "other"] for each in found)
    assert "first, second" in drawn.inline and "empty" not in drawn.inline


def test_figures_on_pages_keep_their_text_and_follow_the_page():
    def paint(axes):
        axes.plot([0, 1], [0, 1], color="#0072B2")
        axes.set_title("0.500 of all")

    figure = draw("name", "caption", paint)
    assert "0.500 of all" in figure.inline
    assert "var(--series-1)" in figure.inline
    assert "#0072b2" not in figure.inline.lower()
    assert "<style" not in figure.inline
    assert "font-family" not in figure.inline
    assert "var(" not in figure.svg, "the one for papers has colours of its own"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ('<path d="M 1 2" style="fill: #ffffff"/>', '<path d="M 1 2" style="fill: none"/>'),
        ('<path style="stroke: #000000"/>', '<path style="stroke: var(--ink)"/>'),
    ],
)
def test_themed(given, expected):
    assert themed(given) == expected


def test_tables_escape_align_and_link():
    text = table(("a", "b"), [("<x>", 12345)], "<c>", numbers=(1,), links=["#&"])
    assert "&lt;x&gt;" in text
    assert '<td class="number">12,345</td>' in text
    assert '<a href="#&amp;">' in text
    assert "<caption>&lt;c&gt;</caption>" in text


def test_a_single_page_needs_nothing_else():
    text = page("Title", "lead", [("one", "One", "<p>body</p>")], "footer")
    assert "<style>" in text
    assert "<link" not in text
    assert 'href="#one"' in text


def test_pages_know_the_way_to_the_top():
    assert Page("tasks/x.html", "", "", "").root == "../"
    assert Page("x.html", "", "", "").root == ""


def test_figures_carry_where_they_come_from():
    figure = Figure("name", "", "", b"")
    assert figure.with_origin({"kind": "proved"}) == replace(figure, origin={"kind": "proved"})


# -- the verb -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--out", "file"], "--out file is a file; give a folder"),
        (["--records", "nowhere"], "--records nowhere does not exist"),
        (["--store", "nowhere.sqlite"], "there is no store nowhere.sqlite"),
    ],
)
def test_bad_options_end_in_one_line_before_any_work(words, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("")
    assert run(["atlas", *words]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert len(error.strip().splitlines()) == 1
    assert sorted(tmp_path.iterdir()) == [tmp_path / "file"]


def test_every_task_is_in_the_data(results):
    assert {entry["name"] for entry in results["sections"]["tasks"]["tasks"]} == set(tasks())
