"""Trials of simulated campaigns, each of them run only once."""

from __future__ import annotations

from pathlib import Path

import pytest

from sottovoce.errors import UsageError
from sottovoce.mechanisms.policies import Target
from sottovoce.model import Domain
from sottovoce.planning import trial_runner
from sottovoce.planning.pipelines import Pipeline
from sottovoce.planning.scenario import Scenario
from sottovoce.planning.trial_runner import Runner, TrialCase

SCENARIO = Scenario(Domain.categorical("ab"), 20, 8, 10)
VOTE = Pipeline("vote", "randomized-response", "majority-vote")
CASE = TrialCase(SCENARIO, VOTE, Target(1.0, answers=10))


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOTTOVOCE_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def count(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The trials that are really run."""
    ran: list[int] = []
    error = trial_runner._error

    def counted(item: trial_runner.TrialItem) -> float:
        ran.append(item[2])
        return error(item)

    monkeypatch.setattr(trial_runner, "_error", counted)
    return ran


def test_more_trials_go_on_where_fewer_ended(count: list[int]) -> None:
    with Runner(cache=False) as runner:
        [few] = runner.errors([CASE], 2)
        [many] = runner.errors([CASE], 5)
        [again] = runner.errors([CASE], 3)
    assert count == [0, 1, 2, 3, 4]
    assert (many[:2], many[:3]) == (few, again)


def test_another_run_finds_trials_in_the_cache(count: list[int]) -> None:
    with Runner() as runner:
        first = runner.errors([CASE], 3)
    with Runner() as runner:
        assert runner.errors([CASE], 3) == first
        assert count == [0, 1, 2]
    with Runner(cache=False) as runner:
        assert runner.errors([CASE], 3) == first
    assert count == [0, 1, 2, 0, 1, 2]


def test_another_seed_draws_other_campaigns() -> None:
    with Runner(0) as one, Runner(1) as other:
        assert one.errors([CASE], 5) != other.errors([CASE], 5)


def test_cases_meet_the_same_campaigns() -> None:
    """With negligible noise, a private campaign equals one without noise."""
    loud = TrialCase(SCENARIO, VOTE, Target(30.0, answers=10))
    plain = Pipeline("vote", "randomized-response", "majority-vote", parameters={})
    with Runner(cache=False) as runner:
        [first, second] = runner.errors([loud, TrialCase(SCENARIO, plain, loud.target)], 3)
    assert first == second


@pytest.mark.slow
def test_processes_give_what_one_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    with Runner(cache=False) as runner:
        alone = runner.errors([CASE], 7)
    monkeypatch.setattr(trial_runner, "WORTH_STARTING", 0.0)
    here: list[trial_runner.TrialItem] = []
    timed = Runner._timed

    def noted(self: Runner, item: trial_runner.TrialItem) -> float:
        here.append(item)
        return timed(self, item)

    monkeypatch.setattr(Runner, "_timed", noted)
    with Runner(cache=False, jobs=2) as runner:
        runner.expect(100)
        assert runner.errors([CASE], 7) == alone
    assert len(here) == trial_runner.TIMED


def test_progress_counts_up_to_what_was_expected() -> None:
    told: list[tuple[int, int]] = []
    with Runner(cache=False, progress=lambda done, of: told.append((done, of))) as runner:
        runner.expect(4)
        runner.errors([CASE], 3)
        runner.expect(-1)
        runner.errors([CASE], 2)
    assert told[0] == (0, 4)
    assert told[-1] == (3, 3)


def test_trials_from_the_cache_count_as_done() -> None:
    with Runner() as runner:
        runner.errors([CASE], 3)
    told: list[int] = []
    with Runner(progress=lambda done, _: told.append(done)) as runner:
        runner.errors([CASE], 2)
        runner.errors([CASE], 3)
    assert told[-1] == 3


@pytest.mark.parametrize(("seed", "jobs"), [(-1, 1), (1.5, 1), (True, 1), (0, 0), (0, 1.5)])
def test_what_is_no_seed_or_number_of_jobs_is_refused(seed: int, jobs: int) -> None:
    with pytest.raises(UsageError, match=r"seed|jobs"):
        Runner(seed, jobs=jobs)
