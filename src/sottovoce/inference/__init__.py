"""Steps and aggregators: sums in, truths, weights and confidence out. Pure maths."""

from sottovoce.inference.baselines import Constant, Mean, Median
from sottovoce.inference.catd import CATD
from sottovoce.inference.crh import CRH
from sottovoce.inference.dawid_skene import DawidSkene
from sottovoce.inference.evaluation import score
from sottovoce.inference.gtm import GTM
from sottovoce.inference.inverse_deviation import InverseDeviation
from sottovoce.inference.latent_label import LatentLabel
from sottovoce.inference.majority_vote import MajorityVote
from sottovoce.inference.one_coin import OneCoin
from sottovoce.inference.registry import METHODS, default_method, method_named, suits
from sottovoce.inference.truth_discovery import TD
from sottovoce.inference.weighted_median import WeightedMedian
from sottovoce.inference.weights import importance, important

__all__ = [
    "CATD", "CRH", "GTM", "METHODS", "TD", "Constant", "DawidSkene", "InverseDeviation",
    "LatentLabel", "MajorityVote", "Mean", "Median", "OneCoin", "WeightedMedian", "default_method",
    "importance", "important", "method_named", "score", "suits",
]  # fmt: skip
