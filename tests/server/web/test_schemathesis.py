"""Requests made from the description of the interface, right and wrong ones: it holds what it says.

Nothing breaks the server, every answer is one that is documented, and every refusal has one shape.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.checks import (
    allow_header_conformance,
    content_type_conformance,
    not_a_server_error,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from tests.live.server.crowds import ASKED, Direct, dealt, gathered, offer, workers_of
from tests.live.server.crowds import go_on as live_go_on
from tests.server.sealed.committees import (
    cards,
    go_on,
    keys_of,
    opened,
    sealed_policy,
    seats_of,
    until,
    upload,
)
from tests.server.web.hostile_server import Arena, bearer, new
from tests.server.web.requests import DRAFT

from sottovoce.errors import Reason
from sottovoce.live.server.exchange import take_deal
from sottovoce.live.server.roster import create_session, seated
from sottovoce.model.campaign import MOST_TASKS, MOST_WORKERS
from sottovoce.server.campaigns.exports import EXPORTS
from sottovoce.server.campaigns.lifecycle import close_campaign
from sottovoce.server.campaigns.results import publish
from sottovoce.server.credentials import make_setup, make_token, token_id
from sottovoce.server.inference_process.scheduler import infer_now
from sottovoce.server.sealed.keyholders import keyholder_links
from sottovoce.server.sealed.progress import sealed_progress
from sottovoce.server.web.app import build_app
from sottovoce.server.web.settings import Settings

W = TypeVar("W", bound="World")

DOCUMENT = build_app(Settings(Path("unused"))).openapi()
OPERATIONS = sorted(
    (method.upper(), path)
    for path, operations in DOCUMENT["paths"].items()
    for method in operations
)
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    allow_header_conformance,
]
PROBLEM = {"type", "title", "status", "reason", "detail", "field", "row", "column"}
SUCCESSES = {200, 201, 204}
MODES = st.sampled_from([GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
MOSTLY = st.sampled_from([True, True, False])
FOR_DRAFTS = [
    ("PUT", "/api/v1/campaigns/{campaign_id}"),
    ("PUT", "/api/v1/campaigns/{campaign_id}/tasks"),
]
SENDING = ("PUT", "/api/v1/campaigns/{campaign_id}/reports/{report_id}")
FORECASTS = ("POST", "/api/v1/forecasts")
OPEN_TO_ALL = [("GET", "/healthz"), ("GET", "/readyz")]
SEALED = frozenset({"sealed", "rounds", "keyholders", "publish", "truths"})
"""Path segments after a campaign's address that need it sealed, or its truths published."""

SHORT = settings(
    max_examples=3, derandomize=True, deadline=None, database=None,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip
LONG = settings(SHORT, max_examples=150, derandomize=False)


class World:
    """Campaigns that the requests of one test may change and delete, and who may do what."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self.ids = [arena.draft(), arena.opened()[0]]
        self.invite = arena.invite(self.ids[1])
        self.receipt, self.report = new("svr_"), secrets.token_hex(16)
        self.keyholder = new("svh_")
        body = arena.submission(self.ids[1], self.receipt)
        headers = bearer(self.invite, self.receipt)
        sent = arena.put(body, campaign=self.ids[1], id=self.report, headers=headers)
        assert sent.status_code == 201, sent.text

    def is_whole(self) -> bool:
        """Whether both campaigns are still what they were at first."""
        shown = [self._arena.ask("GET", f"/campaigns/{id}").json() for id in self.ids]
        return [each.get("state") for each in shown] == ["draft", "open"]

    def headers(self, schemes: list[str], receipt: str) -> dict[str, str]:
        """The headers that an operation requires."""
        service = self._arena.service
        shown: dict[str, str] = {}
        for scheme in schemes:
            match scheme:
                case "token":
                    shown |= bearer(self._arena.token)
                case "setup":
                    shown |= bearer(make_setup(service))
                case "invite":
                    shown |= bearer(self.invite)
                case "receipt":
                    shown |= bearer(self.receipt)
                case "keyholder":
                    shown |= bearer(self.keyholder)
                case _:
                    shown["Sottovoce-Receipt"] = receipt
        return shown

    def places(self, names: list[str], campaign: str) -> dict[str, str]:
        """Path parameters of an address that exists."""
        arena, found = self._arena, {"campaign_id": campaign, "report_id": self.report}
        if "token_id" in names:
            found["token_id"] = token_id(make_token(arena.service, "expendable"))
        if "webhook_id" in names:
            hook = {"address": "https://hooks.example/x"}
            made = arena.ask("POST", f"/campaigns/{campaign}/webhooks", json=hook)
            found["webhook_id"] = made.json().get("id", "0" * 16)
        if "number" in names:
            found["number"] = "0"
        if "name" in names:
            found["name"] = secrets.choice(EXPORTS)
        return {name: found[name] for name in names}

    def body(self, path: str, campaign: str, receipt: str) -> Any:
        """A body that an operation takes."""
        match path.rpartition("/")[2]:
            case "campaigns" | "{campaign_id}":
                return dict(DRAFT)
            case "invites":
                return {"kind": "open"}
            case "webhooks":
                return {"address": "https://hooks.example/x"}
            case "{report_id}":
                return self._arena.submission(campaign, receipt)
            case "forecasts":
                asked = {name: DRAFT[name] for name in ("domain", "privacy")}
                return {**asked, "tasks": 2, "workers": 3}
            case "tasks":
                return [{"task": "a"}, {"task": "b", "text": "And b?"}]
            case _:
                return {"name": "generated"}


class SealedWorld(World):
    """A sealed campaign that was opened and published; its last keyholder has not opened."""

    def __init__(self, arena: Arena) -> None:
        self._arena, service = arena, arena.service
        id, self.invite = opened(service, sealed_policy(service))
        self.ids = [arena.draft(), id]
        sent = upload(service, id, self.invite, (1, 1, 1), workers=3)[0]
        self.receipt, self.report = sent.receipt, sent.report_id
        close_campaign(service, id)
        holders = seats_of(service, id)
        until(holders, lambda: sealed_progress(service, id).phase == "opening")
        go_on(holders[:2])
        infer_now(service, id)
        publish(service, id)
        self.message = holders[2].message("open", None)

    def headers(self, schemes: list[str], receipt: str) -> dict[str, str]:
        """The same, with the last keyholder's credential: links may have been replaced."""
        links = keyholder_links(self._arena.service, self.ids[1], public_url="http://x")
        self.keyholder = links[2].link.partition("#")[2]
        return super().headers(schemes, receipt)

    def is_whole(self) -> bool:
        """Nothing that is asked of it changes it."""
        return True

    def body(self, path: str, campaign: str, receipt: str) -> Any:
        """The last keyholder's opening, to the byte as it was signed."""
        return self.message


class LiveWorld(World):
    """A live session that is done, and one that runs under a dealt key; others are made to go."""

    def __init__(self, arena: Arena) -> None:
        self._arena, self.receipt, service = arena, new("svr_"), arena.service
        self.done, workers = gathered(service)
        live_go_on(workers)
        asked = offer(suite="damgard_jurik", bits=1024, dealer=cards()[0], patience=3600.0)
        made = create_session(service, asked, public_url="http://x")
        self.running, self.workers = made.id, workers_of(service, made)
        for worker in self.workers:
            worker.join()
        self.dealer = str(made.dealer_link).partition("#")[2]
        self.deal = dealt(Direct(service, made.id, self.dealer), keys_of(1).signing)
        take_deal(service, made.id, seated(service, made.id, self.dealer), **self.deal)
        for worker in self.workers:
            worker.begin()
        self.workers[1].step()
        self.ids, self.path = [self.running, self.done], ""

    def for_operation(self, operation: tuple[str, str]) -> LiveWorld:
        """The same, as this operation needs it."""
        self.path = operation[1] if operation[0] != "DELETE" else "stop"
        below = self.path.rpartition("/")[2]
        finished = below in ("results", "transcript")
        self.ids = [self.running, self.done if finished else self.running]
        return self

    def is_whole(self) -> bool:
        """True: requests do not change the two sessions."""
        return True

    def headers(self, schemes: list[str], receipt: str) -> dict[str, str]:
        """A requester's, the dealer's, or that of a worker who is asked or has answered."""
        if schemes != ["member"]:
            return super().headers(schemes, receipt)
        if self.path.endswith("/deal"):
            return bearer(self.dealer)
        line = self.workers[1 if self.path.endswith("/replies") else 0].line
        return bearer(line.credential)

    def places(self, names: list[str], campaign: str) -> dict[str, str]:
        """A session; one that may go where it is to go."""
        goes = self.path.rpartition("/")[2] == "stop"
        return {"session_id": self._arena.live()[0] if goes else campaign} if names else {}

    def body(self, path: str, campaign: str, receipt: str) -> Any:
        """A body that an operation takes."""
        match path.rpartition("/")[2]:
            case "join":
                return self.workers[0].keys
            case "deal":
                return self.deal
            case "replies":
                return self.workers[1].replies[0]
            case _:
                return json.loads(json.dumps(ASKED))


WORLDS: dict[tuple[str, str], Any] = {}
"""By the arena's address: a sealed campaign or a live session takes a while, and one serves all."""


def _world(operation: tuple[str, str], arena: Arena) -> World:
    if operation[1].startswith("/api/v1/live"):
        return _once(LiveWorld, arena).for_operation(operation)
    if operation[1].removeprefix("/api/v1/campaigns/{campaign_id}/").partition("/")[0] in SEALED:
        return _once(SealedWorld, arena)
    return World(arena)


def _once(kind: Callable[[Arena], W], arena: Arena) -> W:
    key = (arena.url, repr(kind))
    if key not in WORLDS:
        WORLDS[key] = kind(arena)
    found: W = WORLDS[key]
    return found


@pytest.fixture(scope="module")
def session() -> Iterator[requests.Session]:
    with requests.Session() as made:
        made.headers["Connection"] = "close"
        yield made


def _check(case: Case[Any], arena: Arena, session: requests.Session) -> int:
    response = case.call(base_url=arena.url, session=session)
    case.validate_response(response, checks=CHECKS)
    if response.status_code >= 400:
        content = response.json()
        assert response.headers["content-type"] == ["application/problem+json"]
        assert content.keys() <= PROBLEM
        assert content["status"] == response.status_code
        assert content["reason"] in list(Reason)
    return int(response.status_code)


def _graft(case: Case[Any], valid: Any, data: st.DataObject) -> None:
    """Put little of what was generated into what is valid: what is wrong all over goes nowhere."""
    if isinstance(valid, dict) and isinstance(case.body, dict):
        names = data.draw(st.sets(st.sampled_from(sorted(case.body) or [""]), max_size=2))
        case.body = {**valid, **{name: case.body[name] for name in names if name in case.body}}
    elif isinstance(valid, list) and isinstance(case.body, list):
        case.body = [*valid, *case.body[: data.draw(st.integers(0, 1))]]
    elif isinstance(case.body, str):
        rows = {"text/csv": "task,text\na,b\n", "text/tab-separated-values": "task\na\n"}
        start = rows.get(str(case.media_type), '{"task": "a"}\n')
        case.body = start + case.body * data.draw(st.integers(0, 1))


def _smaller(asked: dict[str, Any]) -> dict[str, Any]:
    """The same forecast of a small campaign: sizes that are right stay right, wrong ones wrong."""
    small = dict(asked)
    for name, most in (("tasks", MOST_TASKS), ("workers", MOST_WORKERS)):
        if type(asked.get(name)) is int and 1 <= asked[name] <= most:
            small[name] = 1 + asked[name] % 9
    return small


def _send(
    operation: tuple[str, str], arena: Arena, session: requests.Session, how: settings
) -> None:
    """Authorised requests: first one that succeeds, then generated ones."""
    method, path = operation
    described, words = SCHEMA[path][method], DOCUMENT["paths"][path][method.lower()]
    schemes = list(words["security"][0]) if words["security"] else []
    worlds = [_world(operation, arena)]

    @how
    @given(data=st.data())
    def send(data: st.DataObject) -> None:
        if not worlds[-1].is_whole():
            worlds.append(World(arena))
        world = worlds[-1]
        case: Case[Any] = data.draw(described.as_strategy(generation_mode=data.draw(MODES)))
        campaign, receipt = world.ids[data.draw(st.integers(0, 1))], world.receipt
        if data.draw(MOSTLY):
            names = list(case.path_parameters or {})
            case.path_parameters.update(world.places(names, campaign))
        if operation == SENDING:
            receipt, case.path_parameters["report_id"] = new("svr_"), secrets.token_hex(16)
        case.headers.update(world.headers(schemes, receipt))
        if "requestBody" in words and data.draw(MOSTLY):
            _graft(case, world.body(path, campaign, receipt), data)
        if operation == FORECASTS and isinstance(case.body, dict):
            case.body = _smaller(case.body)
        _check(case, arena, session)

    assert _check(_valid(operation, worlds[0], schemes), arena, session) in SUCCESSES
    send()
    with arena.unharmed():
        pass


def _valid(operation: tuple[str, str], world: World, schemes: list[str]) -> Case[Any]:
    """A request that succeeds."""
    method, path = operation
    campaign = world.ids[0 if operation in FOR_DRAFTS else 1]
    receipt = new("svr_") if operation == SENDING else world.receipt
    places = world.places(re.findall(r"{(\w+)}", path), campaign)
    if operation == SENDING:
        places["report_id"] = secrets.token_hex(16)
    if "name" in places:
        places["name"] = "reports.csv"  # truths may take a moment
    headers, described = world.headers(schemes, receipt), SCHEMA[path][method]
    words = DOCUMENT["paths"][path][method.lower()]
    if "requestBody" not in words:
        return described.Case(path_parameters=places, headers=headers)
    kinds = list(words["requestBody"]["content"])
    kind = "application/json" if "application/json" in kinds else kinds[0]
    body = world.body(path, campaign, receipt)
    return described.Case(path_parameters=places, headers=headers, body=body, media_type=kind)


def _name(operation: tuple[str, str]) -> str:
    return " ".join(operation)


@pytest.mark.parametrize("operation", OPERATIONS, ids=_name)
def test_every_operation_answers_as_described(
    arena: Arena, session: requests.Session, operation: tuple[str, str]
) -> None:
    _send(operation, arena, session, SHORT)


@pytest.mark.parametrize("operation", OPERATIONS, ids=_name)
def test_every_operation_refuses_strangers_as_described(
    arena: Arena, session: requests.Session, operation: tuple[str, str]
) -> None:
    described = SCHEMA[operation[1]][operation[0]]

    @settings(SHORT, max_examples=2)
    @given(data=st.data())
    def send(data: st.DataObject) -> None:
        case = data.draw(described.as_strategy(generation_mode=data.draw(MODES)))
        status = _check(case, arena, session)
        assert status not in SUCCESSES or operation in OPEN_TO_ALL

    with arena.unharmed():
        send()


@pytest.mark.slow
@pytest.mark.parametrize("operation", OPERATIONS, ids=_name)
def test_every_operation_answers_as_described_however_long_one_asks(
    arena: Arena, session: requests.Session, operation: tuple[str, str]
) -> None:
    _send(operation, arena, session, LONG)
