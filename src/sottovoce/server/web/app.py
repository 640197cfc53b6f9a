"""Builds the application from its settings, without globals."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import count
from typing import Any

from fastapi import APIRouter, FastAPI
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Route
from starlette.staticfiles import StaticFiles

from sottovoce.hooks import filled
from sottovoce.server.campaigns.lifecycle import scheduled_closing
from sottovoce.server.campaigns.rejections import rejection_writer
from sottovoce.server.campaigns.webhooks import webhook_delivery
from sottovoce.server.database.results import unfinished
from sottovoce.server.inference_process.scheduler import background_inference
from sottovoce.server.sealed.transitions import scheduled_advances
from sottovoce.server.service import Service
from sottovoce.server.web import openapi
from sottovoce.server.web.metrics import Metrics
from sottovoce.server.web.middleware import (
    ObservedRoute,
    Prefixed,
    RequestObserver,
    SecurityHeaders,
)
from sottovoce.server.web.problems import PROBLEMS, add_handlers
from sottovoce.server.web.routes import (
    campaigns,
    exports,
    forecasts,
    health,
    invites,
    keyholders,
    overview,
    pages,
    reports,
    results,
    sealed_progress,
    tasks,
    tokens,
    webhooks,
    worker,
)
from sottovoce.server.web.settings import Settings
from sottovoce.server.web.worker_page import STATIC
from sottovoce.version import __version__

# Routes are tried in this order, and most requests bring reports.
API = (
    *(reports, tokens, campaigns, tasks, invites, worker, results, overview),
    *(exports, forecasts, webhooks, keyholders, sealed_progress),
)
VERSION_ONE = "/api/v1"
QUIET = frozenset({"worker", "keyholder", "member", "health", "files"})
"""Routes that are not logged: workers' would link a time to a report, others add little."""

SELDOM = 15
"""Seconds between two samples of gauges that need a query."""

log = logging.getLogger("sottovoce.web")


@dataclass(frozen=True, slots=True)
class Feature:
    """A part of the service from another package: routes, pages and background jobs.

    A job runs while its context is open. Routes come after the server's own.
    """

    api: Sequence[APIRouter] = ()
    pages: Sequence[APIRouter] = ()
    jobs: Sequence[Callable[[Service], AbstractContextManager[None]]] = ()


def build_app(settings: Settings, features: Sequence[Feature] | None = None) -> FastAPI:
    """The service over HTTP. The database must have this release's schema.

    It has all features of this release unless others are given.
    """
    chosen = [filled("web.feature").FEATURE] if features is None else features
    metrics = Metrics()
    app = FastAPI(
        title=openapi.TITLE,
        version=__version__,
        lifespan=_lifespan(settings, metrics, chosen),
        docs_url=None,
        redoc_url=None,
        openapi_url=f"{VERSION_ONE}/openapi.json",
        responses=PROBLEMS,
        redirect_slashes=False,  # a redirect would repeat the Host header
    )
    app.state.settings, app.state.metrics = settings, metrics
    add_handlers(app)
    observed: dict[Any, ObservedRoute] = {}
    own = [module.router for module in API]
    for router in (*own, *(router for each in chosen for router in each.api)):
        app.include_router(router, prefix=VERSION_ONE)
        observed |= _observed(router, VERSION_ONE)
    own = [health.router, openapi.router, pages.router]
    for router in (*own, *(router for each in chosen for router in each.pages)):
        app.include_router(router)
        observed |= _observed(router, "")
    static = GZipMiddleware(StaticFiles(directory=STATIC))  # a third of the bytes for a phone
    app.mount("/static", static)
    observed[static] = ObservedRoute("/static/{file}", is_quiet=True)
    openapi.describe(app)
    observed |= _observed(app.router, "")
    # The last is the outermost.
    app.add_middleware(RequestObserver, metrics=metrics, routes=observed)
    app.add_middleware(SecurityHeaders, settings=settings)
    app.add_middleware(Prefixed, prefix=settings.prefix)
    return app


def _lifespan(
    settings: Settings, metrics: Metrics, features: Sequence[Feature]
) -> Callable[[FastAPI], Any]:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        with ExitStack() as stack:
            service = Service.on(settings.database())
            stack.callback(service.close)
            stack.enter_context(rejection_writer(service))
            stack.enter_context(background_inference(service))
            stack.enter_context(webhook_delivery(service))
            stack.enter_context(scheduled_closing(service))
            stack.enter_context(scheduled_advances(service))
            for job in (job for each in features for job in each.jobs):
                stack.enter_context(job(service))
            app.state.service = service
            sampling = asyncio.create_task(_sample(service, metrics))
            log.info("started")
            yield
            sampling.cancel()
            await run_in_threadpool(stack.close)
            log.info("stopped")

    return lifespan


async def _sample(service: Service, metrics: Metrics) -> None:
    """Sample the gauges: reports waiting to be written and to be inferred."""
    for second in count():
        metrics.waiting.set(service.writer.waiting)
        if second % SELDOM == 0:
            with suppress(SQLAlchemyError):
                metrics.behind.set(await run_in_threadpool(_behind, service))
        await asyncio.sleep(1)


def _behind(service: Service) -> int:
    with service.database.reading() as connection:
        return len(unfinished(connection))


def _observed(router: APIRouter, prefix: str) -> dict[Any, ObservedRoute]:
    """How the requests of each route are logged."""
    return {
        route.endpoint: ObservedRoute(
            prefix + route.path,
            is_quiet=not QUIET.isdisjoint(getattr(route, "tags", ())),
            takes_reports=route.endpoint is reports.put_report,
        )
        for route in router.routes
        if isinstance(route, Route)
    }
