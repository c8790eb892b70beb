"""Pictures that verbs draw to a file when asked: the two formats, refused early where it is neither."""

from pathlib import Path
from typing import TYPE_CHECKING

from separatrix.errors import SeparatrixError
from separatrix.files import write_atomically

if TYPE_CHECKING:
    from separatrix.atlas.section import Figure


def check_picture(option: str, path: Path | None) -> None:
    """Raise a one-line error for a file that is neither .svg nor .png, before any work is done for it."""
    if path is not None and path.suffix not in (".svg", ".png"):
        raise SeparatrixError(f"{option} {path} must end in .svg or .png")


def write_picture(path: Path, figure: "Figure") -> None:
    """The figure in the format that the file's name asks for."""
    write_atomically(path, figure.svg if path.suffix == ".svg" else figure.png)
