"""What a process of the crew does: take a request, compute, send progress and one reply.

The process imports everything but torch before it is needed, keeps the networks it built, and may be ended at any
moment: it writes nothing. Its memory is bounded by the system where that is possible.
"""

import json
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, TypeAlias

from separatrix.errors import SeparatrixError
from separatrix.progress import listening
from separatrix.site.explorer.catalogs import architecture_list
from separatrix.site.explorer.comparing import compare
from separatrix.site.explorer.conversing import converse
from separatrix.site.explorer.deciding import decide, smallest_gain
from separatrix.site.explorer.limits import ExplorerError, Limits
from separatrix.site.explorer.look import look
from separatrix.site.explorer.requests import Compare, Converse, Decide, Look, Request

Computation: TypeAlias = Literal["look", "verdict", "threshold", "protocol", "comparison", "architectures"]
Pipe: TypeAlias = Any
"""One end of a pipe between processes; its type has different names on different systems."""
REQUESTS: dict[Computation, type[Request]] = {
    "look": Look, "verdict": Decide, "threshold": Decide, "protocol": Converse, "comparison": Compare,
    "architectures": Request,
}  # fmt: skip
QUICK: tuple[Computation, ...] = ("look", "protocol")
"""What answers to a moving slider; the others never take the last process."""
WITH_TORCH: tuple[Computation, ...] = ("comparison",)
"""What imports torch, which takes seconds the first time."""
SECONDS_BETWEEN_REPORTS = 0.1
WARM_UP = '{"setting": {"construction": "index-lookup", "length": 16}}'


def compute(kind: Computation, text: str, store: Path, limits: Limits) -> dict[str, Any]:
    """The reply to one request, given as JSON."""
    request = REQUESTS[kind].model_validate_json(text)
    if isinstance(request, Look | Decide | Converse):
        limits.check_length(request.setting.length)
    if isinstance(request, Look):
        return look(request)
    if isinstance(request, Converse):
        return converse(request)
    if isinstance(request, Compare):
        return compare(request, store, limits)
    if not isinstance(request, Decide):
        return architecture_list()
    answer = smallest_gain if kind == "threshold" else decide
    return answer(request, limits.max_memory)


def serve(pipe: Pipe, store: Path, limits: Limits) -> None:
    """A process's life: one request after another until the server closes the pipe."""
    # Ctrl-C reaches every process of the terminal; only the server decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _bound_memory(limits.max_memory)
    # Whatever is made on first use, such as tables of codes, is made before somebody waits for it.
    compute("look", WARM_UP, store, limits)
    compute("verdict", WARM_UP, store, limits)
    with suppress(EOFError, OSError):
        pipe.send(("ready", None))
        while True:
            kind, text = pipe.recv()
            pipe.send(_answered(kind, text, store, limits, _teller(pipe)))


def _answered(
    kind: Computation, text: str, store: Path, limits: Limits, tell: Callable[[str, int, int | None], None]
) -> tuple[str, Any]:
    try:
        with listening(tell):
            reply = compute(kind, text, store, limits)
        return "done", json.dumps(reply, ensure_ascii=False, allow_nan=False).encode("utf-8", errors="replace")
    except ExplorerError as error:
        return "failed", (error.kind, str(error))
    except SeparatrixError as error:
        return "failed", ("input", str(error))
    except MemoryError:
        size = f"{limits.max_memory / (1 << 30):.3g} GiB"
        return "failed", ("limit", f"this needs more than {size}, this server's --max-memory; choose a smaller N")
    except Exception:
        traceback.print_exc(file=sys.stderr)
        return "failed", ("internal", "a defect of this package, not of the request; the server's terminal shows it")


def _teller(pipe: Pipe) -> Callable[[str, int, int | None], None]:
    """Sends how far the work is, a few times a second."""
    last = 0.0

    def tell(what: str, done: int, total: int | None) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= SECONDS_BETWEEN_REPORTS:
            last = now
            pipe.send(("progress", (what, done, total)))

    return tell


def _bound_memory(limit: int) -> None:
    """Let the system refuse memory beyond the limit; macOS accepts such a bound and ignores it."""
    if sys.platform == "linux":
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        bound = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (bound, hard))
