"""The records that ship with the package: runs of the papers' figures, bits of trained states, surveys of frontiers.

Pages, figures and ``separatrix runs`` read them where no other records are named, so that whoever installs the package
sees what the project shows. On the command line and on pages the folder is called ``shipped``.
"""

from collections.abc import Iterable
from pathlib import Path

NAME = "shipped"
FOLDER = Path(__file__).parent


def resolved(paths: Iterable[Path]) -> list[Path]:
    """Paths as a person gave them; ``shipped`` and what is in it become the folder, unless it is here by that name.

    >>> resolved([Path("shipped")]) == [FOLDER], resolved([Path("runs.sqlite")])
    (True, [PosixPath('runs.sqlite')])
    >>> resolved([Path("shipped/trained")]) == [FOLDER / "trained"]
    True
    """
    return [
        FOLDER.joinpath(*path.parts[1:]) if path.parts[:1] == (NAME,) and not path.exists() else path for path in paths
    ]


def short_path(path: Path) -> str:
    """The path for messages and commands: ``shipped/…`` for what is in the folder, else as it is.

    >>> short_path(FOLDER), short_path(FOLDER / "reduced.sqlite"), short_path(Path("runs.sqlite"))
    ('shipped', 'shipped/reduced.sqlite', 'runs.sqlite')
    """
    return str(NAME / path.relative_to(FOLDER)) if path.is_relative_to(FOLDER) else str(path)
