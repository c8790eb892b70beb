"""Fill in the output of the commands in the documentation: ``python tools/fill_examples.py README.md docs/*.md``.

Runs every ``$ separatrix …`` of a ``console`` block at a width of 100 columns and writes what it prints below it. A
command that ends in ``# not shown`` is run but its output is left out.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

COMMAND = Path(sys.executable).with_name("separatrix")


def filled(block: str) -> str:
    """A console block with fresh output."""
    lines = ["```console"]
    for call in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command = call.splitlines()[0]
        words = shlex.split(command, comments=True)[1:]
        environment = {**os.environ, "COLUMNS": "100"}
        ended = subprocess.run([COMMAND, *words], capture_output=True, text=True, check=True, env=environment)
        lines.append(f"$ {command}")
        if not command.endswith("# not shown"):
            lines += [line.rstrip() for line in ended.stdout.splitlines()]
    return "\n".join([*lines, "```"])


def main() -> int:
    """Rewrite the pages given on the command line."""
    for name in sys.argv[1:]:
        page = Path(name)
        text = page.read_text(encoding="utf-8")
        page.write_text(
            re.sub(r"```console\n(.*?)```", lambda found: filled(found[1]), text, flags=re.DOTALL), encoding="utf-8"
        )
        print(f"filled {page}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
