"""A study tried out before people come: simulated ones of stated kinds go through the app over HTTP, with its own journal."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args
from urllib.parse import urlsplit

import numpy as np

from inpaintbench.annotate import study as studies
from inpaintbench.annotate.crowd import Link
from inpaintbench.annotate.questions.base import Form, checked
from inpaintbench.annotate.study import PROXIES, Media, Study, StudyTask
from inpaintbench.errors import InputError
from inpaintbench.types import item_rng

if TYPE_CHECKING:
    from inpaintbench.annotate.journal import Journal

# Honest people hold one order of the methods, a minority its reverse; clickers press the first button at once; coins know the
# known answers and choose everything else by lot; programs know them too, choose as the honest do, and read no words in pictures.
Kind = Literal["honest", "minority", "clicker", "coin", "program"]
KINDS: tuple[Kind, ...] = get_args(Kind)
# How often the honest know a known answer, and give the same answer when they are asked again.
KNOWS, REPEATS = 0.97, 0.6
# Log strength of the best method, the last has its negative; spread of an item's results around it; log weight of a tie beside
# two equal methods, and of both bad.
STRONGEST, SPREAD, TIE, BOTH_BAD = 1.4, 0.4, -0.5, -2.0
# Of grades, a part of the scale; log odds of the label that a clip has.
_UNSURE_GRADE, _CLEAR_LABEL = 0.15, 2.0
# Seconds to decide and before another question after one that was refused, and requests that may be refused in a row, besides one
# for each person: all come from one address, of which a server takes five a second.
_DECIDES_SECONDS, _AGAIN_SECONDS, _MOST_REFUSALS = 0.05, 0.5, 240


def order_of(study: Study, kind: Kind) -> dict[str, float]:
    """Log strengths of the methods that people of a kind hold; none for those who hold no order."""
    methods = sorted({name for task in study.tasks for name in task.candidates})
    mixed = item_rng(study.file.seed, "rehearsal", "order").permutation(len(methods))
    strengths = np.linspace(STRONGEST, -STRONGEST, len(methods)) * {"minority": -1, "clicker": 0, "coin": 0}.get(kind, 1)
    return {methods[place]: float(strength) for place, strength in zip(mixed, strengths, strict=True)}


def filled(form: Mapping[str, Any], rng: np.random.Generator, *, main: str = "") -> dict[str, str]:
    """An answer to every part of a form that is asked: the option ``main`` of the first, else any."""
    given: dict[str, str] = {}
    for part in form["parts"]:
        if part["when"] is None or given.get(part["when"][0]) == part["when"][1]:
            options = [option["value"] for option in part["options"]]
            given[part["name"]] = main if main and not given else options[int(rng.integers(len(options)))]
            if given[part["name"]] == part["text_with"]:
                given[f"{part['name']}_text"] = "in a few words"
    return given


@dataclass
class Mind:
    """How somebody of a kind answers the tasks of a study."""

    study: Study
    kind: Kind
    rng: np.random.Generator
    before: dict[str, str] = field(default_factory=dict)
    """Task -> choice."""

    def given(self, task: StudyTask, shown: Sequence[str]) -> dict[str, str]:
        """The form as they fill it in.

        Args:
            task: what is asked.
            shown: candidates, from the first place to the last.
        """
        question, form = self.study.question_of[task.question], self.study.form(task)
        answers = [filled(form.json(), self.rng, main=option.value) for option in form.parts[0].options]
        if self.kind == "clicker":
            return answers[0]
        choices = [question.choice(checked(form, given), shown=shown) for given in answers]
        known = not (self.kind == "program" and task.use == "honey")
        right = [place for place, choice in enumerate(choices) if task.gold and self.study.passes(task, choice) == known]
        if right and (self.kind in ("coin", "program") or self.rng.random() < KNOWS):
            return answers[right[0]]
        if self.before.get(task.task_id) in choices and self.kind != "coin" and self.rng.random() < REPEATS:
            return answers[choices.index(self.before[task.task_id])]
        likes = np.exp([0.0 if self.kind == "coin" else self._likes(task, form, choice) for choice in choices])
        place = int(self.rng.choice(len(choices), p=likes / likes.sum()))
        self.before[task.task_id] = choices[place]
        return answers[place]

    def _likes(self, task: StudyTask, form: Form, choice: str) -> float:
        """Log weight of an answer."""
        question, order = self.study.question_of[task.question], order_of(self.study, self.kind)
        seed = self.study.file.seed
        quality = {
            name: order.get(name, 0.0) + SPREAD * float(item_rng(seed, "rehearsal", f"{task.subject_id}/{name}").normal())
            for name in task.candidates or ("",)
        }
        if len(task.candidates) > 1:
            return quality.get(choice, float(np.mean(list(quality.values()))) + (TIE if choice == "tie" else BOTH_BAD))
        (value,), ends, number = quality.values(), question.ends(), question.number(choice)
        if question.kind in ("grade", "share") and ends is not None:
            seen = ends[0] + (ends[1] - ends[0]) / (1 + np.exp(-value if task.candidates else -value / SPREAD))
            return BOTH_BAD if number is None else float(-(((number - seen) / (_UNSURE_GRADE * (ends[1] - ends[0]))) ** 2) / 2)
        labels = [option.value for option in form.parts[0].options]
        own = labels[int(item_rng(seed, "rehearsal", f"{task.subject_id}/label").integers(len(labels)))]
        return _CLEAR_LABEL if choice == own and choice not in question.unsure else 0.0


class _Leases:
    """What was handed out, by the journal: replies name neither tasks nor methods."""

    def __init__(self, journal: Journal, study: Study) -> None:
        self._journal, self._study, self._lock = journal, study, threading.Lock()
        self._of: dict[str, tuple[StudyTask, tuple[str, ...]]] = {}
        self._seq = 0

    def __getitem__(self, lease_id: str) -> tuple[StudyTask, tuple[str, ...]]:
        with self._lock:
            if lease_id not in self._of:
                for event in self._journal.events(self._study.study_id, after=self._seq):
                    self._seq = event.seq
                    if event.kind == "lease":
                        task = self._study.task_of[event.body["task_id"]]
                        self._of[event.body["lease_id"]] = (task, tuple(event.body["shown"]))
            return self._of[lease_id]


@dataclass
class _Browser:
    """One person's side of the wire."""

    port: int
    people: int = 1
    """Who come from this address."""
    cookie: str = ""

    def ask(self, method: str, path: str, fields: Any = None, *, begin: int = 0) -> tuple[int, Any]:
        """Status and body of an answer; who is asked to wait does so."""
        for _ in range(_MOST_REFUSALS + self.people):
            wire = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
            headers = {"Cookie": self.cookie, "Origin": f"http://127.0.0.1:{self.port}", "X-Inpaintbench": "1"}
            headers |= {"Range": "bytes=0-0"} if begin else {"Content-Type": "application/json"}
            try:
                wire.request(method, path, None if fields is None else json.dumps(fields), headers)
                answer = wire.getresponse()
                body = answer.read()
                self.cookie = answer.headers.get("set-cookie", self.cookie).partition(";")[0]
            finally:
                wire.close()
            if answer.status not in (429, 503):
                return answer.status, json.loads(body) if answer.headers.get_content_subtype() == "json" else body
            time.sleep(_AGAIN_SECONDS)
        raise InputError(f"the rehearsal's own server refused {path} {_MOST_REFUSALS + self.people} times")

    def take_part(self, link: str, mind: Mind, leases: _Leases) -> str:
        """Come by a link and work to the end; how it ended."""
        if (status := self.ask("GET", link)[0]) != HTTPStatus.SEE_OTHER:
            raise InputError(f"the app let no simulated {mind.kind} in: it answered their link with status {status}")
        said, until = self.ask("POST", "/api/work", {})[1], time.monotonic() + 60 * mind.study.file.lease_minutes
        while True:
            if "error" in said:
                raise InputError(f"the app refused a simulated {mind.kind}: {said['error']}")
            work = said.get("work", said)
            if work["status"] in ("ended", "done", "paused") or time.monotonic() >= until:
                return str(work.get("crowd", {}).get("outcome", work["status"]))
            if work["status"] in ("consent", "rereading"):
                step = "consent" if work["status"] == "consent" else "reread"
                said = self.ask("POST", "/api/steps", {"step": step})[1]
            elif work["status"] == "working":
                said = self.ask("POST", "/api/answers", self._answer(work["queue"][0], mind, leases))[1]
                until = time.monotonic() + 60 * mind.study.file.lease_minutes
            else:
                time.sleep(min(_AGAIN_SECONDS, work.get("crowd", {}).get("seconds", _AGAIN_SECONDS)))
                said = self.ask("POST", "/api/work", {})[1]

    def _answer(self, card: Mapping[str, Any], mind: Mind, leases: _Leases) -> dict[str, Any]:
        task, shown = leases[card["lease_id"]]
        if self.ask("GET", card["media"]["url"], begin=1)[0] not in (200, 206):
            raise InputError(f"the app does not give the film of task {task.task_id!r} to whom it asks")
        lasts = 0.0 if mind.kind == "clicker" else mind.study.watch_seconds(task)
        time.sleep(lasts + _DECIDES_SECONDS)
        # People say that they took as long as people do; their times differ.
        by_hand = 0.0 if mind.kind in ("clicker", "program") else float(mind.rng.gamma(4.0, 1.5))
        return {
            "submission_id": str(uuid.uuid4()), "lease_id": card["lease_id"], "given": mind.given(task, shown),
            "seconds": lasts + _DECIDES_SECONDS + by_hand, "watched_frames": card["media"]["frames"], "dropped_frames": 0,
            "plays": 1.0, "stuttered": False,
        }  # fmt: skip


@dataclass(frozen=True)
class Rehearsed:
    """What a rehearsal left."""

    folder: Path
    """Of the study that was tried, with its journal; gone afterwards."""
    study: Study
    kind_of: Mapping[str, Kind]
    """Rater id -> what they were."""
    ended: Mapping[str, str]
    """Rater id -> how."""


@contextmanager
def rehearsed(folder: Path, people: Mapping[Kind, int], *, tell: Callable[[str], None] = lambda _: None) -> Iterator[Rehearsed]:
    """Let simulated people work through a prepared study, each to their end, as long as it takes to watch its films.

    A copy of the study is served by a process of its own. Whom a platform would send comes by a plain link there.

    Args:
        folder: of the study, which stays as it is.
        people: kind -> how many.
        tell: told the address.

    Raises:
        InputError: the server does not start, or refuses somebody.
    """
    from inpaintbench.annotate.journal import Journal
    from inpaintbench.annotate.journal.accounts import People
    from inpaintbench.annotate.journal.participants import Participants

    study = studies.load(folder)
    crowd = study.file.crowd
    study = replace(study, file=study.file.model_copy(update={"media": Media()}))  # nothing has to be at an address yet
    if crowd is not None:
        plain = {"platform": "link", "signed": False, "study_id": "", "places_a_network": 0, "exclude_studies": ()}
        crowd = crowd.model_copy(update={**plain, "link": Link(participant="id", session="taking")})
        study = replace(study, file=study.file.model_copy(update={"crowd": crowd}))
    with tempfile.TemporaryDirectory(prefix="inpaintbench-rehearsal-") as made:
        tried = Path(made)
        studies.save(study, tried)
        (tried / PROXIES).symlink_to((folder / PROXIES).resolve(), target_is_directory=True)
        kinds = {f"{kind}-{number}": kind for kind, many in people.items() for number in range(1, many + 1)}
        with Journal(tried / "journal.sqlite") as journal:
            journal.register(study.study_id, title=study.file.title)
            accounts, leases = People(journal), _Leases(journal, study)
            rater_of: dict[str, str] = {}
            links = {name: f"/enter?id={name}&taking=of-{name}" for name in kinds}
            for name in kinds if crowd is None else ():
                rater_of[name] = accounts.add(study.study_id, name).rater_id
                links[name] = f"/join/{accounts.invite(study.study_id, rater_of[name])}"
            # The server goes first where somebody stops it: whoever is at work then ends too.
            with ThreadPoolExecutor(max(1, len(kinds))) as pool, _serving(tried) as port:
                tell(f"{len(kinds)} simulated people work at http://127.0.0.1:{port}")
                minds = [Mind(study, kinds[name], item_rng(study.file.seed, "rehearsal", name)) for name in kinds]
                works = [pool.submit(_Browser(port, len(kinds)).take_part, links[name], mind, leases)
                         for name, mind in zip(kinds, minds, strict=True)]  # fmt: skip
                ends = dict(zip(kinds, [work.result() for work in works], strict=True))
            came = Participants(journal).all(study.study_id)
        rater_of |= {who.arrival.participant: rater_id for rater_id, who in came.items()}
        yield Rehearsed(
            tried,
            study,
            {rater_of[name]: kind for name, kind in kinds.items()},
            {rater_of[name]: end for name, end in ends.items()},
        )


@contextmanager
def _serving(folder: Path) -> Iterator[int]:
    """The port of a server of the study."""
    command = [sys.executable, "-m", "inpaintbench", "annotate", "serve", str(folder), "--port", "0"]
    command += ["--database", str(folder / "journal.sqlite")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        try:
            lines: list[str] = []
            for line in process.stdout:
                lines.append(line)
                if line.startswith("raters: "):
                    break
            if not lines or not lines[-1].startswith("raters: "):
                raise InputError(f"the rehearsal's server did not start: {''.join(lines[-3:]).strip()}")
            threading.Thread(target=process.stdout.read, daemon=True).start()
            yield int(urlsplit(lines[-1].split()[1]).port or 0)
        finally:
            process.terminate()
