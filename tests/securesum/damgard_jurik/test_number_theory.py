from __future__ import annotations

import re
import runpy
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import NotInstalled, install_command
from sottovoce.securesum.damgard_jurik import number_theory
from sottovoce.securesum.damgard_jurik.number_theory import (
    below,
    bytes_of,
    gcd,
    integer_of,
    length_of,
    unit_below,
)


def test_without_gmpy2_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gmpy2", None)
    found = runpy.run_path(str(number_theory.__file__))
    with pytest.raises(NotInstalled, match=f"gmpy2.*{re.escape(install_command('secure'))}"):
        found["mpz"](1)


@given(st.integers(0, 2**200), st.integers(1, 2**200))
def test_integers_are_read_as_they_were_written(value: int, more: int) -> None:
    length = length_of(value + more)
    assert integer_of(bytes_of(value, length)) == value
    assert length <= (value + more).bit_length() // 8 + 1


@pytest.mark.parametrize(("bound", "length"), [(2, 1), (256, 1), (257, 2), (65_536, 2)])
def test_as_many_bytes_are_written_as_the_largest_needs(bound: int, length: int) -> None:
    assert length_of(bound) == length


def test_random_integers_reach_every_value_and_no_other() -> None:
    """A value is missed by 400 draws once in 10^20."""
    assert {int(below(9)) for _ in range(400)} == set(range(9))
    units = {int(unit_below(9)) for _ in range(400)}
    assert units == {each for each in range(9) if gcd(each, 9) == 1}
