"""The static site, built once for all tests and all processes of a test run."""

import fcntl
import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the whole site.

    It takes a minute, so the processes of one test run share it: the first builds it, the others wait for a lock.
    SEPARATRIX_SITE names a folder that was built before, for work on the tests themselves.
    """
    given = os.environ.get("SEPARATRIX_SITE")
    if given:
        return Path(given)
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = shared / "site"
    with (shared / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "index.html").exists():
            from separatrix.atlas import build, write

            write(build(lambda what: None), folder)
    return folder
