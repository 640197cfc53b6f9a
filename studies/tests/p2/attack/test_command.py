"""`sottovoce sealed attack`."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from tests.cli.conftest import Run

from sottovoce.api.simulate_private_em import simulate_private_em


def rows(workers: int = 5, tasks: int = 40) -> list[tuple[str, str, str]]:
    """Every worker leaves out other tasks, and is wrong now and then."""
    said = ("no", "yes")
    return [
        (f"w{worker}", f"t{task}", said[(task % 3 == 0) ^ (task * (worker + 3) % 11 < 2)])
        for worker in range(workers)
        for task in range(tasks)
        if (task + worker) % 7
    ]


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    file = tmp_path / "answers.csv"
    lines = ["worker,task,answer", *(",".join(row) for row in rows())]
    file.write_text("\n".join(lines) + "\n")
    return file


def written(answers: Path, mode: str, *, assignments: bool = True) -> Path:
    run = simulate_private_em(str(answers), suite="plain", mode=mode, assignments=assignments)
    file = answers.with_name(f"{mode}.json")
    file.write_text(run.transcript.text())
    return file


def test_people_are_told_how_much_was_found_and_no_label(call: Run, answers: Path) -> None:
    done = call(
        "sealed", "attack", str(written(answers, "as_published")), "--answers", str(answers)
    )
    assert done.returncode == 0, done.stderr
    assert "Recovered: the labels of 5 of 5 workers." in done.stdout
    assert "5 are linked to their worker by its tasks (w0, w1, w2, w3, w4)" in done.stdout
    assert "5 of 5 columns are correct in every label, 5 under the right name." in done.stdout
    assert "These labels reproduce every total of every round exactly." in done.stdout
    assert "Proven: no other labels of these workers explain the totals." in done.stdout
    assert f"Correct labels: {len(rows())} of {len(rows())}" in done.stdout
    assert "use --mode noised" in done.stdout
    assert "yes" not in done.stdout


def test_what_was_found_is_one_json_object(call: Run, answers: Path) -> None:
    file = written(answers, "log_odds", assignments=False)
    done = call("sealed", "attack", str(file), "--answers", str(answers), "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["outcome"], found["columns"], found["columns_exact"]) == ("all", 5, 5)
    assert found["columns_proven"] == 0
    assert found["linked"] == []
    assert found["labels_right"] == found["answers"] > found["labels_right_by_guessing"]


def test_noise_is_no_better_than_guessing(call: Run, answers: Path) -> None:
    done = call("sealed", "attack", str(written(answers, "noised")), "--answers", str(answers))
    assert done.returncode == 0, done.stderr
    assert "Recovered: the labels of 0 of 5 workers." in done.stdout
    assert ": no better than guessing." in done.stdout
    assert "the guarantee bounds the privacy loss" in done.stdout


def coarse(answers: Path) -> Path:
    """A transcript of one round with the smallest scale, without assignments."""
    run = simulate_private_em(str(answers), suite="plain", mode="log_odds", scale=1, rounds=1)
    file = answers.with_name("coarse.json")
    file.write_text(run.transcript.text())
    return file


def test_what_little_hides_is_not_promised_to_be_hidden(call: Run, answers: Path) -> None:
    done = call("sealed", "attack", str(coarse(answers)))
    assert done.returncode == 0, done.stderr
    assert "as in P2." in done.stdout
    assert "Recovered: the labels of 0 of 5 workers." in done.stdout
    assert "that is no guarantee" in done.stdout


def test_a_certain_label_is_better_than_guessing(call: Run, answers: Path) -> None:
    """Unanimous labels are what the published truth says too."""
    done = call("sealed", "attack", str(coarse(answers)), "--answers", str(answers))
    assert done.returncode == 0, done.stderr
    assert "those of unanimous tasks; whose they are is not known." in done.stdout
    assert "no better than guessing" not in done.stdout


def test_each_worker_has_a_line_with_its_candidate_columns(call: Run, answers: Path) -> None:
    done = call("sealed", "attack", str(written(answers, "as_published")))
    assert done.returncode == 0, done.stderr
    assert "a server that knows who was given which tasks" in done.stdout
    total = f"{len(rows()):,} of {len(rows()):,}"
    assert f"1 for 5 workers, more for 0, not counted for 0. Certain labels: {total}" in done.stdout
    own = len([row for row in rows() if row[0] == "w3"])
    assert ["w3", str(own), "1", str(own)] in [line.split() for line in done.stdout.splitlines()]


def test_candidate_columns_are_in_the_json(call: Run, answers: Path) -> None:
    done = call("sealed", "attack", str(written(answers, "as_published")), "--json")
    found = json.loads(done.stdout)
    assert found["assignments_known"] is True
    assert [each["columns"] for each in found["candidates"]] == [1] * 5
    assert found["labels_certain"] == len(rows())


def test_columns_without_a_proof_are_called_likely(call: Run, answers: Path) -> None:
    done = call("sealed", "attack", str(written(answers, "as_published", assignments=False)))
    assert "Recovered: the labels of 5 of 5 workers." in done.stdout
    assert "Proven: 0 of these columns. The others are likely, not proven" in done.stdout


def test_labels_go_to_a_file(call: Run, answers: Path) -> None:
    out = answers.with_name("found.csv")
    file = written(answers, "as_published", assignments=False)
    done = call("sealed", "attack", str(file), "-o", str(out))
    assert done.returncode == 0, done.stderr
    with out.open(newline="") as stream:
        found = list(csv.DictReader(stream))
    assert len(found) == len(rows())
    assert {row["worker"] for row in found} == {f"column {number}" for number in range(1, 6)}
    assert {row["label"] for row in found} == {"no", "yes"}


def test_a_file_that_is_there_is_not_replaced(call: Run, answers: Path) -> None:
    file = written(answers, "as_published")
    before = answers.read_bytes()
    done = call("sealed", "attack", str(file), "-o", str(answers))
    assert done.returncode == 2
    assert "exists; pass --force" in done.stderr
    assert answers.read_bytes() == before


def test_what_is_no_transcript_is_one_line(call: Run, answers: Path) -> None:
    done = call("sealed", "attack", str(answers), "--json")
    assert done.returncode != 0
    assert "answers.csv: not a transcript: no JSON" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
