"""Settle with a platform whom the study decided to pay or to refuse: what is to be told, and the ledger of what was told.

The platform is asked first, so that nothing is told twice. Before and after each call an event stands in the journal, whose body
says ``action`` and ``state`` (``asked``, then ``done`` or ``refused``), nothing of what the platform calls somebody, and

* of a decision on somebody ``rater``; of a draft its ``key`` there;
* of a payment of bonuses its ``key`` there, ``cents`` and ``after`` (rater -> cents of it, and of all bonuses then);
* of ``due``, which only decides: ``cents`` (rater -> cents of all bonuses they are to have in the end).

What somebody is to have, less what the platform shows, less what is on its way, is paid. A payment is on its way from ``asked``
until the platform shows it. A process that dies between leaves one of which nobody knows whether it got there: it is made anew
only when the platform has shown nothing of it for a time, or at once where the platform itself pays nothing twice.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from inpaintbench.annotate.outcomes.payments import Payment
from inpaintbench.annotate.platforms import Action, Bonus, Door, InDoubt, Refused, Submission
from inpaintbench.annotate.records import STUDY, Event
from inpaintbench.errors import InputError

if TYPE_CHECKING:
    from inpaintbench.annotate.journal import Journal


@dataclass(frozen=True)
class Step:
    """One thing to tell the platform of somebody, or why there is nothing to tell."""

    rater_id: str
    row: Payment
    stands: str
    """Status of the submission there; empty where it was not asked for, as all is told."""
    action: Action | Literal["bonus"] | None
    why: str
    study: str = ""
    """The platform's id."""
    cents: int = 0
    after: int = 0
    """As that of ``Bonus``."""
    is_open: bool = False
    """A bonus was sent, and nobody knows whether it got there."""


class Ledger:
    """What was told of the people of one study, in its journal.

    Args:
        journal: of the study.
        study_id: of the study.
        seq: number of an event up to which everything is known already.
        clock: seconds since 1970.
    """

    def __init__(self, journal: Journal, study_id: str, *, seq: int, clock: Callable[[], float] = time.time) -> None:
        self._journal, self._study_id, self._seq, self._clock = journal, study_id, seq, clock
        self.told: dict[tuple[str, str], str] = {}
        """(rater, action) -> state."""
        self.due: dict[str, int] = {}
        """Rater -> cents of all bonuses that were decided."""
        self.draft: str | None = None
        """The platform's id of the draft that was made."""
        self._sent: dict[str, tuple[float, Mapping[str, Any]]] = {}
        for event in journal.events(study_id, kinds=("platform",)):
            self._take(event)

    def _take(self, event: Event) -> None:
        body, self._seq = event.body, max(self._seq, event.seq)
        if body["action"] == "due":
            self.due |= body["cents"]
        elif body["action"] == "bonus":
            self._sent[body["key"]] = self._sent.get(body["key"], (event.at,))[0], body
        elif body["action"] == "draft":
            self.draft = body["key"]
        else:
            self.told[body["rater"], body["action"]] = body["state"]

    def write(self, **body: Any) -> None:
        """Add a line, which is on disk when this returns.

        Raises:
            InputError: somebody else has written one since it was read, so that two would tell the platform the same.
        """
        with self._journal.writing(self._study_id) as writer:
            if any(event.kind == "platform" for event in writer.events(after=self._seq)):
                raise InputError("somebody else settles this study at this moment; run it again when they have ended")
            self._take(writer.append("platform", STUDY, body, at=self._clock()))

    @contextmanager
    def telling(self, **body: Any) -> Iterator[None]:
        """Lines before and after a call that tells the platform something; none after one of which nobody knows the end."""
        self.write(**body, state="asked")
        try:
            yield
        except Refused:
            self.write(**body, state="refused")
            raise
        self.write(**body, state="done")

    def sent(self, rater_id: str, shown: int) -> Iterator[tuple[float, Mapping[str, Any]]]:
        """When bonuses of somebody were sent that the platform, with ``shown`` cents, does not show yet; and their lines."""
        for at, body in self._sent.values():
            if rater_id in body["cents"] and body["state"] != "refused" and shown < body["after"][rater_id]:
                yield at, body


def plan(rows: Mapping[str, Payment], ledger: Ledger, door: Door, *, reject: bool, since: float) -> Iterator[Step]:
    """What is to be told of everybody, after looking how they stand there.

    Args:
        rows: rater id -> decision.
        ledger: what was told, and which bonuses are due.
        door: of the platform.
        reject: whom the study proposes to refuse is rejected, not asked to return.
        since: seconds since 1970; a payment before, of which nobody knows whether it got there, is made anew if it is not shown.

    Raises:
        InputError: the platform lets nobody in with these credentials.
        NetworkError: it does not answer.
    """
    for rater_id, row in rows.items():
        due = ledger.due.get(rater_id, 0)
        wanted = _wanted(row, door, reject=reject, due=due)
        if wanted is None and row.decision == "refuse":
            yield Step(rater_id, row, "", None, "the study would refuse it; --reject does so")
        if (wanted is None or (wanted != "ask back" and ledger.told.get((rater_id, wanted)) == "done")) and not due:
            continue
        try:
            at = door.look(row.submission_id)
        except Refused as error:
            yield Step(rater_id, row, "unknown", None, str(error))
            continue
        action, why = _decided(wanted, at, row)
        if action == "ask back" and due:
            why += f" You get a bonus of {money(due)} for your time."
        if why:
            yield Step(rater_id, row, at.status, action, why, at.study)
        if due:
            yield from _bonus(rater_id, row, at, ledger, due=due, repeats=door.repeats, since=since)


def _wanted(row: Payment, door: Door, *, reject: bool, due: int) -> Action | None:
    """What the study's decision on somebody is in the platform's words; None where there is none, or it is left to people."""
    if row.decision == "pay" or (row.decision == "pay screening" and not door.returns):
        return "approve"
    if row.decision == "pay screening":
        return "ask back" if due else "screen out"  # one of two ways to pay for the test
    if row.decision == "refuse":
        return "reject" if reject else "ask back" if door.returns else None
    return None


def _decided(wanted: Action | None, at: Submission, row: Payment) -> tuple[Action | None, str]:
    """What is to be told of a submission as it stands, and why, or why not; nothing of either where all is settled."""
    ends = {"approve": "approved", "reject": "rejected", "ask back": "returned", "screen out": "screened out"}
    if wanted is None or at.status == ends[wanted] or (wanted == "ask back" and at.status == "rejected"):
        return None, ""
    if at.status == "waiting":
        return (None, "was asked to return it, and has not") if wanted == "ask back" and at.asked_back else (wanted, row.message)
    if at.status == "open":
        return None, "has handed nothing in there yet"
    return None, f"is {at.status} there already, and the study's decision is {row.decision!r}: look at it on the platform's page"


def _bonus(
    rater_id: str, row: Payment, at: Submission, ledger: Ledger, *, due: int, repeats: bool, since: float
) -> Iterator[Step]:  # fmt: skip
    """The bonus that is left to pay; nothing where the platform shows all of it."""
    left = due - at.bonus
    for begun, sent in ledger.sent(rater_id, at.bonus):
        cents, known = sent["cents"][rater_id], sent["state"] == "done"
        if not known and repeats:  # the very same, which is paid no second time
            yield Step(rater_id, row, at.status, "bonus", "sent once more", at.study, cents, sent["after"][rater_id])
            return
        if known or begun >= since:
            why = "the platform took this bonus and does not show it yet" if known else "nobody knows yet whether this got there"
            yield Step(rater_id, row, at.status, None, f"{why}; it is not paid again", at.study, cents, is_open=not known)
            left -= cents
    if left > 0 and at.status != "open":
        yield Step(rater_id, row, at.status, "bonus", f"of {money(due)} in all", at.study, left, due)


def money(cents: int) -> str:
    """``4.25``, of 425."""
    return f"{cents // 100}.{cents % 100:02d}"


def tell(steps: Sequence[Step], ledger: Ledger, door: Door) -> Iterator[tuple[Step, str, str]]:
    """Tell the platform, bonuses last, and write down what was told.

    Yields each step when it is over, with ``told``, ``refused`` or ``in doubt``, and why.

    Args:
        steps: of ``plan``.
        ledger: that ``plan`` read.
        door: of the platform.

    Raises:
        InputError: somebody else settles, or the credentials are refused.
        NetworkError: the platform does not answer; what was told is in the ledger, and running it again goes on.
    """
    bonuses = defaultdict[str, list[Step]](list)
    for step in steps:
        if step.action == "bonus":
            bonuses[step.study].append(step)
        elif step.action is not None:
            words = step.row.code if step.action == "screen out" else step.why
            try:
                with ledger.telling(action=step.action, rater=step.rater_id):
                    door.tell(step.action, step.row.submission_id, words)
                yield step, "told", step.why
            except Refused as error:
                yield step, "refused", str(error)
    parts = [list(of[first : first + door.most]) for of in bonuses.values() for first in range(0, len(of), door.most)]
    while parts:
        part, state, why = parts.pop(), "told", ""
        sums = [Bonus(of.row.submission_id, of.row.participant_id, of.cents, of.after, of.row.message) for of in part]
        cents, after = ({of.rater_id: getattr(of, name) for of in part} for name in ("cents", "after"))
        key = None
        try:
            key = door.set_up(part[0].study, sums)  # pays nothing: what is lost from here to the ledger lies there unpaid
            with ledger.telling(action="bonus", key=key, cents=cents, after=after):
                door.pay(key, sums)
        except InDoubt as error:
            state, why = "in doubt", str(error)
        except Refused as error:
            if key is None and len(part) > 1:  # one wrong id refuses all; alone each is paid, or told why not
                parts += [[step] for step in part]
                continue
            state, why = "refused", str(error)
        yield from ((step, state, why or step.why) for step in part)
