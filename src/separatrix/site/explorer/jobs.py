"""Tickets for work that takes longer than a request should: how far it is, its reply, and a way to cancel it.

A request waits a moment for its reply; after that it gets a ticket. Whoever holds a ticket asks for it or listens to
its events; a ticket that nobody asked for during some seconds is taken back, and work without tickets is ended. So a
page that is closed, or whose slider has moved on, leaves nothing running.
"""

import asyncio
import json
import secrets
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from separatrix.site.explorer.computations import Computation
from separatrix.site.explorer.crew import Crew, Work
from separatrix.site.explorer.limits import ExplorerError
from separatrix.site.explorer.streams import event

Gone: TypeAlias = Callable[[], Awaitable[bool]]
"""Whether whoever asked has given up waiting."""
PATIENCE = 0.5
"""Seconds after which a request is answered with a ticket."""
UNWANTED = 1.0
"""Seconds that work which nobody waits for may still run; most has ended by then."""
ABANDONED_AFTER = 8.0
SWEEP_EVERY = 1.0
LOOK_EVERY = 0.1
MOST_TICKETS = 500


@dataclass(eq=False)
class Ticket:
    """One asker's hold on a piece of work."""

    name: str
    work: Work
    seen: float = field(default_factory=time.monotonic)
    held: bool = True

    def as_json(self) -> bytes:
        """The state of the work; with the reply, which is JSON already, once it is done."""
        work = self.work
        progress = None
        if work.progress is not None:
            what, done, total = work.progress
            progress = {"what": what, "done": done, "total": total}
        state = work.state if self.held or work.finished.is_set() else "cancelled"
        about: dict[str, Any] = {
            "job": self.name,
            "kind": work.kind,
            "state": state,
            "progress": progress,
            "seconds": round(work.seconds, 2),
            "error": None if work.problem is None else work.problem[1],
            "error_kind": None if work.problem is None else work.problem[0],
        }
        head = json.dumps(about, ensure_ascii=False).encode()
        reply = work.reply if work.state == "done" and work.reply is not None else b"null"
        return head[:-1] + b', "reply": ' + reply + b"}"


class Jobs:
    """Requests on their way to the crew."""

    def __init__(self, crew: Crew) -> None:
        self.crew = crew
        self._tickets: OrderedDict[str, Ticket] = OrderedDict()

    async def ask(self, kind: Computation, text: str, gone: Gone | None = None) -> Work | Ticket:
        """The finished work if it ends soon, else a ticket for it; ``gone`` tells whether the asker still waits."""
        work = self.crew.submit(kind, text)
        work.followers += 1
        until = time.monotonic() + PATIENCE
        while not work.finished.is_set() and time.monotonic() < until:
            with suppress(TimeoutError):
                await asyncio.wait_for(work.finished.wait(), min(LOOK_EVERY, PATIENCE))
            if not work.finished.is_set() and gone is not None and await gone():
                self._leave(work)
                raise ExplorerError("nobody waits for this reply any more", "refused")
        if work.finished.is_set():
            work.followers -= 1
            return work
        ticket = Ticket(secrets.token_urlsafe(12), work)
        self._tickets[ticket.name] = ticket
        while len(self._tickets) > MOST_TICKETS:
            self._release(self._tickets.popitem(last=False)[1])
        return ticket

    def find(self, name: str) -> Ticket:
        """The ticket of a name."""
        if name not in self._tickets:
            raise ExplorerError(f"there is no computation {name}; it was forgotten or never started", "missing")
        ticket = self._tickets[name]
        ticket.seen = time.monotonic()
        return ticket

    def cancel(self, name: str) -> Ticket:
        """Give a ticket back; work that nobody else wants is ended."""
        ticket = self.find(name)
        self._release(ticket)
        return ticket

    async def events(self, name: str) -> AsyncGenerator[bytes]:
        """Server-sent events: the state whenever it changes, and once more at the end."""
        last = b""
        while True:
            ticket = self.find(name)
            state = ticket.as_json()
            ended = ticket.work.finished.is_set() or not ticket.held
            if ended:
                yield event("end", state)
                return
            # The seconds that pass are no change worth telling.
            shown = json.dumps(ticket.work.progress).encode() + ticket.work.state.encode()
            if shown != last:
                last = shown
                yield event("progress", state)
            await asyncio.sleep(LOOK_EVERY)

    async def sweep(self) -> None:
        """Take back tickets that nobody asks for, for as long as the server runs."""
        while True:
            await asyncio.sleep(SWEEP_EVERY)
            oldest = time.monotonic() - ABANDONED_AFTER
            for ticket in list(self._tickets.values()):
                if ticket.held and ticket.seen < oldest and not ticket.work.finished.is_set():
                    self._release(ticket)

    def _leave(self, work: Work) -> None:
        """One asker less, as when a slider has moved on: what has not begun never will, what runs has a moment left.

        Ending a process costs more than most replies, and the slider may come back.
        """
        work.followers -= 1
        if work.followers <= 0 and work.state == "waiting":
            self.crew.cancel(work)
        elif work.followers <= 0:
            asyncio.get_running_loop().call_later(UNWANTED, self._end_unwanted, work)

    def _end_unwanted(self, work: Work) -> None:
        if work.followers <= 0 and not work.finished.is_set():
            self.crew.cancel(work)

    def _release(self, ticket: Ticket) -> None:
        if ticket.held:
            ticket.held = False
            ticket.work.followers -= 1
            if ticket.work.followers <= 0:
                self.crew.cancel(ticket.work)
