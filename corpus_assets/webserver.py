"""The Dagster web server with the viewer at `/corpus`; `corpus ui` runs it in place of Dagster's own."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster_webserver.app as dagster_app
from dagster_webserver.cli import main
from dagster_webserver.webserver import DagsterWebserver
from starlette.responses import RedirectResponse
from starlette.routing import BaseRoute, Mount, Route

from corpus_assets.addresses import HOST_VARIABLE
from corpus_assets.corpus.corpus import CONFIG_VARIABLE
from corpus_assets.viewer.app import viewer
from corpus_assets.viewer.guard import Guard
from corpus_assets.viewer.site import BASE
from resources.processes.collector import calm_collector


class CorpusWebserver(DagsterWebserver[Any, Any]):
    """Dagster's web server, whose last route takes every address: so the viewer's comes before them."""

    def build_routes(self) -> list[BaseRoute]:
        """Returns the viewer's route and Dagster's."""
        host = os.environ.get(HOST_VARIABLE, "127.0.0.1")
        pages = viewer(Path(os.environ[CONFIG_VARIABLE]), host, alone=False)
        to_pages = Route(BASE, lambda _: RedirectResponse(f"{BASE}/"))
        theirs: Callable[[], list[BaseRoute]] = super().build_routes
        return [to_pages, Mount(BASE, Guard(pages, host)), *theirs()]


if __name__ == "__main__":
    calm_collector()
    vars(dagster_app)["DagsterWebserver"] = CorpusWebserver
    serve: Callable[[], None] = main
    serve()
