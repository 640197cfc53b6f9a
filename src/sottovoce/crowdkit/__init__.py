"""crowd-kit's face: its class names, arguments, attributes and frames, on our engine.

    from sottovoce.crowdkit import DawidSkene        # was: from crowdkit.aggregation import …
    labels = DawidSkene(n_iter=100).fit_predict(df)

A frame has the columns `task`, `worker` and `label`. What is returned has the names, types and
order that crowd-kit 1.4 gives with the same pandas. docs/architecture.md says where it differs.
"""

from sottovoce.errors import NotInstalled

try:
    import pandas as _pandas  # noqa: F401 - asked for once, with a message that helps
except ImportError:
    raise NotInstalled("pandas", purpose="the crowd-kit face", extra="pandas") from None

from sottovoce.crowdkit.dawid_skene import DawidSkene
from sottovoce.crowdkit.majority_vote import MajorityVote
from sottovoce.crowdkit.one_coin import OneCoinDawidSkene

__all__ = ["DawidSkene", "MajorityVote", "OneCoinDawidSkene"]
