"""The journal in SQLite and in PostgreSQL: order, uniqueness, concurrent writers, sudden deaths."""

from __future__ import annotations

import json
import os
import resource
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from itertools import pairwise
from pathlib import Path

import journal_writer
import numpy as np
import pytest
from journal_writer import answer, append
from postgres import Postgres, running_postgres
from sqlalchemy import text

from inpaintbench.annotate.journal import AlreadyThere, Journal
from inpaintbench.annotate.journal.database import FairLock, JournalUnavailable, RuleBroken, lock_number
from inpaintbench.annotate.journal.engines import file_system, is_network
from inpaintbench.annotate.records import Event
from inpaintbench.errors import InputError

STUDY = "study-1"
EACH, DEATHS = 50, 5
"""Events of one writer beside others; writers that are killed."""


@pytest.fixture
def study(journal: Journal) -> Journal:
    journal.register(STUDY, title="A study")
    return journal


@contextmanager
def writer_process(url: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, journal_writer.__file__, url, STUDY]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
    try:
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.stdin.close()
        process.stdout.close()
        assert process.wait(timeout=30) == 0


def _until_line(process: subprocess.Popen[str], last: str) -> Iterator[str]:
    for line in process.stdout:
        if line == f"{last}\n":
            return
        yield line
    raise AssertionError(f"the other process ended before it said {last!r}")


@contextmanager
def polling(journal: Journal) -> Iterator[list[Event]]:
    """What a reader sees that asks again and again for what is new; complete after the block."""
    seen: list[Event] = []
    over = threading.Event()

    def poll() -> None:
        while True:
            last_round = over.is_set()
            seen.extend(journal.events(STUDY, after=seen[-1].seq if seen else 0))
            if last_round:
                return
            time.sleep(0.005)

    with ThreadPoolExecutor(1) as pool:
        reader = pool.submit(poll)
        try:
            yield seen
        finally:
            over.set()
            reader.result()


def test_events_come_back_as_they_were_and_in_order(study: Journal) -> None:
    bodies = [
        answer("r1") | {"given": {"ä": ["漢字", None, True, 0.1, 1e300, -7]}, "text": '<b>"\\u0000"\n</b>'} for _ in range(3)
    ]
    with study.writing(STUDY) as writer:
        made = [writer.append("answer", f"rater-{n}", body, at=1.7e9 + n / 3) for n, body in enumerate(bodies)]
        assert writer.events(after=made[0].seq) == made[1:]
    assert study.events(STUDY) == made
    assert [event.body for event in made] == bodies
    assert [event.at for event in made] == [1.7e9 + n / 3 for n in range(3)]
    assert made[0].seq < made[1].seq < made[2].seq
    assert study.events(STUDY, after=made[1].seq) == made[2:]
    assert study.events("another") == []


def test_an_event_of_each_kind_is_kept(study: Journal) -> None:
    bodies = {
        "lease": {"lease_id": "l1", "task_id": "t", "shown": ["a", "b"], "purpose": "vote", "expires_at": 9.0},
        "renew": {"lease_id": "l1", "expires_at": 19.0},
        "answer": answer("a") | {"lease_id": "l1"},
        "skip": {"submission_id": "s2", "lease_id": "l2", "task_id": "t", "reason": "broken", "text": ""},
        "undo": {"submission_id": "s3", "undoes": "s2", "task_id": "t"},
        "resume": {},
    }
    with study.writing(STUDY) as writer:
        for kind, body in bodies.items():
            writer.append(kind, "r", body, at=0)
        writer.append("renew", "r", bodies["renew"], at=1)
    assert [(event.kind, event.body) for event in study.events(STUDY)] == [*bodies.items(), ("renew", bodies["renew"])]


@pytest.mark.parametrize("field", ["submission_id", "lease_id", "undoes"])
def test_nothing_comes_twice_and_the_transaction_goes_on(study: Journal, field: str) -> None:
    kind, other = ("undo", "undo") if field == "undoes" else ("answer", "skip")
    first, second = (
        {"submission_id": f"s{n}", "lease_id": f"l{n}", "task_id": "t", "undoes": f"u{n}", "reason": "r"} for n in (1, 2)
    )
    with study.writing(STUDY) as writer:
        stored = writer.append(kind, "r", first, at=0)
    with study.writing(STUDY) as writer:
        with pytest.raises(AlreadyThere, match=first[field]) as raised:
            writer.append(other, "r", second | {field: first[field]}, at=1)
        assert raised.value.field == field
        assert writer.submitted("s1") == stored
        assert writer.submitted("s2") is None
        after = writer.append(other, "r", second, at=2)
    assert study.events(STUDY) == [stored, after]
    study.register("study-2", title="Another")
    with study.writing("study-2") as writer:
        writer.append(kind, "r", first, at=0)
        assert writer.submitted("s2") is None


def test_events_that_are_put_are_stored_together_with_those_that_are_appended(study: Journal) -> None:
    append(study, STUDY, "r", number=0)
    with study.writing(STUDY) as writer:
        put = [writer.put("answer", "r", answer("r", number=n), at=n / 3, seq=n + 1) for n in (1, 2, 3)]
        assert writer.events(after=1) == put
        put.append(writer.append("resume", "r", {}, at=9))
        put.append(writer.put("resume", "ä", {"text": '"\\\n'}, at=1e9 + 0.1, seq=6))
    assert [event.seq for event in put] == [2, 3, 4, 5, 6]
    assert study.events(STUDY, after=1) == put


@pytest.mark.parametrize("same", ["submission", "number"])
def test_what_is_put_and_there_already_loses_the_transaction(study: Journal, same: str) -> None:
    append(study, STUDY, "r", number=0)
    before = study.events(STUDY)
    body, seq = (before[0].body, 3) if same == "submission" else (answer("r", number=1), 1)

    def put() -> None:
        with study.writing(STUDY) as writer:
            writer.put("answer", "r", answer("r", number=5), at=0, seq=2)
            writer.put("answer", "r", body, at=0, seq=seq)

    with pytest.raises(RuleBroken):
        put()
    assert study.events(STUDY) == before


def test_an_exception_takes_everything_back(study: Journal) -> None:
    def fail() -> None:
        with study.writing(STUDY) as writer:
            writer.append("answer", "r", answer("r"), at=0)
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        fail()
    assert study.events(STUDY) == []
    append(study, STUDY, "r", number=1)
    assert len(study.events(STUDY)) == 1


@pytest.mark.parametrize("statement", [
    "UPDATE events SET rater_id = 'x'", "DELETE FROM events", "DELETE FROM events WHERE seq = 1",
])  # fmt: skip
def test_the_database_itself_refuses_changes(study: Journal, statement: str) -> None:
    append(study, STUDY, "r", number=1)
    before = study.events(STUDY)
    with pytest.raises(RuleBroken, match="events are never changed"), study.database.writing("x") as transaction:
        transaction.change(text(statement))
    assert study.events(STUDY) == before


def test_replacing_and_emptying_are_changes_too(study: Journal) -> None:
    append(study, STUDY, "r", number=1)
    before = study.events(STUDY)
    columns = "study_id, seq, at, kind, rater_id, body"
    statement = (
        f"INSERT OR REPLACE INTO events ({columns}) SELECT {columns} FROM events" if study.database.path else "TRUNCATE events"
    )
    with pytest.raises(RuleBroken, match="events are never changed"), study.database.writing("x") as transaction:
        transaction.change(text(statement))
    assert study.events(STUDY) == before


@pytest.mark.parametrize(("kind", "rater", "body", "at", "said"), [
    ("vote", "r", {}, 0, "unknown kind of event 'vote'"),
    ("answer", "r", {"lease_id": "l"}, 0, "submission_id must be"),
    ("answer", "r", {"lease_id": "l", "submission_id": 7}, 0, "submission_id must be .*'7'"),
    ("answer", "r", {"lease_id": "l" * 201, "submission_id": "s"}, 0, "lease_id must be"),
    ("undo", "r", {"submission_id": "s", "undoes": "a\x00b"}, 0, "undoes must be"),
    ("resume", "", {}, 0, "rater_id must be"),
    ("resume", "r", {"n": float("nan")}, 0, "finite numbers"),
    ("resume", "r", {"n": {1, 2}}, 0, "plain data"),
    ("resume", "r", {"text": ["nul \x00"]}, 0, "cannot be stored"),
    ("resume", "r", {"half \ud83d": 1}, 0, "cannot be stored"),
    ("resume", "r", {}, float("inf"), "time of an event"),
])  # fmt: skip
def test_what_cannot_be_stored_is_told(study: Journal, kind: str, rater: str, body: dict, at: float, said: str) -> None:
    with study.writing(STUDY) as writer:
        with pytest.raises(InputError, match=said):
            writer.append(kind, rater, body, at=at)
        writer.append("resume", "r", {}, at=0)
    assert [event.kind for event in study.events(STUDY)] == ["resume"]


def test_a_study_must_be_registered_and_may_be_again(journal: Journal) -> None:
    with pytest.raises(InputError, match="'study-1' is not in this journal"), journal.writing(STUDY) as writer:
        writer.append("resume", "r", {}, at=0)
    for title in ("One", "One", "Two"):
        journal.register(STUDY, title=title)
    append(journal, STUDY, "r", number=0)
    assert journal.studies() == {STUDY: "Two"}
    for study_id, title in (("", "x"), ("a\nb", "x"), ("a", "x\x00")):
        with pytest.raises(InputError):
            journal.register(study_id, title=title)


def test_judgements_are_the_answers_that_stand(study: Journal) -> None:
    with study.writing(STUDY) as writer:
        kept, undone = (writer.append("answer", "r", answer("r", number=n) | {"choice": "a" * n}, at=n) for n in (1, 2))
        writer.append("skip", "r", {"submission_id": "s", "lease_id": "l", "task_id": "t", "reason": "broken"}, at=3)
        writer.append("undo", "r", {"submission_id": "u", "undoes": undone.body["submission_id"], "task_id": "t"}, at=4)
    with study.database.reading() as transaction:
        (row,) = transaction.rows(text("SELECT * FROM judgements"))
    assert (row.study_id, row.seq, row.at, row.rater_id) == (STUDY, kept.seq, 1.0, "r")
    assert (row.submission_id, row.task_id, row.choice, row.seconds) == (kept.body["submission_id"], "task-1", "a", 2.5)
    assert json.loads(row.body) == kept.body


def test_a_reader_beside_many_threads_misses_nothing(study: Journal) -> None:
    def write(name: str) -> list[str]:
        return [append(study, STUDY, name, number=number) for number in range(EACH)]

    with polling(study) as seen, ThreadPoolExecutor(6) as pool:
        stored = [one for many in pool.map(write, [f"r{n}" for n in range(6)]) for one in many]
    _check(study, seen, stored, writers=6)


def test_a_reader_beside_several_processes_misses_nothing(study: Journal, journal_url: str) -> None:
    def run(number: int) -> list[str]:
        with writer_process(journal_url) as process:
            process.stdin.write(f"write p{number} {EACH}\n")
            return [line.strip() for line in _until_line(process, "done")]

    with polling(study) as seen, ThreadPoolExecutor(2) as pool:
        stored = [one for many in pool.map(run, range(2)) for one in many]
    _check(study, seen, stored, writers=2)


def _check(journal: Journal, seen: list[Event], stored: list[str], *, writers: int) -> None:
    assert seen == journal.events(STUDY)
    assert len(stored) == writers * EACH
    assert sorted(event.body["submission_id"] for event in seen) == sorted(stored)
    numbers = [event.seq for event in seen]
    assert all(one < other for one, other in pairwise(numbers))
    for rater in {event.rater_id for event in seen}:
        assert [event.at for event in seen if event.rater_id == rater] == list(range(EACH))


def test_a_killed_writer_loses_nothing_that_it_was_told_is_stored(study: Journal, journal_url: str) -> None:
    rng = np.random.default_rng(3)
    told: list[str] = []
    with writer_process(journal_url) as process:
        for _ in range(DEATHS):
            process.stdin.write("fork\n")
            child = int(process.stdout.readline().removeprefix("pid "))
            told.append(process.stdout.readline().strip())
            killer = threading.Timer(rng.uniform(0, 0.15), os.kill, (child, signal.SIGKILL))
            killer.start()
            told += [line.strip() for line in _until_line(process, "dead")]
            killer.join()
            append(study, STUDY, "survivor", number=len(told))
    found = [event.body["submission_id"] for event in study.events(STUDY) if event.rater_id == "forked"]
    # The last line of a killed process may be cut short.
    assert {one for one in told if len(one) == 36} <= set(found)
    # At most one event per death was committed and not told.
    assert len(told) <= len(set(found)) + DEATHS
    assert len(found) == len(set(found)) <= len(told) + DEATHS
    assert sum(event.rater_id == "survivor" for event in study.events(STUDY)) == DEATHS
    if study.database.path:
        with closing(sqlite3.connect(study.database.path)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_transactions_of_one_thread_do_not_nest(study: Journal) -> None:
    with study.writing(STUDY), pytest.raises(RuntimeError, match="already"), study.writing(STUDY):
        pass
    append(study, STUDY, "r", number=0)


def test_a_file_and_its_log_are_private(tmp_path: Path) -> None:
    path = tmp_path / "a #?%20 b.sqlite"
    with Journal(path) as journal:
        journal.register(STUDY, title="x")
        files = sorted(tmp_path.iterdir())
        assert [file.name.removeprefix(path.name) for file in files] == ["", "-shm", "-wal"]
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    with Journal(f"sqlite:///{tmp_path}/journal.sqlite") as journal, journal.database.reading() as transaction:
        settings = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        assert [transaction.rows(text(f"PRAGMA {name}"))[0][0] for name in settings] == ["wal", 2, 1, 30000]


def test_a_relative_path_stays_the_same_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Journal(Path("journal.sqlite")) as journal:
        monkeypatch.chdir("/")
        journal.database.close()
        journal.register(STUDY, title="x")
    with Journal(tmp_path / "journal.sqlite") as journal:
        assert journal.studies() == {STUDY: "x"}


@pytest.mark.parametrize(("url", "said"), [
    ("sqlite:journal.sqlite", "'sqlite', is not one; write PATH, sqlite:///PATH"),
    ("sqlite://", "plain SQLite file"),
    ("sqlite:///:memory:", "plain SQLite file"),
    ("sqlite:///x.sqlite?mode=ro", "plain SQLite file"),
    ("mysql://me:secret@host/db", "names no database"),
    ("postgresql://me:secret@host", "names no database"),
    ("postgresql://me:secret@host:port/db", "is not one"),
    ("postgresql://me@host/db?password=secret", "parameter 'password'"),
    ("postgresql://me:secret@host/db?sslmode=maybe", "sslmode 'maybe'"),
    ("sqlite:////nowhere/at/all.sqlite", "No such file"),
    ("sqlite:////tmp", "Is a directory"),
])  # fmt: skip
def test_urls_that_cannot_be_used(url: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as raised:
        Journal(url)
    assert "secret" not in "".join(_chain(raised.value))


def _chain(error: BaseException | None) -> Iterator[str]:
    while error is not None:
        yield repr(error) + str(error)
        error = error.__cause__


def test_a_file_that_is_no_journal_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but a text that somebody wrote " * 20)
    with pytest.raises(InputError, match=r"notes.txt' is no journal but something else"):
        Journal(path)
    with pytest.raises(InputError, match="/dev/null' is no journal"):
        Journal("/dev/null")
    assert path.read_text() == "not a database, but a text that somebody wrote " * 20


def test_a_full_disk_is_told_and_loses_nothing(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal.sqlite") as journal:
        journal.register(STUDY, title="x")
        stored = append(journal, STUDY, "r", number=0)
        size = max(path.stat().st_size for path in tmp_path.iterdir())
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 4096, before[1]))
        try:
            with pytest.raises(JournalUnavailable, match=r"journal .* cannot be used: (disk I/O error|database or disk is full)"):
                _append_long(journal)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert [event.body["submission_id"] for event in journal.events(STUDY)] == [stored]
        assert append(journal, STUDY, "r", number=1)


def _append_long(journal: Journal) -> None:
    with journal.writing(STUDY) as writer:
        writer.append("answer", "r", answer("r") | {"text": "x" * 100_000}, at=0)


def test_a_lock_held_too_long_is_told_and_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inpaintbench.annotate.journal.engines.PATIENCE_SECONDS", 0.2)
    with Journal(tmp_path / "journal.sqlite") as journal:
        journal.register(STUDY, title="x")
        with closing(sqlite3.connect(tmp_path / "journal.sqlite", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(JournalUnavailable, match="locked"):
                append(journal, STUDY, "r", number=0)
            assert journal.events(STUDY) == []
            other.execute("COMMIT")
        append(journal, STUDY, "r", number=0)


def test_a_writer_of_another_study_does_not_wait_in_postgresql(postgres: Postgres) -> None:
    with Journal(postgres.fresh()) as journal, ThreadPoolExecutor(1) as pool:
        for study_id in ("one", "two"):
            journal.register(study_id, title="x")
        with journal.writing("one"):
            pool.submit(append, journal, "two", "r", number=0).result(timeout=20)
        assert (len(journal.events("one")), len(journal.events("two"))) == (0, 1)


def test_a_server_that_dies_and_comes_back() -> None:
    with running_postgres() as server:
        url = server.fresh()
        password = url.split(":")[2].partition("@")[0]
        journal = Journal(url)
        journal.register(STUDY, title="x")
        stored = []

        def cut_off() -> None:
            with journal.writing(STUDY) as writer:
                writer.append("answer", "r", answer("r"), at=0)
                server.crash()

        for number in range(2):
            stored.append(append(journal, STUDY, "r", number=number))
            with pytest.raises(JournalUnavailable) as cut:
                cut_off()
            with pytest.raises(JournalUnavailable) as refused:
                append(journal, STUDY, "r", number=9)
            server.start()
            assert password not in "".join([*_chain(cut.value), *_chain(refused.value), repr(journal), repr(journal.database)])
        assert [event.body["submission_id"] for event in journal.events(STUDY)] == stored
        journal.close()
        with pytest.raises(JournalUnavailable, match="password authentication failed") as wrong:
            Journal(url.replace(password, "wrong-password"))
        assert "wrong-password" not in "".join(_chain(wrong.value))


def test_waiting_threads_get_their_turn_in_the_order_of_asking() -> None:
    turns, order, asked = FairLock("x"), [], threading.Semaphore(0)

    def ask(number: int) -> None:
        asked.release()
        with turns:
            order.append(number)

    with turns:
        threads = []
        for number in range(6):
            threads.append(threading.Thread(target=ask, args=(number,)))
            threads[-1].start()
            asked.acquire()
            _until(lambda place=number: len(turns._waiting) == place + 1)
    for thread in threads:
        thread.join()
    assert order == list(range(6))


def _until(holds: Callable[[], bool]) -> None:
    while not holds():
        time.sleep(0.001)


def test_network_file_systems_are_known() -> None:
    mounts = (
        "/dev/sda1 / ext4 rw 0 0\nserver:/home /home nfs4 rw,vers=4.2 0 0\ntmpfs /home/me/fast tmpfs rw 0 0\n"
        "//nas/data /mnt/my\\040nas cifs rw 0 0\nme@host: /mnt/over fuse.sshfs rw 0 0\nbroken\n/dev/sdb1 /mnt/over xfs rw 0 0\n"
    )
    places = {
        "/var/x": ("ext4", False), "/home/me/x": ("nfs4", True), "/home/me/fast/x": ("tmpfs", False), "/homely": ("ext4", False),
        "/mnt/my nas/x": ("cifs", True), "/mnt/over/x": ("xfs", False),
    }  # fmt: skip
    for place, (kind, network) in places.items():
        assert file_system(Path(place), mounts=mounts) == kind
        assert is_network(kind) is network
    assert is_network("fuse.sshfs")
    assert not is_network("fuse.gvfsd-fuse")
    assert file_system(Path("/x"), mounts="") is None
    assert not is_network(None)


def test_a_network_file_system_is_warned_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mounts").write_text("server:/ / nfs rw 0 0\n")
    monkeypatch.setattr("inpaintbench.annotate.journal.engines._MOUNTS", tmp_path / "mounts")
    with pytest.warns(UserWarning, match=r"network file system \(nfs\).*use PostgreSQL"), Journal(tmp_path / "journal.sqlite"):
        pass


def test_locks_of_studies_are_signed_64_bit_numbers() -> None:
    numbers = {lock_number(f"study {n}") for n in range(1000)}
    assert len(numbers) == 1000
    assert all(-(2**63) <= number < 2**63 for number in numbers)
    assert lock_number("study 1") == lock_number("study 1")
