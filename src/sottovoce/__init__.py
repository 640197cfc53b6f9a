"""A crowd answers privately, and the truth is still heard.

    import sottovoce

    result = sottovoce.infer("answers.csv")
    sottovoce.write(result, "truths.csv")

Everything in `__all__` is loaded when first used, so that importing the package costs little more
than importing NumPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as _numpy  # noqa: F401 - the one library every part needs

from sottovoce.version import __version__ as __version__

if TYPE_CHECKING:
    from sottovoce.api.files import pack, write
    from sottovoce.api.inferring import Comparison, compare, infer, inspect, score
    from sottovoce.api.large import Inferred, infer_into
    from sottovoce.api.large_perturbing import Perturbed, perturb_into
    from sottovoce.api.perturbing import perturb, read_under
    from sottovoce.api.private_em import PrivateRun, simulate_private_em
    from sottovoce.api.sealed import OwnWeight, infer_opened, own_weight, sum_answers
    from sottovoce.api.sealing import SealedRun, simulate_sealed
    from sottovoce.api.sources import gold, read
    from sottovoce.datasets import SeededRandomness
    from sottovoce.engines import LocalEngine
    from sottovoce.errors import (
        AlreadyReported,
        BudgetExceeded,
        DataError,
        LedgerDamaged,
        NotInstalled,
        OutputExists,
        PolicyChanged,
        Refused,
        SottovoceError,
        Unreachable,
        UsageError,
    )
    from sottovoce.inference import (
        CATD,
        CRH,
        GTM,
        METHODS,
        TD,
        Constant,
        DawidSkene,
        InverseDeviation,
        LatentLabel,
        MajorityVote,
        Mean,
        Median,
        OneCoin,
        WeightedMedian,
        importance,
        important,
    )
    from sottovoce.inference.aware.choosing import AWARE_METHODS
    from sottovoce.inference.inspecting import (
        Inspection,
    )
    from sottovoce.inference.sealed.methods import SEALED_METHODS
    from sottovoce.mechanisms import (
        Duchi,
        Laplace,
        Layout,
        MatrixFactorization,
        NullRandomizedResponse,
        Piecewise,
        RandomizedResponse,
        RandomVarianceGaussian,
        Sampled,
        SealedSum,
        SubsetSelection,
        Threshold,
        TwoLayer,
    )
    from sottovoce.mechanisms.policies import mechanism_of, release_of
    from sottovoce.mechanisms.registry import (
        MECHANISMS,
    )
    from sottovoce.mechanisms.targets import Target, make_policy
    from sottovoce.model import (
        Calibration,
        Domain,
        Gold,
        Guarantee,
        Keyholder,
        Kind,
        Policy,
        Promise,
        Reading,
        Reports,
        Result,
        Score,
        ShowDraw,
        Submission,
        Unit,
    )
    from sottovoce.model.opened import NoiseLaw, Opened
    from sottovoce.planning.plans import Plan, plan
    from sottovoce.planning.recommending import Recommendation, recommend
    from sottovoce.planning.scenario import Scenario
    from sottovoce.planning.tradeoff import Tradeoff, tradeoff
    from sottovoce.privacy.audit import (
        Audit,
        audit,
        audit_samples,
    )
    from sottovoce.privacy.campaigns import composed
    from sottovoce.requester.client import Requester
    from sottovoce.requester.signatures import verify_signature
    from sottovoce.stores import (
        read_policy,
        write_policy,
    )
    from sottovoce.worker import (
        Answer,
        Budget,
        Ledger,
        SystemRandomness,
        preview,
        respond,
    )
    from sottovoce.worker.client import Client

_HOMES = {
    "sottovoce.api.files": ("pack", "write"),
    "sottovoce.api.inferring": ("Comparison", "compare", "infer", "inspect", "score"),
    "sottovoce.api.large": ("Inferred", "infer_into"),
    "sottovoce.api.large_perturbing": ("Perturbed", "perturb_into"),
    "sottovoce.api.perturbing": ("perturb", "read_under"),
    "sottovoce.api.private_em": ("PrivateRun", "simulate_private_em"),
    "sottovoce.api.sealed": ("OwnWeight", "infer_opened", "own_weight", "sum_answers"),
    "sottovoce.api.sealing": ("SealedRun", "simulate_sealed"),
    "sottovoce.api.sources": ("gold", "read"),
    "sottovoce.datasets": ("SeededRandomness",),
    "sottovoce.engines": ("LocalEngine",),
    "sottovoce.errors": (
        "AlreadyReported",
        "BudgetExceeded",
        "DataError",
        "LedgerDamaged",
        "NotInstalled",
        "OutputExists",
        "PolicyChanged",
        "Refused",
        "SottovoceError",
        "Unreachable",
        "UsageError",
    ),
    "sottovoce.inference": (
        "CATD",
        "CRH",
        "GTM",
        "METHODS",
        "TD",
        "Constant",
        "DawidSkene",
        "InverseDeviation",
        "LatentLabel",
        "MajorityVote",
        "Mean",
        "Median",
        "OneCoin",
        "WeightedMedian",
        "importance",
        "important",
    ),
    "sottovoce.inference.aware.choosing": ("AWARE_METHODS",),
    "sottovoce.inference.sealed.methods": ("SEALED_METHODS",),
    "sottovoce.inference.inspecting": ("Inspection",),
    "sottovoce.mechanisms": (
        "Duchi",
        "Laplace",
        "Layout",
        "MatrixFactorization",
        "NullRandomizedResponse",
        "Piecewise",
        "RandomVarianceGaussian",
        "RandomizedResponse",
        "Sampled",
        "SealedSum",
        "SubsetSelection",
        "Threshold",
        "TwoLayer",
    ),
    "sottovoce.mechanisms.policies": ("mechanism_of", "release_of"),
    "sottovoce.mechanisms.registry": ("MECHANISMS",),
    "sottovoce.mechanisms.targets": ("Target", "make_policy"),
    "sottovoce.model": (
        "Calibration",
        "Domain",
        "Gold",
        "Guarantee",
        "Keyholder",
        "Kind",
        "Policy",
        "Promise",
        "Reading",
        "Reports",
        "Result",
        "Score",
        "ShowDraw",
        "Submission",
        "Unit",
    ),
    "sottovoce.model.opened": ("NoiseLaw", "Opened"),
    "sottovoce.planning.plans": ("Plan", "plan"),
    "sottovoce.planning.recommending": ("Recommendation", "recommend"),
    "sottovoce.planning.scenario": ("Scenario",),
    "sottovoce.planning.tradeoff": ("Tradeoff", "tradeoff"),
    "sottovoce.privacy.campaigns": ("composed",),
    "sottovoce.privacy.audit": (
        "Audit",
        "audit",
        "audit_samples",
    ),
    "sottovoce.requester.client": ("Requester",),
    "sottovoce.requester.signatures": ("verify_signature",),
    "sottovoce.stores": (
        "read_policy",
        "write_policy",
    ),
    "sottovoce.worker": (
        "Answer",
        "Budget",
        "Ledger",
        "SystemRandomness",
        "preview",
        "respond",
    ),
    "sottovoce.worker.client": ("Client",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "AWARE_METHODS",
    "CATD",
    "CRH",
    "GTM",
    "MECHANISMS",
    "METHODS",
    "SEALED_METHODS",
    "TD",
    "AlreadyReported",
    "Answer",
    "Audit",
    "Budget",
    "BudgetExceeded",
    "Calibration",
    "Client",
    "Comparison",
    "Constant",
    "DataError",
    "DawidSkene",
    "Domain",
    "Duchi",
    "Gold",
    "Guarantee",
    "Inferred",
    "Inspection",
    "InverseDeviation",
    "Keyholder",
    "Kind",
    "Laplace",
    "LatentLabel",
    "Layout",
    "Ledger",
    "LedgerDamaged",
    "LocalEngine",
    "MajorityVote",
    "MatrixFactorization",
    "Mean",
    "Median",
    "NoiseLaw",
    "NotInstalled",
    "NullRandomizedResponse",
    "OneCoin",
    "Opened",
    "OutputExists",
    "OwnWeight",
    "Perturbed",
    "Piecewise",
    "Plan",
    "Policy",
    "PolicyChanged",
    "PrivateRun",
    "Promise",
    "RandomVarianceGaussian",
    "RandomizedResponse",
    "Reading",
    "Recommendation",
    "Refused",
    "Reports",
    "Requester",
    "Result",
    "Sampled",
    "Scenario",
    "Score",
    "SealedRun",
    "SealedSum",
    "SeededRandomness",
    "ShowDraw",
    "SottovoceError",
    "Submission",
    "SubsetSelection",
    "SystemRandomness",
    "Target",
    "Threshold",
    "Tradeoff",
    "TwoLayer",
    "Unit",
    "Unreachable",
    "UsageError",
    "WeightedMedian",
    "audit",
    "audit_samples",
    "compare",
    "composed",
    "gold",
    "importance",
    "important",
    "infer",
    "infer_into",
    "infer_opened",
    "inspect",
    "make_policy",
    "mechanism_of",
    "own_weight",
    "pack",
    "perturb",
    "perturb_into",
    "plan",
    "preview",
    "read",
    "read_policy",
    "read_under",
    "recommend",
    "release_of",
    "respond",
    "score",
    "simulate_private_em",
    "simulate_sealed",
    "sum_answers",
    "tradeoff",
    "verify_signature",
    "write",
    "write_policy",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
