"""A Griffe extension that puts the doctests of docstrings into fenced code blocks."""

from __future__ import annotations

import re
from typing import Any

from griffe import Docstring, Extension, Object

__all__ = ["DoctestFences", "fenced"]

_DOCTEST = re.compile(r"^(?P<indent> *)>>> .*(?:\n(?P=indent)\S.*|\n(?P=indent) +\S.*)*", re.M)


def fenced(text: str) -> str:
    r"""The text with each doctest, up to the next empty line, as a `pycon` block.

    >>> fenced("An example:\n\n>>> 1 + 1\n2").splitlines()
    ['An example:', '', '```pycon', '>>> 1 + 1', '2', '```']
    """

    def block(match: re.Match[str]) -> str:
        indent = match["indent"]
        return f"{indent}```pycon\n{match[0]}\n{indent}```"

    return _DOCTEST.sub(block, text)


class DoctestFences(Extension):
    """Applied to every object that Griffe loads."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Rewrite the docstring of `obj`, if it has one."""
        if isinstance(obj.docstring, Docstring):
            obj.docstring.value = fenced(obj.docstring.value)
