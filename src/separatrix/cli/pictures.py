"""Pictures that verbs draw to a file when asked: their formats, refused early where it is none or cannot be written."""

from pathlib import Path
from typing import TYPE_CHECKING

from separatrix.errors import SeparatrixError
from separatrix.extras import require
from separatrix.files import check_writable, write_atomically

if TYPE_CHECKING:
    from separatrix.site import Figure


def check_picture(option: str, path: Path | None, *, interactive: bool = False) -> None:
    """Raise a one-line error for a file that is neither .svg nor .png, or that cannot be written, before any work.

    ``interactive``: the picture can also be a page that ends in .html.
    """
    if path is None:
        return
    known = (".svg", ".png", *((".html",) if interactive else ()))
    if path.suffix not in known:
        raise SeparatrixError(
            f"{option} {path} is not a name of a picture; give one that ends in {' or '.join(known)}, as a.png"
        )
    check_writable(path)
    require(option, "plotly" if path.suffix == ".html" else "matplotlib")


def write_picture(path: Path, figure: "Figure") -> None:
    """Write the figure in the format of the file's name."""
    write_atomically(path, figure.svg if path.suffix == ".svg" else figure.png)
