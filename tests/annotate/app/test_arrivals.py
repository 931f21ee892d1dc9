"""What a platform's link brings, and the way back to it."""

from __future__ import annotations

import pytest

from inpaintbench.annotate.app.server import identifiers, way_back
from inpaintbench.annotate.crowd import Crowd, platform_of
from inpaintbench.annotate.journal.participants import Arrival, Participant
from inpaintbench.errors import InputError

PROLIFIC = platform_of(Crowd())
MTURK = platform_of(Crowd(platform="mturk"))
PID = "5f0e8b7c2d1a4e6f9b3c7d21"
SUBMIT = "turkSubmitTo=https%3A%2F%2Fwww.mturk.com"


def test_the_identifiers_of_each_platform_are_read() -> None:
    said = identifiers(f"PROLIFIC_PID={PID}&STUDY_ID={PID}&SESSION_ID={PID}&other=1", PROLIFIC)
    assert said == {"participant": PID, "session": PID, "study": PID}
    connect = platform_of(Crowd(platform="connect"))
    assert identifiers("participantId=p&assignmentId=a&projectId=j", connect) == {
        "participant": "p", "session": "a", "study": "j"
    }  # fmt: skip
    said = identifiers(f"workerId=A1&assignmentId=B&hitId=C&{SUBMIT}", MTURK, mturk=True)
    assert said == {"participant": "A1", "session": "B", "study": "C", "submit_to": "https://www.mturk.com"}
    link = platform_of(Crowd(platform="link", link={"participant": "pid"}))  # type: ignore[arg-type]
    assert identifiers("pid=x.y-z_1", link) == {"participant": "x.y-z_1"}


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("", "PROLIFIC_PID is missing"),
        ("STUDY_ID=s", "PROLIFIC_PID is missing"),
        ("PROLIFIC_PID=a&PROLIFIC_PID=b", "more than once"),
        ("PROLIFIC_PID=", "is no identifier"),
        ("PROLIFIC_PID=%7B%7B%25PROLIFIC_PID%25%7D%7D", "was not filled in"),
        ("PROLIFIC_PID=" + "a" * 65, "is no identifier"),
        ("PROLIFIC_PID=%3Cscript%3E", "is no identifier"),
        ("PROLIFIC_PID=a%00b", "is no identifier"),
        (f"PROLIFIC_PID={'a' * 24}&SESSION_ID=..%2F..", "SESSION_ID is no identifier"),
        ("&".join(f"a{number}=1" for number in range(99)), "too much"),
    ],
)
def test_what_is_no_identifier_is_refused_in_a_sentence(query: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        identifiers(query, PROLIFIC)


def test_a_worker_who_only_looks_starts_nothing_and_forms_go_to_the_platform_alone() -> None:
    assert identifiers("assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=h", MTURK, mturk=True) is None
    with pytest.raises(InputError, match="turkSubmitTo"):
        identifiers("workerId=A1&assignmentId=B&hitId=C&turkSubmitTo=https%3A%2F%2Fevil.test", MTURK, mturk=True)


def participant(platform: str, **said: str) -> Participant:
    return Participant("r", "P0001", Arrival(platform, "person", **said), 0.0)


def test_everybody_gets_back_with_the_code_of_their_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = {"completed": "C1", "screened_out": "S1"}
    prolific = Crowd(codes=codes)  # type: ignore[arg-type]
    assert way_back(prolific, participant("prolific"), "completed") == {
        "code": "C1", "back": "https://app.prolific.com/submissions/complete?cc=C1"
    }  # fmt: skip
    assert way_back(prolific, participant("prolific"), "returned") == {"code": ""}
    assert way_back(prolific, participant("prolific"), "failed_checks") == {"code": ""}
    connect = Crowd(platform="connect", codes=codes)  # type: ignore[arg-type]
    assert way_back(connect, participant("connect", study="j1"), "completed")["back"].endswith("/project/j1/complete")
    turk = way_back(
        Crowd(platform="mturk", codes=codes),  # type: ignore[arg-type]
        participant("mturk", session="a1", submit_to="https://www.mturk.com"),
        "completed",
    )
    assert turk["post"] == {
        "action": "https://www.mturk.com/mturk/externalSubmit", "fields": {"assignmentId": "a1", "code": "C1"}
    }  # fmt: skip
    link = Crowd(platform="link", codes=codes, link={"back": "https://x.test/?c={code}&p={participant}"})  # type: ignore[arg-type]
    assert way_back(link, participant("link"), "completed")["back"] == "https://x.test/?c=C1&p=person"
    monkeypatch.setenv("INPAINTBENCH_CODE_COMPLETED", "SECRET")
    assert way_back(prolific, participant("prolific"), "completed")["code"] == "SECRET"
