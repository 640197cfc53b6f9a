"""A live session for real: a server, and workers in processes of their own that meet their fate."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from tests.service.forked_processes import Forked, Forker

from sottovoce.keyholder.key_file import make_keys
from sottovoce.live.requester import LiveView
from sottovoce.model import Keyholder
from sottovoce.model.sum_rounds import Integers, OpenedSum, RoundRecord
from sottovoce.randomness import SystemRandomness
from sottovoce.securesum.em.contributor import contributor_of
from sottovoce.securesum.em.terms import EMTerms
from sottovoce.securesum.star.terms import StarTerms
from sottovoce.server.database import Database
from sottovoce.server.database.live_sessions import rounds_of, the_session
from sottovoce.testing import ServerProcess
from sottovoce.testing.server_process import wait_until

TASKS, LABELS = tuple(f"t{i:02}" for i in range(12)), ("no", "yes")
ROUNDS = 2
PASSPHRASE = "correct horse battery"  # noqa: S105 - of keys that die with the test
OVER = ("done", "aborted")


@dataclass
class Crowd:
    """A session on a server, and its workers 1, 2, …, whose answers are the rows of `labels`."""

    server: ServerProcess
    forker: Forker
    folder: Path
    size: int
    labels: Integers = field(init=False)
    started: list[Forked] = field(default_factory=list)
    id: str = ""

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.size)
        truths, right = rng.integers(0, 2, len(TASKS)), rng.random((self.size, len(TASKS))) < 0.8
        self.labels = np.where(right, truths, 1 - truths)

    @property
    def workers(self) -> set[int]:
        return set(range(1, self.size + 1))

    def begin(self, fates: Mapping[int, str], **asked: Any) -> None:
        """Make the session, and start everybody; `fates` say what befalls which worker."""
        with self.server.requester() as requester:
            made = requester.live.create(
                "Leaves", TASKS, LABELS, workers=self.size, rounds=ROUNDS,
                **{"mode": "log_odds", **asked},
            )  # fmt: skip
        self.id = made["id"]
        for worker, link in enumerate(made["links"], 1):
            self.started.append(self._worker(worker, link, fates.get(worker)))
        if made["dealer_link"] is not None:
            self.started.append(self._dealer(made["dealer_link"]))

    def dealer(self) -> Keyholder:
        """A dealer with keys."""
        (self.folder / "passphrase").write_text(PASSPHRASE)
        return make_keys(self.folder / "dealer", "Library", PASSPHRASE)

    def ended(self) -> LiveView:
        """How it stands once it is over and every process has ended."""
        with self.server.requester() as requester:
            wait_until(lambda: requester.live.show(self.id)["state"] in OVER, "the end", 300)
            for each in self.started:
                each.wait(60)
            return requester.live.show(self.id)

    def outcome(self, worker: int) -> dict[str, Any]:
        """The output of a worker's command."""
        return dict(json.loads((self.folder / f"worker-{worker}.out").read_text()))

    def said(self, worker: int) -> list[list[Any]]:
        """A line for each reply that a worker made, as the hooks have noted."""
        lines = (self.folder / f"said-{worker}").read_text().splitlines()
        return [json.loads(line) for line in lines]

    def stored(self) -> tuple[StarTerms, list[RoundRecord]]:
        """The terms, and the rounds that were opened, as the database has them."""
        database = Database.at(self.server.data)
        try:
            with database.reading() as connection:
                session = the_session(connection, self.id)
                return StarTerms.of_json(session.terms), rounds_of(connection, session.number)
        finally:
            database.close()

    def recomputed(self) -> list[Integers]:
        """The plain sums over the contributors of each round, from all answers."""
        terms, rounds = self.stored()
        purpose, codes = EMTerms.of_json(terms.purpose), np.arange(len(TASKS))
        crowd = {
            worker: contributor_of(purpose, codes, labels, SystemRandomness())
            for worker, labels in enumerate(self.labels, 1)
        }
        opened = [OpenedSum(each.totals, len(each.contributors)) for each in rounds]
        return [
            np.sum([crowd[worker].values(opened[:at]) for worker in each.contributors], axis=0)
            for at, each in enumerate(rounds)
        ]

    def _worker(self, worker: int, link: str, fate: str | None) -> Forked:
        labels = self.labels[worker - 1]
        rows = [f"{task},{LABELS[label]}" for task, label in zip(TASKS, labels, strict=True)]
        answers = self.folder / f"answers-{worker}.csv"
        answers.write_text("\n".join(["task,answer", *rows]) + "\n")
        environment = {
            **os.environ, "NO_COLOR": "1", "SOTTOVOCE_HOME": str(self.folder / f"home-{worker}"),
            "TESTS_HOOKS": "live_hooks", "TESTS_PLACE": str(worker),
            "TESTS_FOLDER": str(self.folder), "TESTS_FATE": fate or "",
        }  # fmt: skip
        arguments = ["sealed", "worker", link, "--answers", str(answers), "--yes", "--json"]
        return self._forked(arguments, f"worker-{worker}", environment)

    def _dealer(self, link: str) -> Forked:
        arguments = ["sealed", "deal", link, "--yes", "--folder", str(self.folder / "dealer")]
        arguments += ["--passphrase-file", str(self.folder / "passphrase")]
        return self._forked(arguments, "dealer", dict(os.environ))

    def _forked(self, arguments: list[str], name: str, environment: dict[str, str]) -> Forked:
        out, log = self.folder / f"{name}.out", self.folder / f"{name}.log"
        return self.forker.start(arguments, out, log, environment)
