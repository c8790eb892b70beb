"""Write docs/reference/command-line.md from the application itself: ``python tools/write_cli_reference.py``.

``--check`` writes nothing and fails when the page is not what it would write; the tests do the same.
"""

import inspect
import sys
from pathlib import Path
from typing import Any

import typer

from separatrix.cli.app import VERBS, application
from separatrix.files import write_atomically

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "command-line.md"
HEAD = """# Command line

<!-- Written by tools/write_cli_reference.py from the application; do not edit. -->

`separatrix VERB`. Exit codes: 0 done, 1 a claim is false, 2 bad input (one line that says what to do), 130 interrupted.
Results go to standard output, all else to standard error; `--json` prints one object and nothing more.
`separatrix --install-completion` sets up the shell. `separatrix --with FILE.py VERB` uses the `TASK`, `CONSTRUCTION`,
`BOUND` or `REDUCTION` of a [file of your own](../how-to/own-theorem.md#on-the-command-line) as if it was installed.
"""


def commands() -> dict[str, Any]:
    """Every verb as Click sees it, with its parameters."""
    return typer.main.get_command(application()).commands  # type: ignore[attr-defined]


def reference() -> str:
    """The whole page."""
    found = commands()
    parts = [HEAD, "| verb | does |\n|---|---|\n" + "\n".join(_row(found[verb.NAME]) for verb in VERBS) + "\n"]
    parts += [_verb(found[verb.NAME], verb.EXAMPLE) for verb in VERBS]
    return "\n".join(parts)


def _row(command: Any) -> str:
    return f"| [`{command.name}`](#{command.name}) | {_cell(_first_line(command))} |"


def _first_line(command: Any) -> str:
    return inspect.cleandoc(command.help or "").partition("\n")[0]


def _verb(command: Any, example: str) -> str:
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option"]
    usage = " ".join(["separatrix", command.name, *map(_place, arguments), "[OPTIONS]"])
    lines = [
        f"## {command.name}",
        "",
        inspect.cleandoc(command.help or ""),
        "",
        "```sh",
        usage,
        f"{example}  # example",
    ]
    lines += ["```", "", "| argument or option | default | what it is |", "|---|---|---|"]
    lines += [f"| `{_place(each)}` | {_default(each)} | {_cell(each.help)} |" for each in arguments]
    lines += [f"| {_option(each)} | {_default(each)} | {_cell(each.help)} |" for each in options]
    return "\n".join([*lines, ""])


def _place(argument: Any) -> str:
    name = (argument.metavar or argument.name.upper()) + ("..." if argument.nargs == -1 else "")
    return name if argument.required else f"[{name}]"


def _option(option: Any) -> str:
    names = ", ".join(f"`{name}`" for name in option.opts)
    if option.secondary_opts:
        names += " / " + ", ".join(f"`{name}`" for name in option.secondary_opts)
    return names


def _default(parameter: Any) -> str:
    value = parameter.default
    if parameter.required:
        return "required"
    if callable(value) or value is None or value == ():
        return ""
    if isinstance(value, bool):
        if getattr(parameter, "secondary_opts", ()):
            return f"`{(parameter.opts if value else parameter.secondary_opts)[0]}`"
        return "on" if value else ""
    return f"`{value}`"


def _cell(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|").replace("<", "&lt;")


def main() -> int:
    """Write the page, or say whether it is up to date."""
    text = reference()
    if "--check" in sys.argv[1:]:
        current = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
        if current != text:
            print(f"{PAGE.name} is out of date; run  python tools/write_cli_reference.py")
        return int(current != text)
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(PAGE, text)
    print(f"wrote {PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
