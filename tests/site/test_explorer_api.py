"""The explorer's server: right replies, limits that hold, and refusals for pages of other origins."""

import itertools
import json
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tools.running_server import running_server

from separatrix.constructions import constructions
from separatrix.site.explorer import replies
from separatrix.site.explorer.app import make_app
from separatrix.site.explorer.limits import Limits

LONG = {"construction": "dyck-transformer", "length": 512, "parameters": {"depth": "12"}}
"""Takes half a minute to decide."""
HANGING = 600
"""Seconds after which a request is taken to hang; none takes as long, however busy the machine."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("explorer")
    (folder / "atlas").mkdir()
    (folder / "atlas" / "index.html").write_text("the atlas")
    (folder / "secret.txt").write_text("secret")
    options = ("--max-length", "1024", "--max-seconds", "600", "--atlas", str(folder / "atlas"))
    with running_server(folder / "runs.sqlite", *options) as found:
        yield found


@pytest.fixture(scope="module")
def client(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, timeout=HANGING) as found:
        yield found


def asked(client: httpx.Client, kind: str, **body: Any) -> Any:
    """The reply of a computation."""
    response = client.post(f"/api/{kind}", json=body)
    assert response.status_code == 200, response.text
    return response.json()


# -- replies -----------------------------------------------------------------------------------------------


def test_catalog_lists_every_construction_and_the_limits(client: httpx.Client) -> None:
    found = client.get("/api/catalog").json()
    assert [each["name"] for each in found["constructions"]] == list(constructions())
    assert found["limits"]["max_length"] == 1024 and found["atlas"] is True
    assert client.get("/atlas/index.html").text == "the atlas"


def test_a_claim_is_refuted_when_the_gain_falls_and_certified_when_it_is_back(client: httpx.Client) -> None:
    setting = {"construction": "index-lookup", "length": 32}
    own = asked(client, "look", setting=setting)["own_gain"]
    states = []
    for share in (Fraction(1), Fraction(2, 5), Fraction(1)):
        changed = {**setting, "gain": str(Fraction(own) * share)}
        found = replies.VerdictReply.model_validate(asked(client, "verdict", setting=changed))
        states.append(found.state)
        if found.counterexample is not None:
            # The input that breaks the claim, run as a person would who copies it from the page.
            run = asked(client, "look", setting=changed, input={"text": found.counterexample.text})
            assert [each["right"] for each in run["answers"]] == [False]
            assert run["margin"]["value"] < 0
    assert states == ["certified", "refuted", "certified"]


def test_smallest_certified_gain_has_a_refused_one_below(client: httpx.Client) -> None:
    setting = {"construction": "index-lookup", "length": 16}
    found = replies.ThresholdReply.model_validate(asked(client, "threshold", setting=setting))
    verdicts = [
        asked(client, "verdict", setting={**setting, "gain": gain})["state"]
        for gain in (found.smallest_gain, found.tried_below)
    ]
    assert verdicts[0] == "certified" and verdicts[1] != "certified"
    assert found.share < 1


def test_protocol_with_a_chosen_partition(client: httpx.Client) -> None:
    body = {"setting": {"construction": "index-lookup", "length": 8}, "partition": "0,3,7"}
    found = replies.ProtocolReply.model_validate(asked(client, "protocol", **body))
    assert found.alice == [0, 3, 7] and found.equal and found.answer == found.direct_answer
    assert found.total_bits == sum(each.length for each in found.messages) <= found.claimed_bits
    body = {"setting": {"construction": "dyck-rnn", "length": 8}, "partition": "cut:3"}
    found = replies.ProtocolReply.model_validate(asked(client, "protocol", **body))
    assert found.needs_cut and [each.sender for each in found.messages] == ["Alice"] and found.equal


# -- limits and errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"length": 1025}, "--max-length"),
        ({"construction": "index-lokup"}, "index-lookup"),
        ({"gain": "0"}, "η"),
        ({"gain": "1e9"}, "1e9"),
        ({"max_inner": "abc"}, "abc"),
        ({"family": "nonsense"}, "nonsense"),
        ({"max_inner": "7/4"}, "7/4"),
        ({"parameters": {"alphabet": "x"}}, "alphabet"),
        ({"parameters": {"alphabet": "100000000000"}}, "alphabet"),
        ({"variant": "paper"}, "variant"),
        ({"exponent": 99}, "Precision Kc"),
        ({"module": "os:system"}, "module"),
        ({"length": "16"}, "Length N"),
    ],
)
def test_bad_settings_are_refused_in_one_line_that_names_the_value(
    client: httpx.Client, change: dict[str, Any], said: str
) -> None:
    setting = {"construction": "index-lookup", "length": 16, **change}
    for path in ("look", "verdict", "protocol"):
        response = client.post(f"/api/{path}", json={"setting": setting})
        assert response.status_code == 422
        problem = replies.Problem.model_validate(response.json())
        assert said in problem.error and "\n" not in problem.error
        assert problem.kind == ("limit" if said.startswith("--") else "input")


def test_inputs_that_are_typed_wrongly_are_refused(client: httpx.Client) -> None:
    setting = {"construction": "index-lookup", "length": 16}
    for text, said in (("a b c", "17"), ("€" * 17, "€"), ("", "0"), ("a " * 16 + "@99", "@99")):
        response = client.post("/api/look", json={"setting": setting, "input": {"text": text}})
        assert response.status_code == 422 and said in response.json()["error"]
    # An input of the right form that breaks the promise is run, but no answer is called right.
    setting = {"construction": "associative-recall", "length": 2}
    found = asked(client, "look", setting=setting, input={"text": "k1 0 k1 1 k1"})
    assert not found["input"]["promised"] and found["margin"] is None


def test_a_client_that_leaves_ends_its_computation(client: httpx.Client) -> None:
    """The process that computed for it is killed, and another takes its place."""
    setting = {"construction": "index-lookup", "length": 8}
    asked(client, "verdict", setting=setting)  # the processes for proofs are there from now on
    before = psutil.Process().children(recursive=True)
    with pytest.raises(httpx.ReadTimeout):
        client.post("/api/verdict", json={"setting": LONG}, timeout=httpx.Timeout(HANGING, read=1))
    # Others are answered meanwhile.
    assert asked(client, "look", setting={"construction": "equality", "length": 8})
    until = time.monotonic() + HANGING
    while all(map(psutil.Process.is_running, before)) and time.monotonic() < until:
        time.sleep(0.02)
    assert sum(map(psutil.Process.is_running, before)) == len(before) - 1
    assert asked(client, "verdict", setting=setting)["state"] == "certified"


def test_a_server_that_is_interrupted_while_it_computes_ends_without_a_word(tmp_path: Path) -> None:
    """The server's exit code and what it says are asserted where it ends."""
    body = json.dumps({"setting": LONG})
    with socket.socket() as asking:
        with running_server(tmp_path / "runs.sqlite", "--max-seconds", "600") as address:
            host, port = address.removeprefix("http://").split(":")
            asking.connect((host, int(port)))
            head = f"POST /api/verdict HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
            asking.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
            with httpx.Client(base_url=address, timeout=HANGING) as other:  # asked later, answered while it computes
                assert asked(other, "look", setting={"construction": "equality", "length": 8})
        assert asking.recv(12) == b"HTTP/1.1 403"


def test_many_questions_are_answered_while_proofs_run(client: httpx.Client) -> None:
    setting = {"construction": "index-lookup", "length": 8}

    def prove(length: int) -> None:
        with pytest.raises(httpx.ReadTimeout):
            client.post(
                "/api/verdict", json={"setting": {**LONG, "length": length}}, timeout=httpx.Timeout(HANGING, read=2)
            )

    with ThreadPoolExecutor(12) as pool:
        proofs = [pool.submit(prove, length) for length in (512, 510, 508)]
        looks = [pool.submit(asked, client, "look", setting=setting, position=number) for number in range(9)]
        assert [each.result()["position"] for each in looks] == list(range(9))
        for proof in proofs:
            proof.result()


@pytest.mark.parametrize(
    "path",
    ["/api/none", "/api/jobs/none", "/static/none.js", "/static/../app.py", "/static/..%2fapp.py",
     "/static/%2e%2e/%2e%2e/app.py", "/static/%2e%2e%2f%2e%2e%2fapp.py", "/docs", "/redoc", "/atlas/../secret.txt",
     "/atlas/..%2fsecret.txt", "/atlas/%2e%2e/secret.txt", "/atlas/..%5csecret.txt"],
)  # fmt: skip
def test_nothing_outside_of_the_page_is_served(client: httpx.Client, path: str) -> None:
    response = client.get(path)
    assert response.status_code == 404 and "secret" not in response.text
    assert replies.Problem.model_validate(response.json()).kind == "missing"


def test_an_unknown_run_is_missing(client: httpx.Client) -> None:
    response = client.post("/api/comparison", json={"run": "0123456789abcdef"})
    assert response.status_code == 404
    assert client.get("/api/runs").json()["runs"] == []


# -- who may ask -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8642", "127.0.0.1.evil.example", "localhost.evil.example", "192.168.0.1",
     "0x7f000001", "[::ffff:7f00:1]", "127.0.0.1@evil.example", "localhost evil.example"],
)  # fmt: skip
def test_a_name_that_was_rebound_is_refused(client: httpx.Client, host: str) -> None:
    setting = {"construction": "index-lookup", "length": 4}
    for response in (
        client.get("/api/catalog", headers={"Host": host}),
        client.post("/api/look", json={"setting": setting}, headers={"Host": host}),
    ):
        assert response.status_code == 400 and "constructions" not in response.text


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
    ],
)
def test_other_origins_are_refused(client: httpx.Client, headers: dict[str, str]) -> None:
    setting = {"construction": "index-lookup", "length": 4}
    for response in (
        client.get("/api/catalog", headers=headers),
        client.post("/api/look", json={"setting": setting}, headers=headers),
    ):
        assert response.status_code == 403
        assert response.json()["kind"] == "refused"


def test_a_link_to_the_page_may_be_followed_but_nothing_else(client: httpx.Client) -> None:
    followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert client.get("/", headers=followed).status_code == 200
    assert client.get("/api/runs", headers=followed).status_code == 403
    assert client.post("/", headers=followed).status_code == 403


def test_every_answer_carries_the_headers(client: httpx.Client) -> None:
    answers = [client.get(path) for path in ("/", "/static/main.js", "/api/catalog", "/api/none", "/atlas/index.html")]
    answers += [client.get("/", headers=each) for each in ({"Host": "evil.example"}, {"Origin": "null"})]
    for response in answers:
        policy = response.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
        assert "script-src 'self';" in policy and ("unsafe" in policy) == ("/atlas/" in str(response.url))
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


def test_no_request_makes_a_server_error(address: str) -> None:
    """Requests that the API's description allows, and such that it forbids."""
    described = schemathesis.openapi.from_dict(make_app(Path("nowhere.sqlite"), Limits(), ["localhost"]).openapi())
    checks = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
    operations = [found.ok() for found in described.get_all_operations()]
    assert operations
    for operation, mode in itertools.product(operations, GenerationMode):

        @given(case=operation.as_strategy(generation_mode=mode))
        @settings(max_examples=10, suppress_health_check=list(HealthCheck))
        def keeps_to_it(case: schemathesis.Case) -> None:
            case.call_and_validate(base_url=address, checks=checks, timeout=HANGING)

        try:
            keeps_to_it()
        except Unsatisfiable:  # of a request without parameters nothing can be wrong
            assert mode is GenerationMode.NEGATIVE and operation.method == "get"
