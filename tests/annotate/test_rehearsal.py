"""Simulated people work through a study over HTTP before real ones do: what they hold, and what comes out of it."""

from __future__ import annotations

import http.server
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from crowds import prepare_honey_study, write_crowd_study
from program import run_here
from voted_studies import OF_PREDICTIONS, study_of

from inpaintbench.annotate.records import Standing
from inpaintbench.annotate.rehearsal import KINDS, Kind, Mind, _Browser, filled, order_of, rehearsed
from inpaintbench.annotate.screening.base import Proposal, proposals
from inpaintbench.annotate.statistics.standings import results_of
from inpaintbench.annotate.study import Study
from inpaintbench.cli.annotate.opening import opened
from inpaintbench.cli.annotate.studies import _people, _rehearsal
from inpaintbench.errors import InputError

METHODS = ("deep", "flow", "patch")


def compared() -> Study:
    tasks = [("pairwise", f"item{number:03}", pair) for number in range(60) for pair in combinations(METHODS, 2)]
    gold = {("pairwise", f"item{number:03}"): ("deep",) for number in range(20)}
    return study_of([{"leaf": "pairwise"}], tasks, subjects=OF_PREDICTIONS, gold=gold)


def share(study: Study, kind: Kind, *, gold: bool) -> float:
    """Share of pairs of the honest order's best with its worst in which the best wins; of known answers that are right."""
    mind, order = Mind(study, kind, np.random.default_rng(3)), order_of(study, "honest")
    best, worst = max(order, key=order.__getitem__), min(order, key=order.__getitem__)
    counts = Counter[bool]()
    for turn, task in enumerate(study.tasks):
        shown = task.candidates if turn % 2 else task.candidates[::-1]
        choice = study.question_of[task.question].choice(mind.given(task, shown), shown=shown)
        if gold and task.gold and task.gold[0] in task.candidates:
            counts[choice in task.gold] += 1
        elif not gold and not task.gold and {*task.candidates} == {best, worst} and choice in (best, worst):
            counts[choice == best] += 1
    return counts[True] / counts.total()


def test_each_kind_answers_as_it_is_called() -> None:
    study = compared()
    assert share(study, "honest", gold=False) > 0.85
    assert share(study, "minority", gold=False) < 0.15
    assert all(0.3 < share(study, kind, gold=False) < 0.7 for kind in ("clicker", "coin"))
    assert [share(study, kind, gold=True) > 0.9 for kind in KINDS] == [True, True, False, True, True]
    assert order_of(study, "minority") == {name: -value for name, value in order_of(study, "honest").items()}


def test_every_question_can_be_answered() -> None:
    """Each leaf's own form and check take what people of every kind fill in."""
    for leaf, shown in (("scene_motion", ()), ("camera_motion", ()), ("keep_reject", ()), ("mean_opinion", ("deep",))):
        study = study_of([{"leaf": leaf}], [(leaf, f"s{n}", shown) for n in range(30)],
                         subjects=OF_PREDICTIONS if shown else {"workspace": "W"})  # fmt: skip
        for kind in KINDS:
            mind = Mind(study, kind, np.random.default_rng(1))
            given = [mind.given(task, shown) for task in study.tasks]
            assert len({next(iter(one.values())) for one in given}) > (kind != "clicker")
    form = study.form(study.tasks[0])
    assert filled(form.json(), np.random.default_rng(0), main="4")["grade"] == "4"


def test_a_whole_study_of_strangers_is_tried_over_http_and_stays_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    study = write_crowd_study(folder, "https://platform.test", platform="prolific", signed=True, study_id="6" * 24, link={},
                              subjects=30, right=2, tasks_per_person=5, keys="nowhere.json",
                              checks={"gold_share": 0.2, "repeat_share": 0.0, "window": 1})  # fmt: skip
    told: list[str] = []
    tried = _rehearsal(folder, {"honest": 4, "coin": 2}, tell=told.append)
    people = tried.facts["people"]  # type: ignore[index]
    assert [(row["kind"], row["people"], row["left out"]) for row in people] == [("honest", 4, 0), ("coin", 2, 0)]
    assert people[1]["ended"] == "completed: 2"
    assert people[1]["gold right"] == "100 %"
    assert people[1]["payment"] == "pay: 2"
    assert tried.facts["agreement"]["agreement"][0]["answers"]  # type: ignore[index]
    assert told
    assert sorted(path.name for path in folder.iterdir()) == ["proxies", "study.json"]
    assert run_here("annotate", "status", folder, "--json")
    assert study.file.crowd is not None


def test_who_reads_no_words_in_pictures_is_proposed_over_http_and_nobody_else(tmp_path: Path) -> None:
    """A program that knows every known answer passes all of them, and does not see that the pictures ask for the other one."""
    study = prepare_honey_study(tmp_path)
    honey = {task.task_id for task in study.tasks if task.use == "honey"}
    tried: list[tuple[Standing, list[Proposal], dict[str, Kind], dict[str, str]]] = []
    with rehearsed(tmp_path / "study", {"honest": 3, "program": 2}) as done, opened(done.folder, None) as desk:
        standing = desk.desk.all_answers()
        tried.append((standing, proposals(done.study, standing.everything), dict(done.kind_of), dict(done.ended)))
        assert run_here("annotate", "screen", done.folder, "--apply", "--json")
        assert desk.desk.exclusions() == []
        run_here("annotate", "export", done.folder, "--out", tmp_path / "answers.csv")
    ((standing, proposed, kind_of, ended),) = tried
    assert set(ended.values()) == {"completed"}
    sign = "2 of 2 answers are not what the pictures asked for"
    assert [(kind_of[of.rater_id], of.rule, of.alone) for of in proposed] == [("program", "signs_of_a_program", False)] * 2
    assert all(sign in of.reason for of in proposed)
    of_honey = [vote for vote in standing.everything if vote.task_id in honey]
    assert Counter(vote.purpose for vote in of_honey) == {"honey": 2 * 5}
    assert not honey & {vote.task_id for vote in standing.votes}
    assert results_of(study, standing.everything) == results_of(study, standing.votes)
    told = (tmp_path / "answers.csv").read_text()
    assert not [task_id for task_id in honey if task_id in told]
    assert len(told.splitlines()) == 1 + len(standing.votes)


@pytest.mark.long
def test_invited_people_are_tried_and_watch_their_films(tmp_path: Path) -> None:
    from studies_made import write_study

    folder = tmp_path / "study"
    write_study(folder, [{"leaf": "pairwise", "raters_per_task": 3}], subjects=3, screening={"faster_than_clip": {}})
    with rehearsed(folder, {"honest": 3, "clicker": 1}) as tried:
        assert Counter(tried.kind_of.values()) == {"honest": 3, "clicker": 1}
        assert set(tried.ended.values()) == {"done"}
    assert not tried.folder.exists()


def test_a_rehearsal_that_is_stopped_leaves_nothing(tmp_path: Path) -> None:
    """Ctrl-C reaches the program alone, as `kill -INT` does; people in the middle of a film do not keep it."""
    from studies_made import write_study

    write_study(tmp_path / "study", [{"leaf": "pairwise", "raters_per_task": 30}], subjects=60)
    code = "import sys; from pathlib import Path; from inpaintbench.annotate.rehearsal import rehearsed\n"
    code += "with rehearsed(Path(sys.argv[1]), {'honest': 8}, tell=lambda said: print(said, flush=True)): pass"
    command, temporary = [sys.executable, "-c", code, str(tmp_path / "study")], tmp_path / "temporary"
    temporary.mkdir()
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "TMPDIR": str(temporary)}, text=True) as tried:
        assert tried.stdout is not None
        port = int(tried.stdout.readline().rpartition(":")[2])
        (journal,) = temporary.glob("*/journal.sqlite")
        until, asked = time.monotonic() + 120, "SELECT COUNT(*) FROM events WHERE kind = 'answer'"
        while sqlite3.connect(journal).execute(asked).fetchone()[0] < 8:
            assert time.monotonic() < until, "nobody answers"
            time.sleep(0.2)
        tried.send_signal(signal.SIGINT)
        threading.Timer(30, tried.kill).start()
        assert tried.wait() == -signal.SIGINT  # the films would last for minutes
    assert list(temporary.iterdir()) == []
    with socket.socket() as gone, pytest.raises(ConnectionRefusedError):
        gone.connect(("127.0.0.1", port))


class Refusing(http.server.BaseHTTPRequestHandler):
    """A server that knows nobody; links are answered with a class's own status."""

    of_links = 303

    def do_GET(self) -> None:
        self.send_response(self.of_links)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self) -> None:
        said = b'{"error": "this browser has no place here"}'
        self.send_response(401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.parametrize(
    ("status", "why"),
    [(303, "refused a simulated honest: this browser has no place here"), (403, "let no simulated honest in: .* status 403")],
)
def test_whoever_is_not_let_in_is_told_of_in_a_sentence(status: int, why: str) -> None:
    asked = http.server.HTTPServer(("127.0.0.1", 0), type("Asked", (Refusing,), {"of_links": status}))
    threading.Thread(target=asked.serve_forever, daemon=True).start()
    try:
        with pytest.raises(InputError, match=why):
            _Browser(asked.server_port).take_part("/enter?id=x", Mind(compared(), "honest", np.random.default_rng(0)), {})  # type: ignore[arg-type]
    finally:
        asked.shutdown()
        asked.server_close()


def test_people_of_a_rehearsal_are_named_once_and_somebody_comes() -> None:
    assert _people("honest=20, coin=3") == {"honest": 20, "coin": 3}
    with pytest.raises(InputError, match="names a kind of people twice; name each once"):
        _people("honest=3,honest=5")
    with pytest.raises(InputError, match="'honest=0' is nobody; at least one person has to come"):
        _people("honest=0")


@pytest.mark.parametrize("text", ["honest", "honest=many", "liar=3", "", "honest=20,", "honest=²"])
def test_people_are_kinds_with_their_number(text: str) -> None:
    with pytest.raises(InputError, match=r"is no kind of people with their number; kinds are honest, .*coin.*: write honest=20"):
        _people(text)
    assert _people("coin=3,honest=20,clicker=0") == {"honest": 20, "coin": 3}
