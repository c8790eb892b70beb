"""Run the server: a socket, and uvicorn around the application."""

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn

from separatrix.errors import SeparatrixError
from separatrix.site.explorer.app import make_app
from separatrix.site.explorer.limits import Limits
from separatrix.site.explorer.security import allowed_hosts

MOST_CONNECTIONS = 256
SECONDS_TO_END = 30
"""How long a client may take to read a reply that is on its way when the server ends."""


def bound_socket(host: str, port: int) -> socket.socket:
    """Return a socket; port 0 takes any free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named because asyncio sends small answers at once (TCP_NODELAY) only where it is.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise SeparatrixError(
            f"cannot listen on {host} port {port}: {error.strerror or error}; choose another --port, or 0 for any"
        ) from error
    except (TypeError, ValueError) as error:  # the text cannot be a host name
        listening.close()
        raise SeparatrixError(f"--host {host!r} is not an address: {error}; give one such as 127.0.0.1") from error
    return listening


def address_of(listening: socket.socket) -> str:
    """Return the address to open in a browser."""
    host, port = listening.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}/"


def serve(
    listening: socket.socket,
    host: str,
    store: Path,
    limits: Limits,
    names: tuple[str, ...],
    ready: Callable[[], None],
    atlas: Path | None = None,
) -> None:
    """Answer until Ctrl-C; ``ready`` is called when the first request can be answered."""
    app = make_app(store, limits, allowed_hosts(host, names), atlas)
    config = uvicorn.Config(
        app, log_level="error", access_log=False, server_header=False, http="h11", ws="none",
        limit_concurrency=MOST_CONNECTIONS, timeout_keep_alive=10, timeout_graceful_shutdown=SECONDS_TO_END,
        proxy_headers=False,
    )  # fmt: skip
    server = _Server(config, ready, app.state.give_up)
    # uvicorn has shut down in order when it passes Ctrl-C on; before it has started, Ctrl-C interrupts as usual.
    try:
        asyncio.run(server.serve(sockets=[listening]))
    except KeyboardInterrupt:
        if not server.has_started:
            raise
    if server.failed is not None:
        raise server.failed


class _Server(uvicorn.Server):
    """uvicorn's server with a call when it has started, and one when it ends."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None], give_up: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready, self._give_up = ready, give_up
        self.has_started = False
        self.failed: OSError | SystemExit | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then call ``ready``."""
        await super().startup(sockets)
        if self.should_exit:
            return
        self.has_started = True
        try:
            self._ready()
        except (OSError, SystemExit) as error:
            # Output that cannot be written, or that nobody reads (Rich ends the process then): shut down in order,
            # which only a server in its main loop does.
            self.failed = error
            asyncio.get_running_loop().call_soon(self._leave)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End what is computed, then shut down in order."""
        self._give_up()
        await super().shutdown(sockets)

    def _leave(self) -> None:
        self.should_exit = True
