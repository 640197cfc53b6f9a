"""`sottovoce sealed simulate --separate-processes` with online workers: every party a process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.service.forked_processes import ForkedServer, Forker

from sottovoce.api.input_output import read
from sottovoce.errors import UsageError
from sottovoce.live.commands.processes import run_live_processes
from sottovoce.model import Reports
from sottovoce.testing import server_process

USUAL: dict[str, Any] = {
    "epsilon": 1.0, "delta": 0.0, "weighted_rounds": 0, "scale": None, "rounds": 2,
    "threshold": None, "bits": 1024,
}  # fmt: skip


def answers() -> Reports:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 6)
    rows = [(f"w{i}", f"t{j}", "ny"[truth[j] ^ (rng.random() < 0.2)])
            for i in range(4) for j in range(6)]  # fmt: skip
    names = zip(("worker", "task", "answer"), zip(*rows, strict=True), strict=True)
    return read({name: list(column) for name, column in names})


def test_processes_add_up_the_integers_of_the_plain_suite(
    forker: Forker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        server_process, "ServerProcess", lambda folder: ForkedServer(folder, forker)
    )
    run = run_live_processes(answers(), suite="masked", mode="log_odds", **USUAL)
    assert (run.identical_to_plain, run.rounds, run.workers) == (True, 2, 4)
    assert run.cpu_seconds["workers"] > 0
    assert run.transcript.workers == 4
    assert run.excluded == {}


@pytest.mark.slow
def test_a_dealer_is_a_process_too() -> None:
    run = run_live_processes(answers(), suite="damgard_jurik", mode="as_published", **USUAL)
    assert (run.identical_to_plain, run.rounds) == (True, 2)
    assert run.cpu_seconds.keys() == {"workers", "dealer", "server"}
    assert min(run.cpu_seconds.values()) > 0


@pytest.mark.slow
def test_noised_sums_of_processes_have_a_guarantee() -> None:
    run = run_live_processes(answers(), suite="masked", mode="noised", **{**USUAL, "rounds": None})
    assert run.identical_to_plain is None
    assert run.guarantee is not None
    assert run.guarantee.epsilon == pytest.approx(1.0)


def test_a_task_that_a_worker_answered_twice_is_refused() -> None:
    table = {"worker": list("aabc"), "task": list("tttt"), "answer": list("ynyn")}
    with pytest.raises(UsageError, match="answers a task once: use --repeats first"):
        run_live_processes(read(table, repeats="keep"), suite="masked", mode="log_odds", **USUAL)
