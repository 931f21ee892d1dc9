"""Backups made while people answer, and what comes of them."""

from __future__ import annotations

import shutil
import sqlite3
import stat
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from journal_writer import answer, append
from old_journals import write_version_1
from postgres import Postgres
from sqlalchemy import text

from inpaintbench.annotate.journal import Journal, backup, restore
from inpaintbench.annotate.journal.accounts import People
from inpaintbench.annotate.journal.participants import Arrival, Participants
from inpaintbench.annotate.journal.schema import CONTENTS
from inpaintbench.errors import InputError, WorkspaceError

STUDY, TOGETHER = "study-1", 3


@pytest.fixture
def full(journal: Journal) -> Journal:
    """A journal with something in every table."""
    for study_id in (STUDY, "study-2"):
        journal.register(study_id, title=f"Ünï {study_id}")
        people = People(journal)
        rater = people.add(study_id, "Ann")
        people.enter_by_secret(people.invite(study_id, rater.rater_id), at=1.7e9, study_id=study_id)
        people.enter_by_password(study_id, "Ann", "wrong password", at=1.7e9 + 1 / 3)
        for number in range(20):
            append(journal, study_id, "r", number=number)
        with journal.writing(study_id) as writer:
            last = writer.append("answer", "r", answer("r") | {"text": "it's % \\ 漢字 {} ; \n"}, at=1e9 + 1 / 3)
            undo = {"submission_id": "u", "undoes": last.body["submission_id"], "task_id": "t"}
            writer.append("undo", "r", undo, at=0.1 + 0.2)
        Participants(journal).arrive(study_id, Arrival("prolific", "somebody"), at=1.7e9)
    return journal


def contents(journal: Journal) -> dict[str, list[tuple]]:
    with journal.database.reading() as transaction:
        return {table.name: sorted(map(repr, map(tuple, transaction.rows(table.select())))) for table in CONTENTS}


def test_a_backup_is_a_journal_with_the_same_contents(full: Journal, tmp_path: Path) -> None:
    before = contents(full)
    assert all(before.values())
    target = tmp_path / "backups" / "one.sqlite"
    target.parent.mkdir()
    backup(full, target)
    assert [path.name for path in target.parent.iterdir()] == ["one.sqlite"]
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert contents(full) == before
    with Journal(target) as copy:
        assert contents(copy) == before
        assert copy.events(STUDY) == full.events(STUDY)
        assert append(copy, STUDY, "r", number=1)


def test_a_backup_goes_into_either_database(full: Journal, tmp_path: Path, journal_url: str, postgres: Postgres) -> None:
    before = contents(full)
    backup(full, tmp_path / "one.sqlite")
    was = (tmp_path / "one.sqlite").read_bytes()
    for url in (postgres.fresh(), tmp_path / "restored.sqlite"):
        restore(tmp_path / "one.sqlite", url)
        with Journal(url) as restored:
            assert contents(restored) == before
            last = restored.events(STUDY)[-1].seq
            assert append(restored, STUDY, "r", number=1)
            assert restored.events(STUDY, after=last)[0].seq == last + 1
            with restored.database.reading() as transaction:
                assert transaction.rows(text("SELECT count(*) FROM judgements"))[0][0] == 41
    assert (tmp_path / "one.sqlite").read_bytes() == was
    with pytest.raises(InputError, match=r"is not empty .*restore into a new one"):
        restore(tmp_path / "one.sqlite", journal_url)
    assert contents(full) == before


def test_a_long_journal_is_copied_in_portions(journal: Journal, tmp_path: Path, postgres: Postgres) -> None:
    journal.register(STUDY, title="x")
    with journal.writing(STUDY) as writer:
        for number in range(2100):
            writer.append("renew", "r", {"lease_id": "l", "expires_at": number}, at=number)
    backup(journal, tmp_path / "one.sqlite")
    url = postgres.fresh()
    restore(tmp_path / "one.sqlite", url)
    with Journal(url) as restored:
        assert restored.events(STUDY) == journal.events(STUDY)


@contextmanager
def writing_at_full_speed(journal: Journal) -> Iterator[list[str]]:
    """Threads that append answers, some to a transaction; the submission ids that were committed so far."""
    stored: list[str] = []
    over = threading.Event()

    def write() -> None:
        while not over.is_set():
            bodies = [answer("r") for _ in range(TOGETHER)]
            with journal.writing(STUDY) as writer:
                for number, body in enumerate(bodies):
                    writer.append("answer", "r", body | {"first": bodies[0]["submission_id"]}, at=number)
            stored.extend(str(body["submission_id"]) for body in bodies)

    with ThreadPoolExecutor(3) as pool:
        writers = [pool.submit(write) for _ in range(3)]
        try:
            while len(stored) < 30:
                assert not any(writer.done() for writer in writers)
            yield stored
        finally:
            over.set()
        for writer in writers:
            writer.result()


def test_a_backup_while_others_write_holds_whole_transactions(journal: Journal, tmp_path: Path) -> None:
    journal.register(STUDY, title="x")
    backups = []
    with writing_at_full_speed(journal) as stored:
        for number in range(3):
            before = set(stored)
            backup(journal, tmp_path / f"{number}.sqlite")
            backups.append((tmp_path / f"{number}.sqlite", before))
    everything = journal.events(STUDY)
    assert {event.body["submission_id"] for event in everything} == set(stored)
    for path, before in backups:
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        with Journal(path) as copy:
            found = copy.events(STUDY)
        assert found == everything[: len(found)]
        assert before <= {event.body["submission_id"] for event in found}
        assert len(found) % TOGETHER == 0
        firsts = [event.body["first"] for event in found]
        assert {firsts.count(first) for first in set(firsts)} == {TOGETHER}
    assert len({path.stat().st_size for path, _ in backups}) > 1


def test_an_existing_file_is_replaced_only_when_asked(full: Journal, tmp_path: Path) -> None:
    target = tmp_path / "one.sqlite"
    target.write_text("mine")
    with pytest.raises(InputError, match="exists; name another file"):
        backup(full, target)
    assert target.read_text() == "mine"
    backup(full, target, replace=True)
    with Journal(target) as copy:
        assert contents(copy) == contents(full)
        with pytest.raises(InputError, match="is a database that is in use"):
            backup(full, target, replace=True)
    with pytest.raises(InputError, match="is a folder"):
        backup(full, tmp_path)
    with pytest.raises(InputError, match="No such file"):
        backup(full, tmp_path / "nowhere" / "one.sqlite")
    if full.database.path:
        with pytest.raises(InputError, match="in use"):
            backup(full, full.database.path, replace=True)
    assert not list(tmp_path.glob(".*"))


def test_a_damaged_journal_or_backup_is_told(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    with Journal(path) as journal:
        journal.register(STUDY, title="x")
        for number in range(50):
            append(journal, STUDY, "r", number=number)
    spoilt = bytearray(path.read_bytes())
    pages = len(spoilt) // 4096  # those of the schema come first
    for page in range(pages - 6, pages):
        spoilt[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    path.write_bytes(spoilt)
    with Journal(path) as journal, pytest.raises(WorkspaceError, match=r"damaged|malformed"):
        backup(journal, tmp_path / "one.sqlite")
    assert not (tmp_path / "one.sqlite").exists()
    with pytest.raises(WorkspaceError, match=r"damaged|malformed"):
        restore(path, tmp_path / "new.sqlite")


def test_what_is_no_backup_is_told(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database " * 100)
    with closing(sqlite3.connect(tmp_path / "other.sqlite")) as connection:
        connection.execute("CREATE TABLE recipes (what TEXT)")
    for name, kind, said in (
        ("missing", InputError, "there is no backup"),
        ("text", WorkspaceError, "not a database"),
        ("other.sqlite", InputError, "is no backup of a journal"),
    ):
        with pytest.raises(kind, match=said):
            restore(tmp_path / name, tmp_path / "new.sqlite")
    Journal(tmp_path / "journal.sqlite").close()
    with pytest.raises(InputError, match="into itself"):
        restore(tmp_path / "journal.sqlite", f"sqlite:///{tmp_path}/journal.sqlite")


def test_an_older_backup_is_restored_and_stays_as_it_is(tmp_path: Path) -> None:
    bodies = write_version_1(f"sqlite:///{tmp_path}/old.sqlite")
    shutil.copy(tmp_path / "old.sqlite", tmp_path / "same.sqlite")
    restore(tmp_path / "old.sqlite", tmp_path / "new.sqlite")
    with Journal(tmp_path / "new.sqlite") as journal:
        assert [event.body for event in journal.events(STUDY)[:-1]] == bodies
    assert (tmp_path / "old.sqlite").read_bytes() == (tmp_path / "same.sqlite").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.sqlite", "old.sqlite", "same.sqlite"]
