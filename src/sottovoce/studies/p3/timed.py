"""P3's figure 7 in tables and charts: rounds with more and more noise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sottovoce.figures import Chart, Level
from sottovoce.planning.trials import Spread
from sottovoce.studies.comparing import curve
from sottovoce.studies.p3.noising import BASELINES
from sottovoce.studies.study import Row

__all__ = ["CROWD", "Timed", "charts", "rows"]

CROWD = "synthetic"
"""P3's own users, beside whom a stand-in may be shown."""


class Timed:
    """Rounds, seconds and errors of one source: without noise, and at each noise."""

    def __init__(self, noises: Sequence[float], trials: Sequence[Mapping[str, Any]]) -> None:
        self.noises = tuple(noises)
        self._trials = trials

    def clean(self, name: str) -> Spread:
        """A quantity on the answers."""
        return Spread.of([trial["clean"][name] for trial in self._trials])

    def noisy(self, name: str) -> list[Spread]:
        """A quantity on reports, noise by noise."""
        places = range(len(self.noises))
        return [Spread.of([trial["noisy"][at][name] for trial in self._trials]) for at in places]

    def more(self) -> list[Spread]:
        """How many more rounds reports take than the same answers, noise by noise."""
        return [
            Spread.of([trial["noisy"][at]["rounds"] - trial["clean"]["rounds"]
                       for trial in self._trials])
            for at in range(len(self.noises))
        ]  # fmt: skip

    @property
    def constant(self) -> float:
        """The error of the best constant."""
        return Spread.of([trial["best constant"] for trial in self._trials]).mean


def rows(found: Mapping[str, Timed], ours: Sequence[Mapping[str, float]]) -> Iterator[Row]:
    """What CRH takes at every noise, and how far it is from the truth."""
    yield from _costs(found)
    yield from _errors(found, ours)


def _costs(found: Mapping[str, Timed]) -> Iterator[Row]:
    for name, timed in found.items():
        clean: Row = {
            "part": "Figure 7: rounds, and CPU time (not seeded)",
            "data": name,
            "noise": 0.0,
        }
        yield {**clean, **_cost(timed.clean("rounds"), timed.clean("seconds"))}
        seen = zip(timed.noises, timed.noisy("rounds"), timed.noisy("seconds"), strict=True)
        for (noise, rounds, seconds), more in zip(seen, timed.more(), strict=True):
            yield {**clean, "noise": noise, **_cost(rounds, seconds), "more rounds": more.mean}


def _cost(rounds: Spread, seconds: Spread) -> Row:
    return {
        "rounds": rounds.mean, "s.e.": rounds.standard_error, "CPU ms": 1000 * seconds.mean,
        "trials": rounds.trials,
    }  # fmt: skip


def _errors(found: Mapping[str, Timed], ours: Sequence[Mapping[str, float]]) -> Iterator[Row]:
    for name, timed in found.items():
        lines = [(0.0, timed.clean), *((noise, None) for noise in timed.noises)]
        for place, (noise, clean) in enumerate(lines):
            names = {"CRH": "error", **{each: f"error {each}" for each in BASELINES}}
            own = name == CROWD and noise == timed.noises[-1]
            yield {
                "part": "MAE to the truth",
                "data": name,
                "noise": noise,
                **{line: (clean(key) if clean else timed.noisy(key)[place - 1]).mean
                   for line, key in names.items()},
                "ours": Spread.of([each["error"] for each in ours]).mean if own else None,
                "best constant": timed.constant,
            }  # fmt: skip


def charts(found: Mapping[str, Timed], ours: Sequence[Mapping[str, float]]) -> Iterator[Chart]:
    """P3's chart, and the errors to the truth."""
    yield Chart(
        "Rounds by noise (P3 Figure 7)", "mean size of the noise", "rounds",
        tuple(curve(name, timed.noises, timed.noisy("rounds")) for name, timed in found.items()),
        tuple(Level(f"{name}, no noise", timed.clean("rounds").mean)
              for name, timed in found.items()),
        "P3 §V-C: after perturbation the running time is slightly bigger, and it does not change "
        "much when the noise varies. Here as rounds until no truth moves by 1e-6: "
        f"{'; '.join(_ends(name, timed) for name, timed in found.items())}.",
        "lower", "log",
    )  # fmt: skip
    timed = found[CROWD]
    names = {"CRH": "error", **{name: f"error {name}" for name in BASELINES}}
    own = curve("ours", timed.noises[-1:], [Spread.of([each["error"] for each in ours])], "ours")
    yield Chart(
        "Error to the truth by noise, synthetic", "mean size of the noise", "MAE to the truth",
        (*(curve(line, timed.noises, timed.noisy(key)) for line, key in names.items()), own),
        (Level("best constant", timed.constant), Level("CRH, no noise", timed.clean("error").mean)),
        "P3 shows no errors to the truth. Ours has the true epsilon of one answer at the largest "
        "noise, and no delta.",
        "lower", "log", "log",
    )  # fmt: skip


def _ends(name: str, timed: Timed) -> str:
    last = timed.noisy("rounds")[-1].mean
    return f"{name} {timed.clean('rounds').mean:.1f} without noise, {last:.1f} with the largest"
