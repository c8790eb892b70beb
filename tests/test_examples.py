"""Every example in docstrings, in the README and in docs/ is run."""

import doctest
import importlib
import importlib.util
import pkgutil
import re
import shlex
import sys
from pathlib import Path

import pytest

import separatrix
from separatrix.cli.app import run

ROOT = Path(__file__).resolve().parent.parent
SOURCE = Path(separatrix.__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Triton is not there without a GPU, and nothing needs it then.
SKIPPED = ("separatrix.models.kernels.gpu.",) if importlib.util.find_spec("triton") is None else ()
MODULES = [
    info.name for info in pkgutil.walk_packages(separatrix.__path__, "separatrix.") if not info.name.startswith(SKIPPED)
]
WITH_EXAMPLES = sorted(
    ".".join(file.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
    for file in (SOURCE / "separatrix").rglob("*.py")
    if ">>> " in file.read_text(encoding="utf-8")
)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


FILE = re.compile(r'^```\w+ title="([\w.-]+)"\n(.*?)^```', re.MULTILINE | re.DOTALL)
"""A block with a title is a file of that name, there before the page's commands are run."""


PRINTED = re.compile(r"<!-- printed by the last of these -->\n```text\n(.*?)^```", re.MULTILINE | re.DOTALL)
"""Output of training, which need not be the same on every machine; its shape is, and its numbers are nearly."""
NEARLY = 5.0
"""By how much numbers of training may differ: points of a hundred, and losses."""


def lines_of_cells(text: str) -> list[list[str]]:
    """The text between the bars of each line, without rules and lines of nothing."""
    lines = [[cell.strip() for cell in re.split("[│┃]", line.strip().strip("│┃"))] for line in text.splitlines()]
    return [cells for cells in lines if any(re.search(r"\w", cell) for cell in cells)]


def nearly(shown: str, printed: str) -> bool:
    """Whether two outputs say the same, with numbers that differ by little; seconds may differ by much."""
    # Runs that end at the same moment are in any order; their names come first in a line.
    ours, theirs = sorted(lines_of_cells(shown)), sorted(lines_of_cells(printed))
    without_times = next((cells.index("seconds") for cells in ours if "seconds" in cells), None)
    pairs = [
        (one, other)
        for mine, its in zip(ours, theirs, strict=True)
        for column, (one, other) in enumerate(zip(mine, its, strict=True))
        if column != without_times or len(mine) == 1
    ]
    number = re.compile(r"(?<![\w-])\d+\.\d+")
    return all(
        number.sub("#", one) == number.sub("#", other)
        and all(
            abs(float(a) - float(b)) <= NEARLY for a, b in zip(number.findall(one), number.findall(other), strict=True)
        )
        for one, other in pairs
    )


def enter(folder: Path, page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for name, text in FILE.findall(page.read_text(encoding="utf-8")):
        (folder / name).write_text(text, encoding="utf-8")


def blocks(page: Path, language: str) -> list[str]:
    return [text for kind, text in BLOCK.findall(page.read_text(encoding="utf-8")) if kind == language]


def test_every_module_can_be_imported():
    for name in MODULES:
        importlib.import_module(name)


@pytest.mark.parametrize("name", [name for name in WITH_EXAMPLES if name in MODULES])
def test_docstring_examples(name):
    results = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert results.attempted > 0
    assert results.failed == 0


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: page.name)
def test_python_blocks_run_top_to_bottom(page, tmp_path, monkeypatch):
    enter(tmp_path, page, monkeypatch)
    monkeypatch.syspath_prepend(tmp_path)  # Python started there finds these files
    space: dict[str, object] = {}
    ran = 0
    for number, block in enumerate(blocks(page, "python")):
        exec(compile(block, f"{page.name} block {number + 1}", "exec"), space)
        ran += 1
    assert ran == len(blocks(page, "python"))
    for path in tmp_path.glob("*.py"):
        sys.modules.pop(path.stem, None)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "console")], ids=lambda page: page.name)
def test_console_blocks_print_what_they_show(page, tmp_path, monkeypatch, capsys):
    """A block ``$ separatrix …`` is run; what follows it must be exactly what it prints, if anything follows."""
    enter(tmp_path, page, monkeypatch)
    monkeypatch.setenv("COLUMNS", "100")
    ran, text, after, printed = 0, page.read_text(encoding="utf-8"), 0, list[str]()
    for found in BLOCK.finditer(text):
        if found[1] == "text":
            shown = PRINTED.fullmatch(text, text.rfind("\n\n", after, found.start()) + 2, found.end())
            assert shown is None or nearly(shown[1], "\n".join(printed)), f"{page.name}: {shown[1]}"
        after = found.end()
        for call in re.split(r"^\$ ", found[2] if found[1] == "console" else "", flags=re.MULTILINE)[1:]:
            command, _, shown = call.partition("\n")
            words = shlex.split(command, comments=True)
            assert words[0] == "separatrix", f"only separatrix commands belong in console blocks: {command}"
            capsys.readouterr()
            assert run(words[1:]) == 0, command
            printed = [line.rstrip() for line in capsys.readouterr().out.rstrip().splitlines()]
            expected = [line.rstrip() for line in shown.rstrip().splitlines()]
            assert not expected or printed == expected, f"{page.name}: {command}"
            ran += 1
    assert ran == sum(len(re.findall(r"^\$ ", block, re.MULTILINE)) for block in blocks(page, "console"))


def test_outputs_of_training_may_differ_by_little():
    shown = "┃ run ┃ % ┃ seconds ┃\n┡━━━╇━━━╇━━━┩\n│ 74ff │ 7.60 │ 1.7 │\nN = 3 (24.6 %)"
    assert nearly(shown, shown.replace("7.60", "9.10").replace("1.7", "31.2").replace("24.6", "23.0"))
    assert not nearly(shown, shown.replace("7.60", "17.60"))
    assert not nearly(shown, shown.replace("N = 3", "N = 4"))
    assert not nearly(shown, shown.replace("74ff", "75ff"))


def test_pages_name_only_files_that_exist():
    # Brackets in code, such as words of a Dyck language, are not links.
    missing = [
        f"{page.name}: {target}"
        for page in PAGES
        for text in [re.sub(r"`[^`\n]*`", "", BLOCK.sub("", page.read_text(encoding="utf-8")))]
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
        if not (page.parent / target).exists()
    ]
    assert missing == []
