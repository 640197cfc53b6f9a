"""A mechanism is one file: a toy works from a plan to truths after one more line.

The package is laid out a second time with links, its registry with the toy's class in it, and comes
first on the path of real commands and of a real server with its child processes.
"""

from __future__ import annotations

import csv
import html
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.contracts.toy_mechanism import ToyRedraw
from tests.server.web.node import node

import sottovoce
from sottovoce.mechanisms import SealedSum

SOURCE = Path(sottovoce.__file__).parent
TOY = Path(__file__).with_name("toy_mechanism.py")

CAMPAIGN = """
import json, sys
from sottovoce.model import Domain
from sottovoce.mechanisms.policies import Target
from sottovoce.testing import running_server

folder = sys.argv[1]
with running_server() as server:
    made = server.requester.create(
        "Which leaf?",
        [{"task": f"t{i}", "text": f"Leaf {i}"} for i in range(4)],
        domain=Domain.categorical(["birch", "elm", "oak"]),
        target=Target(6.0, answers=4),
        mechanism="toy-redraw",
    )
    server.requester.open(made["id"])
    [link] = server.requester.invite(made["id"])
    for worker in range(5):
        with server.client(link, f"{folder}/{worker}") as client:
            offer = client.offer
            client.send(dict.fromkeys(offer.names, "oak"))
    result = server.truths(made["id"])
    print(json.dumps({
        "odds": offer.odds.sentence,
        "takes more": offer.takes_more,
        "truths": [str(result.domain.labels[truth]) for truth in result.truths],
        "method": result.provenance.method,
        "policy": made["policy"]["mechanism"],
    }))
"""

DRAFTING = """
import httpx
from sottovoce.testing import running_server

with running_server() as server:
    print(httpx.get(f"{server.url}/campaigns/new", headers={"Accept": "text/html"}).text)
"""
WIZARD = """
globalThis.document = { querySelector: () => ({ content: process.argv[2] }) };
const { comparable, fitting, inWords } = await import(process.argv[3]);
const [labels, name] = [["ash", "elm", "oak"], process.argv[4]];
const found = (hides, kind = "categorical") =>
  fitting({ kind, labels, hides }).find((each) => each.name === name) ?? null;
process.stdout.write(JSON.stringify({
  words: inWords(name), listed: found(false), hidden: found(true), numbers: found(false, "numeric"),
  compared: comparable({ kind: "ordinal", labels, hides: false }).map((each) => each.name),
}));
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package in it, with one more file and one changed line."""
    folder = tmp_path_factory.mktemp("toy")
    _linked(SOURCE, folder / "sottovoce", besides="mechanisms")
    mechanisms = folder / "sottovoce" / "mechanisms"
    _linked(SOURCE / "mechanisms", mechanisms, besides="registry.py")
    (mechanisms / "toy_mechanism.py").write_text(TOY.read_text("utf-8"), "utf-8")
    registry = (SOURCE / "mechanisms" / "registry.py").read_text("utf-8")
    home = "sottovoce.mechanisms.toy_mechanism"
    listed = registry.replace("    TwoLayer,\n", f"    TwoLayer,\n    {ToyRedraw.__name__},\n")
    first = "\nfrom sottovoce."
    listed = listed.replace(first, f"\nfrom {home} import {ToyRedraw.__name__}{first}", 1)
    (mechanisms / "registry.py").write_text(listed, "utf-8")
    return folder


def _linked(source: Path, place: Path, *, besides: str) -> None:
    place.mkdir()
    for entry in source.iterdir():
        if entry.name not in (besides, "__pycache__"):
            (place / entry.name).symlink_to(entry, target_is_directory=entry.is_dir())


def run(package: Path, *command: str) -> str:
    """The output of a program that finds this package first."""
    path = os.pathsep.join([str(package), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=package,
        env={
            **os.environ,
            "PYTHONPATH": path,
            "SOTTOVOCE_CACHE": str(package / "cache"),
            "COLUMNS": "200",
        },
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def asked(package: Path, *command: str) -> Any:
    return json.loads(run(package, "-m", "sottovoce", *command, "--json"))


def test_the_planner_tries_it(package: Path) -> None:
    made = asked(
        package, "plan", "--label-count", "3", "--epsilon", "2", "--tasks", "12", "--workers", "8",
        "--answers-per-worker", "6", "--ways", "local", "--trials", "19", "--jobs", "1",
    )  # fmt: skip
    assert ToyRedraw.name in json.dumps(made)


def test_a_table_is_perturbed_audited_and_inferred(package: Path, tmp_path: Path) -> None:
    answers, reports, policy = (str(tmp_path / f) for f in ("a.csv", "r.csv", "p.json"))
    rows = [(f"w{w}", f"t{t}", "elm" if t % 2 else "oak") for w in range(15) for t in range(6)]
    with Path(answers).open("w", newline="") as file:
        csv.writer(file).writerows([("worker", "task", "answer"), *rows])
    run(
        package, "-m", "sottovoce", "perturb", answers, "--mechanism", ToyRedraw.name, "--epsilon",
        "3", "--domain", "categorical:ash,elm,oak", "-o", reports, "--write-policy", policy,
        "--seed", "7",
    )  # fmt: skip
    assert json.loads(Path(policy).read_text())["mechanism"]["name"] == ToyRedraw.name
    found = asked(package, "audit", policy, "--samples", "20000", "--answers-per-worker", "1")
    assert (found["mechanism"], found["exceeded"]) == (ToyRedraw.name, False)
    assert 2 < found["lower_bound"] <= 3
    truths = run(package, "-m", "sottovoce", "infer", reports, "--policy", policy)
    assert [row["truth"] for row in csv.DictReader(truths.splitlines())] == ["oak", "elm"] * 3


def test_it_is_among_the_names_that_help_lists(package: Path) -> None:
    said = run(package, "-m", "sottovoce", "guarantee", "--help")
    assert ToyRedraw.name in said


def test_workers_of_a_real_campaign_answer_through_it(package: Path, tmp_path: Path) -> None:
    found = json.loads(run(package, "-c", CAMPAIGN, str(tmp_path)))
    assert found["policy"]["name"] == ToyRedraw.name
    assert found["truths"] == ["oak"] * 4
    assert (found["method"], found["takes more"]) == ("aware-labels", True)
    assert found["odds"].startswith("Of 100 workers with the same answer more than 99 send it")


def test_the_requesters_pages_list_it_without_a_line_of_javascript(
    package: Path, tmp_path: Path
) -> None:
    [content] = re.findall(
        r'<meta name="mechanisms" content="([^"]*)">', run(package, "-c", DRAFTING)
    )
    script, policy = tmp_path / "wizard.mjs", SOURCE / "server/web/static/requester/policy.js"
    script.write_text(WIZARD, "utf-8")
    found = json.loads(node(script, html.unescape(content), str(policy), ToyRedraw.name))
    assert found["words"] == "Toy: some answers are drawn again"
    assert (found["listed"]["in_browser"], found["listed"]["needs_keyholders"]) == (False, False)
    assert found["hidden"] is found["numbers"] is None
    assert found["compared"][0] == ToyRedraw.name
    assert found["compared"][-1] == SealedSum.name
