"""Value types of all packages: Domain, Reports, Policy, Result ...; frozen, validated, no I/O."""

from sottovoce.model.agreement import Agreement, Estimate, PairAgreement
from sottovoce.model.arrays import CodedArray, Codes, FloatArray, Names, StartsArray, occurs_twice
from sottovoce.model.campaign import Campaign, Counts, State, Task, Terms, assigned
from sottovoce.model.cells import NULL, Cells, Private, ReportCodes, Words
from sottovoce.model.channel import (
    WORDS,
    Alphabet,
    Channel,
    Evidence,
    FactorChannel,
    FiniteChannel,
    NoisyChannel,
    PointChannel,
    SetChannel,
)
from sottovoce.model.credentials import Credential, check_credential, digest, pseudonym
from sottovoce.model.domain import Domain, Kind, Label, label_text
from sottovoce.model.gold import Gold, Score
from sottovoce.model.grid import Grid
from sottovoce.model.guarantee import Claim, Guarantee, Unit, UnitName
from sottovoce.model.keyholder import Keyholder
from sottovoce.model.mechanism import Candidate, Citation, Listing, Odds
from sottovoce.model.part import LabelPart, NumberPart, Part, labels_of, numbers_of
from sottovoce.model.policy import Calibration, Policy, Promise, ShowDraw
from sottovoce.model.reports import Reading, Repeats, Reports
from sottovoce.model.result import Provenance, Result
from sottovoce.model.signal import Signal
from sottovoce.model.submission import Submission

__all__ = [
    "NULL", "WORDS", "Agreement", "Alphabet", "Calibration", "Campaign", "Candidate", "Cells",
    "Channel", "Citation", "Claim", "CodedArray", "Codes", "Counts", "Credential", "Domain",
    "Estimate", "Evidence", "FactorChannel", "FiniteChannel", "FloatArray", "Gold", "Grid",
    "Guarantee", "Keyholder", "Kind", "Label", "LabelPart", "Listing", "Names", "NoisyChannel",
    "NumberPart", "Odds", "PairAgreement", "Part", "PointChannel", "Policy", "Private", "Promise",
    "Provenance", "Reading", "Repeats", "ReportCodes", "Reports", "Result", "Score", "SetChannel",
    "ShowDraw", "Signal", "StartsArray", "State", "Submission", "Task", "Terms", "Unit", "UnitName",
    "Words", "assigned", "check_credential", "digest", "label_text", "labels_of", "numbers_of",
    "occurs_twice", "pseudonym",
]  # fmt: skip
