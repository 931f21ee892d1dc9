"""`annotate crowd`, `withdraw`, `close` and `space`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml
from crowds import write_crowd_study
from program import run_here
from studies_made import write_study

from inpaintbench.annotate.desk.desk import Desk
from inpaintbench.annotate.journal import Journal, participants
from inpaintbench.annotate.journal.accounts import People
from inpaintbench.annotate.journal.participants import Arrival, Participants
from inpaintbench.annotate.space import write_space
from inpaintbench.annotate.study import load
from inpaintbench.errors import InputError


@pytest.fixture
def crowd(tmp_path: Path) -> Path:
    """A crowd study to which two people came; one of them agreed."""
    folder = tmp_path / "study"
    study = write_crowd_study(folder, "https://platform.test", training=0, test=0)
    with Journal(folder / "journal.sqlite") as journal:
        desk, people = Desk(study, journal), Participants(journal)
        for number, name in enumerate(("first", "second")):
            session = people.arrive(study.study_id, Arrival("link", name, session=f"s-{name}"), at=float(number))
            assert session is not None
            desk.arrive(session.person.rater_id)
            if not number:
                desk.step(session.person.rater_id, {"step": "consent"})
    return folder


def test_people_are_listed_erased_and_at_the_end_unknown(crowd: Path, tmp_path: Path) -> None:
    listed = run_here("annotate", "crowd", crowd, "--json", "--csv", tmp_path / "payments.csv")
    assert listed.returncode == 0, listed.stderr
    rows = json.loads(listed.stdout)["people"]
    assert [(row["person"], row["participant_id"], row["state"], row["decision"]) for row in rows] == [
        ("P0001", "first", "working", "wait"), ("P0002", "second", "not begun", "none")
    ]  # fmt: skip
    head, *lines = (tmp_path / "payments.csv").read_text().splitlines()
    assert head.startswith("person,submission_id,participant_id,state,decision,code,")
    assert lines[0].startswith("P0001,s-first,first,working,wait,,")
    erased = run_here("annotate", "withdraw", crowd, "P0001")
    assert (erased.returncode, "answers are excluded" in erased.stderr + erased.stdout) == (0, True)
    assert b"first" not in (crowd / "journal.sqlite").read_bytes()
    assert "second" in run_here("annotate", "crowd", crowd).stdout
    closed = run_here("annotate", "close", crowd)
    assert "1 people can no longer be linked" in closed.stderr + closed.stdout
    assert json.loads(run_here("annotate", "crowd", crowd, "--json").stdout) == {"people": []}


def test_a_study_without_a_crowd_says_so(tmp_path: Path) -> None:
    write_study(tmp_path / "study", [{"leaf": "keep_reject"}])
    told = run_here("annotate", "crowd", tmp_path / "study")
    assert told.returncode == 1
    assert "has no [crowd]" in told.stderr


def test_a_space_is_written(crowd: Path, tmp_path: Path) -> None:
    made = run_here("annotate", "space", crowd, "--out", tmp_path / "space")
    assert made.returncode == 0, made.stderr
    assert "/wheels PATH_TO_CLONE" in made.stderr + made.stdout, "an image without the program cannot be built"
    assert (tmp_path / "space" / "Dockerfile").read_text().startswith("# A study behind")
    assert run_here("annotate", "space", crowd, "--out", tmp_path / "space").returncode == 1


def test_every_command_that_writes_answers_in_json(crowd: Path, tmp_path: Path) -> None:
    def told(*words: str | Path) -> dict[str, object]:
        done = run_here("annotate", *words, "--json")
        assert done.returncode == 0, done.stderr
        answer: dict[str, object] = json.loads(done.stdout)
        return answer

    link = told("invite", crowd, "Ada", "Bob")["invited"]
    assert [(of["name"], of["address"].startswith("http://127.0.0.1:7860/join/")) for of in link] == [
        ("Ada", True),
        ("Bob", True),
    ]
    assert told("exclude", crowd, "Ada", "--reason", "slept") == {
        "name": "Ada", "answer": None, "excluded": True, "changed": True
    }  # fmt: skip
    assert told("exclude", crowd, "Ada", "--reason", "slept")["changed"] is False
    assert told("include", crowd, "Ada", "--reason", "woke")["changed"] is True
    assert told("resume", crowd, "Ada") == {"name": "Ada", "paused": False}
    assert told("revoke", crowd, "Ada") == {"name": "Ada", "revoked": True}
    saved = told("backup", crowd, "--out", tmp_path / "b.sqlite")
    assert saved["bytes"] == (tmp_path / "b.sqlite").stat().st_size
    written = told("space", crowd, "--out", tmp_path / "space")["files"]
    assert {Path(file).name for file in written} == {"Dockerfile", "README.md", "requirements.lock", "start.sh"}
    erased = told("withdraw", crowd, "P0001")
    assert (erased["name"], erased["participants"], erased["answers_count"]) == ("P0001", 1, False)
    assert told("close", crowd) == {"unlinked": 1, "open": False}
    shutil.copytree(crowd, tmp_path / "moved", ignore=shutil.ignore_patterns("journal*"))
    assert told("restore", tmp_path / "b.sqlite", tmp_path / "moved")["file"] == str(tmp_path / "b.sqlite")
    assert told("new", "devil_labels", "--out", tmp_path / "own.toml")["file"] == str(tmp_path / "own.toml")


def test_who_was_erased_keeps_their_pseudonym_and_an_interrupt_erases_nothing(
    crowd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study_id = load(crowd).study_id
    with Journal(crowd / "journal.sqlite") as journal:
        people = Participants(journal)
        rater = next(of for of in People(journal).raters(study_id) if of.name == "P0001")
        with monkeypatch.context() as interrupted:
            interrupted.setattr(participants, "update", _interrupt)  # after words and links
            with pytest.raises(KeyboardInterrupt):
                people.erase(study_id, rater.rater_id)
        assert "first" in {of.arrival.participant for of in people.all(study_id).values()}
    assert "erased 1 of the platform's records, 0 free words, 1 links" in run_here(
        "annotate", "withdraw", crowd, "P0001", "--keep-votes"
    ).stdout  # fmt: skip
    again = json.loads(run_here("annotate", "withdraw", crowd, "P0001", "--json").stdout)
    assert again == {"name": "P0001", "participants": 0, "words": 0, "links": 0, "answers_count": False}


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_space_takes_wheels_alone_and_titles_in_any_letters(tmp_path: Path) -> None:
    title = 'Löcher "zu" \N{HOLE} {{ version }}'
    write_space(tmp_path / "space", title=title)
    head = (tmp_path / "space" / "README.md").read_text(encoding="utf-8").split("---")[1]
    assert yaml.safe_load(head)["title"] == title
    (tmp_path / "empty.whl").touch()
    with pytest.raises(InputError, match="is no wheel"):
        write_space(tmp_path / "other", title="x", wheel=tmp_path / "empty.whl")
    assert not (tmp_path / "other").exists()
