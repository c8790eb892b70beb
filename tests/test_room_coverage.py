"""The tool that measures coverage names what is not run, and ends in 1 for a line but not for a branch."""

import json

import pytest
from tools import room_coverage
from tools.room_coverage import main, named, page, room_record

REPORT = {
    "files": {
        "src/a.py": {
            "summary": {"num_statements": 10, "num_branches": 4},
            "missing_lines": [3, 7],
            "missing_branches": [[2, 3]],
        },
        "src/b.py": {"summary": {"num_statements": 5, "num_branches": 0}, "missing_lines": [], "missing_branches": []},
    }
}
ROW = "| `{}` | 2 | 15 | 2 | 4 | 1 | 2 |"


def test_what_is_not_run_is_counted_and_named():
    record = {"arithmetic": room_record(REPORT, 1.5)}
    assert list(named(record)) == ["src/a.py: not run: 3, 7", "src/a.py: not taken: 2 to 3"]
    assert "Of 15 lines of code in 1 rooms, 2 are run by none" in page(record)
    assert ROW.format("arithmetic") in page(record)


@pytest.mark.parametrize(("missing", "code"), [({}, 0), ({"src/a.py": [3]}, 1)])
def test_only_a_line_that_is_not_run_ends_in_1(missing, code, monkeypatch, tmp_path):
    found = {**room_record(REPORT, 1.5), "not_run": missing}
    monkeypatch.setattr(room_coverage, "measured", lambda room: found)
    written = tmp_path / "page.md"
    written.write_text("before\n<!-- coverage -->\nold\n<!-- end of coverage -->\nafter\n")
    assert main(["--rooms", "arithmetic", "--write", str(written)]) == code
    assert "old" not in written.read_text()


def test_rooms_that_are_not_measured_stay_as_they_were_recorded(monkeypatch, tmp_path):
    monkeypatch.setattr(room_coverage, "measured", lambda room: room_record(REPORT, 1.5))
    written = tmp_path / "page.md"
    written.write_text("<!-- coverage -->\n<!-- end of coverage -->\n")
    for room in ("communication", "arithmetic"):
        main(["--rooms", room, "--write", str(written)])
    kept = json.loads((tmp_path / "records" / "coverage.json").read_text())
    assert list(kept) == ["arithmetic", "communication"]
    assert all(ROW.format(room) in written.read_text() for room in kept)
