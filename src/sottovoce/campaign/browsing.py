"""Which policies the worker's page can run: its randomiser is smaller than the library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sottovoce.mechanisms.sampling import Sampled
from sottovoce.model import Calibration, Policy

__all__ = ["works_in_browser"]

IN_BROWSER = frozenset(
    {
        "randomized-response",
        "null-randomized-response",
        "subset-selection",
        "laplace",
        "piecewise",
        "duchi",
        "threshold",
    }
)
"""Mechanisms of the page's randomiser; `sampled` is one more, of any of these."""


def works_in_browser(policy: Policy) -> bool:
    """Whether a worker can take part with nothing but a browser.

    The page checks every promise from the policy's integers. So it takes mechanisms whose exact
    guarantee is a ratio of two integers, a promise without a delta, and no calibration as
    published. Workers of other policies need `sottovoce answer` or the Python client.

    >>> from sottovoce import Domain, Target, make_policy
    >>> labels = Domain.categorical(["no", "yes"])
    >>> works_in_browser(make_policy(labels, "randomized-response", Target(1.0)))
    True
    >>> works_in_browser(make_policy(labels, "two-layer", Target(1.0)))
    False

    Sealing needs nothing but what every browser has, so sealed policies all work.
    """
    promise = policy.promise
    sound = policy.calibration is Calibration.SOUND and promise is not None and promise.delta == 0
    return sound and (policy.sealed or _inner(policy.mechanism)["name"] in IN_BROWSER)


def _inner(mechanism: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a sampled mechanism samples; any other is itself."""
    inner: Mapping[str, Any] = mechanism["of"] if mechanism["name"] == Sampled.name else mechanism
    return inner
