"""What protects a server on loopback from the other pages of the same browser.

* *Rebinding*: a foreign name that points to 127.0.0.1 arrives in ``Host``; Starlette's ``TrustedHostMiddleware``
  refuses every name but the server's.
* *Cross-origin requests*: a foreign ``Origin``, or ``Sec-Fetch-Site`` other than this origin, is refused; following a
  link to the page is allowed.
* *Embedding*: headers forbid frames, foreign scripts and content sniffing. Bodies are bounded. The
  static pages of the atlas, whose drawings have inline styles, may use those.
"""

from ipaddress import ip_address

from fastapi import HTTPException
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_BODY = 1 << 20
POLICY = "Content-Security-Policy"
HEADERS = {
    POLICY: "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def is_loopback(host: str) -> bool:
    """Return whether an address reaches this machine only.

    >>> is_loopback("127.0.0.1"), is_loopback("0.0.0.0")
    (True, False)
    """
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def allowed_hosts(bound: str, more: tuple[str, ...] = ()) -> list[str]:
    """Return the names under which a server answers: loopback, its address, and those that its owner adds."""
    names = {"127.0.0.1", "localhost", "::1", bound, *more} - {"0.0.0.0", "::"}
    # Starlette keeps the brackets of an IPv6 address in ``Host``; a "*" would open the server to every name.
    return sorted(f"[{name}]" if ":" in name else name for name in names if "*" not in name)


class SameOrigin:
    """ASGI middleware: refuses other origins and large bodies, and adds security headers to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request or pass it on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        read = 0

        async def bounded() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > LARGEST_BODY:
                raise HTTPException(413, f"the request has more than {LARGEST_BODY} bytes")
            return message

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(HEADERS)
                if scope["path"].startswith("/atlas/"):
                    headers[POLICY] = HEADERS[POLICY].replace("style-src", "style-src 'unsafe-inline'")
            await send(message)

        if is_foreign(scope["path"], scope["method"], Headers(scope=scope)):
            refused = JSONResponse({"error": "pages of another origin may not ask", "kind": "refused"}, 403)
            await refused(scope, receive, with_headers)
        else:
            await self.app(scope, bounded, with_headers)


def is_foreign(path: str, method: str, headers: Headers) -> bool:
    """Return whether a request comes from a page of another origin; following a link to the explorer does not count."""
    host, origin = headers.get("host", ""), headers.get("origin")
    if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
        return True
    follows_link = method == "GET" and path == "/" and headers.get("sec-fetch-mode") == "navigate"
    return headers.get("sec-fetch-site", "none") not in ("same-origin", "none") and not follows_link
