"""Tests of the arithmetic of the scaling guide."""

from __future__ import annotations

from pathlib import Path

import pytest

from sottovoce.engines.spark.engine import MOST_SHARED

DOCS = Path(__file__).parents[2] / "docs"

PAGE = """
# Benchmarks

## Spark as answers grow

Words.

| answers | workers | opening, packing | core-ns per answer | … |
| --- | --- | --- | --- | --- |
| 10^6 | 10^4 | 8.0 s | 16,000 | 20.0 B | 0.125 s | 250.0 |  | 0 B | 1 B | 2 B | 1 GiB | 1 GiB |
| 10^8 | 10^5 | 200.0 s | 4,000 | 17.5 B | 2.000 s | 40.0 | 1x | 0 B | 1 B | 2 B | 1 GiB | 1 GiB |
| 10^8 | 10^6 | 200.0 s | 4,000 | 17.5 B | 5.000 s | 100.0 | 2x | 9 B | 1 B | 2 B | 1 GiB | 1 GiB |

## Another section
"""


def test_costs_are_those_on_the_page() -> None:
    from sizing import Costs, costs_on

    found = costs_on(PAGE)
    assert found == pytest.approx(Costs(4e-6, 17.5, 40e-9, 100e-9, 0.125))


def test_a_page_without_costs_says_how_they_are_measured() -> None:
    from sizing import costs_on

    with pytest.raises(LookupError, match="--only spark-growth"):
        costs_on("# Benchmarks\n")


def test_sums_do_not_grow_with_answers() -> None:
    from sizing import Cluster

    few, many = Cluster(10**8, 10**5, 4), Cluster(10**9, 10**5, 4)
    assert (few.sums, few.shuffled, few.collected) == (many.sums, many.shuffled, many.collected)


@pytest.mark.parametrize(("workers", "wide"), [(524_286, False), (524_288, True)])
def test_sums_are_cut_by_workers_from_64_mebibytes(workers: int, wide: bool) -> None:
    from sizing import Cluster

    cluster = Cluster(10**8, workers, 1)
    assert (cluster.wide, cluster.sums > MOST_SHARED) == (wide, wide)


def test_sums_of_64_partitions_are_added_in_a_tree() -> None:
    from sizing import Cluster

    cluster = Cluster(10**9, 10**5, 4)
    assert (cluster.shuffled, cluster.collected) == (64 * cluster.sums, 8 * cluster.sums)


def test_a_round_takes_what_its_parts_take() -> None:
    from sizing import Cluster, costs_on

    cluster, costs = Cluster(10**9, 10**5, 4), costs_on(PAGE)
    assert cluster.computing(costs) == pytest.approx(10**9 * 40e-9 / 64)
    assert cluster.round(costs) == pytest.approx(
        cluster.computing(costs) + cluster.moving + costs.least
    )


def test_the_guide_has_the_table_of_the_measured_costs() -> None:
    from sizing import SECTION, written

    guide, page = (
        (DOCS / name).read_text("utf-8")
        for name in ("how-to/scaling.md", "reference/benchmarks.md")
    )
    if f"## {SECTION}" not in page:
        pytest.skip(f"docs/reference/benchmarks.md has no {SECTION!r}: run.py --only spark-growth")
    assert guide == written(guide, page), "run: python benchmarks/sizing.py"
