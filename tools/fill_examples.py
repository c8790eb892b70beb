"""Fill in the output of the commands in the documentation: ``python tools/fill_examples.py README.md docs/*.md``.

Runs every ``$ separatrix …`` of a ``console`` block at a width of 100 columns and writes what it prints below it. A
command that ends in ``# not shown`` is run but its output is left out. A block with a title, such as
```` ```toml title="mine.toml" ````, is a file of that name; commands run in a fresh folder that holds these files.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

COMMAND = Path(sys.executable).with_name("separatrix")


FILE = re.compile(r'^```\w+ title="([\w.-]+)"\n(.*?)^```', re.MULTILINE | re.DOTALL)


def filled(block: str, folder: str) -> str:
    """A console block with fresh output of commands run in a folder."""
    lines = ["```console"]
    for call in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command = call.splitlines()[0]
        words = shlex.split(command, comments=True)[1:]
        environment = {**os.environ, "COLUMNS": "100"}
        ended = subprocess.run(
            [COMMAND, *words], capture_output=True, text=True, check=True, env=environment, cwd=folder
        )
        lines.append(f"$ {command}")
        if not command.endswith("# not shown"):
            lines += [line.rstrip() for line in ended.stdout.splitlines()]
    return "\n".join([*lines, "```"])


def _fill(folder: str, found: re.Match[str]) -> str:
    return filled(found[1], folder)


def main() -> int:
    """Rewrite the pages given on the command line."""
    for name in sys.argv[1:]:
        page = Path(name)
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            for file, content in FILE.findall(text):
                (Path(folder) / file).write_text(content, encoding="utf-8")
            fill = partial(_fill, folder)
            page.write_text(re.sub(r"```console\n(.*?)```", fill, text, flags=re.DOTALL), encoding="utf-8")
        print(f"filled {page}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
