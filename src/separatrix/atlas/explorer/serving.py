"""Running the server: a socket, uvicorn around the application, and patience with slow clients that ends."""

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from separatrix.atlas.explorer.app import make_app
from separatrix.atlas.explorer.guard import hosts_for
from separatrix.atlas.explorer.limits import Limits
from separatrix.errors import SeparatrixError

MOST_CONNECTIONS = 256
SECONDS_FOR_HEADERS = 10.0
SECONDS_TO_END = 2


class ImpatientProtocol(H11Protocol):
    """Closes a connection whose first request has not arrived after some seconds."""

    def connection_made(self, transport: Any) -> None:
        """Start the clock."""
        super().connection_made(transport)
        self._clock = self.loop.call_later(SECONDS_FOR_HEADERS, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        self._clock.cancel()
        super().connection_lost(exc)

    def _give_up(self) -> None:
        # None until the first request has come.
        if cast("RequestResponseCycle | None", self.cycle) is None and not self.transport.is_closing():
            self.transport.close()


def bound_socket(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes any free one."""
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
    return listening


def address_of(listening: socket.socket) -> str:
    """The address to open in a browser."""
    host, port = listening.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}/"


def serve(
    listening: socket.socket, host: str, store: Path, limits: Limits, names: tuple[str, ...], ready: Callable[[], None]
) -> None:
    """Answer until Ctrl-C; ``ready`` is called when the first request can be answered."""
    config = uvicorn.Config(
        make_app(store, limits, hosts_for(host, names)), log_level="warning", access_log=False, server_header=False,
        http=ImpatientProtocol, ws="none", limit_concurrency=MOST_CONNECTIONS, timeout_keep_alive=10,
        timeout_graceful_shutdown=SECONDS_TO_END, proxy_headers=False,
    )  # fmt: skip
    server = _Server(config, ready)
    # Ctrl-C is how a server ends: uvicorn has shut down when it passes the signal on.
    with suppress(KeyboardInterrupt):
        asyncio.run(server.serve(sockets=[listening]))


class _Server(uvicorn.Server):
    """uvicorn's server, which tells when it has started."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then tell."""
        await super().startup(sockets)
        if not self.should_exit:
            self._ready()
