"""How ``certify`` treats trained weights: a run of a store, or a folder with a weight file."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import typer

from separatrix.cli.given_options import refuse_given
from separatrix.cli.output import print_answer, seconds_so_far
from separatrix.errors import SeparatrixError, StoppedError
from separatrix.extras import require
from separatrix.files import check_writable


def names_a_run(text: str) -> bool:
    """Return whether this is a run's name, or a folder that has no construction's name.

    >>> names_a_run("0b5d1c2e"), names_a_run("index-lookup")
    (True, False)
    """
    from separatrix.api import RUN_NAME

    if RUN_NAME.fullmatch(text) is not None:
        return True
    if not Path(text).is_dir():
        return False
    from separatrix.constructions import constructions

    return text not in constructions()


def certify_trained(
    context: typer.Context,
    name: str,
    length: int | None,
    store: Path | None,
    nodes: int,
    bits: int | None,
    out: Path | None,
    as_json: bool,
) -> int:
    """Certify a trained model and say what is certified, refuted and open; 0 where every input is certified."""
    require("certifying a trained run", "torch")
    from separatrix.api import WEIGHTS_ARITHMETIC, certify_weights, weights_given
    from separatrix.cli.progress import progress_bar
    from separatrix.progress import listening
    from separatrix_kernel.trained import TRAINED_FILE

    if not 1 <= nodes <= 1 << 20:
        raise SeparatrixError(f"--nodes {nodes} is out of range; choose 1 to 2^20")
    if bits == 0:
        raise SeparatrixError("--bits 0 leaves no state; choose 1 to 16, or leave it out")
    given = weights_given(name, store)
    words = given.kind == "words"
    if words:
        every = "is for texts of a length; words are certified at every length; leave it out"
        refuse_given(context, ("length", "nodes"), every)
    else:
        refuse_given(context, ("bits",), "is for a recurrent model on dyck, not for a Transformer; leave it out")
    chosen = given.length if length is None else length
    folder = out or Path("certificates") / (f"{given.label}-words" if words else f"{given.label}-{chosen}")
    if folder.exists() and not folder.is_dir():
        raise SeparatrixError(f"--out {folder} is a file; give a folder")
    check_writable(folder / TRAINED_FILE)
    with progress_bar(f"certifying {given.label}", as_json) as show, listening(show), _resumable(folder):
        found = certify_weights(given, chosen, folder, nodes, bits or 0)
    print_answer(context, found, as_json, arithmetic=WEIGHTS_ARITHMETIC, seconds=seconds_so_far(context))
    return 0 if found else 1


@contextmanager
def _resumable(folder: Path) -> Generator[None]:
    """Say after Ctrl-C what is kept of a long certification."""
    from separatrix.models import PROGRESS_FILE

    try:
        yield
    except KeyboardInterrupt as error:
        if not (folder / PROGRESS_FILE).is_file():
            raise
        raise StoppedError(f"interrupted; {folder} keeps what was decided, and the same command resumes") from error
