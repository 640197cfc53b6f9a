"""`sottovoce tradeoff`: a table, a chart and files; refusals in one line."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from tests.cli.conftest import Run

from sottovoce.cli.command_classes import epsilons, joined
from sottovoce.errors import UsageError


@pytest.fixture
def numbers(tmp_path: Path) -> Path:
    rows = [f"w{w},t{t},{t + w / 4}" for w in range(8) for t in range(5)]
    (tmp_path / "numbers.csv").write_text("\n".join(["worker,task,answer", *rows]) + "\n")
    truths = [f"t{t},{t + 1}" for t in range(5)]
    (tmp_path / "truths.csv").write_text("\n".join(["task,truth", *truths]) + "\n")
    return tmp_path / "numbers.csv"


QUICK = ("--gold", "gold.csv", "--trials", "2", "--jobs", "1")


@pytest.mark.usefixtures("answers", "gold")
def test_it_prints_the_table_and_the_chart(call: Run) -> None:
    done = call("tradeoff", "answers.csv", *QUICK, "--epsilon", "1", "4")
    assert done.returncode == 0, done.stderr
    for words in ("recommended", "one-layer + TD", "as published", "clean answers", "┆", "●"):
        assert words in done.stdout
    assert done.stdout.count("best constant") == 2  # in the table and on the chart
    assert "up to 12 reports per worker" in done.stderr
    assert "SIMULATED" in done.stderr


@pytest.mark.usefixtures("answers", "gold")
def test_files_hold_the_rows_the_page_and_the_figure(call: Run, tmp_path: Path) -> None:
    outputs = ("-o", "rows.csv", "--html", "page.html", "--plot", "figure.svg")
    done = call("tradeoff", "answers.csv", *QUICK, "--epsilon", "2", *outputs)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "rows.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[:3] == ["epsilon", "pair", "role"]
    assert [row["pair"] for row in rows[-2:]] == ["clean answers", "best constant"]
    assert rows[-1]["epsilon"] == ""
    assert "best constant" in (tmp_path / "page.html").read_text()
    assert (tmp_path / "figure.svg").read_text().startswith("<svg")


@pytest.mark.usefixtures("answers", "gold")
def test_json_says_everything_in_one_object(call: Run) -> None:
    done = call("tradeoff", "answers.csv", *QUICK, "--epsilon", "1,2", "--json")
    found = json.loads(done.stdout)
    assert found["measure"] == "accuracy"
    assert found["best_constant"] == pytest.approx(8 / 12)
    assert list(found["recommended"]) == ["1", "2"]
    assert {row["epsilon"] for row in found["rows"]} == {1.0, 2.0}
    again = call("tradeoff", "answers.csv", *QUICK, "--epsilon", "1,2", "--json")
    assert json.loads(again.stdout) == found


@pytest.mark.usefixtures("answers", "gold")
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "--gold TABLE"),
        (
            ("--gold", "gold.csv", "--epsilon", "-1"),
            "--epsilon takes numbers above 0, such as 0.5 1 2, not '-1'",
        ),
        (("--gold", "gold.csv", "--epsilon", "1", "1"), "epsilon 1 is given twice"),
        (("--gold", "gold.csv", "--trials", "1"), "trials must be"),
        (("--gold", "gold.csv", "--clip"), "--clip needs a range"),
        (("--gold", "gold.csv", "--plot", "figure.gif"), "is no picture"),
        (("--gold", "gold.csv", "-o", "a.csv", "--plot", "./a.csv"), "the same name"),
        (("--gold", "gold.csv", "-o", "gold.csv"), "--force"),
        (("--gold", "gold.csv", "--domain", "numeric:0..1"), "not a number"),
    ],
)
def test_bad_input_is_refused_in_one_line(call: Run, options: tuple[str, ...], words: str) -> None:
    done = call("tradeoff", "answers.csv", *options)
    assert done.returncode in (1, 2)
    assert words in done.stderr
    assert done.stderr.startswith("sottovoce: ")
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


@pytest.mark.usefixtures("numbers")
def test_numbers_outside_the_range_are_counted_and_clipping_is_offered(call: Run) -> None:
    options = ("--gold", "truths.csv", "--domain", "numeric:0..5", "--epsilon", "1")
    done = call("tradeoff", "numbers.csv", *options)
    assert done.returncode == 1
    assert "3 of 40 answers lie outside 0..5" in done.stderr
    assert "--clip" in done.stderr


@pytest.mark.usefixtures("numbers")
def test_numbers_need_a_public_range(call: Run) -> None:
    done = call("tradeoff", "numbers.csv", "--gold", "truths.csv", "--domain", "numeric")
    assert done.returncode == 2
    assert "--domain numeric:LOW..HIGH" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["--epsilon", "0.5", "1", "2"],
        ["--epsilon", "0.5,1,2"],
        ["--epsilon", "0.5,", "1", ",2"],
        ["--epsilon=0.5", "1", "2"],
        ["--epsilon", "2", "--epsilon", "0.5", "1"],
    ],
)
def test_epsilons_may_be_given_in_any_way(words: list[str]) -> None:
    given = [word.removeprefix("--epsilon=") for word in joined(words) if word != "--epsilon"]
    assert epsilons(given, ()) == (0.5, 1.0, 2.0)


def test_other_words_stay_as_they_are() -> None:
    words = ["--epsilon", "1", "answers.csv", "--trials", "3", "--", "--epsilon", "1", "2"]
    assert list(joined(words)) == words


def test_no_epsilons_are_the_usual_ones() -> None:
    assert epsilons(None, (1.0,)) == (1.0,)


@pytest.mark.parametrize("word", ["x", "0", "inf", "nan", "1,,2"])
def test_what_is_no_epsilon_is_refused(word: str) -> None:
    with pytest.raises(UsageError, match="--epsilon takes numbers above 0"):
        epsilons([word], ())
