"""The atlas: built from results alone, self-contained, the same from the same results."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from separatrix.atlas import Atlas, build, ordered_sections, render, write
from separatrix.atlas.figure import draw
from separatrix.tasks import tasks

VOID = {"meta", "br", "img", "link", "hr", "input", "path", "use", "rect", "stop"}


@pytest.fixture(scope="module")
def atlas() -> Atlas:
    calls: list[str] = []
    made = build(calls.append)
    assert len(calls) == sum(section.units for section in ordered_sections())
    return made


class Balance(HTMLParser):
    """Checks that tags close in order and collects ids and links."""

    def __init__(self) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        self.ids += [named["id"]] if named.get("id") else []
        self.links += [named["href"]] if tag == "a" else []
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        named = dict(attrs)
        self.ids += [named["id"]] if named.get("id") else []

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag


def test_every_task_is_on_the_page_and_in_the_data(atlas):
    page = render(atlas)
    names = {entry["name"] for entry in atlas.results["sections"]["tasks"]["tasks"]}
    assert names == set(tasks())
    for name in names:
        assert f'id="task-{name}"' in page


def test_every_construction_is_certified_on_the_page(atlas):
    for entry in atlas.results["sections"]["constructions"]["constructions"]:
        assert entry["sizes"], entry["name"]
        for row in entry["sizes"]:
            assert row["certified"], (entry["name"], row["length"], row["reason"])


def test_data_is_json_and_carries_its_provenance(atlas):
    data = json.loads(json.dumps(atlas.results))
    record = data["provenance"]
    assert record["versions"]["numpy"]
    assert record["seed"] == 0
    assert record["command"] == "separatrix atlas"
    for row in data["sections"]["sign-codes"]["rows"]:
        assert row["width"] >= row["delsarte_limit"]
        assert row["evidence"]


def test_the_page_is_well_formed_and_self_contained(atlas):
    page = render(atlas)
    parser = Balance()
    parser.feed(page)
    assert parser.stack == []
    assert len(parser.ids) == len(set(parser.ids)), "ids are unique"
    assert all(link[1:] in parser.ids for link in parser.links if link.startswith("#"))
    assert "<script" not in page
    assert not re.search(r'(src|href)="https?://(?!www\.w3\.org)', page)
    assert not re.search(r"@import|url\(http", page)


def test_text_is_escaped(atlas):
    broken = json.loads(json.dumps(atlas.results))
    broken["sections"]["tasks"]["tasks"][0]["question"] = "<b>&"
    page = render(Atlas(broken, atlas.figures))
    assert "<b>&" not in page
    assert "&lt;b&gt;&amp;" in page


def test_files_are_written_whole_and_repeat(atlas, tmp_path):
    written = write(atlas, tmp_path / "one")
    again = write(atlas, tmp_path / "two")
    assert [path.relative_to(tmp_path / "one") for path in written] == [
        path.relative_to(tmp_path / "two") for path in again
    ]
    assert {Path("index.html"), Path("atlas.json"), Path("figures/sign-code-widths.svg")} <= {
        path.relative_to(tmp_path / "one") for path in written
    }
    for first, second in zip(written, again, strict=True):
        assert first.read_bytes() == second.read_bytes()
    assert sum(path.stat().st_size for path in written) < 15_000_000


def test_the_same_drawing_gives_the_same_bytes():
    one, two = (draw("name", "caption", lambda axes: axes.plot([1, 2, 3])) for _ in range(2))
    assert one.svg == two.svg
    assert one.png == two.png
    assert one.png.startswith(b"\x89PNG")


def test_terminal_tables_have_a_row_for_each_entry(atlas):
    for section in ordered_sections():
        results = atlas.results["sections"][section.name]
        entries = results.get("tasks") or results.get("rows") or results.get("constructions")
        assert section.table(results).row_count == len(entries)
