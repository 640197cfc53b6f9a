"""The reference page of the HTTP interface, generated from the application.

`python tests/docs/api_reference.py > docs/reference/http-api.md` writes it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sottovoce.errors import Reason
from sottovoce.server.web.app import build_app
from sottovoce.server.web.openapi import TAGS
from sottovoce.server.web.problems import STATUS
from sottovoce.server.web.settings import Settings

__all__ = ["MEANINGS", "api_reference"]

_HEAD = """\
# HTTP interface

<!-- Written by tests/docs/api_reference.py: edit the routes in sottovoce/server/web. -->

A server shows the whole interface with every field at `/api`, and as OpenAPI at
`/api/v1/openapi.json`. This page lists all routes. The [command line](cli.md) and the
[clients in Python](../how-to/embedding.md) use them for you.

## Credentials

Credentials go into the header `Authorization: Bearer …`, never into an address. Each is a prefix
and 256 random bits, and the server keeps only its hash.

| needs | prefix | is |
|---|---|---|
| token | `svk_` | a requester's; `sottovoce campaign login` makes the first one |
| setup | `sva_` | the secret in the link that `sottovoce serve` prints; works once |
| invite | `svi_` | the part after `#` in a link to a campaign |
| receipt | `svr_` | a worker's own; the worker's software creates and keeps it |
| keyholder | `svh_` | the part after `#` in a keyholder's link to a sealed campaign |
| member | `svl_` | the part after `#` in a worker's or the dealer's link to a live session |
| own_receipt | `svr_` | the receipt next to an invite, in the header `Sottovoce-Receipt` |

## Requests

Bodies are JSON in UTF-8 with `Content-Type: application/json`, without compression, unless a route
says otherwise. Unknown fields, repeated fields, numbers that are not finite and incomplete text are
refused. Most bodies have up to 64 KiB, those with tasks up to 64 MiB, and a submission at most the
size of the longest valid one of its campaign. Days are written as `2031-12-24`, in UTC.

In a sealed campaign a submission is one contribution, and a keyholder's message is exactly the
bytes that were signed.

A worker's turn in a live session and its reply are signed frames of bytes, sent as
`application/octet-stream`. A repeated reply is answered with 200. `GET …/turn?wait=25` waits up to
25 seconds for a turn, and answers 204 if there is none.

`PUT …/reports/{report_id}` can be repeated: the same bytes are stored once, and answered with 200
instead of 201. Never randomise again for a retry.

A list comes in pages, by `offset` and `limit`; `total` says how many there are.
"""

_REFUSALS = """\
## Refusals

Every refusal has one shape, `application/problem+json` (RFC 9457), and changes nothing:

```json
{"type": "urn:sottovoce:problem:not_open", "title": "Conflict", "status": 409,
 "reason": "not_open", "detail": "the campaign takes no reports: it is a draft or closed"}
```

`reason` is for programs and does not change; `detail` is for people and may. `field` names the
wrong part of a body or an address, `row` and `column` the place in a table of tasks. A worker's
data is never quoted.
"""

_STATUSES = """\
Three more statuses have one of these reasons: 400 `malformed` for an invalid HTTP request, 405
`unsupported` for a method that an address does not have (the header `Allow` names those it has),
and 500 `unavailable` for an error in the server itself. With too many connections, `busy` comes
with 503. `busy` and `unavailable` give the seconds to wait in `Retry-After`.
"""

MEANINGS: dict[Reason, str] = {
    Reason.MALFORMED: "the request does not match the interface; `detail` says where and what "
    "was expected",
    Reason.OVERSIZE: "a body longer than any valid one",
    Reason.UNSUPPORTED: "a content type or an encoding that the server does not accept",
    Reason.NO_CREDENTIAL: "the request has no credential for this",
    Reason.BAD_CREDENTIAL: "the credential is unknown, revoked, or for something else",
    Reason.INVITE_EXPIRED: "the invite's last day is over",
    Reason.INVITE_USED: "a single-use invite that another worker has used",
    Reason.NOT_FOUND: "there is no such thing, or nothing at this address",
    Reason.NOT_OPEN: "the campaign is a draft, or closed; or it is not this message's turn",
    Reason.NOT_A_DRAFT: "the campaign was opened: its questions and its promise are fixed",
    Reason.QUOTA_REACHED: "the campaign has as many workers as it wants",
    Reason.FOREIGN_POLICY: "the reports were made under another policy than the campaign's",
    Reason.SIMULATED: "the reports' noise came from a seed, and protects nobody; or the campaign "
    "itself is simulated, and takes nothing from people",
    Reason.NOT_ADMITTED: "reports that the policy's mechanism cannot send, or on tasks that were "
    "not assigned to this worker",
    Reason.ALREADY_REPORTED: "a worker's second report on the same task, or its second submission "
    "where the mechanism takes one",
    Reason.CONFLICT: "another submission has this identifier, or another message this number",
    Reason.ERASED: "the worker has withdrawn this submission",
    Reason.BUSY: "too many requests are waiting: try again later, with the same bytes",
    Reason.UNAVAILABLE: "storage is full or does not respond: nothing was stored, try again later",
}
"""The explanation of each reason on the page."""


def api_reference() -> str:
    """The page as Markdown: credentials, every route by its group, every reason."""
    document = build_app(Settings(Path("unused"))).openapi()
    groups = (_group(tag, words, document) for tag, words in TAGS.items())
    reasons = [f"| `{reason}` | {STATUS[reason].value} | {MEANINGS[reason]} |" for reason in Reason]
    table = "\n".join(["| reason | status | says |", "|---|---|---|", *reasons, ""])
    return "\n".join([_HEAD, *groups, _REFUSALS, table, _STATUSES])


def _group(tag: str, words: str, document: dict[str, Any]) -> str:
    lines = [f"## {tag.capitalize()}", "", words, "", "| route | does | needs | answers |"]
    return "\n".join([*lines, "|---|---|---|---|", *_routes(tag, document), ""])


def _routes(tag: str, document: dict[str, Any]) -> Iterator[str]:
    for path, operations in sorted(document["paths"].items()):
        for method, operation in sorted(operations.items()):
            if tag in operation["tags"]:
                needs = " or ".join(", ".join(each) for each in operation["security"])
                answers = ", ".join(
                    sorted(code for code in operation["responses"] if "X" not in code)
                )
                summary = operation["summary"]
                yield f"| `{method.upper()} {path}` | {summary} | {needs or '–'} | {answers} |"


if __name__ == "__main__":
    sys.stdout.write(api_reference())
