"""A small HTTP client over plain sockets for measuring the explorer: nothing between the clock and the server."""

import asyncio
import json
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit


def place_of(address: str) -> tuple[str, int]:
    """Host and port of an address.

    >>> place_of("http://127.0.0.1:8642")
    ('127.0.0.1', 8642)
    """
    parts = urlsplit(address)
    return parts.hostname or "127.0.0.1", parts.port or 80


class Client:
    """One connection that stays open."""

    def __init__(self, place: tuple[str, int]) -> None:
        self.place = place

    async def open(self) -> "Client":
        """Connect."""
        self.reader, self.writer = await asyncio.open_connection(*self.place)
        return self

    def close(self) -> None:
        """Let go of the connection."""
        self.writer.close()

    async def ask(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> tuple[float, int, bytes]:
        """Seconds, status and content of one request; ``headers`` may replace the usual ones."""
        content = b"" if body is None else json.dumps(body).encode()
        told = {
            "Host": f"{self.place[0]}:{self.place[1]}",
            "Content-Length": str(len(content)),
            "Content-Type": "application/json",
            **(headers or {}),
        }
        head = f"{method} {path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in told.items())
        started = time.perf_counter()
        self.writer.write(head.encode() + b"\r\n" + content)
        answer = await self.reader.readuntil(b"\r\n\r\n")
        size = next(line for line in answer.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        data = await self.reader.readexactly(int(size.split(b":")[1]))
        return time.perf_counter() - started, int(answer.split()[1]), data

    async def whole(self, method: str, path: str, body: Any = None) -> tuple[float, dict[str, Any]]:
        """Seconds until the reply is there, also where it becomes a job."""
        started = time.perf_counter()
        _, _, data = await self.ask(method, path, body)
        found = json.loads(data)
        while "job" in found:
            if found["state"] not in ("waiting", "running"):
                found = found["reply"] or {"error": found["error"]}
                break
            await asyncio.sleep(0.01)
            found = json.loads((await self.ask("GET", f"/api/jobs/{found['job']}"))[2])
        return time.perf_counter() - started, found


def quantiles(seconds: list[float]) -> tuple[float, float, float]:
    """Median, 95th percentile and largest, in milliseconds.

    >>> quantiles([0.001, 0.002, 0.003])
    (2.0, 3.0, 3.0)
    """
    ordered = [round(1000 * each, 1) for each in sorted(seconds)]
    median, most, worst = (ordered[min(len(ordered) - 1, int(part * len(ordered)))] for part in (0.5, 0.95, 1.0))
    return median, most, worst
