"""Options that mean something only next to others: one that would change nothing is refused, not passed over."""

from collections.abc import Iterable, Sequence
from typing import cast

import typer

from separatrix.errors import SeparatrixError


def is_given(context: typer.Context, parameter: str) -> bool:
    """Return whether an option is on the command line, by the name of its parameter; a default does not count."""
    source = context.get_parameter_source(parameter)
    return source is not None and source.name == "COMMANDLINE"


def refuse_given(context: typer.Context, parameters: Iterable[str], why: str) -> None:
    """Raise a one-line error that names the first of the options that was given and says ``why`` it is refused."""
    flags = {parameter.name: max(parameter.opts, key=len) for parameter in context.command.params}
    for name in parameters:
        if is_given(context, name):
            value = context.params[name]
            values = cast("Sequence[object]", value) if isinstance(value, list | tuple) else [value]
            shown = "" if value is True else f" {' '.join(map(str, values))}"
            raise SeparatrixError(f"{flags[name]}{shown} {why}")
