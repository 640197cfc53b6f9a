"""Measure the cost of a sealed campaign for its parties, and of the necessary cryptography.

    python sealing.py parties WORKERS VALUES
    python sealing.py page VALUES
    python sealing.py truths TRIALS

prints one JSON object. All parties run in this process and exchange bytes; CPU is counted per
party. The bound is the time of the libraries for the same bytes: unsealing a share and verifying a
signature for a keyholder, sealing three shares and signing for a worker. `page` seals in Chromium.
`truths` compares errors with those of randomised reports at the same epsilon per answer.
"""

from __future__ import annotations

import json
import math
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from measuring import best_cpu
from sottovoce import Domain, Target, gold, infer, make_policy, perturb, read, score
from sottovoce.api.simulate_sealed import simulate_sealed
from sottovoce.datasets import NumericCrowd, generate
from sottovoce.model import Gold, Keyholder, Policy, Reports, Result
from sottovoce.randomness import SystemRandomness
from sottovoce.securesum.committee import server as committee_server
from sottovoce.securesum.committee.keyholder import KeyholderKeys, KeyholderSession
from sottovoce.securesum.committee.simulation import Committee
from sottovoce.securesum.committee.terms import Session
from sottovoce.securesum.committee.worker import contribute
from sottovoce.securesum.envelope import Ed25519PrivateKey, public_text
from sottovoce.securesum.hpke import X25519PrivateKey, seal, unseal

SEATS, BATCH, SAMPLE = 3, 500, 200
SEAL = """async (policy) => {
  const { verifySealed, seal } = await import("./static/seal.js");
  const verified = await verifySealed(policy);
  const tasks = Array.from({ length: verified.answers }, (_, i) => `task ${i}`);
  const answers = new Map(tasks.map((task, i) => [task, verified.domain.labels[i % 2]]));
  const begin = performance.now();
  await seal(verified, "bench", "worker", answers, tasks);
  return (performance.now() - begin) / 1000;
}"""


def parties(workers: int, values: int) -> dict[str, Any]:
    policy, keys, coordinator = _campaign(values)
    names = tuple(f"t{place:05}" for place in range(values))
    session = Session("bench", policy, names)
    committee = Committee(session, [KeyholderSession(session, each) for each in keys], coordinator)
    committee.deal(SystemRandomness())
    codes = np.random.default_rng(1).integers(0, 2, (workers, values))
    worker_seconds = 0.0
    for start in range(0, workers, BATCH):
        begun = time.process_time()
        contents = [
            contribute("bench", policy, f"{place:064x}", names, codes[place])
            for place in range(start, min(start + BATCH, workers))
        ]
        worker_seconds += time.process_time() - begun
        committee.take(
            {committee_server.read_contribution(session, each).digest: each for each in contents}
        )
    totals = committee.open()
    noise = totals[:, 0] - codes.sum(0)
    return {
        "worker": worker_seconds / workers,
        "keyholder": max(
            seconds for party, seconds in committee.seconds.items() if party != "server"
        ),
        "server": committee.seconds["server"],
        "upload": len(contents[-1]),
        "noise_deviation": float(noise.std()),
        **_bounds(values, workers),
    }


def _campaign(values: int) -> tuple[Policy, list[KeyholderKeys], Ed25519PrivateKey]:
    keys = [
        KeyholderKeys(X25519PrivateKey.generate(), Ed25519PrivateKey.generate())
        for _ in range(SEATS)
    ]
    coordinator = Ed25519PrivateKey.generate()
    policy = make_policy(
        Domain.categorical(["no", "yes"]),
        "sealed-sum",
        Target(1.0, answers=values),
        keyholders=tuple(
            Keyholder(f"keyholder {seat}", *each.public) for seat, each in enumerate(keys, 1)
        ),
        coordinator=public_text(coordinator),
    )
    return policy, keys, coordinator


def _bounds(values: int, workers: int) -> dict[str, float]:
    """The libraries' cost for the same bytes, per worker and for a keyholder of all workers."""
    private, signing = X25519PrivateKey.generate(), Ed25519PrivateKey.generate()
    public, text = private.public_key().public_bytes_raw(), b"t" * 8 * values
    plaintext = os.urandom(8 * (values + 4))
    sealed, signature = seal(public, plaintext, b"bench"), signing.sign(text)
    return {
        "worker_bound": SEATS * _each(lambda: seal(public, plaintext, b"bench"))
        + _each(lambda: signing.sign(text)),
        "keyholder_bound": workers
        * (
            _each(lambda: unseal(private, sealed, b"bench"))
            + _each(lambda: signing.public_key().verify(signature, text))
        ),
    }


def _each(work: Callable[[], Any]) -> float:
    return best_cpu(lambda: [work() for _ in range(SAMPLE)]) / SAMPLE


def page(values: int) -> dict[str, float]:
    """Seconds to seal labels in Chromium: the first time, and the median of later ones."""
    from browsing import browser_page
    from sottovoce.testing.server_thread import running_server

    policy, _, _ = _campaign(values)
    with running_server() as server, browser_page(server.url) as opened:
        opened.goto("/")
        first, *others = [opened.evaluate(SEAL, policy.as_json()) for _ in range(11)]
    return {"first": first, "median": statistics.median(others)}


def truths(trials: int) -> dict[str, Any]:
    """Mean errors and their standard errors, sealed and randomised, on the same crowds."""
    rows: dict[str, dict[str, list[float]]] = {}
    for seed in range(trials):
        for name, epsilon, answers, known in _crowds(seed):
            row = rows.setdefault(f"{name}, epsilon {epsilon:g}", {"sealed": [], "local": []})
            sealed = simulate_sealed(answers, epsilon=epsilon).result
            row["sealed"].append(_error(sealed, known))
            row["local"].append(_error(_randomised(answers, epsilon), known))
    return {
        name: {
            way: [float(np.mean(seen)), float(np.std(seen, ddof=1) / math.sqrt(trials))]
            for way, seen in row.items()
        }
        for name, row in rows.items()
    }


def _crowds(seed: int) -> Iterator[tuple[str, float, Reports, Gold]]:
    binary = _binary(seed)
    yield "two labels", 1.0, *binary
    yield "two labels", 0.5, *binary
    numbers = NumericCrowd(workers=150, tasks=30, inset=1.0, clip=True, seed=seed)
    yield "numbers", 1.0, *generate(numbers)


def _binary(seed: int) -> tuple[Reports, Gold]:
    """200 workers who are right with probability U(.55, .8), each on 50 of 200 tasks."""
    draw = np.random.default_rng(seed)
    truth, ability = draw.integers(0, 2, 200), draw.uniform(0.55, 0.8, 200)
    worker = np.repeat(np.arange(200), 50)
    task = np.concatenate([draw.choice(200, 50, replace=False) for _ in range(200)])
    answer = truth[task] ^ (draw.random(len(task)) >= ability[worker])
    domain = Domain.categorical(["no", "yes"])
    names = [f"t{place:03}" for place in range(200)]
    table = read(
        {
            "worker": [f"w{place:03}" for place in worker],
            "task": [names[place] for place in task],
            "answer": [domain.labels[code] for code in answer],
        },
        domain=domain,
    )
    return table, gold(
        {"task": names, "truth": [domain.labels[code] for code in truth]}, table.domain
    )


def _randomised(answers: Reports, epsilon: float) -> Result:
    """The error of a campaign without keyholders at the same epsilon per answer."""
    name = "subset-selection" if answers.domain.is_numeric else "randomized-response"
    most = int(np.bincount(answers.worker).max())
    policy = make_policy(answers.domain, name, Target(epsilon, answers=most))
    return infer(perturb(answers, policy, SystemRandomness()), policy=policy)


def _error(result: Result, known: Gold) -> float:
    found = score(result, known)
    return 1 - found.accuracy if found.accuracy is not None else float(found.mae or 0)


if __name__ == "__main__":
    what, *given = sys.argv[1:]
    ways: dict[str, Callable[..., dict[str, Any]]] = {
        "parties": parties,
        "page": page,
        "truths": truths,
    }
    print(json.dumps(ways[what](*map(int, given))))
