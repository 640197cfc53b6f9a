"""The aggregators by name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from sottovoce.errors import UsageError
from sottovoce.inference.aggregator import settings_of
from sottovoce.inference.baselines import Constant, Mean, Median
from sottovoce.inference.bwa import BWA
from sottovoce.inference.catd import CATD
from sottovoce.inference.crh import CRH
from sottovoce.inference.dawid_skene import DawidSkene
from sottovoce.inference.ebcc import EBCC
from sottovoce.inference.glad import GLAD
from sottovoce.inference.gtm import GTM
from sottovoce.inference.ibcc import IBCC
from sottovoce.inference.inverse_deviation import InverseDeviation
from sottovoce.inference.kos import KOS
from sottovoce.inference.latent_label import LatentLabel
from sottovoce.inference.m_msr import MMSR
from sottovoce.inference.mace import MACE
from sottovoce.inference.majority_vote import MajorityVote
from sottovoce.inference.noise_aware.labels import AwareLabels
from sottovoce.inference.one_coin import OneCoin
from sottovoce.inference.plain_numbers import PlainNumbers
from sottovoce.inference.truth_discovery import TD
from sottovoce.inference.wawa import Wawa
from sottovoce.inference.weighted_median import WeightedMedian
from sottovoce.inference.zero_based_skill import ZeroBasedSkill
from sottovoce.model import Domain, Kind
from sottovoce.seams import Aggregator

METHODS: Mapping[str, type[Any]] = MappingProxyType(
    {
        method.name: method
        for method in (
            MajorityVote,
            Mean,
            Median,
            WeightedMedian,
            Constant,
            TD,
            CRH,
            GTM,
            CATD,
            InverseDeviation,
            DawidSkene,
            OneCoin,
            LatentLabel,
            AwareLabels,
            Wawa,
            ZeroBasedSkill,
            MACE,
            GLAD,
            IBCC,
            EBCC,
            BWA,
            KOS,
            MMSR,
            PlainNumbers,
        )
    }
)
"""Every aggregator under its name on the command line and in `infer`."""


def method_named(name: str, **parameters: Any) -> Aggregator:
    """The aggregator of that name; an unknown name raises an error that lists the names."""
    if name not in METHODS:
        raise unknown_method(name, METHODS)
    known = settings_of(METHODS[name])
    unknown = [given for given in parameters if given not in known]
    if unknown:
        raise UsageError(f"{name} takes {', '.join(known) or 'no parameters'}, not {unknown[0]!r}")
    aggregator: Aggregator = METHODS[name](**parameters)
    return aggregator


def unknown_method(name: str, known: Iterable[str]) -> UsageError:
    """A hint for an unknown name: the nearest known one, or all of them."""
    names = list(known)
    near = difflib.get_close_matches(name, names, 1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
    return UsageError(f"no method {name!r}: {hint}")


def suits(name: str, domain: Domain) -> bool:
    """Whether a method can run on a domain; ordinal labels count as numbers if it needs them.

    >>> suits("mean", Domain.ordinal([1, 2, 3])), suits("mean", Domain.categorical("ab"))
    (True, False)
    """
    if name in (LatentLabel.name, KOS.name) and domain.size != 2:
        return False
    takes = METHODS[name].takes
    return domain.kind in takes or (domain.kind is Kind.ORDINAL and Kind.NUMERIC in takes)


def usual_methods(domain: Domain) -> tuple[str, ...]:
    """Methods that often do best on answers of a domain."""
    if domain.is_numeric:
        return PlainNumbers.name, CRH.name, Median.name
    return AwareLabels.name, DawidSkene.name, MajorityVote.name


def estimates_accuracy(name: str) -> bool:
    """Whether that method's weight estimates a worker's accuracy."""
    return name in (AwareLabels.name, DawidSkene.name, OneCoin.name)


def default_method(domain: Domain) -> str:
    """`aware-labels` for labels, `aware-numbers` for numbers."""
    return PlainNumbers.name if domain.is_numeric else AwareLabels.name
