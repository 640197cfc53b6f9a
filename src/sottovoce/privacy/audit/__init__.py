"""A lower bound on ε, with a stated confidence, from samples of two neighbours alone.

One part of the samples fits one-dimensional scores of a report, a second part chooses among them an
event that is much likelier for one input, and the rest bounds its two probabilities (Clopper and
Pearson 1934). The event does not depend on the samples that bound it, so the confidence is valid
for any mechanism and any way of finding the event.
"""

from sottovoce.privacy.audit.lower_bound import Audit, audit, audit_pairs, audit_samples

__all__ = ["Audit", "audit", "audit_pairs", "audit_samples"]
