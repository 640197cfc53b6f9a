"""Keys of the sizes that are used, and s above 1, through whole sessions."""

from __future__ import annotations

import pytest
from tests.securesum.damgard_jurik.stars import (
    COORDINATOR,
    DEALER,
    SEALING,
    SERVER_SEALING,
    SIGNING,
    TERMS,
    Answers,
    Rounds,
    public_of,
    terms_of,
    total,
)

from sottovoce.securesum.damgard_jurik.dealer import deal_threshold_key, open_share, read_public
from sottovoce.securesum.damgard_jurik.server import ThresholdServer
from sottovoce.securesum.damgard_jurik.worker import ThresholdWorker
from sottovoce.securesum.star.simulation import run_in_memory
from sottovoce.securesum.star.suite import Phase
from sottovoce.securesum.star.terms import KeyTerms


@pytest.mark.slow
@pytest.mark.parametrize(("bits", "s"), [(1024, 2), (1024, 4), (2048, 1), (2048, 2), (3072, 1)])
def test_a_session_with_a_dealt_key_opens_to_the_plain_sum(bits: int, s: int) -> None:
    assert TERMS.key is not None
    terms = terms_of(key=KeyTerms(bits, TERMS.key.dealer, s))
    dealt = deal_threshold_key(terms, DEALER, public_of(SERVER_SEALING))
    public = read_public(terms, dealt.public)
    shares = [
        open_share(terms, public, number, key, dealt.shares[number])
        for number, key in enumerate([*SEALING, SERVER_SEALING], 1)
    ]
    run = run_in_memory(
        terms, Rounds(2), [Answers(number) for number in range(1, 7)], SIGNING, COORDINATOR,
        [ThresholdWorker(public, share) for share in shares[:-1]],
        ThresholdServer(public, shares[-1]), faults={(1, Phase.OPEN): [1]},
    )  # fmt: skip
    everybody = range(1, 7)
    assert [each.totals.tolist() for each in run.records] == [total(everybody, r) for r in (0, 1)]
    assert run.excluded == {1: "it did not answer in phase open"}
