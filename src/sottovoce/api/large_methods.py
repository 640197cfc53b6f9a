"""Which method reads a large table, and what its labels are recoded to for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from sottovoce.api.inferring import chosen_aggregator
from sottovoce.engines.large_table import Recoding
from sottovoce.errors import UsageError
from sottovoce.inference.noise_aware.registry import AWARE_METHODS, aware_method, is_aware
from sottovoce.mechanisms.codes import report_domain
from sottovoce.mechanisms.policies import mechanism_of
from sottovoce.model import Domain, Kind, Policy, Reports
from sottovoce.seams import Aggregator, SumsAggregator

__all__ = ["Chosen", "choose_method", "reading_under_policy"]


class Chosen(NamedTuple):
    """A method, and what labels stand for where it does not take them as they are."""

    aggregator: SumsAggregator[Any]
    recoding: Recoding | None


def reading_under_policy(policy: Policy | None, reading: Mapping[str, Any]) -> dict[str, Any]:
    """How a table is read: as the caller says, and under a policy as reports made under it."""
    if policy is None:
        return {"reported": False, **reading}
    if reading.get("domain") is not None:
        raise UsageError("the policy says what reports are: drop --domain")
    expected = report_domain(mechanism_of(policy).alphabet, policy.domain)
    return {**reading, "domain": expected, "reported": True}


def choose_method(
    method: str | Aggregator,
    domain: Domain,
    parameters: Mapping[str, Any] | None,
    policy: Policy | None,
) -> Chosen:
    """The method for answers of a domain, or for reports made under a policy."""
    if policy is not None:
        aware = _aware(method, domain, parameters, policy)
        if aware is not None:
            return aware
        _check_plain(policy)
    aggregator = chosen_aggregator(method, domain, parameters)
    if domain.kind in aggregator.takes:
        return Chosen(_sums_only(aggregator), None)
    if domain.kind is Kind.ORDINAL and Kind.NUMERIC in aggregator.takes:
        return Chosen(_sums_only(aggregator), _numbers(domain))
    raise UsageError(f"this aggregator does not take {domain} answers")


def _aware(
    method: str | Aggregator, domain: Domain, parameters: Mapping[str, Any] | None, policy: Policy
) -> Chosen | None:
    """The method that knows the noise, and the symbols it reads; None where another was meant."""
    if not isinstance(method, str):
        return None
    if method != "auto" and not is_aware(method):
        return None
    if method in AWARE_METHODS and not hasattr(AWARE_METHODS[method], "learn"):
        raise _unlearnable(method)
    if domain.is_numeric:
        raise UsageError(
            "methods that know the noise of numbers look at all tasks at once, and a large table's "
            "are never in one place: choose one that takes reports for answers, such as --method "
            "crh, or infer without --engine"
        )
    found = mechanism_of(policy).evidence(_each_label_once(domain), policy.domain)
    if found is None:
        raise UsageError("the noise of this policy has no law that inference could know")
    name = "aware" if method == "auto" else method
    chosen = aware_method(name, found.channel, policy.domain, parameters or {})
    return Chosen(_sums_only(chosen), Recoding(found.symbols.value, found.symbols.domain))


def _each_label_once(domain: Domain) -> Reports:
    """A table with every label: what becomes of each is what becomes of all."""
    places = np.arange(domain.size, dtype=np.int32)
    return Reports.of(np.zeros_like(places), places, places, domain=domain)


def _check_plain(policy: Policy) -> None:
    if not mechanism_of(policy).is_plain:
        raise UsageError(
            "reports of this policy are no answers as they stand: choose a method that knows their "
            "noise (--method auto), or infer without --engine"
        )


def _numbers(domain: Domain) -> Recoding:
    """Ordinal labels as the numbers they stand for."""
    table = _each_label_once(domain).as_numbers()
    return Recoding(table.value, table.domain)


def _sums_only(aggregator: Aggregator) -> SumsAggregator[Any]:
    if isinstance(aggregator, SumsAggregator):
        if getattr(aggregator, "known", None) is not None:
            raise UsageError("known truths go by the place of a task, and a large table has none")
        return aggregator
    raise _unlearnable(getattr(aggregator, "name", type(aggregator).__name__))


def _unlearnable(name: str) -> UsageError:
    return UsageError(
        f"{name} looks at all tasks at once, and a large table's are never in one place: infer "
        "without --engine"
    )
