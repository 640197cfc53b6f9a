"""Tables at rest: files and frames in and out.

A table has columns `worker`, `task` and one of `answer`, `label`, `report` and `value` (matched
exactly, else without regard to case and outer spaces); others are ignored, and `columns` maps
other names. In messages `row` is what a person looks for: the line of a text file as an editor
counts it (the header of a CSV file is row 1), else the row counted from 1.

Names and labels from text files, JSONL included, stay text: "007" is not "7". Those from Parquet
and frames keep their type. Vocabularies are in order of appearance: text as object arrays of str,
integers as integer arrays. Cells are taken as they are, outer spaces included.
"""

from sottovoce.tables.answer_column import parse_domain
from sottovoce.tables.input_file import Source
from sottovoce.tables.policy_file import policy_text, read_policy, write_policy
from sottovoce.tables.readers import BadRows, read_gold, read_reports
from sottovoce.tables.writers import check_path, write_columns, write_tables

__all__ = [
    "BadRows", "Source", "check_path", "parse_domain", "policy_text", "read_gold", "read_policy",
    "read_reports", "write_columns", "write_policy", "write_tables",
]  # fmt: skip
