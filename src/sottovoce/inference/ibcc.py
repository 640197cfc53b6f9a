"""Independent Bayesian classifier combination (iBCC), by variational Bayes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sottovoce.inference.aggregator import LABELS, check_parameters
from sottovoce.inference.ebcc import Combined, check_dirichlet, combine, combined_result
from sottovoce.model import Kind, Result
from sottovoce.seams import Engine


@dataclass(frozen=True, slots=True)
class IBCC:
    """Dawid-Skene with priors on everything, by variational Bayes (Kim & Ghahramani 2012).

        τ ~ Dirichlet(1, …)
        errorsₖ[·, t] ~ Dirichlet(`prior_right` for the answer t, `prior_wrong` for any other)
        E   P(truthⱼ = t) ∝ exp( E ln τ[t] + Σₖ E ln errorsₖ[vₖⱼ, t] )
        M   adds these probabilities to the priors

    Starts from vote shares. Stops when the variational bound, divided by the number of answers,
    grows by less than `tolerance`. A worker's weight is its expected accuracy. `EBCC` is the same
    with subtypes of tasks.
    """

    max_rounds: int = 500
    tolerance: float = 1e-6
    prior_right: float = 4.0
    prior_wrong: float = 1.0

    name: ClassVar[str] = "ibcc"
    takes: ClassVar[frozenset[Kind]] = LABELS

    def __post_init__(self) -> None:
        check_parameters(self)
        check_dirichlet(self.prior_right, self.prior_wrong)

    def fit(self, engine: Engine) -> Result:
        return self.tell(engine, self.learn(engine))

    def learn(self, engine: Engine) -> Combined:
        return combine(engine, self, subtypes=1)

    def tell(self, engine: Engine, learnt: Combined) -> Result:
        return combined_result(self, engine, learnt)
