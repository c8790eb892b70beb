"""How fast the explorer answers: sliders at N = 256, and many pages at once while a long proof runs.

    python tools/measure_explorer.py [--users 50] [--seconds 10]

Starts a server of its own on a free port, with a store in a temporary folder, and prints a Markdown table. The client
speaks HTTP through plain sockets, so that what is measured is the server.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

LENGTH = 256
CONSTRUCTIONS = ("index-lookup", "equality", "majority", "cnf", "associative-recall", "dyck-transformer")
PERCENTS = range(60, 150, 6)
LONG = {"construction": "match3-local", "length": 256}
PAUSE = 0.2
"""Seconds that a page waits between two requests."""


@contextmanager
def server() -> Iterator[tuple[str, int]]:
    """Host and port of a server of our own."""
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "runs.sqlite")
        call = "from separatrix.cli import main; main()"
        command = [sys.executable, "-c", call, "serve", "--port", "0", "--store", store, "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            lines: list[str] = []
            while not lines or lines[-1] != "}\n":
                lines.append(process.stdout.readline())
            parts = urlsplit(json.loads("".join(lines))["address"])
            time.sleep(2)  # its processes import what they need
            yield parts.hostname or "127.0.0.1", parts.port or 80
            process.terminate()


class Client:
    """One connection that stays open."""

    def __init__(self, place: tuple[str, int]) -> None:
        self.place = place

    async def open(self) -> "Client":
        """Connect."""
        self.reader, self.writer = await asyncio.open_connection(*self.place)
        return self

    async def ask(self, method: str, path: str, body: Any = None) -> tuple[float, int, bytes]:
        """Seconds, status and content of one request."""
        content = b"" if body is None else json.dumps(body).encode()
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: {self.place[0]}:{self.place[1]}\r\nContent-Length: {len(content)}\r\n"
        )
        started = time.perf_counter()
        self.writer.write(head.encode() + b"Content-Type: application/json\r\n\r\n" + content)
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
                found = found["reply"]
                break
            await asyncio.sleep(0.02)
            found = json.loads((await self.ask("GET", f"/api/jobs/{found['job']}"))[2])
        return time.perf_counter() - started, found


def quantiles(seconds: list[float]) -> str:
    """Median, 95th percentile and worst in milliseconds, as cells of a table."""
    ordered = [1000 * each for each in sorted(seconds)]
    return " | ".join(f"{ordered[min(len(ordered) - 1, int(part * len(ordered)))]:.0f}" for part in (0.5, 0.95, 1.0))


async def sliders(place: tuple[str, int]) -> None:
    """Every construction with a moving η, or a moving Kc where η plays no part."""
    client = await Client(place).open()
    print(f"| slider at N = {LENGTH} | attention and margin: median | 95 % | worst | verdict: median | 95 % | worst |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name in CONSTRUCTIONS:
        setting = {"construction": name, "length": LENGTH}
        own = (await client.whole("POST", "/api/look", {"setting": setting}))[1]["own_gain"]
        looks: list[float] = []
        verdicts: list[float] = []
        for percent in PERCENTS:
            change = {"exponent": 2 + percent % 4} if own is None else {"gain": str(Fraction(own) * percent / 100)}
            asked = {"setting": {**setting, **change}}
            looks.append((await client.whole("POST", "/api/look", asked))[0])
            verdicts.append((await client.whole("POST", "/api/verdict", asked))[0])
        print(f"| {name} | {quantiles(looks)} | {quantiles(verdicts)} |")


async def crowd(place: tuple[str, int], users: int, seconds: float) -> None:
    """Many pages that ask for cheap things while a proof runs."""
    first = await Client(place).open()
    job = json.loads((await first.ask("POST", "/api/verdict", {"setting": LONG}))[2])["job"]
    times: dict[str, list[float]] = {"/api/catalog": [], "/api/look": [], "/api/runs": []}
    refused = 0

    async def page(number: int, end: float) -> None:
        nonlocal refused
        client = await Client(place).open()
        look = {"setting": {"construction": "index-lookup", "length": 64}, "position": number % 65}
        while time.perf_counter() < end:
            for path, body in (("/api/catalog", None), ("/api/look", look), ("/api/runs", None)):
                taken, status, _ = await client.ask("GET" if body is None else "POST", path, body)
                times[path].append(taken)
                refused += status not in (200, 202)
                await asyncio.sleep(PAUSE)

    async def keep() -> None:
        while True:
            await first.ask("GET", f"/api/jobs/{job}")
            await asyncio.sleep(1)

    keeping = asyncio.create_task(keep())
    end = time.perf_counter() + seconds
    await asyncio.gather(*(page(number, end) for number in range(users)))
    keeping.cancel()
    print(f"\n| {users} pages at once, a proof running | requests | median ms | 95 % | worst |")
    print("|---|---:|---:|---:|---:|")
    for path, found in times.items():
        print(f"| {path} | {len(found)} | {quantiles(found)} |")
    print(f"\n{refused} requests were refused.")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="How fast the explorer answers.")
    parser.add_argument("--users", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=10.0)
    given = parser.parse_args()
    with server() as place:
        asyncio.run(sliders(place))
        asyncio.run(crowd(place, given.users, given.seconds))


if __name__ == "__main__":
    main()
