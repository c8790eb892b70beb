"""The attention pattern of docs/export.md: ``python -m tools.export_figure`` runs the page and keeps the picture.

The page's own code draws it, so the figure next to the code is the one that the code makes.
"""

import contextlib
import re
import sys
import tempfile
from pathlib import Path

from separatrix.files import write_atomically

PAGE = Path(__file__).resolve().parent.parent / "docs" / "export.md"
FIGURE = "attention-pattern.svg"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def main() -> int:
    """Run the page's blocks from top to bottom and write the picture next to the page."""
    space: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for number, block in enumerate(BLOCK.findall(PAGE.read_text(encoding="utf-8"))):
            exec(compile(block, f"{PAGE.name} block {number + 1}", "exec"), space)
        picture = Path(folder, FIGURE).read_text(encoding="utf-8")
    write_atomically(PAGE.parent / "figures" / FIGURE, picture)
    print(f"wrote docs/figures/{FIGURE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
