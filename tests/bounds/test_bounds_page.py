"""What docs/bounds.md says is complete; its tables are held by test_pages.py."""

from pathlib import Path

from separatrix.bounds import bounds

PAGE = Path(__file__).resolve().parents[2] / "docs" / "bounds.md"


def test_every_bound_barrier_and_conjecture_is_on_the_page():
    page = PAGE.read_text(encoding="utf-8")
    for bound in bounds().values():
        assert f"`{bound.name}`" in page, "run  python -m tools.fill_pages docs/bounds.md, or add a line for a barrier"
