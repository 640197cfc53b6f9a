"""The noise-aware aggregators by name, and the choice of one for a channel."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from sottovoce.errors import UsageError
from sottovoce.inference.aggregator import settings_of
from sottovoce.inference.noise_aware.factorization import AwareFactorization
from sottovoce.inference.noise_aware.labels import AwareLabels
from sottovoce.inference.noise_aware.numbers import AwareNumbers, AwareOrdinal
from sottovoce.model import Channel, Domain, FactorChannel, Kind, SetChannel
from sottovoce.seams import Aggregator

AWARE_METHODS: Mapping[str, type[Any]] = MappingProxyType(
    {
        method.name: method
        for method in (AwareLabels, AwareOrdinal, AwareNumbers, AwareFactorization)
    }
)
"""The noise-aware aggregators, by name: those for reports under a policy."""

_BEST = "aware"
_SPECIAL = (AwareLabels, AwareFactorization)


def is_aware(name: str) -> bool:
    """Whether a method's name is a noise-aware one; "aware" chooses the one for the policy."""
    return name == _BEST or name in AWARE_METHODS


def reads_numbers(name: str, domain: Domain) -> bool:
    """Whether a method takes labels on their scale; refuses labels without a scale."""
    if name not in (AwareNumbers.name, AwareOrdinal.name) or domain.is_numeric:
        return False
    if domain.kind is Kind.CATEGORICAL:
        raise UsageError(f"{name} needs labels with an order, and the policy's have none")
    return True


def aware_method(
    name: str, channel: Channel, domain: Domain, parameters: Mapping[str, Any]
) -> Aggregator:
    """The aggregator of that name for a channel; "aware" chooses the one that fits."""
    name = _suiting(channel, domain) if name == _BEST else name
    kind = AWARE_METHODS[name]
    known = settings_of(kind)
    unknown = [given for given in parameters if given not in known]
    if unknown:
        raise UsageError(f"{name} takes {', '.join(known)}, not {unknown[0]!r}")
    wanted = {SetChannel: AwareLabels, FactorChannel: AwareFactorization}.get(type(channel))
    if (wanted or kind) is not kind or (wanted is None and kind in _SPECIAL):
        fitting = _suiting(channel, domain)
        raise UsageError(f"{name} does not read reports of this policy; {fitting} does")
    aggregator: Aggregator = kind(channel, domain, **parameters)
    return aggregator


def _suiting(channel: Channel, domain: Domain) -> str:
    if isinstance(channel, SetChannel):
        return AwareLabels.name
    if isinstance(channel, FactorChannel):
        return AwareFactorization.name
    return AwareNumbers.name if domain.is_numeric else AwareOrdinal.name
