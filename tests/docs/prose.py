"""A lint for the project's English: idioms to avoid, and what to write instead.

    python -m tests.docs.prose [PATH ...]

It reads Markdown outside of code blocks, page templates, JavaScript, and the strings and docstrings
of Python. A sentence must not open with a noun clause ("What is sent is random."), either.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["Finding", "findings_in", "text_findings"]

ROOT = Path(__file__).parents[2]
CHECKED = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md",
           "docs", "src", "studies", "tests", "benchmarks", "website", ".github")  # fmt: skip
SUFFIXES = (".py", ".pyi", ".md", ".html", ".js")
OWN = (Path(__file__).resolve(), Path(__file__).resolve().with_name("test_prose.py"))
"""These quote what they look for."""

IDIOMS = {
    r"who(?:so)?ever": "anyone who",
    r"whatever (?:it|they|one|he|she)": "any, or name the cases",
    r"betray(?:s|ed|ing|al)?": "reveal; privacy loss",
    r"anew": "again; rerun",
    r"so many|so much of": "a number",
    r"somebody": "someone",
    r"of one's own": "your own",
    r"the very(?! least| first| last| same)": "the",
    r"mend(?:s|ed|ing)?": "fix",
    r"beside": "next to",
    r"such an?": "this, or name it",
    r"as such": "itself, or nothing",
    r"once more": "again",
    r"for once": "nothing",
    r"and the like": "name them",
    r"thereby|whereof|wherein|thereof|hereby": "a second sentence",
    r"by and by": "gradually",
    r"in (?:its|their|his|her) stead": "instead",
    r"(?:say|said with|says) --": "pass --",
    r"to a program:": "JSON output",
    r"shall": "will, must or should",
}
_ENDS = r"(?:\b|(?<=[ :-]))"
_IDIOM = re.compile("|".join(rf"\b({each}){_ENDS}" for each in IDIOMS), re.IGNORECASE)
_SENTENCE = re.compile(r"(?:(?<=[.!?] )|(?<=\n\n)|(?<=\A))[A-Z][^.!?]*[.!?]", re.DOTALL)
_RELATIVE = re.compile(r"(?:What|Who|Whose|Whom|Which) [a-z]|Where [^,]*\b(?:is|are) (?:in|the)\b")
_FENCE = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")


class Finding(NamedTuple):
    """A place and what to write instead."""

    path: Path
    line: int
    found: str
    instead: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.found!r}: write {self.instead}"


def findings_in(paths: Iterable[Path]) -> Iterator[Finding]:
    """Everything to rewrite in files and folders."""
    for path in sorted({file for each in paths for file in _files(each)}):
        for line, text in _texts(path):
            for offset, found, instead in text_findings(text):
                yield Finding(path, line + text.count("\n", 0, offset), found, instead)


def text_findings(text: str) -> Iterator[tuple[int, str, str]]:
    """Where a text has an idiom or opens a sentence with a noun clause."""
    suggestions = list(IDIOMS.values())
    for match in _IDIOM.finditer(text):
        yield match.start(), match[0].strip(), suggestions[(match.lastindex or 1) - 1]
    for match in _SENTENCE.finditer(text):
        if match[0][-1] != "?" and _RELATIVE.match(match[0]):
            yield match.start(), " ".join(match[0].split()[:4]) + " …", "the subject first"


def _files(path: Path) -> Iterator[Path]:
    found = path.rglob("*") if path.is_dir() else [path]
    for file in found:
        if (
            file.suffix in SUFFIXES
            and file.resolve() not in OWN
            and "node_modules" not in file.parts
        ):
            yield file


def _texts(path: Path) -> Iterator[tuple[int, str]]:
    raw = path.read_text(encoding="utf-8")
    if path.suffix in (".py", ".pyi"):
        for node in ast.walk(ast.parse(raw)):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
                yield node.lineno, node.value
    else:
        yield 1, _CODE.sub(_blank, _FENCE.sub(_blank, raw))


def _blank(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")


def main() -> None:
    """Print what is found in the paths named, or in the whole project."""
    paths = [Path(name) for name in sys.argv[1:]] or [ROOT / name for name in CHECKED]
    found = list(findings_in(path for path in paths if path.exists()))
    for each in found:
        print(each)  # noqa: T201 - this is the command's output
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
