"""Claims of the papers' texts, section by section, and where each is judged.

Each line of `data/claims-p1.tsv` to `claims-p4.tsv` is one claim in our words. A study judges it
(`judge` is its name), or the line has the verdict itself with the reason: a proof, a calculator, or
why it cannot be judged.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from types import MappingProxyType

from sottovoce.errors import UsageError
from sottovoce_studies.rulings import Ruling

__all__ = ["CLAIMS", "Claim", "read_claims", "unchecked_claims"]


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of a paper: its section, the place it is about, and its judge or its ruling.

    `fixed` is None if the study named `judge` judges it; else `judge` names the proof or
    calculator, or is empty.
    """

    name: str
    section: str
    place: str
    text: str
    judge: str
    fixed: Ruling | None

    @property
    def paper(self) -> str:
        """The paper, such as `P1`."""
        return self.name.partition("-")[0]


def read_claims(text: str) -> dict[str, Claim]:
    """The claims of a table in the format of `data/claims-p1.tsv`, by name."""
    found: dict[str, Claim] = {}
    for line in csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE):
        name = line["claim"]
        if name in found:
            raise UsageError(f"two claims are called {name}: give each its own name")
        fixed = Ruling(line["verdict"], line["reason"]) if line["verdict"] else None  # type: ignore[arg-type]
        found[name] = Claim(
            name, line["section"], line["place"], line["text"], line["judge"], fixed
        )
    return found


def _shipped(paper: str) -> dict[str, Claim]:
    data = resources.files(__package__).joinpath("data", f"claims-{paper}.tsv")
    return read_claims(data.read_text("utf-8"))


CLAIMS: Mapping[str, Claim] = MappingProxyType(
    {name: claim for paper in ("p1", "p2", "p3", "p4") for name, claim in _shipped(paper).items()}
)
"""Every claim by name, in the order of the papers."""


def unchecked_claims(judge: str, reason: str) -> dict[str, Ruling]:
    """The rulings of a study that cannot be run on the claims it judges."""
    ruling = Ruling("cannot be checked", reason)
    return {name: ruling for name, claim in CLAIMS.items() if claim.judge == judge}
