"""Steps and aggregators: sums in, truths, weights and confidence out. Pure maths."""

from sottovoce.inference.catd import CATD
from sottovoce.inference.constant import Constant
from sottovoce.inference.crh import CRH
from sottovoce.inference.dawid_skene import DawidSkene
from sottovoce.inference.gtm import GTM
from sottovoce.inference.importance import importance, important
from sottovoce.inference.inverse_deviation import InverseDeviation
from sottovoce.inference.latent_label import LatentLabel
from sottovoce.inference.majority_vote import MajorityVote
from sottovoce.inference.mean import Mean
from sottovoce.inference.median import Median
from sottovoce.inference.methods import METHODS, default_method, method_named, suits
from sottovoce.inference.one_coin import OneCoin
from sottovoce.inference.scoring import score
from sottovoce.inference.td import TD
from sottovoce.inference.weighted_median import WeightedMedian

__all__ = [
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
    "default_method",
    "importance",
    "important",
    "method_named",
    "score",
    "suits",
]
