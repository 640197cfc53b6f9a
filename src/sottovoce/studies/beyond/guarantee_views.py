"""What `true-guarantees` shows: true values in tables and over the number of answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from sottovoce.figures import Chart, Level, Role, Series
from sottovoce.studies.beyond.published_guarantees import LENGTHS
from sottovoce.studies.study import Row, Value

__all__ = ["Found", "charts_of", "finite", "rows_of"]

Found: TypeAlias = Mapping[tuple[Any, ...], Any]
"""Results by what they are of: "two" and "one" (layers: labels, ε, k), "variance" (δ, k), "laplace"
(values), "response", "2-layer", "mf" (k), "sound" (mechanism)."""

P1 = "P1, one and two layers: true epsilon, and delta at the claimed epsilon"
P3 = "P3, random variance: the least delta at epsilon 1"
P4 = "P4 at a claimed epsilon of 1"
MF = "P4, MF between an answer and NULL, at a claimed epsilon of 1"
OURS = "Sound calibrations of the same mechanisms to epsilon 1"

DIGITS = 9
"""Tables leave out what is below rounding."""


def finite(value: float) -> Value:
    """A number for a table, or that there is none.

    >>> finite(1 / 3), finite(math.inf)
    (0.333333333, 'no bound')
    """
    return round(value, DIGITS) if math.isfinite(value) else "no bound"


def rows_of(found: Found) -> Iterator[Row]:
    """A row for each result; one layer stands beside two."""
    for (kind, *place), seen in found.items():
        if kind == "two":
            yield _layers_row(place, seen, found["one", *place])
        elif kind in _ROWS:
            yield _ROWS[kind](place, seen)


def _layers_row(place: Sequence[Any], two: Mapping[str, float], one: Mapping[str, float]) -> Row:
    symbols, epsilon, k = place
    return {
        "part": P1, "labels": symbols, "claimed": epsilon, "answers": k,
        "per answer": finite(two["answer"]), "one layer": finite(one["answer"]),
        "delta": finite(two["delta"]), "per worker": finite(two["worker"]),
        "one layer, worker": finite(one["worker"]),
    }  # fmt: skip


def _variance_row(place: Sequence[Any], seen: Mapping[str, Any]) -> Row:
    delta, k = place
    return {
        "part": P3, "claimed": delta, "answers": "no end" if k is None else k,
        "per answer": seen["answer"], "per worker": seen["worker"],
        "pure epsilon": "none" if seen["pure"] is None else seen["pure"],
    }  # fmt: skip


def _laplace_row(place: Sequence[Any], seen: Mapping[str, float]) -> Row:
    return _p4_row(f"LP over {place[0]}", seen["answer"], seen["drawn"])


def _response_row(place: Sequence[Any], seen: Mapping[str, float]) -> Row:
    return _p4_row("RR over {0, …, 9} with NULL", seen["answer"], seen["answer"])


def _sparse_row(place: Sequence[Any], seen: Mapping[str, float]) -> Row:
    name = f"2-Layer over {{0, …, 9}} with NULL, {place[0]} reports"
    return _p4_row(name, seen["answer"], seen["answer"])


def _p4_row(mechanism: str, true: float, drawn: float) -> Row:
    return {"part": P4, "mechanism": mechanism, "true": finite(true),
            "of the integers drawn": finite(drawn)}  # fmt: skip


def _profile_row(place: Sequence[Any], seen: Mapping[str, Any]) -> Row:
    losses = zip(LENGTHS, seen["losses"], strict=True)
    return {
        "part": MF, "answers": place[0], "delta, at least": seen["delta"], "s.e.": seen["s.e."],
        **{f"loss, |u| {length:,.0f}": loss for length, loss in losses},
    }  # fmt: skip


def _sound_row(place: Sequence[Any], seen: Mapping[str, Any]) -> Row:
    return {"part": OURS, "mechanism": place[0], "answers": seen["answers"],
            "true": finite(seen["epsilon"]), "delta": seen["delta"]}  # fmt: skip


_ROWS: Mapping[str, Callable[[Sequence[Any], Any], Row]] = {
    "variance": _variance_row, "laplace": _laplace_row, "response": _response_row,
    "2-layer": _sparse_row, "mf": _profile_row, "sound": _sound_row,
}  # fmt: skip


def charts_of(found: Found) -> Iterator[Chart]:
    """True epsilon per answer, per worker, and delta at a claimed epsilon of 1, over answers."""
    few = ((2, 0.0), (2, 1.0), (2, 4.0), (5, 1.0))
    yield Chart(
        "True epsilon per answer of two layers (P1 Thm. 6.3)",
        "answers of a worker", "true epsilon per answer",
        (*(_layers(found, case, "answer") for case in few),
         _layers(found, (2, 1.0), "answer", "one")),
        tuple(Level("claimed", epsilon) for epsilon in (1.0, 4.0)),
        "P1 Thm. 6.3 claims the epsilon in a curve's name, and says nothing of the number of "
        "answers. It holds for one answer; then it grows like the logarithm of their number.",
        better="lower", x_scale="log",
    )  # fmt: skip
    yield Chart(
        "True epsilon per worker of two layers (P1 Thm. 6.4)",
        "answers of a worker", "true epsilon per worker",
        (*(_layers(found, case, "worker", least=2) for case in ((2, 0.0), (2, 1.0), (5, 1.0))),
         _layers(found, (2, 1.0), "worker", "one", least=2)),
        (Level("claimed", 1.0),),
        "P1 Thm. 6.4 claims that two layers are as private as one. All answers together betray "
        "about 0.7 for each of them at a claimed 0, where one layer betrays nothing; at a claimed "
        "1 it is less than one layer with 2 labels, and more with 5.",
        better="lower", x_scale="log", y_scale="log",
    )  # fmt: skip
    yield _deltas(found)


def _deltas(found: Found) -> Chart:
    known = [key[2] for key in found if key[:2] == ("variance", 0.1) and key[2] is not None]
    mf = {place[0]: seen for (kind, *place), seen in found.items() if kind == "mf"}
    return Chart(
        "What a claimed epsilon of 1 leaves uncovered (P1 Thm. 6.3, P3 Thm. 4.8, P4 Thm. 4)",
        "answers of a worker",
        "true delta at epsilon 1",
        (
            _layers(found, (2, 1.0), "delta"),
            _layers(found, (5, 1.0), "delta"),
            _series("P3, per answer", known, [found["variance", 0.1, k]["answer"] for k in known]),
            _series("P3, per worker", known, [found["variance", 0.1, k]["worker"] for k in known]),
            _series("P4's MF, NULL or a value", list(mf), [mf[k]["delta"] for k in mf]),
            _layers(found, (2, 1.0), "delta", "one"),
        ),
        (Level("P3 claims", 0.1),),
        "P1 Thm. 6.3 and P4 Thm. 4 claim 0 and P3 Thm. 4.8 claims 0.1 per answer. Only P3's holds; "
        "MF's is that of one pair of neighbours, so at least as much.",
        better="lower", x_scale="log",
    )  # fmt: skip


def _layers(
    found: Found, case: tuple[int, float], column: str, kind: str = "two", least: int = 1
) -> Series:
    """One curve over the number of answers."""
    seen = {key[3]: value[column] for key, value in found.items()
            if key[:3] == (kind, *case) and key[3] >= least}  # fmt: skip
    names = {
        "two": f"{case[0]} labels, claimed {case[1]:g}",
        "one": f"one layer, claimed {case[1]:g}",
    }
    return _series(names[kind], list(seen), list(seen.values()),
                   "reference" if kind == "one" else "theirs")  # fmt: skip


def _series(name: str, x: Sequence[int], y: Sequence[float], role: Role = "theirs") -> Series:
    return Series(name, tuple(map(float, x)), tuple(y), role=role)
