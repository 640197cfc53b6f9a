"""Forecasts of planned campaigns."""

from __future__ import annotations

import json
import threading
from collections import deque
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from cachetools import LRUCache

from sottovoce.errors import Reason, Refused
from sottovoce.mechanisms.affordability import Affordability
from sottovoce.mechanisms.policies import Target
from sottovoce.model import Domain, Guarantee, Kind, Policy, ShowDraw, Unit
from sottovoce.planning.crowds import Assumption
from sottovoce.server.campaigns.guarantees import KeptGuarantees
from sottovoce.server.child_process import ChildEnded, ChildProcess

MOST_WAITING = 8
"""The most waiting questions; each takes about a second."""

MOST_KEPT = 512
"""The most cached forecasts."""

CHILD = "sottovoce.server.campaigns.forecast_simulation"


@dataclass(frozen=True, slots=True)
class Outlook:
    """A forecast, its policy and its assumptions.

    `expected`, `clean` and `constant` are accuracies of labels or mean errors of numbers: under the
    policy, with negligible noise, and of the best constant answer. `band` holds the score of
    one campaign like the simulated ones in 9 of 10 cases.
    """

    score: str
    expected: float
    band: tuple[float, float]
    trials: int
    clean: float
    constant: float
    policy: Policy
    kept: KeptGuarantees
    devices: Affordability
    in_browser: bool
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A planned campaign: its domain, target guarantee and crowd.

    A worker gets up to `target.answers` tasks. The default mechanism is the one that a draft would
    get.

    >>> question = Question(Domain.categorical(["no", "yes"]), Target(1.0, answers=9), 20, 50)
    >>> Question.parse(question.text()) == question
    True
    """

    domain: Domain
    target: Target
    tasks: int
    workers: int
    ability: Assumption = "mixed"
    mechanism: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def block(self) -> int:
        """How many tasks a worker gets."""
        return min(self.tasks, self.target.answers)

    def text(self) -> str:
        """One line of JSON: the same for the same question."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def parse(cls, text: str) -> Self:
        """The question in a line of JSON."""
        fields = json.loads(text)
        domain, target = fields.pop("domain"), fields.pop("target")
        domain |= {"kind": Kind(domain["kind"]), "labels": tuple(domain["labels"])}
        target |= {"unit": Unit(target["unit"]), "show_draw": ShowDraw(target["show_draw"])}
        return cls(Domain(**domain), Target(**target), **fields)


class Forecaster:
    """Answers questions one after another, in its own process.

    The process starts with the first question, restarts if it dies, and ends with the service.
    Identical questions share one answer, and recent answers are cached.
    """

    def __init__(self, child: ChildProcess | None = None) -> None:
        self._child = child or ChildProcess(CHILD, {})
        self._waiting: deque[tuple[str, Future[Outlook]]] = deque()
        self._asked: dict[str, Future[Outlook]] = {}
        self._kept: LRUCache[str, Future[Outlook]] = LRUCache(MOST_KEPT)
        self._wake = threading.Condition()
        self._closing = False
        self._thread: threading.Thread | None = None

    @property
    def pid(self) -> int | None:
        """The process identifier, while the process runs."""
        return self._child.pid

    def ask(self, question: Question) -> Future[Outlook]:
        """A future of the forecast; it fails with `Refused` if there is none. Does not wait."""
        text = question.text()
        with self._wake:
            if self._closing:
                raise _stopping()
            if text in self._kept:
                return self._kept[text]
            if text in self._asked:
                return self._asked[text]
            return self._enqueued(text)

    def close(self) -> None:
        """End the process; waiting questions are refused."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        self._child.stop()
        if self._thread is not None:
            self._thread.join()
        self._child.close()

    def _enqueued(self, text: str) -> Future[Outlook]:
        if len(self._waiting) >= MOST_WAITING:
            raise Refused(Reason.UNAVAILABLE, "too many forecasts are waiting; try again later")
        future: Future[Outlook] = Future()
        future.set_running_or_notify_cancel()  # others may wait for it too
        self._asked[text] = future
        self._waiting.append((text, future))
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._work, name="sottovoce-forecasts", daemon=True
            )
            self._thread.start()
        self._wake.notify()
        return future

    def _work(self) -> None:
        while (next_one := self._next()) is not None:
            text, future = next_one
            try:
                found: Outlook | Refused = self._answer(text)
            except Refused as refused:
                found = refused
            except Exception:  # the thread lives on: others wait for it
                found = Refused(Reason.UNAVAILABLE, "the forecast failed; try again later")
            self._settle(text, future, found)
        with self._wake:
            left = list(self._waiting)
        for text, future in left:
            self._settle(text, future, _stopping())

    def _next(self) -> tuple[str, Future[Outlook]] | None:
        with self._wake:
            while not (self._waiting or self._closing):
                self._wake.wait()
            return None if self._closing else self._waiting.popleft()

    def _answer(self, text: str) -> Outlook:
        try:
            header, _ = self._child.ask({"question": text})
        except ChildEnded:
            if self._closing:
                raise _stopping() from None
            raise Refused(
                Reason.UNAVAILABLE, "the forecast stopped unexpectedly; try again later"
            ) from None
        return _outlook(header)

    def _settle(self, text: str, future: Future[Outlook], found: Outlook | Refused) -> None:
        with self._wake:
            self._asked.pop(text, None)
            if isinstance(found, Outlook) or found.reason is Reason.MALFORMED:
                self._kept[text] = future
        if isinstance(found, Outlook):
            future.set_result(found)
        else:
            future.set_exception(found)


def _outlook(header: dict[str, Any]) -> Outlook:
    """The child's reply as a forecast."""
    if "refused" in header:
        raise Refused(Reason.MALFORMED, header["refused"], field="privacy")
    if "failed" in header:
        raise Refused(
            Reason.MALFORMED, "this campaign cannot be simulated; change it", field="privacy"
        )
    kept = header["kept"]
    return Outlook(
        **{
            **header,
            "band": tuple(header["band"]),
            "notes": tuple(header["notes"]),
            "policy": Policy.parse(header["policy"]),
            "kept": KeptGuarantees(
                _guarantee(kept["per_answer"]),
                _guarantee(kept["per_worker"]),
                kept["odds"],
                kept["warning"],
            ),
            "devices": Affordability(**header["devices"]),
        }
    )


def _guarantee(fields: dict[str, Any]) -> Guarantee:
    known = {"unit": Unit(fields["unit"]), "assumptions": tuple(fields["assumptions"])}
    return Guarantee(**(fields | known))


def _stopping() -> Refused:
    return Refused(Reason.UNAVAILABLE, "the server is stopping; try again later")
