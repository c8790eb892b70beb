"""The explorer's server under attack and under load: ``python -m tools.server_load [--write docs/reliability.md]``.

Starts a server of its own and, while a certification of half a minute runs in it,

* lets many pages ask for cheap things at once and takes the 95th percentile of their waiting times;
* holds connections open that send headers or bodies drop by drop, or never read their answers;
* asks for files outside the page's own under every spelling of ``..`` that comes to mind;
* asks with foreign names, origins and fetch metadata, as a rebound name or another site's page would;
* cancels long work and waits for the process to be free again;
* sends what a fuzzer makes of the OpenAPI description.

Ends with 1 when something got through, or a percentile is above its bound. The short version in the tests runs the same
functions with smaller numbers.
"""

import argparse
import asyncio
import itertools
import json
import random
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.http_client import Client, place_of, quantiles
from tools.pages import fill_section, keep, markdown_table
from tools.running_server import running_server

SECTION = "server"
LONGEST = 512
LONG = {"construction": "dyck-transformer", "length": LONGEST, "parameters": {"depth": "12"}}
"""Takes half a minute to decide on one core."""
SERVER = ("--max-length", "1024", "--max-seconds", "600")
CHEAP = ("/", "/static/main.js", "/api/catalog", "/api/look", "/api/runs", "/api/training")
PAUSE = 0.2
"""Seconds that a page waits between two requests."""
BOUND = 1000.0
"""Milliseconds within which 95 of 100 cheap requests are to be answered."""
SLOWEST = 45.0
"""Seconds after which no slow client may hold its connection any more."""
INSIDE = "from separatrix"
"""Begins lines of this package's source; no answer may hold one."""
FOREIGN_HOSTS = ("evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", "192.168.0.1",
                 "0x7f000001", "[::ffff:7f00:1]", "127.0.0.1@evil.example", " ", "localhost evil.example")  # fmt: skip
FOREIGN_PAGES: tuple[dict[str, str], ...] = (
    {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "http://localhost:1"}, {"Origin": "file://"},
    {"Origin": "http://127.0.0.1.evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
)  # fmt: skip
STEPS = ("..", "%2e%2e", "..%2f..", "%2e%2e%2f", "..%5c..", "....//..", "..;", "%252e%252e", "..%00", "%c0%ae%c0%ae")
TARGETS = ("app.py", "guard.py", "etc/passwd", "runs.sqlite", "pyproject.toml")


@dataclass
class Report:
    """What was tried and what came of it."""

    rows: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    wrong: list[str] = field(default_factory=list[str])
    late: list[str] = field(default_factory=list[str])
    """What took longer than it should; on a busy machine that may be the machine."""
    times: dict[str, list[float]] = field(default_factory=dict[str, list[float]])

    def tell(self, tried: str, how_many: str, outcome: str) -> None:
        """One line of the table."""
        self.rows.append((tried, how_many, outcome))

    def check(self, right: bool, what: str) -> None:
        """Remember what should not be."""
        if not right:
            self.wrong.append(what)

    def check_time(self, right: bool, what: str) -> None:
        """Remember what took too long."""
        if not right:
            self.late.append(what)


@dataclass(frozen=True)
class Load:
    """How much is done."""

    users: int = 50
    seconds: float = 15.0
    slow: int = 100
    cancelled: int = 10
    fuzzed: int = 100
    """Requests to each operation."""


# -- many at once -------------------------------------------------------------------------------------------


async def crowd(place: tuple[str, int], load: Load, report: Report) -> None:
    """Many pages that ask for cheap things."""
    refused: list[int] = []

    async def page(number: int, end: float) -> None:
        client = await Client(place).open()
        await asyncio.sleep(PAUSE * random.Random(number).random())
        look = {"setting": {"construction": "index-lookup", "length": 64}, "position": number % 65}
        while time.perf_counter() < end:
            for path in CHEAP:
                posted = path == "/api/look"
                taken, status, _ = await client.ask("POST" if posted else "GET", path, look if posted else None)
                report.times.setdefault(path, []).append(taken)
                if status not in (200, 202):
                    refused.append(status)
                await asyncio.sleep(PAUSE)
        client.close()

    end = time.perf_counter() + load.seconds
    await asyncio.gather(*(page(number, end) for number in range(load.users)))
    for path, found in report.times.items():
        worst = quantiles(found)[1]
        report.check_time(worst < BOUND, f"{path}: 95 % within {worst:.0f} ms")
    count = sum(map(len, report.times.values()))
    report.tell(f"{load.users} pages at once", f"{count:,} cheap requests", f"{len(refused)} refused")
    report.check(not refused, f"refused with {sorted(set(refused))}")


# -- slow clients -------------------------------------------------------------------------------------------


async def slow_clients(place: tuple[str, int], load: Load, report: Report) -> None:
    """Connections that drip, and somebody who asks while they are there."""
    host = f"{place[0]}:{place[1]}".encode()
    head = b"POST /api/look HTTP/1.1\r\nHost: " + host + b"\r\nContent-Type: application/json\r\n"
    kinds: dict[str, bytes] = {
        "headers drop by drop": head,
        "a body drop by drop": head + b"Content-Length: 1000\r\n\r\n",
        "headers of a second request": b"GET /api/training HTTP/1.1\r\nHost: " + host + b"\r\n\r\n" + head,
    }
    held: list[float] = []

    async def drip(text: bytes, first: int) -> None:
        reader, writer = await asyncio.open_connection(*place)
        started = time.perf_counter()
        writer.write(text[:first])
        reading = asyncio.create_task(reader.read())
        for byte in itertools.chain(text[first:], itertools.repeat(32)):
            done, _ = await asyncio.wait([reading], timeout=1)
            if done or time.perf_counter() - started > SLOWEST:
                break
            writer.write(bytes([byte]))
        held.append(time.perf_counter() - started)
        reading.cancel()
        writer.close()

    async def deaf() -> None:
        """Asks for much and reads nothing."""
        reader, writer = await asyncio.open_connection(*place, limit=1)
        del reader
        for _ in range(200):
            writer.write(b"GET /api/catalog HTTP/1.1\r\nHost: " + host + b"\r\n\r\n")
        started = time.perf_counter()
        while not writer.transport.is_closing() and time.perf_counter() - started < SLOWEST:
            # Who reads nothing notices the end of a connection only by writing.
            writer.write(b"\r\n")
            await asyncio.sleep(0.5)
        held.append(time.perf_counter() - started)
        writer.close()

    each = max(1, load.slow // 4)
    slow = [
        asyncio.create_task(drip(text, len(text) if "body" in kind else len(text) - len(head) + 5))
        for kind, text in kinds.items()
        for _ in range(each)
    ]
    slow += [asyncio.create_task(deaf()) for _ in range(each)]
    await asyncio.sleep(1)
    client = await Client(place).open()
    times = [(await client.ask("GET", "/api/catalog"))[0] for _ in range(50)]
    client.close()
    await asyncio.gather(*slow, return_exceptions=True)
    longest = max(held)
    report.tell(
        f"clients that are slow ({', '.join(kinds)}) or read nothing", f"{len(slow)} connections",
        f"each closed within {longest:.0f} s; meanwhile 95 % of other requests within {quantiles(times)[1]:.0f} ms",
    )  # fmt: skip
    report.check(len(held) == len(slow), f"{len(slow) - len(held)} slow clients were not closed")
    report.check_time(longest < SLOWEST, f"a slow client held its connection {longest:.0f} s")
    report.check_time(quantiles(times)[1] < BOUND, "others waited for slow clients")


# -- strangers ----------------------------------------------------------------------------------------------


def outside_paths() -> list[str]:
    """Addresses that try to leave the page's own files."""
    found = [
        f"{start}{'/'.join([step] * depth)}/{target}"
        for start in ("/static/", "/api/", "/", "/static/static/")
        for step in STEPS
        for depth in (1, 3, 7)
        for target in TARGETS
    ]
    return [*found, "/static//etc/passwd", "/static/C:/windows/win.ini", "/static/main.js/../../app.py",
            "/static/main.js%00.py", "/api/runs/../../etc/passwd", "/api/runs/..%2f..%2fetc%2fpasswd",
            "/api/jobs/..", "/.git/config", "/docs", "/redoc", "/openapi.json"]  # fmt: skip


async def traversal(place: tuple[str, int], report: Report) -> None:
    """No address leads out."""
    paths = outside_paths()
    client = await Client(place).open()
    for path in paths:
        _, status, content = await client.ask("GET", path)
        refused = status in (404, 405, 422) and INSIDE.encode() not in content and b"root:" not in content
        report.check(refused, f"{path}: {status}")
    client.close()
    report.tell("paths that lead out of the page's files", f"{len(paths)} addresses", "none answered")


async def strangers(place: tuple[str, int], report: Report) -> None:
    """No other name, origin or site is answered."""
    own = f"{place[0]}:{place[1]}"
    combinations = [{"Host": host, **page} for host in FOREIGN_HOSTS for page in ({}, *FOREIGN_PAGES)]
    combinations += [{"Host": own, **page} for page in FOREIGN_PAGES]
    asked: tuple[tuple[str, str, Any], ...] = (
        ("GET", "/api/catalog", None), ("GET", "/api/runs", None),
        ("POST", "/api/look", {"setting": {"construction": "index-lookup", "length": 4}}),
        ("POST", "/api/training", {"task": "index-lookup", "length": 4, "architecture": "TF", "steps": 1}),
        ("DELETE", "/api/jobs/none", None),
    )  # fmt: skip
    for headers in combinations:
        for method, path, body in asked:
            client = await Client(place).open()
            _, status, content = await client.ask(method, path, body, headers)
            client.close()
            report.check(status in (400, 403), f"{method} {path} with {headers}: {status}")
            report.check(b"access-control-allow" not in content.lower(), f"{headers}: shared with other origins")
    count = len(combinations) * len(asked)
    report.tell("foreign names (rebinding), origins and sites", f"{count} requests", "all refused")


# -- cancelling ---------------------------------------------------------------------------------------------


async def cancelling(place: tuple[str, int], load: Load, report: Report) -> None:
    """Long work ends when it is cancelled, and its process is there for the next."""
    client = await Client(place).open()
    times: list[float] = []
    for number in range(load.cancelled):
        # Other lengths than before: a verdict that has been given is remembered, and there is nothing to cancel.
        setting = {**LONG, "length": LONGEST - 2 * (number + 1)}
        _, status, data = await client.ask("POST", "/api/verdict", {"setting": setting})
        report.check(status == 202, f"a long verdict was answered with {status}")
        started = time.perf_counter()
        _, _, answer = await client.ask("DELETE", f"/api/jobs/{json.loads(data)['job']}")
        report.check(json.loads(answer)["state"] == "cancelled", "cancelled work went on")
        small = {"setting": {"construction": "index-lookup", "length": 5 + number}}
        await client.whole("POST", "/api/verdict", small)
        times.append(time.perf_counter() - started)
    client.close()
    told = f"each process replaced; the next verdict within {quantiles(times)[2] / 1000:.1f} s"
    report.tell("certifications cancelled in the middle", f"{load.cancelled}", told)


# -- fuzzing ------------------------------------------------------------------------------------------------


def fuzzing(address: str, load: Load, report: Report) -> None:
    """What schemathesis makes of the description: no answer is a server error, and each is as described."""
    import schemathesis
    from hypothesis import HealthCheck, Phase, given, settings
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

    checks = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
    operations: Any = schemathesis.openapi.from_url(f"{address}/api/openapi.json").get_all_operations()
    every_check: Any = list(HealthCheck)
    count = 0
    for found in operations:
        operation = found.ok()

        @given(case=operation.as_strategy())
        @settings(max_examples=load.fuzzed, deadline=None, database=None, derandomize=True,
                  suppress_health_check=every_check, phases=[Phase.explicit, Phase.generate])  # fmt: skip
        def attack(case: Any) -> None:
            nonlocal count
            count += 1
            case.call_and_validate(base_url=address, checks=checks, timeout=600)

        try:
            attack()
        except Exception as error:  # whatever a check raises is a finding
            report.check(False, f"{operation.label}: {str(error).splitlines()[0]}")
    report.tell("requests made by schemathesis from the OpenAPI description", f"{count:,}", "no server error")


# -- all ----------------------------------------------------------------------------------------------------


async def under_proof(place: tuple[str, int], what: Callable[[], Awaitable[None]], report: Report) -> None:
    """Do something while a long certification runs; it must still run afterwards."""
    first = await Client(place).open()
    job = json.loads((await first.ask("POST", "/api/verdict", {"setting": LONG}))[2])["job"]

    async def keep() -> None:
        while True:
            _, _, data = await first.ask("GET", f"/api/jobs/{job}")
            state = json.loads(data)["state"]
            if state == "done":
                return
            # It waits while work that others left is ended.
            report.check(state in ("waiting", "running"), f"the long certification is {state}")
            await asyncio.sleep(1)

    keeping = asyncio.create_task(keep())
    await what()
    keeping.cancel()
    await asyncio.wait([keeping])
    await first.ask("DELETE", f"/api/jobs/{job}")
    first.close()


async def attacks(place: tuple[str, int], load: Load, report: Report) -> None:
    """All that speak to the server directly."""
    await under_proof(place, lambda: crowd(place, load, report), report)
    if load.slow:
        await under_proof(place, lambda: slow_clients(place, load, report), report)
    await traversal(place, report)
    await strangers(place, report)
    await cancelling(place, load, report)


def run(load: Load) -> Report:
    """Everything against a server of our own."""
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        with running_server(Path(folder) / "runs.sqlite", *SERVER) as address:
            asyncio.run(attacks(place_of(address), load, report))
            fuzzing(address, load, report)
        left = sorted(path.name for path in Path(folder).iterdir() if not path.name.startswith("runs."))
        report.check(not left, f"files were left: {left}")
    return report


def record_of(report: Report, load: Load) -> dict[str, Any]:
    """What is kept of a run."""
    times = {path: [len(found), *(round(each, 1) for each in quantiles(found))] for path, found in report.times.items()}
    told = {"users": load.users, "seconds": load.seconds, "pause": PAUSE, "milliseconds": times}
    return {**told, "tried": report.rows, "wrong": [*report.wrong, *report.late]}


def page(record: Mapping[str, Any]) -> str:
    """The section of the page, from the record of a run."""
    rows = [
        [f"`{path}`", f"{count:,}", *(f"{each:.0f}" for each in quantile)]
        for path, (count, *quantile) in record["milliseconds"].items()
    ]
    parts = [
        f"{record['users']} pages at once, each asking every {record['pause']:g} s, while a certification runs "
        f"(`python -m tools.server_load --users {record['users']} --seconds {record['seconds']:g}`):",
        markdown_table(["address", "requests", "median ms", "95 %", "worst"], rows),
        "\n".join(
            ["| tried | how often | what came of it |", "|---|---:|---|"]
            + [f"| {tried} | {many} | {outcome} |" for tried, many, outcome in record["tried"]]
        ),
    ]
    if record["wrong"]:
        parts.append(f"{len(record['wrong'])} things went wrong:")
        parts.append("\n".join(f"* {each}" for each in record["wrong"]))
    return "\n\n".join(parts)


def main() -> int:
    """Attack, print or write, and tell by the exit code whether all held."""
    parser = argparse.ArgumentParser(description="The explorer's server under attack and under load.")
    parser.add_argument("--users", type=int, default=Load.users)
    parser.add_argument("--seconds", type=float, default=Load.seconds)
    parser.add_argument("--write", type=Path, help=f"a page with a section {SECTION}")
    given = parser.parse_args()
    load = Load(users=given.users, seconds=given.seconds)
    report = run(load)
    record = record_of(report, load)
    text = page(record)
    print(text)
    if given.write is not None:
        keep(SECTION, record, given.write)
        fill_section(given.write, SECTION, text)
    return 1 if report.wrong or report.late else 0


if __name__ == "__main__":
    sys.exit(main())
