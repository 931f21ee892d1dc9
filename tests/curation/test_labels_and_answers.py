"""CSV files as people's programs write them."""

from __future__ import annotations

from pathlib import Path

import pytest
from selection_world import fill

from inpaintbench.curation.sheets import import_answers, import_labels
from inpaintbench.errors import InputError
from inpaintbench.types import Source
from inpaintbench.workspace import Workspace

LABELS = [("folder/video 1.mp4", "mood_level", "low"), ("c05", "note", "so-so"), ("s02", "weight", "0.5")]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_labels_of_any_delimiter_are_read(
    workspace: Workspace, tmp_path: Path, delimiter: str, ending: str, encoding: str
) -> None:
    file = tmp_path / "labels.csv"
    lines = [delimiter.join(row) for row in [("subject", "name", "value"), *LABELS]]
    file.write_bytes((ending.join(lines) + ending).encode(encoding))
    rows = import_labels(fill(workspace), file)
    assert [(row.subject_id, row.name, row.value) for row in rows] == [
        ("s01", "mood_level", "low"), ("c05", "note", "so-so"), ("s02", "weight", 0.5),
    ]  # fmt: skip


def test_quoted_delimiters_belong_to_the_path(workspace: Workspace, tmp_path: Path) -> None:
    fill(workspace)
    odd = Source("odd", "sub/B, gross; x.mp4", "e" * 64, 1, "folder", None, None)
    workspace.write_table("sources", "find.more", [odd], Source)
    for delimiter in ",;":
        lines = [("subject", "name", "value"), ('"sub/B, gross; x.mp4"', "mood", "good")]
        (tmp_path / "l.csv").write_text("\n".join(delimiter.join(row) for row in lines))
        assert [row.subject_id for row in import_labels(workspace, tmp_path / "l.csv")] == ["odd"]


def test_a_path_with_a_comma_that_is_not_quoted_is_told_as_such(workspace: Workspace, tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text('subject,name,value\n\n"c05",a,"of two\nlines"\nsub dir/B, gross.mp4,b,c\n')
    with pytest.raises(InputError, match=r"^labels.csv line 5 has 4 fields, 3 expected: put a text with ',' in double quotes$"):
        import_labels(fill(workspace), file)
    file.write_text("clip;answer\nc05;keep;no\n")
    with pytest.raises(InputError, match=r"^labels.csv line 2 has 3 fields, 2 expected: put a text with ';' in double quotes$"):
        import_answers(workspace, file)


def test_lines_are_counted_as_an_editor_counts_them(workspace: Workspace, tmp_path: Path) -> None:
    file = tmp_path / "labels.csv"
    file.write_text('subject,name,value\n\nc05,a,"of two\nlines"\n\nnothing,b,c\n')
    with pytest.raises(InputError, match=r"labels.csv line 6: 'nothing' is neither"):
        import_labels(fill(workspace), file)


def test_empty_fields_at_the_ends_of_lines_do_no_harm(workspace: Workspace, tmp_path: Path) -> None:
    file = tmp_path / "answers.csv"
    file.write_text("clip;answer;;reason;rater\nc05;keep;;;\nc06;reject;;dark;;;\n;;;;\nc07\n")
    found = import_answers(fill(workspace), file)
    assert [(row.subject_id, row.answer, row.reason) for row in found] == [("c05", "keep", None), ("c06", "reject", "dark")]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"subjekt;name;value\n", "have no column 'subject'; needed are subject, name, value"),
        (b"", "have no column 'subject'"),
        ("subject,name,value\ns\u00e4,b,c\n".encode("cp1252"), "is not UTF-8: save it as CSV UTF-8"),
        (b"subject,subject,name,value\n", "has two columns 'subject'; keep one"),
    ],
)
def test_a_file_that_is_none_is_told(workspace: Workspace, tmp_path: Path, text: bytes, sentence: str) -> None:
    (tmp_path / "labels.csv").write_bytes(text)
    with pytest.raises(InputError, match=sentence):
        import_labels(workspace, tmp_path / "labels.csv")
    with pytest.raises(InputError, match=r"labels '.*none.csv' cannot be read: No such file"):
        import_labels(workspace, tmp_path / "none.csv")
