"""Threshold questions: the hash, the law, NULL, and windows that move."""

import hashlib
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.datasets import SeededRandomness
from sottovoce.errors import DataError, UsageError
from sottovoce.mechanisms.threshold import Threshold, Windows, next_windows
from sottovoce.model import NULL, WORDS, Alphabet, Cells, Domain, Unit

DIGITS = Domain.ordinal(range(10))
RANGE = Domain.numeric(0, 10, step=0.1)


def table(workers: int, tasks: int, codes: Any = 0, prefix: str = "w") -> Cells:
    """Every worker with every task; codes broadcast over workers × tasks."""
    return Cells(
        np.repeat(np.arange(workers, dtype=np.int32), tasks),
        np.tile(np.arange(tasks, dtype=np.int32), workers),
        np.broadcast_to(np.asarray(codes, np.int32), (workers, tasks)).ravel(),
        np.array([f"{prefix}{i}" for i in range(workers)]),
        np.array([f"t{i}" for i in range(tasks)]),
    )


def test_the_threshold_is_the_documented_hash() -> None:
    cells = Cells(
        np.array([0], np.int32), np.array([0], np.int32), np.array([0], np.int32),
        np.array(["Zoë"]), np.array(["t1"]),
    )  # fmt: skip
    data = b"\0\0\0\4salt" + b"\0\0\0\4Zo\xc3\xab" + b"\0\0\0\2t1"
    drawn = int.from_bytes(hashlib.sha256(data).digest()[:6], "big")
    mechanism = Threshold(1000, 1 << 60, salt="salt")
    assert mechanism.thresholds(cells).tolist() == [1 + (drawn * 1000 >> 48)]


def test_a_known_threshold_stays_the_same() -> None:
    # By hand: printf '\0\0\0\1s\0\0\0\2w0\0\0\0\2t0' | sha256sum, and so on.
    known = [680, 494, 880, 682]
    assert Threshold(1000, 1 << 60, salt="s").thresholds(table(2, 2)).tolist() == known


def test_names_that_are_numbers_are_their_digits() -> None:
    cells, mechanism = table(3, 4, prefix=""), Threshold(1000, 1 << 60)
    numbered = Cells(cells.worker, cells.task, cells.code, np.arange(3), cells.tasks)
    assert mechanism.thresholds(numbered).tolist() == mechanism.thresholds(cells).tolist()


def test_the_frames_keep_names_apart() -> None:
    def named(worker: str, task: str) -> Cells:
        zero = np.zeros(1, np.int32)
        return Cells(zero, zero, zero, np.array([worker]), np.array([task]))

    mechanism = Threshold(65536, 1 << 60)
    one, two = mechanism.thresholds(named("ab", "c")), mechanism.thresholds(named("a", "bc"))
    assert one.tolist() != two.tolist()


def test_thresholds_are_spread_evenly_over_the_range() -> None:
    thresholds = Threshold(10, 1 << 60).thresholds(table(400, 250))
    seen = np.bincount(thresholds, minlength=11)
    assert seen[0] == 0
    assert np.abs(seen[1:] - 10_000).max() <= 6 * math.sqrt(10_000)


def test_thresholds_stay_in_their_windows() -> None:
    mechanism = Threshold(100, 1 << 60).moved({"t0": (40, 42), "t2": (7, 7)})
    cells = table(200, 3)
    thresholds = mechanism.thresholds(cells)
    assert set(thresholds[cells.task == 0].tolist()) == {40, 41, 42}
    assert set(thresholds[cells.task == 2].tolist()) == {7}
    assert thresholds[cells.task == 1].max() > 90


@pytest.mark.parametrize("options", [{}, {"null": True}, {"null": True, "coin": True}])
def test_reports_follow_the_channel(options: dict[str, Any]) -> None:
    mechanism = Threshold.calibrated(DIGITS, 1.0, **options)
    law = mechanism.channel().matrix()
    answers = [0, 4, 9] + ([NULL] if mechanism.null else [])
    for answer in answers:
        cells = table(200, 200, answer)
        reports = mechanism.perturb(cells, None, SeededRandomness(8)).code
        side = (answer >= mechanism.thresholds(cells)).astype(int)
        rows = np.full(len(cells), 2) if answer == NULL else side
        for row in np.unique(rows):
            chosen = reports[rows == row]
            seen = np.bincount(chosen, minlength=mechanism.symbols) / len(chosen)
            assert np.abs(seen - law[row]).max() <= 6 * math.sqrt(0.25 / len(chosen))


@pytest.mark.parametrize("options", [{}, {"null": True}, {"null": True, "coin": True}])
def test_the_stated_epsilon_is_the_worst_ratio_of_the_channel(options: dict[str, Any]) -> None:
    mechanism = Threshold.calibrated(DIGITS, 1.0, **options)
    columns = list(zip(*mechanism.channel().weights, strict=True))
    worst = max(math.log(max(column) / min(column)) for column in columns)
    assert mechanism.guarantee(1, Unit.ANSWER).epsilon == pytest.approx(worst, rel=1e-12)


@pytest.mark.parametrize("options", [{}, {"null": True}, {"null": True, "coin": True}])
def test_log_likelihood_at_thresholds_is_the_channels(options: dict[str, Any]) -> None:
    mechanism = Threshold.calibrated(DIGITS, 1.0, **options)
    law = np.log(mechanism.channel().matrix())
    for answer, row in [(3, 0), (4, 1), (5, 1)] + ([(NULL, 2)] if mechanism.null else []):
        logs = mechanism.log_likelihood_at(np.arange(mechanism.symbols), answer, 4)
        assert logs == pytest.approx(law[row], abs=1e-12)


@pytest.mark.parametrize("null", [False, True])
@pytest.mark.parametrize("epsilon", [1e-4, 1.0, 20.0])
@pytest.mark.parametrize(
    ("unit", "answers", "delta"),
    [(Unit.ANSWER, 9, 0.0), (Unit.WORKER, 50, 0.0), (Unit.WORKER, 50, 1e-6)],
)
def test_calibration_lands_just_below_its_target(
    null: bool, epsilon: float, unit: Unit, answers: int, delta: float
) -> None:
    mechanism = Threshold.calibrated(
        RANGE, epsilon, unit=unit, delta=delta, answers=answers, null=null
    )
    assert 0 <= epsilon - mechanism.guarantee(answers, unit, delta).epsilon <= 1e-6


def test_unbiased_reports_average_to_the_answer() -> None:
    mechanism = Threshold.calibrated(DIGITS, 1.0)
    for answer in (0, 3, 9):
        reports = mechanism.perturb(table(200, 200, answer), None, SeededRandomness(4))
        codes = mechanism.unbiased(reports.code, mechanism.thresholds(reports))
        assert codes.mean() == pytest.approx(answer, abs=6 * codes.std() / 200)


def test_a_plain_mean_of_windows_is_refused() -> None:
    with pytest.raises(UsageError, match="thresholds over the whole range"):
        Threshold(9, 5).moved({"t": (2, 3)}).unbiased([0], [3])


def test_with_null_as_a_symbol_answered_cells_average_to_the_answer() -> None:
    mechanism = Threshold.calibrated(DIGITS, 1.0, null=True)
    reports = mechanism.perturb(table(300, 200, 7), None, SeededRandomness(4))
    codes = mechanism.unbiased(reports.code, mechanism.thresholds(reports))
    told = codes[np.isfinite(codes)]
    assert np.isnan(codes[reports.code == 2]).all()
    assert told.mean() == pytest.approx(7, abs=6 * told.std() / np.sqrt(len(told)))


@pytest.mark.parametrize(
    ("options", "alphabet"),
    [({}, Alphabet.SIDES), ({"null": True}, Alphabet.SIDES_OR_NULL),
     ({"null": True, "coin": True}, Alphabet.SIDES)],
)  # fmt: skip
def test_null_decides_the_alphabet(options: dict[str, Any], alphabet: Alphabet) -> None:
    assert Threshold(9, 5, **options).alphabet is alphabet


def test_null_is_refused_where_participation_is_public() -> None:
    with pytest.raises(DataError, match="and no NULL"):
        Threshold(9, 5).perturb(table(1, 1, NULL), None, SeededRandomness(1))


def test_windows_hold_the_truth_and_are_narrower() -> None:
    mechanism = Threshold.calibrated(RANGE, 2.0)
    truths = np.arange(5, 96, 5)
    reports = mechanism.perturb(table(300, len(truths), truths), None, SeededRandomness(6))
    windows = next_windows(mechanism, reports, mass=0.999_999_9)
    spans = {task: (first, last) for task, first, last in windows.entries}
    assert all(spans[f"t{i}"][0] <= truth <= spans[f"t{i}"][1] for i, truth in enumerate(truths))
    assert np.mean([last - first for first, last in spans.values()]) < 60


def test_moved_thresholds_find_the_truth_more_closely() -> None:
    mechanism = Threshold.calibrated(Domain.numeric(0, 1000, step=1), 1.0)
    truths = np.linspace(150, 850, 29).astype(int)

    def widths(first: int, adaptive: bool) -> float:
        one, two = (table(400, len(truths), truths, prefix) for prefix in "ab")
        early = mechanism.perturb(one, None, SeededRandomness(first))
        asked = mechanism.moved(next_windows(mechanism, early)) if adaptive else mechanism
        late = asked.perturb(two, None, SeededRandomness(first + 1))
        both = Cells(
            np.concatenate([early.worker, late.worker + 400]),
            np.concatenate([early.task, late.task]),
            np.concatenate([early.code, late.code]).astype(np.int32),
            np.concatenate([early.workers, late.workers]), early.tasks,
        )  # fmt: skip
        used = np.concatenate([mechanism.thresholds(early), asked.thresholds(late)])
        windows = next_windows(mechanism, both, used, margin=1)
        return float(np.mean([last - first for _, first, last in windows.entries]))

    assert widths(1, adaptive=True) < 0.7 * widths(1, adaptive=False)


def test_windows_are_the_same_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = Threshold.calibrated(RANGE, 1.0, null=True)
    reports = mechanism.perturb(table(20, 17, 55), None, SeededRandomness(9))
    whole = next_windows(mechanism, reports)
    monkeypatch.setattr("sottovoce.mechanisms.threshold.BLOCK", 400)
    assert next_windows(mechanism, reports) == whole


@given(steps=st.integers(1, 30), seed=st.integers(0, 99), mass=st.floats(0.01, 0.99))
@settings(deadline=None)
def test_windows_are_always_windows(steps: int, seed: int, mass: float) -> None:
    mechanism = Threshold(steps, WORDS // 50)
    reports = mechanism.perturb(table(9, 3, seed % (steps + 1)), None, SeededRandomness(seed))
    moved = mechanism.moved(next_windows(mechanism, reports, mass=mass))
    assert len(moved.windows.entries) == 3


def test_a_task_without_reports_is_asked_about_nearly_the_whole_range() -> None:
    empty = np.zeros(0, np.int32)
    cells = Cells(empty, empty, empty, np.array(["w"]), np.array(["t"]))
    assert next_windows(Threshold(100, 5), cells).entries == (("t", 1, 100),)


@pytest.mark.parametrize(
    "mechanism",
    [Threshold(9, 5), Threshold(9, 5, null=True, coin=True, salt="é"),
     Threshold(9, 5, null=True).moved({"b": (1, 9), "a": (4, 4)})],
)  # fmt: skip
def test_json_comes_back_as_it_went(mechanism: Threshold) -> None:
    assert Threshold.of_json(mechanism.as_json()) == mechanism


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": 0}, "steps must be an integer from 1"),
        ({"other": "0"}, "other must be an integer from 1"),
        ({"other": str(WORDS // 2)}, "other must be an integer from 1"),
        ({"null": 1}, "null must be true or false"),
        ({"coin": True}, "it needs null"),
        ({"salt": 5}, "salt must be a text"),
        ({"windows": []}, "windows must map tasks"),
        ({"windows": {"t": [1]}}, "the window of task 't' must be a first and a last"),
        ({"windows": {"t": [0, 4]}}, "first threshold of task 't' must be an integer from 1 to 4"),
        ({"windows": {"t": [1, 10]}}, "last threshold of task 't' must be an integer from 1 to 9"),
    ],
)
def test_a_wrong_field_is_named(change: dict[str, Any], message: str) -> None:
    document = Threshold(9, 5).as_json() | change
    with pytest.raises(UsageError, match=message):
        Threshold.of_json(document)


@pytest.mark.parametrize(
    ("options", "message"), [({"mass": 1.0}, "mass"), ({"margin": 0}, "margin")]
)
def test_a_window_needs_a_mass_and_a_margin(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=f"{message} must be"):
        next_windows(Threshold(9, 5), table(1, 1), **options)


def test_no_windows_are_falsy() -> None:
    assert not Windows()


def test_labels_without_order_are_refused() -> None:
    with pytest.raises(UsageError, match="threshold takes numbers or labels in order"):
        Threshold.calibrated(Domain.categorical("ab"), 1.0)
