"""The content of a contribution, read with the private keys of its keyholders."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tests.securesum.sealed_policies import FixedKeys

from sottovoce.model import Policy
from sottovoce.securesum.ballot import Ballot
from sottovoce.securesum.committee.terms import CHECKS, ContributionTerms, committee_of
from sottovoce.securesum.envelope import read_envelope, unb64
from sottovoce.securesum.field import Elements, from_bytes
from sottovoce.securesum.hpke import unseal
from sottovoce.securesum.shamir import interpolate, lies_on

__all__ = ["ballot_of", "shares_of"]


def shares_of(policy: Policy, submission: str, keys: Sequence[FixedKeys]) -> Elements:
    """The content of each keyholder's share, one row a seat, after checking the signature."""
    read = read_envelope(
        submission.encode("ascii"), lambda body: str(body["key"]), culprit="", extra={"shares"}
    )
    body, seats = read.body, committee_of(policy).seats
    terms = ContributionTerms(
        body["campaign"], body["policy"], body["worker"], tuple(body["tasks"]), body["key"]
    )
    rows = []
    for own, share, info in zip(
        keys[:seats], read.extra["shares"], terms.infos(seats), strict=True
    ):
        plaintext = unseal(own.sealing, unb64(share) or b"", info)
        assert plaintext is not None, f"{own.name} cannot open its share"
        rows.append(from_bytes(plaintext))
    return np.stack(rows)


def ballot_of(policy: Policy, rows: Elements) -> Elements:
    """The bits (tasks, bits) that the last t + 1 keyholders interpolate.

    All shares must fit together, and what is added to checks must be zero.
    """
    sealed = committee_of(policy)
    few, points = sealed.degree + 1, range(1, sealed.seats + 1)
    values = rows.shape[1] - 2 * CHECKS
    bits, zeros, masks = np.split(rows, [values, values + CHECKS], axis=1)
    assert lies_on(sealed.degree, points, bits)
    assert lies_on(sealed.degree, points, masks)
    assert not interpolate(points, zeros).any()
    found = interpolate(points[-few:], bits[-few:])
    return found.reshape(-1, Ballot.of(sealed).bits)
