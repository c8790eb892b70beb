"""Who may talk to the explorer: this machine's own page, and nobody through it.

A server on loopback is reachable by every page that the same browser has open. Three doors are closed here:

* *rebinding*: a foreign name that was made to point to 127.0.0.1 arrives with that name in ``Host``, which is refused;
* *cross-origin requests*: a request whose ``Origin`` is another one, or that the browser marks as not from the same
  origin (``Sec-Fetch-Site``), is refused; following a link to the page itself is not;
* *embedding*: headers forbid frames, scripts that are not ours, and guessing of content types.

Bodies are bounded in size and in the time they take to arrive.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, TypeAlias

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Application: TypeAlias = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

LOOPBACK = ("127.0.0.1", "localhost", "::1")
LARGEST_BODY = 1 << 20
BODY_SECONDS = 10.0
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


@dataclass(frozen=True)
class Hosts:
    """The names under which the server answers.

    With ``any_address`` every numeric address is one: a page cannot be made to send another site's number.
    """

    names: frozenset[str]
    any_address: bool = False

    def allow(self, header: str) -> bool:
        """Whether a ``Host`` header names this server; the port plays no part, since it may be forwarded.

        >>> Hosts(frozenset(LOOPBACK)).allow("localhost:8642"), Hosts(frozenset(LOOPBACK)).allow("evil.example:8642")
        (True, False)
        """
        name = host_name(header)
        return name in self.names or (self.any_address and _is_address(name))


def hosts_for(bound: str, more: tuple[str, ...] = ()) -> Hosts:
    """The names for a server bound to an address, and further ones that its owner gave."""
    everywhere = bound in ("0.0.0.0", "::")
    return Hosts(frozenset(each.lower() for each in (*LOOPBACK, bound, *more)), any_address=everywhere)


def is_loopback(host: str) -> bool:
    """Whether an address reaches only this machine.

    >>> is_loopback("127.0.0.1"), is_loopback("0.0.0.0")
    (True, False)
    """
    return host == "localhost" or (_is_address(host) and ip_address(host).is_loopback)


def host_name(header: str) -> str:
    """The name in a ``Host`` header without its port and brackets.

    >>> host_name("[::1]:80"), host_name("LOCALHOST"), host_name("::1")
    ('::1', 'localhost', '::1')
    """
    text = header.strip().lower()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text if text.count(":") > 1 else text.partition(":")[0]


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


class Guard:
    """An ASGI application around another one that keeps strangers out."""

    def __init__(self, application: Application, hosts: Hosts) -> None:
        self.application, self.hosts = application, hosts

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Refuse, or pass on with bounded bodies and with headers added."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.application(scope, receive, send)
            return
        headers: dict[str, str] = {key.decode("latin-1").lower(): value.decode("latin-1")
                                   for key, value in scope["headers"]}  # fmt: skip
        reason = self.refusal(str(scope["path"]), str(scope["method"]), headers)
        if reason is not None:
            await _refuse(send, 403, reason)
            return
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > LARGEST_BODY:
            await _refuse(send, 413, f"the request has {length[:20]} bytes; at most {LARGEST_BODY} are read", "limit")
            return
        try:
            body = await asyncio.wait_for(_whole_body(receive), BODY_SECONDS)
        except TimeoutError:
            await _refuse(send, 408, f"the request did not arrive within {BODY_SECONDS:g} seconds", "limit")
            return
        if body is None:
            await _refuse(send, 413, f"the request has more than {LARGEST_BODY} bytes", "limit")
            return
        await self.application(scope, _replayed(body, receive), _with_headers(send))

    def refusal(self, path: str, method: str, headers: dict[str, str]) -> str | None:
        """Why a request is not from this server's own page, or None."""
        host = headers.get("host", "")
        if not self.hosts.allow(host):
            return (
                f"the name {host_name(host)[:80]!r} is not this server's; open it as 127.0.0.1, or start it with "
                "--allow-host NAME"
            )
        origin = headers.get("origin")
        if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
            return "requests from pages of another origin are refused"
        site = headers.get("sec-fetch-site", "none")
        follows_link = method == "GET" and headers.get("sec-fetch-mode") == "navigate" and path == "/"
        if site not in ("same-origin", "none") and not follows_link:
            return "requests from pages of another site are refused"
        return None


async def _whole_body(receive: Receive) -> bytes | None:
    """The body of a request, None when it is too long."""
    pieces: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b"".join(pieces)
        pieces.append(message.get("body", b""))
        size += len(pieces[-1])
        if size > LARGEST_BODY:
            return None
        if not message.get("more_body", False):
            return b"".join(pieces)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """A body that was read already, and after it whatever else happens."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [
                *message["headers"],
                *((name.lower().encode(), value.encode()) for name, value in HEADERS.items()),
            ]
        await send(message)

    return sending


async def _refuse(send: Send, status: int, reason: str, kind: str = "refused") -> None:
    body = json.dumps({"error": reason, "kind": kind}).encode()
    start = {"type": "http.response.start", "status": status,
             "headers": [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()),
                         (b"connection", b"close")]}  # fmt: skip
    await _with_headers(send)(start)
    await send({"type": "http.response.body", "body": body})
