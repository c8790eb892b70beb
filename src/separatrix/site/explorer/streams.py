"""Server-sent events: the one way in which the server tells something without being asked again."""

from collections.abc import AsyncGenerator

from fastapi.responses import StreamingResponse

from separatrix.site.explorer.limits import ExplorerError

MOST_STREAMS = 100


def event(name: str, data: bytes, number: int | None = None) -> bytes:
    """One event; ``data`` is one line of JSON.

    >>> event("point", b'{"step": 1}', 7)
    b'id: 7\\nevent: point\\ndata: {"step": 1}\\n\\n'
    """
    head = b"" if number is None else f"id: {number}\n".encode()
    return head + f"event: {name}\n".encode() + b"data: " + data.replace(b"\n", b" ") + b"\n\n"


class Streams:
    """Counts open streams, so that forgotten ones cannot use up the server."""

    def __init__(self) -> None:
        self.open = 0

    def response(self, events: AsyncGenerator[bytes]) -> StreamingResponse:
        """A stream of events."""
        if self.open >= MOST_STREAMS:
            raise ExplorerError(f"{MOST_STREAMS} streams are open already; close some pages", "busy")
        headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
        return StreamingResponse(self._counted(events), media_type="text/event-stream", headers=headers)

    async def _counted(self, events: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
        self.open += 1
        try:
            async for each in events:
                yield each
        finally:
            self.open -= 1
            await events.aclose()
