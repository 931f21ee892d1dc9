"""`annotate platform draft`, `places`, `settle`: what the platform's own interface is asked and told."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from annotated_types import Ge, Le

from inpaintbench.cli import console
from inpaintbench.cli.annotate.opening import Database, InStudy, Opened, opened
from inpaintbench.cli.commands import group
from inpaintbench.cli.console import Answer, Table, records
from inpaintbench.errors import InputError
from inpaintbench.pages.words import count
from inpaintbench.table_files import read_lines

if TYPE_CHECKING:
    from inpaintbench.annotate.platforms import Door
    from inpaintbench.annotate.platforms.settling import Ledger, Step

_MONEY = re.compile(r"(\d{1,6})(?:\.(\d\d))?", re.ASCII)
app = group(
    {
        "draft": "inpaintbench.cli.annotate.platform:draft",
        "places": "inpaintbench.cli.annotate.platform:places",
        "settle": "inpaintbench.cli.annotate.platform:settle",
    },
    help="Ask and tell Prolific or MTurk through their own interface.",
)


def draft(
    study: InStudy, *, address: str, reward: str, screened_out: str | None = None, signed: bool = False, database: Database = None
) -> Answer:  # fmt: skip
    """Create the study on Prolific as a draft. Nobody sees it before you publish it there; twice is the same as once.

    Args:
        address (URL): Where the study is served: https://NAME.
        reward (AMOUNT): For whoever comes to the end, in your account's currency: 4.50.
        screened_out (AMOUNT): For whoever fails the test, where your workspace has fixed screen-out payments.
        signed: Sign its links, also where [crowd] does not say so yet.

    Example: inpaintbench annotate platform draft STUDY --address https://NAME --reward 4.50
    """
    from inpaintbench.annotate.platforms.prolific import Prolific
    from inpaintbench.annotate.preparing.crowds import need

    with opened(study, database) as open_study:
        crowd, file = open_study.crowd(), open_study.study.file
        if crowd.platform != "prolific":
            raise InputError(f"{crowd.platform} has no drafts: make the study on its pages")
        if not re.fullmatch(r"https://[^/\s]+/?", address):
            raise InputError(f"{address!r} is not where people reach the study; it begins with https:// and ends with the name")
        ledger = _ledger(open_study)
        made = Prolific().draft(
            open_study.study_id, crowd, title=file.title, about=file.welcome or file.title, origin=address.rstrip("/"),
            minutes=need(open_study.study, crowd).minutes, reward=_cents(reward),
            screened_out=None if screened_out is None else _cents(screened_out), signed=signed or crowd.signed,
        )  # fmt: skip
        if ledger.draft != made:
            ledger.write(action="draft", key=made, state="done")
    sentence = f"Draft {made}: read it and publish it there. Its id is `study_id` of [crowd]"
    return Answer({"study": made}, sentence)


def places(study: InStudy, *, database: Database = None) -> Answer:
    """See a study's places there, and how its submissions stand.

    Example: inpaintbench annotate platform places STUDY
    """
    with opened(study, database) as open_study:
        door, stated = _door(open_study), open_study.crowd().study_id
        came = [one.arrival.study for one in open_study.participants.all(open_study.study_id).values()]
        known = list(dict.fromkeys(filter(None, [stated, *came, _ledger(open_study).draft])))
        if not known:
            raise InputError("nobody has come yet, and neither [crowd] nor a draft says what the study is called there: study_id")
        found = {name: door.places(name) for name in known}
    rows = [(name, what, many) for name, said in found.items() for what, many in said.items()]
    return Answer({"studies": found}, Table("places", ["study", "what", "there"], rows))


def settle(
    study: InStudy,
    *,
    bonuses: Path | None = None,
    screened_out: str | None = None,
    reject: bool = False,
    wait: Annotated[float, Ge(0.01), Le(10**5)] = 60,
    yes: bool = False,
    database: Database = None,
) -> Answer:
    """Pay and refuse there as the study decided: list it, or do it. Nothing is told twice.

    Args:
        bonuses: CSV file with columns person and amount: what each is to have as a bonus in all.
        screened_out (AMOUNT): Pay this as a bonus to whoever failed the test, and ask them to return their submission.
        reject: Reject whom the study proposes to refuse, who is asked to return the submission without it.
        wait (MINUTES): A payment that was cut off, and that no submission shows after so long, is made anew.
        yes: Do it.

    Example: inpaintbench annotate platform settle STUDY --bonuses bonuses.csv
    """
    from inpaintbench.annotate.platforms.settling import money, plan, tell

    with opened(study, database) as open_study:
        door, ledger, rows, now = _door(open_study), _ledger(open_study), open_study.payments(), time.time()
        due = {} if bonuses is None else _bonuses(bonuses, {row.person: rater_id for rater_id, row in rows.items()})
        if screened_out is not None:
            failed = [rater_id for rater_id, row in rows.items() if row.decision == "pay screening"]
            due = dict.fromkeys(failed, _cents(screened_out)) | due
        if yes and (fresh := {rater_id: cents for rater_id, cents in due.items() if ledger.due.get(rater_id) != cents}):
            ledger.write(action="due", state="done", cents=fresh)  # decided: from here on nobody has to name the file again
        ledger.due |= due
        with console.busy(f"asking {door.name} about {count(len(rows), 'submission')}"):
            steps = list(plan(rows, ledger, door, reject=reject, since=now - 60 * wait))
        over: dict[Step, tuple[str, str]] = {}
        if yes:
            total = sum(step.action is not None for step in steps)
            with console.progress() as shown:
                for step, state, why in tell(steps, ledger, door):
                    over[step] = state, why
                    shown(f"telling {door.name}", len(over), total)
    rows_told, paid, states = [], 0, Counter[str]()
    for step in steps:
        rest = "to tell" if step.action else "in doubt" if step.is_open else "on its way" if step.cents else "left to you"
        state, why = over.get(step, (rest, step.why))
        states[f"{step.action or ''} {state}".strip()] += 1
        paid += step.cents if step.action == "bonus" and state in ("told", "to tell") else 0
        row = step.row
        rows_told.append(
            (row.person, row.decision, step.stands, step.action, money(step.cents) if step.cents else None, state, why)
        )
    sentences = [f"{what}: {many}" for what, many in states.items()] + ([f"bonuses: {money(paid)} in all"] if paid else [])
    if any("in doubt" in state for state in states):
        sentences.append(f"nobody knows yet whether payments in doubt got there; run it again in {wait:g} minutes")
    if "to tell" in "".join(states):
        sentences.append(f"{door.name} was told nothing; the same with --yes tells it")
    columns = ["person", "decision", "stands", "tell", "amount", "is", "why"]
    nothing = [] if steps else [f"{door.name} knows everything that was decided"]
    return Answer({"steps": records(columns, rows_told)}, Table("settle", columns, rows_told), *sentences, *nothing)


def _door(open_study: Opened) -> Door:
    from inpaintbench.annotate.platforms.mturk import MTurk
    from inpaintbench.annotate.platforms.prolific import Prolific

    platform = open_study.crowd().platform
    if platform not in ("prolific", "mturk"):
        raise InputError(f"{platform} has no interface that this program knows; `annotate crowd --csv` writes a table for you")
    return Prolific() if platform == "prolific" else MTurk()


def _ledger(open_study: Opened) -> Ledger:
    from inpaintbench.annotate.platforms.settling import Ledger

    return Ledger(open_study.journal, open_study.study_id, seq=open_study.desk.state().last_seq)


def _cents(text: str) -> int:
    match = _MONEY.fullmatch(text.strip())
    if match is None or not int(match[1]) + int(match[2] or 0):
        raise InputError(f"{text!r} is no amount of money; write 4.50")
    return int(match[1]) * 100 + int(match[2] or 0)


def _bonuses(file: Path, rater_of: Mapping[str, str]) -> dict[str, int]:
    """Rater id -> cents."""
    cents: dict[str, int] = {}
    for line in read_lines(file, kind="bonuses", needed=("person", "amount")):
        person, amount = line.fields["person"], line.fields["amount"]
        if person not in rater_of or rater_of[person] in cents:
            which = "stands there twice" if person in rater_of else "nobody is called so; `annotate crowd` lists the names"
            raise InputError(f"{line.where}: person {person!r}: {which}")
        cents[rater_of[person]] = _cents(amount)
    return cents
