"""The explorer's application: every address of the server and what it answers."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, HTTPException, Query
from fastapi import Request as HttpRequest
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware

from separatrix._version import __version__
from separatrix.errors import SeparatrixError
from separatrix.site.explorer import replies
from separatrix.site.explorer.catalogs import catalog
from separatrix.site.explorer.computing import Computation, Pools
from separatrix.site.explorer.limits import STATUS, ExplorerError, Kind, Limits
from separatrix.site.explorer.requests import Compare, Converse, Decide, Look, Name, Request, faults
from separatrix.site.explorer.runs import list_runs
from separatrix.site.explorer.security import SameOrigin
from separatrix.site.html import asset

TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}  # fmt: skip
ABOUT = (
    "Everything that the explorer's page uses. A request stays open until its computation is done; closing the "
    "connection kills the computation."
)
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": replies.Problem, "description": about}
    for status, about in (
        (403, "Refused."), (404, "Unknown name."), (413, "The request is too large."),
        (422, "Bad input, or beyond a limit."),
    )
}  # fmt: skip
COMPUTATIONS: dict[Computation, tuple[type[Request], type[replies.Reply], str]] = {
    "look": (Look, replies.LookReply, "Run one input: attention, margin, answers, one position's slots."),
    "margins": (Look, replies.MarginsReply, "Run one input at several η: how far it is from a wrong answer."),
    "protocol": (Converse, replies.ProtocolReply, "Let Alice and Bob compute the network by exchanging bits."),
    "verdict": (Decide, replies.VerdictReply, "Decide a claim for every input."),
    "threshold": (Decide, replies.ThresholdReply, "Find the smallest certified η."),
    "comparison": (Compare, replies.ComparisonReply, "Compare a trained model's attention with a construction's."),
}
"""What is computed in a process: its request, its reply, and what it does."""


def make_app(store: Path, limits: Limits, hosts: Sequence[str], atlas: Path | None = None) -> FastAPI:
    """Return the application of one server; a built ``atlas`` is served under /atlas/.

    Its ``state.give_up`` ends all computations, which a server that ends would wait for.
    """
    pools: list[Pools] = []

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        pools.append(Pools(store, limits))
        try:
            yield
        finally:
            pools.pop().close()

    def give_up() -> None:
        for each in pools:
            each.ending = True

    app = FastAPI(
        title="Separatrix explorer", version=__version__, description=ABOUT, lifespan=lifespan,
        docs_url=None, redoc_url=None, openapi_url="/api/openapi.json", responses=PROBLEMS,
    )  # fmt: skip
    app.state.give_up = give_up
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=list(hosts), www_redirect=False)
    app.add_middleware(SameOrigin)
    app.add_exception_handler(SeparatrixError, _refused)
    app.add_exception_handler(RequestValidationError, _refused)
    app.add_exception_handler(StarletteHTTPException, _refused)
    has_atlas = atlas is not None and (atlas / "index.html").is_file()
    offered = {**catalog(limits), "atlas": has_atlas}
    files = _files()

    @app.get("/", include_in_schema=False)
    @app.get("/static/{name}", include_in_schema=False)
    async def file(name: str = "index.html") -> Response:  # pyright: ignore[reportUnusedFunction]
        if name not in files:
            raise HTTPException(404, f"no file {name[:60]}")
        return Response(files[name], media_type=TYPES[Path(name).suffix], headers={"Cache-Control": "no-cache"})

    if has_atlas:
        app.mount("/atlas", StaticFiles(directory=str(atlas), html=True), "atlas")

    @app.get("/api/catalog")
    async def everything() -> dict[str, Any]:  # pyright: ignore[reportUnusedFunction]
        """List constructions, codes, limits, words and errata."""
        return offered

    @app.get("/api/runs")
    def runs(task: Annotated[Name | None, Query()] = None) -> replies.RunsReply:  # pyright: ignore[reportUnusedFunction]
        """List the newest recorded runs, of one task or of all."""
        return list_runs(store, task, limits)

    for kind, (model, reply, about) in COMPUTATIONS.items():
        endpoint = _endpoint(kind, model, pools)
        app.post(f"/api/{kind}", response_model=reply, summary=about, operation_id=kind)(endpoint)
    return app


def _endpoint(kind: Computation, model: type[Request], pools: list[Pools]) -> Callable[..., Awaitable[Response]]:
    async def answer(request: Request, client: HttpRequest) -> Response:
        reply = await pools[0].answer(kind, request, client)
        return Response(reply, media_type="application/json", headers={"Cache-Control": "no-store"})

    answer.__annotations__["request"] = model  # FastAPI reads the body's type here
    return answer


def _files() -> dict[str, bytes]:
    """Read the page's files, and those that it shares with the atlas; nothing else is served."""
    folder = resources.files("separatrix.site.explorer") / "static"
    own = {each.name: each.read_bytes() for each in folder.iterdir() if Path(each.name).suffix in TYPES}
    return own | {name: asset(name).encode() for name in ("site.css", "site.js", "mark.svg")}


async def _refused(_: HttpRequest, error: Exception) -> JSONResponse:
    """Answer every error with one line and its kind."""
    kind: Kind = error.kind if isinstance(error, ExplorerError) else "input"
    if isinstance(error, StarletteHTTPException):
        kind = "missing" if error.status_code == 404 else "limit" if error.status_code == 413 else "input"
        status = 422 if error.status_code == 400 else error.status_code
        return JSONResponse({"error": str(error.detail), "kind": kind}, status, error.headers)
    message = faults(error.errors()) if isinstance(error, RequestValidationError) else str(error)
    return JSONResponse({"error": message, "kind": kind}, STATUS[kind])
