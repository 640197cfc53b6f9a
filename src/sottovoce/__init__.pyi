"""The public names and where they live: read by type checkers, editors and the package."""

__all__: list[str]

from sottovoce.api.input_output import pack as pack, write as write
from sottovoce.api.compare import (
    Comparison as Comparison,
    Comparisons as Comparisons,
    agreement as agreement,
    compare as compare,
    inspect as inspect,
    score as score,
)
from sottovoce.api.infer import infer as infer
from sottovoce.api.infer_into import Inferred as Inferred, infer_into as infer_into
from sottovoce.api.perturb_into import Perturbed as Perturbed, perturb_into as perturb_into
from sottovoce.api.perturb import (
    epsilon as epsilon,
    perturb as perturb,
    read_under as read_under,
)
from sottovoce.api.simulate_private_em import (
    PrivateRun as PrivateRun,
    simulate_private_em as simulate_private_em,
)
from sottovoce.api.infer_opened import (
    OwnWeight as OwnWeight,
    infer_opened as infer_opened,
    own_weight as own_weight,
    sum_answers as sum_answers,
)
from sottovoce.api.simulate_sealed import SealedRun as SealedRun, simulate_sealed as simulate_sealed
from sottovoce.api.input_output import gold as gold, read as read
from sottovoce.datasets import SeededRandomness as SeededRandomness
from sottovoce.engines import LocalEngine as LocalEngine
from sottovoce.errors import (
    AlreadyReported as AlreadyReported,
    BudgetExceeded as BudgetExceeded,
    DataError as DataError,
    LedgerDamaged as LedgerDamaged,
    NotInstalled as NotInstalled,
    OutputExists as OutputExists,
    PolicyChanged as PolicyChanged,
    Refused as Refused,
    SottovoceError as SottovoceError,
    Unreachable as Unreachable,
    UsageError as UsageError,
)
from sottovoce.figures.plot import Plot as Plot, plot as plot
from sottovoce.inference import (
    BWA as BWA,
    CATD as CATD,
    CRH as CRH,
    EBCC as EBCC,
    GLAD as GLAD,
    GTM as GTM,
    IBCC as IBCC,
    KOS as KOS,
    MACE as MACE,
    METHODS as METHODS,
    MMSR as MMSR,
    TD as TD,
    Constant as Constant,
    DawidSkene as DawidSkene,
    InverseDeviation as InverseDeviation,
    LatentLabel as LatentLabel,
    MajorityVote as MajorityVote,
    Mean as Mean,
    Median as Median,
    OneCoin as OneCoin,
    Wawa as Wawa,
    WeightedMedian as WeightedMedian,
    ZeroBasedSkill as ZeroBasedSkill,
    importance as importance,
    important as important,
)
from sottovoce.inference.noise_aware.registry import AWARE_METHODS as AWARE_METHODS
from sottovoce.inference.inspection import Inspection as Inspection
from sottovoce.inference.sealed.registry import SEALED_METHODS as SEALED_METHODS
from sottovoce.mechanisms import (
    Duchi as Duchi,
    Laplace as Laplace,
    Layout as Layout,
    MatrixFactorization as MatrixFactorization,
    NullRandomizedResponse as NullRandomizedResponse,
    Piecewise as Piecewise,
    RandomizedResponse as RandomizedResponse,
    RandomVarianceGaussian as RandomVarianceGaussian,
    Sampled as Sampled,
    SealedSum as SealedSum,
    SubsetSelection as SubsetSelection,
    Threshold as Threshold,
    TwoLayer as TwoLayer,
)
from sottovoce.mechanisms.policies import (
    mechanism_of as mechanism_of,
    release_of as release_of,
)
from sottovoce.mechanisms.registry import MECHANISMS as MECHANISMS
from sottovoce.mechanisms.policies import Target as Target, make_policy as make_policy
from sottovoce.model import (
    Agreement as Agreement,
    Calibration as Calibration,
    Domain as Domain,
    Estimate as Estimate,
    Gold as Gold,
    Guarantee as Guarantee,
    Keyholder as Keyholder,
    Kind as Kind,
    PairAgreement as PairAgreement,
    Policy as Policy,
    Promise as Promise,
    Reading as Reading,
    Reports as Reports,
    Result as Result,
    Score as Score,
    ShowDraw as ShowDraw,
    Signal as Signal,
    Submission as Submission,
    Unit as Unit,
)
from sottovoce.model.opened_totals import NoiseLaw as NoiseLaw, Opened as Opened
from sottovoce.planning.plan import Plan as Plan, plan as plan
from sottovoce.planning.recommendation import (
    Recommendation as Recommendation,
    recommend as recommend,
)
from sottovoce.planning.scenario import Scenario as Scenario
from sottovoce.planning.tradeoff import (
    Tradeoff as Tradeoff,
    tradeoff as tradeoff,
)
from sottovoce.privacy.audit import (
    Audit as Audit,
    audit as audit,
    audit_samples as audit_samples,
)
from sottovoce.privacy.composition import composed as composed
from sottovoce.requester.client import Requester as Requester
from sottovoce.requester.webhook_signatures import verify_signature as verify_signature
from sottovoce.tables import read_policy as read_policy, write_policy as write_policy
from sottovoce.version import __version__ as __version__
from sottovoce.worker import (
    Answer as Answer,
    Budget as Budget,
    Ledger as Ledger,
    SystemRandomness as SystemRandomness,
    preview as preview,
    randomize as randomize,
    respond as respond,
)
from sottovoce.worker.client import Client as Client
