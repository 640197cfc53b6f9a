"""A Markdown extension that renders `$…$` and `$$…$$` as MathML."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

from latex2mathml.converter import convert
from markdown import Extension, Markdown
from markdown.preprocessors import Preprocessor

__all__ = ["MathExtension", "equation", "makeExtension"]

_CODE_OR_MATH = re.compile(
    r"(?P<code>(?<!`)(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))"
    r"|(?P<escaped>\\\$)"
    r"|\$\$(?P<display>.+?)\$\$"
    r"|(?<![\w$])\$(?P<inline>[^\s$](?:[^$\n]*(?:\n[^$\n]+)*[^\s$])?)\$(?![\w$])",
    re.DOTALL,
)
_PARAGRAPHS = re.compile(r"\n(?:[ \t]*\n)+")
_CHILDREN = {"mfrac": 2, "mroot": 2, "msub": 2, "msup": 2, "msubsup": 3, "munder": 2, "mover": 2}
"""How many children an element has; the converter also accepts fewer."""


def equation(tex: str, *, display: bool = False) -> str:
    """MathML of an equation in LaTeX; `ValueError` where it is not understood.

    >>> equation("x^2").count("<msup>")
    1
    """
    tex = tex.strip().replace("{aligned}", "{split}")  # which the converter knows
    braces = re.sub(r"\\.|[^{}]", "", tex)
    if braces.count("{") != braces.count("}"):
        raise ValueError(f"equation {tex!r}: braces do not match")
    try:
        mathml = str(convert(tex, display="block" if display else "inline"))
        parts = list(ElementTree.fromstring(mathml).iter())  # noqa: S314 - made here
    except Exception as error:
        raise ValueError(f"equation {tex!r}: {error or type(error).__name__}") from error
    for part in parts:
        kind = part.tag.rpartition("}")[2]
        if "\\" in (part.text or ""):
            raise ValueError(f"equation {tex!r}: unknown command {part.text}")
        if len(part) != _CHILDREN.get(kind, len(part)):
            raise ValueError(f"equation {tex!r}: a part of {kind} is missing")
        if "linebreak" in part.attrib:  # browsers ignore it
            raise ValueError(f"equation {tex!r}: put the lines into an environment 'aligned'")
    return f'<span class="equation">{mathml}</span>' if display else mathml


class MathPreprocessor(Preprocessor):  # type: ignore[misc]
    """Replaces equations in prose by placeholders of their MathML.

    Runs after fenced code was put aside, and passes over code spans and indented code.
    """

    def run(self, lines: list[str]) -> list[str]:
        """The lines with placeholders in place of equations."""
        text = "\n".join(lines)
        if "$" not in text:
            return lines
        breaks = _PARAGRAPHS.findall(text)
        parts = [self._rendered(part) for part in _PARAGRAPHS.split(text)]
        joined = [part + gap for part, gap in zip(parts, [*breaks, ""], strict=True)]
        return "".join(joined).split("\n")

    def _rendered(self, paragraph: str) -> str:
        if "$" not in paragraph or paragraph.startswith(("    ", "\t")):
            return paragraph
        return _CODE_OR_MATH.sub(self._replacement, paragraph)

    def _replacement(self, match: re.Match[str]) -> str:
        if match["display"] is not None:
            return self._stash(equation(match["display"], display=True))
        if match["inline"] is not None:
            return self._stash(equation(match["inline"]))
        return "$" if match["escaped"] else match[0]

    def _stash(self, mathml: str) -> str:
        return str(self.md.htmlStash.store(mathml))


class MathExtension(Extension):  # type: ignore[misc]
    """Registers the preprocessor between fenced code (25) and raw HTML (20)."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - the name is Markdown's
        """Add the preprocessor to `md`."""
        md.preprocessors.register(MathPreprocessor(md), "mathml", 22)


def makeExtension(**settings: Any) -> MathExtension:  # noqa: N802 - the name is Markdown's
    """The extension, as Markdown asks for it by the module's name."""
    return MathExtension(**settings)
