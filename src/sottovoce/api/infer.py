"""infer: truths from a table, the method that infers them, and updates with more reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, Unpack

import numpy as np

from sottovoce.api.input_output import gold, read
from sottovoce.api.keywords import InferKeywords, ReadingOptions, spelled_out, split_keywords
from sottovoce.engines import LocalEngine, WatchedEngine
from sottovoce.errors import UsageError
from sottovoce.inference import METHODS, default_method, method_named, suits
from sottovoce.inference.aggregator import choose
from sottovoce.inference.evaluation import positions
from sottovoce.inference.registry import unknown_method
from sottovoce.model import Codes, Domain, Kind, Names, Policy, Reading, Repeats, Reports, Result
from sottovoce.model.domain import are_numbers
from sottovoce.model.policy import check_policy
from sottovoce.seams import Aggregator, Engine
from sottovoce.tables.duplicates import resolved
from sottovoce.version import __version__

AWARE_COMPILED_FROM = 20_000
"""Number of reports from which kernels are compiled for methods that make a hundred passes."""

STALE = 2
"""A start from fewer reports, by this factor, could keep the rounds at a poor optimum."""


@spelled_out(InferKeywords)
def infer(
    source: Any,
    method: str | Aggregator = "auto",
    *,
    parameters: Mapping[str, Any] | None = None,
    ties: Literal["first", "random"] = "first",
    seed: int | None = None,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
    policy: Policy | None = None,
    compiled: bool | None = None,
    known: Any = None,
    known_columns: Mapping[str, str] | None = None,
    start: Result | None = None,
    **keywords: Unpack[InferKeywords],
) -> Result:
    """Infer the truth of every task, with confidence and each worker's weight.

    `method` is a name (`sottovoce.METHODS`) or an aggregator; "auto" is aware-labels for labels and
    aware-numbers for numbers. A method given by name takes its parameters as keywords
    (`max_rounds=20`) or in `parameters`. The first label wins a tie; `ties="random"` with a `seed`
    chooses at random. `progress` is called with the number of passes made. Other keywords say how
    to read `source` (see `read`).

    With a `policy`, the table holds reports made under it, and "auto" is the method that models
    their noise (`sottovoce.AWARE_METHODS`). Other methods treat the reports as answers.
    `compiled` switches compiled kernels on or off; by default the size of the table decides.

    `known` is a table of known truths, read like the gold of `score` (`known_columns` names its
    columns). The method learns from them, and from 10 on confidence is calibrated on them, which
    takes five more fits. Their tasks should be a random sample of all tasks.

    `start` is an earlier result for some of the reports: aware-labels starts from it, which saves
    rounds, unless the reports have doubled; other methods ignore it. See also `Result.updated`.

    >>> answers = {"worker": ["ann", "bob", "cy"] * 2, "task": ["q1"] * 3 + ["q2"] * 3,
    ...            "answer": ["yes", "yes", "no", "no", "no", "no"]}
    >>> result = infer(answers, "majority-vote")
    >>> dict(zip(result.tasks, result.values))
    {'q1': 'yes', 'q2': 'no'}
    """
    reading, chosen = split_keywords(infer, method, parameters, keywords)
    if policy is not None:
        check_policy(policy)
    whole = _read(source, policy, reading)
    aware = _aware(whole, method, chosen, policy) if policy else None
    if aware is None:
        table = _plain(policy, whole) if policy else whole
        aggregator = chosen_aggregator(method, table.domain, chosen)
        domain, table = table.domain, _suited(table, aggregator)
    else:
        table, aggregator = aware
        domain = policy.domain if policy else table.domain
    aggregator, started_from = _started(aggregator, start, domain, len(whole))
    kernels = compiled
    if kernels is None and getattr(aggregator, "name", "").startswith("aware-"):
        kernels = len(table) >= AWARE_COMPILED_FROM
    engine: Engine = LocalEngine(table, use_kernels=kernels, threads=threads)
    if progress is not None:
        engine = WatchedEngine(engine, progress)
    truths = None
    if known is None:
        result = aggregator.fit(engine)
    else:
        # Here, so that inference without known truths loads no more modules.
        from sottovoce.api.known_truths import fit_with_known

        truths = gold(known, domain, columns=known_columns)
        result = fit_with_known(aggregator, engine, truths, domain)
    provenance = replace(
        result.provenance,
        version=__version__,
        reading=table.reading,
        policy_hash=policy.hash if policy else None,
        simulated=table.simulated,
        started_from=started_from,
    )
    again: dict[str, Any] = {
        "method": method, "parameters": chosen, "ties": ties, "seed": seed, "threads": threads,
        "progress": progress, "policy": policy, "compiled": compiled, "known": truths,
    }  # fmt: skip
    broken = _broken_ties(result, ties, seed)
    return replace(broken, provenance=provenance, origin=_Origin(whole, again))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Origin:
    """The reports of a result, and the arguments of its fit. Pickled, it is None."""

    reports: Reports
    arguments: Mapping[str, Any]

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()

    def __call__(self, before: Result, more: Any, reading: Mapping[str, Any]) -> Result:
        """The result of all reports, from where the one before ended."""
        if reading.get("domain") is not None:
            raise UsageError("more reports have the domain of the others: drop domain=")
        options: Any = {key: value for key, value in reading.items() if key != "domain"}
        policy, old = self.arguments["policy"], self.reports
        repeats = options.get("repeats", old.reading.repeats if old.reading else "keep")
        if policy is None and not isinstance(more, Reports):
            options["domain"] = old.domain
        added = _read(more, policy, options)
        if added.domain != old.domain:
            # Here, so that other inference loads no mechanism.
            from sottovoce.mechanisms.codes import recoded

            added = recoded(added, old.domain)
        return infer(joined(old, added, repeats), start=before, **self.arguments)


def joined(reports: Reports, more: Reports, repeats: Repeats) -> Reports:
    """One table of both, with the vocabularies of the first continued."""
    worker, workers = _continued(reports.workers, more.workers)
    task, tasks = _continued(reports.tasks, more.tasks)
    value: Any = np.concatenate([reports.value, more.value])
    whole = replace(
        reports, value=value, workers=workers, tasks=tasks,
        worker=np.concatenate([reports.worker, worker[more.worker]]),
        task=np.concatenate([reports.task, task[more.task]]),
        simulated=reports.simulated or more.simulated,
    )  # fmt: skip
    if reports.reading is None and repeats == "keep":
        return whole
    first, second = (each.reading or Reading("the table", len(each)) for each in (reports, more))
    found = resolved(replace(whole, reading=None), repeats, lambda position: position + 1)
    # Repeats that were kept are found again; others were counted when they were dropped.
    counts = [found.reading or Reading("", 0), *([] if repeats == "keep" else [first, second])]
    reading = Reading(
        first.source,
        first.rows + second.rows,
        sum(each.repeated for each in counts),
        sum(each.contradicting for each in counts),
        repeats,
        Counter(first.dropped) + Counter(second.dropped),
    )
    return replace(found, reading=reading)


def _continued(names: Names, more: Names) -> tuple[Codes, Names]:
    """The codes of more names in a vocabulary that new ones are added to."""
    rows, found = positions(names, more)
    codes = np.where(found, rows, len(names) + np.cumsum(~found) - 1).astype(np.int32)
    new = more[~found]
    if (names.dtype.kind in "iu") != (more.dtype.kind in "iu"):
        names, new = names.astype(str).astype(object), new.astype(str).astype(object)
    return codes, np.concatenate([names, new])


def _started(
    aggregator: Aggregator, start: Result | None, domain: Domain, reports: int
) -> tuple[Aggregator, int]:
    """The aggregator from an earlier result, and the number of reports of that one's own start."""
    if start is None:
        return aggregator, 0
    if start.domain != domain:
        raise UsageError(f"start= is a result for {start.domain}, and the answers are {domain}")
    first = start.provenance.started_from or int(start.answers.sum())
    if start.crowd is None or not hasattr(aggregator, "start") or reports > STALE * first:
        return aggregator, 0
    starting: Any = aggregator
    return replace(starting, start=start), first


def _read(source: Any, policy: Policy | None, reading: ReadingOptions) -> Reports:
    if policy is None:
        return read(source, **reading)
    # Here and below, so that inference without a policy loads no mechanism.
    from sottovoce.api.perturb import read_under

    return read_under(source, policy, **reading)


def _plain(policy: Policy, reports: Reports) -> Reports:
    from sottovoce.mechanisms.policies import mechanism_of

    return mechanism_of(policy).plain(reports, policy.domain)


def _aware(
    reports: Reports, method: str | Aggregator, parameters: Mapping[str, Any], policy: Policy
) -> tuple[Reports, Aggregator] | None:
    """Reports and the method that models their noise; None if another method was named."""
    if not isinstance(method, str):
        return None
    from sottovoce.api.perturb import read_evidence
    from sottovoce.inference.noise_aware.registry import aware_method, is_aware, reads_numbers

    if method != "auto" and not is_aware(method):
        return None
    name = "aware" if method == "auto" else method
    as_numbers = reads_numbers(name, policy.domain)
    found = read_evidence(reports, policy, as_numbers=as_numbers)
    if found is None:
        if method == "auto":
            return None
        raise UsageError("inference cannot model the noise of this policy: name another method")
    chosen = aware_method(name, found.channel, policy.domain, parameters)
    return found.symbols, chosen


def chosen_aggregator(
    method: str | Aggregator, domain: Domain, parameters: Mapping[str, Any] | None
) -> Aggregator:
    """The method for answers of a domain, or an error that lists the suitable methods."""
    if not isinstance(method, str):
        if parameters:
            raise UsageError("an aggregator already has its parameters")
        return method
    name = default_method(domain) if method == "auto" else method
    if name not in METHODS:
        raise _unreadable(name)
    aggregator = method_named(name, **(parameters or {}))
    if not suits(name, domain):
        others = ", ".join(m for m in METHODS if suits(m, domain))
        hint = ""
        if domain.kind is Kind.CATEGORICAL and Kind.NUMERIC in aggregator.takes:
            hint = _ordinal_hint(domain)
        raise UsageError(f"{name} does not take {domain} answers; these do: {others}{hint}")
    return aggregator


def _ordinal_hint(domain: Domain) -> str:
    if are_numbers(domain.labels):
        return "; or pass domain=Kind.ORDINAL if the labels have an order"
    return "; if the labels have an order, list them from low to high: domain=Domain.ordinal([...])"


def _unreadable(name: str) -> UsageError:
    """The error for a method that answers alone cannot be given to."""
    from sottovoce.inference.noise_aware.registry import AWARE_METHODS, is_aware

    if is_aware(name):
        return UsageError(f"{name} models the noise of a policy: pass policy=")
    return unknown_method(name, [*METHODS, *AWARE_METHODS])


def _suited(reports: Reports, aggregator: Aggregator) -> Reports:
    if reports.domain.kind in aggregator.takes:
        return reports
    if reports.domain.kind is Kind.ORDINAL and Kind.NUMERIC in aggregator.takes:
        return reports.as_numbers()
    raise UsageError(f"this aggregator does not take {reports.domain} answers")


def _broken_ties(result: Result, ties: str, seed: int | None) -> Result:
    if ties == "first":
        if seed is not None:
            raise UsageError("seed= is for random ties only: drop it")
        return result
    if ties != "random":
        raise UsageError(f"ties= must be 'first' or 'random', not {ties!r}")
    if seed is None:
        raise UsageError("random ties need seed=, so that the result is reproducible")
    if result.posterior is None:
        return result
    # Draws are assigned by task name, so the order of the table does not matter.
    order = np.argsort(result.tasks.astype(str), kind="stable")
    truths = np.empty(len(result), np.int32)
    truths[order] = choose(result.posterior[order], np.random.default_rng(seed))
    confidence = result.posterior[np.arange(len(truths)), truths]
    return replace(result, truths=truths, confidence=confidence)
