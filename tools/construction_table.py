"""All constructions with their theorems and deviations: ``python -m tools.construction_table`` prints the table of the
docs and ``--write docs/constructions.md`` puts it there.
"""

import sys

from tools.pages import print_or_write

from separatrix.constructions import constructions


def table() -> str:
    """The table in Markdown, read off the catalog."""
    rows = ["| construction | theorem | statement | where it deviates | other variants |", "|---|---|---|---|---|"]
    for name, each in constructions().items():
        variants = ", ".join(f"`{variant}`" for variant in each.variants if variant != "repaired")
        cells = f"`{name}`", each.theorem, each.statement, "; ".join(each.deviations) or "–", variants or "–"
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


if __name__ == "__main__":
    sys.exit(print_or_write(table(), sys.argv[1:]))
