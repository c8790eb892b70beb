"""Write every part of the documentation that comes from records or computations: ``python -m tools.fill_pages``.

Tells what changed; ``--check`` changes nothing and ends with 1 where a page differs from what its source gives.
Measurements are not repeated: the commands that make them keep them in docs/records (see ``tools.pages``).
"""

import argparse
import sys

from tools.page_parts import PARTS
from tools.pages import ROOT, write


def main() -> int:
    """Fill or check."""
    parser = argparse.ArgumentParser(prog="python -m tools.fill_pages", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 if a page would change")
    parser.add_argument("pages", nargs="*", metavar="PAGE", help="such as docs/training.md; all if left out")
    given = parser.parse_args()
    different = 0
    for part in PARTS:
        if given.pages and part.page not in given.pages:
            continue
        try:
            if given.check:
                content = (ROOT / part.page).read_text(encoding="utf-8")
                changes = part.filled(content) != content
            else:
                changes = write(part)
        except ValueError as error:
            print(error)
            different += 1
            continue
        if changes:
            print(f"{part.page}: {part.label}")
            different += 1
    return 1 if different and given.check else 0


if __name__ == "__main__":
    sys.exit(main())
