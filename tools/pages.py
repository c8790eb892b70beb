"""Tables in the documentation that scripts write: a table is known by its header and replaced as a whole."""

from pathlib import Path


def replace_table(page: Path, table: str) -> None:
    """Put a Markdown table in the place of the one with the same header; raises where the page has none."""
    lines = page.read_text(encoding="utf-8").splitlines()
    header = table.splitlines()[0]
    if header not in lines:
        raise ValueError(f"{page} has no table that begins with {header!r}")
    first = last = lines.index(header)
    while last < len(lines) and lines[last].startswith("|"):
        last += 1
    page.write_text("\n".join([*lines[:first], *table.splitlines(), *lines[last:]]) + "\n", encoding="utf-8")


def print_or_write(table: str, arguments: list[str]) -> int:
    """Print a table, or with ``--write PAGE`` put it into a page."""
    if arguments[:1] == ["--write"] and len(arguments) == 2:
        replace_table(Path(arguments[1]), table)
        print(f"filled {arguments[1]}")
    else:
        print(table)
    return 0
