"""The command line: ``separatrix VERB``. One file per verb; rooms are imported only by the verb that needs them."""

import io
import os
import sys


def main() -> None:
    """Run the command line and end the process with its exit code."""
    from separatrix.cli.app import run

    # OpenMP's threads spin for milliseconds while they wait for one another. Where another program holds a core, a
    # training step then waits for a thread that does nothing: fifteen times slower was measured. Spinning shortly and
    # then sleeping costs nothing on an idle machine; always sleeping takes twice as long. torch reads this when it is
    # loaded; worker processes inherit it.
    os.environ.setdefault("GOMP_SPINCOUNT", "2000")
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a symbol shows a question mark; it never ends in a traceback.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    sys.exit(run(sys.argv[1:]))
