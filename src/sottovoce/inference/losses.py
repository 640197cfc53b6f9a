"""How far each worker is from the truths that some weights imply."""

from __future__ import annotations

import numpy as np

from sottovoce.inference.steps.means import Scaling, SquaredErrors
from sottovoce.inference.steps.votes import Agreements
from sottovoce.model import FloatArray
from sottovoce.seams import Engine

__all__ = ["losses"]


def losses(engine: Engine, weights: FloatArray, scaling: Scaling) -> FloatArray:
    """Each worker's summed loss: 0 or 1 a label (in part where labels tie), squares for numbers."""
    if engine.domain.is_numeric:
        return engine.total(SquaredErrors(weights, scaling=scaling))
    agreement, answered = engine.total(Agreements(weights, engine.domain.size)).T
    return np.asarray(answered - agreement)
