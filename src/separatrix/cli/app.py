"""The application: which verbs there are, and how every ending of a command looks.

Exit codes: 0 done, 1 a claim is false, 2 bad input, 130 interrupted by Ctrl-C. Bad input is one line on standard
error, never a traceback and never a usage box; what is a defect of ours keeps its traceback. Results go to standard
output, all else to standard error, so that ``--json`` prints one object and nothing more.
"""

import os
import shlex
import sys
import time
import traceback
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from separatrix import cli
from separatrix._version import __version__
from separatrix.cli.interrupts import remembered
from separatrix.cli.output import Call, only_json
from separatrix.errors import SeparatrixError, StoppedError, UnknownNameError
from separatrix.extras import missing_package
from separatrix.sources import ended_by_user_code
from separatrix.user_files import using_files

MEANT = {
    "explore": "serve", "explorer": "serve", "open": "serve", "verify": "check", "prove": "certify", "build": "certify",
    "experiment": "sweep", "plot": "figure", "draw": "figure", "show": "runs", "memory": "capacity",
}  # fmt: skip
"""Words for what a verb does, with the verb."""
INTERRUPTED = "interrupted; nothing half-written was left"
STOPPED = 130
VERBS = tuple(
    sorted(
        (
            import_module(f"{cli.__name__}.{info.name}")
            for info in iter_modules(cli.__path__)
            if info.name[:5] == "verb_"
        ),
        key=lambda verb: (verb.ORDER, verb.NAME),
    )
)
"""One file ``verb_*.py`` each; adding a verb is adding a file. ``ORDER`` is its place in the help."""
PANELS = {
    0: "Look around", 50: "Can a model solve it, and how small?", 70: "How large must a model be?",
    80: "Does a model learn it?", 90: "See everything",
}  # fmt: skip
"""The parts of the help, each with the smallest ``ORDER`` in it."""

# Typer carries its own copy of Click and exports only some of its exceptions; the common base class of everything
# that a wrong call raises is the base of BadParameter's base.
_USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[1]
_CALL_ERROR: type[Exception] = typer.BadParameter.__mro__[2]


class _Verbs(TyperGroup):
    """The verbs; one that there is not is bad input like any other unknown name."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        found = super().get_command(ctx, cmd_name)
        if found is not None or cmd_name.startswith("-"):
            return found
        if cmd_name in MEANT:  # what is spelt alike may be another thing
            raise SeparatrixError(f"unknown verb {cmd_name!r}; nearest: {MEANT[cmd_name]}; see separatrix --help")
        raise UnknownNameError("verb", cmd_name, self.commands)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"separatrix {__version__}")
        raise typer.Exit


def _about(
    context: typer.Context,
    own: Annotated[
        list[Path] | None,
        typer.Option(
            "--with",
            metavar="FILE.py",
            help="Use the TASK, CONSTRUCTION, BOUND or REDUCTION of a Python file as if it was installed.",
        ),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """What sequence models can and cannot represent: tasks, constructions, bounds and training runs."""
    if own:
        context.with_resource(using_files(own))


def application() -> typer.Typer:
    """Return a new application with every verb registered."""
    app = typer.Typer(
        name="separatrix", cls=_Verbs, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="rich"
    )
    app.callback()(_about)
    for module in VERBS:
        panel = PANELS[max(start for start in PANELS if start <= module.ORDER)]
        app.command(name=module.NAME, epilog=f"Example: {module.EXAMPLE}", rich_help_panel=panel)(module.command)
    return app


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    if not os.environ.get("COLUMNS", "1").strip("0"):
        del os.environ["COLUMNS"]  # a terminal that does not know its width, for which Rich would print nothing
    with remembered() as pressed:
        try:
            return _run(arguments)
        except Exception:  # whatever a library makes of Ctrl-C that meets it where it does not expect it
            if not pressed:
                raise
            _refuse(INTERRUPTED)
            return STOPPED


def _run(arguments: Sequence[str]) -> int:
    call = Call(arguments, time.perf_counter())
    try:
        with only_json("--json" in arguments):
            code = application()(list(arguments), prog_name="separatrix", standalone_mode=False, obj=call)
        if sys.stdout is not None:  # a process started with its output closed has none
            sys.stdout.flush()
        if code == STOPPED:  # Typer turns Ctrl-C into this code.
            _refuse(INTERRUPTED)
        return code if isinstance(code, int) else 0
    except StoppedError as error:
        _refuse(str(error))
        return STOPPED
    except SeparatrixError as error:
        return _refuse(str(error))
    except (typer.Abort, KeyboardInterrupt):
        _refuse(INTERRUPTED)
        return STOPPED
    except (BrokenPipeError, SystemExit) as error:
        if isinstance(error, SystemExit) and not _is_of_a_library(error):
            return _refuse(str(ended_by_user_code(error)))
        # The reader (head, less) has seen enough; Rich and Typer turn that into SystemExit, which they use for nothing
        # else here but the end of completions.
        _forget_output()
        return 0
    except ModuleNotFoundError as error:
        missing = missing_package(error)
        if missing is None:
            raise
        return _refuse(str(missing))
    except MemoryError:
        return _refuse("not enough memory for this size; choose a smaller --length or --count")
    except OSError as error:
        _forget_output()
        return _refuse(f"{error.filename or 'system'}: {error.strerror or error}; check the path, permissions and disk")
    except _CALL_ERROR as error:
        message = str(getattr(error, "format_message", error.__str__)())
        if not message:  # Typer raises an empty usage error after it has shown the help itself.
            return 2
        verbs = {module.NAME for module in VERBS}
        about = " ".join(["separatrix", *[each for each in arguments if each in verbs][:1], "--help"])
        given = f"; given: separatrix {shlex.join(arguments)}; see {about}" if isinstance(error, _USAGE_ERROR) else ""
        return _refuse(f"{message.rstrip('.')}{given}")


def _is_of_a_library(error: SystemExit) -> bool:
    """Return whether Typer or Rich ended the program, not a module, task or function of a user's."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return frame.f_globals.get("__name__", "").partition(".")[0] in ("typer", "rich")


def _forget_output() -> None:
    """Point output that cannot be written elsewhere, so that flushing it at the end does not complain again."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _refuse(message: str) -> int:
    typer.echo(f"separatrix: {' '.join(message.split())}", err=True)
    return 2
