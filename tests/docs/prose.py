"""A lint for the project's English: idioms to avoid, and what to write instead.

    python -m tests.docs.prose [PATH ...]

It reads Markdown outside of code blocks, page templates, JavaScript, and the strings and docstrings
of Python. `idioms.tsv` is the word list. A sentence must not open with a noun clause ("What is sent
is random."), either.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["Finding", "Idiom", "findings_in", "idioms", "text_findings"]

ROOT = Path(__file__).parents[2]
CHECKED = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md",
           "docs", "src", "studies", "tests", "benchmarks", "website", ".github")  # fmt: skip
SUFFIXES = (".py", ".pyi", ".md", ".html", ".js")
OWN = (Path(__file__).resolve(), Path(__file__).resolve().with_name("test_prose.py"))
"""These quote sentences that are to be found."""

WORD_LIST = Path(__file__).with_name("idioms.tsv")


class Idiom(NamedTuple):
    """A pattern, what to write instead, and a sentence that has it."""

    pattern: str
    instead: str
    example: str


def idioms() -> list[Idiom]:
    """The word list."""
    _, *lines = WORD_LIST.read_text(encoding="utf-8").splitlines()
    return [Idiom(*line.split("\t")) for line in lines]


_ENDS = r"(?:\b|(?<=[ :-]))"
_IDIOM = re.compile("|".join(rf"\b({each.pattern}){_ENDS}" for each in idioms()), re.IGNORECASE)
_INSTEAD = [each.instead for each in idioms()]
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
    for match in _IDIOM.finditer(text):
        yield match.start(), match[0].strip(), _INSTEAD[(match.lastindex or 1) - 1]
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
