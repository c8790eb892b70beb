"""Limits and defaults of the program, and what it needs, as the code has them."""

import inspect
import tomllib
from dataclasses import fields, is_dataclass
from typing import Any

from tools.pages import ROOT, Sentence, Table, markdown_table

from separatrix.cli.app import STOPPED
from separatrix.cli.verb_profile import MEMORY
from separatrix.cli.verb_profile import command as profile
from separatrix.cli.verb_serve import command as serve
from separatrix.tasks import tasks
from separatrix.tasks.problems.index_lookup import SHORTEST_TRAINING_LENGTH
from separatrix.tasks.task import Task

SERVE = {
    "max_length": "N",
    "max_seconds": "one computation",
    "max_memory": "one computation (enforced on Linux)",
    "workers": "processes for proofs; one more answers quick questions",
}
"""What the options of ``separatrix serve`` bound."""


def default_of(what: Any, name: str) -> Any:
    """The default of a field or parameter; whole numbers without a decimal point."""
    if is_dataclass(what):
        value = next(each.default for each in fields(what) if each.name == name)
    else:
        value = inspect.signature(what).parameters[name].default
    return int(value) if isinstance(value, float) and value.is_integer() else value


def oldest_python() -> str:
    """The oldest Python that the package runs on."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project["requires-python"].removeprefix(">=")


def serve_table() -> str:
    """The limits of the explorer's server."""
    rows = [[f"`--{name.replace('_', '-')}`", default_of(serve, name), bounds] for name, bounds in SERVE.items()]
    return markdown_table(["option", "default", "bounds"], rows, left=3)


PARTS = (
    *(Sentence(page, "Python {} or newer", lambda: [oldest_python()]) for page in ("README.md", "CONTRIBUTING.md")),
    Sentence("README.md", "{} interrupted.", lambda: [STOPPED]),
    Table("docs/explorer.md", serve_table, "| option | default |"),
    Sentence(
        "docs/profile.md",
        "`--max-memory` ({}G) or `--max-time` ({} s)",
        lambda: [MEMORY.removesuffix("G"), default_of(profile, "max_time")],
    ),
    Sentence(
        "docs/architecture.md", "one chunk of inputs ({:,} by default)", lambda: [default_of(Task.enumerate, "chunk")]
    ),
    Sentence(
        "docs/tasks.md",
        "alphabet {} ({}); training length uniform in {} … N",
        lambda: [
            tasks()["index-lookup"].parameters()["alphabet"],
            tasks()["index"].parameters()["alphabet"],
            SHORTEST_TRAINING_LENGTH,
        ],
    ),
)
