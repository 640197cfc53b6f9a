"""Study `worker-private-em`: the private EM is the plain one, but for rounding at small scales."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from sottovoce.api.private_em import simulate_private_em
from sottovoce.engines import LocalEngine
from sottovoce.errors import UsageError
from sottovoce.figures import Chart, Level, Series
from sottovoce.inference import LatentLabel, MajorityVote
from sottovoce.model import FloatArray, Result
from sottovoce.planning.spreads import trial_seed
from sottovoce.studies.cells import Cell
from sottovoce.studies.p2.gold_tasks import GoldTasks, PaperCrowd, TableSource
from sottovoce.studies.study import Outcome, Row, Size, Study, Value, Verdict, Work

__all__ = [
    "ENOUGH",
    "EXPONENTS",
    "PARAMETERS",
    "STUDY",
    "falls",
    "judge",
    "relative_error",
    "trial",
]

EXPONENTS = tuple(range(15))
"""P2 §6.2: L = 10^0 … 10^14."""
ENOUGH = 7
"""P2 fig. 3: from L = 10^7 on as many rounds as the plain EM."""
PARAMETERS = ("alpha", "beta", "mu", "p")
ROUNDS = 200
TRIALS: Mapping[Size, int] = {"quick": 2, "full": 20}

FLOOR = 1e-11
"""Where errors end: parameters are rounded to 40 bits in every round."""
LATER = 3
"""Errors are compared over a factor of 1,000: other numbers of rounds make them go up and down."""

DUCHENNE = "Duchenne gold tasks"
CROWD = "crowds like the paper's"
SKIPPED = f"{DUCHENNE} skipped: the dataset is not in the cache"

ERRORS, ACCURACY = "Figures 2 and 3: errors and rounds", "Table 1: accuracy"
PAPER = {"majority vote": 0.752, "plain EM": 0.761, "private EM": 0.761}

Trial: TypeAlias = Mapping[str, Any]


def plan(size: Size, seed: int) -> Work:
    """Every scale, on the paper's data as far as they are public, and on crowds like them."""
    real = GoldTasks.of("duchenne")
    cases: list[tuple[str, list[Trial]]] = [] if real is None else [(DUCHENNE, [])]
    cases.append((CROWD, []))
    cells = [] if real is None else [Cell(trial, (real, 0))]
    seeds = [trial_seed(seed, 0, number) for number in range(TRIALS[size])]
    cells += [Cell(trial, (PaperCrowd(), each)) for each in seeds]

    def judged(results: Sequence[Trial]) -> Outcome:
        own = 0 if real is None else 1
        found = {DUCHENNE: results[:own], CROWD: results[own:]}
        return judge({name: trials for name, trials in found.items() if trials})

    return Work(cells, judged)


def trial(source: TableSource, seed: int) -> dict[str, Any]:
    """The plain EM and the private one at every scale, on the same answers.

    Sums are made in the open: sealed ones have the same integers.
    """
    answers, truths = source.draw(seed)
    engine = LocalEngine(answers)
    plain = LatentLabel(max_rounds=ROUNDS).fit(engine)
    known = _parameters(plain, np.asarray(plain.confusions))
    votes = MajorityVote().fit(engine).truths
    scales = []
    for exponent in EXPONENTS:
        run = simulate_private_em(
            answers, suite="plain", mode="as_published", scale=10**exponent, rounds=ROUNDS
        )
        found = _parameters(run.result, np.stack(list(run.skills.values())))
        errors = {name: relative_error(known[name], found[name]) for name in PARAMETERS}
        scales.append(
            {
                **errors, "rounds": run.rounds,
                "changed": int(np.sum(run.result.truths != plain.truths)),
                "accuracy": float(np.mean(run.result.truths == truths)),
            }
        )  # fmt: skip
    return {
        "workers": len(answers.workers), "tasks": len(answers.tasks), "answers": len(answers),
        "rounds": plain.rounds, "plain EM": float(np.mean(plain.truths == truths)),
        "majority vote": float(np.mean(votes == truths)), "scales": scales,
    }  # fmt: skip


def relative_error(known: FloatArray, found: FloatArray) -> float:
    """||ln x - ln x~|| / ||ln x|| (P2 §6.2.1).

    >>> round(relative_error(np.array([0.1, 0.1]), np.array([0.01, 0.1])), 4)
    0.7071
    """
    distance = np.linalg.norm(np.log(known) - np.log(found))
    return float(distance / np.linalg.norm(np.log(known)))


def falls(errors: Sequence[float]) -> bool:
    """Whether each error is above the one at 1,000 times the scale, down to the last bits."""
    later = zip(errors, errors[LATER:], strict=False)
    return all(after < max(before, FLOOR) for before, after in later)


def judge(found: Mapping[str, Sequence[Trial]]) -> Outcome:
    """Errors must fall, labels be the plain EM's from 10^7, and on the paper's data rounds too."""
    faults = [fault for name, trials in found.items() for fault in _faults(name, trials)]
    verdict: Verdict = "fails" if faults else "holds"
    words = [f"not so: {fault}" for fault in faults]
    words += [_sentence(name, trials) for name, trials in found.items()]
    words += [] if DUCHENNE in found else [SKIPPED]
    rows = tuple(row for name, trials in found.items() for row in _rows(name, trials))
    charts = tuple(chart for name, trials in found.items() for chart in _charts(name, trials))
    accuracies = tuple(_accuracies(name, trials) for name, trials in found.items())
    reason = faults[0] if faults else ""
    return Outcome((*rows, *accuracies), verdict, reason, f"{'; '.join(words)}.", charts)


def _parameters(result: Result, confusions: FloatArray) -> dict[str, FloatArray]:
    """P2's: both skills of every worker, every task's chance of label 1, and the mean of it."""
    posterior, prior = result.posterior, result.prior
    if posterior is None or prior is None:
        raise UsageError(f"{result.provenance.method} gives no posterior")
    return {
        "alpha": confusions[:, 1, 1], "beta": confusions[:, 0, 0], "mu": posterior[:, 1],
        "p": prior[1:],
    }  # fmt: skip


def _faults(name: str, trials: Sequence[Trial]) -> Iterator[str]:
    for parameter in PARAMETERS:
        if not falls(_errors(trials, parameter)):
            yield f"{name}: the error of {parameter} does not fall"
    if _from(trials, "changed", 0) > ENOUGH:
        yield f"{name}: labels change at L = 10^{ENOUGH} or above"
    if name == DUCHENNE and _rounds_from(trials) > ENOUGH:
        yield f"{name}: rounds differ at L = 10^{ENOUGH} or above"


def _sentence(name: str, trials: Sequence[Trial]) -> str:
    first, count = trials[0], len(trials)
    same = sum(each["scales"][ENOUGH]["rounds"] == each["rounds"] for each in trials)
    often = f" (at 10^{ENOUGH} in {same} of {count} tables)" if count > 1 else ""
    return (
        f"{name} ({first['workers']} workers, {first['answers']:,} answers to {first['tasks']} "
        f"tasks): rounds are the plain EM's from L = 10^{_rounds_from(trials)}{often}, "
        f"labels from 10^{_from(trials, 'changed', 0)}{_changes(trials)}"
    )


def _changes(trials: Sequence[Trial]) -> str:
    """Where labels change, which P2's table 1 says they never do."""
    tasks = sum(each["tasks"] for each in trials)
    totals = [sum(each["scales"][k]["changed"] for each in trials) for k in EXPONENTS]
    parts = [f"{n} of {tasks:,} at 10^{k}" for k, n in zip(EXPONENTS, totals, strict=True) if n]
    return f" ({', '.join(parts)} change, and none at any L in P2's table 1)" if parts else ""


def _from(trials: Sequence[Trial], column: str, wanted: int) -> int:
    """The exponent from which on a column is as wanted in every trial; 15 if never."""
    last = [
        exponent
        for each in trials
        for exponent, row in zip(EXPONENTS, each["scales"], strict=True)
        if row[column] != wanted
    ]
    return max(last, default=-1) + 1


def _rounds_from(trials: Sequence[Trial]) -> int:
    return max(_from([each], "rounds", each["rounds"]) for each in trials)


def _errors(trials: Sequence[Trial], parameter: str) -> list[float]:
    """The geometric mean over trials, scale by scale; what is exact counts as the last bit."""
    table = np.array([[row[parameter] for row in each["scales"]] for each in trials])
    means = np.log(np.maximum(table, 2.0**-52)).mean(axis=0)
    return [float(error) for error in np.exp(means)]


def _rows(name: str, trials: Sequence[Trial]) -> Iterator[Row]:
    errors = {parameter: _errors(trials, parameter) for parameter in PARAMETERS}
    for place, exponent in enumerate(EXPONENTS):
        seen = [each["scales"][place] for each in trials]
        yield {
            "part": ERRORS,
            "data": name,
            "L": f"10^{exponent}",
            **{f"error of {parameter}": errors[parameter][place] for parameter in PARAMETERS},
            "rounds": float(np.mean([row["rounds"] for row in seen])),
            "plain rounds": float(np.mean([each["rounds"] for each in trials])),
            "same rounds": sum(
                row["rounds"] == each["rounds"] for row, each in zip(seen, trials, strict=True)
            ),
            "labels changed": sum(row["changed"] for row in seen),
            "accuracy": float(np.mean([row["accuracy"] for row in seen])),
            "tables": len(trials),
        }


def _accuracies(name: str, trials: Sequence[Trial]) -> Row:
    """Ours at P2's L = 10^7 beside what P2 printed of its own data, which are not public."""
    ours = {
        "majority vote": [each["majority vote"] for each in trials],
        "plain EM": [each["plain EM"] for each in trials],
        "private EM": [each["scales"][ENOUGH]["accuracy"] for each in trials],
    }
    row: dict[str, Value] = {"part": ACCURACY, "data": name}
    row |= {method: float(np.mean(seen)) for method, seen in ours.items()}
    if name == DUCHENNE:
        row |= {f"{method} (P2)": value for method, value in PAPER.items()}
    return {**row, "tables": len(trials)}


def _charts(name: str, trials: Sequence[Trial]) -> Iterator[Chart]:
    scales = tuple(10.0**exponent for exponent in EXPONENTS)
    yield Chart(
        f"Relative errors (P2 fig. 2): {name}", "L", "relative error of logarithms",
        tuple(
            Series(parameter, scales, tuple(_errors(trials, parameter)), role="ours")
            for parameter in PARAMETERS
        ),
        better="lower", x_scale="log", y_scale="log",
    )  # fmt: skip
    rounds = [float(np.mean([each["scales"][place]["rounds"] for each in trials]))
              for place in range(len(EXPONENTS))]  # fmt: skip
    plain = float(np.mean([each["rounds"] for each in trials]))
    yield Chart(
        f"Rounds (P2 fig. 3): {name}", "L", "rounds",
        (Series("private EM", scales, tuple(rounds), role="ours"),),
        (Level("plain EM", plain),), better="neither", x_scale="log",
    )  # fmt: skip


STUDY = Study(
    "worker-private-em",
    "Errors of the private EM fall with the scale L; from L = 10^7 on it finds the labels of the "
    "plain EM, on the paper's data in as many rounds",
    "P2 §6.2: Table 1, Figures 2 and 3",
    "the 159 images of Duchenne with gold and all public answers to them (17 workers, 1,950 "
    "answers; P2 had 20 and 3,513), and drawn crowds of P2's size, abilities U(0.55, 0.85); votes "
    "that tie go to the first label, as P2's rule mu > 0.5 has it",
    plan,
    f"{TRIALS['quick']} crowds instead of {TRIALS['full']}",
    recorded="holds",
    items=("P2 Table 1", "P2 Figure 2", "P2 Figure 3"),
)
