"""Notebooks as Markdown pages, with the outputs that are stored in them."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

__all__ = ["notebook_page"]

_IMAGES = {"image/png": "png", "image/jpeg": "jpg"}
_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def notebook_page(notebook: Path, folder: Path) -> str:
    """The notebook as Markdown; its images are written into `folder`, next to the page."""
    pieces = []
    for number, cell in enumerate(_cells(notebook)):
        if cell["cell_type"] == "markdown":
            pieces.append(_attached(cell, f"{notebook.stem}-{number}", folder))
        elif cell["cell_type"] == "code" and cell["source"].strip():
            pieces.append(_fenced(cell["source"], "python"))
            for place, output in enumerate(cell["outputs"]):
                pieces.append(_output(output, f"{notebook.stem}-{number}-{place}", folder))
    return "\n\n".join(piece for piece in pieces if piece) + "\n"


def _cells(notebook: Path) -> list[dict[str, Any]]:
    """The cells of a notebook in format 4, each with its source as one string."""
    read = json.loads(notebook.read_text(encoding="utf-8"))
    if read.get("nbformat") != 4:
        raise ValueError(f"{notebook.name}: not a notebook in format 4")
    return [{**cell, "source": _joined(cell["source"])} for cell in read["cells"]]


def _attached(cell: dict[str, Any], stem: str, folder: Path) -> str:
    """A Markdown cell whose attachments are files."""
    source = str(cell["source"])
    for place, (name, data) in enumerate(cell.get("attachments", {}).items()):
        file = _image(data, f"{stem}-{place}", folder)
        source = source.replace(f"attachment:{name}", file)
    return source


def _output(output: dict[str, Any], stem: str, folder: Path) -> str:
    if output["output_type"] == "stream":
        return _text(_joined(output["text"]))
    if output["output_type"] == "error":
        return _text("\n".join(output["traceback"]))
    data = output["data"]
    if "text/html" in data:
        html = _joined(data["text/html"]).replace("$", "&#36;")  # no equation
        return f'<div class="notebook-output">\n{html}\n</div>'
    if "image/svg+xml" in data or _IMAGES.keys() & data.keys():
        alternative = _joined(data.get("text/plain", "")).splitlines()
        words = alternative[0] if alternative and not alternative[0].startswith("<") else "Figure"
        return f"![{words}]({_image(data, stem, folder)})"
    if "text/markdown" in data:
        return str(_joined(data["text/markdown"]))
    return _text(_joined(data.get("text/plain", "")))


def _image(data: dict[str, Any], stem: str, folder: Path) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    if "image/svg+xml" in data:
        file = folder / f"{stem}.svg"
        file.write_text(_joined(data["image/svg+xml"]), encoding="utf-8")
        return file.name
    kind = next(kind for kind in _IMAGES if kind in data)
    file = folder / f"{stem}.{_IMAGES[kind]}"
    file.write_bytes(base64.b64decode(_joined(data[kind])))
    return file.name


def _text(text: str) -> str:
    plain = _ESCAPES.sub("", text).rstrip()
    return _fenced(plain, "{ .text .notebook-output }") if plain else ""


def _fenced(code: str, language: str) -> str:
    """A code block, with more ticks than the code has in a row."""
    longest = max((len(ticks) for ticks in re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{code.rstrip()}\n{fence}"


def _joined(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "".join(text)
