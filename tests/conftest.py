"""What all tests share: surroundings that are the same everywhere, and the atlas, built once for all processes of a
test run by the command that a newcomer gives first.
"""

import fcntl
import gc
import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent
TRAINING = ("torch", "ray", "transformers", "pandas", "pyarrow", "onnx", "transformer_lens")
ANSWER = "answer.json"
"""What the command printed, next to the folder that it wrote."""
LONG = (
    "site/test_site.py", "site/test_atlas.py", "site/test_browser.py", "training/test_survival.py",
    "training/test_ray.py", "training/test_executors.py", "models/test_kernels.py", "models/test_to_onnx.py",
    "certificates/test_mutants.py", "cli/test_calls.py", "site/test_explorer_api.py", "test_docs_site.py",
    "test_hostile_files.py", "test_determinism.py", "test_examples.py",
)  # fmt: skip
"""Files whose tests take long or wait for other processes; the first of them build the site, the last has many short
tests, of which an idle process takes some."""


FOR_TESTS = ("SEPARATRIX_SITE", "SEPARATRIX_SCREENSHOTS")
"""Variables of ours that are about the tests; all others would change what they test."""
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""One each, also for the processes that tests start: small products gain nothing from a second thread, sums are added
up in one order, and threads that wait for a core that another test has take ten times the processor time."""
INSTRUCTIONS = {"ATEN_CPU_CAPABILITY": "avx2", "MKL_CBWR": "COMPATIBLE", "ONEDNN_MAX_CPU_ISA": "AVX2"}
"""The same sums in torch on every processor: what a test trains would else differ from one machine to the next, and
with it the verdicts about it."""
BALL_BITS = 53
"""The precision with which flint starts, one for the whole process."""
COLOURS = ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")

for name in (*COLOURS, *(each for each in os.environ if each.startswith("SEPARATRIX_") and each not in FOR_TESTS)):
    os.environ.pop(name, None)
os.environ.update(dict.fromkeys(THREADS, "1") | INSTRUCTIONS)
# Bytecode is kept, as with make: every process of a run, and every run, would compile all modules anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # A shell ignores Ctrl-C for what it starts in the background, and so would every process that a test interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No clock decides, and every run tries the same examples; to look for new ones: pytest --hypothesis-profile=search
settings.register_profile("search", deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", settings.get_profile("search"), derandomize=True, max_examples=40)
settings.load_profile("same")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests first: a test of a minute that is begun last would keep one process busy while the others wait."""
    places = {ROOT / "tests" / file: place for place, file in enumerate(LONG)}
    items.sort(key=lambda item: places.get(item.path, len(LONG)))


def pytest_collection_finish() -> None:
    """What was imported stays: the garbage collector need not look at a million objects again and again."""
    gc.freeze()


def pytest_runtest_setup() -> None:
    """Each test draws the same numbers and has one thread, whatever was done before it."""
    random.seed(0)
    if torch := sys.modules.get("torch"):
        torch.manual_seed(0)
        torch.set_num_threads(1)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """After its fixtures: who leaves another precision of balls behind fails, not the test that happens to be next."""
    if flint := sys.modules.get("flint"):
        left, flint.ctx.prec = flint.ctx.prec, BALL_BITS
        assert left == BALL_BITS, f"the test left flint.ctx.prec at {left}; use  with flint.ctx.workprec(...)"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the whole site, with the records that ship with the project.

    It takes a minute, so the processes of one test run share it: the first builds it, the others wait for a lock.
    SEPARATRIX_SITE names a folder that was built before, for work on the tests themselves.
    """
    given = os.environ.get("SEPARATRIX_SITE")
    if given:
        return Path(given).absolute()
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "atlas"
    shared.mkdir(exist_ok=True)
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / ANSWER).exists():
            # As for a user of the extra atlas: nothing of what training needs can be imported.
            call = f"import sys; sys.modules.update(dict.fromkeys({TRAINING})); from separatrix.cli import main; main()"
            command = [sys.executable, "-W", "error", "-c", call, "atlas", "--out", str(shared / "site"), "--json"]
            # Records come from the project's folders alone, not from a store that somebody happens to have.
            environment = {**os.environ, "SEPARATRIX_STORE": str(shared / "none.sqlite"), "PYTHONHASHSEED": "0"}
            ended = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
            assert (ended.returncode, ended.stderr) == (0, "")
            (shared / ANSWER).write_text(ended.stdout, encoding="utf-8")
    return shared / "site"


@pytest.fixture(scope="session")
def atlas_answer(site: Path) -> dict:
    """What the command that built the site printed with ``--json``."""
    answer = site.parent / ANSWER
    if not answer.is_file():
        pytest.skip("SEPARATRIX_SITE names a folder whose command's output is not kept")
    return json.loads(answer.read_text(encoding="utf-8"))
