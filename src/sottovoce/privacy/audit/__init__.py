"""A lower bound on ε, with a stated confidence, from nothing but samples of two neighbours.

Of the samples one part fits one-dimensional scores of a report, a second part chooses among them an
event that is much likelier for one input, and the rest bounds its two probabilities (Clopper and
Pearson 1934). The event does not depend on the samples that bound it, so the confidence is true
whatever the mechanism is and however the event was found.
"""

from sottovoce.privacy.audit.lower_bound import Audit, audit, audit_pairs, audit_samples

__all__ = ["Audit", "audit", "audit_pairs", "audit_samples"]
