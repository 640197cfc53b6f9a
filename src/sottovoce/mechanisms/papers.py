"""The papers that several mechanisms cite: the short citation, and the full reference."""

from __future__ import annotations

P1 = (
    "Li et al. 2018",
    "Y. Li, C. Miao, L. Su, J. Gao, Q. Li, B. Ding, Z. Qin, K. Ren: An Efficient Two-Layer "
    "Mechanism for Privacy-Preserving Truth Discovery. KDD 2018.",
)
P4 = (
    "Sun et al. 2018",
    "H. Sun, B. Dong, H. Wang, T. Yu, Z. Qin: Truth Inference on Sparse Crowdsourcing Data with "
    "Local Differential Privacy. IEEE Big Data 2018.",
)
