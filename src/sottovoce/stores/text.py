"""What must hold for the bytes of a text file before its rows mean anything."""

from __future__ import annotations

import codecs
import zlib
from dataclasses import dataclass

from sottovoce.errors import DataError
from sottovoce.stores.sources import LocalFile

__all__ = ["Marks", "check_text"]

_CHUNK = 1 << 23


@dataclass(slots=True)
class Marks:
    """What a text file's bytes say about its quotes and line ends."""

    quotes: int = 0
    line_feeds: int = 0
    returns: int = 0
    pairs: int = 0
    ends_in_return: bool = False

    @property
    def paired(self) -> bool:
        """Whether quotes could all be closed."""
        return self.quotes % 2 == 0

    @property
    def mixed(self) -> bool:
        """Whether LF, CR and CR LF occur side by side."""
        lone = (self.line_feeds - self.pairs, self.returns - self.pairs)
        return sum(count > 0 for count in (self.pairs, *lone)) > 1

    def add(self, chunk: bytes) -> None:
        """Count what a further chunk holds."""
        self.quotes += chunk.count(b'"')
        self.line_feeds += chunk.count(b"\n")
        if b"\r" in chunk:
            self.returns += chunk.count(b"\r")
            self.pairs += chunk.count(b"\r\n")
        self.pairs += self.ends_in_return and chunk.startswith(b"\n")
        self.ends_in_return = chunk.endswith(b"\r")


def check_text(file: LocalFile) -> Marks:
    """Refuse what is not UTF-8 text; count its quotes and line ends.

    One pass over the bytes at memory speed: only chunks beyond ASCII are decoded.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    marks, offset = Marks(), 0
    try:
        with file.open() as stream:
            while chunk := stream.read(_CHUNK):
                if offset == 0 and chunk[:2] in (b"\xff\xfe", b"\xfe\xff"):
                    raise DataError("is UTF-16 text: save it as UTF-8", file=file.name)
                if (nul := chunk.find(0)) >= 0:
                    _refuse_nul(file, offset + nul)
                pending = len(decoder.getstate()[0])
                if pending or not chunk.isascii():
                    _decode(decoder, chunk, file, offset - pending)
                marks.add(chunk)
                offset += len(chunk)
    except (EOFError, zlib.error, OSError):
        raise DataError(
            "is a damaged or truncated gzip file: make or fetch it again", file=file.name
        ) from None
    if decoder.getstate()[0]:
        _refuse_byte(file, offset - len(decoder.getstate()[0]))
    return marks


def _decode(decoder: codecs.IncrementalDecoder, chunk: bytes, file: LocalFile, start: int) -> None:
    try:
        decoder.decode(chunk)
    except UnicodeDecodeError as error:
        _refuse_byte(file, start + error.start)


def _refuse_nul(file: LocalFile, offset: int) -> None:
    raise DataError(
        f"is not a text file: byte {offset:,} is NUL; save it as CSV, TSV or JSONL in UTF-8",
        file=file.name,
        row=_row(file, offset),
    )


def _refuse_byte(file: LocalFile, offset: int) -> None:
    with file.open() as stream:
        stream.seek(offset)
        byte = stream.read(1)[0]
    raise DataError(
        f"byte {offset:,} (0x{byte:02x}) is not UTF-8: save the file as UTF-8",
        file=file.name,
        row=_row(file, offset),
    )


def _row(file: LocalFile, offset: int) -> int:
    """The line the byte is in, as an editor counts."""
    lines = 1
    with file.open() as stream:
        while offset > 0 and (chunk := stream.read(min(_CHUNK, offset))):
            lines += chunk.count(b"\n")
            offset -= len(chunk)
    return lines
