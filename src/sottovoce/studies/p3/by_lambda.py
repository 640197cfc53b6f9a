"""P3's figure 2 in tables and charts: users of a lambda1, with Lemma 4.7's noise or the range's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from sottovoce.figures import Chart, Level
from sottovoce.planning.trials import Spread
from sottovoce.studies.comparing import curve
from sottovoce.studies.p3.lemma import coverage, published_distance
from sottovoce.studies.p3.noising import BASELINES, true_epsilon
from sottovoce.studies.study import Row

__all__ = ["ANSWERS", "MAIN", "Point", "SeenByLambda", "charts", "line_of", "over_range", "rows"]

WIDTH, ANSWERS = 10.0, 30
MAIN = 1.0
"""The epsilon at which both distances are compared."""
AXIS = "lambda1 (larger is better data)"


@dataclass(frozen=True, slots=True)
class Point:
    """Users of one lambda1 at one epsilon; Delta by Lemma 4.7, or the public range."""

    lambda1: float
    epsilon: float
    public: bool

    @property
    def nominal(self) -> float:
        """The ε that Thm. 4.8 has for the same noise over the public range."""
        return self.epsilon if self.public else over_range(self.lambda1, self.epsilon)

    @property
    def kept(self) -> float:
        """What the noise keeps for one answer of a worker, over the public range."""
        return true_epsilon(self.nominal, ANSWERS)


def over_range(lambda1: float, epsilon: float) -> float:
    """ε (D / Δ)²: the noise for ε at Lemma 4.7's Δ is that for so much over the range D.

    >>> round(over_range(25.0, 1.0))
    3393
    """
    return epsilon * (WIDTH / published_distance(lambda1)) ** 2


SeenByLambda: TypeAlias = Mapping[Point, Mapping[str, Spread]]


def line_of(seen: SeenByLambda, epsilon: float, *, public: bool) -> list[Point]:
    """The points of one curve, by lambda1."""
    return [each for each in seen if each.epsilon == epsilon and each.public is public]


def rows(seen: SeenByLambda, ours: Mapping[float, Spread]) -> Iterator[Row]:
    """Noise and utility, errors to the truth, and what Lemma 4.7 claims."""
    yield from (_row(point, seen[point]) for point in seen)
    yield from _errors(seen, ours)
    yield from _lemma(seen)


def _row(point: Point, at: Mapping[str, Spread]) -> Row:
    return {
        "part": "Figure 2: noise and utility lost",
        "Delta": "public range" if point.public else "Lemma 4.7",
        "epsilon": point.epsilon,
        "lambda1": point.lambda1,
        "mean noise": at["noise"].mean,
        "MAE CRH": at["change"].mean,
        "s.e.": at["change"].standard_error,
        **{f"MAE {name}": at[f"change {name}"].mean for name in BASELINES},
        "true epsilon": point.kept,
        "trials": at["change"].trials,
    }


def _errors(seen: SeenByLambda, ours: Mapping[float, Spread]) -> Iterator[Row]:
    for point in (each for each in seen if each.epsilon == MAIN):
        at = seen[point]
        read = ours.get(point.lambda1) if point.public else None
        yield {
            "part": f"MAE to the truth, epsilon {MAIN:g}",
            "Delta": "public range" if point.public else "Lemma 4.7",
            "lambda1": point.lambda1,
            "before": at["clean"].mean,
            "CRH": at["error"].mean,
            **{name: at[f"error {name}"].mean for name in BASELINES},
            "ours": None if read is None else read.mean,
            "best constant": at["best constant"].mean,
        }


def _lemma(seen: SeenByLambda) -> Iterator[Row]:
    for lambda1 in dict.fromkeys(point.lambda1 for point in seen):
        said = coverage(lambda1)
        yield {
            "part": "Lemma 4.7: pairs of answers no farther apart than Delta",
            "lambda1": lambda1,
            "Delta": published_distance(lambda1),
            "claimed": said.value,
            "true": said.sound,
            "holds": "yes" if said.holds else "no",
        }


def charts(seen: SeenByLambda, ours: Mapping[float, Spread]) -> Iterator[Chart]:
    """P3's two charts, and the errors to the truth."""
    lines = {f"epsilon {epsilon:g}, Lemma 4.7": line_of(seen, epsilon, public=False)
             for epsilon in dict.fromkeys(point.epsilon for point in seen)}  # fmt: skip
    lines[f"epsilon {MAIN:g}, public range"] = line_of(seen, MAIN, public=True)
    notes = (
        "P3 §V-A: with small lambda1 large noise has to be added, so utility is affected more. "
        f"{_ends(seen, 'change')}",
        "P3 §V-A: when lambda1 is big, small noise can hide users' information. "
        f"{_ends(seen, 'noise')}",
    )
    kinds = (("a", "change", "Utility lost", "MAE, before to after"),
             ("b", "noise", "Noise", "mean size of the noise"))  # fmt: skip
    for (letter, name, title, label), note in zip(kinds, notes, strict=True):
        series = tuple(
            curve(line, [point.lambda1 for point in points], [seen[each][name] for each in points])
            for line, points in lines.items()
        )
        yield Chart(
            f"{title} by lambda1 (P3 Figure 2{letter})", AXIS, label, series, (), note,
            "lower" if name == "change" else "neither", "log", "log",
        )  # fmt: skip
    yield _error_chart(seen, ours)


def _ends(seen: SeenByLambda, name: str) -> str:
    """A quantity at both ends of the axis, for either Delta."""
    lemma, public = (line_of(seen, MAIN, public=each) for each in (False, True))
    (first, last), (low, high) = (
        (seen[line[0]][name].mean, seen[line[-1]][name].mean) for line in (lemma, public)
    )
    return (
        f"Here, at epsilon {MAIN:g}, it goes from {first:.3g} to {last:.3g} with the Delta of "
        f"Lemma 4.7, and from {low:.3g} to {high:.3g} with the public range."
    )


def _error_chart(seen: SeenByLambda, ours: Mapping[float, Spread]) -> Chart:
    points = line_of(seen, MAIN, public=True)
    xs = [point.lambda1 for point in points]
    names = {"CRH": "error", **{name: f"error {name}" for name in BASELINES}}
    series = [curve(line, xs, [seen[each][name] for each in points])
              for line, name in names.items()]  # fmt: skip
    series.append(curve("ours", tuple(ours), list(ours.values()), "ours"))
    return Chart(
        f"Error to the truth by lambda1, epsilon {MAIN:g} over the public range", AXIS,
        "MAE to the truth", tuple(series),
        (Level("best constant", seen[points[0]]["best constant"].mean),),
        "P3 shows no errors to the truth. Ours has the true epsilon of one answer, and no delta.",
        "lower", "log", "log",
    )  # fmt: skip
