"""Number formats, and round numbers for axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_FAR = 4
"""The exponent from which numbers are written as powers of ten."""


def spread(values: Iterable[float]) -> tuple[float, float]:
    """The smallest and the largest value, kept apart where they are (nearly) equal.

    >>> spread([0.5, 0.5]), spread([0, 0]), spread([3, 1, 2])
    ((0.25, 0.75), (-1.0, 1.0), (1, 3))
    """
    seen = list(values)
    low, high = min(seen), max(seen)
    size = max(abs(low), abs(high))
    if high - low > 1e-9 * size:
        return low, high
    margin = size / 2 or 1.0
    return low - margin, high + margin


def round_steps(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """At most `most` evenly spaced round numbers from low to high, and their texts.

    >>> [words for _, words in round_steps(0.32, 1.0, 5)]
    ['0.4', '0.6', '0.8', '1.0']
    """
    step = _round_step((high - low) / most)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    numbers = [place * step for place in range(first, last + 1)]
    size, decimals = max(abs(low), abs(high)), max(0, -_exponent(step))
    if size < 1e6 and decimals <= 6:
        return [(number, f"{number + 0.0:.{decimals}f}") for number in numbers]
    digits = max(1, _exponent(size) - _exponent(step) + 1)
    return [(number, f"{number + 0.0:.{digits}g}") for number in numbers]


def log_steps(low: float, high: float, most: int) -> list[float]:
    """About `most` round numbers from low to high, both above 0, for a logarithmic axis.

    Powers of ten, evenly apart; where these are too few, 2 and 5 times them too.

    >>> log_steps(1e-12, 1.0, 5)
    [1e-12, 1e-09, 1e-06, 0.001, 1.0]
    >>> log_steps(0.5, 30.0, 8)
    [0.5, 1.0, 2.0, 5.0, 10.0, 20.0]
    """
    first, last = _exponent(low), _exponent(high)
    powers = [k for k in range(first, last + 1) if low <= float(f"1e{k}") <= high]
    if len(powers) >= 3:
        apart = math.ceil(len(powers) / most)
        return [float(f"1e{k}") for k in powers if k % apart == 0]
    steps = [float(f"{m}e{k}") for k in range(first, last + 1) for m in (1, 2, 5)]
    inside = [step for step in steps if low <= step <= high]
    if len(inside) >= 3:
        return inside
    even = round_steps(low, high, most)
    if len(even) < 2:  # the next smaller round step: an axis needs two numbers
        even = round_steps(low, high, 2 * most)
    return [step for step, _ in even if step > 0]


def power_words(values: Sequence[float]) -> Callable[[float], str]:
    """How to write values of an axis of ratios: as powers of ten if some are far from 1.

    >>> [power_words([1.0, 1e6])(value) for value in (1.0, 1e6, 2e6)]
    ['1', '10⁶', '2·10⁶']
    >>> power_words([0.1, 10.0])(0.1)
    '0.1'
    """
    if all(10.0**-_FAR < value < 10.0**_FAR for value in values):
        return lambda value: f"{value:g}"
    return _power


def _power(value: float) -> str:
    factor, _, exponent = f"{value:.3e}".partition("e")
    if int(exponent) in (0, 1):
        return f"{value:g}"
    raised = f"10{str(int(exponent)).translate(_RAISED)}"
    return raised if float(factor) == 1 else f"{float(factor):g}·{raised}"


def words_for(values: Iterable[float], *, log: bool = False) -> Callable[[float], str]:
    """How to write values that are compared: all with the decimals their spread asks for.

    With `log`, when it is their ratios that are compared, all with two digits at least.

    >>> words_for([0.02, 300.0], log=True)(298.5)
    '298'
    >>> words_for([0.51234, 0.93])(0.6), words_for([250.0, 3.0])(17.25)
    ('0.600', '17.2')
    """
    if log:
        return lambda value: f"{value:.0f}" if 100 <= abs(value) < 1e6 else f"{value:.2g}"
    low, high = spread(values)
    size, exponent = max(abs(low), abs(high)), _exponent(high - low)
    if size >= 1e7 or size < 1e-4:
        return lambda value: f"{value:.4g}"
    decimals = 2 - exponent if exponent < -1 else max(0, 3 - max(0, exponent))
    return lambda value: f"{value:.{min(decimals, 6)}f}"


def _round_step(least: float) -> float:
    power = 10.0 ** _exponent(least)
    return next(step * power for step in (1, 2, 5, 10) if step * power >= least * (1 - 1e-9))


def _exponent(number: float) -> int:
    return math.floor(math.log10(number) + 1e-9)
