"""Journals of older versions, of newer ones, and databases that are something else."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from journal_writer import answer
from old_journals import write_version_1
from postgres import Postgres
from sqlalchemy import UniqueConstraint, create_engine, inspect, text

from inpaintbench.annotate.journal import Journal
from inpaintbench.annotate.journal.accounts import People
from inpaintbench.annotate.journal.database import Database
from inpaintbench.annotate.journal.schema import METADATA, STEPS
from inpaintbench.errors import InputError


def test_an_old_journal_is_migrated_without_losing_a_row(journal_url: str) -> None:
    bodies = write_version_1(journal_url)
    for _ in range(2):
        with Journal(journal_url) as journal:
            events = journal.events("study-1")
            assert [event.body for event in events[:-1]] == bodies
            assert [event.at for event in events] == [*(seq / 2 for seq in range(1, 51)), 99.0]
            assert journal.studies() == {"study-1": "Old"}
            assert [rater.name for rater in People(journal).raters("study-1")] == ["Ann"]
            with journal.database.reading() as transaction:
                standing = transaction.rows(text("SELECT submission_id FROM judgements ORDER BY seq"))
                versions = transaction.rows(text("SELECT version FROM schema_version ORDER BY version"))
            assert [row[0] for row in standing] == [body["submission_id"] for body in bodies[1:]]
            assert [row[0] for row in versions] == list(range(1, len(STEPS) + 1))
    with Journal(journal_url) as journal, journal.writing("study-1") as writer:
        assert writer.append("resume", "r1", {}, at=0).seq == 52


def test_a_file_is_copied_before_it_is_migrated(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    write_version_1(f"sqlite:///{path}")
    with closing(sqlite3.connect(path)) as connection:
        before = list(connection.iterdump())
    Journal(path).close()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["journal.sqlite", "journal.sqlite.v1-backup"]
    with closing(sqlite3.connect(tmp_path / "journal.sqlite.v1-backup")) as connection:
        assert list(connection.iterdump()) == before
    Journal(tmp_path / "new.sqlite").close()
    assert not (tmp_path / "new.sqlite.v1-backup").exists()


@pytest.mark.parametrize("old", [True, False])
def test_processes_that_open_at_once_migrate_once(journal_url: str, old: bool) -> None:
    if old:
        write_version_1(journal_url, answers=100)
    program = (
        "import sys; from inpaintbench.annotate.journal import Journal; "
        "print(1, flush=True); input(); Journal(sys.argv[1]).close()"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", program, journal_url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for process in started:
        assert process.stdout.readline() == "1\n"
    for process in started:
        process.stdin.write("\n")
        process.stdin.flush()
    for process in started:
        process.communicate(timeout=60)
        assert process.returncode == 0
    with Journal(journal_url) as journal, journal.database.reading() as transaction:
        assert transaction.rows(text("SELECT count(*) FROM schema_version"))[0][0] == len(STEPS)
        assert len(journal.events("study-1")) == (101 if old else 0)


def test_a_migration_that_fails_changes_nothing(journal_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bodies = write_version_1(journal_url)

    def fail(transaction: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("inpaintbench.annotate.journal.schema.STEPS", (*STEPS, fail))
    with pytest.raises(ZeroDivisionError):
        Journal(journal_url)
    database = Database(journal_url)
    with database.reading() as transaction:
        assert inspect(transaction.connection).get_view_names() == []
        assert transaction.rows(text("SELECT version FROM schema_version"))[0][0] == 1
    database.close()
    monkeypatch.undo()
    with Journal(journal_url) as journal:
        assert [event.body for event in journal.events("study-1")[:-1]] == bodies


def test_a_newer_journal_is_told_in_one_sentence(journal_url: str) -> None:
    with Journal(journal_url) as journal, journal.database.writing("x") as transaction:
        transaction.change(text(f"INSERT INTO schema_version VALUES ({len(STEPS) + 1}, 0)"))
    with pytest.raises(InputError, match=f"version {len(STEPS) + 1}, .*up to {len(STEPS)}: use a newer inpaintbench"):
        Journal(journal_url)


def test_a_database_that_holds_something_else_stays_as_it_is(journal_url: str) -> None:
    engine = create_engine(journal_url.replace("postgresql:", "postgresql+pg8000:"))
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE events (what TEXT)"))
    with pytest.raises(InputError, match="no journal: it holds a table 'events'"):
        Journal(journal_url)
    assert inspect(engine).get_table_names() == ["events"]
    engine.dispose()


def test_a_server_may_be_shared_and_a_file_may_not(postgres: Postgres, tmp_path: Path) -> None:
    for url in (postgres.fresh(), f"sqlite:///{tmp_path}/x.sqlite"):
        engine = create_engine(url.replace("postgresql:", "postgresql+pg8000:"))
        with engine.begin() as connection:
            connection.execute(text("CREATE TABLE recipes (what TEXT)"))
        if engine.dialect.name == "postgresql":
            Journal(url).close()
        else:
            with pytest.raises(InputError, match="'recipes'"):
                Journal(url)
        engine.dispose()


def test_the_tables_that_migrations_make_are_those_the_program_uses(journal: Journal) -> None:
    with journal.database.reading() as transaction:
        found = inspect(transaction.connection)
        assert set(found.get_table_names()) == set(METADATA.tables)
        for name, table in METADATA.tables.items():
            columns = {column["name"]: (column["type"].python_type, column["nullable"]) for column in found.get_columns(name)}
            assert columns == {column.name: (column.type.python_type, column.nullable) for column in table.columns}
            assert found.get_pk_constraint(name)["constrained_columns"] == [column.name for column in table.primary_key]
            unique = {tuple(one["column_names"]) for one in found.get_unique_constraints(name)}
            rules = [rule for rule in table.constraints if isinstance(rule, UniqueConstraint)]
            expected = {tuple(column.name for column in rule.columns) for rule in rules}
            assert unique == expected
            assert len(found.get_foreign_keys(name)) == len(table.foreign_key_constraints)


def test_the_view_of_judgements_leaves_out_what_is_excluded(journal_url: str) -> None:
    def excludes(submission: str | None) -> dict[str, object]:
        return {"submission": submission, "reason": "r", "rule": None, "by": "command"}

    with Journal(journal_url) as journal:
        journal.register("study-1", title="T")
        steps = [
            (("exclude", "r1", excludes("r1-1")), ["r1-0", "r2-0", "r2-1"]),
            (("exclude", "r2", excludes(None)), ["r1-0"]),
            (("include", "r1", {"submission": "r1-1", "reason": "r", "by": "command"}), ["r1-0", "r1-1"]),
            (("include", "r2", {"submission": None, "reason": "r", "by": "command"}), ["r1-0", "r1-1", "r2-0", "r2-1"]),
            (("exclude", "r2", excludes(None)), ["r1-0", "r1-1"]),
        ]
        with journal.writing("study-1") as writer:
            for rater in ("r1", "r2"):
                for number in range(2):
                    body = {**answer(rater, number=number), "submission_id": f"{rater}-{number}"}
                    writer.append("answer", rater, body, at=1.0)
        for (kind, rater, body), left in steps:
            with journal.writing("study-1") as writer:
                writer.append(kind, rater, body, at=2.0)  # type: ignore[arg-type]
            with journal.database.reading() as transaction:
                rows = transaction.rows(text("SELECT submission_id FROM judgements ORDER BY submission_id"))
            assert [row[0] for row in rows] == left
