"""A campaign's terms in the API's format."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, Unpack

from sottovoce.errors import UsageError
from sottovoce.model import Domain, Policy, Task, label_text
from sottovoce.model.campaign import LONGEST_NAME, Assignment, check_tasks
from sottovoce.model.keyholder import Keyholder
from sottovoce.model.policy import SEALED
from sottovoce.tables.task_table import read_tasks

if TYPE_CHECKING:
    # Callers with a Target have loaded the mechanisms; others need not load them.
    from sottovoce.mechanisms.policies import Target


TaskRows: TypeAlias = str | os.PathLike[str] | Iterable[Task | Mapping[str, Any] | str]
"""A file of tasks, or rows: tasks, mappings with task, text, image and known, or only texts."""


@dataclass(frozen=True, slots=True)
class Sealing:
    """The keyholders of a sealed campaign, by seat, and the totals they open.

    Up to `degree` of them may collude and learn nothing; `minimum` is the fewest contributions in
    an opened total. Numbers are added up as a `sum`, or counted in a `histogram` of `size` bins.
    """

    keyholders: Sequence[Keyholder] = ()
    degree: int = 1
    minimum: int = 10
    layout: Literal["votes", "sum", "histogram"] | None = None
    size: int | None = None

    def as_json(self) -> dict[str, Any]:
        """The API's format."""
        return {
            "keyholders": [keyholder.as_json() for keyholder in self.keyholders],
            "degree": self.degree,
            "minimum": self.minimum,
            "layout": self.layout,
            "size": self.size,
        }


class AskedTerms(TypedDict, total=False):
    """The terms of a campaign.

    Either a `policy`, or a `domain` and a `target` for which the server calibrates a mechanism: the
    named one with these parameters, or the default. With `sealed`, answers are sealed for
    keyholders instead, and only totals with noise are opened. The default title is the question;
    `unit` is the unit of numbers, `quota` the most workers, and `closes_on` the first day (UTC) on
    which no report is accepted. `assignment` says how a worker's tasks are chosen: the most needed
    first, or by a hash; the default is by need if the policy allows answers to go out in parts.
    """

    title: str | None
    policy: Policy | None
    domain: Domain | None
    target: Target | None
    mechanism: str | None
    parameters: Mapping[str, Any] | None
    sealed: Sealing | None
    unit: str | None
    quota: int | None
    closes_on: date | None
    assignment: Assignment | Literal["need", "hash"] | None


def terms_document(question: str, **terms: Unpack[AskedTerms]) -> dict[str, Any]:
    """A campaign's terms as JSON."""
    closes_on = terms.get("closes_on")
    document = {
        "title": terms.get("title") or question[:LONGEST_NAME],
        "question": question,
        "unit": terms.get("unit"),
        "quota": terms.get("quota"),
        "closes_on": None if closes_on is None else closes_on.isoformat(),
        "assignment": terms.get("assignment"),
        **_promise(terms),
    }
    return {name: value for name, value in document.items() if value is not None}


def task_documents(rows: TaskRows) -> list[dict[str, Any]]:
    """Tasks as JSON, checked; an error in a file names its row and column."""
    return [_document(task) for task in _tasks(rows)]


def _document(task: Task) -> dict[str, Any]:
    more = {"image": task.image, "known": task.known}
    given = {name: text for name, text in more.items() if text is not None}
    return {"task": task.name, "text": task.text, **given}


def _tasks(rows: TaskRows) -> list[Task]:
    if isinstance(rows, str | os.PathLike):
        return read_tasks(rows)
    tasks = [_task(row) for row in rows]
    check_tasks(tasks)
    return tasks


def _task(row: Task | Mapping[str, Any] | str) -> Task:
    if isinstance(row, Task):
        return row
    if isinstance(row, str):
        return Task(row, row)
    if unknown := sorted(row.keys() - {"task", "text", "image", "known"}):
        raise UsageError(f"a task has task, text, image and known, not {unknown[0]!r}")
    if "task" not in row:
        raise UsageError("a task needs its name, as task")
    known = None if row.get("known") is None else label_text(row["known"])
    return Task(row["task"], row.get("text") or row["task"], row.get("image"), known)


def _promise(terms: AskedTerms) -> dict[str, Any]:
    policy, domain, target = terms.get("policy"), terms.get("domain"), terms.get("target")
    mechanism, parameters = terms.get("mechanism"), terms.get("parameters")
    sealed = terms.get("sealed")
    if policy is not None:
        if domain or target or mechanism or parameters or sealed:
            raise UsageError("a policy already has a domain, a target and a mechanism")
        return {"policy": policy.as_json()}
    if domain is None or target is None:
        raise UsageError("give a policy, or a domain and a target")
    if sealed is None:
        return calibration_document(domain, target, mechanism, parameters)
    if mechanism not in (None, SEALED):
        raise UsageError(f"sealed answers are not randomised by {mechanism}; leave mechanism= out")
    document = calibration_document(domain, target, SEALED, parameters)
    return {**document, "privacy": {**document["privacy"], "sealed": sealed.as_json()}}


def calibration_document(
    domain: Domain,
    target: Target,
    mechanism: str | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The target of a policy's calibration, as JSON."""
    return {
        "domain": domain.as_json(),
        "privacy": _privacy_document(target, mechanism, parameters),
    }


def _privacy_document(
    target: Target, mechanism: str | None, parameters: Mapping[str, Any] | None
) -> dict[str, Any]:
    document = {
        "epsilon": target.epsilon,
        "unit": str(target.unit),
        "delta": target.delta,
        "answers": target.answers,
        "hide_participation": target.hide_participation,
        "show_draw": str(target.show_draw),
    }
    chosen = {"mechanism": mechanism, "sample": target.sample, "parameters": parameters or None}
    return document | {name: value for name, value in chosen.items() if value is not None}
