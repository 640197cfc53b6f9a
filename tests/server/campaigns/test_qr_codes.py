"""QR codes: the path is the matrix, and the matrix is the standard's."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt
import pytest
import segno

from sottovoce.server.campaigns.invites import QrCode, qr_code

LINK = "https://answers.example/c/k7f3q2mzab#svi_"
RUN = re.compile(r"M(\d+) (\d+)h(\d+)v1h-(\d+)z")
FINDER = np.pad(np.pad(np.ones((3, 3), bool), 1), 1, constant_values=True)


def drawn(code: QrCode) -> npt.NDArray[np.bool_]:
    """The modules that the path fills."""
    assert RUN.sub("", code.path) == ""
    modules = np.zeros((code.size, code.size), bool)
    for x, y, right, left in (map(int, run) for run in RUN.findall(code.path)):
        assert right == left
        assert not modules[y, x : x + right].any()
        modules[y, x : x + right] = True
    return modules


@pytest.mark.parametrize("length", [1, 43, 200, 900])
def test_the_path_fills_the_dark_modules(length: int) -> None:
    text = LINK + "a" * length
    modules = drawn(qr_code(text))
    expected = segno.make_qr(text, error="m", boost_error=False)
    assert (modules == np.array([list(row) for row in expected.matrix], bool)).all()


def test_a_code_has_its_three_finders_and_correction_m() -> None:
    modules = drawn(qr_code(LINK + "a" * 43))
    for corner in (modules[:7, :7], modules[:7, -7:], modules[-7:, :7]):
        assert (corner == FINDER).all()
    # ISO/IEC 18004: the first two bits of the format are the level, 00 for M, masked with 10.
    assert modules[8, :2].tolist() == [True, False]
