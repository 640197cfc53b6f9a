"""The text above each table on the page of benchmarks."""

from __future__ import annotations

HEAD = """\
# Benchmarks

`make bench` runs these benchmarks and writes this page. Ratios compare measurements of the same
run. Seconds are CPU seconds of the whole process, over all threads, unless they say wall. `--only`
reruns one section and keeps the others. Two sections of large tables run only by name; they state
the command.

Last measured on {day}: {machine}."""
PEER = """\
Both methods fit the same simulated answers in the same process: ten per task, shuffled, as integer
codes. Times include sorting; kernels are compiled beforehand. Both run the same fixed number of
rounds; the cost of one round is the slope between that number and one round. The largest difference
is over all posteriors. The only difference is that crowd-kit raises probabilities to at least
1e-10. K is the number of labels; the columns float32 are for `precision="float32"`: the first
compares rounds with crowd-kit's, the second is its largest difference; majority vote is the ratio
for the method `majority-vote`."""
MEMORY = """\
Peak resident memory of a process that holds the answers and fits Dawid-Skene (crowd-kit: two
rounds, which reach its peak)."""
GROWTH = """\
Dawid-Skene, K=4, one thread (and two, wall time). First ten thousand workers at every size. Then a
thousand answers per worker, where the table of workers also outgrows the processor's cache: with a
hundred thousand workers that answer at random, nearly every answer waits for memory."""
DEFAULT = """\
`infer` on a table in memory, K=4, ten answers per task, one thread: all of it, with the test for a
signal, compared with Dawid-Skene at tolerance 1e-5 on the same table. An update is
`result.updated(more)` with a hundredth of the answers as `more`; it also joins the tables. Truths
as before are those that equal the ones of the whole default. The peak is that of the process during
the default, with the table."""
READING = """\
String ids, one worker per 1,000 rows, ten rows per task, in random order unless stated otherwise. A
ratio below 1 means that ours is cheaper."""
PERTURBING = """\
Randomised response at epsilon 1, CPU per answer. Peers take one answer at a time, as a worker's
device would, and are measured on 20,000 after compiling. NumPy is a seeded generator in floating
point, which must not be used for reports. os.urandom is the cost of a whole 64-bit word from the
operating system: ours draws a word's leading 8 or 16 bits, and the remaining bits only if these do
not determine the report."""
AWARE = """\
Reports of randomised response at epsilon 2, ten per task, one worker per 1,000: CPU of one round
with one thread, compared with a round of Dawid-Skene on the same reports. The column whole is all
rounds of all models that `infer --policy` fits. Numbers are piecewise reports at epsilon 1 on a
grid of 200 truths, a hundred per task; their round is in the column confusion."""
AGREEMENT = """\
Alpha, kappas and each worker's agreement with their intervals, and the test for a signal: CPU on
one thread, compared with all rounds of Dawid-Skene at tolerance 1e-5 on the same answers."""
SERVING = """\
`sottovoce serve` on SQLite, wall time. A submission has 20 answers on 20 of 1,000 tasks. Each comes
from a different worker and is acknowledged when it is on disk. The load comes from another process
on the same machine. FastAPI answers an empty request with `{}`, without our code; the ratio
compares two consecutive measurements of the same run."""
SERVING_MEMORY = """\
Memory of the server's process, which accepts the reports. Inference runs in a separate process,
whose memory grows with the reports of the largest campaign."""
SERVING_RESULTS = """\
Reads over HTTP, wall time, on an otherwise idle server."""
SERVING_POSTGRESQL = """\
`benchmarks/serving_postgresql.py`, wall time: the same submissions to one process on SQLite and to
several on PostgreSQL, in turns, over 256 connections. PostgreSQL has its default settings, with
`fsync` and `synchronous_commit` on. The load, all servers, the database and inference share this
machine's cores; the CPU columns show their use per submission. One process on SQLite uses one core
and leaves the others to inference; on PostgreSQL all parts share all cores."""
EXPORTING = """\
`benchmarks/exporting.py`: all reports of a campaign from SQLite, 20 per worker, the better of two
runs by wall time, each in a separate process. A folder has one part per 4 million reports."""
DASHBOARD = """\
The requester's dashboard in Chromium, with server and browser on the same machine, wall time. The
browser never holds more than 50 rows of a table."""
SEALING = """\
A sealed campaign of three keyholders through all of its messages, in one process, CPU of each
party; with two labels a value is one bit. The column cryptography alone is the time of the
cryptographic library: for a worker, sealing three shares and signing; for a keyholder, unsealing a
share and verifying a signature for each worker. The page seals in Chromium, wall time."""
SEALING_TRUTHS = """\
The mean error of truths over trials, at the same epsilon per answer: sealed, through the whole
protocol, and randomised on the device with noise-aware inference (randomised response for labels,
subset selection for numbers). Two labels: 200 workers, right with probability U(.55, .8), each on
50 of 200 tasks. Numbers: 150 workers on 30 tasks, range 0 to 10, variances of workers Exp(1)."""
LIVE = """\
`damgard_jurik` with all of its messages in one process, CPU of all workers and the server together;
159 tasks as in P2, threshold ceil(2 (J + 1) / 3), key shares raised by constant-time exponentiation
(`powmod_sec`). The table gives the time of one such exponentiation in the same run, and the run's
time as a number of them. The paper's figure is its 789.3 ms for the key and 15 rounds of one scalar
(section 6.3.2), scaled to all 15 · 318 + 159 sums: at most 259 s. Generating and dealing the key is
listed separately and has no such bound, because the search for safe primes takes a random time."""
LIVE_MASKED = """\
`masked` with all of its messages in one process, medians over rounds; CPU of one worker, and of the
server. Dropouts share their keys and leave before they contribute. The last row compares the same
sum under both suites, CPU of all parties."""
STARTING = """\
In new processes. Tables below 20,000 answers never compile anything; methods other than defaults
do not below 10^5."""
SPARK = """\
`benchmarks/spark_rounds.py`, wall time: the same Dawid-Skene, K=4, on the same Parquet file of
10,000 workers with ten answers per task in random order. Spark runs on two cores of this
machine. It is compared with the compiled engine in one process, which by default uses one thread
at this size, and with the same EM written as joins of DataFrames (`benchmarks/spark_joins.py`):
answers cached, partitioned and sorted by task, labels as columns, the workers' table broadcast.
Rounds are medians after two warm-up rounds, one for the joins. Truths are the same except for
ties; the difference is the largest difference of the truths' probabilities after the same number
of rounds."""
SPARK_GROWTH = """\
`python benchmarks/run.py --only spark-growth`: the same with more answers, first by 10,000 workers
at every size. Then by a million workers, ten answers each, whose parameters are too large for every
process, so sums are split by workers: most of that round is spent on workers, not on answers. A
core-ns is a nanosecond of one of the two cores, as if both were always busy. Opening checks every
row, packing sorts them by task. Shuffled, broadcast and collected are a round's bytes as counted by
Spark (`benchmarks/spark_watching.py`). Memory is the peak of the Java process, with a heap of 4
GiB, and of all Python processes; pages that those share count for each."""
CHUNKED = """\
`benchmarks/chunked.py`, wall time: the same answers on a disk, packed once and read block by block
in each round, compared with the same round in memory. The last column is the part of the peak
memory above the process with its libraries."""
CHUNKED_LARGE = """\
`python benchmarks/run.py --only chunked-large`."""
