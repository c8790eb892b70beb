"""The kernel is one folder: it runs from a copy of it, without the project and without any other package."""

import ast
import json
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import separatrix_kernel
from separatrix_kernel.__main__ import main
from tests.kernel.files import proved

FOLDER = Path(separatrix_kernel.__file__).parent


def test_a_copy_of_the_folder_checks_a_proof_alone(tmp_path):
    content, data = proved("index-lookup", 8)
    shutil.copytree(FOLDER, tmp_path / "separatrix_kernel")
    claim = tmp_path / "claim"
    claim.mkdir()
    (claim / "proof.json").write_text(json.dumps(content))
    (claim / "network.safetensors").write_bytes(data)
    # -I hides the environment and -S the site packages: nothing but the standard library and the copy is left.
    call = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from separatrix_kernel.__main__ import main; "
    command = [sys.executable, "-I", "-S", "-c", f"{call}sys.exit(main([{str(claim)!r}]))"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    for said in ("valid", "index-lookup", "64^8*8", "fixed:N=8,Kc=2,down", content["sha256"]):
        assert said in ended.stdout
    (claim / "network.safetensors").write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (1, "")
    assert ended.stdout.startswith("refused: ")


def test_the_command_says_how_it_is_called(capsys, tmp_path):
    assert main([]) == 2
    assert "usage" in capsys.readouterr().err
    assert main([str(tmp_path)]) == 1
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
