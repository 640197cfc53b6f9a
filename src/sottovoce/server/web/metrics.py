"""Prometheus metrics of the server. No label holds anything that was sent."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from sottovoce.errors import Reason
from sottovoce.version import __version__

__all__ = ["CONTENT_TYPE_LATEST", "FOLDER", "Metrics", "registry_of_all"]

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The folder in which several processes store their metrics (Prometheus's variable)."""

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
STORED, REPLAYED, CUT_OFF = "stored", "replayed", "cut_off"


class Metrics:
    """The metrics of one server, in their own registry."""

    def __init__(self) -> None:
        # Creation times would reveal when the first report arrived, to the millisecond.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry: CollectorRegistry = CollectorRegistry()
        counter = partial(Counter, registry=self.registry)
        gauge = partial(Gauge, registry=self.registry)
        arrived = "Submissions that arrived, by what became of them"
        self.reports: Counter = counter("sottovoce_reports", arrived, ["outcome"])
        told = ["route", "method", "status"]
        self.requests: Counter = counter("sottovoce_requests", "Requests, by route", told)
        self.seconds: Histogram = Histogram(
            "sottovoce_request_seconds",
            "How long a request took",
            ["route"],
            buckets=SECONDS,
            registry=self.registry,
        )
        self.waiting: Gauge = gauge(
            "sottovoce_submissions_waiting",
            "Submissions that wait to be written",
            multiprocess_mode="livesum",
        )
        self.behind: Gauge = gauge(
            "sottovoce_campaigns_to_infer",
            "Campaigns with reports that their results do not hold yet",
            multiprocess_mode="livemax",
        )
        gauge(
            "sottovoce_build_info",
            "Which release runs",
            ["version", "python"],
            multiprocess_mode="livemax",
        ).labels(__version__, platform.python_version()).set(1)
        self._outcomes = {
            outcome: self.reports.labels(outcome)
            for outcome in (STORED, REPLAYED, CUT_OFF, *map(str, Reason))
        }
        self._requests: dict[tuple[str, str, int], Counter] = {}
        self._seconds: dict[str, Histogram] = {}
        ProcessCollector(registry=self.registry)

    def count_report(self, outcome: str) -> None:
        """Count a submission and its outcome."""
        self._outcomes[outcome].inc()

    def count_request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a request; `route` is a template, `method` one of a few."""
        key = (route, method, status)
        counter = self._requests.get(key)
        if counter is None:
            counter = self._requests[key] = self.requests.labels(route, method, str(status))
        counter.inc()
        histogram = self._seconds.get(route)
        if histogram is None:
            histogram = self._seconds[route] = self.seconds.labels(route)
        histogram.observe(seconds)

    def text(self) -> bytes:
        """All metrics in Prometheus's text format; with several processes, their sum."""
        folder = os.environ.get(FOLDER)
        return generate_latest(registry_of_all(Path(folder)) if folder else self.registry)


def registry_of_all(folder: Path) -> CollectorRegistry:
    """The metrics of all processes that store theirs in the folder."""
    registry = CollectorRegistry()
    registry.register(_AllProcesses(folder))
    return registry


class _AllProcesses(Collector):
    """Sums the metrics of all processes at each scrape."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def collect(self) -> Iterable[Metric]:
        self._forget_the_dead()
        collector = MultiProcessCollector(None, path=str(self._folder))  # type: ignore[no-untyped-call]
        found: Iterable[Metric] = collector.collect()  # type: ignore[no-untyped-call]
        return found

    def _forget_the_dead(self) -> None:
        """Remove the gauges of ended processes; their counters stay."""
        for file in self._folder.glob("gauge_live*_*.db"):
            try:
                os.kill(int(file.stem.rpartition("_")[2]), 0)
            except ProcessLookupError:
                file.unlink(missing_ok=True)
