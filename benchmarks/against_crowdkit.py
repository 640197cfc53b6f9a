"""Compare Dawid-Skene and majority vote with crowd-kit on the same data in the same process.

    python against_crowdkit.py ANSWERS LABELS

prints one JSON object. Both start from integer codes; ours sorts them, crowd-kit joins frames.
Every EM runs a fixed number of rounds. CPU time is that of the process, over all threads.
"""

from __future__ import annotations

import json
import sys
import warnings

import numpy as np
import pandas as pd

from crowds import simulated
from measuring import best_cpu
from sottovoce import DawidSkene, LocalEngine, MajorityVote


def main(answers: int, labels: int) -> dict[str, float]:
    from crowdkit.aggregation import DawidSkene as PeerDawidSkene
    from crowdkit.aggregation import MajorityVote as PeerMajorityVote

    warnings.simplefilter("ignore")
    reports = simulated(answers, labels)
    frame = pd.DataFrame({"worker": reports.worker, "task": reports.task, "label": reports.value})
    repeats = 3 if answers <= 100_000 else 1
    # From 10^7 answers on, ten of crowd-kit's rounds would take minutes.
    total = 10 if answers < 10**7 else 3

    def ours(rounds: int, precision: str = "float64") -> DawidSkene:
        return DawidSkene(rounds, -np.inf, precision=precision)  # type: ignore[arg-type]

    def run(rounds: int, precision: str = "float64") -> float:
        method = ours(rounds, precision)
        result = method.fit(LocalEngine(reports, threads=1))
        assert result.rounds == rounds, result.rounds
        return 0.0

    engine = LocalEngine(reports, threads=1)
    for precision in ("float64", "float32"):
        run(1, precision)  # load or compile the kernels
    MajorityVote().fit(engine)
    mine = {
        (precision, rounds): best_cpu(lambda p=precision, r=rounds: run(r, p), 5)  # type: ignore[misc]
        for precision in ("float64", "float32")
        for rounds in (1, total)
    }
    vote = best_cpu(lambda: MajorityVote().fit(LocalEngine(reports, threads=1)), 5)

    peers = {}
    for rounds in (1, total):
        peer = PeerDawidSkene(n_iter=rounds, tol=-np.inf)
        peers[rounds] = best_cpu(lambda p=peer: p.fit(frame), repeats)  # type: ignore[misc]
        assert len(peer.loss_history_) == rounds
    peer_vote = best_cpu(lambda: PeerMajorityVote().fit(frame), repeats)

    assert peer.probas_ is not None
    theirs = peer.probas_.loc[np.arange(len(reports.tasks)), np.arange(labels)].to_numpy()
    ours64 = ours(total).fit(engine).posterior
    ours32 = ours(total, "float32").fit(engine).posterior
    assert ours64 is not None
    assert ours32 is not None

    def per_round(times: dict[int, float]) -> float:
        return (times[total] - times[1]) / (total - 1)

    times64 = {r: mine["float64", r] for r in (1, total)}
    times32 = {r: mine["float32", r] for r in (1, total)}
    return {
        "answers": answers,
        "labels": labels,
        "rounds": total,
        "peer_seconds": peers[total],
        "seconds": times64[total],
        "ratio": peers[total] / times64[total],
        "peer_round": per_round(peers),
        "round": per_round(times64),
        "ratio_round": per_round(peers) / per_round(times64),
        "round_float32": per_round(times32),
        "ratio_round_float32": per_round(peers) / per_round(times32),
        "difference": float(np.abs(theirs - ours64).max()),
        "difference_float32": float(np.abs(theirs - ours32).max()),
        "peer_vote": peer_vote,
        "vote": vote,
        "ratio_vote": peer_vote / vote,
    }


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]), int(sys.argv[2]))))
