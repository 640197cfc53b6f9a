"""Whatever a page may not do is caught: a test that watches nothing would pass for ever."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from tests.browser.accessibility import axe
from tests.browser.campaigns import KINDS, drafted, opened
from tests.browser.context_pool import Lending
from tests.browser.watched_page import OpenPage, Watched

from sottovoce.server.web.worker_page import PAGE_RULES as PAGE
from sottovoce.testing.server_thread import RunningServer

GOOD = (
    '<!doctype html><html lang="en"><head><title>A page</title>'
    '<link rel="icon" href="data:,"></head>'
    "<body><main><h1>Hello</h1>{}</main></body></html>"
)
LOOSE = PAGE.replace("script-src 'self'", "script-src * 'unsafe-inline'").replace(
    "img-src 'self'", "img-src *"
)
"""A policy that lets faults of other kinds happen."""

FAULTY = {
    "/good": (PAGE, ""),
    "/inline": (PAGE, "<p id='p'>Text</p><script>document.title = 'changed'</script>"),
    "/style": (PAGE, "<p style='color: red'>Text</p>"),
    "/html": (LOOSE, "<script>document.body.innerHTML = '<p>Text'</script>"),
    "/image": (LOOSE, "<img alt='A picture' src='http://{elsewhere}/picture.png'>"),
    "/console": (LOOSE, "<script>console.error('it went wrong')</script>"),
    "/throws": (LOOSE, "<script>setTimeout(() => { throw new Error('thrown') })</script>"),
    "/rejects": (LOOSE, "<script>Promise.reject(new Error('rejected'))</script>"),
    "/missing": (LOOSE, "<img alt='A picture' src='/nothing.png'>"),
    "/unlabelled": (PAGE, "<input>"),
    "/small": (PAGE, 2 * "<button aria-label='a'><svg width='4' height='4'></svg></button>"),
}  # fmt: skip


LEAVE_TRACES = """async () => {
  localStorage.kept = sessionStorage.kept = document.cookie = "kept=1";
  await (await caches.open("kept")).put("/kept", new Response("kept"));
  await new Promise((resolve) => (indexedDB.open("kept").onsuccess = resolve));
}"""
TRACES = """async () => [
  ...Object.keys(localStorage), ...Object.keys(sessionStorage), ...(await caches.keys()),
  ...(await indexedDB.databases()), ...document.cookie.match(/kept/g) ?? [],
]"""
"""Scripts that leave traces on a device, and list the traces of any page there."""


class Faulty(BaseHTTPRequestHandler):
    """Serves a page with each fault, and nothing to those who ask for more."""

    def do_GET(self) -> None:
        policy, body = FAULTY.get(self.path, (PAGE, ""))
        self.send_response(200 if self.path in FAULTY else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Security-Policy", policy)
        self.end_headers()
        elsewhere = self.headers["Host"].replace("127.0.0.1", "localhost")
        self.wfile.write(GOOD.format(body.replace("{elsewhere}", elsewhere)).encode())

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


@pytest.fixture(scope="module")
def faulty() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Faulty) as serving:
        thread = threading.Thread(target=partial(serving.serve_forever, 0.01))
        thread.start()
        yield f"http://127.0.0.1:{serving.server_address[1]}"
        serving.shutdown()
        thread.join()


@pytest.fixture
def watched(lending: Lending, faulty: str) -> Iterator[Watched]:
    with lending.lent(faulty) as made:
        yield made


CAUGHT = {
    "/inline": "policy violated: script-src-elem by inline",
    "/style": "policy violated: style-src-attr by inline",
    "/html": "policy violated: require-trusted-types-for by trusted-types-sink",
    "/image": "request: http://localhost:",
    "/console": "console: it went wrong",
    "/throws": "error: Error: thrown",
    "/rejects": "error: Error: rejected",
    "/missing": "status of 404",
}


def test_every_fault_is_caught_and_told(watched: Watched) -> None:
    for path, words in CAUGHT.items():
        before = set(watched.faults())
        watched.page.goto(path)
        assert any(words in fault for fault in set(watched.faults()) - before), path


def test_a_fault_fails_its_test_although_its_page_was_left(watched: Watched) -> None:
    for path in ("/console", "/good"):
        watched.page.goto(path)
    with pytest.raises(AssertionError, match="no page may do:\nconsole: it went wrong"):
        watched.check()


def test_a_fault_in_another_tab_is_caught(watched: Watched) -> None:
    watched.context.new_page().goto("/inline")
    assert watched.faults()


def test_a_fault_that_the_test_expects_is_none(watched: Watched) -> None:
    watched.page.goto("/missing")
    watched.expect("status of 404")
    assert watched.faults() == []


def test_a_good_page_has_no_faults_and_its_requests_are_known(watched: Watched) -> None:
    watched.page.goto("/good")
    axe(watched.page)
    assert (watched.faults(), watched.addresses()) == ([], [f"{watched.origin}/good"])


def test_axe_tells_what_it_finds(watched: Watched) -> None:
    for path, words in {"/unlabelled": "label (critical)", "/small": "target-size"}.items():
        watched.page.goto(path)
        with pytest.raises(AssertionError, match="axe finds") as caught:
            axe(watched.page)
        assert words in str(caught.value)


def test_a_page_is_seen_as_asked(open_page: OpenPage) -> None:
    page = open_page("phone", "dark", "ja-JP", reduced_motion=True).page
    page.goto("/")
    seen = page.evaluate(
        "(media) => [innerWidth, navigator.language, ...media.map((m) => matchMedia(m).matches)]",
        ["(prefers-color-scheme: dark)", "(prefers-reduced-motion: reduce)", "(pointer: coarse)"],
    )
    assert seen == [390, "ja-JP", True, True, True]


def test_a_reused_context_keeps_nothing(lending: Lending, faulty: str) -> None:
    with lending.lent(faulty) as first:
        first.context.route("**/good", lambda route: route.abort())
        first.context.grant_permissions(["clipboard-read"])
        for page in (first.page, first.context.new_page()):
            page.goto("/console")
            page.evaluate(LEAVE_TRACES)
            assert len(page.evaluate(TRACES)) == 5
        first.context.set_offline(True)
    with lending.lent(faulty) as second:
        assert second.context is first.context
        second.page.goto("/good")
        assert second.page.evaluate(TRACES) == []
        assert (second.faults(), second.addresses()) == ([], [f"{faulty}/good"])
        assert second.page not in (first.page, page)


def test_every_kind_of_campaign_can_be_opened(server: RunningServer) -> None:
    for kind in KINDS:
        campaign, link = opened(server, kind)
        assert link.startswith(f"{server.url}/c/{campaign}#svi_")
    assert server.requester.campaign(drafted(server, "labels"))["state"] == "draft"
