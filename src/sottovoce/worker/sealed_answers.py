"""Answers under a sealed policy: split into shares, sealed to keyholders and signed."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import numpy as np

from sottovoce.errors import NotInstalled, UsageError
from sottovoce.mechanisms.policies import release_of, sealed_of
from sottovoce.mechanisms.sealed_sum import SealedSum
from sottovoce.model import Cells, Codes, Label, Policy
from sottovoce.model.canonical_json import canonical
from sottovoce.securesum.ballot import Ballot, ballot_codes
from sottovoce.securesum.field import WIDTH
from sottovoce.worker.outbox import Parcel, Stage

KEY_TEXT, SIGNATURE_TEXT, DIGEST = 43, 86, 64
"""Characters of a public key, a signature and a hash."""


def sealed_sum_of(policy: Policy) -> SealedSum | None:
    """The sealed sum of a policy; None if answers are randomised instead."""
    release_of(policy)  # refuses a policy that does not keep its promise, sealed or not
    return sealed_of(policy) if policy.sealed else None


def check_sealing(sealed: SealedSum) -> None:
    """Refuse a policy that cannot be used for sealing here, before any answer is asked for."""
    if len(sealed.keyholders) != sealed.seats or not sealed.coordinator:
        raise UsageError("the campaign's policy names no keyholders, so nothing can be sealed")
    try:
        import cryptography  # noqa: F401 - only sealed campaigns need it
    except ImportError:
        raise NotInstalled("cryptography", purpose="sealing answers", extra="secure") from None


def sealed_codes(values: Sequence[Label | None], policy: Policy, sealed: SealedSum) -> Codes:
    """Answers as the codes of ballots; errors quote none of them."""
    return ballot_codes(values, policy.domain, Ballot.of(sealed)).astype(np.int32)


def sealed_parcel(cells: Cells, policy: Policy, campaign: str) -> Parcel:
    """The contribution of checked answers, ready for the outbox; it may not leave yet.

    The signing key and all masks are drawn here, once, and discarded. Only bytes that up to
    `degree` keyholders together cannot read are kept.
    """
    from sottovoce.securesum.committee.worker import contribute

    tasks = tuple(cells.tasks.tolist())
    content = contribute(
        campaign, policy, str(cells.workers[0]), tasks, cells.code.astype(np.int64)
    )
    return Parcel(secrets.token_hex(16), Stage.DRAWN, len(tasks), content, tasks)


def contribution_bytes(sealed: SealedSum, tasks: Sequence[str], *names: str) -> int:
    """The length of a contribution on these tasks; `names` are the campaign, policy and worker.

    It is the same for all answers, so lengths reveal nothing. It is measured on a text of the same
    shape.
    """
    from sottovoce.securesum.committee.terms import CHECKS, ContributionTerms
    from sottovoce.securesum.hpke import OVERHEAD

    values = len(tasks) * Ballot.of(sealed).bits + 2 * CHECKS
    share = -(-(WIDTH * values + OVERHEAD) * 4 // 3)
    terms = ContributionTerms("", "", "".join(names), tuple(tasks), "A" * KEY_TEXT)
    text = canonical(terms.body(["0" * DIGEST] * sealed.seats))
    empty = {"shares": [""] * sealed.seats, "signature": "A" * SIGNATURE_TEXT, "text": text}
    return len(canonical(empty)) + sealed.seats * share
