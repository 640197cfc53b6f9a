"""Numbers through a known channel: near the truth, and with honest errors under heavy noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy

from sottovoce.datasets import SeededRandomness
from sottovoce.engines import LocalEngine
from sottovoce.errors import UsageError
from sottovoce.inference.noise_aware.grid_model import (
    cell_masses,
    grid_model,
    participation_rate,
    truth_grid,
    unbiased_numbers,
)
from sottovoce.inference.noise_aware.numbers import AwareNumbers
from sottovoce.mechanisms.codes import report_table
from sottovoce.mechanisms.duchi import Duchi
from sottovoce.mechanisms.laplace import Laplace
from sottovoce.mechanisms.piecewise import Piecewise
from sottovoce.mechanisms.random_variance_gaussian import RandomVarianceGaussian
from sottovoce.mechanisms.subset_selection import SubsetSelection
from sottovoce.mechanisms.threshold import Threshold
from sottovoce.model import (
    NULL,
    Cells,
    Codes,
    Domain,
    Evidence,
    FloatArray,
    NoisyChannel,
    PointChannel,
    Reports,
    Result,
)
from sottovoce.seams import Mechanism

TEN = Domain.numeric(0, 10, step=0.1)
DIGITS = Domain.ordinal(range(10))


def perturbed(mechanism: Mechanism, domain: Domain, codes: Codes, seed: int = 1) -> Evidence:
    """The evidence from the answers of all workers (rows) to all tasks (columns)."""
    workers, tasks = codes.shape
    cells = Cells(
        np.repeat(np.arange(workers, dtype=np.int32), tasks),
        np.tile(np.arange(tasks, dtype=np.int32), workers),
        codes.ravel().astype(np.int32),
        np.arange(workers).astype(str).astype(object),
        np.arange(tasks).astype(str).astype(object),
    )
    randomness = SeededRandomness(seed)
    private = mechanism.draw(workers, randomness)
    sent = mechanism.perturb(cells, private, randomness)
    table = report_table(sent, mechanism.alphabet, domain, simulated=True)
    found = mechanism.evidence(table, domain, as_numbers=True)
    assert found is not None
    return found


def aware(found: Evidence, domain: Domain, **settings: Any) -> AwareNumbers:
    assert isinstance(found.channel, PointChannel | NoisyChannel)
    return AwareNumbers(found.channel, domain, **settings)


def fit(found: Evidence, domain: Domain, **settings: Any) -> Result:
    return aware(found, domain, **settings).fit(LocalEngine(found.symbols))


def crowd(seed: int, workers: int = 150, tasks: int = 30) -> tuple[FloatArray, Codes]:
    """P3's setting: truths U(1, 9), error variances Exp(1), answers clipped to 0..10."""
    rng = np.random.default_rng(seed)
    truths = rng.uniform(1, 9, tasks)
    deviation = np.sqrt(rng.exponential(1, (workers, 1)))
    answers = np.clip(truths + deviation * rng.normal(size=(workers, tasks)), 0, 10)
    return truths, np.rint(answers * 10).astype(np.int32)


def digits(seed: int, answered: float) -> tuple[FloatArray, Codes]:
    """P4's setting, smaller: digits of good and bad workers, most cells NULL."""
    rng = np.random.default_rng(seed)
    truths = rng.uniform(1, 8, 40)
    deviation = np.where(np.arange(1000) % 2, 1.0, 5.0)[:, np.newaxis]
    answers = np.clip(np.rint(truths + deviation * rng.normal(size=(1000, 40))), 0, 9)
    return truths, np.where(rng.random(answers.shape) < answered, answers, NULL).astype(np.int32)


def clean(count: int = 101) -> PointChannel:
    """A channel that sends every answer unchanged."""
    return PointChannel(np.linspace(0, 10, count), np.eye(count))


def symbols(worker: Any, task: Any, value: Any, channel: PointChannel, **names: Any) -> LocalEngine:
    domain = Domain.categorical(range(channel.symbols))
    return LocalEngine(Reports.of(worker, task, value, domain=domain, **names))


@pytest.mark.parametrize(
    ("mechanism", "bar"),
    [
        (Piecewise.calibrated(TEN, 2.0), 0.20),
        (SubsetSelection.calibrated(TEN, 2.0), 0.18),
        (Threshold.calibrated(TEN, 2.0), 0.36),
        (Laplace.calibrated(TEN, 2.0), 0.55),
        (RandomVarianceGaussian.calibrated(TEN, 2.0, delta=0.1), 0.40),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_truths_are_found_through_every_mechanism(mechanism: Mechanism, bar: float) -> None:
    truths, codes = crowd(0)
    found = perturbed(mechanism, TEN, codes)
    result = fit(found, TEN)
    assert np.abs(result.truths - truths).mean() < bar
    assert result.domain == TEN


def test_standard_errors_cover_most_truths() -> None:
    inside = []
    for seed in range(4):
        truths, codes = crowd(seed)
        found = perturbed(Piecewise.calibrated(TEN, 1.0), TEN, codes, seed)
        result = fit(found, TEN)
        assert result.standard_error is not None
        inside.append(np.abs(result.truths - truths) < 1.645 * result.standard_error)
    assert 0.75 < np.mean(inside) < 0.99


def test_good_workers_weigh_more() -> None:
    rng = np.random.default_rng(5)
    deviation = np.repeat([0.3, 3.0], 50)[:, np.newaxis]
    answers = np.clip(rng.uniform(2, 8, 30) + deviation * rng.normal(size=(100, 30)), 0, 10)
    codes = np.rint(answers * 10).astype(np.int32)
    found = perturbed(Piecewise.calibrated(TEN, 3.0), TEN, codes)
    weights = fit(found, TEN).weights
    assert weights[:50].min() > weights[50:].max()


def test_without_noise_truths_are_near_the_mean_of_good_workers() -> None:
    truths, codes = crowd(2)
    deviation = np.std(codes / 10 - truths, axis=1)
    good = (codes / 10)[np.argsort(deviation)[:40]].mean(axis=0)
    workers, tasks = np.indices(codes.shape)
    engine = symbols(workers.ravel(), tasks.ravel(), codes.ravel(), clean())
    result = AwareNumbers(clean(), TEN).fit(engine)
    assert np.abs(result.truths - good).mean() < 0.05
    assert np.abs(result.truths - truths).mean() < 0.05


def test_truths_lie_between_points_of_the_grid() -> None:
    rng = np.random.default_rng(3)
    truths = rng.uniform(1, 9, 40)
    codes = np.rint(100 * (truths + 0.05 * rng.normal(size=(30, 40)))).astype(np.int32)
    workers, tasks = np.indices(codes.shape)
    engine = symbols(workers.ravel(), tasks.ravel(), codes.ravel(), clean(1001))
    result = AwareNumbers(clean(1001), TEN, points=101).fit(engine)
    # Rounding to steps of 0.1 would be off by 0.025 on average.
    assert np.abs(result.truths - truths).mean() < 0.0125


def shuffled(engine_of: Reports, seed: int) -> tuple[Reports, Codes, Codes]:
    """The table with rows, workers and tasks in another order, and those orders."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(engine_of))
    workers = rng.permutation(len(engine_of.workers)).astype(np.int32)
    tasks = rng.permutation(len(engine_of.tasks)).astype(np.int32)
    table = Reports.of(
        workers[engine_of.worker[rows]], tasks[engine_of.task[rows]], engine_of.value[rows],
        domain=engine_of.domain,
    )  # fmt: skip
    return table, workers, tasks


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("use_kernels", [True, False])
def test_the_order_of_rows_workers_and_tasks_changes_nothing(seed: int, use_kernels: bool) -> None:
    _, codes = crowd(seed, 40, 12)
    found = perturbed(SubsetSelection.calibrated(TEN, 2.0), TEN, codes)
    method = aware(found, TEN)
    table, workers, tasks = shuffled(found.symbols, seed)
    wanted = method.fit(LocalEngine(found.symbols, use_kernels=use_kernels))
    result = method.fit(LocalEngine(table, use_kernels=use_kernels))
    assert result.rounds == wanted.rounds
    np.testing.assert_allclose(result.truths[tasks], wanted.truths, atol=1e-9)
    np.testing.assert_allclose(result.weights[workers], wanted.weights, rtol=1e-9)


def test_kernels_and_numpy_find_the_same() -> None:
    _, codes = crowd(8, 60, 15)
    found = perturbed(Piecewise.calibrated(TEN, 2.0), TEN, codes)
    method = aware(found, TEN)
    engines = (LocalEngine(found.symbols, use_kernels=kernels) for kernels in (True, False))
    compiled, plain = (method.fit(engine) for engine in engines)
    assert (compiled.rounds, compiled.converged) == (plain.rounds, plain.converged)
    np.testing.assert_allclose(compiled.truths, plain.truths, atol=1e-9)
    np.testing.assert_allclose(compiled.weights, plain.weights, rtol=1e-9)


@pytest.mark.parametrize(
    ("worker", "task", "value"),
    [
        ([0], [0], [3]),
        ([0] * 6, range(6), [0, 2, 4, 5, 7, 10]),
        (range(8), [0] * 8, [10] * 8),
        (np.repeat(range(5), 4), np.tile(range(4), 5), [0] * 20),
    ],
    ids=["one report", "one worker", "one task", "all equal"],
)
def test_small_tables_have_finite_results(worker: Any, task: Any, value: Any) -> None:
    channel = clean(11)
    result = AwareNumbers(channel, TEN).fit(symbols(worker, task, value, channel))
    assert result.standard_error is not None
    for numbers in (result.truths, result.standard_error, result.weights):
        assert np.isfinite(numbers).all()
    assert (result.standard_error > 0).all()
    assert ((result.truths >= 0) & (result.truths <= 10)).all()


def test_a_task_without_reports_gets_the_mean_and_spread_of_the_others() -> None:
    truths, codes = crowd(1)
    workers, tasks = np.indices(codes.shape)
    engine = symbols(workers.ravel(), tasks.ravel(), codes.ravel(), clean(), tasks=np.arange(31))
    result = AwareNumbers(clean(), TEN).fit(engine)
    assert result.standard_error is not None
    assert result.answers[-1] == 0
    assert result.truths[-1] == pytest.approx(truths.mean(), abs=0.25)
    assert result.standard_error[-1] == pytest.approx(truths.std(), rel=0.25)


def test_where_reports_say_nothing_truths_are_one_constant_with_wide_errors() -> None:
    _, codes = crowd(4, 50, 20)
    found = perturbed(Piecewise.calibrated(TEN, 0.02), TEN, codes)
    result = fit(found, TEN)
    assert result.standard_error is not None
    assert float(np.ptp(result.truths)) < 1.0
    assert (result.standard_error > 1.5).all()


@pytest.mark.parametrize("answered", [0.1, 0.5])
@pytest.mark.parametrize("mechanism", [Threshold, SubsetSelection])
def test_how_many_answered_is_found_from_the_pooled_reports(
    mechanism: type[Threshold] | type[SubsetSelection], answered: float
) -> None:
    _, codes = digits(0, answered)
    found = perturbed(mechanism.calibrated(DIGITS, 2.0, null=True), DIGITS, codes)
    assert isinstance(found.channel, PointChannel)
    rate = participation_rate(found.channel, LocalEngine(found.symbols))
    assert rate == pytest.approx(np.mean(codes != NULL), abs=0.02)


def test_a_null_that_looks_like_an_answer_is_told_by_the_spread_of_answers() -> None:
    _, codes = digits(1, 0.2)
    found = perturbed(Laplace.calibrated(DIGITS, 4.0, null="centre"), DIGITS, codes)
    assert isinstance(found.channel, PointChannel)
    rate = participation_rate(found.channel, LocalEngine(found.symbols))
    assert rate == pytest.approx(0.2, abs=0.05)


def test_sparse_digits_with_private_participation() -> None:
    truths, codes = digits(2, 0.5)
    found = perturbed(Threshold.calibrated(DIGITS, 2.0, null=True), DIGITS, codes)
    result = fit(found, DIGITS)
    constant = np.abs(truths - np.median(truths)).mean()
    assert np.abs(result.truths - truths).mean() < constant / 4
    assert (result.domain.low, result.domain.high) == (0, 9)


def test_truths_beyond_the_range_are_told_from_clipped_answers() -> None:
    rng = np.random.default_rng(6)
    truths = np.linspace(-1, 1, 20)
    codes = np.clip(np.rint(truths + rng.normal(size=(400, 20))), 0, 9).astype(np.int32)
    channel = PointChannel(np.arange(10.0), np.eye(10))
    workers, tasks = np.indices(codes.shape)
    engine = symbols(workers.ravel(), tasks.ravel(), codes.ravel(), channel)
    result = AwareNumbers(channel, DIGITS, beyond=0.3).fit(engine)
    assert np.abs(result.truths - truths).mean() < 0.15
    assert result.domain.low == pytest.approx(-2.7)
    within = AwareNumbers(channel, DIGITS).fit(engine)
    assert (within.truths >= 0).all()


def test_the_law_of_symbols_adds_up_to_one_for_every_truth_and_worker() -> None:
    found = perturbed(Piecewise.calibrated(TEN, 1.0), TEN, crowd(0, 3, 3)[1])
    assert isinstance(found.channel, PointChannel)
    model = grid_model(found.channel, np.linspace(-3, 13, 17), 0.01)
    np.testing.assert_allclose(np.exp(model.logs).sum(axis=0), 1, rtol=1e-9)


def test_the_states_of_noisy_workers_keep_the_mean_of_their_logarithms() -> None:
    variances, prior = np.array([0.5, 2.0, 8.0]), np.array([0.2, 0.3, 0.5])
    channel = NoisyChannel(0.0, 10.0, np.linspace(-5, 15, 41), variances, prior)
    model = grid_model(channel, np.linspace(0, 10, 11), 0.01)
    sigmas = 10 * np.geomspace(0.01, 0.8, 10)
    exact = np.mean(np.log(np.sqrt(np.add.outer(sigmas**2, variances))), axis=0) @ prior
    assert model.prior.sum() == pytest.approx(1)
    assert model.prior @ np.log(model.deviations) == pytest.approx(exact)
    np.testing.assert_allclose(np.exp(model.logs).sum(axis=0), 1, rtol=1e-9)


def test_the_cells_at_the_ends_take_the_tails() -> None:
    masses = cell_masses(np.array([0.5, 1.5]), np.array([0.0]), 1.0)
    below = scipy.special.ndtr([0.5, 1.5])
    exact = [below[0], below[1] - below[0], 1 - below[1]]
    np.testing.assert_allclose(masses[0], exact, atol=1e-6)


@pytest.mark.parametrize(("count", "points"), [(100, 200), (100_000, 27), (10_000_000, 25)])
def test_very_many_symbols_leave_fewer_points(count: int, points: int) -> None:
    channel = PointChannel(np.arange(2.0), np.broadcast_to(1e-5, (2, count)))
    assert len(truth_grid(channel, 0, 1, 200)) == points


def test_a_table_that_fits_no_memory_is_refused() -> None:
    channel = PointChannel(np.arange(2.0), np.broadcast_to(1e-5, (2, 10_000_000)))
    with pytest.raises(UsageError, match="10,000,000 different reports"):
        grid_model(channel, np.linspace(0, 1, 25), 0.01)


def test_rounds_that_run_out_are_owned_up_to() -> None:
    found = perturbed(Piecewise.calibrated(TEN, 1.0), TEN, crowd(0, 20, 5)[1])
    result = fit(found, TEN, max_rounds=2)
    assert (result.rounds, result.converged) == (2, False)


BAD_CHANNELS = {
    "falling points": lambda: PointChannel(np.array([1.0, 0.0]), np.eye(2)),
    "one point": lambda: PointChannel(np.array([1.0]), np.eye(1)),
    "a negative chance": lambda: PointChannel(np.arange(2.0), np.array([[2.0, -1.0], [0.0, 1.0]])),
    "an infinite chance": lambda: PointChannel(np.arange(2.0), np.array([[np.inf, 1], [0.0, 1.0]])),
    "an empty row": lambda: PointChannel(np.arange(2.0), np.array([[0.0, 0.0], [0.0, 1.0]])),
    "no edges": lambda: NoisyChannel(0, 1, np.empty(0), np.ones(1), np.ones(1)),
    "more variances than chances": lambda: NoisyChannel(
        0, 1, np.arange(3.0), np.ones(2), np.ones(1)
    ),
    "no channel": lambda: "laplace",
}


@pytest.mark.parametrize("make", BAD_CHANNELS.values(), ids=BAD_CHANNELS.keys())
def test_a_bad_channel_is_refused(make: Any) -> None:
    with pytest.raises(UsageError):
        AwareNumbers(make(), TEN)


@pytest.mark.parametrize(
    "settings",
    [{"points": 2}, {"beyond": -1.0}, {"participation": 1.5}, {"max_rounds": 0}, {"points": 2.5}],
    ids=str,
)
def test_a_setting_outside_its_range_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        AwareNumbers(clean(11), TEN, **settings)


def test_a_domain_without_a_range_is_refused() -> None:
    with pytest.raises(UsageError, match="range"):
        AwareNumbers(clean(11), Domain.numeric())


def test_a_table_of_other_symbols_is_refused() -> None:
    with pytest.raises(UsageError, match="11 symbols, but the table has 12"):
        AwareNumbers(clean(11), TEN).fit(symbols([0], [0], [3], clean(12)))


def test_a_range_that_drowns_the_answers_is_warned_of() -> None:
    _, codes = crowd(3, workers=20)
    wide = Domain.numeric(0, 1000, step=0.1)
    drowned = fit(perturbed(Laplace.calibrated(wide, 1.0), wide, codes), wide)
    clear = fit(perturbed(Laplace.calibrated(TEN, 8.0), TEN, codes), TEN)
    assert any("declare a narrower range" in sentence for sentence in drowned.warnings)
    assert clear.warnings == ()


def test_two_symbols_show_the_mean_of_answers_near_an_end_of_the_range() -> None:
    rng = np.random.default_rng(5)
    answers = np.clip(rng.exponential(0.6, (400, 10)), 0, 10)
    codes = np.rint(answers * 10).astype(np.int32)
    result = fit(perturbed(Duchi.calibrated(TEN, 6.0), TEN, codes), TEN)
    assert float(np.mean(result.truths)) == pytest.approx(0.6, abs=0.25)  # 5 sigma


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
@pytest.mark.parametrize("mechanism", [Piecewise, Laplace, Duchi, Threshold])
def test_the_mean_of_unbiased_numbers_is_the_answer(mechanism: Any, epsilon: float) -> None:
    channel = perturbed(mechanism.calibrated(TEN, epsilon), TEN, crowd(0, 3, 3)[1]).channel
    assert isinstance(channel, PointChannel)
    means = channel.likelihood @ unbiased_numbers(channel)
    np.testing.assert_allclose(means, channel.points, atol=0.25)
    assert np.polyfit(channel.points, means, 1) == pytest.approx([1, 0], abs=0.01)


@pytest.mark.parametrize("mechanism", [Piecewise, Laplace, Duchi, SubsetSelection, Threshold])
def test_where_noise_hides_every_truth_all_are_near_the_mean_of_all_answers(mechanism: Any) -> None:
    rng = np.random.default_rng(1)
    codes = np.clip(rng.normal(20, 3, (30, 100)), 0, 100).astype(np.int32)
    errors = []
    for seed in range(4):
        result = fit(perturbed(mechanism.calibrated(TEN, 1.0), TEN, codes, seed), TEN)
        errors.append(np.abs(result.truths - 2.0).mean())
    assert np.mean(errors) < 0.7


def test_answers_far_from_normal_do_not_make_truths_worse_than_means() -> None:
    rng = np.random.default_rng(2)
    shares = rng.uniform(0.1, 0.5, 100)  # most answers are 0, and the truth is the mean
    codes = np.where(rng.random((40, 100)) < shares, rng.integers(40, 101, (40, 100)), 0)
    found = perturbed(Piecewise.calibrated(TEN, 8.0), TEN, codes.astype(np.int32))
    assert isinstance(found.channel, PointChannel)
    numbers = unbiased_numbers(found.channel)[found.symbols.value.astype(int)]
    means = np.bincount(found.symbols.task, numbers) / np.bincount(found.symbols.task)
    truths = 7 * shares
    error = np.abs(fit(found, TEN).truths - truths).mean()
    assert error < 1.05 * np.abs(means - truths).mean()
