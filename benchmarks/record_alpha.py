"""Run crowd-kit's Krippendorff's alpha on random tables and record it, so that tests can compare.

    python benchmarks/record_alpha.py [OUT]

Writes tests/vectors/alpha.json: small tables with missing answers, and alpha with the distances
that crowd-kit takes from nltk: equal or not, and the squared difference.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from crowdkit.metrics.data import alpha_krippendorff
from nltk.metrics.distance import binary_distance, interval_distance

OUT = Path(__file__).parents[1] / "tests" / "vectors" / "alpha.json"


def main() -> None:
    """Write the vectors."""
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else OUT
    versions = {name: version(name) for name in ("crowd-kit", "nltk")}
    cases = [case(seed) for seed in range(12)]
    out.write_text(
        json.dumps({"versions": versions, "cases": cases}).replace("}, {", "},\n{") + "\n"
    )
    print(f"{out}: {out.stat().st_size / 1000:.0f} kB")


def case(seed: int) -> dict[str, Any]:
    """A table in which workers are right with a probability of 0.2 to 0.9, and its alphas."""
    rng = np.random.default_rng(seed)
    workers, tasks, labels = (int(rng.integers(*ends)) for ends in ((2, 9), (8, 25), (2, 6)))
    worker, task = np.nonzero(rng.random((workers, tasks)) < rng.uniform(0.3, 1))
    right = rng.random(len(task)) < rng.uniform(0.2, 0.9)
    label = np.where(
        right, rng.integers(0, labels, tasks)[task], rng.integers(0, labels, len(task))
    )
    frame = pd.DataFrame({"worker": worker, "task": task, "label": label})
    return {
        **{str(name): column.tolist() for name, column in frame.items()},
        "labels": labels,
        "nominal": alpha_krippendorff(frame, binary_distance),
        "interval": alpha_krippendorff(frame, interval_distance),
    }


if __name__ == "__main__":
    main()
