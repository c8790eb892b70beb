"""What a long certification has found so far, part by part, in ``progress.jsonl`` next to the certificate.

Work that was stopped resumes after the last whole line. A file is used only if it is about the same weights, the same
question and effort, and was written by the same kernel; then what it says was accepted by that kernel, or was run, and
is not decided again. Whoever does not trust the file runs ``separatrix check``, which proves everything anew.
"""

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, TypeVar

from separatrix.files import write_atomically
from separatrix.provers import Decided, Outcome

PROGRESS_FILE = "progress.jsonl"
Found = TypeVar("Found")


class Progress(Generic[Found]):
    """The file in one folder, open in a context; ``read`` and ``write`` take what is found from JSON and to it."""

    def __init__(self, folder: Path, read: Callable[[Any], Found], write: Callable[[Found], Any], **about: Any) -> None:
        self.path, self.write = folder / PROGRESS_FILE, write
        first = json.loads(json.dumps({**about, "kernel": kernel_digest()}))
        kept = list(_kept(self.path, first, read))
        self.known = {key: found for key, found, _ in kept}
        self.resumed = 0
        """How many parts were taken from earlier work."""
        # Written anew, because the last line may have been cut off.
        write_atomically(self.path, "\n".join([json.dumps(first), *(line for *_, line in kept)]) + "\n")

    def __enter__(self) -> "Progress[Found]":
        self.file = self.path.open("a", encoding="utf-8")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.file.close()

    def done(self) -> None:
        """All is found, and written elsewhere."""
        with suppress(OSError):
            self.path.unlink()

    def decided(self, part: Any, decide: Callable[[], Found]) -> Found:
        """What was found about a part, or what is found now."""
        key = json.dumps(part)
        if key in self.known:
            self.resumed += 1
            return self.known[key]
        found = decide()
        self.file.write(json.dumps([part, self.write(found)]) + "\n")
        self.file.flush()
        return found


def to_plain(decided: Decided) -> list[Any]:
    """A verdict as JSON has it."""
    return [decided.outcome, decided.proof, decided.failing]


def from_plain(found: Any) -> Decided:
    """A verdict from JSON."""
    outcome, proof, failing = found
    return Decided(Outcome(outcome), proof, None if failing is None else tuple(map(int, failing)))


@cache
def kernel_digest() -> str:
    """The hash of all files of the kernel.

    >>> len(kernel_digest())
    64
    """
    found = find_spec("separatrix_kernel")
    assert found is not None and found.origin is not None
    whole = hashlib.sha256()
    for path in sorted(Path(found.origin).parent.glob("*.py")):
        whole.update(path.read_bytes())
    return whole.hexdigest()


def _kept(path: Path, first: Any, read: Callable[[Any], Found]) -> Iterator[tuple[str, Found, str]]:
    """Parts, what was found of them, and the lines; up to one that was cut off or is of another form."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return
    with suppress(ValueError, TypeError):
        if not lines or json.loads(lines[0]) != first:
            return
        for line in lines[1:]:
            part, found = json.loads(line)
            yield json.dumps(part), read(found), line
