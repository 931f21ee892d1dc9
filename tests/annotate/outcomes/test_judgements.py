"""Judgements go out to files and come in again, checked line by line and never twice."""

from __future__ import annotations

import csv
import io
import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from voted_studies import OF_CLIPS, OF_PREDICTIONS, Ballot, study_of

from inpaintbench.annotate.desk.state import votes
from inpaintbench.annotate.journal import Journal
from inpaintbench.annotate.outcomes.judgement_files import SCHEMA, read_rows, write_rows
from inpaintbench.annotate.outcomes.judgements import Imported, export_judgements, import_judgements, read_judgements
from inpaintbench.annotate.report.material import left_choices
from inpaintbench.annotate.statistics.standings import rankings_of
from inpaintbench.annotate.study import Study
from inpaintbench.errors import InputError

SUFFIXES = (".parquet", ".csv", ".jsonl")
NASTY = '=HYPERLINK("x"),\n\'+"ü'


def comparing() -> Study:
    questions = [{"leaf": "pairwise", "name": "=steady"}, {"leaf": "best_of"}]
    tasks = [("=steady", item, pair) for item in ("-i1", "i2") for pair in combinations(("a", "b", "c"), 2)]
    return study_of(questions, [*tasks, ("best_of", "i2", ("a", "b", "c"))], subjects=OF_PREDICTIONS)


def compared() -> Ballot:
    ballot = Ballot(comparing())
    ballot.cast("@zoe", "=steady", "-i1", {"better": "place-0"}, shown=("b", "a"))
    ballot.cast("'max", "=steady", "-i1", {"better": "tie"}, shown=("a", "b"))
    ballot.cast("@zoe", "best_of", "i2", {"best": "place-1"}, shown=("c", "a", "b"))
    return ballot


def labelled() -> Ballot:
    study = study_of(
        [{"leaf": "keep_reject"}, {"leaf": "scene_motion"}],
        [(leaf, clip, ()) for leaf in ("keep_reject", "scene_motion") for clip in ("c1", "c2")],
        subjects=OF_CLIPS, gold={("scene_motion", "c2"): ("25",)},
    )  # fmt: skip
    ballot = Ballot(study)
    ballot.cast("zoe", "keep_reject", "c1", {"verdict": "reject", "reason": "other", "reason_text": NASTY})
    ballot.cast("zoe", "scene_motion", "c1", {"water": "25", "other": "unclear"})
    ballot.cast("max", "scene_motion", "c2", {"water": "50", "other": "0"}, purpose="gold")
    ballot.cast("zoe", "keep_reject", "c1", {"verdict": "keep"}, purpose="repeat")
    return ballot


@pytest.fixture
def empty(tmp_path: Path) -> Journal:
    with Journal(tmp_path / "journal.sqlite") as journal:
        for study in (comparing(), labelled().study):
            journal.register(study.study_id, title="Study")
        yield journal


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("made", [compared, labelled])
def test_what_is_imported_is_what_was_exported(suffix: str, made: Any, empty: Journal, tmp_path: Path) -> None:
    ballot, path = made(), tmp_path / f"votes{suffix}"
    assert export_judgements(ballot.study, ballot.votes, path) == len(ballot.votes)
    assert import_judgements(path, ballot.study, empty, at=0.0) == Imported(len(ballot.votes), 0)
    stored = votes(ballot.study, empty.events(ballot.study.study_id))
    assert stored == ballot.votes
    assert import_judgements(path, ballot.study, empty, at=0.0) == Imported(0, len(ballot.votes))
    assert votes(ballot.study, empty.events(ballot.study.study_id)) == stored
    again = tmp_path / f"again{suffix}"
    export_judgements(ballot.study, stored, again)
    assert again.read_bytes() == path.read_bytes()


def test_a_spreadsheet_finds_no_formulas(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    export_judgements(compared().study, compared().votes, path, names={"@zoe": "=cmd()"})
    cells = [cell for row in csv.reader(io.StringIO(path.read_text())) for cell in row]
    assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))] == []
    assert {"'=cmd()", "'@zoe", "''max", "'=steady", "'-i1"} <= set(cells)


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8), suffix=st.sampled_from(SUFFIXES))
@example(text="\r", suffix=".csv")
def test_any_text_comes_back_as_it_was(text: str, suffix: str, tmp_path: Path) -> None:
    row = dict.fromkeys(SCHEMA.names, text) | {
        "candidates": [text, "b"], "shown": [], "given": json.dumps({text: text}), "seconds": 0.1, "at": 1e9 / 3,
        "stuttered": False, "revision": 0,
    }  # fmt: skip
    path = tmp_path / f"any{suffix}"
    write_rows(path, [row])
    (found,) = read_rows(path)
    for name in ("rater", "cluster", "choice", "study_id"):
        assert found.fields[name] == text
    assert found.names("candidates") == (text, "b")
    assert found.names("shown") == ()
    assert found.mapping("given") == {text: text}
    assert (found.number("seconds"), found.number("at")) == (0.1, 1e9 / 3)


def test_raters_have_pseudonyms_unless_they_are_named(tmp_path: Path) -> None:
    path = tmp_path / "votes.parquet"
    ballot = compared()
    export_judgements(ballot.study, ballot.votes, path)
    assert pq.read_table(path)["rater"].to_pylist() == ["rater-001", "rater-002", "rater-001"]
    export_judgements(ballot.study, ballot.votes, path, names={"@zoe": "Rater One"})
    assert pq.read_table(path)["rater"].to_pylist() == ["Rater One", "rater-002", "Rater One"]


def elsewhere(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8-sig")
    return path


def test_a_file_from_elsewhere_needs_little(empty: Journal, tmp_path: Path) -> None:
    study = comparing()
    path = tmp_path / "theirs.csv"
    path.write_text(
        "rater;question;subject_id;candidates;choice;seconds\n"
        "ann;best_of;i2;;c;4\n"
        "\n"
        "ann;=steady;i2;b|a;tie;3.5\n"
        "ann;best_of;i2;;a;2\n"
    )  # fmt: skip
    assert import_judgements(path, study, empty, at=77.0) == Imported(3, 0)
    first, second, third = votes(study, empty.events(study.study_id))
    assert (first.choice, first.shown, first.rater_id, first.at, first.seconds) == ("c", (), "ann", 77.0, 4.0)
    assert (second.choice, second.candidates) == ("tie", ("a", "b"))
    assert [first.purpose, third.purpose] == ["vote", "repeat"]
    assert import_judgements(path, study, empty, at=88.0) == Imported(0, 3)


def test_a_changed_answer_is_refused_and_stores_nothing_more(empty: Journal, tmp_path: Path) -> None:
    study = comparing()
    row = {"rater": "ann", "question": "best_of", "subject_id": "i2", "choice": "a", "seconds": 1}
    import_judgements(elsewhere(tmp_path / "a.jsonl", row), study, empty, at=0.0)
    other = {**row, "rater": "max"}
    with pytest.raises(InputError, match=r"b\.jsonl line 2.*the journal with another answer"):
        import_judgements(elsewhere(tmp_path / "b.jsonl", other, {**row, "choice": "b"}), study, empty, at=0.0)
    assert [vote.rater_id for vote in votes(study, empty.events(study.study_id))] == ["ann"]


def test_who_was_shown_first_is_not_known_unless_it_is_said(empty: Journal, tmp_path: Path) -> None:
    """Every pair is preferred three times in four in the order of names: an order of sides made up by name would explain all."""
    pairs = list(combinations(("a", "b", "c"), 2))
    items = [f"i{number}" for number in range(20)]
    study = study_of(
        [{"leaf": "pairwise"}], [("pairwise", item, pair) for item in items for pair in pairs], subjects=OF_PREDICTIONS
    )
    empty.register(study.study_id, title="Study")
    path = elsewhere(
        tmp_path / "theirs.jsonl",
        *(
            {
                "rater": f"r{rater}",
                "question": "pairwise",
                "subject": item,
                "candidates": pair,
                "choice": pair[place % 4 == rater],
            }
            for place, item in enumerate(items)
            for pair in pairs
            for rater in range(4)
        ),
    )
    assert import_judgements(path, study, empty, at=0.0) == Imported(240, 0)
    found = votes(study, empty.events(study.study_id))
    assert {vote.shown for vote in found} == {()}
    assert 90 < sum(vote.sides == vote.candidates for vote in found) < 150
    ranking = rankings_of(study, found)["pairwise"]
    assert [(one.name, one.rank_low, one.rank_high) for one in ranking.methods] == [("a", 1, 1), ("b", 2, 2), ("c", 3, 3)]
    assert left_choices(found) == (0, 0)
    export_judgements(study, found, tmp_path / "again.csv")
    assert import_judgements(tmp_path / "again.csv", study, empty, at=0.0) == Imported(0, 240)
    assert [row.names("shown") for row in read_rows(tmp_path / "again.csv")] == [()] * 240


def test_a_place_alone_says_nothing_where_the_order_is_not_known(tmp_path: Path) -> None:
    row = {"rater": "ann", "question": "best_of", "subject": "i2", "given": {"best": "place-1"}}
    with pytest.raises(InputError, match="line 1: given names a place, and nothing says what stood there; add a column choice"):
        read_judgements(elsewhere(tmp_path / "one.jsonl", row), comparing(), at=0.0)
    (known,) = read_judgements(elsewhere(tmp_path / "two.jsonl", row | {"shown": ["c", "a", "b"]}), comparing(), at=0.0)
    assert known.answer["choice"] == "a"


GOOD = {"rater": "ann", "question": "best_of", "subject_id": "i2", "choice": "a", "seconds": 1}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"subject_id": "i9"}, "no task.*i9"),
        ({"task_id": "nonsense"}, "no task.*nonsense"),
        ({"question": "=steady"}, "2 tasks have.*candidates which was shown, such as a.b or a.c"),
        ({"candidates": ["a", "z"]}, "no task.*z"),
        ({"shown": ["a", "b", "z"]}, "no task.*z"),
        ({"candidates": ["a", "b", "c"], "shown": ["a", "a", "b"]}, "shown were a, a, b"),
        ({"choice": "z"}, "'z', choose from a, b, c"),
        ({"choice": None}, "choice is missing"),
        ({"given": {"best": "place-7"}}, "'place-7', choose from"),
        ({"given": {"best": "place-0", "more": "x"}}, "'more'"),
        ({"given": {"best": "place-1"}}, "'a', but what was given means 'b'"),
        ({"given": "{"}, "not JSON"),
        ({"given": [1]}, "not a mapping"),
        ({"seconds": "soon"}, "'soon', not a number"),
        ({"seconds": -1}, "0 or more"),
        ({"seconds": float("nan")}, "0 or more"),
        ({"at": "yesterday"}, "'yesterday'"),
        ({"rater": None}, "rater is missing"),
        ({"rater": "a\x00b"}, "printable"),
        ({"submission_id": "x" * 201}, "printable"),
        ({"study_id": "0123"}, "study 0123"),
        ({"shown": {"a": 1}}, "not a list"),
        ({"suggestion_shown": "often"}, "suggestion_shown is 'often', choose from hidden"),
    ],
)
def test_every_row_is_checked_and_the_line_is_told(change: dict[str, Any], told: str, tmp_path: Path) -> None:
    path = elsewhere(tmp_path / "theirs.jsonl", GOOD, {**GOOD, "rater": "max", **change})
    with pytest.raises(InputError, match=f"theirs.jsonl line 2: .*{told}"):
        read_judgements(path, comparing(), at=0.0)


def test_files_that_are_none_are_one_sentence(tmp_path: Path) -> None:
    for name, content in (
        ("a.txt", b"x"), ("a.csv", b"\xff"), ("b.csv", b"\xff\xfea"), ("a.parquet", b"no"), ("a.jsonl", b"{"),
        ("b.jsonl", b"[1]\n"), ("b.csv", b"rater,choice\nann,a,b\n"),
    ):  # fmt: skip
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=name):
            read_judgements(tmp_path / name, comparing(), at=0.0)
    (tmp_path / "c.csv").write_text("rater,question,subject,choice,choice\nann,best_of,i2,a,b\n")
    with pytest.raises(InputError, match=r"c\.csv has two columns 'choice'; keep one"):
        read_judgements(tmp_path / "c.csv", comparing(), at=0.0)
    with pytest.raises(InputError, match="cannot be read"):
        read_judgements(tmp_path / "missing.csv", comparing(), at=0.0)
    with pytest.raises(InputError, match=r"choose from \.parquet"):
        export_judgements(comparing(), [], tmp_path / "votes.xlsx")
    with pytest.raises(InputError, match="cannot be written"):
        export_judgements(comparing(), [], tmp_path / "a.txt" / "votes.csv")


def test_the_line_of_a_row_with_line_breaks_is_where_it_begins(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text('rater,question,subject_id,choice,seconds\n"an\nn",best_of,i2,a,1\n')
    with pytest.raises(InputError, match="line 2: rater_id"):
        read_judgements(path, comparing(), at=0.0)


def test_many_rows_come_in_several_transactions(empty: Journal, tmp_path: Path) -> None:
    study = comparing()
    rows = [{**GOOD, "rater": f"r{number}"} for number in range(450)]
    path = elsewhere(tmp_path / "many.jsonl", *rows)
    assert import_judgements(path, study, empty, at=0.0) == Imported(450, 0)
    assert len(votes(study, empty.events(study.study_id))) == 450


def test_nothing_exported_is_nothing_imported(empty: Journal, tmp_path: Path) -> None:
    for suffix in SUFFIXES:
        assert export_judgements(comparing(), [], tmp_path / f"none{suffix}") == 0
        assert import_judgements(tmp_path / f"none{suffix}", comparing(), empty, at=0.0) == Imported(0, 0)
