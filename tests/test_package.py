"""The cost of importing the package, and its public names."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import requires, version

import pytest

import sottovoce
from sottovoce.errors import install_command

HEAVY = {"scipy", "numba", "duckdb", "typer", "rich", "pandas", "polars", "pyarrow", "matplotlib"}


def run(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout


def test_importing_the_package_loads_numpy_and_nothing_heavier() -> None:
    loaded = json.loads(run("import sottovoce, sys, json; print(json.dumps(sorted(sys.modules)))"))
    assert "numpy" in loaded
    assert not HEAVY & {name.partition(".")[0] for name in loaded}


def test_importing_the_package_takes_at_most_two_and_a_half_times_as_long_as_numpy() -> None:
    timed = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"
    ratios = []
    for _ in range(7):  # alternating, so that a busy moment affects both
        numpy, ours = (float(run(timed.format(name))) for name in ("numpy", "sottovoce"))
        ratios.append(ours / numpy)
    assert sorted(ratios)[3] <= 2.5


def test_a_small_table_is_inferred_without_numba_pandas_or_a_part_of_scipy() -> None:
    code = """
import sottovoce, sys, json
sottovoce.infer({"worker": ["a", "b"], "task": ["t", "t"], "label": ["x", "x"]})
print(json.dumps(sorted(sys.modules)))
"""
    heavy = {"numba", "scipy.special", "scipy.sparse", "scipy.stats", "scipy.linalg"}
    assert not (heavy | {"pandas", "polars", "pyarrow"}) & set(json.loads(run(code)))


def test_the_core_works_where_no_extra_is_installed() -> None:
    code = """
import sys
for name in ("pandas", "polars", "pyarrow", "matplotlib", "crowdkit"):
    sys.modules[name] = None
import sottovoce
result = sottovoce.infer({"worker": ["a", "b"], "task": ["t", "t"], "label": ["x", "x"]})
print(result.values[0])
try:
    result.to_pandas()
except sottovoce.NotInstalled as error:
    print(error)
"""
    first, second = run(code).splitlines()
    assert first == "x"
    assert second == (
        f"a pandas frame needs pandas, which is not installed: {install_command('pandas')}"
    )


def test_the_public_names_are_sorted_and_all_there() -> None:
    def key(name: str) -> tuple[int, str]:
        return (0 if name.isupper() else 1 if name[0].isupper() else 2), name

    assert sottovoce.__all__ == sorted(sottovoce.__all__, key=key)
    for name in sottovoce.__all__:
        assert getattr(sottovoce, name) is not None
    assert set(sottovoce.__all__) <= set(dir(sottovoce))


def test_an_unknown_public_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = sottovoce.nothing  # type: ignore[attr-defined]


def test_the_version_is_the_installed_one() -> None:
    assert version("sottovoce") == sottovoce.__version__


def test_the_core_depends_on_eight_libraries_only() -> None:
    core = [line.split(";")[0] for line in requires("sottovoce") or [] if "extra ==" not in line]
    names = {line.split(">")[0].strip() for line in core}
    assert names == {
        "numpy",
        "scipy",
        "numba",
        "duckdb",
        "typer",
        "rich",
        "filelock",
        "platformdirs",
    }


def test_star_import_members_and_help_work_where_no_extra_is_installed() -> None:
    code = """
import sys
for name in ("pandas", "polars", "pyarrow", "matplotlib", "crowdkit", "httpx", "cryptography",
             "gmpy2", "fastapi", "pydantic", "sqlalchemy", "alembic", "uvicorn", "pyspark"):
    sys.modules[name] = None
import inspect, pydoc
import sottovoce
names = {}
exec("from sottovoce import *", names)
assert set(sottovoce.__all__) <= set(names)
assert set(sottovoce.__all__) <= {name for name, _ in inspect.getmembers(sottovoce)}
print(pydoc.plain(pydoc.render_doc(sottovoce))[:2000])
"""
    shown = run(code)
    for name in ("infer", "compare", "inspect", "plot", "make_policy", "epsilon", "randomize"):
        assert f"        {name} " in shown
    for line in (sottovoce.__doc__ or "").splitlines():
        if line.startswith("    ") and "  " in line.strip() and "sottovoce." not in line:
            assert line.split()[0] in sottovoce.__all__
