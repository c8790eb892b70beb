"""Every verb where only the core dependencies are installed: it works, or ends at once and names the extra.

The environment is made from the packages' own metadata: whatever ``separatrix`` does not require without extras,
directly or through others, cannot be imported in the child process. A verb without a case here fails the test.
"""

import importlib.metadata
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from separatrix.cli.app import VERBS
from separatrix.extras import EXTRAS
from separatrix_kernel.trained import TRAINED_FILE

README = Path(__file__).resolve().parents[2] / "README.md"
CASES: dict[str, list[tuple[str, str | None]]] = {
    "atlas": [("atlas --out site", "atlas")],
    "attack": [("attack 0b5d1c2e", "train")],
    "compare": [("compare mine.py:Layer", "train")],
    "bound": [
        ("bound mine.py:parity --model rnn --length 6", None),
        ("bound dyck --model Mamba-(2,64) --length 400", None),
        ("bound equality --model rnn --length 32", None),
    ],
    "capacity": [
        ("capacity TF-(1,64)", None),
        ("capacity mamba-130m gpt2", None),
        ("capacity mamba-130m gpt2 --plot memory.png", "atlas"),
    ],
    "certify": [("certify index-lookup --length 16 --out lookup", None), ("certify 0b5d1c2e", "train")],
    "check": [("check lookup", None), ("check trained --replay", "train")],
    "code": [("code --count 16", None)],
    "export": [
        ("export index-lookup --length 8 --to safetensors --out exact.safetensors", None),
        ("export index-lookup --length 8 --to torch --out folder", "train"),
        ("export index-lookup --length 8 --to onnx --out model.onnx", "export"),
        ("export index-lookup --length 8 --to transformer-lens --out folder", "lens"),
    ],
    "design": [
        ("design mqar --length 16", None),
        ("design mine.py:parity --length 6", None),
        ("design mqar --length 16 --plot sizes.png", "atlas"),
    ],
    "figure": [("figure figure2-left --out figures", "atlas")],
    "frontier": [
        ("frontier index-lookup --from 3 --to 4", None),
        ("frontier index-lookup --from 3 --to 4 --figure widths.png", "atlas"),
        ("frontier index-lookup --learned LSTM-(1,W) --widths 4 --lengths 4", "train"),
    ],
    "list": [("list architectures", None), ("list experiments", None)],
    "precision": [("precision majority --length 64 --bits 14", None)],
    "profile": [
        ("profile mine.py:parity --length 6", None),
        ("profile mine.py:parity --length 6 --plot parity.png", "atlas"),
    ],
    "protocol": [("protocol index-lookup --length 8 --partition cut:4", None)],
    "runs": [
        ("runs list --limit 3 --records shipped", None),
        ("runs export runs.csv --limit 3", None),
        ("runs export runs.json --limit 3", None),
        ("runs export runs.parquet --limit 3", "records"),
        ("runs bits 0", "train"),
    ],
    "sample": [
        ("sample dyck --length 8", None),
        ("sample mine.py:parity --length 8", None),
        ("sample mqar:zoology --length 16 --out data", None),
    ],
    "serve": [("serve --port 0", "atlas")],
    "sweep": [("sweep figure2-left --scale quick --dry-run", "train")],
    "train": [("train equality TF-(1,16) --length 8 --steps 20", "train")],
}
CHILD = """
import contextlib, io, json, sys

blocked, commands = json.load(sys.stdin)
# None makes an import fail and a search find nothing, as for a package that is not installed.
sys.modules.update(dict.fromkeys(blocked))
from separatrix.cli.app import run
found = {}
for command in commands:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(command.split())
    found[command] = [code, out.getvalue(), err.getvalue(), "numpy" in sys.modules]
print(json.dumps(found))
"""
"""Commands one after another in one process in which only the core can be imported."""


def core_packages() -> set[str]:
    """The distributions that separatrix needs without extras, those that they need included."""
    found: set[str] = set()
    wanted = ["separatrix"]
    while wanted:
        name = wanted.pop()
        if name in found:
            continue
        found.add(name)
        try:
            required = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue  # for another platform or version of Python
        plain = [each for each in required if "extra ==" not in each]
        wanted += [re.split(r"[^A-Za-z0-9._-]", each)[0].lower().replace("_", "-") for each in plain]
    return found


@pytest.fixture(scope="module")
def blocked() -> list[str]:
    """The modules at the top of all distributions that are not of the core."""
    core = core_packages()
    assert {"numpy", "typer", "python-flint", "rich", "pygments"} <= core
    assert not {"torch", "matplotlib", "pandas"} & core
    found = [
        module
        for module, packages in importlib.metadata.packages_distributions().items()
        if not any(each.lower().replace("_", "-") in core for each in packages)
    ]
    assert {"torch", "matplotlib", "pytest"} <= set(found)
    return found


@pytest.fixture(scope="module")
def place(tmp_path_factory, blocked) -> Path:
    """A folder with a user's function, a certified network, and what is taken for a certificate of trained weights."""
    folder = tmp_path_factory.mktemp("core")
    (folder / "mine.py").write_text("def parity(bits):\n    return sum(bits) % 2\n")
    (folder / "trained").mkdir()
    (folder / "trained" / TRAINED_FILE).write_text("{}")
    return folder


def ended(commands: list[str], folder: Path, blocked: list[str]) -> dict[str, list[Any]]:
    """Exit code, output, errors, and whether numpy was loaded by then, of each command."""
    done = subprocess.run(
        [sys.executable, "-c", CHILD], input=json.dumps([blocked, commands]), capture_output=True, text=True, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_verb_has_a_case():
    assert set(CASES) == {verb.NAME for verb in VERBS}
    assert {extra for cases in CASES.values() for _, extra in cases} <= {None, *EXTRAS.values()}


def test_the_readme_names_each_verb_with_the_extra_that_it_always_needs():
    rows = re.findall(r"^\| (none|`.*) \| (.*) \|$", README.read_text().partition("| extra |")[2], re.MULTILINE)
    named = {extra: set(re.findall(r"`([a-z]+)[ `]", verbs)) for extra, verbs in rows}
    for verb, cases in CASES.items():
        extras = {extra for _, extra in cases}
        (row,) = {"none"} & {extra or "none" for extra in extras} or extras
        (words,) = [words for each, words in named.items() if each.startswith((row, f"`{row}`"))]
        assert verb in words, (verb, row)


def test_the_core_computes_without_extras(place, blocked):
    plain = [command for cases in CASES.values() for command, extra in cases if extra is None]
    made = "certify index-lookup --length 16 --out lookup"
    for command, (code, out, err, _) in ended([made, *plain], place, blocked).items():
        assert code == 0, (command, err)
        assert out, command


def test_what_needs_an_extra_names_it_before_anything_is_computed(place, blocked):
    extras = {command: extra for cases in CASES.values() for command, extra in cases if extra is not None}
    before = sorted(place.rglob("*"))
    for command, (code, out, err, computed) in ended(list(extras), place, blocked).items():
        assert code == 2, command
        assert err.startswith("separatrix: ") and err.count("\n") == 1, command
        assert f"'separatrix[{extras[command]}]'" in err, command
        assert not computed and out == "", command
    assert sorted(place.rglob("*")) == before
