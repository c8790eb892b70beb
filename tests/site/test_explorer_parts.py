"""The explorer's parts without a server: traces, margins, own gains, the crew of processes, and the guard."""

import asyncio
import json
import os
import re
import signal
import socket
import sys
import threading
import time
from base64 import b64decode
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy
import pytest
import uvicorn
from pydantic import BaseModel, ValidationError

from separatrix.cli.app import run
from separatrix.constructions import constructions
from separatrix.errors import SeparatrixError
from separatrix.networks import Attention, evaluate
from separatrix.site.explorer import crew as crew_module
from separatrix.site.explorer import guard, jobs, listings, replies, serving
from separatrix.site.explorer.building import built, cells_of, chosen_here, command_of, own_gain
from separatrix.site.explorer.comparing import compare
from separatrix.site.explorer.conversing import converse
from separatrix.site.explorer.crew import Crew, Work
from separatrix.site.explorer.deciding import decide as decided
from separatrix.site.explorer.jobs import Jobs, Ticket
from separatrix.site.explorer.limits import ExplorerError, Limits
from separatrix.site.explorer.look import look
from separatrix.site.explorer.maps import picture
from separatrix.site.explorer.problems import in_words
from separatrix.site.explorer.requests import Compare, Converse, Decide, Input, Look, Setting, Train
from separatrix.site.explorer.runs import comparable_runs, list_runs, opened, snapshot_file
from separatrix.site.explorer.training import Training
from separatrix.site.explorer.words import SHOWN, words
from separatrix.table.trace import trace
from separatrix.training.events import Result
from separatrix.training.records import Records
from separatrix.training.spec import RunSpec

trace_module = import_module("separatrix.table.trace")  # the name of the façade is the function

LENGTH = 8
ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "src/separatrix/site/explorer/static/index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", constructions())
def test_a_trace_ends_in_the_readouts_of_a_direct_evaluation(name: str) -> None:
    made = built(Setting(construction=name, length=LENGTH))
    cells = cells_of(Input(seed=1), made.task, LENGTH)
    traced = trace(made.network, cells, made.arithmetic)
    direct = evaluate(made.network, cells[None], made.arithmetic)
    assert traced.raw.tolist() == direct.raw[0].tolist()
    assert traced.answers.tolist() == direct.answers[0].tolist()
    for place, (_, layer) in enumerate(traced.attention_layers):
        if isinstance(layer, Attention):
            weights = traced.weights(place, 0, numpy.arange(made.network.positions))
            assert weights.shape == (made.network.positions,) * 2
            assert (weights.sum(axis=1) <= 1 + 1e-9).all() and (weights >= 0).all()


@pytest.mark.parametrize("name", ["match3", "directed-3-cycle"])
def test_where_pairs_are_too_many_the_positions_that_matter_are_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = built(Setting(construction=name, length=LENGTH))
    cells = cells_of(Input(seed=1), made.task, LENGTH)
    direct = evaluate(made.network, cells[None], made.arithmetic)
    whole = trace(made.network, cells, made.arithmetic)
    assert whole.rows.tolist() == list(range(made.network.positions))
    monkeypatch.setattr(trace_module, "MOST_PAIRS", 3 * made.network.positions**2)
    some = trace(made.network, cells, made.arithmetic, [5])
    assert some.rows.tolist() == [0, 1, 5]
    for position in range(made.network.positions):
        found = some.readout(position)
        assert (found is None) == (position not in (0, 1, 5))
        if found is not None:
            assert (found[0].tolist(), found[1].tolist()) == (
                direct.raw[0, position].tolist(),
                direct.answers[0, position].tolist(),
            )
        # Weights of a position that was not run are made when they are asked for.
        assert some.pair_weights(0, 0, position)[0].tolist() == whole.pair_weights(0, 0, position)[0].tolist()
    shown = look(Look(setting=Setting(construction=name, length=LENGTH), position=4))
    assert 4 in [each["position"] for each in shown["answers"]]
    assert shown["not_run"] > 0 and shown["stages"][-1]["kind"] == "readout"


@pytest.mark.parametrize("name", ["index-lookup", "associative-recall", "cnf"])
def test_weights_are_the_same_whether_they_were_kept_or_not(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = built(Setting(construction=name, length=LENGTH))
    cells = cells_of(Input(seed=1), made.task, LENGTH)
    every = numpy.arange(made.network.positions)
    kept = trace(made.network, cells, made.arithmetic)
    monkeypatch.setattr(trace_module, "LARGEST_KEPT", 0)
    made_again = trace(made.network, cells, made.arithmetic)
    assert kept.kept and not made_again.kept
    for place, (_, layer) in enumerate(kept.attention_layers):
        for head in range(len(layer.heads)):
            assert kept.weights(place, head, every).tolist() == made_again.weights(place, head, every).tolist()


@pytest.mark.parametrize("name", constructions())
def test_every_construction_can_be_looked_at(name: str) -> None:
    found = replies.LookReply.model_validate(look(Look(setting=Setting(construction=name, length=LENGTH))))
    assert found.answers and all(each.right for each in found.answers)
    assert found.margin is not None and found.margin.readout > 0
    data = b64decode(found.attention.map.data)
    assert len(data) == found.attention.map.rows * found.attention.map.columns


@pytest.mark.parametrize("name", constructions())
def test_the_gain_that_is_read_off_the_weights_is_the_theorems(name: str) -> None:
    setting = Setting(construction=name, length=LENGTH)
    own = own_gain(setting)
    if own is None:
        # Then no score depends on it: another one changes nothing.
        other = built(setting.model_copy(update={"gain": "7/3"})).network
        assert other.size_bits(8) == built(setting).network.size_bits(8)
        return
    own_margin = look(Look(setting=setting))["attention"]["map"]["data"]
    assert look(Look(setting=setting.model_copy(update={"gain": str(own)})))["attention"]["map"]["data"] == own_margin


def test_a_modulus_that_can_be_decided_is_chosen_and_told() -> None:
    """At N = 256 the matching tasks' own modulus N² takes numbers of more than 62 bits, or cannot be built at all."""
    for name in ("match2", "match3", "match3-heads"):
        setting = Setting(construction=name, length=256)
        assert chosen_here(setting) == {"modulus": "256"}
        assert "--set modulus=256" in command_of(setting)
        assert built(setting).task.parameters()["modulus"] == 256
        assert decided(Decide(setting=setting), 1 << 32)["state"] == "certified"
    for own in (
        Setting(construction="match2", length=16),
        Setting(construction="match2", length=256, parameters={"modulus": "65536"}),
        Setting(construction="equality", length=256),
    ):
        assert chosen_here(own) == {}
    assert look(Look(setting=Setting(construction="match2", length=256)))["chosen"] == {"modulus": "256"}


def test_margins_fall_with_the_gain_and_are_below_zero_where_an_answer_is_wrong() -> None:
    margins = []
    for gain in ("6", "3", "2", "1/2"):
        found = look(Look(setting=Setting(construction="index-lookup", length=16, gain=gain)))
        margins.append(found["margin"]["readout"])
        assert (margins[-1] < 0) == (not found["answers"][0]["right"])
    assert margins == sorted(margins, reverse=True) and margins[0] > 0 > margins[-1]


def test_long_maps_are_drawn_in_blocks() -> None:
    found = look(Look(setting=Setting(construction="equality", length=520)))["attention"]["map"]
    assert (found["rows"], found["columns"], found["block"]) == (260, 260, 2)
    data = numpy.frombuffer(b64decode(found["data"]), dtype=numpy.uint8).reshape(260, 260)
    # Every position looks at its partner half an input away, with almost all its weight.
    assert (data.max(axis=1) > 240).all()
    assert picture(numpy.array([[-1.0, 3.0]]))["kind"] == "linear"


# -- the store ---------------------------------------------------------------------------------------------


@pytest.fixture
def records(tmp_path: Path) -> Iterator[Records]:
    with Records(tmp_path / "runs.sqlite") as found:
        yield found


@pytest.mark.parametrize("file", ["../secret", "/etc/passwd", "link/secret"])
def test_files_outside_the_store_are_not_opened(records: Records, tmp_path: Path, file: str) -> None:
    (tmp_path / "secret").write_text("secret")
    records.files.mkdir()
    (records.files / "link").symlink_to(tmp_path)
    spec = RunSpec(task="index-lookup", architecture="TF-(1,8)", length=4, learning_rate=0.1, steps=4)
    records.add_results([spec], [Result(spec.name, "steps", 4, 0.5, 1.0, 1.0, 9)], {}, file)
    records.add_snapshots([spec.name], 2, file)
    for step in (2, 4):
        with pytest.raises(ExplorerError, match="outside its own folder"):
            snapshot_file(records, records.get(spec.name), step)


def test_only_runs_of_the_task_whose_weights_are_there_are_listed_to_compare(records: Records) -> None:
    """As with a store that travels without most of its weights: those that are there may be the oldest of all."""
    folder = records.files / "weights"
    folder.mkdir(parents=True)
    usual = {"task": "index-lookup", "architecture": "TF-(1,8)", "length": 4, "learning_rate": 0.1, "steps": 4}
    given = {
        "older": {}, "newer": {"learning_rate": 0.2}, "without": {"seed": 1}, "long": {"length": 600},
        "own": {"architecture": "some.module:Model"}, "other": {"task": "equality"},
        "gone": {"task": "equality", "seed": 1},
    }  # fmt: skip
    specs = {name: RunSpec(**{**usual, **change}) for name, change in given.items()}
    for name, spec in specs.items():
        records.add_results([spec], [Result(spec.name, "steps", 4, 0.5, 1.0, 1.0, 9)], {}, f"weights/{name}")
        if name not in ("without", "gone"):
            (folder / name).touch()
    with records._connection as connection:  # the order does not hang on the clock
        for second, spec in enumerate(specs.values()):
            connection.execute(
                "UPDATE runs SET finished_at=? WHERE name=?", (f"2026-01-01T00:00:0{second}Z", spec.name)
            )
    found = listings.ComparableReply.model_validate(comparable_runs(records.path, "index-lookup", Limits()))
    assert [(each.name, each.learning_rate) for each in found.runs] == [
        (specs["newer"].name, 0.2), (specs["older"].name, 0.1),
    ]  # fmt: skip
    assert all(each.kept_steps == [4] for each in found.runs)
    assert found.recorded == len(specs) == len(found.runs) + sum(each.count for each in found.left_out)
    assert {each.why: each.count for each in found.left_out} == {
        "of another task": 2, "of a module of one's own, which a page may not load": 1,
        "whose weights are not beside the store": 1, "longer than N = 512, which this server shows": 1,
    }  # fmt: skip
    assert found.elsewhere == {"equality": 1}
    kept = {each["name"]: each["kept_steps"] for each in list_runs(records.path)["runs"]}
    assert kept[specs["gone"].name] == [] and kept[specs["other"].name] == [4]
    nothing = comparable_runs(records.path.with_name("none.sqlite"), "equality", Limits())
    assert (nothing["exists"], nothing["recorded"], nothing["runs"]) == (False, 0, [])


# -- what a person reads -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "given", "said"),
    [
        (Setting, {"construction": "match2", "length": "8"}, "Length N is '8'; it has to be a whole number"),
        (Setting, {"construction": "match2", "length": 8, "exponent": 99}, "Precision Kc is 99; choose at most 16"),
        (Setting, {"construction": "match2", "length": 0}, "Length N is 0; choose at least 1"),
        (Setting, {"construction": "A b", "length": 8}, "Construction is 'A b', which is no name; use"),
        (Setting, {"construction": "match2", "length": 8, "rounding": "up"}, "Rounding is 'up'; choose 'down' or"),
        (Setting, {"construction": "match2", "length": 8, "gain": "1" * 41}, "Score scale η is too long; at most 40"),
        (Setting, {"construction": "match2", "length": 8, "odd": 1}, "there is no field odd"),
        (Setting, {"length": 8}, "construction is missing"),
        (Compare, {"run": "xyz"}, "Recorded run is 'xyz', which is no name"),
        (Train, {"task": "dyck", "length": 8, "architecture": "TF", "learning_rate": 0}, "Learning rate is 0; choose"),
    ],
)
def test_refusals_name_a_field_as_the_page_does(model: type[BaseModel], given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(given)
    told = in_words(caught.value.errors())
    assert told.startswith(said) and "\n" not in told and "pattern" not in told


@pytest.mark.parametrize("text", ["abc", "1e9", "1/0", ""])
def test_what_is_no_fraction_is_told_by_the_fields_name(text: str) -> None:
    for change, name in (({"max_inner": text}, "γ at most"), ({"gain": text}, "score scale η")):
        with pytest.raises(SeparatrixError, match=f"^{name} '{text}' is not a fraction; write one such as"):
            built(Setting.model_validate({"construction": "index-lookup", "length": 8, **change}))


def test_positions_are_counted_from_one() -> None:
    found = look(Look(setting=Setting(construction="directed-3-cycle", length=8)))
    assert found["input"]["symbols"] == [f"v{vertex}" for vertex in range(1, 9)]
    with pytest.raises(ExplorerError, match="position 10 is not there; this input has 9, counted from 1"):
        look(Look(setting=Setting(construction="index-lookup", length=8), position=9))


def test_the_protocols_caveats_are_the_command_lines(capsys: pytest.CaptureFixture[str]) -> None:
    asked = Converse(setting=Setting(construction="index-lookup", length=8))
    told = converse(asked)["claimed"]["told"]
    assert run(["protocol", "index-lookup", "--length", "8"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert len(told) == 2 and all(line in printed for line in told)
    assert told[0] == "with m = 6, the rows of the projections: beyond 309" and "not met" in told[1]


def test_words_of_the_page_are_those_of_the_glossary() -> None:
    glossary = (ROOT / "docs/glossary.md").read_text(encoding="utf-8").replace("`", "").replace("*", "")
    for each in words():
        assert f"| {each['word']} | {each['meaning'][:40]}" in glossary
        assert not re.search(r"[`*]|\]\(", each["meaning"])
    named = re.findall('data-word="([^"]+)"', PAGE)
    assert named and set(named) <= set(SHOWN)


def test_the_verdict_is_announced_and_nothing_else_of_its_box() -> None:
    [line] = re.findall(r'<p class="verdict-line"[^>]*>', PAGE)
    assert 'role="status"' in line and 'aria-live="polite"' in line and 'aria-atomic="true"' in line
    [box] = re.findall(r'<section id="verdict"[^>]*>', PAGE)
    assert "aria-live" not in box and "role=" not in box
    # What holds for one input is outside the box about every input.
    inside = PAGE[PAGE.index(box) :].partition("</section>")[0]
    assert all(f'id="{name}"' not in inside and f'id="{name}"' in PAGE for name in ("answer", "margin", "lead"))


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(ExplorerError, match="nothing is recorded"), opened(tmp_path / "none.sqlite"):
        pass
    assert not list(tmp_path.iterdir())


def test_limits_that_make_no_sense_are_refused() -> None:
    with pytest.raises(SeparatrixError, match="--max-seconds and --workers"):
        Limits(max_seconds=0, workers=0)


# -- processes ---------------------------------------------------------------------------------------------

HANGING = 600.0
"""Seconds after which something is taken to hang; nothing takes as long, however busy the machine."""


@pytest.fixture(autouse=True)
def nothing_is_abandoned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work is waited for here without asking again, as long as it takes."""
    monkeypatch.setattr(jobs, "ABANDONED_AFTER", HANGING)


def in_crew(test: Callable[[Jobs], Awaitable[None]], limits: Limits, tmp_path: Path) -> None:
    """Run a test inside an event loop with a crew of processes."""

    async def inside() -> None:
        crew = Crew(tmp_path / "runs.sqlite", limits)
        await crew.start()
        work = Jobs(crew)
        sweeper = asyncio.create_task(work.sweep())
        try:
            await test(work)
        finally:
            sweeper.cancel()
            crew.close()

    asyncio.run(inside())


def decide(name: str, length: int) -> str:
    return f'{{"setting": {{"construction": "{name}", "length": {length}}}}}'


def long(length: int) -> str:
    """Takes half a minute to decide."""
    setting = {"construction": "dyck-transformer", "length": length, "parameters": {"depth": "12"}}
    return json.dumps({"setting": setting})


def signalled(processes: Sequence[int | None], number: int) -> None:
    for process in processes:
        assert process is not None
        os.kill(process, number)


async def ended(asked: Work | Ticket) -> Work:
    work = asked.work if isinstance(asked, Ticket) else asked
    await work.finished.wait()
    return work


def test_work_beyond_its_time_is_ended_and_the_next_is_done(tmp_path: Path) -> None:
    async def test(work: Jobs) -> None:
        beyond = await ended(await work.ask("verdict", long(512)))
        assert beyond.state == "failed" and beyond.problem is not None
        assert beyond.problem[0] == "limit" and "--max-seconds" in beyond.problem[1]
        # One process was ended; what comes next finds another, and time enough.
        work.crew.limits = Limits(workers=1)
        for length in (4, 5, 6):
            after = await ended(await work.ask("look", decide("index-lookup", length)))
            assert after.state == "done"

    in_crew(test, Limits(max_seconds=0.5, workers=1), tmp_path)


def test_abandoned_and_equal_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "PATIENCE", 0.05)
    monkeypatch.setattr(jobs, "SWEEP_EVERY", 0.05)
    monkeypatch.setattr(crew_module, "MOST_WAITING", 1)

    async def test(work: Jobs) -> None:
        first, second = await work.ask("verdict", long(512)), await work.ask("verdict", long(512))
        assert isinstance(first, Ticket) and isinstance(second, Ticket)
        assert first.work is second.work and first.name != second.name
        # One asker gives up, the other still wants it.
        work.cancel(first.name)
        assert not first.work.finished.is_set() and b'"cancelled"' in first.as_json()
        # A second long one waits, since the last process is kept for quick work; more than one may not wait.
        waiting = await work.ask("verdict", long(500))
        assert isinstance(waiting, Ticket) and waiting.work.state == "waiting"
        with pytest.raises(ExplorerError, match="waiting already"):
            await work.ask("verdict", long(490))
        work.cancel(waiting.name)
        assert waiting.work.state == "cancelled"
        # Nobody asks for the other any more.
        monkeypatch.setattr(jobs, "ABANDONED_AFTER", 0.0)
        await asyncio.wait_for(first.work.finished.wait(), HANGING)
        assert first.work.state == "cancelled"
        with pytest.raises(ExplorerError, match="forgotten or never started"):
            work.find("none")

    in_crew(test, Limits(workers=2), tmp_path)


def test_a_slider_that_moves_on_leaves_nothing_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages that give up before they have a ticket: what waits never starts, what runs is ended, the last one wins."""
    monkeypatch.setattr(jobs, "LOOK_EVERY", 0.02)
    monkeypatch.setattr(jobs, "PATIENCE", HANGING)
    monkeypatch.setattr(jobs, "UNWANTED", 0.1)

    async def test(work: Jobs) -> None:
        left = asyncio.Event()

        async def gone() -> bool:
            return left.is_set()

        moving = [asyncio.create_task(work.ask("verdict", long(length), gone)) for length in (512, 508, 504, 500)]
        while not any(each.work is not None for each in work.crew._workers):
            await asyncio.sleep(0.01)
        stale = list(work.crew._known.values())
        assert [each.state for each in stale] == ["running", "waiting", "waiting", "waiting"]
        left.set()
        for each in await asyncio.gather(*moving, return_exceptions=True):
            assert isinstance(each, ExplorerError) and "nobody waits" in str(each)
        assert [each.state for each in stale[1:]] == ["cancelled"] * 3
        last = await ended(await work.ask("verdict", decide("index-lookup", 16)))
        assert last.state == "done" and last.reply is not None and b'"certified"' in last.reply
        await asyncio.wait_for(stale[0].finished.wait(), HANGING)
        assert stale[0].state == "cancelled"

    in_crew(test, Limits(workers=2), tmp_path)


def test_short_work_that_nobody_waits_for_is_done_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ending a process costs more than a short reply, which the slider may come back to."""
    monkeypatch.setattr(jobs, "LOOK_EVERY", 0.001)
    monkeypatch.setattr(jobs, "UNWANTED", HANGING)

    async def test(work: Jobs) -> None:
        async def gone() -> bool:
            return True

        processes = [each.process.pid for each in work.crew._workers]
        signalled(processes, signal.SIGSTOP)  # so that the reply is not there before the asker has gone
        with pytest.raises(ExplorerError, match="nobody waits"):
            await work.ask("verdict", decide("nearest-neighbour", 64), gone)
        (left,) = work.crew._known.values()
        assert left.followers == 0 and left.state == "running"
        signalled(processes, signal.SIGCONT)
        await asyncio.wait_for(left.finished.wait(), HANGING)
        assert left.state == "done"
        assert await work.ask("verdict", decide("nearest-neighbour", 64)) is left

    in_crew(test, Limits(workers=2), tmp_path)


def test_a_process_that_dies_is_replaced(tmp_path: Path) -> None:
    async def test(work: Jobs) -> None:
        asked = asyncio.create_task(work.ask("verdict", long(512)))
        while not [each for each in work.crew._workers if each.work is not None]:
            await asyncio.sleep(0.01)
        next(each for each in work.crew._workers if each.work is not None).process.kill()
        lost = await ended(await asked)
        assert lost.state == "failed" and lost.problem is not None and "was ended" in lost.problem[1]
        assert (await ended(await work.ask("look", decide("equality", 4)))).state == "done"

    in_crew(test, Limits(workers=1), tmp_path)


# -- the guard ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bound", "names", "host", "allowed"),
    [
        ("127.0.0.1", (), "127.0.0.1:8642", True),
        ("127.0.0.1", (), "LOCALHOST", True),
        ("127.0.0.1", (), "[::1]:8642", True),
        ("127.0.0.1", (), "192.168.0.7", False),
        ("127.0.0.1", (), "localhost.evil.example", False),
        ("127.0.0.1", (), "", False),
        ("0.0.0.0", (), "192.168.0.7:80", True),
        ("0.0.0.0", (), "evil.example", False),
        ("0.0.0.0", ("lab.example",), "lab.example:8642", True),
        ("192.168.0.7", (), "192.168.0.7", True),
        ("192.168.0.7", (), "192.168.0.8", False),
    ],
)
def test_names_under_which_a_server_answers(bound: str, names: tuple[str, ...], host: str, allowed: bool) -> None:
    assert guard.hosts_for(bound, names).allow(host) == allowed


def test_a_body_that_does_not_arrive_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.05)
    sent: list[Any] = []

    async def never(*_: Any) -> Any:
        await asyncio.sleep(60)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "path": "/api/look", "method": "POST", "headers": [(b"host", b"localhost")]}
    asyncio.run(guard.Guard(never, guard.hosts_for("127.0.0.1"))(scope, never, send))
    assert sent[0]["status"] == 408


@dataclass
class Small:
    """A small server: where it is, and what it tells of the request that waits until it may be answered."""

    place: tuple[str, int]
    came: threading.Event = field(default_factory=threading.Event)
    may_end: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)

    def connected(self) -> socket.socket:
        return socket.create_connection(self.place, timeout=HANGING)


@contextmanager
def small_server() -> Iterator[Small]:
    """Answers / at once, /waiting when it may, and /much with more than any buffer holds."""

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == "/waiting":
            found.came.set()
            await asyncio.to_thread(found.may_end.wait)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(2000 if scope["path"] == "/much" else 1):
            await send({"type": "http.response.body", "body": b"h" * 65536, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
        if scope["path"] == "/much":
            found.ended.set()

    listening = serving.bound_socket("127.0.0.1", 0)
    listening.listen()
    found = Small(listening.getsockname())
    config = uvicorn.Config(answer, http=serving.ImpatientProtocol, lifespan="off", log_level="error", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield found
    finally:
        server.should_exit = True
        thread.join(HANGING)
        listening.close()


def all_of(connection: socket.socket, until: bytes = b"nothing that comes") -> bytes:
    """Everything that comes until the other side closes, or until some words."""
    pieces = b""
    with suppress(ConnectionResetError):
        while not pieces.endswith(until) and (piece := connection.recv(1 << 20)):
            pieces += piece
    return pieces


ASKED = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


def test_headers_that_do_not_come_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    with small_server() as server:
        monkeypatch.setattr(serving, "SECONDS_FOR_HEADERS", 0.1)
        with server.connected() as slow:
            slow.sendall(ASKED[:12])
            assert all_of(slow) == b""
        monkeypatch.setattr(serving, "SECONDS_FOR_HEADERS", HANGING)
        with server.connected() as second:
            second.sendall(ASKED)
            assert all_of(second, until=b"\r\n0\r\n\r\n").startswith(b"HTTP/1.1 200")
            monkeypatch.setattr(serving, "SECONDS_FOR_HEADERS", 0.1)
            second.sendall(ASKED[:12])
            assert all_of(second) == b"", "nor those of a second request"


def test_an_answer_that_is_not_read_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "SECONDS_FOR_ANSWERS", 0.1)
    with small_server() as server, server.connected() as deaf:
        deaf.sendall(ASKED.replace(b"/ ", b"/much "))
        assert server.ended.wait(HANGING), "the connection is closed, or the answer would still wait to be read"
        assert len(all_of(deaf)) < 2000 * 65536


def test_who_asked_in_time_is_answered_later(monkeypatch: pytest.MonkeyPatch) -> None:
    with small_server() as server:
        patience = 0.1
        while not server.came.is_set():
            # Once more, with more patience, where this process was kept waiting between connecting and asking.
            patience *= 2
            monkeypatch.setattr(serving, "SECONDS_FOR_HEADERS", patience)
            asker = server.connected()
            with suppress(OSError):
                asker.sendall(ASKED.replace(b"/ ", b"/waiting "))
            server.came.wait(2 * patience)
        time.sleep(2 * patience)
        server.may_end.set()
        assert asker.recv(1000).startswith(b"HTTP/1.1 200")
        asker.close()


def test_a_port_in_use_ends_in_one_line() -> None:
    with serving.bound_socket("127.0.0.1", 0) as first:
        first.listen()
        with pytest.raises(SeparatrixError, match="choose another --port"):
            serving.bound_socket("127.0.0.1", first.getsockname()[1])


@pytest.mark.parametrize("host", ["º\x80妾", "a" * 5000, "..", "no\0name"])
def test_a_host_that_is_no_name_ends_in_one_line(host: str) -> None:
    with pytest.raises(SeparatrixError, match=r"^cannot listen on|is no address"):
        serving.bound_socket(host, 0)


@pytest.mark.parametrize("started", [True, False])
def test_a_server_that_is_interrupted_before_it_answers_says_so(
    started: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told: list[str] = []

    async def ended(server: serving._Server, sockets: Any) -> None:
        server.has_started = started
        raise KeyboardInterrupt

    monkeypatch.setattr(serving._Server, "serve", ended)
    with serving.bound_socket("127.0.0.1", 0) as listening:
        ending = nullcontext() if started else pytest.raises(KeyboardInterrupt)
        with ending:
            serving.serve(listening, "127.0.0.1", tmp_path / "runs.sqlite", Limits(), (), lambda: told.append("ready"))
    assert told == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--port", "99999"), "--port 99999 is not a port"),
        (("--max-length", "1"), "--max-length out of range"),
        (("--max-seconds", "nan"), "--max-seconds out of range"),
        (("--max-memory", "much"), "'much' is not a size"),
        (("--host", "256.0.0.1"), "cannot listen on 256.0.0.1"),
    ],
)
def test_a_server_that_cannot_start_says_why(
    options: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["serve", *options]) == 2
    assert said in capsys.readouterr().err


def test_others_than_this_machine_are_let_in_with_a_warning(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def at_once(listening: socket.socket, *_: Any) -> None:
        listening.close()

    monkeypatch.setattr(serving, "serve", at_once)
    assert run(["serve", "--host", "0.0.0.0", "--port", "0"]) == 0
    assert "not loopback" in capsys.readouterr().err
    assert run(["serve", "--port", "0"]) == 0
    assert capsys.readouterr().err == ""


def test_what_needs_torch_names_the_extra_before_anything_starts(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    training = Training(tmp_path / "runs.sqlite", Limits())
    with pytest.raises(SeparatrixError, match=r"'separatrix\[train\]'"):
        asyncio.run(training.start(Train(task="equality", length=8, architecture="TF")))
    assert training.all() == []
    with pytest.raises(SeparatrixError, match=r"'separatrix\[train\]'"):
        compare(Compare(run="0a1b", input=Input()), tmp_path / "runs.sqlite", Limits())
