"""CPU time of P2's secure sum: a threshold key, and one sum of one number per worker.

Running these functions needs the extra `secure`; importing them does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from operator import itemgetter
from time import process_time
from typing import Any, TypeVar

from sottovoce.api.simulate_private_em import simulate_private_em
from sottovoce.model.sum_rounds import SumSpec
from sottovoce_studies.p2.crowds import PaperCrowd

__all__ = ["BITS", "SCALE", "measured", "session", "threshold"]

BITS, SCALE = 1024, 10**10
"""P2 §6.3.1: the length of its keys, and L. Sottovoce uses 2048 bits by default."""
GREATEST = round(math.log(10**6) * SCALE)
"""The largest log-likelihood at this L for probabilities within [10^-6, 1 - 10^-6]."""

T = TypeVar("T")


def threshold(workers: int) -> int:
    """The number of parties, of J workers and the server, that open: ⌈2 (J + 1) / 3⌉ (P2 §6.3.1).

    >>> threshold(20)
    14
    """
    return -(-2 * (workers + 1) // 3)


def measured(workers: int, tasks: int, sums: int, run: int) -> dict[str, Any]:
    """CPU seconds of a new key and of some sums under it; `run` distinguishes runs.

    - primes: two safe primes, of which n is the product; dealing: the secret, its shares, and
      what they are checked against
    - blinds: those of J encryptions as P2 has them, rⁿ for a random r, and as ours, short powers of
      one number, whose table each worker makes once
    - rest: J encryptions without them, their product, θ partial decryptions, the combination

    `ciphertexts` is the number into which ours packs 2 I counts, and 2 I sums of a round.
    """
    # Optional library: only these functions need gmpy2.
    from sottovoce.securesum.damgard_jurik.contributions import PlaintextLayout
    from sottovoce.securesum.damgard_jurik.encryption import Blinds, full_blind
    from sottovoce.securesum.damgard_jurik.keys import key_of
    from sottovoce.securesum.damgard_jurik.number_theory import safe_prime, small_primes

    small_primes()
    primes, (p, q) = _timed(lambda: (safe_prime(BITS // 2), safe_prime(BITS // 2)))
    deal = partial(key_of, p, q, 1, threshold(workers), workers + 1)
    dealing, (public, shares) = min((_timed(deal) for _ in range(sums)), key=itemgetter(0))
    pool = Blinds(public)
    seen: dict[str, list[float]] = {"blinds as published": [], "blinds": [], "rest": []}
    for _ in range(sums):
        seconds, blinds = _timed(lambda: [full_blind(public) for _ in range(workers)])
        seen["blinds as published"].append(seconds)
        seen["blinds"].append(_timed(lambda: [pool.take() for _ in range(workers)])[0])
        seen["rest"].append(_timed(partial(_opened, public, shares, blinds))[0])
    packed = [
        PlaintextLayout(SumSpec(2 * tasks, greatest), workers, public.message_bits).messages
        for greatest in (1, GREATEST)
    ]
    return {"primes": primes, "dealing": dealing, **seen, "ciphertexts": packed}


def session(rounds: int, seed: int) -> dict[str, Any]:
    """A whole session of 20 workers with answers like P2's: CPU seconds of all parties.

    In addition to the sums it includes parts that P2 omits: signatures, commitments, a proof that
    each worker knows what it sent, and the product of all ciphertexts computed by every worker.
    """
    run = simulate_private_em(
        PaperCrowd().draw(seed)[0],
        suite="damgard_jurik",
        mode="as_published",
        scale=SCALE,
        rounds=rounds,
        tolerance=10**15,
        bits=BITS,
    )
    return {"rounds": run.rounds, "seconds": sum(run.cpu_seconds.values())}


def _opened(public: Any, shares: Any, blinds: Any) -> int:
    """One sum: every number is encrypted, and the server and θ - 1 workers open the product."""
    from sottovoce.securesum.damgard_jurik.decryption import combine
    from sottovoce.securesum.damgard_jurik.decryption import partial as decrypted
    from sottovoce.securesum.damgard_jurik.encryption import encrypt, product

    total = product(public, [encrypt(public, GREATEST, blind) for blind in blinds])
    holders = shares[-public.threshold :]
    found = combine(public, {each.number: [decrypted(public, each, total)] for each in holders})
    if found != [GREATEST * len(blinds)]:
        raise ArithmeticError("the opened sum is not the sum of the numbers")
    return found[0]


def _timed(work: Callable[[], T]) -> tuple[float, T]:
    begun = process_time()
    result = work()
    return process_time() - begun, result
