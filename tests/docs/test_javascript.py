"""The example of docs/how-to/javascript.md, run unchanged against a real server."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.server.web.node import RANDOMIZER, node

from sottovoce.mechanisms.policies import Target
from sottovoce.model import Domain, Submission
from sottovoce.testing.server_thread import running_server

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "javascript.md"
RUN = """
import { answer, PolicyError } from "./example.mjs";
console.log = () => {};
const kept = [];
try {
  const choose = (text) => (text.endsWith("t1") ? null : "yes");
  const reply = await answer(process.argv[2], choose, (each) => kept.push(each));
  process.stdout.write(JSON.stringify({ reply, kept }));
} catch (error) {
  if (!(error instanceof PolicyError)) throw error;
  process.stdout.write(JSON.stringify({ refused: error.code }));
}
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """The example, with the randomiser next to it, and a few lines that call it."""
    [example] = re.findall(r"```js\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    (tmp_path / "package.json").write_text('{"type": "module"}', "utf-8")
    (tmp_path / "randomize.js").write_bytes(RANDOMIZER.read_bytes())
    (tmp_path / "example.mjs").write_text(example, "utf-8")
    (tmp_path / "run.mjs").write_text(RUN, "utf-8")
    return tmp_path / "run.mjs"


def test_the_example_verifies_randomises_and_sends(script: Path) -> None:
    with running_server() as server:
        campaign, link = server.campaign(labels=["no", "yes"], tasks=3)
        done = json.loads(node(script, link))
        assert server.requester.campaign(campaign)["reports"] == 2
    [kept] = done["kept"]
    sent = Submission.parse(kept["submission"].encode())
    assert done["reply"] == {"report_id": kept["id"], "replayed": False}
    assert sent.tasks == ("t0", "t2")


def test_the_example_sends_nothing_under_a_policy_it_cannot_verify(script: Path) -> None:
    with running_server() as server:
        made = server.requester.create(
            "Which?", [{"task": "t1", "text": "Task t1"}],
            domain=Domain.categorical(["no", "yes"]), mechanism="two-layer", target=Target(1.0),
        )  # fmt: skip
        server.requester.open(made["id"])
        [link] = server.requester.invite(made["id"])
        assert json.loads(node(script, link)) == {"refused": "mechanism"}
        assert server.requester.campaign(made["id"])["reports"] == 0
