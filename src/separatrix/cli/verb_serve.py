"""``separatrix serve``: the interactive explorer in a browser on this machine."""

from pathlib import Path
from typing import Annotated

import typer

from separatrix.cli.limits import parse_bytes
from separatrix.cli.output import JsonOption, command_line, console, notes, print_json
from separatrix.cli.training_options import StoreOption
from separatrix.errors import SeparatrixError
from separatrix.extras import require

NAME = "serve"
ORDER = 95
EXAMPLE = "separatrix serve --port 8642"


def command(
    context: typer.Context,
    host: Annotated[str, typer.Option("--host", help="Address to listen on; others than 127.0.0.1 let in others.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option("--port", help="Port; 0 takes any free one.")] = 8642,
    store: StoreOption = None,
    max_length: Annotated[int, typer.Option("--max-length", help="The largest N of a request.")] = 512,
    max_seconds: Annotated[float, typer.Option("--max-seconds", help="The longest computation.")] = 60.0,
    max_memory: Annotated[str, typer.Option("--max-memory", help="Of one computation, such as 2G.")] = "4G",
    workers: Annotated[
        int, typer.Option("--workers", help="Processes for proofs; one more answers quick questions.")
    ] = 3,
    allow_host: Annotated[
        list[str] | None, typer.Option("--allow-host", help="Another name under which the page may be opened.")
    ] = None,
    atlas: Annotated[
        Path, typer.Option("--atlas", help="Folder of a built atlas, which the page then links to.")
    ] = Path("atlas"),
    as_json: JsonOption = False,
) -> None:
    """Open the explorer: move sliders and watch attention, margins and certificates; protocols; recorded runs."""
    require("the explorer", "fastapi", "uvicorn", "pebble")
    from separatrix.provenance import versions
    from separatrix.site import Limits, address_of, bound_socket, is_loopback, serve
    from separatrix.training import store_path

    if not 0 <= port <= 65535:
        raise SeparatrixError(f"--port {port} is not a port; choose 1 to 65535, or 0 for any free one")
    limits = Limits(
        max_length=max_length, max_seconds=max_seconds, max_memory=parse_bytes(max_memory), workers=workers
    )  # fmt: skip
    place = store_path(store).absolute()
    listening = bound_socket(host, port)
    address = address_of(listening)
    if not is_loopback(host):
        notes().print(
            f"[bold]warning[/bold]: {host} is not loopback: everyone who reaches this machine can compute on it; there "
            "is no password",
            soft_wrap=True,
        )

    def ready() -> None:
        if as_json:
            print_json({"address": address, "store": str(place), "limits": limits.as_json(), "versions": versions(),
                        "command": command_line(context)})  # fmt: skip
        else:
            console().print(f"open [bold]{address}[/bold]  (Ctrl-C ends)", soft_wrap=True)

    serve(listening, host, place, limits, tuple(allow_host or ()), ready, atlas)
