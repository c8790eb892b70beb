"""The command line: ``separatrix VERB``. One file per verb; rooms are imported only by the verb that needs them."""

import sys


def main() -> None:
    """Run the command line and end the process with its exit code."""
    from separatrix.cli.app import run

    sys.exit(run(sys.argv[1:]))
