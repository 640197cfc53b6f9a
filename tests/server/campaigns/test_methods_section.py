"""A campaign in the words of a paper."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.server.crowds import opened, report
from tests.server.drafts import running, terms

from sottovoce.mechanisms import RandomizedResponse
from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.mechanisms.registry import MECHANISMS
from sottovoce.model import Domain, Unit
from sottovoce.server.campaigns.drafts import create_draft
from sottovoce.server.campaigns.lifecycle import close_campaign
from sottovoce.server.campaigns.methods_section import describe
from sottovoce.server.database import Database
from sottovoce.server.database.campaigns import add_campaign
from sottovoce.server.inference_process.scheduler import infer_now
from sottovoce.server.service import Service
from sottovoce.version import __version__

LEAVES = make_policy(
    Domain.categorical(["oak", "birch", "lime"]), "randomized-response", Target(2.0, answers=4)
)
METRES = make_policy(
    Domain.numeric(0, 10, 0.5), "piecewise", Target(2.0, Unit.WORKER, answers=4, sample=1)
)
TASKS = [f"t{place}" for place in range(9)]


@pytest.fixture
def service(database: Database) -> Iterator[Service]:
    with running(database) as service:
        yield service


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_closed_campaign_is_told_in_the_past_with_its_facts(service: Service) -> None:
    id, invite = opened(service, LEAVES, TASKS)
    report(service, id, invite, workers=5, seed=1)
    infer_now(service, id)
    close_campaign(service, id)
    said = describe(service, id).paragraph
    for part in (
        "9 tasks, each with one of 3 labels (oak, birch, lime)",
        "closed on 2031-05-07 (UTC), received 20 reports from 5 workers",
        "was given up to 4 tasks",
        "randomised response (Li et al. 2018",
        "epsilon 2 and delta 0 for the change of one answer",
        "epsilon 8 and delta 0 for the change of all answers of a worker with up to 4 answers",
        "assumes that answers have independent noise",
        f"were inferred by the method aware-labels of Sottovoce {__version__} from 20 reports",
        LEAVES.hash,
        RandomizedResponse.citation.reference,
    ):
        assert part in said
    assert "SIMULATED" not in said


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_an_open_campaign_is_told_as_it_is_so_far(service: Service) -> None:
    id, invite = opened(service, METRES, TASKS)
    report(service, id, invite, workers=1, seed=1)
    said = describe(service, id).paragraph
    assert "has received 1 report from 1 worker so far" in said
    assert "a number from 0 to 10 in steps of 0.5" in said
    assert "each worker sends 1, chosen at random" in said
    assert "No truths are inferred yet." in said


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_draft_is_told_as_a_draft(service: Service) -> None:
    said = describe(service, create_draft(service, terms()).id).paragraph
    assert said.startswith("A campaign is drafted on 0 tasks")


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_the_citation_is_bibtex_of_this_release(service: Service) -> None:
    id, _ = opened(service, LEAVES, TASKS)
    citation = describe(service, id).citation
    assert citation.startswith("@software{sottovoce,\n")
    assert citation.count("{") == citation.count("}")
    assert re.search(rf"version\s*= {{{re.escape(__version__)}}}", citation)
    assert re.search(r"year\s*= \{2031\}", citation)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_facts_are_those_of_the_campaign(service: Service) -> None:
    id, _ = opened(service, LEAVES, TASKS)
    facts = {fact.name: fact.value for fact in describe(service, id).facts}
    assert (facts["campaign"], facts["state"], facts["simulated"]) == (id, "open", "no")
    assert (facts["tasks"], facts["policy hash"]) == ("9", LEAVES.hash)
    assert facts["parameters"] == f"labels 3, other {LEAVES.mechanism['other']}"


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_a_simulated_campaign_says_so_first(service: Service) -> None:
    made = service.change(
        lambda connection: add_campaign(
            connection, "sample7", terms(), service.today(), simulated=True
        )
    )
    assert describe(service, made.campaign.id).paragraph.startswith("SIMULATED")


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_has_a_source_among_the_references(name: str) -> None:
    listed = " ".join(
        (Path(__file__).parents[3] / "docs" / "reference" / "bibliography.md").read_text().split()
    )
    mechanism: Any = MECHANISMS[name]  # a class, which has what its instances have
    title = mechanism.citation.reference.partition(": ")[2].partition(". ")[0]
    assert title in listed
