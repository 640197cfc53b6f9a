"""What the page of benchmarks says above each table."""

from __future__ import annotations

HEAD = """\
# Benchmarks

`make bench` measures all of this and writes this page. Ratios compare things measured in the same
run; seconds are CPU seconds of the whole process, over all threads, unless they say wall.
`--only` measures one section anew and leaves the others as they were. Two sections of large tables
are measured by name only; they say with which command.

Measured last on {day}: {machine}."""
PEER = """\
The same simulated answers in the same process, ten a task, shuffled, as integer codes; sorting
included, kernels compiled beforehand. Both run the same fixed number of rounds; the cost of one is
the slope between that number and one round. The largest difference is over all posteriors:
crowd-kit raises probabilities to at least 1e-10, which is all that differs."""
MEMORY = """\
Peak resident memory of a process that holds the answers and fits Dawid-Skene (crowd-kit: two
rounds, which reach its peak)."""
GROWTH = """\
Dawid-Skene, K=4, one thread (and two, by the clock). First ten thousand workers at every size; then
a thousand answers a worker, where the table of workers outgrows the processor's cache too: for a
hundred thousand workers that answer at random, nearly every answer waits for memory."""
READING = """\
String ids, one worker for every 1,000 rows, ten rows a task, in random order unless said otherwise.
Below 1, ours is cheaper."""
PERTURBING = """\
Randomised response at epsilon 1, CPU per answer. Peers take one answer at a time, as a worker's
device would, and are measured on 20,000 after compiling. NumPy is a seeded generator in floating
point, which must not be used for reports. os.urandom is the cost of a whole 64-bit word from the
operating system: ours draws a word's leading 8 or 16 bits, and the others only where these do not
decide."""
AWARE = """\
Reports of randomised response at epsilon 2, ten a task, a worker for every 1,000: CPU of one round,
one thread, beside a round of Dawid-Skene on the same reports. The whole is all rounds of all models
that `infer --policy` fits. Numbers are piecewise reports at epsilon 1 on a grid of 200 truths, a
hundred a task; their round stands under confusion."""
SERVING = """\
`sottovoce serve` on SQLite, by the clock. A submission has 20 answers on 20 of 1,000 tasks, each is
of another worker, and is acknowledged when it is on the disk. The load comes from another process
of the same machine. An empty request is one that FastAPI answers with `{}`, without anything of
ours; the ratio is between two measurements of the same run, one after the other."""
SERVING_MEMORY = """\
Of the server's process, which takes the reports; inference has a process of its own, whose memory
grows with the reports of the largest campaign."""
SERVING_RESULTS = """\
Read over HTTP, by the clock, on a server that does nothing else."""
SERVING_POSTGRESQL = """\
`benchmarks/serving_postgresql.py`, by the clock: the same submissions to one process on SQLite and
to several on PostgreSQL, in turns, over 256 connections. PostgreSQL is as it comes, with `fsync`
and `synchronous_commit` on. The load, all servers, the database and inference share this machine's
cores, and CPU for each submission says who used them. One process on SQLite uses one core and
leaves the others to inference; on PostgreSQL all parts share all cores."""
EXPORTING = """\
`benchmarks/exporting.py`: all reports of a campaign from SQLite, 20 of each worker, the better of
two runs by the clock, each in a process of its own. A folder has a part for 4 million reports."""
DASHBOARD = """\
The requester's dashboard in Chromium, server and browser on the same machine, by the clock. The
browser never holds more than 50 rows of a table."""
SEALING = """\
A sealed campaign of three keyholders through all of its messages, in one process, CPU of each
party; two labels, so that a value is a bit. Beside it what the cryptographic library alone takes:
sealing three shares and a signature for a worker; unsealing a share and verifying a signature, once
for each worker, for a keyholder. The page seals in Chromium, by the clock."""
SEALING_TRUTHS = """\
The mean error of truths over trials, at the same epsilon per answer: sealed, through the whole
protocol, and randomised on the device with inference that knows the noise (randomised response for
labels, subset selection for numbers). Two labels: 200 workers, right with a chance of U(.55, .8),
each on 50 of 200 tasks. Numbers: 150 workers on 30 tasks, range 0 to 10, variances
of workers Exp(1)."""
LIVE = """\
`damgard_jurik` with all of its messages in one process, CPU of all workers and the server together;
159 tasks as in P2, threshold ceil(2 (J + 1) / 3), key shares raised by constant-time exponentiation
(`powmod_sec`). One such exponentiation, timed in the same run, stands beside it, and how many of
them the run took in time. The paper's figure is its 789.3 ms for the key and 15 rounds of one
scalar (section 6.3.2), scaled to all 15 · 318 + 159 sums: at most 259 s. Generating and dealing the
key is apart, and has no such bound: safe primes are found by luck."""
LIVE_MASKED = """\
`masked` with all of its messages in one process, medians over rounds; CPU of one worker, and of the
server. Dropouts share their keys and vanish before they contribute. The last row compares the same
sum under both suites, CPU of all parties."""
STARTING = """\
In fresh processes. Tables below 10^5 answers never compile anything, reports under a policy below
20,000."""
SPARK = """\
`benchmarks/spark_rounds.py`, by the clock: the same Dawid-Skene, K=4, on the same Parquet file of
10,000 workers with ten answers a task in random order. Spark runs on two cores of this machine;
beside it the compiled engine in one process, which at this size takes one thread unless it is told
otherwise, and the same EM written as joins of DataFrames (`benchmarks/spark_joins.py`): answers
cached, partitioned and sorted by task, labels as columns, the workers' table broadcast. Rounds are
medians after two that warm up, one of the joins'. Truths are the same but for ties; the difference
is the largest of the truths' probabilities after the same number of rounds."""
SPARK_GROWTH = """\
`python benchmarks/run.py --only spark-growth`: the same on more answers, first by 10,000 workers at
every size; then by a million, ten answers each, whose parameters are too large for every process to
hold, so that sums are cut by workers: most of that round is the workers', not the answers'. A
core-ns is a nanosecond of one of the two cores, as if both were busy all the time; opening looks at
every row, packing sorts them by task. Shuffled, broadcast and collected are a round's bytes by
Spark's own count (`benchmarks/spark_watching.py`). Memory is the most that the Java process, with a
heap of 4 GiB, and all Python processes held; pages that those share count for each."""
CHUNKED = """\
`benchmarks/chunked.py`, by the clock: the same answers on a disk, packed once and read block by
block in each round, beside the same round in memory. Ours of the peak memory is what is above the
process with its libraries."""
CHUNKED_LARGE = """\
`python benchmarks/run.py --only chunked-large`."""
