"""Desk to which raters come for work and bring it back: every rule of a study, over the journal."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

from inpaintbench.annotate.crowd import UNPAID, Outcome
from inpaintbench.annotate.desk import cards, edits
from inpaintbench.annotate.desk.assign import QUEUE, Assignment, Leases, still_to_come
from inpaintbench.annotate.desk.attendance import FAREWELLS, Attendance
from inpaintbench.annotate.desk.cards import Refused, Sent, SentAnswer, SentSkip, SentStep, SentUndo, SentWork, parsed
from inpaintbench.annotate.desk.coverage import is_done, overview, why_done
from inpaintbench.annotate.desk.current_state import Append, Live
from inpaintbench.annotate.desk.state import State
from inpaintbench.annotate.languages import SPEECH, Said, Speech
from inpaintbench.annotate.questions.base import TEXT_LIMIT, checked
from inpaintbench.annotate.records import (
    STUDY,
    WITHDREW,
    Edit,
    Exclusion,
    Kind,
    Lease,
    Proportion,
    RaterRecord,
    Standing,
    Submission,
    Vote,
    What,
)
from inpaintbench.annotate.screening.base import stated_rules
from inpaintbench.annotate.study import Study
from inpaintbench.errors import InputError
from inpaintbench.types import canonical_json

if TYPE_CHECKING:
    from inpaintbench.annotate.journal import Journal

__all__ = ["Desk", "Refused"]

_PAUSED = "Thank you so far. Please have a word with the person who runs the study before you go on."
_HELD = "The study is paused for a while. What you have answered is kept, and this page goes on by itself once the study does."
_WAITING = "Others are at work on what is left. Please look again in a few minutes."
_EXCLUDED = "Thank you for your answers. There is nothing more for you to do in this study."
_NOTHING_LEFT = "Thank you, you have answered everything there is for you."


@dataclass(frozen=True)
class Editable:
    """A study as an admin finds it who wants to change something."""

    study: Study
    edits: tuple[Edit, ...]
    paused: bool
    taken: int
    """Places of strangers that cannot be taken back."""
    graded: Mapping[str, Proportion]
    """Gold task -> answers that were right when they came."""
    asked: frozenset[str]
    """Tasks that somebody was asked about without a known answer: none of them can become gold."""


class Desk:
    """Serves the raters of one study.

    Several desks, in one process or in many, may share a journal: each catches up inside its write transactions. A task never
    goes to more raters than it needs while leases live; answers that come after their lease expired are taken all the same.

    Args:
        study: prepared.
        journal: holds the events; the study is registered there.
        clock: seconds since 1970.
        name_of: what a rater is called on their own page and in the overview.
        way_back: code and address that a stranger gets at the end; asked for once it has come.
        neighbours: other raters of the network from which a stranger agrees; None where it is not known any more.
    """

    def __init__(
        self, study: Study, journal: Journal, *, clock: Callable[[], float] = time.time, name_of: Callable[[str], str] = str,
        way_back: Callable[[str, Outcome], Mapping[str, Any]] = lambda _rater_id, _outcome: {},
        neighbours: Callable[[str], Iterable[str] | None] = lambda _rater_id: (),
    ) -> None:  # fmt: skip
        self._live = Live(study, journal, clock=clock)
        self._hands = Leases(self._live)
        self._name_of = name_of
        self._rules = json.loads(canonical_json(stated_rules(study)))
        self._way_back, self._neighbours = way_back, neighbours
        # Rater -> tasks that their browser has room for. Not remembered elsewhere: it asks again.
        self._room: dict[str, int] = {}
        crowd = study.file.crowd
        self._attendance = None if crowd is None else Attendance(self._live)

    @property
    def study(self) -> Study:
        """As it is after the changes of admins that are known here."""
        return self._live.study

    def work(self, rater_id: str, fields: Mapping[str, Any] = {}) -> dict[str, Any]:
        """Work of a rater, now and next, leased to them; asking again gives the same.

        A browser that has room for more (``ahead``) gets more, as long as a quarter of what is left for its rater is not in its
        hands: a network that goes away then stops nobody.

        Raises:
            Refused: 400 malformed.
        """
        if ahead := parsed(SentWork, fields).ahead:
            self._room[rater_id] = ahead
        return self._live.write(lambda append: self._work(append, rater_id))

    def answer(self, rater_id: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Store an answer; the reply holds the next work. Sending it again gives the first outcome, ``duplicate``.

        Raises:
            Refused: 400 malformed, no answer to this question or not watched to the end; 403 of another rater; 404 no such
                lease; 409 answered by another submission; 423 the rater is paused.
        """
        sent = parsed(SentAnswer, fields)
        return self._stored(rater_id, "answer", sent, lambda: self._answer_body(sent, self._own_lease(rater_id, sent.lease_id)))

    def skip(self, rater_id: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Store that a rater does not answer a task; it does not come back to them.

        Raises:
            Refused: as ``answer``; 400 too where "Something else" comes without words.
        """
        sent = parsed(SentSkip, fields)
        text = sent.text.strip()

        def body() -> dict[str, Any]:
            if sent.reason == cards.OTHER and not text:
                raise Refused(400, "Please say in a few words why you skip this.")
            task_id = self._own_lease(rater_id, sent.lease_id).task_id
            return {**sent.model_dump(exclude_none=True), "text": text, "task_id": task_id}

        return self._stored(rater_id, "skip", sent, body)

    def undo(self, rater_id: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Take back the last answer or skip of a rater that stands; its task comes first, as it was shown.

        Raises:
            Refused: 400 malformed, 403 of another rater, 404 no such submission, 409 not the last one or taken back already,
                423 the rater is paused.
        """
        sent = parsed(SentUndo, fields)

        def body() -> dict[str, Any]:
            target, record = self._live.state.submissions.get(sent.undoes), self._live.state.rater(rater_id)
            if target is None:
                raise Refused(404, "There is nothing to undo.")
            if target.rater_id != rater_id:
                raise Refused(403, "This is not yours.")
            if self._last(record) != sent.undoes or target.purpose in ("training", "test"):
                raise Refused(409, "Only the last answer can be undone; please reload the page.")
            return {**sent.model_dump(), "task_id": target.task_id}

        return self._stored(rater_id, "undo", sent, body)

    def arrive(self, rater_id: str) -> None:
        """A platform sent somebody; nothing happens when they come again."""

        def come(append: Append) -> None:
            if self._live.state.rater(rater_id).visit is None:
                append("arrive", rater_id, {})

        self._live.write(come)

    def is_over(self, rater_id: str) -> bool:
        """Return whether a stranger's part has ended."""
        with self._live.reading():
            visit = self._live.state.rater(rater_id).visit
        return visit is not None and visit.outcome is not None

    def at_work(self) -> frozenset[str]:
        """Strangers who have agreed and go on."""
        with self._live.reading():
            return frozenset() if self._attendance is None else self._attendance.at_work()

    def is_owed(self, rater_id: str) -> bool:
        """Return whether a stranger came to an end at which the platform is to be told something, money or a refusal."""
        with self._live.reading():
            visit = self._live.state.rater(rater_id).visit
        return visit is not None and visit.outcome is not None and visit.outcome not in UNPAID

    def step(self, rater_id: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        """A stranger agrees or not, has read the instructions again, stops, or withdraws; the reply holds the next work.

        What does not fit where they stand changes nothing, so sending it again does no harm.

        Raises:
            Refused: 400 malformed, 404 no stranger, 409 a withdrawal that was not asked about twice, 429 too many are at work
                from their network.
        """
        sent, attendance = parsed(SentStep, fields), self._attendance
        if attendance is None or self._live.state.rater(rater_id).visit is None:
            raise Refused(404, "There is nothing to agree to here.")
        speech = SPEECH.get()  # here: one thread runs what several wait for

        def take(append: Append) -> dict[str, Any]:
            record = self._live.state.rater(rater_id)
            assert record.visit is not None
            open_ended = record.visit.outcome is None
            if sent.step == "consent" and open_ended and record.visit.consented_at is None:
                self._consent(append, rater_id, attendance, agrees=sent.answer, speech=speech)
            elif sent.step == "reread" and open_ended and record.paused(self.study.file.checks) and not record.reread:
                append("resume", rater_id, {"by": "rater"})
            elif sent.step == "leave" and open_ended:
                append("finish", rater_id, {"outcome": "returned"})
            elif sent.step == "withdraw" and not sent.sure:
                raise Refused(409, "Please say once more that you want to withdraw.")
            elif sent.step == "withdraw":
                self._withdraw(append, rater_id)
            return self._work(append, rater_id)

        return self._live.write(take)

    def withdraw(self, rater_id: str, *, keep_votes: bool = False) -> None:
        """End somebody's part, and exclude what they answered unless it is to count. Who they are is erased elsewhere."""
        self._live.write(lambda append: self._withdraw(append, rater_id, keep_votes=keep_votes))

    def _withdraw(self, append: Append, rater_id: str, *, keep_votes: bool = False) -> None:
        state, crowd = self._live.state, self.study.file.crowd
        visit = state.rater(rater_id).visit
        if visit is not None and (visit.outcome is None or visit.outcome in UNPAID - {"withdrawn"}):
            append("finish", rater_id, {"outcome": "withdrawn"})
        kept = keep_votes or (crowd is not None and crowd.keep_votes)
        before = state.excluded(rater_id)
        if not kept and (before is None or before.by != "rater"):  # of who was excluded already it has to outlast that
            reason = WITHDREW if before is None else f"{before.reason}; {WITHDREW} afterwards"
            append("exclude", rater_id, {"submission": None, "reason": reason, "rule": None, "by": "rater"})

    def _consent(self, append: Append, rater_id: str, attendance: Attendance, *, agrees: bool, speech: Speech) -> None:
        crowd = self.study.file.crowd
        assert crowd is not None
        others = self._neighbours(rater_id) if agrees and not crowd.signed and crowd.places_a_network else ()
        if others is None or (others and len(attendance.at_work().intersection(others)) >= crowd.places_a_network):
            raise Refused(429, "Many people of your network are at work at this moment; please come back in a while.")
        if agrees and not attendance.places_left():
            append("finish", rater_id, {"outcome": "no_more_tasks"})
            return
        read = hashlib.sha256(speech(crowd.consent_text).encode()).hexdigest()
        append("consent", rater_id, {"text_sha256": read, "language": speech.language, "answer": agrees})
        if not agrees:
            append("finish", rater_id, {"outcome": "declined"})

    def may_see(self, rater_id: str, proxy: str) -> bool:
        """Return whether ``proxy`` belongs to one of the last tasks of a rater."""
        if proxy in self._live.state.rater(rater_id).proxies:
            return True
        with self._live.reading():  # another server process may have handed it out
            return proxy in self._live.state.rater(rater_id).proxies

    def overview(self) -> dict[str, Any]:
        """The study at a glance; see ``overview.overview``."""
        with self._live.reading():
            state, coverage, settled = self._live.state, self._live.coverage, self._live.settled
            return overview(state, coverage, settled=settled, name_of=self._name_of, now=self._live.now)

    def done(self) -> bool:
        """Whether every question has its answers, or a settled order."""
        with self._live.reading():
            return is_done(self._live.state, self._live.coverage, settled=self._live.settled)

    def state(self) -> State:
        """The state as it is stored now, for reports: nobody else may use this desk meanwhile."""
        with self._live.reading():
            return self._live.state

    def newest(
        self, most: int, *, rater_id: str | None = None, question: str | None = None,
        kind: Literal["answer", "skip"] | None = None,
    ) -> list[Submission]:  # fmt: skip
        """The last ``most`` answers and skips that stand, newest first; of one rater, question or kind where that is named."""
        with self._live.reading():
            wanted = (
                row
                for row in self._live.state.submissions.newest(rater_id=rater_id, kind=kind)
                if question in (None, self.study.task_of[row.task_id].question)
            )
            return list(islice(wanted, most))

    def vote(self, submission_id: str) -> Vote | None:
        """The answer of that id, where it stands."""
        with self._live.reading():
            sent = self._live.state.submissions.get(submission_id)
            return None if sent is None or sent.undone else sent.vote

    def resume(self, rater_id: str) -> None:
        """Let a paused rater go on; nothing happens to others."""

        def let_go_on(append: Append) -> None:
            if self._live.state.rater(rater_id).paused(self.study.file.checks):
                append("resume", rater_id, {})

        self._live.write(let_go_on)

    def exclude(
        self, rater_id: str, *, submission_id: str | None = None, reason: str, by: str = "command", rule: str | None = None
    ) -> bool:
        """Let nothing of a rater count, or not one answer of theirs, until it is included again; tasks open for others.

        The answers stay where they are. The rater gets no more work while all of theirs is excluded; what they have in hand is
        taken and does not count. Return whether anything changed: what is excluded already stays so, and what a person included
        again is left alone by rules.

        Args:
            rater_id: whose answers.
            submission_id: one answer; all, those to come too, by default.
            reason: in the words of whoever decides; reports print it.
            by: rater id of an admin, or ``command``.
            rule: name of the rule that proposed it; None where a person decides.

        Raises:
            InputError: no reason, or no such answer of this rater.
        """
        words = _reason(reason)

        def leave_out(append: Append) -> bool:
            state, key = self._live.state, self._decidable(rater_id, submission_id)
            if key in state.exclusions or (rule is not None and key in state.included):
                return False
            append("exclude", rater_id, {"submission": submission_id, "reason": words, "rule": rule, "by": by})
            return True

        return self._live.write(leave_out)

    def include(self, rater_id: str, *, submission_id: str | None = None, reason: str, by: str = "command") -> bool:
        """Let what was excluded count again. Return whether anything changed.

        Args:
            rater_id: whose answers.
            submission_id: the answer that was excluded by itself; the rater by default.
            reason: in the words of whoever decides.
            by: rater id of an admin, or ``command``.

        Raises:
            InputError: no reason, or no such answer of this rater.
        """
        words = _reason(reason)

        def take_in(append: Append) -> bool:
            found = self._live.state.exclusions.get(self._decidable(rater_id, submission_id))
            if found is None:
                return False
            if found.by == "rater":
                raise InputError("this person withdrew; what they answered counts no more")
            append("include", rater_id, {"submission": submission_id, "reason": words, "by": by})
            return True

        return self._live.write(take_in)

    def edit(self, what: What, of: str, value: str, *, by: str, seen: int) -> bool:
        """Change the study for what is shown, asked and checked from now on. Return whether anything changed.

        Args:
            what: is changed.
            of: label of a question, id of a task of ``gold``; empty for others.
            value: what it is to be; right answers are divided by ``|``, and with none the task is an ordinary one.
            by: rater id of an admin.
            seen: number of the last change that whoever decides had seen.

        Raises:
            ChangedMeanwhile: somebody else did, the same.
            InputError: it would change what earlier answers mean, takes places that people have, or cannot be shown.
        """

        def change(append: Append) -> bool:
            state = self._live.state
            before, after = edits.current(state.study, what, of, paused=state.paused), edits.checked(state.study, what, of, value)
            if after == edits.plain(state.study, what, of, before):
                return False
            if any(edit.number > seen and (edit.what, edit.of) == (what, of) for edit in state.edits):
                raise edits.ChangedMeanwhile("somebody else has changed this meanwhile")
            taken = 0 if self._attendance is None else self._attendance.places_taken()
            if what == "places" and int(after) < taken:
                raise InputError(f"{taken} places are taken, and nobody is sent away: there cannot be fewer")
            if what == "gold" and not before and of in state.asked():
                raise InputError("somebody was asked about this item without a known answer, which would take their vote away")
            append("edit", STUDY, {"what": what, "of": of, "before": before, "after": after, "by": by})
            return True

        return self._live.write(change)

    def paused(self) -> bool:
        """Return whether an admin has paused the study."""
        with self._live.reading():
            return self._live.state.paused

    def editable(self) -> Editable:
        """What an admin who changes the study has to know."""
        with self._live.reading():
            state, attendance = self._live.state, self._attendance
            taken = 0 if attendance is None else attendance.places_taken()
            return Editable(state.study, tuple(state.edits), state.paused, taken, state.submissions.graded(), state.asked())

    def all_answers(self) -> Standing:
        """Answers that stand now, with and without what is excluded."""
        with self._live.reading():
            return self._live.state.all_answers()

    def exclusions(self) -> list[Exclusion]:
        """What counts for nothing now, and why, in the order in which it was decided."""
        with self._live.reading():
            return list(self._live.state.exclusions.values())

    def _decidable(self, rater_id: str, submission_id: str | None) -> tuple[str, str | None]:
        if submission_id is not None:
            sent = self._live.state.submissions.get(submission_id)
            if sent is None or sent.rater_id != rater_id or sent.vote is None:
                raise InputError(f"the rater has no answer {submission_id!r}")
        return rater_id, submission_id

    def _stored(self, rater_id: str, kind: Kind, sent: Sent, body: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The reply to a submission, whose ``body`` is appended unless it was stored before."""

        def store(append: Append) -> dict[str, Any]:
            known = self._known(rater_id, sent.submission_id, kind)
            if known is None:
                append(kind, rater_id, body())
            vote = self._live.state.submissions[sent.submission_id].vote
            if known is None and vote is not None and vote.too_soon:
                # Stored, and the reply is the usual one: whoever made a program of it learns nothing.
                lasts = self.study.watch_seconds(self.study.task_of[vote.task_id])
                reason = f"came {vote.available_seconds:.1f} s after it could be seen first, and the clip lasts {lasts:.1f} s"
                about = {"submission": vote.submission_id, "reason": reason, "rule": "faster_than_clip", "by": "rule"}
                append("exclude", rater_id, about)
            return cards.stored(self.study, vote, self._work(append, rater_id), duplicate=known is not None)

        return self._live.write(store)

    def _work(self, append: Append, rater_id: str) -> dict[str, Any]:
        live = self._live
        rules, stated = self._rules, live.state.stated
        if rules != (stated[-1].rules if stated else {}):
            append("screening", STUDY, {"rules": rules})
        if self._attendance is not None and live.state.rater(rater_id).visit is not None:
            return self._work_of_stranger(append, rater_id, self._attendance)
        excluded, held = live.state.excluded(rater_id) is not None, live.state.paused
        status: cards.Status = "done" if excluded else "paused"
        message, queue, to_come, undoable = _EXCLUDED if excluded else _PAUSED, list[Lease](), 0, None
        if not excluded and not live.state.rater(rater_id).paused(self.study.file.checks):
            status, message = "working", ""
            queue = self._hands.queue(append, rater_id, ahead=0 if held else self._ahead(rater_id))
            to_come = len(queue) + still_to_come(live.state, live.coverage, rater_id, settled=live.settled)
            undoable = self._last(live.state.rater(rater_id))
            awaited = set() if queue else live.coverage.awaited(settled=live.settled)
            if held and not queue:
                status, message = "paused", _HELD
            elif not queue and awaited - live.state.rater(rater_id).had:
                status, message = "waiting", _WAITING
            elif not queue:
                complete = Said("Thank you, the study is complete. {why}", why=why_done(live.state, live.settled))
                status, message = "done", _NOTHING_LEFT if awaited else complete
        record = live.state.rater(rater_id)
        return self._reply(rater_id, status, message, queue, cards.progress(record.answered, to_come, record.pace(), undoable))

    def _reply(
        self, rater_id: str, status: cards.Status, message: str, queue: list[Lease], progress: dict[str, Any], **more: Any
    ) -> dict[str, Any]:
        study, viewing = self.study, self.study.file.viewing
        shown = queue[: max(QUEUE, self._room.get(rater_id, QUEUE))]
        return {
            "study": {
                "study_id": study.study_id, "title": study.file.title, "welcome": study.file.welcome,
                "least_width": viewing.least_width, "least_scale": viewing.least_scale,
            },
            "rater": {"rater_id": rater_id, "name": self._name_of(rater_id)},
            "status": status,
            "message": message,
            "progress": progress,
            "queue": [cards.card(study, lease, revision=len(self._live.state.edits)) for lease in shown],
            **more,
        }  # fmt: skip

    def _work_of_stranger(self, append: Append, rater_id: str, attendance: Attendance) -> dict[str, Any]:
        stage, queue = attendance.stage(append, rater_id), list[Lease]()
        held = self._live.state.paused and stage != "ended"
        if held and stage not in ("rereading", "resting"):
            queue = self._hands.queue(append, rater_id, ahead=0)
        elif not held and stage in ("training", "testing"):
            # In practice one at a time: its answer is looked at before the next.
            choose, ahead = partial(attendance.choose, rater_id, stage), 1 if stage == "training" else QUEUE
            queue = self._hands.queue(append, rater_id, choose=choose, ahead=ahead)
        elif not held and stage == "working":

            def choose_within_quota() -> Assignment | None:
                return self._hands.next_task(rater_id) if attendance.quota_left(rater_id) else None

            queue = self._hands.queue(append, rater_id, choose=choose_within_quota, ahead=self._ahead(rater_id))
            if not queue:
                append("finish", rater_id, {"outcome": "no_more_tasks"})
                stage = "ended"
        record = self._live.state.rater(rater_id)
        visit, crowd = record.visit, self.study.file.crowd
        assert visit is not None
        assert crowd is not None
        status: cards.Status = "working" if queue or stage in ("training", "testing", "working") else stage  # type: ignore[assignment]
        status = "paused" if held and not queue and stage != "resting" else status
        last = self._last(record) if stage == "working" else None
        undoable = None if last is None or self._live.state.submissions[last].purpose in ("training", "test") else last
        left = attendance.left(rater_id, stage)
        about: dict[str, Any] = {"stage": stage, "before": attendance.before(rater_id, stage)}
        if stage == "consent":
            about["text"] = crowd.consent_text
        elif stage == "resting":
            about["seconds"] = max(0.0, visit.rest_until - self._live.now)
        elif stage == "ended":
            assert visit.outcome is not None
            exclusion, said = self._live.state.excluded(rater_id), FAREWELLS[visit.outcome]
            if exclusion is not None and exclusion.by == "rater" and visit.outcome != "withdrawn":
                said = Said("{said} You have withdrawn: your answers are not used.", said=said)
            about |= {"outcome": visit.outcome, "text": said, **self._way_back(rater_id, visit.outcome)}
        progress = cards.progress(record.answered, left, record.pace(), undoable)
        return self._reply(rater_id, status, _HELD if status == "paused" else "", queue, progress, crowd=about)

    def _ahead(self, rater_id: str) -> int:
        """Tasks for a rater at once: what their browser has room for, but no more than a quarter of what is left for them."""
        wanted = self._room.get(rater_id, QUEUE)
        if wanted <= QUEUE:
            return QUEUE
        left = self._live.coverage.left(rater_id, settled=self._live.settled)
        return max(QUEUE, min(wanted, left // 4))

    def _last(self, record: RaterRecord) -> str | None:
        """Submission id of the last answer or skip that stands."""
        return self._live.state.submissions.id_of(record.done[-1]) if record.done else None

    def _known(self, rater_id: str, submission_id: str, kind: str) -> Submission | None:
        """The submission, when it was stored before; refuses those that may not go on."""
        known, record = self._live.state.submissions.get(submission_id), self._live.state.rater(rater_id)
        if known is not None and known.rater_id != rater_id:
            raise Refused(403, "This is not yours.")
        if known is not None and known.kind != kind:
            raise Refused(409, "This was sent before as something else; please reload the page.")
        if known is None and record.visit is not None and record.visit.outcome is not None:
            raise Refused(409, "Your part in the study has ended.")
        if known is None and record.paused(self.study.file.checks):
            raise Refused(423, _PAUSED)
        return known

    def _own_lease(self, rater_id: str, lease_id: str) -> Lease:
        lease = self._live.state.leases.get(lease_id)
        if lease is None and lease_id in self._hands.given(rater_id):
            raise Refused(409, "This task was answered before; please reload the page.")
        if lease is None:
            raise Refused(404, "There is no such task; please reload the page.")
        if lease.rater_id != rater_id:
            raise Refused(403, "This is not yours.")
        return lease

    def _answer_body(self, sent: SentAnswer, lease: Lease) -> dict[str, Any]:
        task, known = self.study.task_of[lease.task_id], self._live.state.rater(lease.rater_id).told
        frames = self.study.proxies[task.proxy].frames
        if self.study.spec_of[task.question].must_watch and sent.watched_frames < frames:
            shown = {"seen": sent.watched_frames, "frames": frames}
            raise Refused(400, Said("Please watch the whole clip first: {seen} of {frames} frames were shown.", **shown))
        viewing = self.study.file.viewing
        if sent.seen is not None and (sent.seen.width < viewing.least_width or sent.seen.scale < viewing.least_scale):
            raise Refused(400, Said("The pictures were too small to judge: {width} pixels wide.", width=sent.seen.width))
        try:
            given = checked(self.study.form(task), sent.given)
            choice = self.study.question_of[task.question].choice(given, shown=lease.shown)
        except InputError as error:
            raise Refused(400, str(error)) from error
        return {
            **sent.model_dump(exclude_none=True),
            "given": given,
            "task_id": lease.task_id,
            "choice": choice,
            "suggestion_shown": cards.suggestion_shown(self.study, task, answered=task.task_id in known),
        }


def _reason(words: str) -> str:
    if not (stripped := words.strip()):
        raise InputError("say why: the reason stands in the journal and in the report")
    if len(stripped) > TEXT_LIMIT:
        raise InputError(f"the reason has {len(stripped)} characters; at most {TEXT_LIMIT} are kept")
    return stripped
