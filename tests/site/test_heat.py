"""Colours of heat maps: the same in pictures and pages, with text that can be read on every ground."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from separatrix.site.heat import DIFFERENCE, PERCENT, _luminance, contrast
from separatrix.site.training_page import _heat_map

HEATS = {"difference": DIFFERENCE, "percent": PERCENT}


@pytest.mark.parametrize("name", HEATS)
def test_pictures_and_pages_have_the_same_colours(name):
    heat = HEATS[name]
    colours = heat.map()
    for place, colour in heat.scale():
        value = heat.low + place * (heat.high - heat.low)
        drawn = [255 * each for each in colours(place)[:3]]
        written = [int(colour[start : start + 2], 16) for start in (1, 3, 5)]
        assert drawn == pytest.approx(written, abs=3)
        assert heat.ground(value) == pytest.approx(written, abs=0.01)


def test_short_of_the_paper_is_red_and_beyond_it_blue():
    for value in (-50, -20, -5):
        red, _, blue = DIFFERENCE.ground(value)
        assert red > blue
        red, _, blue = DIFFERENCE.ground(-value)
        assert blue > red


@pytest.mark.parametrize("name", HEATS)
def test_text_can_be_read_on_every_ground(name):
    heat = HEATS[name]
    for step in range(1001):
        value = heat.low + (heat.high - heat.low) * step / 1000
        ink = 1.0 if heat.ink(value) == "white" else 0.0
        assert contrast(ink, _luminance(heat.ground(value))) >= 4.5


def test_the_page_writes_each_cell_in_its_own_ink():
    data = SimpleNamespace(experiment=SimpleNamespace(at="at length", columns="length"))
    values = {("TF", "20"): 99.0, ("TF", "50"): 10.0, ("LSTM", "20"): None}
    panel = ("paper", ("TF", "LSTM"), ("20", "50"), values, "percent")
    _, drawn = _heat_map(cast(Any, panel), cast(Any, data))
    trace, written = drawn["data"][0], drawn["layout"]["annotations"]
    assert trace["colorscale"] == PERCENT.scale()
    assert "reversescale" not in trace
    # Places, not names: Plotly would write what belongs to the column "20" twenty columns to the right.
    found = {(each["y"], each["x"]): (each["text"], each["font"]["color"]) for each in written}
    assert found == {
        (0, 0): ("99.0", "white"),
        (0, 1): ("10.0", "black"),
        (1, 0): ("–", "black"),
        (1, 1): ("–", "black"),
    }
