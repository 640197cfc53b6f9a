"""Run the benchmarks of `make bench` and write docs/reference/benchmarks.md.

    python benchmarks/run.py [--quick] [--only SECTION] [--large]

`--quick` uses only 10^5 and 10^6 answers, and only prints. `--only` reruns one section (and those
whose names begin with it) and keeps the others. Sections of large tables run only if they are named
or with `--large`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import explaining
from live_tables import live, live_masked
from measuring import child, cpu_of_command, tell, this_machine
from serving_tables import exporting, serving_postgresql
from spark_tables import chunked, chunked_large, spark, spark_growth
from starting import compile_seconds, help_seconds, import_ratio

DOCS = Path(__file__).parent.parent / "docs" / "reference" / "benchmarks.md"


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--quick", action="store_true")
    arguments.add_argument("--only", choices=SECTIONS)
    arguments.add_argument("--large", action="store_true")
    given = arguments.parse_args()
    kept = _sections(DOCS.read_text())
    large = given.large or given.quick
    asked = [name for name in SECTIONS if _asked(name, given.only, large=large)]
    sections = [
        _section(title, words, measure(quick=given.quick)) if name in asked else kept[title]
        for name, (title, words, measure) in SECTIONS.items()
        if name in asked or title in kept
    ]
    text = (
        "\n\n".join([explaining.HEAD.format(machine=this_machine(), day=_today()), *sections])
        + "\n"
    )
    if not given.quick:
        DOCS.write_text(text)
    print(text)


def _asked(name: str, only: str | None, *, large: bool) -> bool:
    """Whether to measure a section."""
    if name in LARGE and not large:
        return name == only
    return only in (None, name, name.partition("-")[0])


def peers(*, quick: bool) -> list[list[str]]:
    sizes = [10**5, 10**6] if quick else [10**5, 10**6, 10**7]
    rows = [["answers", "K", "rounds", "crowd-kit", "ours", "ratio", "ratio per round",
             "float32 per round", "largest difference", "float32", "majority vote"]]  # fmt: skip
    for answers in sizes:
        for labels in (4, 10):
            tell(f"crowd-kit, {answers:,} answers, K={labels}")
            seen = child("against_crowdkit.py", str(answers), str(labels))
            rows.append([
                _power(answers), str(labels), str(seen["rounds"]), f"{seen['peer_seconds']:.2f} s",
                f"{seen['seconds']:.3f} s", f"{seen['ratio']:.0f}x",
                f"{seen['ratio_round']:.0f}x", f"{seen['ratio_round_float32']:.0f}x",
                f"{seen['difference']:.0e}", f"{seen['difference_float32']:.0e}",
                f"{seen['ratio_vote']:.1f}x",
            ])  # fmt: skip
    return rows


def memory(*, quick: bool) -> list[list[str]]:
    answers = 10**6 if quick else 10**7
    rows = [
        ["answers", "K", "crowd-kit", "ours", "ours / crowd-kit", "above the data: ours / theirs"]
    ]
    for labels in (4, 10):
        tell(f"memory, {answers:,} answers, K={labels}")
        seen = {
            tool: child("memory.py", tool, str(answers), str(labels))
            for tool in ("crowd-kit", "sottovoce")
        }
        peer, ours = seen["crowd-kit"], seen["sottovoce"]
        rows.append([
            _power(answers), str(labels), _bytes(peer["peak"]), _bytes(ours["peak"]),
            f"{ours['peak'] / peer['peak']:.2f}", f"{ours['above'] / peer['above']:.3f}",
        ])  # fmt: skip
    return rows


def growth(*, quick: bool) -> list[list[str]]:
    rows = [["answers", "workers", "CPU per round", "ns per answer", "against 10^6", "sorting",
             "wall, 1 thread", "wall, 2 threads", "peak memory"]]  # fmt: skip
    crowds = [(10**6, 10**4), (10**7, 10**4), (10**8, 10**4), (10**6, 10**3), (10**8, 10**5)]
    first: dict[bool, float] = {}
    for answers, workers in crowds[:1] if quick else crowds:
        tell(f"growth, {answers:,} answers, {workers:,} workers")
        seen = child("growth.py", str(answers), "4", str(workers))
        each = seen["round"] / answers * 1e9
        base = first.setdefault(workers == 10**4, each)
        rows.append([
            _power(answers), _power(workers), f"{seen['round']:.3f} s", f"{each:.1f}",
            f"{each / base:.1f}x",
            f"{seen['sort']:.2f} s", f"{seen['wall_round_1']:.3f} s",
            f"{seen['wall_round_2']:.3f} s", _bytes(seen["peak"]),
        ])  # fmt: skip
    return rows


def reading(*, quick: bool) -> list[list[str]]:
    answers = 10**6 if quick else 10**7
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tell(f"reading, {answers:,} rows")
        child("reading.py", "prepare", name, str(answers))
        names = ("answers.parquet", "by_task.parquet", "answers.csv", "packed.parquet")
        parquet, by_task, csv, packed = (folder / file for file in names)
        pandas = {file: _reading("pandas", file) for file in (parquet, by_task, csv)}
        ours = {file: _reading("sottovoce", file) for file in (parquet, by_task, csv, packed)}
        rounds = child("reading.py", "rounds", str(parquet))
        infer, _ = cpu_of_command(
            [sys.executable, "-m", "sottovoce", "infer", str(parquet), "-o",
             str(folder / "truths.parquet"), "--force"], 2,
        )  # fmt: skip
    allowed = pandas[parquet] + rounds["seconds"]
    return [
        ["rows", "what", "CPU", "compared with", "CPU", "ratio"],
        _pair(answers, "read Parquet", ours[parquet], "pandas: read, factorise", pandas[parquet]),
        _pair(answers, "read Parquet sorted by task", ours[by_task], "pandas: read, factorise",
              pandas[by_task]),
        _pair(answers, "read CSV", ours[csv], "pandas: read, factorise", pandas[csv]),
        _pair(answers, "read packed", ours[packed], "reading Parquet", ours[parquet]),
        _pair(answers, f"`sottovoce infer`, {rounds['rounds']} rounds, whole process", infer,
              "pandas reading + the rounds", allowed),
    ]  # fmt: skip


def starting(*, quick: bool) -> list[list[str]]:
    tell("starting")
    numpy, ours, ratio = import_ratio(5 if quick else 15)
    return [
        ["what", "time"],
        ["`import numpy`", f"{numpy:.3f} s"],
        ["`import sottovoce`", f"{ours:.3f} s ({ratio:.2f} times NumPy's)"],
        ["`sottovoce --help`", f"{help_seconds():.2f} s"],
        ["compiling Dawid-Skene's kernels, once per machine, K=4", f"{compile_seconds(4):.1f} s"],
        ["compiling Dawid-Skene's kernels, once per machine, K=10", f"{compile_seconds(10):.1f} s"],
    ]


def perturbing(*, quick: bool) -> list[list[str]]:
    answers = 10**6 if quick else 10**7
    rows = [["answers", "K", "ours, secure", "a word of os.urandom", "ours, seeded", "NumPy",
             "secure / NumPy", "multi-freq-ldpy", "ratio", "pure-ldp", "ratio"]]  # fmt: skip
    for labels in (2, 4, 10):
        tell(f"perturbing, {answers:,} answers, K={labels}")
        seen = child("perturbing.py", str(answers), str(labels))
        ours = seen["secure"]
        rows.append([
            _power(answers), str(labels), f"{ours:.0f} ns", f"{seen['urandom']:.0f} ns",
            f"{seen['seeded']:.0f} ns", f"{seen['numpy']:.0f} ns", f"{ours / seen['numpy']:.1f}",
            f"{seen['multi_freq_ldpy']:,.0f} ns", f"{seen['multi_freq_ldpy'] / ours:,.0f}x",
            f"{seen['pure_ldp']:,.0f} ns", f"{seen['pure_ldp'] / ours:,.0f}x",
        ])  # fmt: skip
    return rows


def default(*, quick: bool) -> list[list[str]]:
    rows = [["answers", "workers", "Dawid-Skene", "rounds", "default", "rounds", "ratio",
             "update", "rounds", "truths as before", "peak memory"]]  # fmt: skip
    crowds = [(10**6, 10**3), (10**6, 10**4), (10**7, 10**4)]
    for answers, workers in crowds[:2] if quick else crowds:
        tell(f"default, {answers:,} answers, {workers:,} workers")
        seen = child("default.py", str(answers), "4", str(workers))
        rows.append([
            _power(answers), _power(workers), f"{seen['dawid_skene']:.2f} s",
            str(seen["ds_rounds"]), f"{seen['default']:.2f} s", str(seen["default_rounds"]),
            f"{seen['default'] / seen['dawid_skene']:.1f}x", f"{seen['updated']:.2f} s",
            str(seen["updated_rounds"]), f"{seen['same']:.3%}", _bytes(seen["peak"]),
        ])  # fmt: skip
    return rows


def aware(*, quick: bool) -> list[list[str]]:
    rows = [["reports", "K", "Dawid-Skene", "one coin", "ratio", "confusion", "ratio", "whole",
             "peak memory"]]  # fmt: skip
    reports = 10**5 if quick else 10**6
    for count in (2, 5, 10):
        tell(f"aware labels, {reports:,} reports, K={count}")
        seen = child("aware.py", "labels", str(reports), str(count))
        rows.append([
            _power(reports), str(count), f"{1e3 * seen['dawid_skene']:.1f} ms",
            f"{1e3 * seen['one_coin']:.1f} ms", f"{seen['one_coin'] / seen['dawid_skene']:.1f}x",
            f"{1e3 * seen['confusion']:.1f} ms", f"{seen['confusion'] / seen['dawid_skene']:.1f}x",
            f"{seen['whole']:.2f} s", "",
        ])  # fmt: skip
    tell(f"aware numbers, {reports:,} reports")
    seen = child("aware.py", "numbers", str(reports))
    rows.append([
        _power(reports), "numbers", "", "", "", f"{seen['round']:.2f} s", "", "",
        _bytes(seen["peak"]),
    ])  # fmt: skip
    return rows


def agreement(*, quick: bool) -> list[list[str]]:
    rows = [["answers", "K", "Dawid-Skene", "agreement", "ratio", "signal", "ratio"]]
    answers = 10**5 if quick else 10**6
    for count in (2, 5, 10):
        tell(f"agreement, {answers:,} answers, K={count}")
        seen = child("agreement.py", str(answers), str(count))
        whole = seen["dawid_skene"]
        rows.append([
            _power(answers), str(count), f"{whole:.2f} s",
            f"{seen['agreement']:.2f} s", f"{seen['agreement'] / whole:.1f}x",
            f"{seen['signal']:.2f} s", f"{seen['signal'] / whole:.2f}x",
        ])  # fmt: skip
    return rows


def serving(*, quick: bool) -> list[list[str]]:
    count, reports = (2_000, 10**5) if quick else (20_000, 10**6)
    rows = [["what", "connections", "submissions per second", "median", "slowest 1 %",
             "empty requests per second", "ratio"]]  # fmt: skip
    tell(f"serving, {count:,} submissions at a time")
    for seen in child("serving.py", "rates", str(count))["rows"]:
        ours, empty = seen["ours"], seen["empty"]["rate"]
        rows.append([
            f"run {seen['run']}", str(seen["connections"]), *_load(ours), f"{empty:,.0f}",
            f"{ours['rate'] / empty:.2f}",
        ])  # fmt: skip
    tell(f"serving during inference and exports, {reports:,} reports")
    loaded = child("serving.py", "during", str(count), str(reports))
    words = {
        "alone": "otherwise idle",
        "inference": f"during inference from {_power(reports)} reports",
        "export": "during their export",
    }
    rows += [[words[name], "32", *_load(seen), "", ""] for name, seen in loaded.items()]
    return rows


def _load(seen: dict[str, float]) -> list[str]:
    return [
        f"{seen['rate']:,.0f}",
        f"{seen['median'] * 1000:.0f} ms",
        f"{seen['p99'] * 1000:.0f} ms",
    ]


def serving_memory(*, quick: bool) -> list[list[str]]:
    count = 8_000 if quick else 200_000
    tell(f"memory of the service, {count:,} submissions")
    seen = child("serving.py", "memory", str(count))["seen"]
    _, start = seen[0]
    return [
        ["submissions", "resident memory", "above the start"],
        *([f"{done:,}", _mebibytes(held), _mebibytes(held - start)] for done, held in seen),
    ]


def serving_results(*, quick: bool) -> list[list[str]]:
    reports, rows = (10**5, 2 * 10**5) if quick else (10**6, 5 * 10**6)
    tell(f"results of {reports:,} reports, export of {rows:,}")
    seen = child("serving.py", "results", str(reports), str(rows))
    return [
        ["what", "size", "time", "memory"],
        ["truths of all reports, after starting", f"{_power(reports)} reports",
         f"{seen['inferred']:.1f} s", ""],
        ["a page of 1,000 truths, median", f"{_power(reports)} reports",
         f"{seen['median'] * 1000:.0f} ms", ""],
        ["the slowest of 20", f"{_power(reports)} reports", f"{seen['slowest'] * 1000:.0f} ms", ""],
        ["`reports.csv`", f"{seen['rows'] - 1:,} rows",
         f"{seen['export']:.1f} s ({seen['rows'] / seen['export']:,.0f} rows per second)",
         f"{_mebibytes(seen['before'])}, at most {_mebibytes(seen['peak'])}"],
    ]  # fmt: skip


def dashboard(*, quick: bool) -> list[list[str]]:
    tasks, reports = (10**3, 10**5) if quick else (10**4, 10**6)
    tell(f"dashboard, {tasks:,} tasks and {reports:,} reports")
    seen = child("dashboard.py", str(tasks), str(reports))
    size = f"{_power(tasks)} tasks, {_power(reports)} reports"
    return [
        ["what", "size", "time"],
        ["the interface's overview, median of 20", size, f"{seen['asked'] * 1000:.0f} ms"],
        ["first paint", size, f"{seen['first_paint'] * 1000:.0f} ms"],
        ["all figures of the overview", size, f"{seen['overview'] * 1000:.0f} ms"],
        ["the first page of truths", size, f"{seen['truths'] * 1000:.0f} ms"],
        ["turning a page, median of 20", size, f"{seen['turn'] * 1000:.0f} ms"],
        ["the slowest of 20", size, f"{seen['slowest_turn'] * 1000:.0f} ms"],
    ]


def sealing(*, quick: bool) -> list[list[str]]:
    workers, values = (500, 1000) if quick else (10_000, 1000)
    tell(f"sealing, {workers:,} workers, {values:,} values")
    seen = child("sealing.py", "parties", str(workers), str(values))
    page = child("sealing.py", "page", str(values))
    size = f"{workers:,} workers x {values:,} values"
    return [
        ["who", "what", "time", "cryptography alone", "ratio"],
        ["a worker, Python", f"{values:,} values, CPU", f"{1000 * seen['worker']:.2f} ms",
         f"{1000 * seen['worker_bound']:.2f} ms", f"{seen['worker'] / seen['worker_bound']:.1f}"],
        ["a keyholder", f"{size}, CPU", f"{seen['keyholder']:.1f} s",
         f"{seen['keyholder_bound']:.1f} s",
         f"{seen['keyholder'] / seen['keyholder_bound']:.1f}"],
        ["the server", f"{size}, CPU", f"{seen['server']:.1f} s", "", ""],
        ["a worker, in Chromium", f"{values:,} values, first", f"{1000 * page['first']:.0f} ms",
         "", ""],
        ["the same, later", f"{values:,} values, median of 10", f"{1000 * page['median']:.0f} ms",
         "", ""],
        ["a worker", "bytes to upload", f"{seen['upload'] / 1000:.0f} kB", "", ""],
    ]  # fmt: skip


def sealing_truths(*, quick: bool) -> list[list[str]]:
    trials = 3 if quick else 20
    tell(f"truths of sealed campaigns, {trials} trials")
    rows = [["answers", "sealed", "randomised on the device", "ratio"]]
    for name, seen in child("sealing.py", "truths", str(trials)).items():
        (sealed, doubt), (local, more) = seen["sealed"], seen["local"]
        rows.append([
            name, f"{sealed:.4f} (s.e. {doubt:.4f})", f"{local:.3f} (s.e. {more:.3f})",
            f"{local / sealed:.1f}x",
        ])  # fmt: skip
    return rows


def _reading(tool: str, file: Path) -> float:
    return min(float(child("reading.py", tool, str(file))["seconds"]) for _ in range(2))


def _pair(rows: int, what: str, ours: float, beside: str, theirs: float) -> list[str]:
    return [_power(rows), what, f"{ours:.2f} s", beside, f"{theirs:.2f} s", f"{ours / theirs:.2f}"]


def _sections(page: str) -> dict[str, str]:
    """The current sections of a page by title."""
    _, *sections = page.strip().split("\n\n## ")
    return {section.partition("\n")[0]: f"## {section}" for section in sections}


def _section(title: str, words: str, rows: list[list[str]]) -> str:
    head, *body = rows
    lines = [head, ["---"] * len(head), *body]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return f"## {title}\n\n{words}\n\n{table}"


def _power(number: int) -> str:
    return f"10^{len(str(number)) - 1}"


def _bytes(number: float) -> str:
    return f"{number / 2**30:.2f} GiB"


def _mebibytes(number: float) -> str:
    return f"{number / 2**20:.0f} MiB"


def _today() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d")


SECTIONS = {
    "peers": ("Dawid-Skene and majority vote compared with crowd-kit", explaining.PEER, peers),
    "memory": ("Peak memory of Dawid-Skene", explaining.MEMORY, memory),
    "growth": ("Growth", explaining.GROWTH, growth),
    "default": ("The default for labels", explaining.DEFAULT, default),
    "reading": ("Reading and inferring from files", explaining.READING, reading),
    "perturbing": ("Perturbing labels", explaining.PERTURBING, perturbing),
    "aware": ("Noise-aware inference", explaining.AWARE, aware),
    "agreement": ("Agreement", explaining.AGREEMENT, agreement),
    "starting": ("Starting", explaining.STARTING, starting),
    "serving": ("The service under load", explaining.SERVING, serving),
    "serving-memory": ("Memory of the service", explaining.SERVING_MEMORY, serving_memory),
    "serving-results": (
        "Results and exports of the service",
        explaining.SERVING_RESULTS,
        serving_results,
    ),
    "serving-postgresql": (
        "Several processes on PostgreSQL",
        explaining.SERVING_POSTGRESQL,
        serving_postgresql,
    ),
    "exporting": ("Reports for large engines", explaining.EXPORTING, exporting),
    "dashboard": ("The dashboard of a large campaign", explaining.DASHBOARD, dashboard),
    "sealing": ("Sealed campaigns", explaining.SEALING, sealing),
    "sealing-truths": ("Truths of sealed campaigns", explaining.SEALING_TRUTHS, sealing_truths),
    "live": ("Live sessions: threshold encryption", explaining.LIVE, live),
    "live-masked": ("Live sessions: masks", explaining.LIVE_MASKED, live_masked),
    "spark": ("A round on Spark", explaining.SPARK, spark),
    "spark-growth": ("Spark as answers grow", explaining.SPARK_GROWTH, spark_growth),
    "chunked": ("A round on a disk", explaining.CHUNKED, chunked),
    "chunked-large": ("A table larger than memory", explaining.CHUNKED_LARGE, chunked_large),
}

LARGE = ("spark-growth", "chunked-large")
"""Sections that take an hour and tens of gigabytes of disk."""

if __name__ == "__main__":
    main()
