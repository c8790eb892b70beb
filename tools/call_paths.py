"""How requests go through the rooms: ``python -m tools.call_paths`` runs some and writes docs/architecture.md's lists.

Each request runs twice, the second time with Python's profiler hook. Listed is every function of a façade that another
room called, once, in the order of the first calls and indented by rooms: one that goes down once and comes up once
is short. Methods of records and of entries are not listed.
"""

import io
import sys
import tempfile
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = str(ROOT / "src/separatrix") + "/"
PAGE = ROOT / "docs/architecture.md"
BEGIN, END = "<!-- call paths, made by python -m tools.call_paths -->", "<!-- the last call path -->"
REQUESTS = (
    "certify index-lookup --length 64 --out {folder}/lookup",
    "check {folder}/lookup",
    "bound index-lookup --model rnn --length 64",
    "train equality TF-(1,16) --length 8 --steps 20 --examples 64 --store {folder}/runs.sqlite",
)
PAGE_OF = "sign-codes"
"""The section whose page is built as the last request."""
MOST_LINES = 40
WRAPPER = "checked.<locals>.call"
"""What looks at the arguments of the api's functions, between these and who calls them."""


def place(code: CodeType) -> tuple[str, str] | None:
    """The room and the name of a function of this package, None for the small shared modules and other code."""
    if not code.co_filename.startswith(PACKAGE) or "/" not in code.co_filename[len(PACKAGE) :]:
        return None
    module = code.co_filename[len(PACKAGE) : -3].replace("/", ".")
    if code.co_qualname == WRAPPER:
        return None
    return module.partition(".")[0], f"{module}.{code.co_qualname}"


@cache
def offered(room: str) -> frozenset[str]:
    """The names of a room's façade; the command line has one way in."""
    if room == "cli":
        return frozenset({"command", "run"})
    # The folder of shipped files is not a room and offers nothing.
    return frozenset(getattr(import_module(f"separatrix.{room}"), "__all__", ()))


class Paths:
    """Collects the calls from one room into another while it is active."""

    def __init__(self) -> None:
        self.lines: dict[str, int] = {}

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        """The hook: ``sys.setprofile`` calls it for every call and return."""
        del argument
        if event != "call":
            return
        here = place(frame.f_code)
        if here is None:
            return
        caller, depth = self._caller(frame.f_back)
        depth = depth if caller == here[0] else depth + 1
        if caller != here[0] and frame.f_code.co_qualname in offered(here[0]):
            self.lines.setdefault(here[1], depth)

    def _caller(self, frame: FrameType | None) -> tuple[str, int]:
        """The room of the nearest caller in this package, and how many rooms deep it is."""
        rooms: list[str] = []
        while frame is not None:
            found = place(frame.f_code)
            if found is not None and (not rooms or rooms[-1] != found[0]):
                rooms.append(found[0])
            frame = frame.f_back
        return (rooms[0], len(rooms) - 1) if rooms else ("", -1)


def path_of(request: Callable[[], int]) -> list[str]:
    """The lines of one request; it must end well."""
    paths = Paths()
    with redirect_stdout(io.StringIO()):
        request()
        sys.setprofile(paths)
        try:
            code = request()
        finally:
            sys.setprofile(None)
    if code != 0:
        raise SystemExit(f"a request ended with {code}")
    return [f"{'  ' * depth}{name}" for name, depth in paths.lines.items()]


def build_page(folder: Path) -> int:
    """Collect, draw and write one section."""
    from separatrix.site import build, sections, write

    return 0 if write(build(lambda what: None, only=[sections()[PAGE_OF]]), folder) else 1


def written() -> str:
    """All lists as Markdown."""
    from separatrix.cli.app import run

    parts: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        requests: dict[str, Callable[[], int]] = {
            f"`separatrix {each.replace('{folder}/', '')}`": partial(run, each.format(folder=folder).split())
            for each in REQUESTS
        }
        requests[f"The page `{PAGE_OF}.html`"] = partial(build_page, Path(folder))
        for title, request in requests.items():
            lines = path_of(request)
            left = len(lines) - MOST_LINES
            rest = [f"… {left} more"] if left > 0 else []
            parts.append("\n".join([f"{title}:\n", "```text", *lines[:MOST_LINES], *rest, "```"]))
    return "\n\n".join(parts)


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{written()}\n{END}{rest.partition(END)[2]}", encoding="utf-8")
