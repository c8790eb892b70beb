"""What a user installs and waits for: the wheel has every file, and starting loads nothing that is not needed."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder
from packaging.metadata import Metadata
from tools.footprint import import_seconds, modules_after, packages, page, room_of, timed_tests
from tools.pages import recorded

from separatrix import __version__
from separatrix.cli.verb_list import NAME as LIST

ROOT = Path(__file__).resolve().parent.parent
LIGHT = {
    "annotated_doc", "annotated_types", "attr", "markdown_it", "mdurl", "pydantic", "pydantic_core", "pygments", "rich",
    "separatrix", "shellingham", "typer", "typing_extensions", "typing_inspection",
}  # fmt: skip
"""What the command line itself is made of; Typer brings pydantic."""
REPORT = """<?xml version="1.0" encoding="utf-8"?><testsuites><testsuite tests="3" time="2.5">
<testcase classname="tests.tasks.test_dyck" name="test_depth[1|2]" time="1.5"/>
<testcase classname="tests.tasks.test_dyck" name="test_walk" time="0.25"/>
<testcase classname="tests.test_files" name="test_whole" time="0.5"/></testsuite></testsuites>"""


def loaded(*calls: list[str]) -> tuple[list[int], set[str]]:
    """Exit codes of calls in one fresh process, and the packages that it has loaded then."""
    codes, names = modules_after(*calls)
    return codes, packages(names)


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
    assert sum((source / name).stat().st_size for name in found) < 8 << 20


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


# -- the record of all this ------------------------------------------------------------------------------


def test_times_of_imports_are_added_up_by_package():
    report = "\n".join(
        [
            "import time: self [us] | cumulative | imported package",
            "import time:      1000 |       1000 |     json.decoder",
            "import time:      2000 |       3000 |   rich.text",
            "import time:       500 |       3500 | rich",
        ]
    )
    assert import_seconds(report) == {"Python's own": 0.001, "rich": 0.0025}


def test_times_of_tests_are_added_up_by_folder_and_the_slowest_come_first():
    found = timed_tests(REPORT)
    assert (found["tests"], found["seconds"], found["elapsed"]) == (3, 2.2, 2.5)
    assert found["folders"] == {"tests/tasks": 1.8, "tests": 0.5}
    assert found["slowest"][0] == ["tests.tasks.test_dyck::test_depth[1|2]", 1.5]
    shown = page({**recorded("footprint"), "tests": found})
    assert "| `tests.tasks.test_dyck::test_depth[1\\|2]` | 1.5 |" in shown


def test_modules_beside_the_rooms_are_shared():
    assert [room_of(name) for name in ("separatrix.tasks.task", "separatrix.files", "separatrix")] == [
        "tasks", "shared", "shared",
    ]  # fmt: skip
