"""infer: truths from a table, and the method that infers them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal, Unpack

import numpy as np

from sottovoce.api.input_output import gold, read
from sottovoce.api.keywords import InferKeywords, ReadingOptions, spelled_out, split_keywords
from sottovoce.engines import LocalEngine, WatchedEngine
from sottovoce.errors import UsageError
from sottovoce.inference import METHODS, default_method, method_named, suits
from sottovoce.inference.aggregator import choose
from sottovoce.inference.registry import unknown_method
from sottovoce.model import Domain, Kind, Policy, Reports, Result
from sottovoce.model.domain import are_numbers
from sottovoce.model.policy import check_policy
from sottovoce.seams import Aggregator, Engine
from sottovoce.version import __version__

AWARE_COMPILED_FROM = 20_000
"""Number of reports from which kernels are compiled for methods that make a hundred passes."""


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

    >>> answers = {"worker": ["ann", "bob", "cy"] * 2, "task": ["q1"] * 3 + ["q2"] * 3,
    ...            "answer": ["yes", "yes", "no", "no", "no", "no"]}
    >>> result = infer(answers, "majority-vote")
    >>> dict(zip(result.tasks, result.values))
    {'q1': 'yes', 'q2': 'no'}
    """
    reading, chosen = split_keywords(infer, method, parameters, keywords)
    if policy is not None:
        check_policy(policy)
    aware = _aware(source, method, chosen, policy, reading) if policy else None
    if aware is None:
        table = read(source, **reading) if policy is None else _plain(policy, source, reading)
        aggregator = chosen_aggregator(method, table.domain, chosen)
        domain, table = table.domain, _suited(table, aggregator)
    else:
        table, aggregator = aware
        domain = policy.domain if policy else table.domain
    if compiled is None and getattr(aggregator, "name", "").startswith("aware-"):
        compiled = len(table) >= AWARE_COMPILED_FROM
    engine: Engine = LocalEngine(table, use_kernels=compiled, threads=threads)
    if progress is not None:
        engine = WatchedEngine(engine, progress)
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
    )
    return replace(_broken_ties(result, ties, seed), provenance=provenance)


def _plain(policy: Policy, source: Any, reading: ReadingOptions) -> Reports:
    # Here and below, so that inference without a policy loads no mechanism.
    from sottovoce.api.perturb import read_plain

    return read_plain(source, policy, **reading)


def _aware(
    source: Any,
    method: str | Aggregator,
    parameters: Mapping[str, Any],
    policy: Policy,
    reading: ReadingOptions,
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
    found = read_evidence(source, policy, as_numbers=as_numbers, **reading)
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
