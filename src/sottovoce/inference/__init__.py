"""Steps and aggregators: sums in, truths, weights and confidence out. Pure maths."""

from sottovoce.inference.baselines import Constant, Mean, Median
from sottovoce.inference.bwa import BWA
from sottovoce.inference.catd import CATD
from sottovoce.inference.crh import CRH
from sottovoce.inference.dawid_skene import DawidSkene
from sottovoce.inference.ebcc import EBCC
from sottovoce.inference.evaluation import score
from sottovoce.inference.glad import GLAD
from sottovoce.inference.gtm import GTM
from sottovoce.inference.ibcc import IBCC
from sottovoce.inference.inverse_deviation import InverseDeviation
from sottovoce.inference.kos import KOS
from sottovoce.inference.latent_label import LatentLabel
from sottovoce.inference.m_msr import MMSR
from sottovoce.inference.mace import MACE
from sottovoce.inference.majority_vote import MajorityVote
from sottovoce.inference.one_coin import OneCoin
from sottovoce.inference.registry import METHODS, default_method, method_named, suits
from sottovoce.inference.truth_discovery import TD
from sottovoce.inference.wawa import Wawa
from sottovoce.inference.weighted_median import WeightedMedian
from sottovoce.inference.weights import importance, important
from sottovoce.inference.zero_based_skill import ZeroBasedSkill

__all__ = [
    "BWA", "CATD", "CRH", "EBCC", "GLAD", "GTM", "IBCC", "KOS", "MACE", "METHODS", "MMSR", "TD",
    "Constant", "DawidSkene", "InverseDeviation", "LatentLabel", "MajorityVote", "Mean", "Median",
    "OneCoin", "Wawa", "WeightedMedian", "ZeroBasedSkill", "default_method", "importance",
    "important", "method_named", "score", "suits",
]  # fmt: skip
