"""The application: no globals, everything from its settings."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Route
from starlette.staticfiles import StaticFiles

from sottovoce.campaign.inferring import inferring
from sottovoce.campaign.lifecycle import closing
from sottovoce.campaign.live.lifecycle import tending
from sottovoce.campaign.notifying import notifying
from sottovoce.campaign.rejecting import rejecting
from sottovoce.campaign.sealed.watching import advancing
from sottovoce.campaign.service import Service
from sottovoce.stores.database.results import unfinished
from sottovoce.version import __version__
from sottovoce.web import reference
from sottovoce.web.headers import SecurityHeaders
from sottovoce.web.metrics import Metrics
from sottovoce.web.observing import Observed, Observing
from sottovoce.web.prefixing import Prefixed
from sottovoce.web.problems import PROBLEMS, add_handlers
from sottovoce.web.routes import (
    campaigns,
    exports,
    forecasts,
    health,
    invites,
    live,
    live_members,
    overviews,
    pages,
    rejections,
    reports,
    requester_pages,
    results,
    rounds,
    sealed,
    tasks,
    tokens,
    webhooks,
    worker,
)
from sottovoce.web.settings import Settings

__all__ = ["build_app"]

# Routes are tried in this order, and most requests bring reports.
API = (
    reports, tokens, campaigns, tasks, invites, worker, results, overviews, rejections, exports,
    forecasts, webhooks, sealed, rounds, live_members, live,
)  # fmt: skip
VERSION_ONE = "/api/v1"
STATIC = Path(__file__).parent / "static"
QUIET = frozenset({"worker", "keyholder", "member", "health", "files"})
"""Routes that leave no line: a worker's would put a time beside a report, others say little."""

SELDOM = 15
"""Seconds between two looks that cost a query."""

log = logging.getLogger("sottovoce.web")


def build_app(settings: Settings) -> FastAPI:
    """The service over HTTP. The database must have this release's schema."""
    metrics = Metrics()
    app = FastAPI(
        title=reference.TITLE,
        version=__version__,
        lifespan=_lifespan(settings, metrics),
        docs_url=None,
        redoc_url=None,
        openapi_url=f"{VERSION_ONE}/openapi.json",
        responses=PROBLEMS,
        redirect_slashes=False,  # a redirect would repeat whatever Host was sent
    )
    app.state.settings, app.state.metrics = settings, metrics
    add_handlers(app)
    observed: dict[Any, Observed] = {}
    for module in API:
        app.include_router(module.router, prefix=VERSION_ONE)
        observed |= _observed(module.router, VERSION_ONE)
    for router in (health.router, reference.router, pages.router, requester_pages.router):
        app.include_router(router)
        observed |= _observed(router, "")
    static = GZipMiddleware(StaticFiles(directory=STATIC))  # a phone loads a third of the bytes
    app.mount("/static", static)
    observed[static] = Observed("/static/{file}", is_quiet=True)
    reference.describe(app)
    observed |= _observed(app.router, "")
    # The last is the outermost.
    app.add_middleware(Observing, metrics=metrics, routes=observed)
    app.add_middleware(SecurityHeaders, settings=settings)
    app.add_middleware(Prefixed, prefix=settings.prefix)
    return app


def _lifespan(settings: Settings, metrics: Metrics) -> Callable[[FastAPI], Any]:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        with ExitStack() as stack:
            service = Service.on(settings.database())
            stack.callback(service.close)
            stack.enter_context(rejecting(service))
            stack.enter_context(inferring(service))
            stack.enter_context(notifying(service))
            stack.enter_context(closing(service))
            stack.enter_context(advancing(service))
            stack.enter_context(tending(service))
            app.state.service = service
            sampling = asyncio.create_task(_sample(service, metrics))
            log.info("started")
            yield
            sampling.cancel()
            await run_in_threadpool(stack.close)
            log.info("stopped")

    return lifespan


async def _sample(service: Service, metrics: Metrics) -> None:
    """What is not counted but looked at: what waits to be written, and to be inferred."""
    for second in count():
        metrics.waiting.set(service.writer.waiting)
        if second % SELDOM == 0:
            with suppress(SQLAlchemyError):
                metrics.behind.set(await run_in_threadpool(_behind, service))
        await asyncio.sleep(1)


def _behind(service: Service) -> int:
    with service.database.reading() as connection:
        return len(unfinished(connection))


def _observed(router: APIRouter, prefix: str) -> dict[Any, Observed]:
    """How the requests of each route are told."""
    return {
        route.endpoint: Observed(
            prefix + route.path,
            is_quiet=not QUIET.isdisjoint(getattr(route, "tags", ())),
            takes_reports=route.endpoint is reports.put_report,
        )
        for route in router.routes
        if isinstance(route, Route)
    }
