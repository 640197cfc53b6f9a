"""Waiting for what a server does in its own time."""

from __future__ import annotations

import time
from collections.abc import Callable

from sottovoce.errors import SottovoceError
from sottovoce.model import Result
from sottovoce.requester.client import Requester

__all__ = ["PATIENCE", "settled_result", "wait_until"]

PATIENCE = 60.0
"""Seconds for a server to start, to stop, or to infer."""


def wait_until(happened: Callable[[], bool], what: str, patience: float = PATIENCE) -> None:
    """Wait for something, in steps that grow; an error if it does not happen.

    >>> wait_until(lambda: True, "nothing")
    >>> wait_until(lambda: False, "rain", patience=0.01)
    Traceback (most recent call last):
    sottovoce.errors.SottovoceError: waited 0.01 seconds for rain, and it did not come
    """
    end, pause = time.monotonic() + patience, 0.01
    while not happened():
        if time.monotonic() > end:
            raise SottovoceError(f"waited {patience:g} seconds for {what}, and it did not come")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.2)


def settled_result(requester: Requester, campaign: str, patience: float = PATIENCE) -> Result:
    """Truths and weights, once every report that has arrived is in them."""

    def settled() -> bool:
        page = requester.results_page(campaign, limit=1)
        return page["summary"] is not None and page["reports_waiting"] == 0

    wait_until(settled, "results with every report in them", patience)
    return requester.results(campaign)
