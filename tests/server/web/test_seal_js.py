"""The sealing of the pages and of the library, held to one file; what one seals the other opens."""

from __future__ import annotations

import copy
import gzip
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.browser.sealed_campaigns import sealed_campaign
from tests.securesum.sealed_policies import KEYS, POLICIES, sealed_policy
from tests.securesum.sealing_vectors import PATH
from tests.server.web.node import RANDOMIZER, SEALER, check_stands_alone, node, sealer
from tests.server.web.unsealed import ballot_of, shares_of

from sottovoce.mechanisms.policies import Target
from sottovoce.mechanisms.sealed_sum import Layout
from sottovoce.model import Domain, Policy
from sottovoce.securesum.committee.terms import committee_of
from sottovoce.securesum.envelope import b64
from sottovoce.testing.server_thread import running_server

VECTORS: dict[str, Any] = json.loads(PATH.read_text(encoding="ascii"))
CASES: list[dict[str, Any]] = VECTORS["policies"]

CANARY = "zeisig"
BIRDS = sealed_policy(Domain.categorical([CANARY, "pirol", "kleiber"]), Layout.VOTES, 3, answers=3)
MANY = 9_000
"""Values of one contribution that need more random bytes than a browser gives at once."""

CALL = f"""
console.log = () => {{}};
const kept = [];
await answer(process.argv[2], () => "{CANARY}", (each) => kept.push(each));
process.stdout.write(JSON.stringify(kept));
"""

SMALL_ORDER = b64((1).to_bytes(32, "little"))
"""A point with which everybody agrees on the same secret (RFC 7748 §6.1)."""


def test_the_module_stands_alone_and_touches_nothing_else() -> None:
    check_stands_alone(SEALER)


def test_the_module_is_small() -> None:
    assert len(gzip.compress(SEALER.read_bytes())) < 10_000


def test_policies_are_read_alike() -> None:
    found = sealer(
        *(
            {"verify": case["policy"], "counts": [each["answers"] for each in case["guarantees"]]}
            for case in CASES
        )
    )
    for case, each in zip(CASES, found, strict=True):
        sealed = committee_of(Policy.of_json(case["policy"]))
        assert each["hash"] == case["hash"], case["title"]
        assert each["document"] == case["policy"]
        assert [one["fingerprint"] for one in each["keyholders"]] == case["fingerprints"]
        names = [one["name"] for one in each["keyholders"]]
        assert names == [one.name for one in sealed.keyholders]
        committee = (each["colluders"], each["seats"], each["minimum"])
        assert committee == (sealed.degree, sealed.seats, sealed.minimum)
        assert (each["layout"], each["hidesParticipation"]) == (sealed.layout, sealed.hidden)
        for stated, kept in zip(case["guarantees"], each["guarantees"], strict=True):
            # Quotients of integers are rounded differently in their last digit.
            assert kept["perAnswer"] == pytest.approx(stated["perAnswer"], rel=1e-12)
            assert kept["perWorker"] == pytest.approx(stated["perWorker"], rel=1e-12)


def test_the_same_bytes_give_the_same_contributions() -> None:
    draws = [(case, draw) for case in CASES for draw in case["draws"]]
    made = sealer(*(_job(case["policy"], draw) for case, draw in draws))
    for (case, draw), found in zip(draws, made, strict=True):
        assert found.get("submission") == draw["contribution"], (case["title"], found)
        assert found["unread"] == 0, case["title"]


def test_bad_policies_are_refused_in_one_sentence() -> None:
    bad = VECTORS["refused"]
    found = sealer(*({"verify": each["policy"]} for each in bad))
    taken = [each["title"] for each, reply in zip(bad, found, strict=True) if "hash" in reply]
    assert taken == []
    for reply in found:
        assert re.fullmatch(r"[A-Z][^\n]*\.", reply["message"])


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"secure": False}, "insecure"),
        ({"lacks": "X25519"}, "browser"),
        ({"lacks": "Ed25519"}, "browser"),
    ],
    ids=["no https", "no X25519", "no Ed25519"],
)
def test_a_browser_that_cannot_seal_is_told_so(change: dict[str, Any], code: str) -> None:
    [reply] = sealer({"verify": BIRDS.as_json(), **change})
    assert reply["refused"] == code


def test_a_key_that_anybody_could_open_is_refused() -> None:
    document = copy.deepcopy(BIRDS.as_json())
    document["mechanism"]["keyholders"][1]["sealing"] = SMALL_ORDER
    [reply] = sealer({"verify": document})
    assert reply["refused"] == "keyholders"


@pytest.mark.parametrize("title", ["votes of 4, hidden", "five keyholders, two in league"])
def test_what_the_page_seals_any_few_keyholders_open_together(title: str) -> None:
    policy = POLICIES[title]
    [draw, *_] = next(case["draws"] for case in CASES if case["title"] == title)
    [reply] = sealer(_job(policy.as_json(), {**draw, "entropy": None}))
    # Sealed anew, from the system's randomness, it is other bytes of the same answers.
    assert reply["submission"] != draw["contribution"]
    made, stated = (
        shares_of(policy, text, KEYS) for text in (reply["submission"], draw["contribution"])
    )
    assert np.array_equal(ballot_of(policy, made), ballot_of(policy, stated))
    assert not np.array_equal(made, stated)


def test_a_contribution_may_be_large() -> None:
    policy = sealed_policy(Domain.categorical(["no", "yes"]), Layout.VOTES, 2, answers=MANY)
    tasks = [f"{i:05}" for i in range(MANY)]
    answers = [[task, "yes" if i % 3 else "no"] for i, task in enumerate(tasks)]
    job = {"seal": policy.as_json(), "campaign": "c", "worker": "w", "tasks": tasks}
    [reply] = sealer({**job, "answers": answers})
    rows = shares_of(policy, reply["submission"], KEYS)
    assert ballot_of(policy, rows).ravel().tolist() == [int(i % 3 > 0) for i in range(MANY)]
    # Shares are uniform: no two of them are alike, but for chance once in 10^9.
    assert len(np.unique(rows)) == rows.size


@pytest.mark.parametrize(
    ("given", "tasks", "code"),
    [
        ([["t1", "rabe"]], ["t1"], "domain"),
        ([["t2", CANARY]], ["t1"], "domain"),
        ([["t1", CANARY]], ["t1", "t1"], "domain"),
        ([["t1", None]], ["t1"], "domain"),
        ([[f"t{i}", CANARY] for i in range(4)], [f"t{i}" for i in range(4)], "promise"),
    ],
    ids=["no such label", "no such task", "a task twice", "no answer", "too many answers"],
)
def test_what_cannot_be_sealed_is_refused_and_not_quoted(
    given: list[list[str | None]], tasks: list[str], code: str
) -> None:
    job = {"seal": BIRDS.as_json(), "campaign": "c", "worker": "w", "random": ""}
    [reply] = sealer({**job, "answers": given, "tasks": tasks})
    assert reply["refused"] == code
    assert not re.search(f"{CANARY}|rabe", reply["message"])


@pytest.mark.slow
def test_the_example_of_the_docs_seals_with_the_changes_that_they_name(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "javascript.md").read_text("utf-8")
    [example] = re.findall(r"```js\n(.*?)```", page, re.DOTALL)
    for old, new in (
        ("randomize, verify }", "verify }"),
        ("verify(offer.policy)", "verifySealed(offer.policy)"),
        ("randomize(policy, worker,", "seal(policy, campaign, worker,"),
    ):
        assert old in example
        example = example.replace(old, new)
    (tmp_path / "package.json").write_text('{"type": "module"}', "utf-8")
    for module in (RANDOMIZER, SEALER):
        (tmp_path / module.name).write_bytes(module.read_bytes())
    run = tmp_path / "run.js"
    run.write_text(f'import {{ seal, verifySealed }} from "./seal.js";\n{example}\n{CALL}', "utf-8")
    with running_server() as server:
        campaign = sealed_campaign(server, BIRDS.domain, Target(1.0, answers=3), tasks=3)
        [kept] = json.loads(node(run, campaign.link))
        assert server.requester.rounds(campaign.id)["uploads"] == 1
    rows = shares_of(campaign.policy, kept["submission"], KEYS)
    assert ballot_of(campaign.policy, rows).tolist() == [[1, 0, 0]] * 3


def _job(policy: dict[str, Any], draw: dict[str, Any]) -> dict[str, Any]:
    job = {name: draw[name] for name in ("campaign", "worker", "tasks", "answers")}
    random = {} if draw["entropy"] is None else {"random": draw["entropy"]}
    return {"seal": policy, **job, **random}
