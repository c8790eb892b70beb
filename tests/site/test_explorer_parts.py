"""The explorer's parts without a server: traces, margins, default gains, recorded runs, and processes."""

import asyncio
import json
import os
import re
import signal
import socket
import sys
from base64 import b64decode
from collections.abc import Awaitable, Callable, Iterator
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import numpy
import pytest
from pydantic import BaseModel, ValidationError

from separatrix.cli.app import run
from separatrix.constructions import constructions
from separatrix.errors import SeparatrixError
from separatrix.networks import Attention, evaluate
from separatrix.site.explorer import serving
from separatrix.site.explorer.building import built, cells_of, chosen_here, command_of, own_gain
from separatrix.site.explorer.comparing import compare
from separatrix.site.explorer.computing import Pools
from separatrix.site.explorer.conversing import converse
from separatrix.site.explorer.deciding import decide
from separatrix.site.explorer.limits import ExplorerError, Limits
from separatrix.site.explorer.look import look, margins
from separatrix.site.explorer.maps import picture
from separatrix.site.explorer.requests import Compare, Converse, Decide, Input, Look, Setting, faults
from separatrix.site.explorer.runs import list_runs, opened, snapshot_file
from separatrix.site.explorer.security import allowed_hosts
from separatrix.site.explorer.words import SHOWN, words
from separatrix.site.pages.formulas import prose
from separatrix.table.trace import trace
from separatrix.tasks import automaton_of, tasks
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
    assert 4 in [each.position for each in shown.answers]
    assert shown.not_run > 0 and shown.stages[-1].kind == "readout"


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
    found = look(Look(setting=Setting(construction=name, length=LENGTH)))
    assert found.answers and all(each.right for each in found.answers)
    assert found.margin is not None and found.margin.value > 0
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
    own_margin = look(Look(setting=setting)).attention.map.data
    assert look(Look(setting=setting.model_copy(update={"gain": str(own)}))).attention.map.data == own_margin


def test_a_modulus_that_can_be_decided_is_chosen_and_shown() -> None:
    """At N = 256 the matching tasks' own modulus N² takes numbers of more than 62 bits, or cannot be built at all."""
    for name in ("match2", "match3", "match3-heads"):
        setting = Setting(construction=name, length=256)
        assert chosen_here(setting) == {"modulus": "256"}
        assert "--set modulus=256" in command_of(setting)
        assert built(setting).task.parameters()["modulus"] == 256
        assert decide(Decide(setting=setting), 1 << 32).state == "certified"
    for own in (
        Setting(construction="match2", length=16),
        Setting(construction="match2", length=256, parameters={"modulus": "65536"}),
        Setting(construction="equality", length=256),
    ):
        assert chosen_here(own) == {}
    assert look(Look(setting=Setting(construction="match2", length=256))).chosen == {"modulus": "256"}


def test_margins_fall_with_the_gain_and_are_below_zero_where_an_answer_is_wrong() -> None:
    margins = []
    for gain in ("6", "3", "2", "1/2"):
        found = look(Look(setting=Setting(construction="index-lookup", length=16, gain=gain)))
        assert found.margin is not None
        margins.append(found.margin.value)
        assert (margins[-1] < 0) == (not found.answers[0].right)
    assert margins == sorted(margins, reverse=True) and margins[0] > 0 > margins[-1]


def test_long_maps_are_drawn_in_blocks() -> None:
    found = look(Look(setting=Setting(construction="equality", length=520))).attention.map
    assert (found.rows, found.columns, found.block) == (260, 260, 2)
    data = numpy.frombuffer(b64decode(found.data), dtype=numpy.uint8).reshape(260, 260)
    # Every position looks at its partner half an input away, with almost all its weight.
    assert (data.max(axis=1) > 240).all()
    assert picture(numpy.array([[-1.0, 3.0]])).kind == "linear"


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


def test_runs_that_can_be_compared_come_first_and_the_others_say_why_not(records: Records) -> None:
    """As with a store that travels without most of its weights: those that are there may be the oldest of all."""
    folder = records.files / "weights"
    folder.mkdir(parents=True)
    usual = {"task": "index-lookup", "architecture": "TF-(1,8)", "length": 4, "learning_rate": 0.1, "steps": 4}
    given = {
        "good": {}, "without": {"seed": 1}, "long": {"length": 600}, "module": {"architecture": "some.module:Model"},
        "other": {"task": "equality"},
    }  # fmt: skip
    specs = {name: RunSpec(**{**usual, **change}) for name, change in given.items()}
    for name, spec in specs.items():
        records.add_results([spec], [Result(spec.name, "steps", 4, 0.5, 1.0, 1.0, 9)], {}, f"weights/{name}")
        if name != "without":
            (folder / name).touch()
    found = list_runs(records.path, "index-lookup", Limits())
    assert found.recorded == len(specs) and len(found.runs) == 4
    assert [(each.name, each.kept_steps) for each in found.runs if not each.why_not] == [(specs["good"].name, [4])]
    assert found.runs[0].name == specs["good"].name
    assert len(list_runs(records.path, None, Limits()).runs) == len(specs)
    nothing = records.path.with_name("none.sqlite")
    assert list_runs(nothing, None, Limits()).runs == [] and not nothing.exists()


# -- what a person reads -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "given", "said"),
    [
        (Setting, {"construction": "match2", "length": "8"}, ("Length N", "'8'")),
        (Setting, {"construction": "match2", "length": 8, "exponent": 99}, ("Precision Kc", "99", "16")),
        (Setting, {"construction": "match2", "length": 8, "rounding": "up"}, ("Rounding", "'up'", "'down'")),
        (Setting, {"construction": "match2", "length": 8, "odd": 1}, ("odd",)),
        (Setting, {"length": 8}, ("Construction",)),
        (Compare, {"run": "xyz"}, ("Recorded run", "'xyz'")),
    ],
)
def test_refusals_name_the_field_of_the_page_and_the_value(
    model: type[BaseModel], given: dict[str, Any], said: tuple[str, ...]
) -> None:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(given)
    line = faults([{**each, "loc": ("body", *each["loc"])} for each in caught.value.errors()])
    assert all(each in line for each in said) and "\n" not in line


@pytest.mark.parametrize("text", ["abc", "1e9", "1/0", ""])
def test_a_text_that_is_not_a_fraction_is_refused_with_its_field(text: str) -> None:
    for change, name in (({"max_inner": text}, "γ at most"), ({"gain": text}, "score scale η")):
        with pytest.raises(SeparatrixError, match=f"^{name} '{text}' is not a fraction; write one such as"):
            built(Setting.model_validate({"construction": "index-lookup", "length": 8, **change}))


def test_positions_are_counted_from_one() -> None:
    found = look(Look(setting=Setting(construction="directed-3-cycle", length=8)))
    assert found.input.symbols == [f"v{vertex}" for vertex in range(1, 9)]
    with pytest.raises(ExplorerError, match="position 10 "):
        look(Look(setting=Setting(construction="index-lookup", length=8), position=9))


def test_the_protocols_caveats_are_the_command_lines(capsys: pytest.CaptureFixture[str]) -> None:
    warnings = converse(Converse(setting=Setting(construction="index-lookup", length=8))).caveats
    assert run(["protocol", "index-lookup", "--length", "8", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)["claim"]["told"]
    assert len(warnings) == 2 and set(warnings) <= {prose(line) for line in printed}


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
    # The answer on one input is outside the box about every input.
    inside = PAGE[PAGE.index(box) :].partition("</section>")[0]
    assert all(f'id="{name}"' not in inside and f'id="{name}"' in PAGE for name in ("answer", "margin", "lead"))


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(ExplorerError, match=r"none\.sqlite"), opened(tmp_path / "none.sqlite"):
        pass
    assert not list(tmp_path.iterdir())


def test_limits_that_make_no_sense_are_refused() -> None:
    with pytest.raises(SeparatrixError, match="--max-seconds and --workers"):
        Limits(max_seconds=0, workers=0)


# -- processes ---------------------------------------------------------------------------------------------

LONG = Decide(setting=Setting(construction="dyck-transformer", length=512, parameters={"depth": "12"}))
"""Takes half a minute to decide."""
SHORT = Look(setting=Setting(construction="equality", length=4))


class Client:
    """Stands in for the HTTP request of a client that may go away."""

    gone = False

    async def is_disconnected(self) -> bool:
        return self.gone


def in_pools(test: Callable[[Pools], Awaitable[None]], limits: Limits, tmp_path: Path) -> None:
    async def inside() -> None:
        pools = Pools(tmp_path / "runs.sqlite", limits)
        try:
            await test(pools)
        finally:
            pools.close()

    asyncio.run(inside())


def test_a_proof_is_killed_when_its_client_leaves_and_quick_work_does_not_wait_for_it(tmp_path: Path) -> None:
    async def test(pools: Pools) -> None:
        client: Any = Client()
        proof = asyncio.create_task(pools.answer("verdict", LONG, client))
        assert json.loads(await pools.answer("look", SHORT, cast("Any", Client())))["answers"]
        assert not proof.done()
        client.gone = True
        with pytest.raises(ExplorerError, match="cancelled"):
            await proof
        # The one process for proofs was killed; the next proof finds another.
        small = Decide(setting=Setting(construction="index-lookup", length=8))
        assert json.loads(await pools.answer("verdict", small, cast("Any", Client())))["state"] == "certified"

    in_pools(test, Limits(workers=1), tmp_path)


def test_a_proof_beyond_its_time_or_whose_process_dies_is_refused_with_the_limit(tmp_path: Path) -> None:
    async def test(pools: Pools) -> None:
        with pytest.raises(ExplorerError, match="--max-seconds") as caught:
            await pools.answer("verdict", LONG, cast("Any", Client()))
        assert caught.value.kind == "limit"
        pools.limits = Limits(workers=1)
        proof = asyncio.create_task(pools.answer("verdict", LONG, cast("Any", Client())))
        manager = pools._pools[False]._pool_manager
        while not (running := [task for task in manager.task_manager.tasks.values() if task.started]):
            await asyncio.sleep(0.01)
        os.kill(running[0].worker_id, signal.SIGKILL)
        with pytest.raises(ExplorerError) as caught:
            await proof
        assert caught.value.kind == "limit"
        # A process that dies while it is idle does no harm either.
        workers = pools._pools[True]._pool_manager.worker_manager.workers
        (idle,) = workers
        os.kill(idle, signal.SIGKILL)
        while idle in workers:
            await asyncio.sleep(0.01)
        assert await pools.answer("look", SHORT, cast("Any", Client()))

    in_pools(test, Limits(max_seconds=0.5, workers=1), tmp_path)


@pytest.mark.parametrize(
    ("bound", "names", "host", "allowed"),
    [
        ("127.0.0.1", (), "127.0.0.1", True),
        ("127.0.0.1", (), "[::1]", True),
        ("127.0.0.1", ("*", "*.example"), "evil.example", False),
        ("0.0.0.0", (), "0.0.0.0", False),
        ("0.0.0.0", ("lab.example",), "lab.example", True),
        ("192.168.0.7", (), "192.168.0.7", True),
    ],
)
def test_names_under_which_a_server_answers(bound: str, names: tuple[str, ...], host: str, allowed: bool) -> None:
    found = allowed_hosts(bound, names)
    assert (host in found) == allowed and "*" not in "".join(found)


def test_a_port_in_use_ends_in_one_line() -> None:
    with serving.bound_socket("127.0.0.1", 0) as first:
        first.listen()
        with pytest.raises(SeparatrixError, match="choose another --port"):
            serving.bound_socket("127.0.0.1", first.getsockname()[1])


@pytest.mark.parametrize("host", ["º\x80妾", "a" * 5000, "..", "no\0name"])
def test_a_host_that_is_no_name_ends_in_one_line(host: str) -> None:
    with pytest.raises(SeparatrixError, match=r"^cannot listen on|is not an address"):
        serving.bound_socket(host, 0)


@pytest.mark.parametrize("started", [True, False])
def test_a_server_that_is_interrupted_before_it_answers_says_so(
    started: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    called: list[str] = []

    async def ended(server: serving._Server, sockets: Any) -> None:
        server.has_started = started
        raise KeyboardInterrupt

    monkeypatch.setattr(serving._Server, "serve", ended)
    with serving.bound_socket("127.0.0.1", 0) as listening:
        ending = nullcontext() if started else pytest.raises(KeyboardInterrupt)
        with ending:
            store = tmp_path / "runs.sqlite"
            serving.serve(listening, "127.0.0.1", store, Limits(), (), lambda: called.append("ready"))
    assert called == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--port", "99999"), "--port 99999"),
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


def test_comparing_without_torch_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(SeparatrixError, match=r"'separatrix\[train\]'"):
        compare(Compare(run="0a1b", input=Input()), tmp_path / "runs.sqlite", Limits())


@pytest.mark.parametrize("name", ["dyck-dfa", "dyck-rnn"])
def test_a_recurrent_network_is_drawn_as_the_minimal_automaton_of_its_task(name: str) -> None:
    found = look(Look(setting=Setting(construction=name, length=LENGTH), input=Input(text="([])()[]")))
    assert found.automaton is not None
    expected = automaton_of(tasks()["dyck"])
    assert expected is not None
    assert len(found.automaton.states) == len(expected["answers"])
    assert [found.automaton.states[place].word for place in found.automaton.walk] == [
        "",
        "(",
        "([",
        "(",
        "",
        "(",
        "",
        "[",
        "",
    ]
    assert {state.word for state in found.automaton.states if state.answer == "1"} == {""}
    assert look(Look(setting=Setting(construction="equality", length=LENGTH))).automaton is None


def test_the_margin_against_the_scale_goes_through_the_one_that_is_shown() -> None:
    broken = Input(text="0000000100000001")
    setting = Setting(construction="equality", length=16)
    points = {each.percent: each for each in margins(Look(setting=setting, input=broken)).points}
    shown = look(Look(setting=setting, input=broken)).margin
    assert shown is not None and points[100].margin == shown.value
    wrong = points[50].margin
    assert wrong is not None and wrong < 0 < shown.value
    assert margins(Look(setting=Setting(construction="dyck-rnn", length=LENGTH))).points == []
