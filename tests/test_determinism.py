"""The same commands print and write the same bytes in processes with other hash seeds."""

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import contextlib, hashlib, io, json, sys
from pathlib import Path
from separatrix.cli.app import run

def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(each) for key, each in value.items() if key not in ("seconds", "made_at")}
    return [without_times(each) for each in value] if isinstance(value, list) else value

for command in sys.stdin.read().splitlines():
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = run(command.split())
    print(command, code, json.dumps(without_times(json.loads(out.getvalue()))))
for file in sorted(Path("new").rglob("*.*")):
    content = file.read_bytes()
    if file.suffix == ".json":
        content = json.dumps(without_times(json.loads(content))).encode()
    print(file, hashlib.sha256(content).hexdigest())
"""
COMMANDS = """
certify index-lookup --length 16 --out new/lookup --json
certify dyck-transformer --length 8 --out new/dyck --json
certify match3 --length 4 --set modulus=7 --out new/match3 --json
certify nearest-neighbour --length 8 --out new/nearest --json
sample dyck --length 8 --json
sample mqar --length 8 --json
bound equality --model rnn --length 64 --json
bound match3 --model transformer-1layer --length 64 --json
protocol index-lookup --length 8 --json
code --count 64 --json
frontier index-lookup --from 4 --to 5 --json
""".strip()


def printed(folder: Path, seed: str) -> str:
    folder.mkdir()
    environment = {"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path), "OMP_NUM_THREADS": "1", "COLUMNS": "80"}
    command = [sys.executable, "-c", SCRIPT]
    done = subprocess.run(
        command, input=COMMANDS, capture_output=True, text=True, cwd=folder, env=environment, check=True
    )
    return done.stdout


def test_the_same_commands_give_the_same_bytes(tmp_path):
    first, second = (printed(tmp_path / seed, seed) for seed in ("1", "2"))
    assert first == second
    assert first.count("network.safetensors") >= 4
    assert all(f"{command} 0 " in first for command in COMMANDS.splitlines())
