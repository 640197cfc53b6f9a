"""What each mechanism is in words, and where it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["SOURCES", "Source"]


@dataclass(frozen=True, slots=True)
class Source:
    """A mechanism in words, who described it (for a sentence), and the work itself."""

    words: str
    cited: str
    reference: str


_P1 = (
    "Li et al. 2018",
    "Y. Li, C. Miao, L. Su, J. Gao, Q. Li, B. Ding, Z. Qin, K. Ren: An Efficient Two-Layer "
    "Mechanism for Privacy-Preserving Truth Discovery. KDD 2018.",
)
_P4 = (
    "Sun et al. 2018",
    "H. Sun, B. Dong, H. Wang, T. Yu, Z. Qin: Truth Inference on Sparse Crowdsourcing Data with "
    "Local Differential Privacy. IEEE Big Data 2018.",
)

SOURCES: Mapping[str, Source] = {
    "randomized-response": Source("randomised response", *_P1),
    "two-layer": Source("a two-layer mechanism that draws each worker's flip probability", *_P1),
    "random-variance-gaussian": Source(
        "Gaussian noise whose variance each worker draws",
        "Li et al. 2020",
        "Y. Li, H. Xiao, Z. Qin, C. Miao, L. Su, J. Gao, K. Ren, B. Ding: Towards Differentially "
        "Private Truth Discovery for Crowd Sensing Systems. ICDCS 2020.",
    ),
    "laplace": Source(
        "two-sided geometric (discrete Laplace) noise",
        "Ghosh et al. 2009",
        "A. Ghosh, T. Roughgarden, M. Sundararajan: Universally Utility-Maximizing Privacy "
        "Mechanisms. STOC 2009.",
    ),
    "null-randomized-response": Source(
        "randomised response in which not answering is one more answer", *_P4
    ),
    "matrix-factorization": Source("noise on a factorisation of each worker's answers", *_P4),
    "piecewise": Source(
        "the piecewise mechanism",
        "Wang et al. 2019",
        "N. Wang, X. Xiao, Y. Yang, J. Zhao, S. C. Hui, H. Shin, J. Shin, G. Yu: Collecting and "
        "Analyzing Multidimensional Data with Local Differential Privacy. ICDE 2019.",
    ),
    "duchi": Source(
        "randomised rounding to the ends of the range",
        "Duchi et al. 2018",
        "J. C. Duchi, M. I. Jordan, M. J. Wainwright: Minimax Optimal Procedures for Locally "
        "Private Estimation. Journal of the American Statistical Association 113(521), 2018.",
    ),
    "subset-selection": Source(
        "subset selection",
        "Ye & Barg 2018",
        "M. Ye, A. Barg: Optimal Schemes for Discrete Distribution Estimation under Locally "
        "Differential Privacy. IEEE Transactions on Information Theory 64(8), 2018.",
    ),
    "sealed-sum": Source(
        "secret sharing among keyholders, who open only totals to which all of them have added "
        "distributed discrete Laplace noise",
        "Goryczka & Xiong 2017",
        "S. Goryczka, L. Xiong: A Comprehensive Comparison of Multiparty Secure Additions with "
        "Differential Privacy. IEEE Transactions on Dependable and Secure Computing 14(5), 2017.",
    ),
    "threshold": Source(
        "randomised response to whether the answer lies below a public threshold", *_P1
    ),
}
"""By name; docs/references.md has the same works."""
