"""Which channel a mechanism's reports go through."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sottovoce.mechanisms.duchi import Duchi
from sottovoce.mechanisms.evidence.factors import factor_channel
from sottovoce.mechanisms.evidence.points import binned_reports, listed_reports, threshold_reports
from sottovoce.mechanisms.evidence.sets import label_sets, subset_sets
from sottovoce.mechanisms.evidence.variances import noisy_reports
from sottovoce.mechanisms.laplace import Laplace
from sottovoce.mechanisms.matrix_factorization import MatrixFactorization
from sottovoce.mechanisms.null_randomized_response import NullRandomizedResponse
from sottovoce.mechanisms.piecewise import Piecewise
from sottovoce.mechanisms.random_variance_gaussian import RandomVarianceGaussian
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.sampling import Sampled
from sottovoce.mechanisms.subset_selection import SubsetSelection
from sottovoce.mechanisms.tables import report_cells
from sottovoce.mechanisms.threshold import Threshold
from sottovoce.mechanisms.two_layer import TwoLayer
from sottovoce.model import (
    Cells,
    Domain,
    Evidence,
    NoisyChannel,
    PointChannel,
    Reports,
    SetChannel,
)
from sottovoce.seams import Mechanism

__all__ = ["evidence"]


def evidence(
    reports: Reports, mechanism: Mechanism, domain: Domain, *, as_numbers: bool = False
) -> Evidence | None:
    """The reports as symbols, with the law of a symbol given an answer.

    `as_numbers` asks for labels on their scale, where the domain has one. None where a report
    depends on answers in a way that has no such law: matrix factorisation as published.
    """
    if isinstance(mechanism, Sampled):
        # The cells that were sent are chosen blindly: given them, each is the inner report.
        return evidence(reports, mechanism.mechanism, domain, as_numbers=as_numbers)
    cells = report_cells(reports, mechanism.alphabet, domain)
    if isinstance(mechanism, MatrixFactorization):
        return Evidence(reports, factor_channel(mechanism, domain, reports.tasks))
    found = _symbols(cells, mechanism, domain, as_numbers=as_numbers)
    if found is None:
        return None
    symbols, channel = found
    table = replace(
        reports, value=symbols.astype(np.int32), domain=Domain.categorical(range(channel.symbols))
    )
    return Evidence(table, channel)


def _symbols(
    cells: Cells, mechanism: Mechanism, domain: Domain, *, as_numbers: bool
) -> tuple[npt.NDArray[np.integer], SetChannel | PointChannel | NoisyChannel] | None:
    numbers = domain.is_numeric or as_numbers
    match mechanism:
        case RandomizedResponse() | NullRandomizedResponse() | TwoLayer():
            return (
                listed_reports(cells, mechanism, domain)
                if numbers
                else label_sets(cells, mechanism)
            )
        case SubsetSelection():
            return (
                listed_reports(cells, mechanism, domain)
                if numbers
                else subset_sets(cells, mechanism)
            )
        case Duchi():
            return listed_reports(cells, mechanism, domain)
        case Threshold():
            return threshold_reports(cells, mechanism, domain)
        case Piecewise() | Laplace():
            return binned_reports(cells, mechanism, domain)
        case RandomVarianceGaussian():
            return noisy_reports(cells, mechanism, domain)
    return None
