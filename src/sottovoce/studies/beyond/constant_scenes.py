"""Pipelines beside the best constant: what was seen in one setting, its rows and its chart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

from sottovoce.figures import Chart, Level
from sottovoce.planning.trials import Spread
from sottovoce.studies.comparing import BAND, curve
from sottovoce.studies.contests import CONSTANT
from sottovoce.studies.study import Row, Value

__all__ = ["Arm", "Gap", "Scene", "chart_of", "errors_of", "starts_of"]

FIRST = "From which epsilon on a pipeline beats the best constant"


class Gap(NamedTuple):
    """A pipeline at an epsilon: its error, and how far that is above the constant's."""

    epsilon: float
    error: Spread
    apart: Spread

    @classmethod
    def of(cls, epsilon: float, key: str, trials: Sequence[Mapping[str, float]]) -> Self:
        """From trials that have the constant's error beside that of the key."""
        apart = [trial[key] - trial[CONSTANT] for trial in trials]
        return cls(epsilon, Spread.of([trial[key] for trial in trials]), Spread.of(apart))

    @property
    def beats(self) -> bool:
        """Below the constant by more than two standard errors of the differences."""
        return self.apart.mean + BAND * self.apart.standard_error < 0

    @property
    def worse(self) -> bool:
        """Above it by as much."""
        return self.apart.mean - BAND * self.apart.standard_error > 0


@dataclass(frozen=True, slots=True)
class Arm:
    """One pipeline in a setting, at every epsilon, the least first.

    `true` is its true epsilon per answer where the nominal one is 1; None if no finite one holds.
    """

    name: str
    gaps: tuple[Gap, ...]
    true: float | None = 1.0

    @classmethod
    def of(
        cls,
        name: str,
        key: str,
        found: Mapping[float, Sequence[Mapping[str, float]]],
        true: float | None = 1.0,
    ) -> Arm:
        """From the errors of trials, which have the constant's beside them."""
        gaps = (Gap.of(epsilon, key, trials) for epsilon, trials in sorted(found.items()))
        return cls(name, tuple(gaps), true)

    @property
    def start(self) -> float | None:
        """The epsilon from which on it beats the constant at each one tried; None if at none."""
        start = None
        for gap in reversed(self.gaps):
            if not gap.beats:
                break
            start = gap.epsilon
        return start


@dataclass(frozen=True, slots=True)
class Scene:
    """A setting with what was seen: the constant, the clean method, theirs, and ours if it ran."""

    group: str
    name: str
    unit: str
    constant: float
    clean: Gap
    theirs: tuple[Arm, ...]
    ours: Arm | None

    @property
    def arms(self) -> tuple[Arm, ...]:
        """Theirs, then ours."""
        return self.theirs if self.ours is None else (*self.theirs, self.ours)

    def excess(self, arm: Arm) -> float:
        """How far it is above the constant at the least epsilon, as a share of that error.

        Two standard errors are allowed for.
        """
        apart = arm.gaps[0].apart
        return (apart.mean - BAND * apart.standard_error) / self.constant


def starts_of(scene: Scene) -> Iterator[Row]:
    """A row for each arm: from which epsilon on it beats the constant."""
    for arm in scene.arms:
        yield {
            "part": FIRST, "setting": scene.name, "pipeline": arm.name, CONSTANT: scene.constant,
            "clean": scene.clean.error.mean, f"at {arm.gaps[0].epsilon:g}": arm.gaps[0].error.mean,
            f"at {arm.gaps[-1].epsilon:g}": arm.gaps[-1].error.mean,
            "beats it from": "never" if arm.start is None else arm.start,
            "true at 1": "none" if arm.true is None else round(arm.true, 6),
        }  # fmt: skip


def errors_of(scene: Scene, columns: Sequence[str]) -> Iterator[Row]:
    """A row for each epsilon: every arm in its column, beside the constant and clean answers."""
    part = f"{scene.unit.capitalize() if scene.unit != 'MAE' else 'MAE'} to the truth: "
    part += ", ".join(arm.name for arm in scene.theirs)
    for place, gap in enumerate(scene.theirs[0].gaps):
        here = [arm.gaps[place] for arm in scene.arms]
        row: dict[str, Value] = {"part": part, "setting": scene.name, "epsilon": gap.epsilon}
        row |= {CONSTANT: scene.constant, "clean": scene.clean.error.mean}
        row |= dict.fromkeys(columns)
        row |= {arm.name: seen.error.mean for arm, seen in zip(scene.arms, here, strict=True)}
        yield {
            **row, "s.e., at most": max(seen.error.standard_error for seen in here),
            "trials": gap.error.trials,
        }  # fmt: skip


def chart_of(scene: Scene) -> Chart:
    """Every arm by epsilon, with the constant and clean answers as levels."""
    epsilons = [gap.epsilon for gap in scene.theirs[0].gaps]
    series = tuple(
        curve(arm.name, epsilons, [gap.error for gap in arm.gaps],
              "ours" if arm is scene.ours else "theirs")
        for arm in scene.arms
    )  # fmt: skip
    # A factor from pipeline to pipeline is seen on a logarithmic axis, if no band reaches 0.
    above = min(low for each in series for low in each.low or each.y) > 0
    return Chart(
        f"Who beats the best constant: {scene.name} ({scene.group})", "epsilon per answer, nominal",
        f"{scene.unit} to the truth", series,
        (Level("constant", scene.constant), Level("clean", scene.clean.error.mean)), _note(scene),
        better="lower", x_scale="log", y_scale="log" if scene.unit == "MAE" and above else "linear",
    )  # fmt: skip


def _note(scene: Scene) -> str:
    starts = [f"{arm.name} {'never' if arm.start is None else f'from {arm.start:g}'}"
              for arm in scene.arms]  # fmt: skip
    return (
        "Claim (ours): at small epsilon the papers' pipelines do no better than the best constant, "
        f"which knows the truths. It is beaten by: {', '.join(starts)}."
    )
