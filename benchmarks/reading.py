"""Compare reading and inferring from files with reading and coding them in pandas.

    python reading.py prepare FOLDER ANSWERS      writes answers.parquet, by_task, .csv, packed
    python reading.py pandas FILE                 reads and factorises three columns
    python reading.py sottovoce FILE              reads into codes
    python reading.py rounds FILE                 the rounds' kernels alone, of `infer` on the file

print one JSON object: CPU seconds of the work, without starting the interpreter.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from crowds import REDUNDANCY


def prepare(folder: Path, answers: int) -> dict[str, float]:
    import duckdb

    import sottovoce
    from sottovoce.datasets import CategoricalCrowd, stream_to_parquet

    crowd = CategoricalCrowd(
        workers=answers // 1000, tasks=answers // REDUNDANCY, labels=4, redundancy=REDUNDANCY
    )
    parquet, by_task = folder / "answers.parquet", folder / "by_task.parquet"
    stream_to_parquet(crowd, by_task, force=True)
    duckdb.sql(f"COPY (FROM '{by_task}' ORDER BY hash(worker, task)) TO '{parquet}'")
    duckdb.sql(f"COPY (FROM '{parquet}') TO '{folder / 'answers.csv'}' (HEADER)")
    sottovoce.pack(parquet, folder / "packed.parquet", force=True)
    return {}


def with_pandas(file: Path) -> dict[str, float]:
    import pandas as pd

    start = time.process_time()
    frame = pd.read_parquet(file) if file.suffix == ".parquet" else pd.read_csv(file)
    for column in ("worker", "task", "answer"):
        pd.factorize(frame[column])
    return {"seconds": time.process_time() - start}


def with_sottovoce(file: Path) -> dict[str, float]:
    import sottovoce
    import sottovoce.api.input_output

    start = time.process_time()
    sottovoce.read(file)
    return {"seconds": time.process_time() - start}


def rounds(file: Path) -> dict[str, float]:
    import sottovoce
    from sottovoce.datasets import CategoricalCrowd, generate

    reports = sottovoce.read(file)
    small, _ = generate(CategoricalCrowd(workers=200, tasks=30_000))
    sottovoce.DawidSkene(1).fit(sottovoce.LocalEngine(small))
    start = time.process_time()
    result = sottovoce.DawidSkene().fit(sottovoce.LocalEngine(reports))
    return {"seconds": time.process_time() - start, "rounds": result.rounds}


if __name__ == "__main__":
    work, target = sys.argv[1], Path(sys.argv[2])
    if work == "prepare":
        print(json.dumps(prepare(target, int(sys.argv[3]))))
    else:
        works = {"pandas": with_pandas, "sottovoce": with_sottovoce, "rounds": rounds}
        print(json.dumps(works[work](target)))
