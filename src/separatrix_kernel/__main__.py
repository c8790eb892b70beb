"""``python -m separatrix_kernel FOLDER``: exit code 0 for a valid proof, 1 for a refused one, 2 for a wrong call."""

import sys
from pathlib import Path

from separatrix_kernel.reading import RefusedError


def loaded() -> str:
    """The files of the kernel that this process has loaded, and how many lines they have."""
    names = sorted(name for name in sys.modules if name.startswith("separatrix_kernel."))
    folder = Path(__file__).parent
    files = sorted(
        {*(folder / f"{name.partition('.')[2]}.py" for name in names), folder / "__init__.py", Path(__file__)}
    )
    lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)
    return f"relied on   {len(files)} files of the kernel, {lines} lines: {' '.join(file.stem for file in files)}"


def main(arguments: list[str]) -> int:
    """Check one folder and print the verdict."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python -m separatrix_kernel FOLDER\n")
        return 2
    folder = Path(arguments[0])
    try:
        if (folder / "trained.json").is_file():
            from separatrix_kernel.trained import check_trained_folder

            shown = check_trained_folder(folder)
            right = f"right on {shown.share_in_words()}"
        else:
            from separatrix_kernel.checker import check_folder

            shown, right = check_folder(folder), "every input is answered rightly"
    except RefusedError as refusal:
        sys.stdout.write(f"refused: {refusal}\n")
        return 1
    sys.stdout.write(f"{shown.words()}\n{loaded()}\nvalid: {right}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
