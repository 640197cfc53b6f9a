"""Made-up results of P3's pipeline, to test verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from sottovoce_studies.p3.epsilon_sweep import Seen, Sweep


def trials(change: float, noise: float = 1.0, spread: float = 0.0) -> list[dict[str, float]]:
    """Two trials with a given loss, a spread apart."""
    names = (
        "clean",
        "clean mean",
        "clean median",
        "error",
        "error mean",
        "error median",
        "change mean",
        "change median",
        "best constant",
    )
    return [
        {**dict.fromkeys(names, 0.5), "noise": noise, "change": change + sign * spread / 2}
        for sign in (-1, 1)
    ]


def sweep_seen(sweep: Sweep, shares: Sequence[float]) -> Seen:
    """The results of a sweep with a given loss per unit of noise; the noise falls to 1."""
    sizes = range(len(sweep.epsilons), 0, -1)
    theirs = [trials(share * size, size) for share, size in zip(shares, sizes, strict=True)]
    return sweep.seen([*theirs, *([{"error": 0.1, "rounds": 3.0}] for _ in sweep.ours)])
