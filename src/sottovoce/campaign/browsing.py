"""Which policies the worker's page can run: its randomiser is smaller than the library."""

from __future__ import annotations

from sottovoce.mechanisms.registry import release_from
from sottovoce.model import Calibration, Policy

__all__ = ["works_in_browser"]


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
    return sound and release_from(policy.mechanism).in_browser
