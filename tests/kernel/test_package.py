"""The kernel is one folder: it runs from a copy of it, without the project and without any other package."""

import ast
import json
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tools.trusted_code import kernel_lines, kernel_rules

import separatrix_kernel
from separatrix.certificates.kernel_files import kernel_files
from separatrix.shipped import FOLDER as SHIPPED
from separatrix_kernel.__main__ import main
from separatrix_kernel.trained import TRAINED_FILE, WEIGHTS_FILE
from tests.kernel.files import proved

FOLDER = Path(separatrix_kernel.__file__).parent


RULES = {
    "automaton": ("dyck-dfa", 4),
    "layers": ("index-lookup", 8),
    "layers, averaging": ("sparse-averaging", 4),
    "layers, counting": ("equality", 4),
    "layers, matching": ("match2", 4),
    "layers, nearest": ("nearest-neighbour", 4),
    "layers, powers": ("match3-heads", 4),
    "layers, windows": ("match3-local", 4),
    "prefixes": ("dyck-transformer", 4),
    "running-sums": ("dyck-float", 4),
}
TRAINED = {
    "lookup": "rotary-lookup-50",
    "two_layers": "recall-8",
    "thresholds": "majority-31",
    "words": "dyck-lstm-64",
    "words, selective": "dyck-mamba-2-bits",
}


def command(place: Path, claim: Path) -> list[str]:
    """Check a folder with the kernel in a place: -I hides the environment and -S the site packages."""
    call = f"import sys; sys.path.insert(0, {str(place)!r}); from separatrix_kernel.__main__ import main; "
    return [sys.executable, "-I", "-S", "-c", f"{call}sys.exit(main([{str(claim)!r}]))"]


def loaded(claim: Path) -> tuple[str, list[str], int]:
    """The rule that a claim names, and the files and lines that a new process says it has loaded."""
    ended = subprocess.run(command(FOLDER.parent, claim), capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    said = dict(line.split(maxsplit=1) for line in ended.stdout.replace("relied on", "relied-on").splitlines())
    count, names = said["relied-on"].split(": ")
    assert int(count.split()[0]) == len(names.split())
    return said.get("rule", ""), names.split(), int(count.split()[-2])


@pytest.mark.parametrize("rule", RULES)
def test_a_claim_loads_the_files_of_its_rule_alone(rule, tmp_path):
    content, data = proved(*RULES[rule])
    (tmp_path / "proof.json").write_text(json.dumps(content))
    (tmp_path / "network.safetensors").write_bytes(data)
    named, files, lines = loaded(tmp_path)
    assert (named, files) == (rule, list(kernel_files(rule)))
    assert lines == sum(kernel_files(rule).values())


@pytest.mark.parametrize("rule", TRAINED)
def test_a_claim_about_trained_weights_loads_the_files_of_its_rule_alone(rule, tmp_path):
    folder = SHIPPED / "trained" / TRAINED[rule]
    shutil.copy(folder / WEIGHTS_FILE, tmp_path)
    content = json.loads((folder / TRAINED_FILE).read_text())
    if "certified" in content:
        # What is loaded does not depend on the number of cases, and this takes no time.
        content["certified"] = []
    (tmp_path / TRAINED_FILE).write_text(json.dumps(content))
    _, files, lines = loaded(tmp_path)
    assert (files, lines) == (list(kernel_files(rule)), sum(kernel_files(rule).values()))


def test_no_claim_relies_on_more_than_half_of_the_kernel():
    assert set(kernel_rules()) == {*RULES, *TRAINED, "enumeration"}
    lines = kernel_lines()
    for rule in kernel_rules():
        assert 2 * sum(lines[f"{name}.py"][0] for name in kernel_files(rule)) < sum(code for code, _ in lines.values())


def test_a_copy_of_the_folder_checks_a_proof_alone(tmp_path):
    content, data = proved("index-lookup", 8)
    shutil.copytree(FOLDER, tmp_path / "separatrix_kernel")
    claim = tmp_path / "claim"
    claim.mkdir()
    (claim / "proof.json").write_text(json.dumps(content))
    (claim / "network.safetensors").write_bytes(data)
    # Nothing but the standard library and the copy is left.
    alone = command(tmp_path, claim)
    ended = subprocess.run(alone, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    for said in ("valid", "index-lookup", "64^8*8", "fixed:N=8,Kc=2,down", content["sha256"]):
        assert said in ended.stdout
    (claim / "network.safetensors").write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    ended = subprocess.run(alone, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (1, "")
    assert ended.stdout.startswith("refused: ")


def test_the_command_says_how_it_is_called(capsys, tmp_path):
    assert main([]) == 2
    assert "usage" in capsys.readouterr().err
    assert main([str(tmp_path)]) == 1
    assert capsys.readouterr().out.startswith("refused: ")
    content, data = proved("dyck-dfa", 4)
    (tmp_path / "proof.json").write_text(json.dumps(content))
    (tmp_path / "network.safetensors").write_bytes(data)
    assert main([str(tmp_path)]) == 0
    assert "valid" in capsys.readouterr().out


def test_the_module_runs_as_a_program(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "argv", ["separatrix_kernel", str(tmp_path)])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(FOLDER / "__main__.py"), run_name="__main__")
    assert ended.value.code == 1


def test_only_the_standard_library_is_imported():
    for file in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            named = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            named += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in named:
                first = name.partition(".")[0]
                assert first == "separatrix_kernel" or first in sys.stdlib_module_names
