"""The interface of crowd-kit: its class names, arguments, attributes and frames, on our engine.

    from sottovoce.crowdkit import DawidSkene# was: from crowdkit.aggregation import …
    labels = DawidSkene(n_iter=100).fit_predict(df)

A frame has the columns `task`, `worker` and `label`. Results have the names, types and order of
crowd-kit 1.4 with the same pandas, and numbers within 1e-9 of its own. They differ only where
crowd-kit has no sensible answer:

- a row without a task, worker or label is refused, not half counted;
- labels within 1e-9 of the top tie, so that rounding decides nothing; the first column wins;
- a truth in `true_labels` that nobody gave, or a label in `initial_error` that nobody gave, leaves
  no NaN behind; `initial_error` itself is never changed, and may hold whole numbers;
- labels may be categories or any kind of string.
"""

from sottovoce.errors import NotInstalled

try:
    import pandas as _pandas  # noqa: F401 - asked for once, with a message that helps
except ImportError:
    raise NotInstalled("pandas", purpose="the crowd-kit face", extra="pandas") from None

from sottovoce.crowdkit.dawid_skene import DawidSkene, OneCoinDawidSkene
from sottovoce.crowdkit.latent_models import GLAD, KOS, MACE
from sottovoce.crowdkit.majority_vote import MajorityVote
from sottovoce.crowdkit.weighted_votes import MMSR, GoldMajorityVote, Wawa, ZeroBasedSkill

__all__ = [
    "GLAD", "KOS", "MACE", "MMSR", "DawidSkene", "GoldMajorityVote", "MajorityVote",
    "OneCoinDawidSkene", "Wawa", "ZeroBasedSkill",
]  # fmt: skip
