"""Compare randomised response on labels: ours with both kinds of randomness, NumPy, and peers.

    python benchmarks/perturbing.py ANSWERS LABELS

Prints JSON: CPU nanoseconds per answer. Peers take one answer at a time, so they get fewer.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
from pure_ldp.frequency_oracles.direct_encoding import DEClient

from measuring import best_cpu
from sottovoce import Domain, RandomizedResponse, SeededRandomness, SystemRandomness
from sottovoce.model import Cells

EPSILON = 1.0
PEER_ANSWERS = 20_000
REPEATS = 7


def main() -> None:
    answers, labels = int(sys.argv[1]), int(sys.argv[2])
    codes = np.random.default_rng(7).integers(0, labels, answers, dtype=np.int32)
    domain = Domain.categorical(range(labels))
    mechanism = RandomizedResponse.calibrated(domain, EPSILON)
    none = np.zeros(answers, np.int32)
    cells = Cells(none, np.arange(answers, dtype=np.int32), codes, none[:1], none)
    keep = mechanism.keep_probability
    few = codes[:PEER_ANSWERS].tolist()
    GRR_Client(0, labels, EPSILON)  # compiles
    pure = DEClient(epsilon=EPSILON, d=labels, index_mapper=lambda label: label)

    def ours(randomness: Any) -> Callable[[], Any]:
        return lambda: mechanism.perturb(cells, None, randomness)

    reports = ours(SystemRandomness())().code
    kept = float(np.mean(reports == codes))
    assert abs(kept - keep) < 6 * np.sqrt(keep * (1 - keep) / answers)
    print(
        json.dumps(
            {
                "secure": best_cpu(ours(SystemRandomness()), REPEATS) / answers * 1e9,
                "seeded": best_cpu(ours(SeededRandomness(7)), REPEATS) / answers * 1e9,
                "urandom": best_cpu(lambda: SystemRandomness().words(answers), REPEATS)
                / answers
                * 1e9,
                "numpy": best_cpu(lambda: plain_numpy(codes, labels, keep), REPEATS)
                / answers
                * 1e9,
                "multi_freq_ldpy": _each(lambda: [GRR_Client(a, labels, EPSILON) for a in few]),
                "pure_ldp": _each(lambda: [pure.privatise(a) for a in few]),
            }
        )
    )


def plain_numpy(codes: Any, labels: int, keep: float) -> Any:
    """A plain implementation of randomised response, with a generator that is not secure."""
    generator = np.random.default_rng(7)
    kept = generator.random(len(codes)) < keep
    shift = generator.integers(1, labels, len(codes), dtype=np.int32)
    return np.where(kept, codes, (codes + shift) % labels)


def _each(work: Callable[[], Any]) -> float:
    return best_cpu(work, REPEATS) / PEER_ANSWERS * 1e9


if __name__ == "__main__":
    main()
