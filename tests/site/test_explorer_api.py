"""The explorer's server: replies that are right, limits that hold, and nobody let in who should not be."""

import http.client
import itertools
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tools.running_server import running_server

from separatrix.constructions import constructions
from separatrix.site.explorer import listings, replies
from separatrix.site.explorer.app import make_api
from separatrix.site.explorer.limits import Limits

SCHEMA = schemathesis.openapi.from_dict(make_api(Path("nowhere.sqlite"), Limits()).openapi())
LONG = {"construction": "dyck-transformer", "length": 512, "parameters": {"depth": "12"}}
"""Takes half a minute to decide."""
HANGING = 600
"""Seconds after which a request is taken to hang; none takes as long, however busy the machine."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("explorer") / "runs.sqlite"


@pytest.fixture(scope="module")
def address(store: Path) -> Iterator[str]:
    limits = ("--max-length", "1024", "--max-seconds", "600", "--max-training-seconds", "600")
    with running_server(store, *limits) as found:
        yield found


@pytest.fixture(scope="module")
def client(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, timeout=HANGING) as found:
        yield found


def finished(client: httpx.Client, method: str, path: str, body: Any = None) -> Any:
    """The reply of a computation, waited for where it becomes a job."""
    response = client.request(method, path, json=body)
    assert response.status_code in (200, 202), response.text
    content = response.json()
    while "job" in content:
        assert content["state"] not in ("failed", "cancelled"), content
        if content["state"] == "done":
            return content["reply"]
        time.sleep(0.05)
        content = client.get(f"/api/jobs/{content['job']}").json()
    return content


# -- what is answered --------------------------------------------------------------------------------------


def test_catalog_lists_every_construction_and_the_limits(client: httpx.Client) -> None:
    found = listings.Catalog.model_validate(client.get("/api/catalog").json())
    assert [each.name for each in found.constructions] == list(constructions())
    assert found.limits["max_length"] == 1024


def test_a_claim_is_refuted_when_the_gain_falls_and_certified_when_it_is_back(client: httpx.Client) -> None:
    setting = {"construction": "index-lookup", "length": 32}
    own = finished(client, "POST", "/api/look", {"setting": setting})["own_gain"]
    states = []
    for share in (Fraction(1), Fraction(2, 5), Fraction(1)):
        asked = {"setting": {**setting, "gain": str(Fraction(own) * share)}}
        found = replies.VerdictReply.model_validate(finished(client, "POST", "/api/verdict", asked))
        states.append(found.state)
        if found.counterexample is not None:
            # The input that breaks the claim, run as a person would who copies it from the page.
            run = finished(client, "POST", "/api/look", {**asked, "input": {"text": found.counterexample.text}})
            assert [each["right"] for each in run["answers"]] == [False]
            assert run["margin"]["readout"] < 0
    assert states == ["certified", "refuted", "certified"]


def test_smallest_certified_gain_has_a_refused_one_below(client: httpx.Client) -> None:
    setting = {"construction": "index-lookup", "length": 16}
    found = replies.ThresholdReply.model_validate(finished(client, "POST", "/api/threshold", {"setting": setting}))
    verdicts = [
        finished(client, "POST", "/api/verdict", {"setting": {**setting, "gain": gain}})["state"]
        for gain in (found.smallest_gain, found.tried_below)
    ]
    assert verdicts[0] == "certified" and verdicts[1] != "certified"
    assert found.share < 1


def test_protocol_with_ones_own_partition(client: httpx.Client) -> None:
    asked = {"setting": {"construction": "index-lookup", "length": 8}, "partition": "0,3,7"}
    found = replies.ProtocolReply.model_validate(finished(client, "POST", "/api/protocol", asked))
    assert found.partition.alice == [0, 3, 7] and found.equal and found.answer == found.direct_answer
    assert found.total_bits == sum(each.length for each in found.messages) <= found.claimed.bits
    one_way = {"setting": {"construction": "dyck-rnn", "length": 8}, "partition": "cut:3"}
    found = replies.ProtocolReply.model_validate(finished(client, "POST", "/api/protocol", one_way))
    assert found.needs_cut and [each.sender for each in found.messages] == ["Alice"] and found.equal


def test_architectures_are_those_of_the_catalog(client: httpx.Client) -> None:
    found = listings.Architectures.model_validate(finished(client, "GET", "/api/architectures"))
    assert {"TF", "LSTM", "Mamba"} <= {each.short for each in found.architectures}


# -- limits, jobs and errors -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"length": 1025}, "--max-length 1025"),
        ({"construction": "index-lokup"}, "nearest: index-lookup"),
        ({"gain": "0"}, "above 0"),
        ({"gain": "1e9"}, "score scale η '1e9' is not a fraction"),
        ({"max_inner": "abc"}, "γ at most 'abc' is not a fraction; write one such as 1/4 or 0.25"),
        ({"family": "nonsense"}, "nonsense"),
        ({"max_inner": "7/4"}, "between 0 and 1"),
        ({"parameters": {"alphabet": "x"}}, "not a whole number"),
        ({"parameters": {"alphabet": "100000000000"}}, "out of range"),
        ({"variant": "paper"}, "variant"),
        ({"exponent": 99}, "Precision Kc is 99; choose at most 16"),
        ({"module": "os:system"}, "module"),
        ({"length": "16"}, "Length N is '16'"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(client: httpx.Client, change: dict[str, Any], said: str) -> None:
    setting = {"construction": "index-lookup", "length": 16, **change}
    for path in ("look", "verdict", "protocol"):
        response = client.post(f"/api/{path}", json={"setting": setting})
        assert response.status_code == 422
        problem = replies.Problem.model_validate(response.json())
        assert said in problem.error and "\n" not in problem.error
        assert problem.kind == ("limit" if said.startswith("--") else "input")


def test_inputs_that_are_typed_wrongly_are_explained(client: httpx.Client) -> None:
    for text, said in (("a b c", "17"), ("€" * 17, "not a symbol"), ("", "0 symbols"), ("a " * 16 + "@99", "@99")):
        asked = {"setting": {"construction": "index-lookup", "length": 16}, "input": {"text": text}}
        response = client.post("/api/look", json=asked)
        assert response.status_code == 422 and said in response.json()["error"]
    # An input of the right form that breaks the promise is run, but no answer is called right.
    twice = {"setting": {"construction": "associative-recall", "length": 2}, "input": {"text": "k1 0 k1 1 k1"}}
    found = finished(client, "POST", "/api/look", twice)
    assert not found["input"]["promised"] and found["margin"] is None


def test_long_work_tells_how_far_it_is_and_can_be_cancelled(client: httpx.Client) -> None:
    response = client.post("/api/verdict", json={"setting": LONG})
    assert response.status_code == 202
    job = replies.JobReply.model_validate(response.json())
    assert job.state in ("waiting", "running") and job.reply is None
    with client.stream("GET", f"/api/jobs/{job.job}/events") as stream:
        lines = stream.iter_lines()
        assert next(lines) == "event: progress"
        # Somebody else is answered while it runs.
        assert finished(client, "POST", "/api/look", {"setting": {"construction": "equality", "length": 8}})
        cancelled = replies.JobReply.model_validate(client.delete(f"/api/jobs/{job.job}").json())
        assert cancelled.state == "cancelled"
        assert "event: end" in list(lines)
    # Asked for again, it starts again.
    again = client.post("/api/verdict", json={"setting": LONG})
    assert again.status_code == 202 and again.json()["job"] != job.job
    client.delete(f"/api/jobs/{again.json()['job']}")


def test_unknown_things_are_missing(client: httpx.Client) -> None:
    for path in ("/api/jobs/none", "/api/jobs/none/events", "/api/training/none", "/api/training/none/events",
                 "/api/runs/0123456789abcdef", "/api/none", "/static/none.js", "/static/../app.py",
                 "/static/..%2fapp.py", "/static/%2e%2e/%2e%2e/app.py", "/docs", "/redoc"):  # fmt: skip
        response = client.get(path)
        assert response.status_code == 404
        assert replies.Problem.model_validate(response.json()).kind == "missing"


# -- who may ask -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:8642"},
        {"Host": "127.0.0.1.evil.example"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_strangers_are_refused(client: httpx.Client, headers: dict[str, str]) -> None:
    asked = {"setting": {"construction": "index-lookup", "length": 4}}
    for response in (
        client.get("/api/catalog", headers=headers),
        client.post("/api/look", json=asked, headers=headers),
    ):
        assert response.status_code == 403
        assert response.json()["kind"] == "refused"


def test_a_link_to_the_page_may_be_followed_but_nothing_else(client: httpx.Client) -> None:
    followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert client.get("/", headers=followed).status_code == 200
    assert client.get("/api/runs", headers=followed).status_code == 403
    assert client.post("/", headers=followed).status_code == 403


def test_every_answer_carries_the_headers(client: httpx.Client) -> None:
    answers = [client.get("/"), client.get("/static/main.js"), client.get("/api/catalog"), client.get("/api/none"),
               client.get("/", headers={"Host": "evil.example"})]  # fmt: skip
    for response in answers:
        policy = response.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
        assert response.headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in response.headers
    page = client.get("/").text
    assert "http://" not in page and "https://" not in page and "style=" not in page and "onclick" not in page


def test_large_bodies_are_not_read(client: httpx.Client) -> None:
    text = "a " * 600_000
    response = client.post("/api/look", content=text, headers={"Content-Type": "application/json"})
    assert response.status_code == 413
    pieces = (b"[" * 65536 for _ in range(40))
    try:
        response = client.post("/api/look", content=pieces, headers={"Content-Type": "application/json"})
        assert response.status_code == 413
    except httpx.WriteError:  # the server closed the connection in the middle of it
        pass
    assert client.get("/api/catalog").status_code == 200


def test_odd_json_is_refused(client: httpx.Client) -> None:
    for content in (b"", b"{", b"[" * 100_000, b"null", b'{"setting": "\\ud800"}', b"\xff\xfe", b'{"setting": NaN}',
                    b'{"setting": {"construction": "index-lookup", "length": 1e400}}'):  # fmt: skip
        response = client.post("/api/look", content=content, headers={"Content-Type": "application/json"})
        assert response.status_code == 422, (content[:20], response.text)
        replies.Problem.model_validate(response.json())


@SCHEMA.parametrize()
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_request_makes_a_server_error(case: schemathesis.Case, address: str) -> None:
    checks = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
    case.call_and_validate(base_url=address, checks=checks, timeout=HANGING)


# -- training ----------------------------------------------------------------------------------------------


def events_of(client: httpx.Client, name: str, until: tuple[str, ...], after: str | None = None) -> list[Any]:
    """The events of a training run up to one of some kinds."""
    found: list[Any] = []
    headers = {} if after is None else {"Last-Event-ID": after}
    with client.stream("GET", f"/api/training/{name}/events", headers=headers) as stream:
        kind = ""
        for line in stream.iter_lines():
            if line.startswith("event: "):
                kind = line.removeprefix("event: ")
            if line.startswith("data: "):
                found.append((kind, json.loads(line.removeprefix("data: "))))
                if kind in until:
                    break
    return found


def started(client: httpx.Client, **change: Any) -> str:
    """Start a run, after ending one that is under way."""
    request = {"task": "index-lookup", "length": 4, "architecture": "TF", "width": 8, "steps": 20, "batch": 8,
               "evaluate_every": 5, "parameters": {"alphabet": "2"}, **change}  # fmt: skip
    while (response := client.post("/api/training", json=request)).status_code == 429:
        for each in client.get("/api/training").json()["trainings"]:
            client.delete(f"/api/training/{each['training']}")
        time.sleep(0.1)
    assert response.status_code == 202, response.text
    return str(listings.TrainingReply.model_validate(response.json()).training)


def test_a_run_is_watched_recorded_and_compared(client: httpx.Client) -> None:
    name = started(client)
    told = events_of(client, name, ("ended", "failed", "stopped"))
    assert told[-1][0] == "ended", told[-1]
    points = [data["step"] for kind, data in told if kind == "point"]
    assert points and points == sorted(points)
    # Whoever comes later, or comes back, hears what was missed.
    assert [kind for kind, _ in events_of(client, name, ("ended",), after="0")] == [
        kind for kind, _ in told if kind != "step"
    ][1:]
    run = told[-1][1]["run"]
    listed = listings.RunsReply.model_validate(client.get("/api/runs").json())
    [found] = [each for each in listed.runs if each.name == run]
    ready = listings.ComparableReply.model_validate(client.get("/api/comparable?task=index-lookup").json())
    assert run in [each.name for each in ready.runs]
    assert client.get("/api/comparable?task=nothing").status_code == 422
    assert 0 in found.kept_steps and found.step in found.kept_steps
    whole = listings.RunReply.model_validate(client.get(f"/api/runs/{run[:10]}").json())
    assert [point.step for point in whole.curve] == points
    maps = []
    for step in (found.kept_steps[0], None):
        asked = {"run": run, "step": step, "input": {"seed": 3}}
        compared = replies.ComparisonReply.model_validate(finished(client, "POST", "/api/comparison", asked))
        assert compared.constructed is not None and compared.constructed.construction == "index-lookup"
        assert compared.share is not None and 0 <= compared.share <= 1
        assert sum(compared.trained.row) == pytest.approx(1, abs=1e-4)
        maps.append(compared.trained.map.data)
    assert maps[0] != maps[1]
    refused = client.post("/api/comparison", json={"run": run, "step": 3})
    assert refused.status_code == 422 and "kept no weights after 3 steps" in refused.json()["error"]
    # A whole name that no run has is missing; so it is when the store is there.
    for unknown in (client.get("/api/runs/0123456789abcdef"), client.post("/api/comparison", json={"run": "0" * 16})):
        assert unknown.status_code == 404 and "no run of the store is named" in unknown.json()["error"]


def test_a_run_is_stopped_and_its_state_saved(client: httpx.Client, store: Path) -> None:
    name = started(client, steps=20_000, seed=5, architecture="LSTM", evaluate_every=20_000)
    second = client.post("/api/training", json={"task": "index-lookup", "length": 4, "architecture": "TF"})
    assert second.status_code == 429 and second.json()["kind"] == "busy"
    events_of(client, name, ("started", "failed"))
    assert client.delete(f"/api/training/{name}").json()["state"] == "stopping"
    assert events_of(client, name, ("ended", "failed", "stopped"))[-1][0] == "stopped"
    assert list(store.with_name("runs.files").glob("checkpoints/*.safetensors"))


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"architecture": "os.path:join"}, "input"),
        ({"architecture": "fla:GLA"}, "input"),
        ({"architecture": "TF-(1,64),os:x"}, "input"),
        ({"steps": 10**6}, "limit"),
        ({"width": 4096}, "limit"),
        ({"length": 5000}, "limit"),
        ({"task": "none"}, "input"),
        ({"learning_rate": 0}, "input"),
    ],
)
def test_runs_that_are_not_for_a_page_are_refused(client: httpx.Client, change: dict[str, Any], kind: str) -> None:
    request = {"task": "index-lookup", "length": 4, "architecture": "TF", **change}
    response = client.post("/api/training", json=request)
    assert response.status_code == 422 and response.json()["kind"] == kind


@pytest.mark.parametrize("step", ["..", "%2e%2e", "..%2f..", "..%5c..", "....//..", "..;", "%252e%252e", "..%00"])
def test_no_path_leads_out_of_the_pages_files(address: str, step: str) -> None:
    host, port = address.removeprefix("http://").split(":")
    for start, target in itertools.product(("/static/", "/api/", "/"), ("app.py", f"{step}/{step}/etc/passwd")):
        connection = http.client.HTTPConnection(host, int(port))  # which leaves a path as it is
        connection.request("GET", f"{start}{step}/{target}")
        answer = connection.getresponse()
        assert answer.status in (404, 405, 422)
        content = answer.read()
        assert b"from separatrix" not in content and b"root:" not in content
        connection.close()


def test_many_askers_are_answered_while_a_proof_runs(client: httpx.Client) -> None:
    """Every one of fifty pages gets its own answer; how fast is measured elsewhere."""
    job = client.post("/api/verdict", json={"setting": LONG}).json()["job"]
    setting = {"construction": "index-lookup", "length": 8}

    def ask(number: int) -> int:
        return int(finished(client, "POST", "/api/look", {"setting": setting, "position": number % 9})["position"])

    with ThreadPoolExecutor(50) as pool:
        assert list(pool.map(ask, range(50))) == [number % 9 for number in range(50)]
    client.delete(f"/api/jobs/{job}")
