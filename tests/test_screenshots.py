"""Pictures for the documentation are small and complete, and a browser is looked for before one is installed."""

import io
import random
import re
from pathlib import Path

import pytest
from PIL import Image
from tools import get_chromium
from tools.screenshots import LARGEST, SCHEMES, SIZES, small

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "screenshots"


def test_every_view_is_pictured_at_every_size_and_small():
    found = {path.stem: path for path in PICTURES.glob("*.png")}
    views = {
        f"{view}-{size}-{scheme}" for view in ("front", "task", "explorer") for size in SIZES for scheme in SCHEMES
    }
    assert views | {f"{view}-{scheme}" for view in ("table", "stories") for scheme in SCHEMES} <= set(found)
    for path in found.values():
        assert path.stat().st_size < LARGEST, path.name
        with Image.open(path) as picture:
            assert picture.format == "PNG" and min(picture.size) > 300, path.name


def test_the_readme_shows_the_stories_and_the_explorers_page_the_explorer():
    for page, name in (("README.md", "docs/screenshots/stories-"), ("docs/explorer.md", "screenshots/explorer-")):
        text = (ROOT / page).read_text(encoding="utf-8")
        shown = re.findall(r"!\[(.+?)\]\((.+?\.png)\)", text)
        assert any(target.startswith(name) for _, target in shown), page
        for about, target in shown:
            assert about and ((ROOT / page).parent / target).is_file(), target


def test_large_pictures_lose_colours_until_they_fit():
    noise = Image.frombytes("RGB", (350, 350), random.Random(0).randbytes(350 * 350 * 3))
    written = io.BytesIO()
    noise.save(written, "PNG")
    reduced = small(written.getvalue())
    assert len(reduced) < LARGEST < len(written.getvalue())
    assert Image.open(io.BytesIO(reduced)).size == (350, 350)


def test_a_browser_that_is_there_is_taken(monkeypatch, capsys):
    monkeypatch.setattr(get_chromium, "chromium", lambda: Path("/somewhere/chromium"))
    monkeypatch.setattr(get_chromium, "installed", lambda commands: pytest.fail("nothing is to be installed"))
    assert get_chromium.main() == 0
    assert "/somewhere/chromium" in capsys.readouterr().out


def test_without_any_browser_every_way_is_tried_and_the_reason_is_told(monkeypatch, capsys):
    tried = []
    monkeypatch.setattr(get_chromium, "chromium", lambda: None)
    monkeypatch.setattr(get_chromium, "installed", lambda commands: bool(tried.append(commands)))
    monkeypatch.setattr(get_chromium.os, "geteuid", lambda: 0)
    monkeypatch.setattr(get_chromium.shutil, "which", lambda name: f"/usr/bin/{name}")
    assert get_chromium.main() == 0
    assert [commands[-1][0].rpartition("/")[2][:3] for commands in tried] == ["apt", "apt", "pyt"]
    assert get_chromium.NONE in capsys.readouterr().out
    # Who may not install packages is left with Playwright's own.
    monkeypatch.setattr(get_chromium.os, "geteuid", lambda: 1000)
    assert len(get_chromium.ways()) == 1


def test_a_command_that_fails_or_is_not_there_is_no_error():
    assert not get_chromium.installed([["false"]])
    assert not get_chromium.installed([["no-such-command-anywhere"]])
    assert get_chromium.installed([["true"], ["true"]])
