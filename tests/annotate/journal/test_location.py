"""Where a journal lies, and how a study remembers it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inpaintbench.annotate.journal.engines import NOTE, name_of, note, noted, parse_url, place, places_of_answers
from inpaintbench.errors import InputError

POSTGRES = "postgresql+pg8000://me:secret@db.test:6543/answers"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "study").mkdir()
    return tmp_path / "study"


def test_a_database_means_the_same_from_everywhere(study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    wanted = {
        None: study / "journal.sqlite", "j.sqlite": tmp_path / "j.sqlite", "/srv/j.sqlite": Path("/srv/j.sqlite"),
        "sqlite:///j.sqlite": tmp_path / "j.sqlite", "sqlite+pysqlite:///sub/j.sqlite": tmp_path / "sub" / "j.sqlite",
        "sqlite:////srv/j.sqlite": Path("/srv/j.sqlite"), "sqlite+pysqlite:////srv/j.sqlite": Path("/srv/j.sqlite"),
    }  # fmt: skip
    found = {database: place(database, study) for database in wanted}
    monkeypatch.chdir("/")
    assert {database: url.database for database, url in found.items()} == {one: str(path) for one, path in wanted.items()}
    assert {url.drivername for url in found.values()} == {"sqlite"}
    assert place(POSTGRES, study) == place(POSTGRES.replace("+pg8000", ""), study)
    assert (place(POSTGRES, study).password, name_of(place(POSTGRES, study))) == ("secret", "db.test:6543/answers")


@pytest.mark.parametrize("database", [
    "", "  ", "sqlite://", "sqlite:j.sqlite", "sqlite+aiosqlite:///j.sqlite", "mysql://me:secret@h/d", "postgres://me:secret@h/d",
    "postgresql://me:secret@h", "https://h/j.sqlite", "sqlite:///:memory:",
])  # fmt: skip
def test_what_is_no_place_is_one_sentence(study: Path, database: str) -> None:
    with pytest.raises(InputError, match="write PATH, sqlite:///PATH or postgresql://") as raised:
        place(database, study)
    assert "secret" not in str(raised.value)


def test_a_study_remembers_where_its_answers_lie(study: Path) -> None:
    note(study, place(POSTGRES, study))
    assert json.loads((study / NOTE).read_text()) == {"database": "db.test:6543/answers"}
    for ask in (place, places_of_answers):
        with pytest.raises(InputError, match=r"lie in 'db.test:6543/answers'; give it with --database, or delete"):
            ask(None, study)
    with pytest.raises(InputError, match=r"lie in 'db.test:6543/answers', not in '/srv/j.sqlite'"):
        places_of_answers("/srv/j.sqlite", study)
    assert places_of_answers(POSTGRES, study) == [parse_url(POSTGRES)]
    note(study, place("/srv/j.sqlite", study))
    assert noted(study) == "/srv/j.sqlite"
    note(study, place(str(study / ".." / "study" / "journal.sqlite"), study))
    assert (noted(study), place(None, study)) == (None, parse_url(study / "journal.sqlite"))
    assert not (study / NOTE).exists()


def test_answers_in_the_folder_count_too_when_the_journal_moved(study: Path) -> None:
    assert places_of_answers(None, study) == []
    (study / "journal.sqlite").touch()
    assert places_of_answers(None, study) == [parse_url(study / "journal.sqlite")]
    assert places_of_answers(POSTGRES, study) == [parse_url(POSTGRES), parse_url(study / "journal.sqlite")]


def test_a_note_that_cannot_be_read_is_told(study: Path) -> None:
    for text in ("", "[]", "{}"):
        (study / NOTE).write_text(text)
        with pytest.raises(InputError, match=r"cannot be read; delete it if the answers lie in 'journal.sqlite'"):
            place(None, study)
