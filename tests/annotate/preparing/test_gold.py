"""Gold files: what they say, and every way to get them wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from inpaintbench.annotate.preparing.proxies import StudySubject
from inpaintbench.annotate.preparing.tasks import Asked, read_gold
from inpaintbench.errors import InputError

PAIR = Asked(("a", "b", "c", "tie"), ("a", "b", "c"), chooses=True)
LABEL = Asked(("0", "50", "unclear"), (), chooses=False)
GRADE = Asked(("1", "2", "3"), ("a", "b", "c"), chooses=False, ordered=True)
ASKED = {"better": PAIR, "water": LABEL, "grade": GRADE}


def subject(subject_id: str, name: str) -> StudySubject:
    return StudySubject(subject_id, "source", name, name, (1, 8, 8), 25.0, "content", {})


SUBJECTS = [subject("id1", "river.mp4"), subject("id2", "road.mp4"), subject("id3", "road.mp4")]


def lines(
    tmp_path: Path, *rows: str, head: str = "subject,question,answers,candidates"
) -> list[tuple[str, str, tuple[str, ...]]]:
    path = tmp_path / "gold.csv"
    path.write_text("\n".join([head, *rows]) + "\n")
    return [(line.subject_id, line.question, line.answers) for line in read_gold(path, subjects=SUBJECTS, asked=ASKED)]


def test_subjects_go_by_id_or_by_the_name_of_their_source(tmp_path: Path) -> None:
    found = lines(tmp_path, "id2,better, a | tie ", "", "river.mp4,water,50")
    assert found == [("id2", "better", ("a", "tie")), ("id1", "water", ("50",))]


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_other_programs_write_other_delimiters(tmp_path: Path, delimiter: str) -> None:
    row, head = (delimiter.join(fields) for fields in (("50", "id1", "water"), ("answers", "subject", "question")))
    assert lines(tmp_path, row, head="\ufeff" + head) == [("id1", "water", ("50",))]


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("id9,water,50", "gold.csv line 3: the study has no subject 'id9'; give a clip or item id, or the name of its source"),
        ("road.mp4,water,50", "gold.csv line 3: the study has 2 subjects of 'road.mp4'; name one by its id, such as id2"),
        ("id1,watr,50", "gold.csv line 3: unknown question 'watr', did you mean 'water'?"),
        ("id1,water,55", "gold.csv line 3: unknown answer '55', choose from 0, 50, unclear"),
        ("id1,better,a|blank", "gold.csv line 3: unknown answer 'blank', choose from a, b, c, tie"),
        ("id1,better,", "gold.csv line 3: no answer; choose from a, b, c, tie"),
        ("id1,better,a,a|d", "gold.csv line 3: unknown method 'd', choose from a, b, c"),
        ("id1,water,50,a", "gold.csv line 3: method 'a', but the question shows none"),
        ("id3,water,0", "gold.csv line 3 says again what gold.csv line 2 says of 'id3'; keep one of both"),
        ("id1,water,50,,b", "gold.csv line 3 has 5 fields, 4 expected: put a text with ',' in double quotes"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, row: str, told: str) -> None:
    with pytest.raises(InputError) as caught:
        lines(tmp_path, "id3,water,50", row)
    assert str(caught.value) == told


def test_files_that_are_none_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="have no column 'answers'; needed are subject, question, answers"):
        lines(tmp_path, head="subject,question,answer")
    with pytest.raises(InputError, match=r"gold answers '.*none\.csv' cannot be read: .*No such file"):
        read_gold(tmp_path / "none.csv", subjects=SUBJECTS, asked=ASKED)
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="save it as CSV UTF-8"):
        read_gold(tmp_path / "binary.csv", subjects=SUBJECTS, asked=ASKED)


@pytest.mark.parametrize(
    ("row", "right"),
    [
        ("id1,better,a", {"ab": "a", "ac": "a", "bc": ""}),
        ("id1,better,a|b", {"ab": "", "ac": "a", "bc": "b"}),
        ("id1,better,a|tie", {"ab": "a tie", "ac": "a tie", "bc": ""}),
        ("id1,better,tie", {"ab": "tie", "ac": "tie", "bc": "tie"}),
        ("id1,better,a,c|a", {"ab": "", "ac": "a", "bc": ""}),
        ("id1,grade,1|2", {"a": "1 2", "b": "1 2", "c": "1 2"}),
        ("id1,grade,3,b", {"a": "", "b": "3", "c": ""}),
        ("id1,water,0", {"": "0"}),
    ],
)
def test_a_line_is_about_the_tasks_that_it_can_check(tmp_path: Path, row: str, right: dict[str, str]) -> None:
    lines(tmp_path, row)
    [line] = read_gold(tmp_path / "gold.csv", subjects=SUBJECTS, asked=ASKED)
    said = {shown: " ".join(line.right(tuple(shown), asked=ASKED[line.question])) for shown in right}
    assert said == right


def test_a_tolerance_is_a_number_of_steps_of_a_scale(tmp_path: Path) -> None:
    head = "subject,question,answers,tolerance"
    lines(tmp_path, "id1,grade,2,1", "id1,water,0,", "id2,grade,3,0", head=head)
    read = read_gold(tmp_path / "gold.csv", subjects=SUBJECTS, asked=ASKED)
    assert [line.tolerance for line in read] == [1, 0, 0]
    for row, told in {
        "id1,better,a,1": "the answers to 'better' have no order",
        "id1,grade,1,3": "the tolerance is '3', give a number of steps below 3",
        "id1,grade,1,-1": "the tolerance is '-1'", "id1,grade,1,half": "the tolerance is 'half'",
    }.items():  # fmt: skip
        with pytest.raises(InputError, match=told):
            lines(tmp_path, row, head=head)
