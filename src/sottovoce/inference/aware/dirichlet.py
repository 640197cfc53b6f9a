"""Dirichlet laws over the last axis, as variational EM needs them."""

from __future__ import annotations

import numpy as np
import scipy  # its parts are loaded when first used

from sottovoce.model import FloatArray

__all__ = ["divergence", "expected_logs"]


def expected_logs(concentration: FloatArray) -> FloatArray:
    """E ln p for p ~ Dirichlet(concentration): ψ(αᵢ) - ψ(Σ α).

    >>> expected_logs(np.array([1.0, 1.0])).round(12).tolist()
    [-1.0, -1.0]
    """
    psi = scipy.special.digamma
    logs: FloatArray = psi(concentration) - psi(concentration.sum(axis=-1, keepdims=True))
    return logs


def divergence(posterior: FloatArray, prior: FloatArray) -> float:
    """Σ KL(Dirichlet(posterior) ‖ Dirichlet(prior)) over all leading axes; both broadcast.

    >>> round(divergence(np.array([2.0, 1.0]), np.array([1.0, 1.0])), 6)
    0.193147
    """
    normalizers = _log_beta(prior) - _log_beta(posterior)
    moved = np.sum((posterior - prior) * expected_logs(posterior), axis=-1)
    return float(np.sum(normalizers + moved))


def _log_beta(concentration: FloatArray) -> FloatArray:
    gamma = scipy.special.gammaln
    value: FloatArray = gamma(concentration).sum(axis=-1) - gamma(concentration.sum(axis=-1))
    return value
