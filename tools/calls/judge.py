"""How calls are judged: what a call broke of the contract, from how it ended and what it left in its folder.

The words of a call are read by the application's own parser, so that the judge knows which files it was to write. A
result is whole when every file that is new or changed is: JSON parses, pictures and pages have their end, stores pass
SQLite's own check, weights are as long as their header says.
"""

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.calls.generated import EAGER, commands, verbs
from tools.calls.sandbox import Outcome

from separatrix.cli.limits import parse_bytes
from separatrix.errors import SeparatrixError

SLACK = 96 << 20
"""Bytes next to the limit: what the interpreter holds for itself before and after the limited work."""
PARTIAL = (".partial", ".tmp", "-journal")
"""How names of files end that are there only while something is written."""
INSTEAD = (*EAGER, "--install-completion")
"""Answered in the place of the verb that follows, or of the verb itself."""


@dataclass(frozen=True)
class Understood:
    """A call as the application reads it: the verb, and its parameters by name; none where something else is done."""

    verb: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    def outputs(self) -> list[Path]:
        """The files and folders that the call names to be written."""
        named: list[Any] = [self.settings.get("out"), self.settings.get("plot")]
        if self.verb == "frontier":
            named += [self.settings.get("figure"), self.settings.get("store")]
        if self.verb == "train" or (self.verb == "sweep" and not self.settings.get("dry_run")):
            named.append(self.settings.get("store"))
        if self.verb == "runs" and self.settings.get("action") == "export":
            named += self.settings.get("names") or []
        return [Path(each) for each in named if each is not None]


def understood(arguments: Sequence[str]) -> Understood:
    """What a call asks for."""
    known = commands()
    at = next(
        (at for at, word in enumerate(arguments) if word in known and (at == 0 or arguments[at - 1] != "--with")), None
    )
    if at is None:
        return Understood("(no verb)")
    verb, behind = arguments[at], arguments[at + 1 :]
    if set(arguments[:at]) & set(INSTEAD) or "--help" in behind:
        return Understood(verb)
    try:
        with known[verb].make_context(verb, list(behind), resilient_parsing=True) as context:
            return Understood(verb, dict(context.params))
    except Exception:  # what cannot be read is refused by the call itself
        return Understood(verb)


def verb_of(outcome: Outcome) -> str:
    """The verb under which a call is counted."""
    verb = understood(outcome.arguments).verb
    return verb if verb in verbs() else "(no verb)"


def defects(
    outcome: Outcome, before: Mapping[str, str], after: Mapping[str, str], held: int, folder: Path | None = None
) -> list[str]:
    """In what a call broke the contract; empty if it kept it. ``folder`` holds what it left."""
    asked = understood(outcome.arguments)
    found: list[str] = []
    allowed = (0, 1, 2, 130) if outcome.interrupted else (0, 1, 2)
    if outcome.code not in allowed:
        found.append(f"exit code {outcome.code}")
    if "Traceback" in outcome.err or "Exception ignored" in outcome.err:
        found.append("a traceback")
    lines = [line for line in outcome.err.splitlines() if not line.startswith("note:")]
    changed = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
    if outcome.code == 2:
        if len(lines) != 1 or not lines[0].startswith("separatrix: "):
            found.append(f"bad input ends in {len(lines)} lines")
        if outcome.output == "file" and outcome.out:
            found.append("bad input prints a result")
        if spoilt := [name for name in changed if name in before]:
            found.append(f"a refused call changed {', '.join(spoilt)}")
        if outcome.output == "file" and (new := [name for name in changed if after.get(name, "folder") != "folder"]):
            found.append(f"a refused call made {', '.join(new)}")
    if partial := [name for name in after if name.endswith(PARTIAL)]:
        found.append(f"left {', '.join(partial)}")
    if asked.settings.get("as_json") and outcome.code in (0, 1) and outcome.output == "file":
        found += _json_defects(outcome.out)
    if folder is not None:
        found += [f"{name} is not whole" for name in changed if name in after and not is_whole(folder / name)]
        if outcome.code == 0 and not outcome.interrupted:
            found += [f"{path} was not written" for path in asked.outputs() if not _is_there(folder / path)]
    limit = _limit(asked, outcome)
    if limit is not None and outcome.peak > max(limit, held) + SLACK:
        found.append(f"{outcome.peak >> 20} MiB with --max-memory {limit >> 20} MiB")
    return found


def _json_defects(text: str) -> list[str]:
    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        value = json.loads(text, parse_constant=refuse)
    except ValueError as error:
        return [f"no valid JSON: {error}"]
    return [] if isinstance(value, dict) else [f"JSON of a {type(value).__name__}, not one object"]


def _limit(asked: Understood, outcome: Outcome) -> int | None:
    given = asked.settings.get("max_memory")
    if given is None or outcome.code == 2:
        return None
    try:
        return parse_bytes(given)
    except SeparatrixError:
        return None


def _is_there(path: Path) -> bool:
    return any(path.iterdir()) if path.is_dir() else path.is_file()


def is_whole(path: Path) -> bool:
    """Whether a file has its end; what is no file, or of no kind that shows it, is taken as it is."""
    check = WHOLE.get(path.suffix)
    if path.is_symlink() or not path.is_file() or check is None:
        return True
    try:
        return check(path)
    except (ValueError, sqlite3.Error):
        return False


def _ends(*endings: bytes) -> Callable[[Path], bool]:
    return lambda path: path.read_bytes().rstrip().endswith(endings)


def _is_store(path: Path) -> bool:
    if not path.read_bytes().startswith(b"SQLite format 3\0"):
        return json.loads(path.read_bytes()) is not None  # a frontier's verdicts, under any name
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as store:
        return store.execute("pragma integrity_check").fetchone() == ("ok",)


def _are_weights(path: Path) -> bool:
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    ends = [each["data_offsets"][1] for name, each in header.items() if name != "__metadata__"]
    return len(content) == 8 + size + max(ends, default=0)


WHOLE: dict[str, Callable[[Path], bool]] = {
    ".json": lambda path: json.loads(path.read_bytes()) is not None,
    ".svg": _ends(b"</svg>"),
    ".html": _ends(b"</html>"),
    ".png": _ends(b"IEND\xaeB`\x82"),
    ".parquet": _ends(b"PAR1"),
    ".csv": lambda path: path.read_bytes().endswith(b"\n"),
    ".sqlite": _is_store,
    ".safetensors": _are_weights,
}
"""By the ending of a file's name, whether its content is whole."""
