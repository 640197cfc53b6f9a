"""`sottovoce verify-page`: one byte, one header, one file: whatever a server changes is found."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from sottovoce.cli.app import app
from sottovoce.errors import Unreachable, UsageError
from sottovoce.server.web.page_verification import PageState, check_page
from sottovoce.server.web.worker_page import PAGE, STATIC, worker_files
from sottovoce.testing.server_thread import running_server
from sottovoce.version import __version__

SECRET = "svi_" + "S" * 43
PLACES = {PAGE: "/c/leaf0", **{name: f"/static/{name}" for name in worker_files()}}
OPENAPI = "/api/v1/openapi.json"


@dataclass(frozen=True)
class Sent:
    """One answer of a server."""

    content: bytes
    headers: tuple[tuple[str, str], ...]
    status: int = 200


class Replay:
    """Replays the replies of a real server; a test may change any of them."""

    def __init__(self, recorded: dict[str, Sent]) -> None:
        self.recorded, self.replies = recorded, dict(recorded)
        self.asked: list[tuple[str, dict[str, str]]] = []
        replay = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # headers and content are two writes

            def do_GET(self) -> None:
                replay.asked.append((self.path, dict(self.headers)))
                sent = replay.replies.get(self.path, Sent(b"", (), 404))
                self.send_response(sent.status)
                for name, value in sent.headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(sent.content)))
                self.end_headers()
                self.wfile.write(sent.content)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def link(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/c/leaf0#{SECRET}"

    def change(self, place: str, **changes: Any) -> None:
        self.replies[place] = replace(self.replies[place], **changes)

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture(scope="module")
def replaying() -> Iterator[Replay]:
    with running_server() as server:
        _, link = server.campaign()
        page = link.partition("#")[0]
        assert check_page(link).is_same
        recorded = {
            place: _recorded(page if name == PAGE else server.url + place)
            for name, place in {**PLACES, OPENAPI: OPENAPI}.items()
        }
    replay = Replay(recorded)
    yield replay
    replay.close()


@pytest.fixture
def replay(replaying: Replay) -> Replay:
    replaying.replies, replaying.asked = dict(replaying.recorded), []
    return replaying


def _recorded(address: str) -> Sent:
    reply = httpx.get(address, headers={"Accept-Encoding": "identity"})
    kept = [
        (k, v) for k, v in reply.headers.items() if k not in ("content-length", "date", "server")
    ]
    return Sent(reply.content, tuple(kept), reply.status_code)


def wrong(replay: Replay) -> dict[str, PageState]:
    checked = check_page(replay.link)
    assert not checked.is_same
    found = (*checked.files, *checked.headers)
    return {each.name: each.state for each in found if each.state is not PageState.SAME}


def test_an_honest_server_is_the_same(replay: Replay) -> None:
    checked = check_page(replay.link)
    assert checked.is_same
    assert [each.name for each in checked.files] == list(PLACES)


@pytest.mark.parametrize("name", PLACES)
def test_one_byte_is_found_in_any_file(name: str, replay: Replay) -> None:
    content = bytearray(replay.replies[PLACES[name]].content)
    content[len(content) // 2] ^= 1
    replay.change(PLACES[name], content=bytes(content))
    assert wrong(replay) == {name: PageState.CHANGED}


@pytest.mark.parametrize("name", [PAGE, "randomize.js", "worker/page.js", "worker/japanese.js"])
def test_a_missing_file_is_found(name: str, replay: Replay) -> None:
    del replay.replies[PLACES[name]]
    assert wrong(replay) == {name: PageState.MISSING}


def test_a_script_more_is_found(replay: Replay) -> None:
    page = replay.replies[PLACES[PAGE]].content
    more = page.replace(
        b"</head>", b'<script type="module" src="../static/more.js"></script></head>'
    )
    replay.change(PLACES[PAGE], content=more)
    assert wrong(replay) == {PAGE: PageState.CHANGED}


@pytest.mark.parametrize("name", [PAGE, "randomize.js"])
def test_a_byte_more_at_the_end_is_found(name: str, replay: Replay) -> None:
    replay.change(PLACES[name], content=replay.replies[PLACES[name]].content + b"\n")
    assert wrong(replay) == {name: PageState.CHANGED}


@pytest.mark.parametrize("name", [PAGE, "randomize.js"])
def test_a_redirect_is_found_and_not_followed(name: str, replay: Replay) -> None:
    honest = replay.replies[PLACES[name]]
    replay.replies["/elsewhere"] = honest
    replay.change(PLACES[name], status=302, headers=(("Location", "/elsewhere"),))
    assert wrong(replay) == {name: PageState.MISSING}
    assert "/elsewhere" not in [path for path, _ in replay.asked]


def test_a_file_without_an_end_is_found(replay: Replay) -> None:
    replay.change(PLACES["randomize.js"], content=b" " * (5 << 20))
    assert wrong(replay) == {"randomize.js": PageState.CHANGED}


@pytest.mark.parametrize(
    "header",
    [
        "content-security-policy",
        "content-type",
        "cross-origin-opener-policy",
        "referrer-policy",
        "x-content-type-options",
    ],
)
def test_a_header_that_is_not_there_is_found(header: str, replay: Replay) -> None:
    _edit(replay, PAGE, lambda headers: [(k, v) for k, v in headers if k != header])
    [(name, state)] = wrong(replay).items()
    assert (name.lower(), state) == (f"{PAGE}: {header}", PageState.MISSING)


@pytest.mark.parametrize("name", [PAGE, "service-worker.js", "icon.svg"])
def test_a_weaker_rule_is_found(name: str, replay: Replay) -> None:
    strict, lax = "default-src 'none'", "default-src *"
    _edit(replay, name, lambda headers: [(k, v.replace(strict, lax)) for k, v in headers])
    assert wrong(replay) == {f"{name}: Content-Security-Policy": PageState.CHANGED}


def test_a_second_rule_next_to_the_first_is_found(replay: Replay) -> None:
    _edit(replay, PAGE, lambda headers: [*headers, ("content-security-policy", "default-src *")])
    assert wrong(replay) == {f"{PAGE}: Content-Security-Policy": PageState.CHANGED}


@pytest.mark.parametrize("name", [PAGE, "worker/page.js"])
def test_letters_in_another_script_are_found(name: str, replay: Replay) -> None:
    _edit(replay, name, lambda headers: [(k, v.replace("utf-8", "utf-7")) for k, v in headers])
    assert wrong(replay) == {f"{name}: Content-Type": PageState.CHANGED}


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("Set-Cookie", "who=you"), ("Refresh", "0; url=/other"), ("Link", "</x.js>; rel=preload"),
        ("Service-Worker-Allowed", "/"),
    ],
)  # fmt: skip
def test_a_header_that_does_something_is_found(header: str, value: str, replay: Replay) -> None:
    _edit(replay, PAGE, lambda headers: [*headers, (header, value)])
    assert wrong(replay) == {f"{PAGE}: {header}": PageState.CHANGED}


def test_what_proxies_add_is_no_difference(replay: Replay) -> None:
    added = [("Via", "1.1 proxy"), ("Strict-Transport-Security", "max-age=1"), ("Server", "x")]
    _edit(replay, PAGE, lambda headers: [*headers, *added])
    assert check_page(replay.link).is_same


def _edit(
    replay: Replay, name: str, change: Callable[[list[tuple[str, str]]], list[tuple[str, str]]]
) -> None:
    place = PLACES[name]
    replay.change(place, headers=tuple(change(list(replay.replies[place].headers))))


def test_the_secret_goes_nowhere(replay: Replay) -> None:
    shown = CliRunner().invoke(app, ["verify-page", replay.link])
    assert SECRET not in shown.output
    assert SECRET not in str(replay.asked)


def test_a_check_looks_like_a_visit(replay: Replay) -> None:
    check_page(replay.link)
    assert all("sottovoce" not in str(headers).lower() for _, headers in replay.asked)


@pytest.mark.parametrize(
    "link", ["", "https://host.example", "https://host.example/c/../x", "x/c/leaf0", f"#{SECRET}"]
)
def test_what_is_no_link_is_refused_and_not_quoted(link: str) -> None:
    with pytest.raises(UsageError) as refused:
        check_page(link)
    assert SECRET not in str(refused.value)


def test_plain_http_to_another_machine_must_be_allowed() -> None:
    with pytest.raises(UsageError, match="allow_http=True"):
        check_page("http://host.example/c/leaf0")


def test_nobody_there_is_said() -> None:
    with pytest.raises(Unreachable, match=r"\(no connection\)"):
        check_page("http://127.0.0.1:9/c/leaf0")


# The command ---------------------------------------------------------------------------------


def test_the_command_says_what_is_proved_and_what_is_not(replay: Replay) -> None:
    done = CliRunner().invoke(app, ["verify-page", replay.link])
    assert done.exit_code == 0
    assert f"sottovoce {__version__}" in done.output
    assert "nd other people something else" in done.output


def test_the_command_fails_where_anything_differs(replay: Replay) -> None:
    replay.change(PLACES["worker/page.js"], content=b"")
    done = CliRunner().invoke(app, ["verify-page", replay.link])
    assert done.exit_code == 1
    assert re.search(r"worker/page\.js .* CHANGED", done.output)
    assert "states this release" in done.output


def test_a_campaign_that_is_not_there_is_no_accusation(replay: Replay) -> None:
    del replay.replies[PLACES[PAGE]]
    done = CliRunner().invoke(app, ["verify-page", replay.link])
    assert done.exit_code == 1
    assert "the campaign does not exist or is a draft. Check the link." in done.output


def test_something_that_is_no_server_of_ours_is_said(replay: Replay) -> None:
    replay.change(PLACES["worker/page.js"], content=b"")
    del replay.replies[OPENAPI]
    done = CliRunner().invoke(app, ["verify-page", replay.link])
    assert "does not state its version" in done.output


def test_another_version_is_named(replay: Replay) -> None:
    replay.change(PLACES["worker/page.js"], content=b"")
    described = replay.replies[OPENAPI].content.replace(__version__.encode(), b"9.8.7", 1)
    replay.change(OPENAPI, content=described)
    done = CliRunner().invoke(app, ["verify-page", replay.link])
    assert "The server states sottovoce 9.8.7" in done.output


def test_the_command_prints_json(replay: Replay) -> None:
    done = CliRunner().invoke(app, ["verify-page", replay.link, "--json"])
    document = json.loads(done.output)
    assert document["same"] is True
    assert {each["state"] for each in document["files"]} == {"same"}
    assert all(len(each["expected"]) == 64 for each in document["files"])


def test_the_link_may_come_from_standard_input(replay: Replay) -> None:
    done = CliRunner().invoke(app, ["verify-page", "-"], input=replay.link + "\n")
    assert done.exit_code == 0


CLIENT_ONLY = """
import sys
for name in ("fastapi", "starlette", "jinja2", "sqlalchemy", "uvicorn"):
    sys.modules[name] = None
import sottovoce.server.web.page_verification
"""


def test_a_check_needs_no_server_software() -> None:
    subprocess.run([sys.executable, "-c", CLIENT_ONLY], check=True, timeout=60)


# What the list of files is worth -------------------------------------------------------------

_NAMED = re.compile(r'(?:src|href)="\.\./static/([^"]+)"')
_IMPORTED = re.compile(r'(?:from|import)\s*\(?\s*"(\.{1,2}/[^"]+)"|new URL\("(\.{1,2}/[^"]+)"')


def test_everything_the_page_can_load_is_compared() -> None:
    """From the page on, every address that is written in it or in a module it loads."""
    waiting = set(_NAMED.findall((STATIC / PAGE).read_text("utf-8")))
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        seen.add(name)
        text = (STATIC / name).read_text("utf-8") if name.endswith(".js") else ""
        for one, other in _IMPORTED.findall(text):
            found = (STATIC / name).parent.joinpath(one or other).resolve()
            if found.is_file():
                waiting |= {found.relative_to(STATIC).as_posix()} - seen
    assert seen <= set(worker_files())
    # And nothing is listed that the page does not need, so that the list stays honest.
    assert set(worker_files()) <= seen
