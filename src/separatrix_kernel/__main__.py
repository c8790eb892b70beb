"""``python -m separatrix_kernel FOLDER``: exit code 0 for a valid proof, 1 for a refused one, 2 for a wrong call."""

import sys
from pathlib import Path

from separatrix_kernel.checker import check_folder
from separatrix_kernel.reading import RefusedError
from separatrix_kernel.trained import TRAINED_FILE, check_trained_folder


def main(arguments: list[str]) -> int:
    """Check one folder and print the verdict."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m separatrix_kernel FOLDER\n")
        return 2
    folder = Path(arguments[0])
    try:
        if (folder / TRAINED_FILE).is_file():
            shown = check_trained_folder(folder)
            sys.stdout.write(f"{shown.words()}\nvalid: right on {shown.share_in_words()}\n")
            return 0
        accepted = check_folder(folder)
    except RefusedError as refusal:
        sys.stdout.write(f"refused: {refusal}\n")
        return 1
    sys.stdout.write(f"{accepted.words()}\nvalid: every input is answered rightly\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
