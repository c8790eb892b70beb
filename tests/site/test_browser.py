"""The explorer and the static site in a real browser, with the mouse, with the keyboard alone, light, dark and narrow.

Needs a Chromium, which ``make test`` sets up where it is missing (``tools/get_chromium.py``). SEPARATRIX_SCREENSHOTS
names a folder that keeps the pictures.
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright
from tools.get_chromium import NONE, chromium
from tools.running_server import running_server

from separatrix.site.training_page import figure_page
from separatrix.training.driver import Driver
from separatrix.training.events import Result
from separatrix.training.executors.opening import open_executor
from separatrix.training.experiments.figure_data import gather
from separatrix.training.grouping import Group
from separatrix.training.observers import Observers
from separatrix.training.records import Records
from separatrix.training.spec import RunSpec
from tests.training.test_figures import recorded

ESSENTIALS = Path(__file__).with_name("accessibility.js").read_text(encoding="utf-8")
VIEWS = ("attention", "layers", "protocol", "compare")
PHONE = {"width": 360, "height": 740}
WIDTHS = (1440, 1024, 820, 700, 390, 360)
PATIENCE = 600_000
"""Milliseconds after which something is taken to hang; nothing takes as long, however busy the machine."""
SETTLED = "body[data-look][data-verdict]:not([data-busy])"
"""Everything that was asked of the server is shown."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = chromium()
    if path is None:
        pytest.skip(NONE)
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_server(tmp_path_factory.mktemp("browser") / "runs.sqlite", "--max-seconds", "600") as found:
        yield found


@contextmanager
def opened(browser: Browser, url: str, **options: Any) -> Iterator[Page]:
    """A page that must not complain: no error on the console, no failed or refused request."""
    # Without moving colours, of which a check would see some moment.
    options = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", **options}
    context = browser.new_context(**options)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    wrong: list[str] = []
    page.on("console", lambda said: wrong.append(said.text) if said.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    # What the page itself gives up, because something newer was asked for, did not fail.
    given_up = ("net::ERR_ABORTED",)
    page.on(
        "requestfailed",
        lambda each: wrong.append(f"{each.url} {each.failure}") if each.failure not in given_up else None,
    )
    page.on("response", lambda answer: wrong.append(f"{answer.status} {answer.url}") if answer.status >= 400 else None)
    page.goto(url)
    yield page
    context.close()
    assert wrong == []


@contextmanager
def explorer(browser: Browser, address: str, state: str = "", **options: Any) -> Iterator[Page]:
    """The explorer in some state, after its first verdict."""
    with opened(browser, f"{address}/#{state}", **options) as page:
        page.locator(SETTLED).wait_for()
        yield page


def address_of(page: Page) -> str:
    """The address as the page has it now; ``page.url`` hears of changes later."""
    return str(page.evaluate("location.href"))


def kept(page: Page, name: str) -> None:
    """A picture of the whole page, where SEPARATRIX_SCREENSHOTS names a folder for it."""
    if place := os.environ.get("SEPARATRIX_SCREENSHOTS"):
        page.screenshot(path=Path(place, f"{name}.png"), full_page=True)


def axe(page: Page, **options: Any) -> list[Any]:
    """What axe finds, by rule and place."""
    # Without preloading: axe would fetch style sheets, which a page opened from a file may not.
    found = Axe().run(page, options={"resultTypes": ["violations"], "preload": False, **options}).response
    return [(each["id"], [node["target"] for node in each["nodes"]][:3]) for each in found["violations"]]


def accessible(page: Page, scheme: str = "light") -> None:
    """The essential checks of our own, and all of axe's; dark colours change nothing but contrast."""
    rules = {} if scheme == "light" else {"runOnly": ["color-contrast"]}
    assert [*page.evaluate(ESSENTIALS), *axe(page, **rules)] == [], page.url


FITS = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"


def fits(page: Page) -> bool:
    """Whether nothing has to be scrolled sideways."""
    return bool(page.evaluate(FITS))


def drag(page: Page, slider: Locator, share: float) -> None:
    """Move a slider to a part of its width with the mouse."""
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    assert box is not None
    value, low, high = (float(slider.evaluate(f"e => e.{name}")) for name in ("value", "min", "max"))
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 8 + (box["width"] - 16) * (value - low) / (high - low), middle)
    page.mouse.down()
    for step in (0.3, 0.7, 1.0):
        page.mouse.move(box["x"] + box["width"] * share, middle + step)
    page.mouse.up()


# -- the explorer ------------------------------------------------------------------------------------------


def test_a_certificate_is_lost_when_the_scale_is_dragged_down_and_found_again(browser: Browser, address: str) -> None:
    with explorer(browser, address, "construction=index-lookup&length=32") as page:
        verdict, margin = page.locator("#verdict"), page.locator("#margin")
        expect(verdict).to_have_attribute("data-state", "certified")
        before = margin.inner_text()
        drag(page, page.locator("#gain"), 0.15)
        expect(verdict).to_have_attribute("data-state", "refuted")
        expect(page.locator("#word")).to_have_text("✗ refuted")
        expect(margin).not_to_have_text(before)
        # The input that breaks it is run, and answered wrongly on the page.
        page.get_by_role("button", name="Run this input").click()
        expect(page.locator("#answer .wrong")).to_be_visible()
        expect(page.locator("#text")).to_have_value(page.locator("#broken-input").inner_text())
        page.get_by_role("button", name="back to the theorem default").first.click()
        expect(verdict).to_have_attribute("data-state", "certified")
        expect(page.locator("#answer .right")).to_be_visible()
        expect(page.locator("#counterexample")).to_be_hidden()


def test_sliders_are_answered_and_the_state_is_in_the_address(browser: Browser, address: str) -> None:
    with explorer(browser, address, "construction=equality&length=16") as page:
        page.locator("#length").fill("12")
        expect(page.locator("#length-number")).not_to_have_value("16")
        page.locator("#rounding").select_option("nearest")
        page.locator("#exponent").fill("3")
        page.locator("#tab-layers").click()
        page.locator("#symbols button").nth(2).click()
        expect(page.locator("#symbols button").nth(2)).to_have_attribute("aria-pressed", "true")
        expect(page.locator("#verdict")).to_have_attribute("data-state", "certified")
        page.locator("#shuffle").click()
        expect(page.locator("#exponent-value")).to_contain_text("3 ·")
        page.locator(SETTLED).wait_for()
        expect(page.locator("#command")).to_contain_text("--rounding nearest")
        shown = {name: page.locator(name).inner_text() for name in ("#command", "#position-value", "#answer")}
        url, typed = address_of(page), page.locator("#text").input_value()
    with opened(browser, url) as other:
        other.locator(SETTLED).wait_for()
        expect(other.locator("#text")).to_have_value(typed)
        expect(other.locator("#tab-layers")).to_have_attribute("aria-selected", "true")
        for name, value in shown.items():
            expect(other.locator(name)).to_have_text(value, use_inner_text=True)


def test_typing_an_input_runs_it_and_a_wrong_one_is_explained(browser: Browser, address: str) -> None:
    context = "construction=index-lookup&length=4&p.alphabet=2&tab=layers"
    with opened(browser, f"{address}/#{context}") as page:
        page.locator("body[data-look]").wait_for()
        page.locator("#text").fill("0 1 0 0 @2")
        expect(page.locator("#answers tbody tr td").nth(2)).to_have_text("1")
        page.locator("#stage-first").click()
        expect(page.locator("#stage-text")).to_contain_text("1 of")
        page.locator("#stage-next").click()
        expect(page.locator("#stage-text")).to_contain_text("attention 1")
        assert page.locator("#stages tbody th").all_inner_texts() == ["symbol", "asked", "address", "output"]
    with browser.new_context() as context_without_watch:
        # The server's refusal is a status of 422, which the browser's console calls an error.
        context_without_watch.set_default_timeout(PATIENCE)
        page = context_without_watch.new_page()
        page.goto(f"{address}/#{context}")
        page.locator("body[data-look]").wait_for()
        page.locator("#text").fill("0 1")
        expect(page.locator("#look-error")).to_contain_text("has 2 symbols")


def test_a_length_that_is_not_offered_is_replaced_and_the_page_says_why(browser: Browser, address: str) -> None:
    with explorer(browser, address, "construction=index-lookup&length=100000") as page:
        typed, note = page.locator("#length-number"), page.locator("#length-note")
        for _ in ("from the address", "typed"):
            expect(typed).to_have_value("512")
            expect(note).to_contain_text("100,000")
            expect(note).to_contain_text("separatrix certify index-lookup --length 100000")
            assert "length=512" in address_of(page)
            accessible(page)
            typed.fill("16")
            typed.press("Enter")
            expect(note).to_be_hidden()
            typed.fill("100000")
            typed.press("Enter")
        # What is chosen next takes the note away, and it does not come back.
        page.locator("#length").fill("0")
        expect(note).to_be_hidden()
        page.locator("#length").fill(page.locator("#length").get_attribute("max") or "")
        expect(typed).to_have_value("512")
        expect(note).to_be_hidden()
        for wanted, used in (("0", "2"), ("2000000", "512"), ("2.5", "3"), ("", "2")):
            typed.fill(wanted)
            typed.press("Enter")
            expect(note).to_contain_text(wanted.replace("2000000", "2,000,000"))
            expect(typed).to_have_value(used)
        # An address that is changed by hand is treated alike, and so is a construction that does not exist.
        page.evaluate("location.hash = 'construction=equality&length=7'")
        expect(typed).to_have_value("6")
        page.evaluate("location.hash = 'construction=nothing&length=9&tab=nowhere'")
        expect(page.locator("#construction-note")).to_contain_text("nothing")
        expect(page.locator("#panel-attention")).to_be_visible()
        expect(page.locator("#verdict")).to_have_attribute("data-state", "certified")


def test_the_protocol_is_stepped_through_with_a_chosen_partition(browser: Browser, address: str) -> None:
    with explorer(browser, address, "construction=index-lookup&length=8&tab=protocol") as page:
        parties = page.locator("#parties button")
        expect(parties).to_have_count(9)
        expect(parties.nth(0)).to_have_attribute("data-party", "Alice")
        parties.nth(0).click()
        expect(parties.nth(0)).to_have_attribute("data-party", "Bob")
        expect(page.locator("#partition")).to_have_value("3,5,7,9")
        expect(page.locator(".message")).to_have_count(0)
        for count in (1, 2):
            page.locator("#message-next").click()
            expect(page.locator(".message")).to_have_count(count)
        page.locator("#message-all").click()
        expect(page.locator("#protocol-end .right")).to_be_visible()
        expect(page.locator("#protocol-end a")).not_to_have_count(0)  # the errata of the theorem's constant
        page.locator("#message-back").click()
        expect(page.locator("#protocol-end")).to_be_empty()
        # Positions count from 1, also where they are typed.
        typed = page.locator("#partition")
        for wrong in ("0,3", "3,10"):
            typed.fill(wrong)
            typed.press("Enter")
            expect(page.locator("#protocol-summary")).to_contain_text("9")
        typed.fill("1,9")
        typed.press("Enter")
        expect(parties.nth(0)).to_have_attribute("data-party", "Alice")
        expect(page.locator("#parties [data-party=Alice]")).to_have_count(2)
        assert "partition=0%2C8" in address_of(page)


def test_long_work_shows_its_seconds_and_is_cancelled(browser: Browser, address: str) -> None:
    with opened(browser, f"{address}/#construction=dyck-transformer&length=512&p.depth=12") as page:
        expect(page.locator("#busy")).to_be_visible()
        expect(page.locator("#busy-text")).to_contain_text(re.compile(r"\d s"))
        page.locator("#cancel").click()
        expect(page.locator("#verdict")).to_have_attribute("data-state", "failed")
        expect(page.locator("#busy")).to_be_hidden()
        # The process is free for what comes next.
        page.locator("#construction").select_option("index-lookup")
        page.locator("#length").fill("3")
        expect(page.locator("#verdict")).to_have_attribute("data-state", "certified")
        page.locator("#threshold").click()
        expect(page.locator("#threshold-result button")).to_have_count(2)
        # It is about this network: another parameter of the task makes another one.
        page.locator("#parameters summary").click()
        page.locator("[id='p.alphabet']").fill("4")
        page.locator("[id='p.alphabet']").press("Enter")
        expect(page.locator("#threshold-result")).to_be_empty()


def test_the_phase_map_is_coloured_by_verdicts_and_a_click_goes_there(browser: Browser, address: str) -> None:
    with explorer(browser, address) as page:
        assert "construction=equality&length=16" in address_of(page) or address_of(page).endswith("#")
        page.locator("#phases[data-done]").wait_for()
        cells = page.locator("#phases button")
        states = cells.evaluate_all("all => all.map(each => each.dataset.state)")
        assert len(states) == 72 and {"certified", "refuted"} <= set(states)
        # The input that the page begins with is right at one η and wrong at another.
        for side in ("right", "wrong"):
            expect(page.locator(f"#curve .{side}")).not_to_have_count(0)
        expect(page.locator("#phases [data-here]")).to_have_attribute("data-state", "certified")
        for state in ("refuted", "certified"):
            page.locator(f"#phases [data-state={state}]").first.click()
            expect(page.locator("#verdict")).to_have_attribute("data-state", state)
            expect(page.locator("#phases [data-here]")).to_have_attribute("data-state", state)
        # The keyboard moves between cells.
        page.locator("#phases [tabindex='0']").focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        expect(page.locator("#phases [data-here]")).to_have_attribute("data-column", "1")


POINTED = """() => {
  const [tour, part] = ["#tour", "[data-toured]"].map(each => document.querySelector(each).getBoundingClientRect());
  return part.height > 0 && part.top >= tour.bottom - 1 && (part.bottom <= innerHeight || part.top <= tour.bottom + 40);
}"""


def test_the_tour_goes_from_a_proof_to_the_input_that_breaks_it(browser: Browser, address: str) -> None:
    with explorer(browser, address, "construction=match2&length=8&p.modulus=8", viewport=PHONE) as page:
        page.locator("#tour-start").click()
        accessible(page)
        for state in ("certified", "certified", "certified", "refuted", "refuted", "refuted", "refuted"):
            expect(page.locator("#verdict")).to_have_attribute("data-state", state)
            page.locator(SETTLED).wait_for()
            assert fits(page)
            # What a step speaks of begins below the tour, and is not below the fold.
            page.wait_for_function(POINTED)
            if "text=" in address_of(page):
                # The input of the tour is the one that the checker shows.
                expect(page.locator("#text")).to_have_value(page.locator("#broken-input").inner_text())
                expect(page.locator("#answer .wrong")).to_be_visible()
            page.locator("#tour-next").click()
        expect(page.locator("#tour")).to_be_hidden()


def test_maps_have_token_labels_and_recurrent_networks_show_states(browser: Browser, address: str) -> None:
    with explorer(browser, address, "construction=index-lookup&length=8") as page:
        symbols = page.locator("#map-across span").all_inner_texts()
        assert len(symbols) == 9 and symbols == page.locator("#map-down span").all_inner_texts()
        expect(page.locator("#arcs .arc")).not_to_have_count(0)
        page.locator("#curve circle.right").last.click()
        expect(page.locator("#gain-value")).to_contain_text("150 %")
        expect(page.locator("#curve circle.here")).to_have_count(1)
        page.locator("#arcs text").first.click()
        expect(page.locator("#position")).to_have_value("0")
        page.locator("#construction").select_option("dyck-rnn")
        expect(page.locator("#arcs")).to_be_hidden()
        for name in ("#layer", "#head", "#weights", "#lead", "#gain", "#family", "#max_inner", "#attention"):
            expect(page.locator(name)).to_be_hidden()
        expect(page.locator("#map-across span")).not_to_have_count(0)
        expect(page.locator("#tab-attention")).not_to_have_text("Attention")
        expect(page.locator("#automaton circle.now")).to_have_count(1)
        expect(page.locator("#curve-figure")).to_be_hidden()
        page.locator("#automaton .tape text").first.click()
        expect(page.locator("#automaton .move.used")).to_have_count(1)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a run that kept its weights before and after training, and one without weights."""
    store = tmp_path_factory.mktemp("trained") / "runs.sqlite"
    shape = {"task": "index-lookup", "architecture": "TF-(1,16)", "length": 4, "batch": 8, "evaluation_examples": 64}
    with Records(store) as records:
        executor, environment = open_executor("local", device="cpu", threads=1)
        kept = RunSpec(learning_rate=0.003, steps=20, snapshots=(0, 20), **shape)  # type: ignore[arg-type]
        Driver(records, executor, environment, Observers([])).run([Group((kept,))])
        lost = RunSpec(learning_rate=0.1, steps=4, **shape)  # type: ignore[arg-type]
        records.add_results([lost], [Result(lost.name, "steps", 4, 0.5, 1.0, 1.0, 9)], {}, "gone")
    return store


def test_recorded_runs_are_listed_and_compared(browser: Browser, trained: Path) -> None:
    with (
        running_server(trained) as address,
        explorer(browser, address, "construction=index-lookup&length=4&tab=compare") as page,
    ):
        expect(page.locator("#runs tr[data-run]")).to_have_count(2)
        expect(page.locator("#run option")).to_have_count(1)
        expect(page.locator("#train-command")).to_contain_text("separatrix train index-lookup")
        summary = page.locator("#compare-summary[data-share]")
        summary.wait_for()
        after = summary.inner_text()
        page.locator("#step").fill("0")
        expect(page.locator("#trained-caption")).to_contain_text("after 0 steps")
        expect(summary).not_to_have_text(after)
        assert page.locator("#trained-across span").count() == 5
        accessible(page)
        kept(page, "explorer-compare")
        page.locator("#construction").select_option("equality")
        expect(page.locator("#compare-empty")).to_be_visible()
        expect(page.locator("#compare-form")).to_be_hidden()


def test_the_keyboard_alone_is_enough(browser: Browser, address: str) -> None:
    with explorer(browser, address, "construction=index-lookup&length=16") as page:
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        reached = []
        # Every control has a visible mark while it has the keyboard.
        while not reached or reached[-1] != "gain":
            page.keyboard.press("Tab")
            reached.append(page.evaluate("document.activeElement.id || document.activeElement.textContent"))
            style = "(e => getComputedStyle(e).outlineStyle)(document.activeElement)"
            assert page.evaluate(style) not in ("none", "")
        assert [each for each in reached if each in ("share", "construction", "length-number", "length", "gain")] == [
            "share", "construction", "length-number", "length", "gain",
        ]  # fmt: skip
        page.keyboard.press("Home")
        expect(page.locator("#verdict")).to_have_attribute("data-state", "refuted")
        page.locator("#gain-own").press("Enter")
        expect(page.locator("#verdict")).to_have_attribute("data-state", "certified")
        page.locator("#tab-attention").focus()
        page.keyboard.press("ArrowRight")
        expect(page.locator("#panel-layers")).to_be_visible()
        page.keyboard.press("End")
        expect(page.locator("#panel-compare")).to_be_visible()
        page.keyboard.press("Home")
        expect(page.locator("#panel-attention")).to_be_visible()
        page.locator("#position").focus()
        page.keyboard.press("ArrowLeft")
        expect(page.locator("#position-value")).to_contain_text("16 ·")


HEARD = """() => {
  window.heard = [];
  const line = document.querySelector("#verdict-line[role=status]");
  const all = {subtree: true, childList: true, characterData: true};
  new MutationObserver(() => window.heard.push(line.innerText)).observe(line, all);
}"""
"""Keeps what a screen reader announces about the verdict."""


def test_what_a_screen_reader_hears(browser: Browser, address: str) -> None:
    with explorer(browser, address, "construction=index-lookup&length=16") as page:
        page.evaluate(HEARD)
        page.locator("#gain").focus()
        page.keyboard.press("Home")
        expect(page.locator("#word")).to_have_text("✗ refuted")
        page.locator(SETTLED).wait_for()
        assert "✗ refuted" in page.evaluate("window.heard.at(-1)")
        # Another input changes nothing about all of them, so that nothing is said.
        said = page.evaluate("window.heard.length")
        before = page.locator("#text").input_value()
        page.locator("#shuffle").click()
        expect(page.locator("#text")).not_to_have_value(before)
        page.locator(SETTLED).wait_for()
        assert page.evaluate("window.heard.length") == said
        page.locator("#exponent").fill("3")
        expect(page.locator("#exponent")).to_have_attribute("aria-valuetext", "Kc = 3, 26 bits")
        for view in VIEWS[:-1]:
            page.locator(f"#tab-{view}").click()
            for slider in page.locator("input[type=range]:visible").all():
                expect(slider).to_have_attribute("aria-valuetext", re.compile(r"\w"))


def test_words_are_explained_and_links_within_the_page_keep_what_is_chosen(browser: Browser, address: str) -> None:
    with explorer(browser, address, "construction=match3&length=8&exponent=7") as page:
        assert "-N^Kc and N^Kc" in (page.locator("label[for=exponent]").get_attribute("title") or "")
        assert "pairs of positions" in (page.locator("#statement").get_attribute("title") or "")
        url = address_of(page)
        page.locator("#statement a", has_text="E10").click()
        expect(page.locator("#erratum-E10")).to_be_visible()
        expect(page).to_have_url(url)
        page.get_by_role("link", name="Words on this page").click()
        expect(page).to_have_url(url)
        page.locator("a.skip").focus()
        page.keyboard.press("Enter")
        expect(page.locator("#content")).to_be_focused()
        expect(page).to_have_url(url)
        expect(page.locator("#construction")).to_have_value("match3")
        accessible(page)
        page.locator("#family").select_option("circle")
        expect(page.locator("#family-note")).to_contain_text("one unit circle")


COPIED = """() => {
  window.said = [];
  const button = document.querySelector("#reproduce button");
  new MutationObserver(() => window.said.push(button.textContent)).observe(button, {childList: true});
}"""
"""Keeps what the button says, which it does not say for long."""


def test_a_verdict_is_reproduced_by_a_command_that_is_copied(browser: Browser, address: str) -> None:
    state = "construction=index-lookup&length=16&gain=2"
    with explorer(browser, address, state, permissions=["clipboard-read", "clipboard-write"]) as page:
        page.evaluate(COPIED)
        page.locator("#reproduce button").click()
        page.wait_for_function("window.said.includes('copied')")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied == "separatrix certify index-lookup --length 16 --gain 2"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_view_is_accessible_and_fits_a_phone(browser: Browser, address: str, scheme: str) -> None:
    with explorer(browser, address, "construction=index-lookup&length=16", color_scheme=scheme) as page:
        for view in VIEWS:
            page.locator(f"#tab-{view}").click()
            expect(page.locator(f"#panel-{view}")).to_be_visible()
            page.locator(SETTLED).wait_for()
            page.set_viewport_size({"width": 1280, "height": 900})
            accessible(page, scheme)
            kept(page, f"explorer-{view}-{scheme}")
            page.set_viewport_size(PHONE)  # type: ignore[arg-type]
            assert fits(page), view
            kept(page, f"explorer-{view}-{scheme}-phone")
        page.locator("#gain").fill("20")
        expect(page.locator("#verdict")).to_have_attribute("data-state", "refuted")
        assert fits(page)
        accessible(page)


def test_the_atlas_and_the_explorer_lead_to_each_other(browser: Browser, site: Path, tmp_path: Path) -> None:
    with (
        running_server(tmp_path / "runs.sqlite", "--atlas", str(site)) as address,
        explorer(browser, address, "construction=index-lookup&length=8") as page,
    ):
        page.locator("#atlas-link").click()
        page.locator("#network-index-lookup [data-explore] a").click()
        page.locator(SETTLED).wait_for()
        expect(page.locator("#construction")).to_have_value("index-lookup")


# -- the static site ---------------------------------------------------------------------------------------

WITHOUT_ORIGIN = """[...document.querySelectorAll("figure, .heat-map")]
  .filter(each => !each.closest("figure, article, main section")?.querySelector(".origin")
               && !each.closest("article, main section")?.querySelector(".origin"))
  .map(each => `no origin: ${each.id || each.textContent.slice(0, 40)}`)"""
"""Figures and heat maps that lack a command, a version and the kind of evidence."""


def some_pages(site: Path) -> list[Path]:
    """The front page, one page of each folder, and one of each kind besides."""
    names = ("index", "tasks/index-lookup", "architectures/transformer", "errata", "your-function", "real-models")
    return [site / f"{name}.html" for name in names]


UNFOLD = "for (const fold of document.querySelectorAll('main details')) fold.open = true"
SQUEEZED = """all => all.filter(each => each.offsetParent && each.clientWidth < 240).map(each => each.textContent)"""
"""Commands that are visible in less than 240 pixels, which a phone has."""


def test_the_navigation_shows_where_one_is_and_closes_its_menus(browser: Browser, site: Path) -> None:
    with opened(browser, (site / "bounds.html").as_uri(), viewport={"width": 390, "height": 740}) as page:
        entries = page.locator("nav[aria-label=Site] > ul > li")
        assert entries.count() <= 5
        current = page.locator("nav[aria-label=Site] summary.current")
        expect(current).to_be_in_viewport()
        current.click()
        expect(page.locator("nav[aria-label=Site] a[aria-current]")).to_be_in_viewport()
        page.keyboard.press("Escape")
        expect(page.locator("nav[aria-label=Site] details[open]")).to_have_count(0)
        current.click()
        page.mouse.click(380, 700)
        expect(page.locator("nav[aria-label=Site] details[open]")).to_have_count(0)


def test_every_page_of_the_site_opens_and_fits(browser: Browser, site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 40
    reached: set[str] = set()
    wrong: dict[str, Any] = {}
    with opened(browser, pages[0].as_uri()) as page:
        for path in pages:
            page.set_viewport_size({"width": 1280, "height": 900})
            page.goto(path.as_uri())
            if path.parent.name == "tasks":
                words = len(page.locator("main").inner_text().split())
                assert words < 900, f"{path.name} shows {words} words before anything is unfolded"
            page.evaluate(UNFOLD)
            reached |= set(page.locator("a[href]").evaluate_all("links => links.map(a => a.href)"))
            found = list(page.evaluate(ESSENTIALS))
            # Nothing is fetched from elsewhere; links to papers may lead out.
            found += page.locator("[src^=http], link[href^=http]").evaluate_all(
                "all => all.map(each => each.outerHTML)"
            )
            found += page.evaluate(WITHOUT_ORIGIN)
            one_of_its_kind = path in some_pages(site)
            if one_of_its_kind:
                page.emulate_media(color_scheme="dark")
                found += [f"dark: {each}" for each in page.evaluate(ESSENTIALS)]
                page.emulate_media(color_scheme="light")
            for width in WIDTHS if one_of_its_kind else WIDTHS[-1:]:
                page.set_viewport_size({"width": width, "height": 740})
                found += [] if fits(page) else [f"is wider than {width} pixels"]
                found += [f"at {width} pixels: {each}" for each in page.locator("pre.command").evaluate_all(SQUEEZED)]
            if found:
                wrong[str(path.relative_to(site))] = found[:3]
    assert wrong == {}
    inside = {each.partition("#")[0] for each in reached if each.startswith("file:")}
    assert [each for each in inside if not Path(each.removeprefix("file://")).exists()] == []


def test_pages_of_the_site_pass_all_of_axe(browser: Browser, site: Path) -> None:
    """In light; dark changes nothing but contrast, which the essential checks measure."""
    with opened(browser, (site / "index.html").as_uri()) as page:
        for path in some_pages(site):
            page.set_viewport_size({"width": 1280, "height": 900})
            page.goto(path.as_uri())
            assert axe(page) == [], page.url
            page.evaluate(UNFOLD)
            assert axe(page, runOnly=["color-contrast"]) == [], page.url
            name = "-".join(path.relative_to(site).with_suffix("").parts)
            kept(page, f"site-{name}")
            page.set_viewport_size(PHONE)  # type: ignore[arg-type]
            assert axe(page, runOnly=["scrollable-region-focusable", "target-size"]) == [], page.url
            kept(page, f"site-{name}-phone")


def test_the_front_pages_sliders_change_numbers(browser: Browser, site: Path) -> None:
    with opened(browser, (site / "index.html").as_uri()) as page:
        # At the largest length the line is at the right end, and the sentence says it.
        page.locator("#length").focus()
        page.keyboard.press("End")
        card = page.locator("[data-story=index-lookup]")
        assert "1,048,576" in card.locator("[data-sentence]").inner_text()
        at_the_end = float(card.locator("[data-here]").get_attribute("x1") or 0)
        before = card.locator("[data-needed]").get_attribute("points")
        page.keyboard.press("Home")
        assert float(card.locator("[data-here]").get_attribute("x1") or 0) < at_the_end
        page.locator("#precision").focus()
        page.keyboard.press("End")
        assert card.locator("[data-needed]").get_attribute("points") != before
        page.keyboard.press("Home")
        # A picture answers for the length under the pointer, and the slider's comes back when it leaves.
        sentence = card.locator("[data-sentence]")
        card.locator("svg").hover(position={"x": 150, "y": 60})
        expect(sentence).not_to_contain_text("of 16 positions")
        page.mouse.move(2, 2)
        expect(sentence).to_contain_text("of 16 positions")
        # Zoomed in by keyboard, it is dragged, and the link around it is not followed.
        picture, story = card.locator("svg"), page.locator(".stories li").filter(has=card)
        whole = picture.get_attribute("viewBox")
        story.get_by_role("button", name="Zoom in").press("Enter")
        before, near = picture.get_attribute("viewBox"), picture.bounding_box()
        assert near is not None and before != whole
        page.mouse.move(near["x"] + 90, near["y"] + 60)
        page.mouse.down()
        page.mouse.move(near["x"] + 130, near["y"] + 60, steps=3)
        page.mouse.up()
        assert picture.get_attribute("viewBox") not in (before, whole) and "index.html" in page.url
        story.get_by_role("button", name="Show the whole figure").press("Enter")
        assert [float(each) for each in (picture.get_attribute("viewBox") or "").split()] == [
            0,
            0,
            *map(float, (whole or "").split()[2:]),
        ]
        plane = page.locator(".limit figure:visible .plane")
        width = plane.evaluate("each => each.clientWidth")
        page.locator(".limit figure:visible").get_by_role("button", name="Zoom in").click()
        assert plane.evaluate("each => each.clientWidth") > 1.4 * width and fits(page)
        accessible(page)
        page.locator(".limit figure:visible").get_by_role("button", name="Show the whole figure").click()
        assert plane.evaluate("each => each.clientWidth") == width
        # A cell opens its evidence by keyboard, and Escape closes it.
        page.locator("#separation a.cell").first.focus()
        page.keyboard.press("Enter")
        expect(page.locator("dialog")).to_contain_text("N = 16 ")
        accessible(page)
        page.keyboard.press("Escape")
        expect(page.locator("dialog")).to_be_hidden()
        place = address_of(page)
    # The place of the sliders is in the address.
    with opened(browser, place) as other:
        expect(other.locator("#length")).to_have_value("0")
        expect(other.locator("#precision")).to_have_value("0")


def test_a_figure_says_its_points_and_zooms(browser: Browser, site: Path) -> None:
    with opened(browser, (site / "tasks" / "index-lookup.html").as_uri()) as page:
        figure = page.locator("#figure-widths-index-lookup")
        drawing = figure.locator(".canvas:visible svg")
        figure.locator(".canvas:visible").focus()
        page.keyboard.press("ArrowRight")
        expect(figure.locator(".canvas:visible .tip")).to_contain_text("length N 16")
        page.keyboard.press("Tab")
        expect(figure.locator(".canvas:visible .tip")).to_be_hidden()
        whole = drawing.get_attribute("viewBox")
        figure.get_by_role("button", name="Zoom in").click()
        assert drawing.get_attribute("viewBox") != whole
        figure.get_by_role("button", name="Show the whole figure").click()
        assert drawing.get_attribute("viewBox") == whole


def test_the_search_finds_a_theorem_by_keyboard(browser: Browser, site: Path) -> None:
    with opened(browser, (site / "tasks" / "dyck.html").as_uri()) as page:
        page.get_by_role("searchbox", name="Search the atlas").fill("bhbk24 theorem 3")
        expect(page.locator(".found a").first).to_contain_text("BHBK24 Theorem 3")
        accessible(page)
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Escape")
        expect(page.locator(".found")).to_be_hidden()
        page.keyboard.type(" ")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page.locator("article.bound:target")).to_be_in_viewport()


BROKEN_WORDS = """all => all.flatMap(code => {
  const broken = [], texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    for (const word of node.data.matchAll(/\\S+/g)) {
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      if (new Set([...range.getClientRects()].map(line => Math.round(line.top))).size > 1) broken.push(word[0]);
    }
  }
  return broken;
})"""
"""Words of commands that take more than one line."""


def test_commands_break_between_words_and_are_copied_whole(browser: Browser, site: Path) -> None:
    with opened(browser, (site / "index.html").as_uri()) as page:
        commands = page.locator("pre.command code")
        written = [text for text in commands.all_text_contents() if " --" in text]
        assert len(written) >= 4
        for width in (1280, 1000, 768, 390):
            page.set_viewport_size({"width": width, "height": 900})
            assert commands.evaluate_all(BROKEN_WORDS) == [], width
        command = page.locator(".stories pre.command code").first
        command.evaluate("each => getSelection().selectAllChildren(each)")
        assert page.evaluate("getSelection().toString()") == command.text_content()


CUT_CAPTIONS = """all => all.filter(each => each.getBoundingClientRect().right > innerWidth)
  .map(each => each.textContent)"""
PRESSED = """all => all.filter(each => each.textContent.length > 12 && each.clientWidth < 100)
  .map(each => each.textContent)"""
"""Cells of many words in less than a hundred pixels."""


def test_tables_can_be_read_on_a_phone(browser: Browser, site: Path) -> None:
    with opened(browser, (site / "glossary.html").as_uri(), viewport=PHONE) as page:
        scrolled = page.locator(".scroll").evaluate_all("all => all.map(each => each.scrollWidth - each.clientWidth)")
        assert len(scrolled) == 4 and max(scrolled) <= 0, "a meaning is read without moving to the side"
        for name in ("architectures/mamba", "real-models"):
            page.goto((site / f"{name}.html").as_uri())
            assert page.locator(".scroll caption").evaluate_all(CUT_CAPTIONS) == []
            assert page.locator(".scroll td:visible").evaluate_all(PRESSED) == []
        page.goto((site / "training.html").as_uri())
        page.evaluate("for (const fold of document.querySelectorAll('article.experiment > details')) fold.open = true")
        # What a cell cost is folded, so that the first numbers of every table are in view.
        ends = page.locator(".heat-map tr:visible td:nth-child(3)").evaluate_all(
            "all => all.map(each => each.getBoundingClientRect().right)"
        )
        assert len(ends) > 20 and max(ends) <= PHONE["width"]


def test_the_site_is_readable_without_javascript(browser: Browser, site: Path) -> None:
    with opened(browser, (site / "index.html").as_uri(), java_script_enabled=False) as page:
        assert page.locator("#separation td").count() > 20
        assert "logarithmic" in page.locator("#separation").inner_text()
        page.locator("#separation a.cell").first.click()
        expect(page.locator(".class-evidence:target")).to_have_count(1)
        page.locator(".class-evidence:target summary").click()
        expect(page.locator(".class-evidence:target .evidence")).to_be_visible()
        assert page.locator("figure svg").count() > 1


def test_the_site_prints_everything_on_white(browser: Browser, site: Path) -> None:
    path = site / "tasks" / "index-lookup.html"
    with opened(browser, path.as_uri(), color_scheme="dark") as page:
        page.emulate_media(media="print", color_scheme="dark")
        ground, ink = (
            page.evaluate(f"getComputedStyle(document.body).{name}") for name in ("backgroundColor", "color")
        )
        assert ground == "rgb(255, 255, 255)" and ink != "rgb(232, 233, 235)"
        assert page.locator("nav[aria-label=Site]").is_hidden()
        assert page.locator("pre.command button").first.is_hidden()
        assert page.locator(".messages li").first.is_visible(), "folded parts are printed"
        assert page.pdf().startswith(b"%PDF")


# -- the page of one figure --------------------------------------------------------------------------------

PLACES = """() => {
  const [across, down] = [plot0._fullLayout.xaxis, plot0._fullLayout.yaxis];
  const at = plot0.layout.annotations.map((each) => [each.y, each.x]);
  return {x: across.range, y: down.range, columns: across._categories, rows: down._categories, at};
}"""
"""What the first heat map of a page spans, and where its numbers are written."""


@pytest.mark.parametrize(("scheme", "paper"), [("light", "#fcfbf8"), ("dark", "#13161a")])
def test_a_figures_page_draws_each_number_in_its_cell_in_the_colours_of_the_page(
    browser: Browser, tmp_path: Path, scheme: str, paper: str
) -> None:
    store, file = tmp_path / "runs.sqlite", tmp_path / "figure3.html"
    experiment = recorded(store, "figure3", "quick", lambda row, length, place: 0.5)
    with Records(store) as records:
        file.write_text(figure_page(gather(experiment, "quick", records), None, "made by a test"), encoding="utf-8")
    with opened(browser, file.as_uri(), color_scheme=scheme) as page:
        page.wait_for_function("[...document.querySelectorAll('.plot')].every(each => each._fullLayout)")
        shown = page.evaluate(PLACES)
        # A column named 20 is the third of three, and nothing is drawn beyond the last.
        assert shown["columns"] == ["5", "10", "20"] and shown["x"] == [-0.5, 2.5]
        assert len(shown["rows"]) == 3 and sorted(shown["y"]) == [-0.5, 2.5]
        assert sorted(shown["at"]) == [[row, column] for row in range(3) for column in range(3)]
        plots = page.locator(".plot").count()
        assert [page.evaluate(f"plot{place}._fullLayout.paper_bgcolor") for place in range(plots)] == [paper] * plots
        curves = page.evaluate(f"plot{plots - 1}._fullData.map((each) => each.line.color)")
        assert len(set(curves)) == 3
        page.set_viewport_size(PHONE)  # type: ignore[arg-type]
        page.wait_for_function(FITS)  # plots are drawn anew some time after the window has changed
