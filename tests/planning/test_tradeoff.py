"""What privacy costs on a table: the same for the same seed, fair to all pairs, honest in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from sottovoce.datasets import CategoricalCrowd, NumericCrowd, SparseCrowd, generate
from sottovoce.errors import DataError, UsageError
from sottovoce.inference.registry import usual_methods
from sottovoce.mechanisms.policies import Target
from sottovoce.model import Domain, FloatArray, Gold, Kind, Policy, Reports, Unit
from sottovoce.planning import tradeoff as planning_tradeoff
from sottovoce.planning.pipelines import Pipeline, papers
from sottovoce.planning.tradeoff import Tradeoff, contenders, tradeoff, within_range
from sottovoce.planning.trials import Spread, Trial, run_trial

ANSWERS, GOLD = generate(CategoricalCrowd(workers=20, tasks=40, labels=3, seed=3))
OURS = Pipeline("randomised response + aware", "randomized-response")
VOTE = Pipeline("randomised response + vote", "randomized-response", "majority-vote")


def small(**changes: object) -> Tradeoff:
    options = {"pairs": [OURS, VOTE], "trials": 3, "seed": 5, **changes}
    return tradeoff(ANSWERS, GOLD, [1.0, 20.0], **options)  # type: ignore[arg-type]


@pytest.mark.slow
def test_the_same_seed_gives_the_same_rows_whatever_the_jobs() -> None:
    found = small(pairs=[VOTE, Pipeline("TD", "randomized-response", "td")])
    assert found == small(pairs=[row.pair for row in found.rows[:2]], jobs=2)


def test_another_seed_gives_other_rows() -> None:
    assert small().rows != small(seed=6).rows


def test_every_pair_meets_the_same_noise() -> None:
    twin = Pipeline("another name", "randomized-response", "majority-vote")
    rows = small(pairs=[VOTE, twin]).rows
    assert rows[0].spread == rows[1].spread
    assert rows[2].spread == rows[3].spread


def test_hardly_any_noise_gives_what_clean_answers_give() -> None:
    pairs = [Pipeline(name, "randomized-response", name) for name in usual_methods(ANSWERS.domain)]
    found = tradeoff(ANSWERS, GOLD, [30.0], pairs=pairs, trials=2)
    means = {row.pair.name: row.spread.mean for row in found.rows}
    # Ties fall at random, and differ between trials: of 40 tasks, on a few.
    assert found.clean == pytest.approx(means[found.clean_method], abs=0.05)
    assert found.clean == pytest.approx(max(means.values()), abs=0.05)
    assert found.clean > found.constant + 0.2


def test_the_pilot_draws_other_noise_than_the_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int] = []

    def seen(
        answers: Reports, truths: FloatArray, policy: Policy | None, method: str, seed: int,
        settings: Mapping[str, Any] | None = None,
    ) -> Trial:  # fmt: skip
        if policy is not None:
            seeds.append(seed)
        return run_trial(answers, truths, policy, method, seed, settings)

    monkeypatch.setattr(planning_tradeoff, "run_trial", seen)
    other = Pipeline("subset selection + aware", "subset-selection")
    tradeoff(ANSWERS, GOLD, [1.0], pairs=[OURS, other, VOTE], trials=3)
    pilot, reported = seeds[:8], seeds[8:]
    assert len(set(pilot)) == 4
    assert len(set(reported)) == 3
    assert not set(pilot) & set(reported)


def test_the_pair_with_the_lowest_pilot_error_is_recommended() -> None:
    useless = Pipeline("useless + aware", "two-layer")
    found = tradeoff(ANSWERS, GOLD, [4.0], pairs=[useless, OURS], trials=2)
    assert found.recommended[4.0].pair == OURS
    assert [row.pair for row in found.rows] == [OURS]


def test_the_guarantee_is_for_all_answers_of_a_worker() -> None:
    found = small()
    assert found.answers == np.bincount(ANSWERS.worker).max()
    assert [row.true_epsilon for row in found.rows] == pytest.approx([1, 1, 20, 20], rel=1e-6)


def test_a_flagged_pair_shows_its_true_epsilon_and_is_not_recommended() -> None:
    flagged = Pipeline("published", "two-layer", published=True)
    rows = small(pairs=[flagged, OURS]).rows
    [row] = [row for row in rows if row.epsilon == 1 and row.pair == flagged]
    assert row.true_epsilon > 2
    assert not row.recommended


def test_papers_calibrations_are_left_out_where_the_unit_is_the_worker() -> None:
    targets = [Target(1.0, Unit.WORKER, answers=5)]
    domain = Domain.categorical("abc")
    assert any(pair.published for pair in papers(domain))
    ours, theirs = contenders(domain, None, targets)
    assert not any(pair.published for pair in (*ours, *theirs))
    assert ours
    assert theirs


def test_labels_are_asked_for_by_mechanisms_that_report_labels() -> None:
    ours, _ = contenders(Domain.ordinal(range(4)), None, [Target(1.0, answers=5)])
    assert {pair.mechanism for pair in ours} <= {
        "randomized-response", "subset-selection", "sealed-sum",
    }  # fmt: skip


def test_the_rows_are_columns_with_the_references_last() -> None:
    table = small().table()
    assert list(table) == [
        "epsilon", "pair", "role", "mechanism", "method", "true_epsilon", "delta", "trials",
        "mean", "standard_error", "low", "high", "measure",
    ]  # fmt: skip
    assert table["pair"].tolist()[-2:] == ["clean answers", "best constant"]
    assert table["role"].tolist() == [*["recommended", "papers"] * 2, *["reference"] * 2]
    assert len({len(column) for column in table.values()}) == 1


def test_a_name_that_only_says_the_mechanism_says_what_reads_it() -> None:
    pairs = [
        Pipeline("response", "randomized-response"),
        Pipeline("vote", "randomized-response", "td"),
    ]
    assert [row.name for row in small(pairs=pairs).rows[:2]] == ["response + aware", "vote"]


def test_numbers_are_measured_by_their_distance() -> None:
    answers, gold = generate(NumericCrowd(workers=20, tasks=8, clip=True))
    pair = Pipeline("Laplace + median", "laplace", "median")
    found = tradeoff(answers, gold, [1.0], pairs=[pair], trials=2)
    assert found.measure == "mae"
    assert found.constant == pytest.approx(np.abs(gold.truths - np.median(gold.truths)).mean())


def test_hidden_participation_of_ordinal_labels_is_measured_as_numbers() -> None:
    answers, truths = generate(SparseCrowd(workers=30, tasks=12, sparsity=0.5, kind=Kind.ORDINAL))
    gold = Gold(truths.tasks, np.clip(np.rint(truths.truths), 0, 9).astype(int).astype(str))
    pair = papers(answers.domain, hide_participation=True)[1]
    found = tradeoff(answers, gold, [2.0], pairs=[pair], trials=2, hide_participation=True)
    assert (found.measure, found.answers) == ("mae", len(answers.tasks))


def test_numbers_without_a_range_are_refused() -> None:
    answers, gold = generate(NumericCrowd(workers=5, tasks=3))
    with pytest.raises(UsageError, match="public range"):
        tradeoff(answers, gold, [1.0], trials=2)


def test_numbers_outside_the_range_are_counted_or_moved() -> None:
    answers = Reports.of([0, 0, 0], [0, 1, 2], [-1.0, 5.0, 12.0], domain=Domain.numeric())
    with pytest.raises(DataError, match=r"2 of 3 answers lie outside 0\.\.10.*clip=True"):
        within_range(answers, Domain.numeric(0, 10))
    moved = within_range(answers, Domain.numeric(0, 10), clip=True)
    assert moved.value.tolist() == [0.0, 5.0, 10.0]
    assert moved.domain == Domain.numeric(0, 10)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"epsilons": []}, "at least one epsilon"),
        ({"epsilons": [1.0, 1.0]}, "given twice"),
        ({"epsilons": [-1.0]}, "epsilon must be above 0"),
        ({"trials": 1}, "trials must be a whole number from 2 up"),
        ({"pairs": []}, "no pair to try"),
        ({"pairs": [OURS, OURS]}, "two pairs have the same name"),
        ({"seed": -1}, "a seed is a whole number"),
        ({"jobs": 0}, "jobs must be"),
    ],
)
def test_what_makes_no_sense_is_refused(changes: dict[str, object], words: str) -> None:
    options = {"epsilons": [1.0], "pairs": [VOTE], "trials": 2, **changes}
    with pytest.raises(UsageError, match=words):
        tradeoff(ANSWERS, GOLD, **options)  # type: ignore[arg-type]


def test_progress_counts_to_the_end() -> None:
    seen: list[tuple[int, int]] = []
    other = Pipeline("subset selection + aware", "subset-selection")
    small(pairs=[OURS, other, VOTE], progress=lambda *done: seen.append(done))
    assert seen == [(done, 28) for done in range(29)]  # 2 x (4 x 2 + 3 x 2)


def test_a_band_holds_most_trials_and_flips_with_them() -> None:
    spread = Spread.of(np.linspace(0, 1, 21).tolist())
    assert (spread.low, spread.mean, spread.high) == pytest.approx((0.05, 0.5, 0.95))
    flipped = Spread.of([0.1, 0.2, 0.4]).flipped()
    again = Spread.of([0.9, 0.8, 0.6])
    assert (flipped.mean, flipped.low, flipped.high) == pytest.approx(
        (again.mean, again.low, again.high)
    )


def test_one_trial_has_no_standard_error() -> None:
    assert np.isnan(Spread.of([0.5]).standard_error)
