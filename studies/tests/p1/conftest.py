"""Fixtures: trials of one and two layers with given changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import pytest

from sottovoce_studies.p1.error_changes import Seen
from sottovoce_studies.p1.layers import METHODS, PUBLISHED
from sottovoce_studies.paper_tables import printed

MadeUp: TypeAlias = Callable[..., dict[float, Seen]]

EPSILONS = (1.0, 0.5, 0.0)


@pytest.fixture
def as_printed() -> MadeUp:
    """Trials at three epsilons with the printed changes of a table, except for given ones."""

    def made(
        table: str, other: Mapping[str, float] | None = None, clean: float = 0.25
    ) -> dict[float, Seen]:
        figures = printed(f"P1 {table}")
        found = {}
        for epsilon in EPSILONS:
            changes = {method: figures.number(method, epsilon) for method in PUBLISHED}
            found[epsilon] = _trials(changes | dict(other or {}), clean)
        return found

    return made


def _trials(changes: Mapping[str, float], clean: float) -> Seen:
    """Four trials around these changes; other methods have the change of two-layer TD."""
    known = {f"clean {reader}": clean for reader in ("MV", "TD", "aware")} | {"best constant": 0.36}
    usual = changes["two-layer TD"]
    return Seen(
        tuple(
            known
            | {
                # Methods vary in different trials, so that differences have a spread too.
                method: clean + changes.get(method, usual) + 0.01 * ((number + place) % 4 - 1.5)
                for place, method in enumerate(METHODS)
            }
            for number in range(4)
        )
    )
