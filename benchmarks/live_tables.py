"""The tables of live sessions, from the measurements of `live.py`."""

from __future__ import annotations

from typing import Any

from measuring import child, tell

PAPER = (15 * 318 + 159) * 789.3e-3 / 15
"""P2's figure in seconds for one scalar and 15 rounds, scaled to all sums."""


def live(*, quick: bool) -> list[list[str]]:
    rows = [["bits", "opened", "J", "rounds", "CPU, all parties", "server", "one powmod_sec",
             "powmod_sec in total", "against the paper's 259 s", "key"]]  # fmt: skip
    settings = [
        (1024, 10**10, "as_published", 20, 15),
        (2048, 10**3, "log_odds", 20, 15),
        *((2048, 10**3, "log_odds", workers, 1) for workers in (10, 20, 50, 100)),
        (3072, 10**3, "log_odds", 20, 1),
    ]
    for bits, scale, mode, workers, rounds in settings[:1] if quick else settings:
        tell(f"live, {bits} bits, {mode}, {workers} workers, {rounds} rounds")
        seen = _threshold(bits, scale, mode, workers, rounds)
        ratio = f"{PAPER / seen['seconds']:.1f}x" if mode == "as_published" else ""
        rows.append([
            str(bits), f"{seen['values']} sums, L = 10^{len(str(scale)) - 1}", str(workers),
            str(rounds), f"{seen['seconds']:.2f} s", f"{seen['server']:.2f} s",
            f"{1000 * seen['reference']:.1f} ms", f"{seen['seconds'] / seen['reference']:.0f}",
            ratio, f"{seen['dealing']:.1f} s",
        ])  # fmt: skip
    return rows


def live_masked(*, quick: bool) -> list[list[str]]:
    rows = [["J", "values", "dropouts", "a worker", "the server", "all parties", "compared with"]]
    settings = [(20, 318, 0, 5), (100, 318, 0, 3), (100, 20_000, 0, 3), (100, 20_000, 10, 3),
                (1000, 318, 100, 1)]  # fmt: skip
    for workers, values, dropouts, rounds in settings[:2] if quick else settings:
        tell(f"live, masked, {workers} workers, {values:,} values, {dropouts} dropouts")
        rows.append(_masked(workers, values, dropouts, rounds))
    tell("live, masked and damgard_jurik, 20 workers, 2,000 values")
    both = _masked(20, 2000, 0, 15)
    peer = _threshold(2048, 10**10, "2000", 20, 1)
    seconds = float(both[5].split()[0]) / 1000
    rows.append([
        *both[:6], f"damgard_jurik, 2048 bits: {peer['seconds']:.1f} s, "
        f"{peer['seconds'] / seconds:.0f}x",
    ])  # fmt: skip
    return rows


def _masked(workers: int, values: int, dropouts: int, rounds: int) -> list[str]:
    seen = _right("masked", workers, values, rounds, dropouts)
    return [
        str(workers), f"{values:,}", str(dropouts), f"{1000 * seen['worker']:.1f} ms",
        f"{1000 * seen['server']:.0f} ms", f"{1000 * seen['seconds']:.0f} ms", "",
    ]  # fmt: skip


def _threshold(bits: int, scale: int, mode: str, workers: int, rounds: int) -> dict[str, Any]:
    return _right("threshold", bits, scale, mode, workers, rounds)


def _right(*arguments: object) -> dict[str, Any]:
    """The measurements of a run, after a check of its sums."""
    seen: dict[str, Any] = child("live.py", *map(str, arguments))
    assert seen["right"], f"live.py {arguments} gave a wrong sum"
    return seen
