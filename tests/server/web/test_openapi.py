from __future__ import annotations

from typing import Any

import pytest

from sottovoce.server.web.app import build_app
from sottovoce.server.web.settings import Settings


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    schema: dict[str, Any] = build_app(Settings(tmp_path_factory.mktemp("data"))).openapi()
    return schema


def _operations(document: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [
        (f"{method} {path}", operation)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    ]


def _references(part: Any) -> set[str]:
    if isinstance(part, dict):
        own = {part["$ref"]} if isinstance(part.get("$ref"), str) else set()
        return own.union(*(_references(value) for value in part.values()))
    if isinstance(part, list):
        return set().union(*(_references(value) for value in part))
    return set()


def test_every_operation_documents_its_refusals_in_the_one_shape(document: dict[str, Any]) -> None:
    for name, operation in _operations(document):
        assert "422" not in operation["responses"], name
        for status in ("4XX", "5XX"):
            content = operation["responses"][status]["content"]
            assert list(content) == ["application/problem+json"], name
            assert content["application/problem+json"]["schema"] == {
                "$ref": "#/components/schemas/ProblemBody"
            }


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    for reference in _references(document):
        part: Any = document
        for name in reference.removeprefix("#/").split("/"):
            part = part[name]


def test_every_operation_has_words_a_tag_and_says_what_it_needs(document: dict[str, Any]) -> None:
    schemes, tags = document["components"]["securitySchemes"], document["tags"]
    for name, operation in _operations(document):
        assert operation["summary"][0].isupper(), name
        assert set(operation["tags"]) <= {tag["name"] for tag in tags}, name
        for needed in operation["security"]:
            assert needed.keys() <= schemes.keys(), name


@pytest.mark.parametrize(
    ("operation", "needed"),
    [
        ("put /api/v1/campaigns/{campaign_id}/reports/{report_id}", {"invite", "own_receipt"}),
        ("delete /api/v1/campaigns/{campaign_id}/reports/{report_id}", {"receipt"}),
        ("post /api/v1/setup", {"setup"}),
        ("post /api/v1/campaigns", {"token"}),
    ],
)
def test_credentials_are_those_the_route_takes(
    document: dict[str, Any], operation: str, needed: set[str]
) -> None:
    [security] = dict(_operations(document))[operation]["security"]
    assert security.keys() == needed
