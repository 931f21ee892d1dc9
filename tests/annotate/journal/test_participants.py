"""People whom a platform sends: one rater each, and nothing left of them when they are erased."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from journal_writer import answer

from inpaintbench.annotate.journal import Journal
from inpaintbench.annotate.journal.accounts import People
from inpaintbench.annotate.journal.participants import Arrival, Closed, Participants, Taken, Unproven

STUDY = "study-1"
PID, WORDS = "5f0e8b7c2d1a4e6f9b3c7d21", "my neighbour Katharina Eulenspiegel filmed this"


@pytest.fixture
def journal(journal: Journal) -> Journal:
    journal.register(STUDY, title="Study")
    return journal


def skip(number: int, text: str) -> dict:
    return {"submission_id": f"s{number}", "lease_id": f"lease-s{number}", "task_id": "t", "reason": "other", "text": text}


def test_one_person_is_one_rater_whatever_the_session(journal: Journal) -> None:
    people = Participants(journal)
    first = people.arrive(STUDY, Arrival("prolific", PID, session="one"), at=1.0)
    with pytest.raises(Unproven):
        people.arrive(STUDY, Arrival("prolific", PID, session="two"), at=2.0)
    assert first is not None
    again = people.arrive(STUDY, Arrival("prolific", PID, session="two"), at=2.0, browser_of=first.person.rater_id)
    other = people.arrive(STUDY, Arrival("prolific", PID + "x"), at=3.0)
    assert again is not None
    assert other is not None
    assert first.person == again.person
    assert first.token != again.token
    assert other.person.rater_id != first.person.rater_id
    assert (first.person.name, other.person.name) == ("P0001", "P0002")
    known = people.of(STUDY, first.person.rater_id)
    assert known is not None
    assert (known.arrival.session, known.arrived_at) == ("two", 1.0)


def test_whoever_does_not_use_a_session_of_the_platform_gives_it_up_to_the_next(journal: Journal) -> None:
    people, agreed = Participants(journal), set[str]()

    def come(who: str, *, browser_of: str = "", holds: Callable[[str], bool] = agreed.__contains__) -> str:
        session = people.arrive(STUDY, Arrival("mturk", who, session="A1"), at=1.0, browser_of=browser_of, holds=holds)
        assert session is not None
        return session.person.rater_id

    def sessions() -> dict[str, str]:
        return {of.arrival.participant: of.arrival.session for of in people.all(STUDY).values()}

    first, second = come("W1"), come("W2")
    assert sessions() == {"W1": "", "W2": "A1"}
    assert come("W1", browser_of=first) == first
    assert sessions() == {"W1": "A1", "W2": ""}
    agreed.add(first)
    with pytest.raises(Taken):
        come("W2", browser_of=second)
    agreed.clear()

    def agrees_meanwhile(rater_id: str) -> bool:
        with journal.writing(STUDY) as writer:
            writer.append("consent", rater_id, {"text_sha256": "0" * 64, "answer": True}, at=2.0)
        return False

    with pytest.raises(Taken):
        come("W3", holds=agrees_meanwhile)
    assert sessions() == {"W1": "A1", "W2": ""}


def test_the_network_of_whoever_agrees_at_another_server_meanwhile_is_kept(journal: Journal) -> None:
    people = Participants(journal)
    ids = []
    for who in ("stays", "looks", "agrees"):
        session = people.arrive(STUDY, Arrival("prolific", who, session=who), at=1.0)
        assert session is not None
        ids.append(session.person.rater_id)
        people.works_from(STUDY, ids[-1], "192.0.2")

    def at_work() -> frozenset[str]:
        with journal.writing(STUDY) as writer:
            writer.append("consent", ids[2], {"text_sha256": "0" * 64, "answer": True}, at=2.0)
        return frozenset(ids[:1])

    people.forget_networks(STUDY, besides=at_work)
    assert people.neighbours(STUDY, ids[0]) == {ids[2]}
    people.forget_networks(STUDY)
    assert people.neighbours(STUDY, ids[0]) is None


def test_free_words_lie_apart_and_come_back_with_their_event(journal: Journal) -> None:
    given = {"verdict": "reject", "verdict_text": WORDS}
    with journal.writing(STUDY) as writer:
        stored = writer.append("answer", "r", {**answer("r"), "given": given}, at=1.0)
        put = writer.put("skip", "r", skip(1, WORDS), at=2.0, seq=stored.seq + 1)
    assert stored.body["given"] == given
    assert put.body == skip(1, WORDS)
    assert journal.events(STUDY) == [stored, put]
    with journal.writing(STUDY) as writer:
        assert writer.submitted("s1") == put
    with journal.database.reading() as transaction:
        bodies = [row.body for row in transaction.rows(journal_bodies())]
    assert not any("Eulenspiegel" in body for body in bodies)


def journal_bodies() -> object:
    from inpaintbench.annotate.journal.schema import events

    return events.select()


def test_erasing_a_person_leaves_their_answers_and_nothing_else(journal: Journal) -> None:
    people, invited = Participants(journal), People(journal)
    session = people.arrive(STUDY, Arrival("prolific", PID, session="session-of-theirs"), at=1.0)
    assert session is not None
    who = session.person.rater_id
    judged = answer(who, number=1)
    with journal.writing(STUDY) as writer:
        writer.append("answer", who, judged, at=1.0)
        writer.append("skip", who, skip(1, WORDS), at=2.0)
        writer.append("skip", "somebody else", skip(2, "stays"), at=3.0)
    erased = people.erase(STUDY, who)
    assert (erased.name, erased.participants, erased.words, erased.links) == ("P0001", 1, 1, 1)
    assert people.all(STUDY) == {}
    assert invited.who(session.token, at=2.0) is None
    assert [event.body["text"] for event in journal.events(STUDY) if event.kind == "skip"] == ["", "stays"]
    assert [event.body for event in journal.events(STUDY) if event.kind == "answer"] == [judged]
    # Nobody comes twice, not even after they were erased.
    assert people.arrive(STUDY, Arrival("prolific", PID, session="another"), at=9.0) is None


def test_an_invited_rater_becomes_a_pseudonym(journal: Journal) -> None:
    invited = People(journal)
    ada = invited.add(STUDY, "Ada Lovelace")
    secret = invited.invite(STUDY, ada.rater_id)
    erased = Participants(journal).erase(STUDY, ada.rater_id)
    assert (erased.name, erased.participants, erased.links) == ("P0002", 0, 1)
    assert [rater.name for rater in invited.raters(STUDY)] == ["P0002"]
    assert invited.enter_by_secret(secret, at=1.0, study_id=STUDY) is None


def test_no_byte_of_the_database_names_who_was_erased(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    with Journal(path) as journal:
        journal.register(STUDY, title="Study")
        people = Participants(journal)
        for number in range(50):
            session = people.arrive(STUDY, Arrival("prolific", f"{PID}{number}", session=f"{PID}-session-{number}"), at=1.0)
            assert session is not None
            with journal.writing(STUDY) as writer:
                writer.append("skip", session.person.rater_id, skip(number, f"{WORDS} {number}"), at=1.0)
        ada = People(journal).add(STUDY, "Ada Lovelace")
        everybody = list(people.all(STUDY))
        assert PID.encode() in bytes_of(tmp_path)
        for rater_id in (*everybody, ada.rater_id):
            people.erase(STUDY, rater_id)
        for said in (PID, "Eulenspiegel", "Ada Lovelace", "ada lovelace"):
            assert said.encode() not in bytes_of(tmp_path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("VACUUM")
    assert PID.encode() not in bytes_of(tmp_path)


def bytes_of(folder: Path) -> bytes:
    """Every byte of the journal, its log included."""
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()))


def test_a_closed_study_links_nobody_and_takes_nobody(journal: Journal) -> None:
    people = Participants(journal)
    people.arrive(STUDY, Arrival("prolific", PID), at=1.0)
    assert people.forget(STUDY) == 1
    assert people.all(STUDY) == {}
    with pytest.raises(Closed):
        people.arrive(STUDY, Arrival("prolific", PID), at=2.0)
