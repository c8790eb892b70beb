"""The campaigns of the soak: each disturbs the same small sweep in its own way and compares what is recorded at the end
with an undisturbed sweep, bit for bit.
"""

import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tools.soak.cluster import Nodes, running_cluster
from tools.soak.commands import all_gone, ended, forked, has_ended, kill, members, prepare, sweep, sweep_file
from tools.soak.stores import Damage, contents, damage, leftovers, results, watched

KILLED = -signal.SIGKILL
MOST_KILLS_OF_A_STORE = 50
"""Then a store is brought to its end and compared, and the next one begins."""
SHARES = {"local": 9, "turns": 8, "processes": 2, "ray": 1}
"""How often an executor is taken; those that start processes take seconds to begin."""
ONE_PROCESS = ("local", "turns")
"""Executors without workers: they begin to train at once, and there is nobody but the driver to kill."""
AT_ONCE = (0, 2, 3)
"""Groups that take turns: as many as the executor takes by itself, which are all of the sweep, or fewer than those."""

Tell = Callable[..., None]
"""Hears what happens, as facts by name."""


@dataclass
class Outcome:
    """What a campaign did and what it found."""

    name: str
    what: str
    disturbances: int = 0
    damage: Damage = field(default_factory=Damage)
    wrong: list[str] = field(default_factory=list[str])
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether nothing was lost, doubled, different or left behind, and every ending was a good one."""
        return self.damage.none and not self.wrong

    def as_dict(self) -> dict[str, Any]:
        """Plain data for machines."""
        return {
            "campaign": self.name,
            "what": self.what,
            "disturbances": self.disturbances,
            **vars(self.damage),
            "wrong": self.wrong,
            "seconds": round(self.seconds, 1),
        }


@dataclass
class Soak:
    """A folder for stores, chance from a seed, a sweep of so many steps and its undisturbed contents."""

    folder: Path
    steps: int
    seed: int
    tell: Tell

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.file = sweep_file(self.folder / "sweep.toml", self.steps)
        prepare(self.file)
        started, store = time.monotonic(), self.folder / "undisturbed.sqlite"
        code = ended(forked(lambda: sweep(self.file, store)))
        self.seconds = time.monotonic() - started
        self.undisturbed: dict[str, Any] = contents(store)
        endings = sorted({each["ending"] for each in self.undisturbed.values()})
        self.tell(
            happened="undisturbed", code=code, seconds=round(self.seconds, 3), runs=len(self.undisturbed),
            endings=endings, left_behind=leftovers(store),
        )  # fmt: skip

    # -- kill -9 -----------------------------------------------------------------------------------------

    def kills(self, cycles: int, executors: tuple[str, ...] = ("local",)) -> Outcome:
        """Kill and resume ``cycles`` times at random moments, each time with an executor of these, drawn by chance."""
        found = Outcome("kill -9 and resume", f"{cycles} times, executors {', '.join(executors)}")
        with ExitStack() as open_things, timed(found):
            nodes = open_things.enter_context(running_cluster()) if "ray" in executors else None
            counts = dict.fromkeys(executors, 0)
            for store in self._stores("kills"):
                known: dict[str, Any] = {}
                for executor, code in self._killed_often(store, cycles - found.disturbances, executors, nodes, found):
                    known = self._nothing_forgotten(store, known, found)
                    if code == KILLED:
                        found.disturbances, counts[executor] = found.disturbances + 1, counts[executor] + 1
                self._finish(store, found)
                if found.disturbances >= cycles:
                    break
            nodes_killed = f", {nodes.killed} Ray nodes killed as well" if nodes else ""
            found.what = ", ".join(f"{count} × {name}" for name, count in counts.items()) + nodes_killed
        return found

    def _killed_often(
        self, store: Path, wanted: int, executors: tuple[str, ...], nodes: Nodes | None, found: Outcome
    ) -> Iterator[tuple[str, int]]:
        """Kills on one store until there were enough or the sweep came to its end; executor and exit code of each."""
        wanted = min(wanted, MOST_KILLS_OF_A_STORE)
        reach = self.seconds / 16
        for number in range(wanted):
            (executor,) = self.chance.choices(executors, [SHARES[each] for each in executors])
            more = self._options(executor, nodes)
            before = signs(store)
            child = forked(lambda more=more: sweep(self.file, store, *more))
            if executor not in ONE_PROCESS and self.chance.random() < 0.75:
                until(lambda before=before, child=child: signs(store) != before or has_ended(child))
            delay = self.chance.uniform(0.0, reach)
            until(lambda child=child: has_ended(child), delay)
            victim = self._strike(child, executor, nodes, reach)
            code = ended(child)
            if not all_gone(child):
                found.wrong.append(f"processes outlived their driver ({executor})")
            recorded = len(results(store))
            self.tell(
                happened="kill", number=number, executor=executor, victim=victim, after=round(delay, 3), code=code,
                recorded=recorded,
            )  # fmt: skip
            if code not in (0, KILLED):
                found.wrong.append(f"exit code {code} ({executor})")
            yield executor, code
            if recorded == len(self.undisturbed):
                return
            # Later moments where the sweep is behind the kills, sooner ones where it is ahead: kills fall on all of it.
            ahead = recorded * wanted >= len(self.undisturbed) * number
            reach = self.seconds / 24 if ahead else min(reach * 1.3, self.seconds / 5)

    def _options(self, executor: str, nodes: Nodes | None = None) -> list[str]:
        """How the command is reported to take this executor."""
        more = ["--executor", executor]
        if executor == "turns":
            more += ["--workers", str(self.chance.choice(AT_ONCE))]
        elif executor == "processes":
            more += ["--workers", "2"]
        elif executor == "ray" and nodes:
            more += ["--address", nodes.address]
        return more

    def _strike(self, child: int, executor: str, nodes: Nodes | None, reach: float) -> str:
        """Kill the driver; sometimes a worker or a node of the cluster some time before, or everyone at once."""
        chosen = self.chance.random()
        if executor == "processes" and chosen < 0.3:
            kill(members(child))
            return "driver and workers"
        if executor not in ONE_PROCESS and chosen < 0.6:
            workers = [each for each in members(child) if each != child]
            if executor == "ray" and nodes:
                nodes.kill_one()
            elif workers:
                kill([self.chance.choice(workers)])
            until(lambda: has_ended(child), self.chance.uniform(0.0, 4 * reach))
            kill([child])
            return "a node, then the driver" if executor == "ray" else "a worker, then the driver"
        kill([child])
        return "driver"

    # -- two at once -------------------------------------------------------------------------------------

    def together(self, kills: int) -> Outcome:
        """Two drivers on one store; both are killed, one after the other, at random moments, and started again.

        Each start of each draws whether its groups train one by one or take turns, so that a driver may hold several
        groups while the other looks for one.
        """
        found = Outcome("two drivers on one store", "")
        starts = dict.fromkeys(ONE_PROCESS, 0)
        parts: tuple[tuple[str, ...], ...] = ((), ("--only", "length=6"))
        with timed(found):
            for store in self._stores("together"):
                known: dict[str, Any] = {}
                for _ in range(min(kills - found.disturbances, MOST_KILLS_OF_A_STORE)):
                    pair: list[int] = []
                    for part in parts:
                        executor = self.chance.choice(ONE_PROCESS)
                        more = [*part, *self._options(executor)]
                        starts[executor] += 1
                        pair.append(forked(lambda more=more, store=store: sweep(self.file, store, *more)))
                    for child in self.chance.sample(pair, 2):
                        until(lambda pair=pair: all(map(has_ended, pair)), self.chance.uniform(0.0, self.seconds / 12))
                        kill([child])
                    codes = [ended(child) for child in pair]
                    found.disturbances += codes.count(KILLED)
                    found.wrong += [f"exit code {code}" for code in codes if code not in (0, KILLED)]
                    known = self._nothing_forgotten(store, known, found)
                    self.tell(happened="together", codes=codes, recorded=len(known))
                    if len(known) == len(self.undisturbed):
                        break
                self._finish(store, found)
                if found.disturbances >= kills:
                    break
        told = ", ".join(f"{count} × {name}" for name, count in starts.items())
        found.what = f"both killed at random moments and started again: {told}"
        return found

    # -- the clock ---------------------------------------------------------------------------------------

    def clock(self, kills: int) -> Outcome:
        """Kill and resume while every process finds the clock at an earlier time, which goes on falling."""
        found = Outcome("the clock set back", "by hours to years before and during every start")
        with timed(found):
            for store in self._stores("clock"):
                known: dict[str, Any] = {}
                for number in range(min(kills - found.disturbances, MOST_KILLS_OF_A_STORE)):
                    child = forked(lambda number=number, store=store: self._set_back(number, store))
                    until(lambda child=child: has_ended(child), self.chance.uniform(0.0, self.seconds / 8))
                    kill([child])
                    code = ended(child)
                    found.disturbances += code == KILLED
                    found.wrong += [] if code in (0, KILLED) else [f"exit code {code}"]
                    known = self._nothing_forgotten(store, known, found)
                    self.tell(happened="clock", code=code, recorded=len(known))
                    if len(known) == len(self.undisturbed):
                        break
                self._finish(store, found)
                if found.disturbances >= kills:
                    break
        return found

    def _set_back(self, number: int, store: Path) -> int:
        """The command with a clock that falls: each reading is earlier than the one before, by up to an hour."""
        chance, behind = random.Random(number), 3600.0 * 24 * 365 * (1 + number % 30)
        real_seconds, real_gmtime = time.time, time.gmtime

        def reading() -> float:
            nonlocal behind
            behind += chance.uniform(0.0, 3600.0)
            return real_seconds() - behind

        time.time = reading
        time.gmtime = lambda seconds=None: real_gmtime(reading() if seconds is None else seconds)
        return sweep(self.file, store)

    # -- what every campaign does ------------------------------------------------------------------------

    def _stores(self, name: str) -> Iterator[Path]:
        """New stores that count what is written, one after another."""
        for number in range(10**6):
            store = self.folder / f"{name}-{number}.sqlite"
            watched(store)
            yield store

    def _nothing_forgotten(self, store: Path, known: dict[str, Any], found: Outcome) -> dict[str, Any]:
        """What is recorded now; a result that was there before and is not, or is another, is noted."""
        now = results(store)
        changed = [name for name in known if now.get(name) != known[name]]
        found.wrong += [f"result {name} was recorded and then gone or changed" for name in changed]
        return now

    def _finish(self, store: Path, found: Outcome) -> None:
        """The same command to its end, and the comparison."""
        code = ended(forked(lambda: sweep(self.file, store)))
        found.wrong += [f"exit code {code} at the end"] if code else []
        what = damage(store, self.undisturbed)
        found.damage += what
        self.tell(happened="last", code=code, recorded=what.runs - what.lost, damage=list(what.numbers()))


@contextmanager
def timed(outcome: Outcome) -> Iterator[None]:
    """Adds the seconds of its block to an outcome."""
    started = time.monotonic()
    yield
    outcome.seconds += time.monotonic() - started


def signs(store: Path) -> dict[str, int]:
    """What changes when a group trains: checkpoints and weights next to the store, by their times."""
    found: dict[str, int] = {}
    for path in store.with_name(f"{store.stem}.files").glob("*/*.safetensors"):
        try:
            found[str(path)] = path.stat().st_mtime_ns
        except FileNotFoundError:  # replaced just now
            continue
    return found


def until(happened: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait for something, at most so long."""
    deadline = time.monotonic() + seconds
    while not happened() and (left := deadline - time.monotonic()) > 0:
        time.sleep(min(0.005, left))


def available_executors() -> tuple[str, ...]:
    """All executors that can be used here."""
    return tuple(name for name in SHARES if name != "ray" or find_spec("ray") is not None)
