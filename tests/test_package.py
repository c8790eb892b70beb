"""What a user installs and waits for: the wheel has every file, and starting loads nothing that is not needed."""

import json
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder
from packaging.metadata import Metadata

from separatrix import __version__
from separatrix.cli.verb_list import NAME as LIST

ROOT = Path(__file__).resolve().parent.parent
LIGHT = {
    "annotated_doc", "annotated_types", "attr", "markdown_it", "mdurl", "pydantic", "pydantic_core", "pygments", "rich",
    "separatrix", "shellingham", "typer", "typing_extensions", "typing_inspection",
}  # fmt: skip
"""What the command line itself is made of; Typer brings pydantic."""
AFTERWARDS = """
import contextlib, io, json, sys
from separatrix.cli.app import run
with contextlib.redirect_stdout(io.StringIO()):
    codes = [run(call) for call in json.loads(sys.argv[1])]
print(json.dumps([codes, sorted(sys.modules)]))
"""


def loaded(*calls: list[str]) -> tuple[list[int], set[str]]:
    """Exit codes of calls in one fresh process, and the packages that it has loaded then."""
    command = [sys.executable, "-c", AFTERWARDS, json.dumps(calls)]
    codes, names = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    tops = {name.partition(".")[0] for name in names} - set(sys.stdlib_module_names) - {"cython_runtime"}
    return codes, {name for name in tops if not name.startswith("_")}


def test_the_wheel_has_every_file_of_the_package_and_no_other():
    found = {file.distribution_path for file in WheelBuilder(str(ROOT)).recurse_included_files()}
    source = ROOT / "src"
    there = {
        path.relative_to(source).as_posix()
        for path in source.glob("separatrix*/**/*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert found == there
    assert {Path(name).suffix for name in found} >= {".py", ".json", ".js", ".css", ".html", ".svg", ".typed"}
    assert sum((source / name).stat().st_size for name in found) < 12 << 20


def test_what_would_be_published_describes_itself_as_the_registry_wants_it(tmp_path):
    """Both archives have valid metadata; CI also runs ``twine check``, which renders the description."""
    for builder in (WheelBuilder(str(ROOT)), SdistBuilder(str(ROOT))):
        (archive,) = builder.build(directory=str(tmp_path), versions=["standard"])
        found = Metadata.from_email(_metadata(Path(archive)), validate=True)
        assert str(found.version) == __version__
        assert found.project_urls
        assert found.description_content_type == "text/markdown"
        assert {f"Programming Language :: Python :: 3.{minor}" for minor in (11, 12, 13)} <= set(
            found.classifiers or []
        )


def _metadata(archive: Path) -> bytes:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as opened:
            return opened.read(f"separatrix-{__version__}.dist-info/METADATA")
    with tarfile.open(archive) as opened:
        content = opened.extractfile(f"separatrix-{__version__}/PKG-INFO")
        assert content is not None
        return content.read()


def test_help_loads_nothing_but_the_command_line():
    codes, packages = loaded(["--help"], [LIST, "--help"], ["train", "--help"], ["--version"])
    assert codes == [0, 0, 0, 0]
    assert packages - LIGHT == set()


@pytest.mark.parametrize(
    ("call", "allowed"),
    [
        ([LIST, "tasks"], {"numpy"}),
        ([LIST], {"numpy", "flint", "ml_dtypes"}),
        (["runs", "list", "--limit", "1"], {"numpy"}),
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


def test_what_the_readme_says_of_python_and_licence_is_declared():
    """The line in place of badges, which somebody else's server would have to draw."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    name = "Programming Language :: Python :: 3."
    minors = [int(each.removeprefix(name)) for each in project["classifiers"] if each.startswith(name)]
    assert project["requires-python"] == f">=3.{min(minors)}"
    systems = ("Linux", "MacOS")
    assert all(any(each.endswith(system) for each in project["classifiers"]) for system in systems)
    said = f"Python 3.{min(minors)} to 3.{max(minors)} · Linux and macOS · {project['license']} ·"
    assert said in (ROOT / "README.md").read_text(encoding="utf-8")
