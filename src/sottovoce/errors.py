"""Every error raised on purpose, as a tree.

A message says what was asked, what was found and the way out. Its numbers are attributes.
"""

from __future__ import annotations

__all__ = [
    "DataError",
    "NotInstalled",
    "OutputExists",
    "SottovoceError",
    "UsageError",
]


class SottovoceError(Exception):
    """The root of the tree: catch this to catch everything Sottovoce refuses."""


class DataError(SottovoceError):
    """A table that cannot be used as it is: what was read, where, and what to do about it."""

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        row: int | None = None,
        column: str | None = None,
    ) -> None:
        places = [file] if file else []
        if row is not None:
            places.append(f"row {row:,}")
        if column is not None:
            places.append(f"column {column!r}")
        super().__init__(f"{', '.join(places)}: {message}" if places else message)
        self.file, self.row, self.column = file, row, column


class UsageError(SottovoceError):
    """A request that makes no sense, whatever the data: a wrong name, an impossible pairing."""


class OutputExists(UsageError):  # noqa: N818 - reads as the fact it states
    """Something is already where the output should go."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} exists; say --force (force=True) to replace it")
        self.path = path


class NotInstalled(UsageError):  # noqa: N818 - reads as the fact it states
    """An optional library is needed and absent."""

    def __init__(self, library: str, *, purpose: str, extra: str | None = None) -> None:
        way = f"pip install 'sottovoce[{extra}]'" if extra else f"pip install {library}"
        super().__init__(f"{purpose} needs {library}, which is not installed: {way}")
        self.library, self.extra = library, extra
