"""The notebooks of examples/: every cell runs, from the first to the last, and the last value of each can be shown."""

import ast
import json
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).resolve().parent.parent / "examples").glob("*.ipynb"))


def executed(code: str, names: dict[str, object]) -> object:
    """Run a cell as a notebook does: its value is that of a last expression."""
    parsed = ast.parse(code)
    last = parsed.body.pop() if isinstance(parsed.body[-1], ast.Expr) else None
    exec(compile(parsed, "cell", "exec"), names)
    return None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)


def test_there_is_one_for_each_question():
    assert [path.stem for path in NOTEBOOKS] == ["can-it", "does-it-learn", "must-it"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_runs(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    book = json.loads(path.read_text(encoding="utf-8"))
    assert book["nbformat"] == 4
    cells = ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code"]
    # From the clone around the notebook: a name would be looked up at an index, where anybody may have taken it.
    installs = [line.split() for code in cells for line in code.splitlines() if "%pip" in line]
    assert [line[:4] for line in installs] == [["%pip", "install", "-q", ".."]]
    assert "%pip" in cells[0]
    assert not any(cell.get("outputs") for cell in book["cells"]), "outputs are made by who runs it"
    names: dict[str, object] = {"__name__": f"notebook_{path.stem}"}
    # The package is here, so that nothing is installed.
    shown = [executed(code.replace("%pip", "raise RuntimeError  # "), names) for code in cells]
    assert len(capsys.readouterr().out.splitlines()) <= 1, "a record is shown, not printed as well"
    pages = [value._repr_html_() for value in shown if hasattr(value, "_repr_html_")]
    assert len(pages) >= 3
    assert all("<table" in page for page in pages)
