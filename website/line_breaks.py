"""A Markdown extension that lets long paths in tables break after a slash."""

from __future__ import annotations

import re
from typing import Any

from markdown import Extension, Markdown
from markdown.postprocessors import Postprocessor

__all__ = ["BreaksExtension", "makeExtension"]

_CELL = re.compile(r"(?<=<td>)(?:(?!</td>).)*(?=</td>)", re.DOTALL)
_CODE = re.compile(r"<code>[^<]*</code>")


class BreaksPostprocessor(Postprocessor):  # type: ignore[misc]
    """Puts `<wbr>` after each slash of code in the cells of tables."""

    def run(self, text: str) -> str:
        """The HTML with places to break."""
        return _CELL.sub(lambda cell: _CODE.sub(_breakable, cell[0]), text)


def _breakable(code: re.Match[str]) -> str:
    return re.sub(r"(?<=[^<])/(?=\w|\{)", "/<wbr>", code[0])


class BreaksExtension(Extension):  # type: ignore[misc]
    """Registers the postprocessor after all others."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - the name is Markdown's
        """Add the postprocessor to `md`."""
        md.postprocessors.register(BreaksPostprocessor(md), "breaks", -10)


def makeExtension(**settings: Any) -> BreaksExtension:  # noqa: N802 - the name is Markdown's
    """The extension, as Markdown asks for it by the module's name."""
    return BreaksExtension(**settings)
