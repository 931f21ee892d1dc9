"""What the platform is told of whom, once: with wrong answers, lost ones, and the program killed on the way."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from crowds import CODES, write_crowd_study
from paying_platforms import STUDY, TOKEN, NoAnswer, Platform, Taken, paying_platform
from program import run_here

from inpaintbench.annotate.crowd import PlatformName
from inpaintbench.annotate.journal import Journal
from inpaintbench.annotate.journal.participants import Arrival, Participants

# Minutes after which a payment of which nobody knows is made anew, and the seconds within which the platform here pays.
WAIT, LATE = ("--wait", "0.2"), (1.0, 6.0)
BONUS, SCREENED = 125, 40


@pytest.fixture
def door(monkeypatch: pytest.MonkeyPatch) -> Iterator[Platform]:
    """A platform whose address and credentials stand in the environment."""
    with paying_platform() as made:
        for name, value in {
            "PROLIFIC_TOKEN": TOKEN, "PROLIFIC_URL": made.origin, "AWS_ENDPOINT_URL_MTURK": made.origin,
            "AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": TOKEN,
        }.items():  # fmt: skip
            monkeypatch.setenv(name, value)
        yield made


def write_study(folder: Path, door: Platform, outcomes: list[str], *, platform: PlatformName = "prolific") -> Path:
    """A study to which one person an outcome came (``at work``: without an end), all of whom handed in on the platform."""
    study = write_crowd_study(folder, "https://platform.test", platform=platform, subjects=12, places=max(1, len(outcomes)))
    turk = platform == "mturk"
    with Journal(folder / "journal.sqlite") as journal:
        people = Participants(journal)
        journal.register(study.study_id, title="t")
        for number, outcome in enumerate(outcomes):
            name, who = (f"T{number}", f"A{number}") if turk else (f"{number + 0x5E0000:024x}", f"{number + 0xFE0000:024x}")
            arrival = Arrival(platform, who, session=name, study="H1T" if turk else STUDY)
            session = people.arrive(study.study_id, arrival, at=float(number))
            assert session is not None
            with journal.writing(study.study_id) as writer:
                writer.append("arrive", session.person.rater_id, {}, at=1.0)
                writer.append("consent", session.person.rater_id, {"text_sha256": "", "answer": True}, at=2.0)
                if outcome == "failed_checks":
                    body = {"submission": None, "reason": "r" * 60, "rule": None, "by": "command"}
                    writer.append("exclude", session.person.rater_id, body, at=3.0)
                if outcome != "at work":
                    writer.append("finish", session.person.rater_id, {"outcome": outcome}, at=4.0)
            door.submissions[name] = Taken(who, "Submitted" if turk else "AWAITING REVIEW")
    return folder


def bonuses(folder: Path, people: list[int], amount: str = f"{BONUS / 100:.2f}") -> Path:
    """The file that gives these people, by their number, a bonus."""
    file = folder / "bonuses.csv"
    file.write_text("".join(["person,amount\n", *(f"P{number + 1:04d},{amount}\n" for number in people)]))
    return file


def settle(folder: Path, *options: str | Path, status: int = 0) -> Any:
    done = run_here("annotate", "platform", "settle", folder, *options, "--json")
    assert done.returncode == status, done.stderr
    assert TOKEN not in done.stdout + done.stderr
    return json.loads(done.stdout) if not status else done.stderr


def states_of(said: Any) -> Counter[str]:
    return Counter(row["is"] for row in said["steps"])


def states(door: Platform) -> list[tuple[str, int, list[int], int]]:
    door.all_paid()
    return [(one.status, one.rewards, one.bonuses, one.asked_back) for one in door.submissions.values()]


OUTCOMES = ["completed", "no_more_tasks", "failed_checks", "screened_out", "returned", "at work"]


def test_nothing_is_told_without_yes_and_everything_once_with_it(tmp_path: Path, door: Platform) -> None:
    folder = write_study(tmp_path / "study", door, OUTCOMES)
    asked = ("--bonuses", bonuses(tmp_path, [0]), "--screened-out", f"{SCREENED / 100:.2f}")
    said = settle(folder, *asked)
    assert [(row["person"], row["tell"], row["amount"], row["is"]) for row in said["steps"]] == [
        ("P0001", "approve", None, "to tell"), ("P0001", "bonus", "1.25", "to tell"), ("P0002", "approve", None, "to tell"),
        ("P0003", "ask back", None, "to tell"), ("P0004", "ask back", None, "to tell"), ("P0004", "bonus", "0.40", "to tell"),
    ]  # fmt: skip
    assert not [what for what in door.asked if what.startswith("POST")]
    untouched = ("AWAITING REVIEW", 0, [], 0)
    assert states(door) == [untouched] * 6
    for _ in range(3):
        settle(folder, *asked, "--yes")
        assert states(door) == [
            ("APPROVED", 1, [BONUS], 0), ("APPROVED", 1, [], 0), ("AWAITING REVIEW", 0, [], 1),
            ("AWAITING REVIEW", 0, [SCREENED], 1), untouched, untouched,
        ]  # fmt: skip
    assert "0.40" in list(door.submissions.values())[3].said[0]
    # What was decided is remembered, and a larger sum pays what is missing to it.
    assert {row["is"] for row in settle(folder)["steps"]} == {"left to you"}
    settle(folder, "--bonuses", bonuses(tmp_path, [0], "2.00"), "--yes")
    assert states(door)[0][2] == [BONUS, 200 - BONUS]
    # Nothing of what the platform calls somebody stands in an event, and no token anywhere.
    with Journal(folder / "journal.sqlite") as journal:
        (study_id,) = journal.studies()
        told = repr(journal.events(study_id))
    assert not [name for name, one in door.submissions.items() if name in told or one.participant in told]
    assert TOKEN.encode() not in b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_rejections_and_screening_out_are_asked_for(tmp_path: Path, door: Platform) -> None:
    folder = write_study(tmp_path / "study", door, ["failed_checks", "screened_out", "completed"])
    said = settle(folder, "--reject", "--yes")
    (refused,) = [row for row in said["steps"] if row["is"] == "refused"]
    assert refused["person"] == "P0002"
    assert refused["why"] == "Prolific refuses it: the study has no fixed screen-out payment (HTTP 400)"
    assert [one[:2] for one in states(door)] == [("REJECTED", 0), ("AWAITING REVIEW", 0), ("APPROVED", 1)]
    door.screens_out = True
    settle(folder, "--reject", "--yes")
    assert [one[0] for one in states(door)] == ["REJECTED", "SCREENED OUT", "APPROVED"]
    assert settle(folder, "--reject")["steps"] == []


def test_what_stands_otherwise_there_is_left_to_people(tmp_path: Path, door: Platform) -> None:
    folder = write_study(tmp_path / "study", door, ["completed"] * 5)
    for one, status in zip(door.submissions.values(), ["ACTIVE", "RETURNED", "TIMED-OUT", "UNKNOWN"], strict=False):
        one.status = status
    gone = list(door.submissions)[4]
    door.submissions.pop(gone)
    said = settle(folder, "--bonuses", bonuses(tmp_path, [0, 1]), "--yes")
    assert [(row["stands"], row["tell"], row["is"]) for row in said["steps"]] == [
        ("open", None, "left to you"), ("returned", None, "left to you"), ("returned", "bonus", "told"),
        ("timed out", None, "left to you"), ("unknown", None, "left to you"), ("unknown", None, "left to you"),
    ]  # fmt: skip
    assert [len(bonus) for _, _, bonus, _ in states(door)] == [0, 1, 0, 0]


def test_one_id_that_is_refused_costs_nobody_else_their_bonus(tmp_path: Path, door: Platform) -> None:
    folder = write_study(tmp_path / "study", door, ["completed"] * 5)
    door.refused.add(list(door.submissions)[2])
    said = settle(folder, "--bonuses", bonuses(tmp_path, list(range(5))), "--yes")
    assert [bonus for _, _, bonus, _ in states(door)] == [[BONUS], [BONUS], [], [BONUS], [BONUS]]
    (refused,) = [row for row in said["steps"] if row["is"] == "refused"]
    assert "did not take part" in refused["why"]


def test_a_payment_whose_answer_is_lost_is_not_made_twice(tmp_path: Path, door: Platform) -> None:
    """It was taken, and shows late; or it never got there, and is made anew when the time is over."""
    folder = write_study(tmp_path / "study", door, ["completed"] * 3)
    file, lose = ("--bonuses", bonuses(tmp_path, [0, 1, 2])), [1]

    def cut(what: str) -> None:
        if what.endswith("/pay/") and lose:
            lose.pop()
            raise NoAnswer

    door.after, door.late = cut, (0.6, 0.6)
    assert states_of(settle(folder, *file, "--yes"))["in doubt"] == 3
    assert states_of(settle(folder, "--yes"))["in doubt"] == 3  # not shown yet: it is not paid again
    assert [bonus for _, _, bonus, _ in states(door)] == [[BONUS]] * 3
    assert settle(folder, "--yes")["steps"] == []
    door.after, door.before = lambda _: None, cut
    lose.append(1)
    more = ("--bonuses", bonuses(tmp_path, [0], "2.00"))
    assert states_of(settle(folder, *more, "--yes"))["in doubt"] == 1
    assert states_of(settle(folder, "--yes", "--wait", "60"))["in doubt"] == 1
    time.sleep(0.7)
    assert states_of(settle(folder, "--yes", "--wait", "0.01"))["told"] == 1
    assert [bonus for _, _, bonus, _ in states(door)] == [[BONUS, 200 - BONUS], [BONUS], [BONUS]]


def test_a_wrong_token_or_none_is_one_sentence(tmp_path: Path, door: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_study(tmp_path / "study", door, ["completed"])
    monkeypatch.setenv("PROLIFIC_TOKEN", "wrong")
    assert settle(folder, "--yes", status=1).strip().endswith("Prolific refuses the token of PROLIFIC_TOKEN (HTTP 401)")
    monkeypatch.setenv("PROLIFIC_URL", "http://prolific.test")
    assert "must begin with https://" in settle(folder, status=1)
    monkeypatch.delenv("PROLIFIC_TOKEN")
    assert "the environment has no PROLIFIC_TOKEN" in settle(folder, status=1)
    assert states(door) == [("AWAITING REVIEW", 0, [], 0)]


def test_a_platform_that_answers_nobody_is_tried_a_few_times(tmp_path: Path, door: Platform) -> None:
    folder = write_study(tmp_path / "study", door, ["completed"])
    door.faults, door.rng = 1.0, random.Random(1)
    said = settle(folder, "--yes", status=1)
    assert re.search(r"tried 6 times: HTTP (429|503)$", said.strip())
    assert len(door.asked) == 6


def test_two_at_once_do_not_tell_the_same(tmp_path: Path, door: Platform) -> None:
    folder = write_study(tmp_path / "study", door, ["completed"] * 2)
    file, within = ("--bonuses", bonuses(tmp_path, [0, 1])), [1]

    def second(what: str) -> None:
        if what.endswith("/transition/") and within:
            within.pop()
            settle_elsewhere(folder, "--yes").communicate()

    door.before = second
    assert "somebody else settles this study" in settle(folder, *file, "--yes", status=1)
    assert [one[1:3] for one in states(door)] == [(1, [BONUS])] * 2


def test_a_draft_is_made_once_and_its_places_are_seen(tmp_path: Path, door: Platform) -> None:
    folder = write_study(tmp_path / "study", door, ["completed", "completed"])
    draft = ("annotate", "platform", "draft", folder, "--address", "https://study.test", "--reward", "4.50", "--json")
    made = [json.loads(run_here(*draft).stdout)["study"] for _ in range(2)]
    (there,) = door.studies
    assert made == [there["id"]] * 2
    assert there["external_study_url"] == (
        "https://study.test/enter?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
    )
    assert (there["reward"], there["total_available_places"], there["prolific_id_option"]) == (450, 2, "url_parameters")
    assert {code["code"]: code["actions"] for code in there["completion_codes"]} == {
        code: [{"action": "MANUALLY_REVIEW"}] for code in CODES.values()
    }
    door.studies.clear()
    run_here(*draft, "--screened-out", "0.40", "--signed")
    assert (there["is_external_study_url_secure"], door.studies[0]["is_external_study_url_secure"]) == (False, True)
    (fixed,) = [code for code in door.studies[0]["completion_codes"] if code["code_type"] == "FIXED_SCREENOUT"]
    assert fixed["actions"] == [{"action": "FIXED_SCREEN_OUT_PAYMENT", "fixed_screen_out_reward": 40, "slots": 2}]
    said = json.loads(run_here("annotate", "platform", "places", folder, "--json").stdout)["studies"]
    assert said[STUDY] == {"status": "ACTIVE", "places": 520, "AWAITING REVIEW": 2, "TOTAL": 2}
    wrong = run_here("annotate", "platform", "draft", folder, "--address", "http://study.test", "--reward", "4.50")
    assert (wrong.returncode, "begins with https://" in wrong.stderr) == (1, True)
    wrong = run_here("annotate", "platform", "draft", folder, "--address", "https://study.test", "--reward", "a lot")
    assert (wrong.returncode, "'a lot' is no amount of money; write 4.50" in wrong.stderr) == (1, True)


def test_mturk_shows_its_places_and_has_no_drafts(tmp_path: Path, door: Platform) -> None:
    pytest.importorskip("boto3")
    folder = write_study(tmp_path / "study", door, ["completed"], platform="mturk")
    said = json.loads(run_here("annotate", "platform", "places", folder, "--json").stdout)["studies"]
    assert said["H1T"] == {"status": "Assignable", "places": 520, "Completed": 3}
    wrong = run_here("annotate", "platform", "draft", folder, "--address", "https://study.test", "--reward", "4.50")
    assert (wrong.returncode, "mturk has no drafts" in wrong.stderr) == (1, True)


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [("P0009,1.00", "nobody is called so"), ("P0001,1.00\nP0001,1.00", "stands there twice"), ("P0001,1.5", "no amount")],
)
def test_a_file_of_bonuses_that_is_wrong_pays_nobody(tmp_path: Path, door: Platform, lines: str, sentence: str) -> None:
    folder = write_study(tmp_path / "study", door, ["completed"])
    (tmp_path / "wrong.csv").write_text(f"person,amount\n{lines}\n")
    assert sentence in settle(folder, "--bonuses", tmp_path / "wrong.csv", "--yes", status=1)
    assert not door.asked


def settle_elsewhere(folder: Path, *options: str | Path) -> subprocess.Popen[bytes]:
    """The real command, in a process of its own."""
    words = [sys.executable, "-m", "inpaintbench", "annotate", "platform", "settle", folder, *options, "--json"]
    return subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.PIPE)


class Killer:
    """Kills the command at requests: the n-th that a pattern matches, before it is worked on, or done and not answered."""

    def __init__(self, door: Platform, moments: list[tuple[str, int, str]]) -> None:
        self.moments, self.killed, self.seen = moments, list[str](), Counter[str]()
        self.process: subprocess.Popen[bytes] | None = None
        door.before = lambda what: self._at("before", what)
        door.after = lambda what: self._at("after", what)

    def _at(self, when: str, what: str) -> None:
        for moment in list(self.moments):
            pattern, number, then = moment
            if when == then and re.search(pattern, what):
                self.seen[pattern] += 1
                if self.seen[pattern] >= number and self.process is not None:
                    self.moments.remove(moment)
                    os.kill(self.process.pid, signal.SIGKILL)
                    self.killed.append(f"{when} {what}")
                    raise NoAnswer

    def run(self, folder: Path, *options: str | Path, most: int = 25) -> int:
        """Run the command until it has nothing to do; how many runs it took."""
        for number in range(most):
            self.process = settle_elsewhere(folder, *options, *WAIT, "--yes")
            out, err = self.process.communicate()
            assert self.process.returncode in (0, -signal.SIGKILL), err.decode()
            if not self.process.returncode:
                options = ()  # it is decided: nobody names the file again
                said = states_of(json.loads(out))
                assert not said["refused"]
                if not said["told"] and not said["in doubt"]:
                    return number + 1
            time.sleep(0.5)
        raise AssertionError("it never came to an end")


@pytest.mark.long
def test_killed_at_each_moment_of_a_payment(tmp_path: Path, door: Platform) -> None:
    """Before and after bonuses are set up, and paid: nobody is paid twice, nobody is forgotten."""
    for number, moment in enumerate([(path, 1, when) for path in ("bonus-payments/$", "/pay/$") for when in ("before", "after")]):
        door.submissions.clear()
        door.late = LATE
        folder = write_study(tmp_path / f"study{number}", door, ["completed"] * 2)
        killer = Killer(door, [moment])
        killer.run(folder, "--bonuses", bonuses(tmp_path, [0, 1]))
        assert len(killer.killed) == 1
        assert states(door) == [("APPROVED", 1, [BONUS], 0)] * 2


@pytest.mark.parametrize("platform", ["prolific", pytest.param("mturk", marks=pytest.mark.long)])
@pytest.mark.parametrize("many", [24, pytest.param(500, marks=pytest.mark.long)])
def test_submissions_with_three_kills_are_paid_once_each(
    tmp_path: Path, door: Platform, many: int, platform: PlatformName
) -> None:
    """Also with one of fifty requests turned away, of which the command says nothing."""
    turk, rng = platform == "mturk", random.Random(many)
    if turk:
        pytest.importorskip("boto3")
    outcomes = rng.choices(["completed", "no_more_tasks", "failed_checks", "screened_out"], [80, 5, 5, 10], k=many)
    folder = write_study(tmp_path / "study", door, outcomes, platform=platform)
    door.faults, door.late = 0.02, LATE
    paid = [number for number, outcome in enumerate(outcomes) if outcome in ("completed", "no_more_tasks")]
    told, pays = "transition|request-return|Approve|Reject", "/pay/|SendBonus"
    of_pays = len(paid) if turk else 1 + len(paid) // 200
    moments = [
        (pattern, rng.randint(1, most), rng.choice(["before", "after"]))
        for pattern, most in ((".", many), (told, 4 * many // 5), (pays, of_pays))
    ]
    killer = Killer(door, moments)
    own = ("--reject",) if turk else ("--screened-out", "0.40")
    runs = killer.run(folder, "--bonuses", bonuses(tmp_path, paid), *own)
    assert len(killer.killed) == 3
    done, approved = states(door), "Approved" if turk else "APPROVED"
    expected = {
        "completed": (approved, 1, [BONUS], 0), "no_more_tasks": (approved, 1, [BONUS], 0),
        "failed_checks": ("Rejected", 0, [], 0) if turk else ("AWAITING REVIEW", 0, [], 1),
        "screened_out": (approved, 1, [], 0) if turk else ("AWAITING REVIEW", 0, [SCREENED], 1),
    }  # fmt: skip
    twice = sum(one[1] > 1 or len(one[2]) > 1 for one in done)
    forgotten = sum(one != expected[outcome] for one, outcome in zip(done, outcomes, strict=True))
    assert (twice, forgotten) == (0, 0), f"{runs} runs, killed {killer.killed}"
