"""The page of the HTTP API, from the application itself.

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
# HTTP API

<!-- Written by tests/docs/api_reference.py: edit the routes in sottovoce/server/web. -->

This page lists credentials, routes and refusals. A running server documents every field at `/api`,
and serves OpenAPI at `/api/v1/openapi.json`. The [command line](cli.md) and the
[Python clients](../how-to/embedding.md) cover the whole API.

## Credentials

Send a credential in the header `Authorization: Bearer …`, never in an address. Each is a prefix and
256 random bits. The server stores only its hash.

| needs | prefix | meaning |
|---|---|---|
| token | `svk_` | a requester's token; `sottovoce campaign login` makes the first one |
| setup | `sva_` | the one-time secret in the link that `sottovoce serve` prints |
| invite | `svi_` | the part after `#` in a link to a campaign |
| receipt | `svr_` | a worker's own credential, made and stored by the worker's software |
| keyholder | `svh_` | the part after `#` in a keyholder's link to a sealed campaign |
| member | `svl_` | the part after `#` in a link to a live session, for a worker or the dealer |
| own_receipt | `svr_` | the receipt next to an invite, in the header `Sottovoce-Receipt` |

## Requests

Bodies are JSON in UTF-8 with `Content-Type: application/json`, without compression, unless a route
says otherwise. The server refuses unknown fields, duplicate fields, numbers that are not finite and
invalid Unicode. Most bodies may have up to 64 KiB, bodies with tasks up to 64 MiB, and a submission
up to the size of the longest possible submission of its campaign. Days are written as `2031-12-24`
and are days in UTC.

In a sealed campaign a submission is one contribution. A keyholder's message is the exact bytes that
were signed.

In a live session, a worker's turn and reply are signed binary frames, sent as
`application/octet-stream`. Sending the same reply again returns 200. `GET …/turn?wait=25` waits up
to 25 seconds for a turn and returns 204 if there is none.

`PUT …/reports/{report_id}` is idempotent: the same bytes are stored once, and a repeated request
returns 200 instead of 201. Never randomise again for a second attempt.

Lists are paginated by `offset` and `limit`; `total` is the number of entries.
"""

_REFUSALS = """\
## Refusals

Every refusal has one shape, `application/problem+json` (RFC 9457), and changes nothing:

```json
{"type": "urn:sottovoce:problem:not_open", "title": "Conflict", "status": 409,
 "reason": "not_open", "detail": "the campaign takes no reports: it is a draft or closed"}
```

`reason` is for programs and does not change; `detail` is for people and may change. `field` names
the wrong part of a body or an address, `row` and `column` the place in a table of tasks. A refusal
never quotes anything that a worker sent.
"""

_STATUSES = """\
Three more statuses use these reasons: 400 `malformed` if the request is not valid HTTP, 405
`unsupported` if the address does not support the method (the header `Allow` lists the supported
ones), and 500 `unavailable` for an error in the server itself. With too many connections, `busy`
has status 503. `busy` and `unavailable` give the seconds to wait in `Retry-After`.
"""

MEANINGS: dict[Reason, str] = {
    Reason.MALFORMED: "not as the API describes; `detail` says where and what was expected",
    Reason.OVERSIZE: "a body longer than any valid one",
    Reason.UNSUPPORTED: "a content type or an encoding that the server does not accept",
    Reason.NO_CREDENTIAL: "no credential that allows this",
    Reason.BAD_CREDENTIAL: "the credential is unknown, revoked, or for something else",
    Reason.INVITE_EXPIRED: "the invite has expired",
    Reason.INVITE_USED: "another worker has used this invite, which is for one worker",
    Reason.NOT_FOUND: "nothing has this identifier, or nothing is at this address",
    Reason.NOT_OPEN: "the campaign is a draft or closed; or it is not this message's turn",
    Reason.NOT_A_DRAFT: "the campaign was opened, so its terms no longer change",
    Reason.QUOTA_REACHED: "the campaign has reached its number of workers",
    Reason.FOREIGN_POLICY: "the reports were made under a policy other than the campaign's",
    Reason.SIMULATED: "the reports' noise came from a seed, so it protects no one; or the campaign "
    "itself is simulated and accepts nothing from people",
    Reason.NOT_ADMITTED: "reports that the policy's mechanism does not send, or on tasks that were "
    "not given to this worker",
    Reason.ALREADY_REPORTED: "a second report of a worker on the same task; or a second submission "
    "where the mechanism allows one per worker",
    Reason.CONFLICT: "another submission has this identifier, or another message this number",
    Reason.ERASED: "the worker has taken this submission back",
    Reason.BUSY: "too many requests are waiting: try again later, with the same bytes",
    Reason.UNAVAILABLE: "storage is full or does not respond: nothing was stored, try again later",
}
"""The meaning of each reason, for the readers of the page."""


def api_reference() -> str:
    """The page as Markdown: credentials, every route by group, every reason."""
    document = build_app(Settings(Path("unused"))).openapi()
    groups = (_group(tag, words, document) for tag, words in TAGS.items())
    reasons = [f"| `{reason}` | {STATUS[reason].value} | {MEANINGS[reason]} |" for reason in Reason]
    table = "\n".join(["| reason | status | meaning |", "|---|---|---|", *reasons, ""])
    return "\n".join([_HEAD, *groups, _REFUSALS, table, _STATUSES])


def _group(tag: str, words: str, document: dict[str, Any]) -> str:
    lines = [f"## {tag.capitalize()}", "", words, "", "| route | action | needs | status |"]
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
