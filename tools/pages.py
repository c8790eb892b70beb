"""Parts of the documentation that scripts write.

A table is known by its header and replaced as a whole; a section stands between two comments that name it.
"""

from pathlib import Path

from separatrix.files import write_atomically


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


def fill_section(page: Path, name: str, text: str) -> None:
    """Put Markdown between the comments ``<!-- NAME -->`` and ``<!-- end of NAME -->``; raises where they are not."""
    content = page.read_text(encoding="utf-8")
    before, first, rest = content.partition(f"<!-- {name} -->\n")
    _, last, after = rest.partition(f"<!-- end of {name} -->")
    if not first or not last:
        raise ValueError(f"{page} has no section between <!-- {name} --> and <!-- end of {name} -->; add both lines")
    write_atomically(page, f"{before}{first}\n{text.strip()}\n\n{last}{after}")


def print_or_write(table: str, arguments: list[str]) -> int:
    """Print a table, or with ``--write PAGE`` put it into a page."""
    if arguments[:1] == ["--write"] and len(arguments) == 2:
        replace_table(Path(arguments[1]), table)
        print(f"filled {arguments[1]}")
    else:
        print(table)
    return 0
