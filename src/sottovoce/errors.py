"""The exceptions that Sottovoce raises on purpose.

A message says what was asked, what was found and how to proceed. Its numbers are attributes.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterable
from enum import StrEnum
from functools import partial
from typing import Any, NoReturn

__all__ = [
    "AlreadyReported", "BudgetExceeded", "DataError", "LedgerBusy", "LedgerDamaged", "LedgerError",
    "LedgerUnwritable", "NotInstalled", "OutputExists", "PolicyChanged", "Reason", "Refused",
    "SealedAborted", "SealedRefused", "SottovoceError", "SpendRefused", "Stopped", "Unreachable",
    "UsageError", "absent", "install_command",
]  # fmt: skip


class SottovoceError(Exception):
    """The base class of all errors that Sottovoce raises on purpose."""


class DataError(SottovoceError):
    """A table that cannot be used as it is; the message names the place and the fix."""

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
        self.file = file
        self.row = row
        self.column = column


class UsageError(SottovoceError):
    """A request that is wrong for any data: an unknown name, an impossible combination."""


class OutputExists(UsageError):  # noqa: N818 - reads as the fact it states
    """The output path already exists."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} exists; pass force=True to replace it")
        self.path = path


class NotInstalled(UsageError, ImportError):  # noqa: N818 - reads as the fact it states
    """An optional library is needed but not installed."""

    def __init__(self, library: str, *, purpose: str, extra: str | None = None) -> None:
        way = install_command(extra) if extra else install_command(distribution=library)
        super().__init__(f"{purpose} needs {library}, which is not installed: {way}")
        self.library = library
        self.extra = extra
        self.name = library


_FOLDERS = {"sottovoce": "", "sottovoce-studies": "/studies"}
"""The folder of each distribution of this project in a checkout."""


def install_command(extra: str | None = None, distribution: str = "sottovoce") -> str:
    """How to install an extra or another distribution, from where this package was installed.

    That is a checkout as long as the project is on no index.
    """
    source, editable = _checkout() if distribution in _FOLDERS else (None, False)
    wanted = f"{source}{_FOLDERS[distribution]}" if source else distribution
    wanted += f"[{extra}]" if extra else ""
    return f"pip install {'-e ' if editable else ''}{shlex.quote(wanted)}"


def _checkout() -> tuple[str | None, bool]:
    """The folder that pip installed this package from (PEP 610), and whether it is editable."""
    from importlib.metadata import PackageNotFoundError, distribution  # rarely needed, and slow
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        recorded = json.loads(distribution("sottovoce").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        return None, False
    if "dir_info" not in recorded:
        return None, False
    folder = url2pathname(urlsplit(recorded["url"]).path)
    return folder, bool(recorded["dir_info"].get("editable"))


class _Absent(type):
    """A class that takes the place of something in a missing library and raises when called."""

    missing: Callable[[], NotInstalled]

    def __call__(cls, *_: object, **__: object) -> NoReturn:
        raise cls.missing()

    def __getattr__(cls, name: str) -> _Absent:
        if name.startswith("__"):
            raise AttributeError(name)
        return cls


def absent(library: str, *, purpose: str, extra: str | None = None) -> Any:
    """A placeholder for a library that is not installed, or for something in it.

    Modules that use the library can then be imported; calling one of its functions or classes
    raises `NotInstalled`. The placeholder is an exception class, so it can replace exceptions too.
    """
    missing = partial(NotInstalled, library, purpose=purpose, extra=extra)
    return _Absent(f"absent_{library}", (Exception,), {"missing": staticmethod(missing)})


class SpendRefused(SottovoceError):  # noqa: N818 - reads as the fact it states
    """A submission that would exceed the worker's privacy budget: nothing is spent or reported."""


class BudgetExceeded(SpendRefused):
    """A submission would exceed a worker's budget."""

    def __init__(
        self, worker: str, *, asked: float, left: float, unit: str, quantity: str = "epsilon"
    ) -> None:
        super().__init__(
            f"worker {worker!r} asked to spend {quantity} {asked:g} per {unit} but has {left:g} "
            "left; answer fewer tasks, skip this campaign, or raise the budget"
        )
        self.worker = worker
        self.asked = asked
        self.left = left
        self.unit = unit
        self.quantity = quantity


class AlreadyReported(SpendRefused):
    """A second report about the same task: both together would reveal more than the guarantee."""

    def __init__(self, requester: str, policy: str, *, task: str | None = None) -> None:
        if task is None:
            refused = "this mechanism takes all answers of a worker in one submission, and one was"
        else:
            refused = f"a report for task {task!r} was"
        super().__init__(
            f"{refused} made for requester {requester!r} under policy {policy[:12]}; send that one "
            "again: a new one would weaken the noise"
        )
        self.requester = requester
        self.policy = policy
        self.task = task


class LedgerError(SottovoceError):
    """A ledger that cannot be used now; nothing is reported."""


class LedgerDamaged(LedgerError):  # noqa: N818 - reads as the fact it states
    """A ledger file that was changed or cut: the spent budget is no longer known."""

    def __init__(self, path: str, *, line: int, fault: str) -> None:
        super().__init__(
            f"{path}, line {line:,}: {fault}; restore the ledger from a backup: the spent budget "
            "is no longer known"
        )
        self.path = path
        self.line = line
        self.fault = fault


class LedgerBusy(LedgerError):  # noqa: N818 - reads as the fact it states
    """Another process holds the ledger's lock for too long."""

    def __init__(self, path: str, *, seconds: float) -> None:
        super().__init__(
            f"{path}: another process has locked this file for {seconds:g} seconds; stop it, or "
            "try again later"
        )
        self.path = path
        self.seconds = seconds


class LedgerUnwritable(LedgerError):  # noqa: N818 - reads as the fact it states
    """The operating system refuses to read or write the ledger."""

    def __init__(self, path: str, *, reason: str) -> None:
        super().__init__(
            f"{path}: cannot read or write the ledger here ({reason}); nothing is reported"
        )
        self.path = path
        self.reason = reason


class Reason(StrEnum):
    """Why a server refuses a request; the same word appears in responses, metrics and clients."""

    MALFORMED = "malformed"
    """The request does not match the interface."""
    OVERSIZE = "oversize"
    """The request is longer than any valid one."""
    UNSUPPORTED = "unsupported"
    """The server does not accept this method, content type or encoding."""
    NO_CREDENTIAL = "no_credential"
    """The request has no credential."""
    BAD_CREDENTIAL = "bad_credential"
    """The credential is unknown, or belongs to something else."""
    INVITE_EXPIRED = "invite_expired"
    INVITE_USED = "invite_used"
    """Another worker has used this single-use invite."""
    NOT_FOUND = "not_found"
    NOT_OPEN = "not_open"
    """The campaign is a draft or closed."""
    NOT_A_DRAFT = "not_a_draft"
    """Only drafts can be changed."""
    QUOTA_REACHED = "quota_reached"
    FOREIGN_POLICY = "foreign_policy"
    """The report was made under a different policy than the campaign's."""
    SIMULATED = "simulated"
    """Seeded noise protects nobody: simulated reports are for simulated campaigns only."""
    NOT_ADMITTED = "not_admitted"
    """The policy's mechanism cannot have sent these reports, or they are about unassigned tasks."""
    ALREADY_REPORTED = "already_reported"
    """A worker's second report about the same task."""
    CONFLICT = "conflict"
    """Another report has this identifier."""
    ERASED = "erased"
    """The worker has withdrawn this report."""
    BUSY = "busy"
    """Too many requests are waiting; try again later."""
    UNAVAILABLE = "unavailable"
    """Storage is full or does not respond; nothing was stored."""


class Refused(SottovoceError):  # noqa: N818 - reads as the fact it states
    """A server's refusal, on either side of the connection; it never quotes what was sent."""

    def __init__(
        self,
        reason: Reason,
        message: str,
        *,
        field: str | None = None,
        row: int | None = None,
        column: str | None = None,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.field = field
        self.row = row
        self.column = column


class SealedRefused(SottovoceError):  # noqa: N818 - reads as the fact it states
    """A message that breaks the protocol of a sealed sum: the sender, and what is wrong.

    It quotes no share and no key.
    """

    def __init__(self, culprit: str, reason: str) -> None:
        super().__init__(f"{culprit}: {reason}")
        self.culprit = culprit
        self.reason = reason


class SealedAborted(SottovoceError):  # noqa: N818 - reads as the fact it states
    """A sealed sum that can no longer be opened: the reason and, if known, the culprits."""

    def __init__(self, reason: str, culprits: Iterable[str] = ()) -> None:
        self.reason = reason
        self.culprits: tuple[str, ...] = tuple(culprits)
        named = f"{', '.join(self.culprits)}: " if self.culprits else ""
        super().__init__(f"{named}{reason}")


class PolicyChanged(SottovoceError):  # noqa: N818 - reads as the fact it states
    """A server offers a different policy than the one this client has pinned; nothing is sent."""

    def __init__(self, campaign: str, *, pinned: str, offered: str) -> None:
        super().__init__(
            f"campaign {campaign!r} promised policy {pinned[:12]} and now offers {offered[:12]}; "
            "nothing was sent. A policy must not change after the campaign opens: ask the "
            "requester"
        )
        self.campaign = campaign
        self.pinned = pinned
        self.offered = offered


class Unreachable(SottovoceError):  # noqa: N818 - reads as the fact it states
    """No server responds; the submission is kept, and the same bytes can be sent later."""

    def __init__(self, address: str, *, reason: str) -> None:
        super().__init__(f"{address} does not answer ({reason}); try again later")
        self.address = address
        self.reason = reason


class Stopped(SottovoceError):  # noqa: N818 - reads as the fact it states
    """The user pressed Ctrl-C; the message says what is left of the work."""
