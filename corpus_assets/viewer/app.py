"""The viewer as a web application: the pages by address, and answers if a page cannot be shown."""

import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from corpus_assets.html.pages import SCRIPT, STYLE, render, static
from corpus_assets.viewer import browse, config, overview, plan, report, states
from corpus_assets.viewer.changes import past, what_if
from corpus_assets.viewer.documents import benchmarks, duplicates, search, why
from corpus_assets.viewer.documents import page as documents
from corpus_assets.viewer.guard import Guard
from corpus_assets.viewer.listing import facets
from corpus_assets.viewer.listing import page as listing
from corpus_assets.viewer.opened import Opened, View
from corpus_assets.viewer.papers import card, origins
from corpus_assets.viewer.query import Query, RefusedError
from corpus_assets.viewer.site import BASE, Asked, Page, seen
from corpus_assets.viewer.tokens import page as tokens
from resources.errors import ConfigError, NotBuiltError, StorageError, is_of_the_machine
from resources.system_errors import error_words

PAGES: tuple[tuple[str, Page], ...] = (
    ("/", overview.overview),
    ("/assets/{asset}", browse.asset),
    ("/assets/{asset}/{partition:path}", browse.partition),
    ("/documents", listing.listing),
    ("/documents/{asset}/{partition:path}", documents.document),
    ("/facets", facets.facets),
    ("/search", search.search),
    ("/why", why.why),
    ("/duplicates", duplicates.clusters),
    ("/duplicates/{shard:path}", duplicates.cluster),
    ("/benchmarks", benchmarks.benchmarks),
    ("/benchmarks/{benchmark}", benchmarks.items),
    ("/card", card.card),
    ("/origins", origins.origins),
    ("/tokens", tokens.datasets),
    ("/tokens/{dataset}", tokens.rows),
    ("/plan", plan.plan),
    ("/what-if", what_if.what_if),
    ("/changes", past.changes),
    ("/config", config.configuration),
    ("/report", report.report),
)
_HEADINGS = {400: "This request is not valid", 404: "There is no such thing"}
_TYPES = {".css": "text/css", ".js": "text/javascript"}
_LOG = logging.getLogger("corpus.viewer")
Endpoint = Callable[[Request], Awaitable[Response]]


def viewer(file: Path, host: str, *, alone: bool = True) -> Starlette:
    """Returns the application below `/corpus`. file: the corpus.yaml. host: the address that is listened on.

    alone: False inside the Dagster web UI.
    """
    opened = Opened(file)
    opened.warm()
    routes: list[BaseRoute] = [Route(path, _endpoint(opened, page, alone)) for path, page in PAGES]
    routes.append(Route("/static/{name}", _static))
    return Starlette(
        routes=routes,
        middleware=[Middleware(Guard, host=host)],
        exception_handlers={HTTPException: _unknown, Exception: _broken},
    )


def standing_alone(file: Path, host: str) -> Starlette:
    """Returns the application of `corpus view`, whose only other address leads to the viewer."""
    to_viewer = Route("/", lambda _: RedirectResponse(f"{BASE}/"))
    return Starlette(routes=[Mount(BASE, viewer(file, host)), to_viewer], middleware=[Middleware(Guard, host=host)])


def _endpoint(opened: Opened, page: Page, alone: bool) -> Endpoint:
    def answer(request: Request) -> Response:
        try:
            view = opened.view()
        except (ConfigError, OSError) as error:
            return _said(503, f"The configuration cannot be used now. {error}")
        asked = Asked(view, request.path_params, Query(request.query_params), alone)
        try:
            return _answer(page, asked)
        except RefusedError as error:
            return _said(error.status, str(error))
        except ConfigError as error:
            return _of_configuration(view, error)
        except (StorageError, OSError) as error:  # Of the machine or of a store: it says nothing of a file.
            return _said(503, error_words(error))

    async def endpoint(request: Request) -> Response:
        return await run_in_threadpool(answer, request)

    return endpoint


def _answer(page: Page, asked: Asked) -> Response:
    """Returns a page; for a partition that is not built or cannot be read, a page that explains this."""
    try:
        made = page(asked)
    except NotBuiltError as error:
        made = states.unbuilt(asked, error)
    except ConfigError:
        raise
    except states.UNREADABLE as error:
        if is_of_the_machine(error):
            raise
        made = states.damaged(asked, error)
    return made if isinstance(made, Response) else html(made)


def _of_configuration(view: View, error: ConfigError) -> Response:
    """Returns what is said to a request that is refused: of the configuration, if nothing can be planned with it."""
    try:
        view.planner()
    except ConfigError as fault:
        return _said(503, f"The configuration cannot be used now. {fault}")
    return _said(404, str(error))  # Tracing raises this for an invalid request.


def html(content: str, status: int = 200) -> Response:
    """Returns a page as an answer; characters that are no valid UTF-8 become question marks."""
    return Response(content.encode("utf-8", "replace"), status, media_type="text/html; charset=utf-8")


def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in {STYLE, SCRIPT}:
        return _said(404, "There is no such file.")
    return Response(static(name), media_type=_TYPES[Path(name).suffix])


def _said(status: int, message: str) -> Response:
    heading = _HEADINGS.get(status, "This cannot be shown")
    values = {"static": f"{BASE}/static", "base": BASE, "heading": heading, "message": seen(message)}
    return html(render("corpus_assets.viewer", "error.html", **values), status)


async def _unknown(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return _said(status, "There is no such page." if status == 404 else "This cannot be answered.")


async def _broken(request: Request, error: Exception) -> Response:
    _LOG.error("%s: %s", request.url.path, error, exc_info=error)
    return _said(500, f"The page could not be made: {type(error).__name__}. The terminal of the viewer says more.")
