"""The nouns: frozen, validated at birth, without I/O."""

from sottovoce.model.arrays import CodedArray, Codes, FloatArray, Names, StartsArray
from sottovoce.model.cells import NULL, Cells, Private, ReportCodes, Words
from sottovoce.model.channel import WORDS, Alphabet, FiniteChannel
from sottovoce.model.domain import Domain, Kind, Label, label_text
from sottovoce.model.gold import Gold, Score
from sottovoce.model.grid import Grid
from sottovoce.model.guarantee import Claim, Guarantee, Unit
from sottovoce.model.part import LabelPart, NumberPart, Part, labels_of, numbers_of
from sottovoce.model.policy import Calibration, Policy, Promise
from sottovoce.model.reports import Reading, Repeats, Reports
from sottovoce.model.result import Provenance, Result

__all__ = [
    "NULL",
    "WORDS",
    "Alphabet",
    "Calibration",
    "Cells",
    "Claim",
    "CodedArray",
    "Codes",
    "Domain",
    "FiniteChannel",
    "FloatArray",
    "Gold",
    "Grid",
    "Guarantee",
    "Kind",
    "Label",
    "LabelPart",
    "Names",
    "NumberPart",
    "Part",
    "Policy",
    "Private",
    "Promise",
    "Provenance",
    "Reading",
    "Repeats",
    "ReportCodes",
    "Reports",
    "Result",
    "Score",
    "StartsArray",
    "Unit",
    "Words",
    "label_text",
    "labels_of",
    "numbers_of",
]
