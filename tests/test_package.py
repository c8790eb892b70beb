"""What a user installs and waits for: the wheel has every file, and starting loads nothing that is not needed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from separatrix.cli.verb_list import NAME as LIST

ROOT = Path(__file__).resolve().parent.parent
LIGHT = {
    "annotated_doc", "annotated_types", "attr", "markdown_it", "mdurl", "pydantic", "pydantic_core", "pygments", "rich",
    "separatrix", "shellingham", "typer", "typing_extensions", "typing_inspection",
}  # fmt: skip
"""What the command line itself is made of; Typer brings pydantic."""
LOADED = """
import json, sys
from separatrix.cli.app import run
codes = [run(call) for call in {calls}]
tops = {{name.partition(".")[0] for name in sys.modules}} - set(sys.stdlib_module_names) - {{"cython_runtime"}}
print(json.dumps([codes, sorted(name for name in tops if not name.startswith("_"))]))
"""


def loaded(*calls: list[str]) -> tuple[list[int], set[str]]:
    """Exit codes of calls in one fresh process, and the packages that it has loaded then."""
    program = LOADED.format(calls=list(calls))
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    codes, names = json.loads(ended.stdout.splitlines()[-1])
    return codes, set(names)


def test_the_wheel_has_every_file_of_the_package_and_no_other():
    found = {file.distribution_path for file in WheelBuilder(str(ROOT)).recurse_included_files()}
    source = ROOT / "src"
    there = {
        path.relative_to(source).as_posix()
        for path in (source / "separatrix").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert found == there
    assert {Path(name).suffix for name in found} >= {".py", ".json", ".js", ".css", ".html", ".svg", ".typed"}
    assert sum((source / name).stat().st_size for name in found) < 5 << 20


def test_help_loads_nothing_but_the_command_line():
    codes, packages = loaded(["--help"], [LIST, "--help"], ["train", "--help"], ["--version"])
    assert codes == [0, 0, 0, 0]
    assert packages - LIGHT == set()


@pytest.mark.parametrize(
    ("call", "allowed"),
    [
        ([LIST, "tasks"], {"numpy"}),
        (["sample", "dyck", "--length", "8"], {"numpy"}),
        (["capacity", "mamba-130m"], {"numpy", "flint", "ml_dtypes"}),
    ],
    ids=lambda each: each[0] if isinstance(each, list) else "",
)
def test_a_verb_loads_only_the_rooms_it_needs(call, allowed):
    codes, packages = loaded(call)
    assert codes == [0]
    assert packages - LIGHT <= allowed


def test_the_module_runs_like_the_script():
    ended = subprocess.run(
        [sys.executable, "-m", "separatrix", "--version"], capture_output=True, text=True, check=True
    )
    script = Path(sys.executable).with_name("separatrix")
    assert ended.stdout == subprocess.run([script, "--version"], capture_output=True, text=True, check=True).stdout
