"""The pages: complete, linked, well formed, the same numbers as the rooms compute, readable in light and dark."""

import json
import re
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy
import pytest
from matplotlib import figure as figures
from PIL import Image

from separatrix.answer import plain
from separatrix.bounds import ProtocolBound, bounds_for
from separatrix.cli.app import run
from separatrix.constructions import constructions
from separatrix.errors import SeparatrixError
from separatrix.networks import Attention, Network, evaluate
from separatrix.networks.evaluate import embedded
from separatrix.site import ordered_sections
from separatrix.site.experiment_rows import figure_data
from separatrix.site.html import asset, piece
from separatrix.site.origin import MEANINGS, Origin
from separatrix.site.pages.cells import ARGUMENT, BITS, CERTIFIED, FORMULA, UNKNOWN
from separatrix.site.pages.formulas import equation, prose
from separatrix.site.pages.site import ASSETS, rendered
from separatrix.site.pages.stories import STORIES
from separatrix.site.pages.text import length_text, number, task_address, with_code
from separatrix.site.sections import errata as errata_section
from separatrix.site.sections import profiles, training
from separatrix.site.user_function_figure import _paint_lengths
from separatrix.table import Sources
from separatrix.table.attention import attention_maps
from separatrix.table.certified import CLASSES, certified_size
from separatrix.table.errata import Erratum, Finding, errata
from separatrix.table.recorded import read_runs, recorded_surveys
from separatrix.table.trained_models import attacked_in_words, attacks, trained_models
from separatrix.tasks import draws_from, tasks
from tests.site.reading import grid_of, read_sections

VOID = {"meta", "br", "wbr", "img", "link", "hr", "input", "path", "use", "rect", "circle", "line", "image", "stop"}
LIGHT, DARK = 0, 1


class Reader(HTMLParser):
    """Checks that tags close in order and collects ids, links and what is loaded."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.headings: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        self.ids += [named["id"]] if named.get("id") else []
        self.links += [named["href"]] if tag == "a" else []
        self.loaded += [named[key] for key in ("src", "href") if key in named and tag in ("script", "link", "img")]
        self.headings += [tag] if re.fullmatch(r"h\d", tag) else []
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        named = dict(attrs)
        self.ids += [named["id"]] if named.get("id") else []

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.stack.pop() == tag


@pytest.fixture(scope="module")
def sections(site: Path) -> dict:
    return json.loads((site / "atlas.json").read_text(encoding="utf-8"))["sections"]


@pytest.fixture(scope="module")
def read(site: Path) -> dict[str, Reader]:
    return {str(path.relative_to(site)): Reader(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


# -- pages --------------------------------------------------------------------------------------------------


def test_every_entry_has_a_page(read, sections):
    assert {task_address(name) for name in tasks()} <= set(read)
    assert {f"architectures/{row['name']}.html" for row in sections["architectures"]["rows"]} <= set(read)
    assert sections["architectures"]["rows"]
    named = ("constructions", "bounds", "frontiers", "sign-codes", "training", "your-function", "real-models", "errata")
    assert {f"{name}.html" for name in named} <= set(read)
    assert {"index.html", "tasks.html", "architectures.html", "glossary.html", "about.html"} <= set(read)


def test_pages_are_well_formed_and_ids_are_unique(read):
    for path, page in read.items():
        assert page.stack == [], path
        assert len(page.ids) == len(set(page.ids)), (path, [each for each in page.ids if page.ids.count(each) > 1])
        assert page.headings.count("h1") == 1, path
        levels = [int(each[1]) for each in page.headings]
        assert all(later <= earlier + 1 for earlier, later in pairwise(levels)), (path, levels)


def test_every_link_leads_somewhere(site, read):
    for path, page in read.items():
        for link in page.links:
            assert not re.match(r"[a-z]+:", link), (path, link)
            target, _, anchor = link.partition("#")
            found = (site / path).parent.joinpath(target).resolve() if target else (site / path).resolve()
            assert found.is_file(), (path, link)
            if anchor:
                assert anchor in read[str(found.relative_to(site.resolve()))].ids, (path, link)


def test_nothing_comes_from_elsewhere(site, read):
    for path, page in read.items():
        for address in page.loaded:
            assert (site / path).parent.joinpath(address).is_file(), (path, address)
        text = (site / path).read_text(encoding="utf-8")
        assert not re.search(r'(?:src|href)="https?:', text), path
        assert not re.search(r"@import|url\(https?:", text), path
    for name in ASSETS:
        text = asset(name).replace("http://www.w3.org/2000/svg", "")
        assert "http" not in text, name


def test_every_figure_file_is_there_and_every_slot_is_filled(site, read):
    for path in read:
        text = (site / path).read_text(encoding="utf-8")
        assert "<!--figure:" not in text, path
        assert "<!--version-->" not in text, path
    drawn = {path.stem for path in (site / "figures").iterdir()}
    assert {f"widths-{name}" for name in ("index-lookup", "dyck", "equality")} <= drawn
    assert {f"attention-{name}" for name in constructions()} <= drawn
    assert {"protocol-index-lookup", "protocol-dyck-rnn"} <= drawn
    for stem in drawn:
        assert (site / "figures" / f"{stem}.svg").read_text(encoding="utf-8").startswith("<svg")
        assert (site / "figures" / f"{stem}.png").read_bytes().startswith(b"\x89PNG")


def test_task_pages_have_all_their_parts(site):
    parts = ("about", "sizes", "evidence", "networks", "conversation", "training", "reproduce")
    for name in tasks():
        text = (site / task_address(name)).read_text(encoding="utf-8")
        for part in parts:
            assert f'id="{part}"' in text or (part == "sizes" and "figure-widths" not in text), (name, part)
        assert piece("command", f"separatrix sample {name} --length ").removesuffix("</code></pre>") in text
        assert 'class="origin" data-origin="' in text


def test_a_page_without_records_says_so(site):
    results = json.loads((site / "atlas.json").read_text(encoding="utf-8"))
    read = read_sections(results["sections"])
    read["training"] = training.SECTION.collect_from(Sources(), lambda what: None)
    pages = rendered(read, results["provenance"], ordered_sections(), {})
    assert "No run of this experiment is recorded yet" in pages["tasks/index-lookup.html"]
    assert "separatrix sweep <span>figure2-left</span>" in pages["tasks/index-lookup.html"]
    assert "no run recorded" in pages["index.html"]
    assert "No run of this architecture is recorded" in pages["architectures/transformer.html"]


def test_records_that_ship_with_the_project_are_shown_with_where_they_come_from(site, sections):
    assert sections["training"]["runs"] > 0
    for path in ("training.html", "architectures/transformer.html", "tasks/index-lookup.html"):
        text = (site / path).read_text(encoding="utf-8")
        assert 'data-origin="recorded"' in text, path
        assert "NVIDIA H200" in text, path
    learned = sections["training"]["learned"]["transformer"]["rows"]
    assert any(row["task"] == "index-lookup" and row["learned"] for row in learned)


def test_certified_trained_models_and_attacks_are_on_the_pages(site):
    text = unescape((site / "training.html").read_text(encoding="utf-8"))
    for one in trained_models():
        assert one.text in text
        # The page of a task speaks of its usual parameters.
        if one.task in tasks():
            page = unescape((site / task_address(one.task)).read_text(encoding="utf-8"))
            assert all(each in page for each in (one.name, one.inputs, one.command.split()[-1]))
    assert attacked_in_words() in text
    assert all(row.text in text and row.cell in text for row in attacks().rows)


def test_the_paper_s_numbers_stand_beside_ours(site):
    text = (site / "training.html").read_text(encoding="utf-8")
    assert "printed in the paper" in text
    assert re.search(r'class="heat" style="--strength:\d+%">28\.9</td>', text), "Mamba-(6,256) at 200"


# -- the table ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def embedded_grid(site: Path) -> dict:
    text = (site / "index.html").read_text(encoding="utf-8")
    return json.loads(text.split('id="grid">')[1].split("</script>")[0])


@pytest.mark.parametrize("task", ["index-lookup", "dyck", "equality", "match3", "cnf"])
@pytest.mark.parametrize("model", ["rnn", "transformer-1layer", "fnn"])
def test_lower_numbers_are_those_of_the_bounds(embedded_grid, task, model):
    bounded = {"cnf": "sparse-threshold"}.get(task, task)
    found = embedded_grid["cells"][f"{task}/{model}"]["lower"]
    expected = [each for each in bounds_for(bounded, model) if isinstance(each, ProtocolBound)]
    if not expected:
        assert found == []
        return
    for p, precision in enumerate(embedded_grid["precisions"]):
        for n, length in enumerate(embedded_grid["lengths"]):
            if embedded_grid["cells"][f"{task}/{model}"]["unit"] == BITS:
                sizes = [bound.required_bits(length, tasks()[bounded]) for bound in expected]
            else:
                sizes = [bound.smallest_width(length, precision, task=tasks()[bounded]) for bound in expected]
            assert found[p][n] == f"{max(sizes):,}"


def test_upper_numbers_are_certified_where_they_say_so(sections, embedded_grid):
    """First what is certified with a description no larger than the theorem's own, else the theorem's own as built;
    networks that are narrower and larger are second, and nothing is called certified that is not."""
    heads = {entry["name"]: max(1, entry["sizes"][0]["heads"]) for entry in sections["constructions"]["constructions"]}
    theorem: dict[tuple[str, int], tuple[int, int]] = {
        (entry["name"], row["length"]): (row["width"] * max(1, row["heads"]), row["size_bits"])
        for entry in sections["constructions"]["constructions"]
        for row in entry["sizes"]
        if row["certified"]
    }
    built: dict[tuple[str, int], tuple[int, int]] = {
        (name, row["length"]): (row["width"] * max(1, row["heads"] or 1), row["size_bits"])
        for name, entry in sections["numbers"]["constructions"].items()
        for row in entry["sizes"]
    }
    frontier = sections["frontier"]
    assert frontier["recorded"], "the surveys that ship with the project are read"
    surveyed: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for row in [*frontier["rows"], *frontier["recorded"]]:
        for point in row["points"]:
            found = (point["width"] * heads[row["construction"]], point["size_bits"])
            surveyed.setdefault((row["construction"], point["length"]), []).append(found)
    checked = narrower = 0
    for key, cell in embedded_grid["cells"].items():
        task, model = key.split("/")
        names = [each["name"] for each in sections["numbers"]["cells"][task][model]["constructions"]]
        for n, length in enumerate(embedded_grid["lengths"]):
            text, kind, _, _, other = cell["upper"][n]
            keys = [(name, length) for name in names]
            small, large = [theorem[each][0] for each in keys if each in theorem], []
            for each in keys:
                own = theorem.get(each, built.get(each, (0, None)))[1]
                for width, bits in surveyed.get(each, []):
                    (small if own is not None and bits <= own else large).append(width)
            own_widths = [built[each][0] for each in keys if each in built]
            expected = small or own_widths or large
            if not expected:
                assert kind not in (CERTIFIED, FORMULA) and other is None
                continue
            assert kind == (FORMULA if own_widths and not small else CERTIFIED), (key, length)
            assert _product(text) == min(expected), (key, length)
            below = [width for width in large if width < min(expected)]
            assert (other is not None) == bool(below), (key, length)
            if other is not None:
                assert _product(other[0]) == min(below)
                narrower += 1
            checked += 1
    assert checked > 50
    assert narrower > 20


def _product(text: str) -> int:
    return int(numpy.prod([int(part.replace(",", "")) for part in text.split(" × ")]))


def test_the_command_of_a_certified_number_gives_that_number(sections, embedded_grid, tmp_path, capsys):
    """What a cell says at the sliders' start comes out of the command that is next to it."""
    grid = grid_of(sections)
    calls = {}
    for cell in embedded_grid["cells"].values():
        text, kind, note, command, other = cell["upper"][grid.length]
        assert bool(command) == (kind == CERTIFIED)
        for width, said, call in ((text, note, command), *([other] if other else [])):
            if call.startswith("separatrix certify") and " × " not in width:
                told = re.search(r"p = (\d+) bits, ([\d,]+) bits in all", said)
                calls[call] = tuple(int(each.replace(",", "")) for each in (width, *told.groups()))
    assert "separatrix certify index-lookup --length 1024" in calls
    assert "separatrix certify index-lookup --length 1024 --family circle --precision 42" in calls
    first = {call.split()[2]: call for call in reversed(calls)}
    quick = [first[name] for name in ("index-lookup", "equality", "dyck-dfa")]
    for place, call in enumerate(quick):
        capsys.readouterr()
        assert run([*call.split()[1:], "--json", "--out", str(tmp_path / str(place))]) == 0
        made = json.loads(capsys.readouterr().out)
        assert (made["width"], made["precision_bits"], made["size_bits"]) == calls[call], call


def test_a_narrower_network_is_told_beside_the_theorems_own(site, sections):
    """The theorem's own width is what is logarithmic; a circle is narrower, and its description is larger."""
    grid = grid_of(sections)
    upper, lower, bits = grid.cell("index-lookup", "transformer-1layer").at(grid.length, grid.precision)
    own = next(each for length, each in grid.points("index-lookup") if length == 1024 and each.theorem)
    assert upper.text == str(own.width)
    assert upper.note.endswith(f"p = 42 bits, {own.size_bits:,} bits in all")
    assert upper.narrower.text == "10"
    assert "circle addresses, p = 42 bits, " in upper.narrower.note
    assert int(re.search(r"([\d,]+) bits in all", upper.narrower.note)[1].replace(",", "")) > own.size_bits
    assert (lower, bits) == ("", None)
    front, page = ((site / name).read_text(encoding="utf-8") for name in ("index.html", "tasks/index-lookup.html"))
    assert piece("command", upper.command) in front, "in the card"
    for each in (upper, upper.narrower):
        assert each.command in front, "in the grid"
        assert piece("command", each.command) in page
    assert "Narrower, with a large lookup table: width 10" in page
    assert "or 10 with a large lookup table" in page
    assert "“Logarithmic” is said of width and precision" in front


def test_a_card_compares_both_sides_at_one_length(site, sections):
    front = (site / "index.html").read_text(encoding="utf-8")
    grid = grid_of(sections)
    cards = re.findall(r'<a class="story".*?</a>', front, flags=re.DOTALL)
    assert len(cards) == 3
    for card, story in zip(cards, STORIES, strict=True):
        upper = grid.cell(story.task, story.able).upper[grid.start]
        lower = grid.cell(story.task, story.unable).at(grid.start, grid.precision)[1]
        sentence = re.search(r"<p data-sentence>(.*?)</p>", card)[1]
        assert re.findall(r"\d[\d,]*", sentence)[:3] == [upper.text, f"{grid.lengths[grid.start]:,}", lower]


def test_a_picture_has_the_sizes_that_the_sentence_says(sections, embedded_grid):
    grid = grid_of(sections)
    for story in STORIES:
        drawn, able = embedded_grid["stories"][story.task], grid.cell(story.task, story.able)
        assert [number(size) for size in drawn["enough"]] == [upper.text for upper in able.upper]
        unable = grid.cell(story.task, story.unable)
        for precision, row in zip(grid.precisions, zip(drawn["needed"], unable.lower, strict=True), strict=True):
            widths, texts = row
            if unable.unit == BITS:
                # The numbers of p bits that the bits of a state fill.
                texts = tuple(number(-(-bits // precision)) for bits in unable.bits)
            assert [number(width) for width in widths] == list(texts)
        assert 2 ** drawn["highest"] >= max([*drawn["enough"], *drawn["needed"][0]])


def test_a_place_without_a_size_is_marked(sections, embedded_grid):
    """A unit alone would look like a number that was lost."""
    changed = json.loads(json.dumps(sections))
    for fact in changed["numbers"]["cells"]["eq-one"]["rnn"]["facts"]:
        fact["sizes"] = fact["sizes"][:1]
    cell = grid_of(changed).cell("eq-one", "rnn")
    assert cell.upper[0].text and not cell.upper[1].text
    for place, marked in ((0, False), (1, True)):
        inside = piece("cell_inside", cell, place, 0)
        assert "bits of state" in inside
        assert (f">{UNKNOWN}<" in inside) == marked
    known = [key for key, each in embedded_grid["cells"].items() if key.endswith("/rnn") and each["upper"][-1][0]]
    assert "index-lookup/rnn" in known and len(known) > 10, "simple arguments have sizes at the largest length"


def test_pages_of_tasks_lead_to_the_meaning_of_their_signs(site):
    assert 'id="reading"' in (site / "index.html").read_text(encoding="utf-8")
    for name in tasks():
        page = (site / task_address(name)).read_text(encoding="utf-8")
        assert page.index("../index.html#reading") < page.index('id="about"'), name


def test_both_numbers_of_a_cell_have_one_unit(site):
    page = (site / "tasks" / "index-lookup.html").read_text(encoding="utf-8")
    cell = page.split('class="verdicts"')[1].split("</li>")[0]
    assert "bits of state" in cell and "≤ 6,154<" in cell and "≥ 6,144<" in cell


def test_no_legend_is_wider_than_its_figure(site):
    names = [*(f"widths-{name}" for name in tasks()), "construction-widths", "frontier-widths"]
    drawn = [path for name in names if (path := site / "figures" / f"{name}.png").exists()]
    assert len(drawn) > 20
    for path in drawn:
        with Image.open(path) as picture:
            ink = numpy.asarray(picture.convert("L")) < 250
        assert not ink[:, :2].any() and not ink[:, -2:].any(), path.name


def test_words_of_commands_are_kept_whole_and_text_is_escaped_once():
    assert piece("command", "separatrix train 'TF-(1,64)' --length 50") == (
        '<pre class="command"><code>separatrix train <span>&#39;TF-(1,64)&#39;</span> <span>--length</span> 50'
        "</code></pre>"
    )
    assert with_code("see `a --b <c>` & more") == "see <code>a <span>--b</span> &lt;c&gt;</code> &amp; more"


def test_profiles_show_counts_of_lengths_that_were_run_and_no_law(sections):
    found = read_sections(sections)["profiles"]
    body = profiles.SECTION.body(found)
    assert "at least 1 bit of state at N = 14; classes at N = 11, 12, 13, 14: 2, 2, 2, 2" in body
    row = next(row for row in found.rows if row.function == "balanced")
    axes = figures.Figure().add_subplot()
    _paint_lengths(axes, row)
    drawn = [(line.get_linestyle(), list(line.get_xdata())) for line in axes.get_lines()]
    assert drawn == [("None", list(range(1, 9))), ("None", list(range(2, 9)))]


def test_lists_say_what_a_reader_cannot_know(site, sections):
    about = (site / "about.html").read_text(encoding="utf-8")
    assert "arXiv:2406.09347" in about and "arXiv:2306.02896" in about
    index = (site / "bounds.html").read_text(encoding="utf-8").split('<ol class="index">')[1].split("</ol>")[0]
    told = re.findall(r">([^<]+)</a> <span[^>]*>([^<]+)<", index)
    assert len(told) == len(set(told)) == len(sections["bounds"]["rows"]), "claims of one name are told apart"
    assert ("BHBK24 §4.2 and F.3", "sparse-threshold (any RNN)") in told
    for path in (site / "tasks").glob("*.html"):
        assert " = None" not in path.read_text(encoding="utf-8"), path.name
    frontiers = (site / "frontiers.html").read_text(encoding="utf-8")
    assert "<td>11, 2 circles</td>" in frontiers, "a width and a code that begins with a number are told apart"
    assert frontiers.count("<caption>") == frontiers.count("<table>") == 1 + len(sections["frontier"]["recorded"])


def test_the_figure_of_real_models_names_a_model_that_it_shows(site):
    text = (site / "real-models.html").read_text(encoding="utf-8")
    assert "<summary>mamba-130m: <span>24 × mamba</span></summary>" in text
    figure = text.split("<figure")[1].split("</figure>")[0]
    named = re.search(r"separatrix capacity (\S+)", re.sub(r"<[^>]+>", "", figure))
    assert named is not None and f">{named[1]}<" in figure


def test_several_heads_are_told_with_the_width_of_one():
    one = certified_size(constructions()["match3-heads"], 16)
    assert one is not None and one.short == "width 33, 16 heads of width 1"
    # What the bounds count, heads times the width of a head, is N.
    assert one.size.heads * one.size.width == 16


def test_every_construction_is_certified_as_far_as_it_is_asked_on_every_machine(sections):
    """How long a size took decides nothing: the limit of time is for users' constructions."""
    asked = {name: each.longest_certified or 1024 for name, each in constructions().items()}
    # Beyond these the sums of the checker have more than 62 bits.
    asked |= {"match2-code": 256, "match3-last": 256}
    sizes = {each["name"]: each["sizes"] for each in sections["constructions"]["constructions"]}
    assert {name: rows[-1]["length"] for name, rows in sizes.items()} == asked
    assert all(row["certified"] for rows in sizes.values() for row in rows)


def test_the_page_without_scripts_shows_the_grid_at_its_start(site, sections, embedded_grid):
    grid = grid_of(sections)
    text = (site / "index.html").read_text(encoding="utf-8")
    for key, cell in embedded_grid["cells"].items():
        task, model = key.split("/")
        inside = text.split(f'data-task="{task}" data-model="{model}">')[1].split("</td>")[0]
        assert f"{cell['verdict']}</span>" in inside
        assert f'href="{task_address(task)}#{model}"' in inside
    assert f"{length_text(embedded_grid['lengths'][grid.start])}</output>" in text


def test_no_cell_is_smaller_from_above_than_from_below(sections, embedded_grid):
    """At the precision of the certified network or more, a bound must leave room for it."""
    for key, cell in embedded_grid["cells"].items():
        for n in range(len(embedded_grid["lengths"])):
            text, kind, note, *_ = cell["upper"][n]
            if cell["unit"] == BITS and text and cell["bits"]:
                assert int(text.replace(",", "")) >= cell["bits"][n], (key, n)
            found = re.search(r"p = (\d+)", note)
            if kind not in (CERTIFIED, ARGUMENT) or not cell["lower"] or not found or cell["unit"] == BITS:
                continue
            width = int(numpy.prod([int(part.replace(",", "")) for part in text.split(" × ")]))
            wider = [p for p, precision in enumerate(embedded_grid["precisions"]) if precision >= int(found[1])]
            assert all(width >= int(cell["lower"][p][n].replace(",", "")) for p in wider), (key, n)


def test_lengths_that_were_not_built_are_left_open(sections):
    changed = json.loads(json.dumps(sections))
    changed["numbers"]["constructions"]["match3-local"]["sizes"] = []
    changed["constructions"]["constructions"] = []
    cell = grid_of(changed).cell("match3-local", "transformer-1layer")
    assert {upper.kind for upper in cell.upper} == {"nothing"}
    assert "not built" in cell.upper[0].note


def test_rows_are_all_there_once(site):
    text = (site / "index.html").read_text(encoding="utf-8")
    links = re.findall(r'<th scope="row" role="rowheader"><a href="(tasks/[\w-]+\.html)">', text)
    assert sorted(links) == sorted(map(task_address, tasks()))
    assert text.count('role="columnheader"') == len(CLASSES) + 1


# -- style --------------------------------------------------------------------------------------------------


def colours(scheme: int) -> dict[str, str]:
    """The variables of the style in light or dark."""
    blocks = re.findall(r":root \{(.*?)\}", asset("site.css"), flags=re.DOTALL)
    found = dict(re.findall(r"(--[\w-]+): (#[0-9a-f]{6})", blocks[LIGHT]))
    if scheme == DARK:
        found |= dict(re.findall(r"(--[\w-]+): (#[0-9a-f]{6})", blocks[DARK]))
    return found


def luminance(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, two: str) -> float:
    dark, light = sorted((luminance(one), luminance(two)))
    return (light + 0.05) / (dark + 0.05)


def mixed(colour: str, ground: str, share: float) -> str:
    pairs = zip(*([int(each[place : place + 2], 16) for place in (1, 3, 5)] for each in (colour, ground)), strict=True)
    return "#" + "".join(f"{round(share * one + (1 - share) * two):02x}" for one, two in pairs)


@pytest.mark.parametrize("scheme", [LIGHT, DARK])
def test_text_has_enough_contrast(scheme):
    found = colours(scheme)
    grounds = [found[name] for name in ("--paper", "--card", "--tint")]
    tones = ("--constant", "--logarithmic", "--linear", "--quadratic", "--open")
    for name in ("--ink", "--soft", "--link", *tones):
        assert all(contrast(found[name], ground) >= 4.5 for ground in grounds), (name, scheme)
    for tone in tones:
        ground = mixed(found[tone], found["--card"], 0.17)
        assert contrast(found[tone], ground) >= 4.5, (tone, "on its own tint", scheme)
        assert contrast(found["--soft"], ground) >= 4.5, (tone, "quiet text on it", scheme)
    strongest = {LIGHT: 0.5, DARK: 0.4}[scheme]
    assert f"--heat: {strongest:.1f}".replace("0.", ".") in asset("site.css")
    for series in (1, 2, 3):
        ground = mixed(found[f"--series-{series}"], found["--card"], strongest)
        assert contrast(found["--ink"], ground) >= 4.5, (series, "heat maps", scheme)
    for series in range(1, 7):
        assert contrast(found[f"--series-{series}"], found["--card"]) >= 3, (series, scheme)


def test_verdicts_differ_by_more_than_colour(site):
    text = (site / "index.html").read_text(encoding="utf-8")
    signs = dict(re.findall(r'v-(\w+)"><span aria-hidden="true">(.)</span>', text))
    assert len(set(signs.values())) == len(signs) >= 5


# -- origins ------------------------------------------------------------------------------------------------


def test_every_origin_names_its_command(site, read):
    """All but what a paper prints, which no command gives."""
    for path in read:
        text = (site / path).read_text(encoding="utf-8")
        for line in re.findall(r'<p class="origin".*?</p>', text, flags=re.DOTALL):
            if 'data-origin="printed"' in line:
                assert "<code>" not in line and "float32" not in line and "BHBK24" in line
                continue
            assert re.search(r"<code>(separatrix|python) .+</code>", line), (path, line)
            assert "separatrix 0." in line


def test_an_origin_tells_kind_reach_arithmetic_seed_and_version():
    line = piece("origin", Origin("recorded", "all <of> it", "separatrix x", "float32", 3, "9.9"))
    for part in ("recorded elsewhere", "all &lt;of&gt; it", "float32", "seed 3", "separatrix 9.9", "separatrix x"):
        assert part in line
    assert set(MEANINGS) == {"proved", "verified", "measured", "recorded", "formula", "printed"}


# -- errata -------------------------------------------------------------------------------------------------


def test_every_erratum_came_out_as_it_says(sections):
    rows = sections["errata"]["rows"]
    assert [row["name"] for row in rows] == sorted(errata(), key=lambda name: int(name[1:]))
    assert len(rows) >= 25
    for row in rows:
        assert row["findings"], row["name"]
        assert all(finding["holds"] for finding in row["findings"]), row["name"]
        assert any(finding["about"] == "repair" for finding in row["findings"]), row["name"]


def test_an_erratum_that_does_not_come_out_is_shown_as_such():
    def show() -> tuple[Finding, ...]:
        return (Finding("original", "it is <right> after all", False),)

    wrong = Erratum(number=99, source="s", title="t", claim="c", fault="f", repair="r", show=show)
    text = errata_section.SECTION.body(errata_section.ErrataResults((errata_section.ErratumRow.of(wrong),)))
    assert "did not come out as stated" in text
    assert "it is &lt;right&gt; after all" in text


# -- attention ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["index-lookup", "equality", "mqar", "match3", "directed-3-cycle", "dyck-rnn"])
def test_attention_maps_are_weights(name):
    built = constructions()[name].build(12)
    row = numpy.asarray(built.task.sample(draws_from(1), 1, 12).inputs)[0]
    for each in attention_maps(built.network, row, built.arithmetic, query=5):
        if each.kind == "states":
            assert each.weights.shape == (built.network.width, 12)
            continue
        totals = each.weights.sum() if each.kind == "pairs" else each.weights.sum(axis=1)
        assert (each.weights >= 0).all()
        assert (numpy.asarray(totals) <= 1 + 1e-9).all()


def test_attention_maps_give_the_network_s_own_averages():
    """Weights times values, projected, are what the layer adds to the stream: the maps are the ones it used."""
    built = constructions()["index-lookup"].build(12)
    network, arithmetic = built.network, built.arithmetic
    assert isinstance(network, Network)
    row = numpy.asarray(built.task.sample(draws_from(2), 1, 12).inputs)[0]
    weights = attention_maps(network, row, arithmetic, query=12)[0].weights
    layer = network.layers[0]
    assert isinstance(layer, Attention)
    stream = embedded(network, row[None], arithmetic)
    values = arithmetic.to_float64(arithmetic.matmul(stream, layer.heads[0].value.encoded(arithmetic).T))[0]
    symbol = (weights[-1] @ values > 0.5).astype(int)
    answer = int("".join(map(str, symbol)), 2)
    assert answer == int(evaluate(network, row[None], arithmetic).answers[0, 0]) == row[row[-1] - 64]


# -- records ------------------------------------------------------------------------------------------------


@pytest.fixture
def store(tmp_path):
    """A store with one run that learned and one that did not."""
    from separatrix.training.events import Point, Result
    from separatrix.training.experiments.catalog import experiments
    from separatrix.training.records import Records

    path = tmp_path / "runs.sqlite"
    cells = experiments()["figure2-left"].sweep("quick").cells()
    runs = [cell.runs[0] for cell in cells]
    chosen = [
        next(run for run in runs if run.architecture.startswith("TF")),
        next(run for run in runs if run.architecture.startswith("LSTM")),
    ]
    with Records(path) as records:
        for run, accuracy in zip(chosen, (0.9995, 0.25), strict=True):
            records.add_points([Point(run.name, step, 1.0, accuracy, accuracy) for step in (0, 100)])
            result = Result(run.name, "steps", run.steps, accuracy, 0.1, 3.0, 1000)
            records.add_results([run], [result], {"device_name": "a device", "separatrix": "0.0.7"}, None)
    return path


def test_recorded_runs_become_marks_tables_and_figures(store):
    results = training.SECTION.collect_from(Sources(store=store), lambda what: None)
    assert results.runs == 2
    assert results.files == (str(store),)
    marks = results.marks["index-lookup"]
    assert marks["transformer-1layer"].learned is not None
    assert marks["rnn"].learned is None
    assert marks["rnn"].tried > 0
    assert set(results.learned) == {"transformer", "lstm"}
    row = next(each for each in results.rows if each.figure == "figure2-left")
    assert row.recorded == 2
    assert row.origin.kind == "recorded"
    assert "a device" in row.origin.reach
    assert row.origin.version == "0.0.7"
    data = figure_data(row)
    assert data.recorded == 2
    assert json.loads(json.dumps(data.as_dict()["cells"])) == json.loads(json.dumps(plain(row.cells)))
    body = training.SECTION.body(results)
    assert ">100.0</td>" in body or ">99.9</td>" in body or ">100.0<" in body
    assert "separatrix 0.0.7" in body


def test_exported_runs_and_stores_are_read_together(store, tmp_path):
    from separatrix.training.export_records import export
    from separatrix.training.records import Records

    folder = tmp_path / "results" / "deeper"
    folder.mkdir(parents=True)
    with Records(store) as records:
        export(records, records.all()[:1], folder / "runs.json")
    (folder / "other.json").write_text('{"format": "something else"}')
    runs, files = read_runs(Sources((tmp_path / "results",), store))
    assert len(runs.all()) == 2
    assert len(files) == 2
    name = runs.all()[0].spec.name
    assert runs.get(name).spec.name == name
    assert runs.find([name])[name].spec.name == name
    assert [point.step for point in runs.curve(name)] == [0, 100]
    assert runs.snapshots(name) == {}
    with pytest.raises(SeparatrixError, match="is named 'zzz'"):
        runs.get("zzz")


def test_recorded_surveys_are_found_and_broken_files_are_named(tmp_path):
    made = {"command": "separatrix frontier", "arithmetic": "fixed point", "seed": None, "versions": {}}
    survey = {"construction": "index-lookup", "widths": [], "provenance": made}
    (tmp_path / "frontier.json").write_text(json.dumps(survey))
    (tmp_path / "other.json").write_text("[1, 2]")
    assert [found.construction for _, found in recorded_surveys(Sources((tmp_path,)))] == ["index-lookup"]
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(SeparatrixError, match=r"cannot read .*broken\.json"):
        list(recorded_surveys(Sources((tmp_path,))))
    (tmp_path / "broken.json").write_text(json.dumps({**survey, "provenance": {**made, "seed": "0"}}))
    with pytest.raises(SeparatrixError, match=r"broken\.json is not a whole record of a frontier \(provenance\.seed"):
        list(recorded_surveys(Sources((tmp_path,))))


# -- formulas and search ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("has mp ≥ ⌊(N-1)/2⌋²", ["has <math>", "<mfrac>", "⌊", "<msup>"]),
        ("h_{t-1} and S_tᵀ", ["<msub><mi>h</mi><mrow>", "<msubsup>"]),
        ("width O(log N), p = 32", ["width <math>", "<mi>O</mi>", '<mi mathvariant="normal">log</mi>']),
        ("g(N) = Ω(N/log² N)", ["<mfrac><mi>N</mi><mrow><msup>"]),
    ],
)
def test_formulas_are_set(text, parts):
    made = str(prose(text))
    assert all(part in made for part in parts), made
    Reader(made)


@pytest.mark.parametrize(
    "text", ["a Dyck-(2,2) word", "§6, Appendix H.1", "BHBK24 Theorem 3 (E13)", "<b>&2</script>", "float32, 1-layer"]
)
def test_words_are_no_formulas(text):
    assert unescape(str(prose(text))) == text


def test_every_statement_is_set_and_well_formed(sections):
    for row in sections["bounds"]["rows"]:
        made = str(prose(row["statement"]))
        assert "<math>" in made and Reader(made).stack == [], row["name"]
    for row in sections["architectures"]["rows"]:
        assert all(Reader(str(equation(line))).stack == [] for line in row["equations"]), row["name"]


def test_the_index_of_the_search_leads_to_parts_that_are_there(site, read):
    text = (site / "assets" / "search.js").read_text(encoding="utf-8")
    entries = json.loads(text.removeprefix("window.ATLAS_INDEX=").removesuffix(";"))
    assert {entry[0] for entry in entries if not entry[2]} == set(read)
    for address, *_ in entries:
        path, _, anchor = address.partition("#")
        assert not anchor or anchor in read[path].ids, address
    assert any(heading.startswith("BHBK24 Theorem 3") for _, _, heading, _ in entries)
