"""The explorer's application: every address of the server, and what answers there."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Header, HTTPException, Query
from fastapi import Path as InPath
from fastapi import Request as HttpRequest
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException as StarletteHTTPException

from separatrix._version import __version__
from separatrix.errors import SeparatrixError
from separatrix.site.explorer import listings, replies
from separatrix.site.explorer.catalogs import catalog
from separatrix.site.explorer.computations import Computation
from separatrix.site.explorer.crew import Crew, Work
from separatrix.site.explorer.guard import Application, Guard, Hosts
from separatrix.site.explorer.jobs import Jobs, Ticket
from separatrix.site.explorer.limits import STATUS, ExplorerError, Kind, Limits
from separatrix.site.explorer.problems import in_words
from separatrix.site.explorer.requests import (
    Compare,
    Converse,
    Decide,
    Identifier,
    Look,
    Name,
    Request,
    RunName,
    Train,
)
from separatrix.site.explorer.runs import comparable_runs, list_runs, one_run
from separatrix.site.explorer.streams import Streams
from separatrix.site.explorer.training import Training
from separatrix.site.html import asset
from separatrix.tasks import tasks

TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}  # fmt: skip
ABOUT = (
    "Everything that the explorer's page uses. Computations that take longer than a moment are answered with 202 and a "
    "job, which is asked for, listened to or cancelled under /api/jobs. All limits are those of the server's command "
    "line and are explained in the replies."
)
JobName = Annotated[Identifier, InPath(description="The name of a job, from a reply with status 202.")]
TrainingName = Annotated[Identifier, InPath(description="The name of a run in training.")]
TaskName = Annotated[Name, Query(description="The name of a task.")]
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": replies.Problem, "description": about}
    for status, about in (
        (403, "Not allowed to this page."), (408, "The request took too long to arrive."),
        (413, "The request is too large."), (422, "The request makes no sense, or is beyond a limit."),
        (429, "Too much is going on."),
    )
}  # fmt: skip
MISSING: dict[int | str, dict[str, Any]] = {404: {"model": replies.Problem, "description": "There is no such thing."}}
STREAM: dict[int | str, dict[str, Any]] = {
    200: {"description": "Server-sent events.", "content": {"text/event-stream": {"schema": {"type": "string"}}}}
}


@dataclass(frozen=True)
class Parts:
    """What the routes share."""

    store: Path
    limits: Limits
    crew: Crew
    jobs: Jobs
    training: Training
    streams: Streams
    catalog: dict[str, Any]


def make_app(store: Path, limits: Limits, hosts: Hosts) -> Application:
    """The guarded application of one server."""
    return Guard(make_api(store, limits), hosts)  # type: ignore[arg-type]


def make_api(store: Path, limits: Limits) -> FastAPI:
    """The application without its guard, with its OpenAPI description."""
    crew = Crew(store, limits)
    parts = Parts(store, limits, crew, Jobs(crew), Training(store, limits), Streams(), catalog(limits))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        await crew.start()
        sweeper = asyncio.create_task(parts.jobs.sweep())
        try:
            yield
        finally:
            sweeper.cancel()
            crew.close()
            await parts.training.close()

    app = FastAPI(
        title="Separatrix explorer", version=__version__, description=ABOUT, lifespan=lifespan,
        docs_url=None, redoc_url=None, openapi_url="/api/openapi.json", responses=PROBLEMS,
    )  # fmt: skip
    _add_handlers(app)
    _add_page(app)
    _add_computations(app, parts)
    _add_jobs(app, parts)
    _add_runs(app, parts)
    _add_training(app, parts)
    return app


# -- errors ------------------------------------------------------------------------------------------------


def _problem(kind: Kind, message: str, status: int | None = None) -> JSONResponse:
    headers = {"Retry-After": "2"} if kind == "busy" else None
    return JSONResponse({"error": message, "kind": kind}, status or STATUS[kind], headers)


def _add_handlers(app: FastAPI) -> None:
    @app.exception_handler(SeparatrixError)
    async def refused(_: HttpRequest, error: SeparatrixError) -> JSONResponse:  # pyright: ignore[reportUnusedFunction]
        return _problem(error.kind if isinstance(error, ExplorerError) else "input", str(error))

    @app.exception_handler(RequestValidationError)
    async def invalid(_: HttpRequest, error: RequestValidationError) -> JSONResponse:  # pyright: ignore[reportUnusedFunction]
        return _problem("input", in_words(error.errors()))

    @app.exception_handler(StarletteHTTPException)
    async def other(_: HttpRequest, error: StarletteHTTPException) -> JSONResponse:  # pyright: ignore[reportUnusedFunction]
        kind: Kind = "missing" if error.status_code == 404 else "input"
        response = _problem(kind, str(error.detail), 422 if error.status_code == 400 else error.status_code)
        response.headers.update(error.headers or {})
        return response


# -- the page ----------------------------------------------------------------------------------------------


def _add_page(app: FastAPI) -> None:
    folder = resources.files("separatrix.site.explorer") / "static"
    # Read once: what is served is this list of files, whatever a request asks for.
    files = {each.name: each.read_bytes() for each in folder.iterdir() if Path(each.name).suffix in TYPES}
    # The look is that of the static site, and so are the buttons that copy commands.
    files |= {name: asset(name).encode() for name in ("site.css", "site.js", "mark.svg")}

    def file(name: str) -> Response:
        if name not in files:
            raise HTTPException(404, f"there is no file {name[:60]}")
        return Response(files[name], media_type=TYPES[Path(name).suffix], headers={"Cache-Control": "no-cache"})

    @app.get("/", include_in_schema=False)
    async def page() -> Response:  # pyright: ignore[reportUnusedFunction]
        return file("index.html")

    @app.get("/static/{name}", include_in_schema=False)
    async def static(name: str) -> Response:  # pyright: ignore[reportUnusedFunction]
        return file(name)


# -- computations ------------------------------------------------------------------------------------------


def _computed(kind: Computation, model: type[replies.Reply]) -> dict[str, Any]:
    """How a computation is described."""
    return {
        "path": f"/api/{kind}",
        "response_model": None,
        "responses": {
            200: {"model": model, "description": "The reply."},
            202: {"model": replies.JobReply, "description": "It takes longer: a job."},
            **MISSING,
        },
    }


async def _ask(parts: Parts, kind: Computation, request: Request, asker: HttpRequest) -> Response:
    if isinstance(request, Look | Decide | Converse):
        parts.limits.check_length(request.setting.length)
    found = await parts.jobs.ask(kind, request.model_dump_json(), asker.is_disconnected)
    return _job_response(found, 202) if isinstance(found, Ticket) else _work_response(found)


def _work_response(work: Work) -> Response:
    if work.problem is not None:
        return _problem(*work.problem)
    return Response(work.reply, media_type="application/json", headers={"Cache-Control": "no-store"})


def _job_response(ticket: Ticket, status: int = 200) -> Response:
    return Response(ticket.as_json(), status, media_type="application/json", headers={"Cache-Control": "no-store"})


def _add_computations(app: FastAPI, parts: Parts) -> None:
    @app.get("/api/catalog", response_model=listings.Catalog)
    async def everything() -> dict[str, Any]:  # pyright: ignore[reportUnusedFunction]
        """All constructions, tasks, codes and limits."""
        return parts.catalog

    @app.get(**_computed("architectures", listings.Architectures))
    async def architectures(asker: HttpRequest) -> Response:  # pyright: ignore[reportUnusedFunction]
        """All architectures that may be trained from the page."""
        return await _ask(parts, "architectures", Request(), asker)

    @app.post(**_computed("look", replies.LookReply))
    async def look(request: Look, asker: HttpRequest) -> Response:  # pyright: ignore[reportUnusedFunction]
        """Run one input: attention, margin, answers, and one position's slots after every layer."""
        return await _ask(parts, "look", request, asker)

    @app.post(**_computed("verdict", replies.VerdictReply))
    async def verdict(request: Decide, asker: HttpRequest) -> Response:  # pyright: ignore[reportUnusedFunction]
        """Decide a claim for every input: certified, refuted with the input that breaks it, or undecided."""
        return await _ask(parts, "verdict", request, asker)

    @app.post(**_computed("threshold", replies.ThresholdReply))
    async def threshold(request: Decide, asker: HttpRequest) -> Response:  # pyright: ignore[reportUnusedFunction]
        """Find the smallest η that is certified."""
        return await _ask(parts, "threshold", request, asker)

    @app.post(**_computed("protocol", replies.ProtocolReply))
    async def protocol(request: Converse, asker: HttpRequest) -> Response:  # pyright: ignore[reportUnusedFunction]
        """Let Alice and Bob compute the network by exchanging bits."""
        return await _ask(parts, "protocol", request, asker)

    @app.post(**_computed("comparison", replies.ComparisonReply))
    async def comparison(request: Compare, asker: HttpRequest) -> Response:  # pyright: ignore[reportUnusedFunction]
        """Put a trained model's attention beside a construction's."""
        return await _ask(parts, "comparison", request, asker)


def _add_jobs(app: FastAPI, parts: Parts) -> None:
    @app.get("/api/jobs/{name}", response_model=None, responses={200: {"model": replies.JobReply}, **MISSING})
    async def job(name: JobName) -> Response:  # pyright: ignore[reportUnusedFunction]
        """How far a computation is, and its reply once it is done."""
        return _job_response(parts.jobs.find(name))

    @app.get("/api/jobs/{name}/events", response_model=None, responses={**STREAM, **MISSING})
    async def job_events(name: JobName) -> Response:  # pyright: ignore[reportUnusedFunction]
        """Server-sent events `progress` and `end`, each with the job."""
        parts.jobs.find(name)
        return parts.streams.response(parts.jobs.events(name))

    @app.delete("/api/jobs/{name}", response_model=None, responses={200: {"model": replies.JobReply}, **MISSING})
    async def cancel_job(name: JobName) -> Response:  # pyright: ignore[reportUnusedFunction]
        """Cancel a computation."""
        return _job_response(parts.jobs.cancel(name))


# -- the store and training --------------------------------------------------------------------------------


def _add_runs(app: FastAPI, parts: Parts) -> None:
    @app.get("/api/runs", response_model=listings.RunsReply)
    def runs() -> dict[str, Any]:  # pyright: ignore[reportUnusedFunction]
        """The newest runs of the store."""
        return list_runs(parts.store)

    @app.get("/api/comparable", response_model=listings.ComparableReply, responses=MISSING)
    def comparable(task: TaskName) -> dict[str, Any]:  # pyright: ignore[reportUnusedFunction]
        """The runs of a task whose weights are there, so that their attention can be shown."""
        return comparable_runs(parts.store, tasks()[task].name, parts.limits)

    @app.get("/api/runs/{name}", response_model=listings.RunReply, responses=MISSING)
    def run(name: RunName) -> dict[str, Any]:  # pyright: ignore[reportUnusedFunction]
        """One run with its curve."""
        return one_run(parts.store, name)


def _add_training(app: FastAPI, parts: Parts) -> None:
    training = parts.training

    @app.get("/api/training", response_model=listings.TrainingsReply)
    async def all_training() -> dict[str, Any]:  # pyright: ignore[reportUnusedFunction]
        """The runs that this server started."""
        return {"trainings": [each.as_json() for each in training.all()]}

    @app.post("/api/training", response_model=listings.TrainingReply, status_code=202, responses=MISSING)
    async def start_training(request: Train) -> dict[str, Any]:  # pyright: ignore[reportUnusedFunction]
        """Start a small run; its events tell its curve."""
        return (await training.start(request)).as_json()

    @app.get("/api/training/{name}", response_model=listings.TrainingReply, responses=MISSING)
    async def one_training(name: TrainingName) -> dict[str, Any]:  # pyright: ignore[reportUnusedFunction]
        """Where a run stands."""
        return training.find(name).as_json()

    @app.get("/api/training/{name}/events", response_model=None, responses={**STREAM, **MISSING})
    async def training_events(  # pyright: ignore[reportUnusedFunction]
        name: TrainingName, last_event_id: Annotated[str | None, Header(max_length=12, pattern=r"^\d+$")] = None
    ) -> Response:
        """Server-sent events: `described`, `started`, `step`, `point`, `kept`, `said`, then `ended`, `stopped` or
        `failed`; after a lost connection only what came since."""
        training.find(name)
        first = 0 if last_event_id is None else int(last_event_id) + 1
        return parts.streams.response(training.events(name, first))

    @app.delete("/api/training/{name}", response_model=listings.TrainingReply, responses=MISSING)
    async def stop_training(name: TrainingName) -> dict[str, Any]:  # pyright: ignore[reportUnusedFunction]
        """Stop a run; its state is saved."""
        return training.stop(name).as_json()
