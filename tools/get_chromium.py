"""A Chromium for the browser tests and the screenshots: ``python -m tools.get_chromium``.

Takes the first of these that works and says which: a browser of the system, the one that Playwright keeps, a package of
the system where this process may install one (apt as root), Playwright's own download. Ends with 0 in every case: where
none can be had, one line says why and the tests that need a browser are skipped with the same reason.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NONE = "no Chromium is installed; install one, or run  playwright install --with-deps chromium"
SECONDS = 300
"""How long one way of installing may take."""


def chromium() -> Path | None:
    """A browser that is installed: the system's, or Playwright's own."""
    for name in NAMES:
        found = shutil.which(name)
        if found:
            return Path(found)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        own = Path(playwright.chromium.executable_path)
    return own if own.exists() else None


def ways() -> list[list[list[str]]]:
    """Ways to install one, the best first: each a list of commands."""
    found: list[list[list[str]]] = []
    if os.name == "posix" and os.geteuid() == 0 and shutil.which("apt-get"):
        install = ["apt-get", "install", "--yes", "--no-install-recommends", "chromium", "fonts-dejavu-core"]
        found.append([install])
        found.append([["apt-get", "update"], install])
    found.append([[sys.executable, "-m", "playwright", "install", "chromium"]])
    return found


def installed(commands: list[list[str]]) -> bool:
    """Whether all commands ended well, in time."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        for command in commands:
            subprocess.run(command, check=True, capture_output=True, timeout=SECONDS, env=environment)
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def main() -> int:
    """Find one or install one, and say which."""
    found = chromium()
    for commands in ways() if found is None else ():
        print(f"installing Chromium for the browser tests: {' '.join(commands[-1])}")
        if installed(commands) and (found := chromium()) is not None:
            break
    print(f"Chromium for the browser tests: {found}" if found else f"{NONE}; the browser tests are skipped")
    return 0


if __name__ == "__main__":
    sys.exit(main())
