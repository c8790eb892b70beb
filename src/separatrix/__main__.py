"""``python -m separatrix``: the command line, where the script is not on the path."""

from separatrix.cli import main

if __name__ == "__main__":
    main()
