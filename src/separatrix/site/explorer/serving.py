"""Running the server: a socket, uvicorn around the application, and patience with slow clients that ends."""

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from separatrix.errors import SeparatrixError
from separatrix.site.explorer.app import make_app
from separatrix.site.explorer.guard import hosts_for
from separatrix.site.explorer.limits import Limits

MOST_CONNECTIONS = 256
SECONDS_FOR_HEADERS = 10.0
SECONDS_FOR_ANSWERS = 30.0
"""How long a client may leave an answer unread."""
SECONDS_TO_END = 2


class ImpatientProtocol(H11Protocol):
    """Closes a connection that does not finish the headers of a request, or does not take its answer, in time.

    The clock of the headers runs from the connection on, and for a later request from its first byte on; in between
    uvicorn's own time to keep a connection alive counts.
    """

    def connection_made(self, transport: Any) -> None:
        """Start the clock."""
        self._headers: asyncio.TimerHandle | None = None
        self._answer: asyncio.TimerHandle | None = None
        super().connection_made(transport)
        self._watch_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clocks."""
        for clock in (self._headers, self._answer):
            if clock is not None:
                clock.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Stop the clock when a whole request has come, start it with the first byte of the next."""
        super().data_received(data)
        self._watch_headers()

    def pause_writing(self) -> None:
        """The client does not read: start the clock of the answer."""
        super().pause_writing()
        if self._answer is None:
            self._answer = self.loop.call_later(SECONDS_FOR_ANSWERS, self.transport.abort)

    def resume_writing(self) -> None:
        """The client reads on."""
        if self._answer is not None:
            self._answer.cancel()
            self._answer = None
        super().resume_writing()

    def _watch_headers(self) -> None:
        cycle = cast("RequestResponseCycle | None", self.cycle)  # None until the first request has come
        waiting = cycle is None or cycle.response_complete
        if waiting and self._headers is None:
            self._headers = self.loop.call_later(SECONDS_FOR_HEADERS, self._give_up)
        elif not waiting and self._headers is not None:
            self._headers.cancel()
            self._headers = None

    def _give_up(self) -> None:
        if not self.transport.is_closing():
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
    except (TypeError, ValueError) as error:  # a text that cannot be written as the name of a machine
        listening.close()
        raise SeparatrixError(f"--host {host!r} is no address: {error}; give one such as 127.0.0.1") from error
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
        make_app(store, limits, hosts_for(host, names)), log_level="error", access_log=False, server_header=False,
        http=ImpatientProtocol, ws="none", limit_concurrency=MOST_CONNECTIONS, timeout_keep_alive=10,
        timeout_graceful_shutdown=SECONDS_TO_END, proxy_headers=False,
    )  # fmt: skip
    server = _Server(config, ready)
    # Ctrl-C is how a server ends: uvicorn has shut down when it passes the signal on. One that has not started yet is
    # interrupted as every command is.
    try:
        asyncio.run(server.serve(sockets=[listening]))
    except KeyboardInterrupt:
        if not server.has_started:
            raise
    if server.not_told is not None:
        raise server.not_told


class _Server(uvicorn.Server):
    """uvicorn's server, which tells when it has started."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready
        self.has_started = False
        self.not_told: OSError | SystemExit | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then tell."""
        await super().startup(sockets)
        if self.should_exit:
            return
        self.has_started = True
        try:
            self._ready()
        except (OSError, SystemExit) as error:
            # Output that cannot be written, or that nobody reads (Rich ends the process then). Only a server that has
            # started shuts down in order, so it is told so in its first round.
            self.not_told = error
            asyncio.get_running_loop().call_soon(self._leave)

    def _leave(self) -> None:
        self.should_exit = True
