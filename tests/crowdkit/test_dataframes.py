"""The crowd-kit face gives the frames that crowd-kit gave on small tables (recorded)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from sottovoce import crowdkit

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "crowdkit.json").read_text())
CASES = VECTORS["cases"]

pytestmark = pytest.mark.skipif(
    pd.__version__.split(".")[0] != VECTORS["versions"]["pandas"].split(".")[0],
    reason="crowd-kit's frames depend on pandas' major version: recorded with pandas "
    + VECTORS["versions"]["pandas"],
)


def name_of(case: dict[str, Any]) -> str:
    arguments = ",".join(f"{key}={value}" for key, value in case["arguments"].items())
    return f"{case['method']}({arguments})-{case['frame']}-{'+'.join(case['given'])}"


def index_of(vector: dict[str, Any]) -> pd.Index[Any]:
    names, types, values = vector["names"], vector["types"], vector["values"]
    if len(names) == 1:
        index: pd.Index[Any] = pd.Index(values, dtype=types[0], name=names[0])
        return index
    columns = zip(*values, strict=True)
    levels = [pd.Index(c, dtype=t) for c, t in zip(columns, types, strict=True)]
    return pd.MultiIndex.from_arrays(levels, names=names)


def table_of(vector: Any) -> Any:
    if isinstance(vector, list):
        return vector
    index = index_of(vector["index"])
    if "columns" not in vector:
        values, dtype = vector["values"], vector["type"]
        return pd.Series(values, index=index, dtype=dtype, name=vector["name"])
    columns = index_of(vector["columns"])
    frame = pd.DataFrame(dict(enumerate(vector["values"])), index=index)
    frame = frame.astype(dict(enumerate(vector["types"])))
    frame.columns = columns
    return frame


def assert_same(found: Any, expected: Any) -> None:
    """Names, types and order are equal, numbers within 1e-9."""
    if isinstance(expected, pd.DataFrame):
        pd.testing.assert_frame_equal(found, expected, rtol=0, atol=1e-9)
    elif isinstance(expected, pd.Series):
        pd.testing.assert_series_equal(found, expected, rtol=0, atol=1e-9)
    else:
        # The bound: crowd-kit counts an entropy of 2e-9 for every label that is ruled out.
        assert found == pytest.approx(expected, abs=2e-8)


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_every_attribute_is_as_crowd_kit_gave_it(case: dict[str, Any]) -> None:
    data = table_of(VECTORS["frames"][case["frame"]])
    given = {name: table_of(vector) for name, vector in case["given"].items()}
    model = getattr(crowdkit, case["method"])(**case["arguments"])
    if "raises" in case:
        with pytest.raises(ValueError, match=" "):
            model.fit(data, **given)
        return
    assert model.fit(data, **given) is model
    for name, vector in case["found"].items():
        assert_same(getattr(model, name), table_of(vector))
    assert {name for name in vars(model) if name.endswith("_")} == set(case["found"])
