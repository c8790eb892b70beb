"""The frontier: bisection against trying everything, the ladder, and a store that survives interruption."""

import json
from fractions import Fraction

import pytest
from pydantic import TypeAdapter

from separatrix.constructions import constructions
from separatrix.errors import SeparatrixError
from separatrix.site.frontier_figure import frontier_picture
from separatrix.table import frontier_store
from separatrix.table.frontier import (
    MOST_BITS,
    Trial,
    best,
    check_supported,
    decided,
    fewest_bits,
    first_certified,
    frontier_powers,
    gains,
    ladder,
    least_bits,
    narrowest,
    smallest_gain,
    usable,
)
from separatrix.table.frontier_store import FrontierStore
from separatrix.table.frontier_survey import Survey, plane_lengths, survey, units


@pytest.mark.parametrize("length", [16, 64, 256])
def test_the_ladder_goes_from_narrow_to_wide_and_from_near_to_far(length):
    codes = ladder(length)
    assert [code.width for code in codes] == sorted(code.width for code in codes)
    inner = [code.max_inner for code in codes]
    assert inner == sorted(inner, reverse=True)
    assert codes[0].on_circles and codes[0].width == 2
    assert codes[-1].max_inner <= Fraction(1, 4)
    assert any(code.width == (length - 1).bit_length() and not code.on_circles for code in codes)


@pytest.mark.parametrize("name", ["index-lookup", "equality"])
def test_bisection_finds_what_trying_everything_finds(name):
    length = 16
    with FrontierStore(None) as decide:
        for code in ladder(length):
            tried = {
                bits: (first_certified(name, length, code, bits, decide) or pytest.fail("no network")).certified
                for bits in range(least_bits(name, length), 9)
            }
            found = fewest_bits(name, length, code, decide)
            assert found is not None and found.certified
            assert found.bits == min(bits for bits, certified in tried.items() if certified)
        for bits in (4, 8):
            widths = [
                code.width
                for code in ladder(length)
                if (first_certified(name, length, code, bits, decide) or pytest.fail("no network")).certified
            ]
            point = narrowest(name, length, bits, decide)
            assert point is not None
            assert point.code_width == min(widths)


def test_the_smallest_gain_is_certified_and_the_next_smaller_is_not():
    with FrontierStore(None) as decide:
        point = narrowest("index-lookup", 16, 8, decide)
        assert point is not None
        smaller = smallest_gain(point, decide, steps=30)
        assert smaller.certified
        assert Fraction(smaller.gain) < Fraction(point.gain)
        code = next(code for code in ladder(16) if code.label == point.code)
        below = Fraction(smaller.gain) - Fraction(code.norm, 1 << 8)
        tried = decide(Trial("index-lookup", 16, code, 8, below))
        assert tried is not None and not tried.certified


def test_too_few_bits_for_an_average_are_never_certified():
    """What bisection leaves out without a try is refuted when it is tried."""
    for name in ("equality", "majority"):
        code = ladder(16)[-1]
        point = first_certified(name, 16, code, least_bits(name, 16) - 1, decided)
        assert point is not None and not point.certified


@pytest.mark.parametrize("name", frontier_powers())
def test_every_construction_on_the_list_has_a_frontier(name):
    length = max(8, constructions()[name].minimum_length)
    with FrontierStore(None) as decide:
        code = [code for code in ladder(length) if usable(name, code)][-1]
        point = first_certified(name, length, code, 12, decide)
        assert point is not None and point.certified, point


def test_others_are_refused():
    with pytest.raises(SeparatrixError, match="dyck-dfa"):
        check_supported("dyck-dfa")
    with pytest.raises(SeparatrixError, match="index-lookup"):
        check_supported("index-lookp")


def test_gains_rise_and_end_with_the_theorems_own():
    code = ladder(64)[-1]
    trials = gains(lambda gain: Trial("index-lookup", 64, code, 10, gain))
    found = [trial.gain for trial in trials[:-1]]
    assert found == sorted(found)
    assert trials[-1].gain is None
    assert all(0 < gain < 2**10 for gain in found)


def test_a_survey_answers_every_question_it_announces():
    heard = []
    with FrontierStore(None) as decide:
        found = survey("index-lookup", [16], decide, heard.append)
    assert len(heard) == units("index-lookup", [16])
    assert [row[:2] for row in found.width_grid.rows] == [("16", str(exponent)) for exponent in (1, 2, 3)]
    for length in (16,):
        kept = best(found.planes[length])
        assert [point.width for point in kept] == sorted(point.width for point in kept)
        assert [point.bits for point in kept] == sorted((point.bits for point in kept), reverse=True)
    drawn = frontier_picture(found)
    assert drawn.svg.startswith("<svg")
    assert len(found.plane_grid.rows) == len(found.planes[16])
    assert TypeAdapter(Survey).validate_python(json.loads(json.dumps(found.as_dict()))) == found


def test_planes_are_made_at_short_lengths_and_some_long_ones():
    every = [2**power for power in range(4, 21)]
    assert plane_lengths("index-lookup", every) == [2**power for power in (4, 5, 6, 7, 8, 12, 16, 20)]
    assert plane_lengths("equality", every) == [2**power for power in (4, 5, 6, 7, 8, 12, 16)]
    assert MOST_BITS * 2 < 62


class TestStore:
    """Verdicts on disk."""

    def ask(self, path):
        with FrontierStore(path) as decide:
            point = narrowest("index-lookup", 16, 4, decide)
        return point, decide

    def test_it_goes_on_where_it_stopped(self, tmp_path):
        path = tmp_path / "store.json"
        first, before = self.ask(path)
        second, after = self.ask(path)
        assert first == second
        assert before.decided > 0 and before.reused == 0
        assert after.decided == 0 and after.reused == before.decided
        assert list(tmp_path.iterdir()) == [path]

    def test_an_interrupted_run_keeps_its_verdicts(self, tmp_path, monkeypatch):
        path, calls = tmp_path / "store.json", []

        def interrupted(trial):
            if len(calls) == 2:
                raise KeyboardInterrupt
            calls.append(trial)
            return decided(trial)

        monkeypatch.setattr(frontier_store, "decided", interrupted)
        with pytest.raises(KeyboardInterrupt):
            self.ask(path)
        monkeypatch.setattr(frontier_store, "decided", decided)
        _, after = self.ask(path)
        assert after.reused == 2

    def test_other_code_starts_anew(self, tmp_path, monkeypatch):
        path = tmp_path / "store.json"
        self.ask(path)
        monkeypatch.setattr(frontier_store, "fingerprint", lambda: "another")
        _, after = self.ask(path)
        assert after.reused == 0 and after.decided > 0

    @pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "x", "code": "", "points": {}}', "\xff"])
    def test_other_files_are_refused_and_kept(self, tmp_path, text):
        path = tmp_path / "store.json"
        path.write_text(text)
        with pytest.raises(SeparatrixError, match="store"):
            FrontierStore(path)
        assert path.read_text() == text

    def test_a_place_that_cannot_be_written_is_known_before_the_work(self):
        with (
            pytest.raises(SeparatrixError, match="cannot write"),
            FrontierStore(__import__("pathlib").Path("/proc/no/store.json")),
        ):
            pytest.fail("the work began")
