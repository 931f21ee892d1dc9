"""Raters, invitations, passwords and sessions, in both databases."""

from __future__ import annotations

import hashlib
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text

from inpaintbench.annotate.journal import Journal
from inpaintbench.annotate.journal.accounts import LOCK_SECONDS, SESSION_SECONDS, People, Person, hash_password, password_is
from inpaintbench.annotate.journal.schema import METADATA
from inpaintbench.errors import InputError

STUDY, NOW, PASSWORD = "study-1", 1.7e9, "correct horse"


@pytest.fixture
def people(journal: Journal) -> People:
    for study_id in (STUDY, "study-2"):
        journal.register(study_id, title="A study")
    return People(journal, clock=lambda: NOW)


@pytest.fixture(scope="module")
def stored() -> str:
    return hash_password(PASSWORD)


def everything(journal: Journal) -> str:
    """All that lies in the database, as text."""
    with journal.database.reading() as transaction:
        return "".join(repr(transaction.rows(table.select())) for table in METADATA.sorted_tables)


def test_raters_are_listed_as_they_were_added(people: People) -> None:
    added = [people.add(STUDY, "  Ann Lee "), people.add(STUDY, "Zoë", role="admin")]
    assert sorted(people.raters(STUDY), key=lambda one: one.name) == added
    assert [(one.name, one.role, one.created_at, one.revoked) for one in added] == [
        ("Ann Lee", "rater", NOW, False), ("Zoë", "admin", NOW, False),
    ]  # fmt: skip
    assert len({one.rater_id for one in added}) == 2
    assert people.raters("study-2") == []


@pytest.mark.parametrize("name", ["ann lee", "ANN  LEE", " Ann Lee", "Ａnn Lee", "Ann\u00a0Lee"])
def test_a_name_is_taken_whatever_its_case(people: People, name: str) -> None:
    people.add(STUDY, "Ann Lee")
    with pytest.raises(InputError, match="already" if name.isprintable() else "printable"):
        people.add(STUDY, name)
    people.add("study-2", "Ann Lee")


@pytest.mark.parametrize("name", ["", "   ", "a" * 81, "a\nb", "a\u202eb", "\x00", "a\ud83d"])
def test_names_that_nobody_can_read_are_refused(people: People, name: str) -> None:
    with pytest.raises(InputError, match="1 to 80 printable"):
        people.add(STUDY, name)
    assert people.enter_by_password(STUDY, name, PASSWORD, at=NOW) is None
    assert not people.locked_out(STUDY, name, at=NOW)


def test_mistakes_of_admins_are_told(people: People) -> None:
    with pytest.raises(InputError, match="'nowhere' is not in this journal"):
        people.add("nowhere", "Ann")
    with pytest.raises(InputError, match="unknown role 'owner'"):
        people.add(STUDY, "Ann", role="owner")
    for call in (people.invite, people.revoke, lambda *ids: people.set_password(*ids, PASSWORD)):
        with pytest.raises(InputError, match="no rater 'r9'"):
            call(STUDY, "r9")
    rater = people.add(STUDY, "Ann")
    for password in ("short", "x" * 1001):
        with pytest.raises(InputError, match="8 to 1000 characters") as raised:
            people.set_password(STUDY, rater.rater_id, password)
        assert password not in str(raised.value)
    with pytest.raises(InputError, match="no rater"):
        people.invite("study-2", rater.rater_id)


def test_an_invitation_lets_in_again_and_again(people: People, journal: Journal) -> None:
    rater = people.add(STUDY, "Ann", role="admin")
    secret = people.invite(STUDY, rater.rater_id)
    assert len(secret) == 43
    assert secret.replace("-", "").replace("_", "").isalnum()
    sessions = [people.enter_by_secret(secret, at=NOW, study_id=STUDY) for _ in range(2)]
    person = Person(rater.rater_id, "Ann", "admin", STUDY)
    other_server = People(journal)
    for session in sessions:
        assert session.person == other_server.who(session.token, at=NOW + 5) == person
        assert session.token not in repr(session)
        assert session.token not in everything(journal)
        assert hashlib.sha256(session.token.encode()).hexdigest() in everything(journal)
    assert sessions[0].token != sessions[1].token
    assert secret not in everything(journal)
    for wrong in ("", secret[:-1], secret + "A", secret.swapcase(), "ä", "\ud83d", "' OR 1=1 --"):
        assert people.enter_by_secret(wrong, at=NOW, study_id=STUDY) is None
        assert people.who(wrong, at=NOW) is None
    assert people.enter_by_secret(secret, at=NOW, study_id="study-2") is None


def test_a_new_invitation_ends_the_older_one(people: People) -> None:
    rater, other = people.add(STUDY, "Ann"), people.add(STUDY, "Bob")
    first, second, others = (people.invite(STUDY, one.rater_id) for one in (rater, rater, other))
    assert people.enter_by_secret(first, at=NOW, study_id=STUDY) is None
    assert people.enter_by_secret(second, at=NOW, study_id=STUDY) is not None
    assert people.enter_by_secret(others, at=NOW, study_id=STUDY) is not None


def test_revoking_shuts_out_one_rater_alone(people: People, stored: str, journal: Journal) -> None:
    rater, other = people.add(STUDY, "Ann"), people.add(STUDY, "Bob")
    secret, others = people.invite(STUDY, rater.rater_id), people.invite(STUDY, other.rater_id)
    people.set_password(STUDY, rater.rater_id, PASSWORD)
    session = people.enter_by_secret(secret, at=NOW, study_id=STUDY)
    others_session = people.enter_by_secret(others, at=NOW, study_id=STUDY)
    people.revoke(STUDY, rater.rater_id)
    people.revoke(STUDY, rater.rater_id)
    assert people.who(session.token, at=NOW) is None
    assert people.enter_by_secret(secret, at=NOW, study_id=STUDY) is None
    assert people.enter_by_password(STUDY, "Ann", PASSWORD, at=NOW) is None
    assert people.who(others_session.token, at=NOW).name == "Bob"
    assert {one.name: one.revoked for one in people.raters(STUDY)} == {"Ann": True, "Bob": False}
    for call in (people.invite, lambda *ids: people.set_password(*ids, PASSWORD)):
        with pytest.raises(InputError, match="'Ann' was revoked"):
            call(STUDY, rater.rater_id)


def test_a_session_ends_by_leaving_or_by_time(people: People) -> None:
    secret = people.invite(STUDY, people.add(STUDY, "Ann").rater_id)
    first, second = (people.enter_by_secret(secret, at=NOW, study_id=STUDY) for _ in range(2))
    people.leave(first.token)
    people.leave(first.token)
    assert people.who(first.token, at=NOW) is None
    assert people.who(second.token, at=NOW + SESSION_SECONDS - 1) is not None
    assert people.who(second.token, at=NOW + SESSION_SECONDS) is None


def test_a_password_lets_in(people: People, journal: Journal) -> None:
    rater = people.add(STUDY, "Ann Lee")
    assert people.enter_by_password(STUDY, "Ann Lee", PASSWORD, at=NOW) is None
    people.set_password(STUDY, rater.rater_id, PASSWORD)
    session = people.enter_by_password(STUDY, " ann  lee", PASSWORD, at=NOW)
    assert people.who(session.token, at=NOW) == Person(rater.rater_id, "Ann Lee", "rater", STUDY)
    assert PASSWORD not in everything(journal)
    assert people.enter_by_password("study-2", "Ann Lee", PASSWORD, at=NOW) is None
    people.set_password(STUDY, rater.rater_id, "another password")
    assert people.who(session.token, at=NOW) is None
    assert people.enter_by_password(STUDY, "Ann Lee", PASSWORD, at=NOW) is None
    assert people.enter_by_password(STUDY, "Ann Lee", "another password", at=NOW) is not None


def test_what_is_stored_of_a_password(stored: str) -> None:
    scheme, n, r, p, salt, hashed = stored.split("$")
    assert (scheme, n, r, p) == ("scrypt", "16384", "8", "1")
    again = hashlib.scrypt(PASSWORD.encode(), salt=bytes.fromhex(salt), n=16384, r=8, p=1, dklen=32)
    assert again.hex() == hashed
    assert hash_password(PASSWORD) != stored
    assert password_is(PASSWORD, stored=stored)
    assert not password_is(PASSWORD + " ", stored=stored)
    assert not password_is("", stored=None)
    cheaper = hashlib.scrypt("résumé 12".encode(), salt=b"salt", n=2, r=1, p=1, dklen=32)
    assert password_is("re\u0301sume\u0301 12", stored=f"scrypt$2$1$1${b'salt'.hex()}${cheaper.hex()}")


def test_ten_wrong_passwords_lock_a_name_for_a_while(people: People, journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    _cheap(monkeypatch)
    people.set_password(STUDY, people.add(STUDY, "Ann").rater_id, PASSWORD)
    other_server = People(journal)
    for number in range(10):
        assert not people.locked_out(STUDY, "Ann", at=NOW + number)
        wrong = other_server if number % 2 else people
        assert wrong.enter_by_password(STUDY, ("Ann", "ANN")[number % 2], "wrong password", at=NOW + number) is None
    last = NOW + 9
    for at in (last, last + LOCK_SECONDS - 1):
        assert other_server.locked_out(STUDY, "ann", at=at)
        assert people.enter_by_password(STUDY, "Ann", PASSWORD, at=at) is None
    assert not people.locked_out("study-2", "Ann", at=last)
    assert not people.locked_out(STUDY, "Bob", at=last)
    assert not people.locked_out(STUDY, "Ann", at=last + LOCK_SECONDS)
    assert people.enter_by_password(STUDY, "Ann", PASSWORD, at=last + LOCK_SECONDS) is not None


def test_few_or_slow_mistakes_lock_nobody_out(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    _cheap(monkeypatch)
    people.set_password(STUDY, people.add(STUDY, "Ann").rater_id, PASSWORD)
    for number in range(30):
        good = number % 9 == 8
        session = people.enter_by_password(STUDY, "Ann", PASSWORD if good else "wrong password", at=NOW + number)
        assert (session is not None) == good
    for number in range(30):
        at = NOW + 10_000 + number * (LOCK_SECONDS / 9 + 1)
        assert people.enter_by_password(STUDY, "Ann", "wrong password", at=at) is None
    assert not people.locked_out(STUDY, "Ann", at=at)


def test_a_name_that_nobody_has_is_treated_like_others(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    people.set_password(STUDY, people.add(STUDY, "Ann").rater_id, PASSWORD)
    people.add(STUDY, "No Password")
    assert not password_is("x", stored=None)  # what nobody's password is was made now
    work = _cheap(monkeypatch)
    for name in ("Ann", "Nobody", "No Password", "not\nprintable"):
        work.clear()
        assert people.enter_by_password(STUDY, name, "wrong password", at=NOW) is None
        assert work == [(2**14, 8, 1)]
    for _ in range(9):
        people.enter_by_password(STUDY, "Nobody", "wrong password", at=NOW)
    assert people.locked_out(STUDY, "Nobody", at=NOW)


def test_guesses_sent_at_once_are_counted_too(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    people.set_password(STUDY, people.add(STUDY, "Ann").rater_id, PASSWORD)
    work, all_there = _cheap(monkeypatch), threading.Barrier(8)

    def guess(number: int) -> object:
        all_there.wait(timeout=20)
        return [people.enter_by_password(STUDY, "Ann", f"wrong password {number}", at=NOW) for _ in range(4)]

    with ThreadPoolExecutor(8) as pool:
        assert [one for many in pool.map(guess, range(8)) for one in many] == [None] * 32
    assert len(work) == 10
    assert people.locked_out(STUDY, "Ann", at=NOW)


def test_old_failures_and_sessions_are_thrown_away(people: People, journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    _cheap(monkeypatch)
    rater = people.add(STUDY, "Ann")
    people.set_password(STUDY, rater.rater_id, PASSWORD)
    for day in range(5):
        people.enter_by_password(STUDY, "Nobody", "wrong password", at=NOW + day * SESSION_SECONDS)
        people.enter_by_password(STUDY, "Ann", PASSWORD, at=NOW + day * SESSION_SECONDS)
    with journal.database.reading() as transaction:
        for table in ("password_failures", "sessions"):
            assert transaction.rows(text(f"SELECT count(*) FROM {table}"))[0][0] == 1


def _cheap(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int, int]]:
    """Let scrypt do little work, and note what was asked of it."""
    asked: list[tuple[int, int, int]] = []
    real = hashlib.scrypt

    def scrypt(password: bytes, *, salt: bytes, n: int, r: int, p: int, maxmem: int, dklen: int) -> bytes:
        asked.append((n, r, p))
        return real(password, salt=salt, n=2, r=r, p=p, dklen=dklen)

    monkeypatch.setattr(hashlib, "scrypt", scrypt)
    return asked
