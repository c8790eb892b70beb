"""The command line: ``separatrix VERB``. One file per verb; rooms are imported only by the verb that needs them."""

import io
import sys


def main() -> None:
    """Run the command line and end the process with its exit code."""
    from separatrix.cli.app import run

    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a symbol shows a question mark; it never ends in a traceback.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    sys.exit(run(sys.argv[1:]))
