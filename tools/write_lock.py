"""Rewrite ``requirements.lock`` from the newest versions that resolve together.

Usage: ``make lock``. Runs pip's own resolver without installing anything and writes one ``name==version``
line for every package of every extra that set-up installs, transitive ones included. The file is used as a pip
constraints file, so a set-up that needs only some extras installs only those, at the pinned versions. transformer-lens
is resolved alone, as it is installed (see the Makefile).
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADER = """\
# Every version this project is built and tested with. Written by `make lock`; used as `pip install -c`.
# torch stays at exactly this version: an open range would pull gigabytes of CUDA packages.
"""
RESOLVED = (["torch==2.13.0", f"{ROOT}[train,ray,records,atlas,export,dev]"], ["--no-deps", "transformer-lens>=4.0"])


def main() -> int:
    """Resolve all extras together and rewrite the lock file; return a process exit code."""
    pins: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        for wanted in RESOLVED:
            command = [
                sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed",
                "--only-binary", ":all:", "--report", str(report), *wanted,
            ]  # fmt: skip
            if subprocess.run(command, check=False).returncode != 0:
                print(
                    "lock: pip could not resolve the extras together from wheels; requirements.lock is unchanged",
                    file=sys.stderr,
                )
                return 2
            found = json.loads(report.read_text(encoding="utf-8"))["install"]
            pins |= {item["metadata"]["name"].lower().replace("_", "-"): item["metadata"]["version"] for item in found}
    pins.pop("separatrix", None)
    # A local version label (2.13.0+cpu) names one build of a release; the lock pins the release.
    lines = [f"{name}=={version.split('+')[0]}\n" for name, version in sorted(pins.items())]
    target = ROOT / "requirements.lock"
    temporary = target.with_suffix(".lock.partial")
    temporary.write_text(HEADER + "".join(lines), encoding="utf-8")
    temporary.replace(target)
    print(f"lock: {len(lines)} packages pinned in {target.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
