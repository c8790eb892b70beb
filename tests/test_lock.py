"""The lock file pins everything that is installed, torch exactly, and every extra exists."""

import re
import tomllib
from importlib.metadata import distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOT_PINNED = {"separatrix", "pip", "setuptools", "wheel"}
CUDA = ("nvidia-", "cuda-")
"""What builds of torch for CUDA bring, where a registry offers no other; torch requires one exact version of each."""


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins() -> dict[str, str]:
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    found = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {canonical(name): version for name, version in found}


def test_torch_is_pinned_exactly():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["optional-dependencies"]["train"] == [f"torch=={pins()['torch']}"]
    assert pins()["torch"] == "2.13.0"


def test_everything_installed_is_pinned_at_its_version():
    installed = {canonical(d.metadata["Name"]): d.version.split("+")[0] for d in distributions()}
    wrong = {
        name: version
        for name, version in installed.items()
        if name not in NOT_PINNED and not name.startswith(CUDA) and pins().get(name) != version
    }
    assert wrong == {}


def test_every_extra_is_there_and_pinned():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    assert set(extras) == {"train", "ray", "records", "atlas", "export", "lens", "dev"}
    for requirement in [*project["dependencies"], *[each for extra in extras.values() for each in extra]]:
        name = canonical(re.split(r"[<>=\[ ]", requirement)[0])
        assert name == "separatrix" or name in pins(), requirement
