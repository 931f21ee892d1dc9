"""Ask again for the licences of what was fetched; what they were when it was fetched stays on record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from inpaintbench.curation.fetching import FETCHERS
from inpaintbench.curation.fetching.base import Candidate, Fetcher
from inpaintbench.curation.fetching.listings import uri_of
from inpaintbench.curation.fetching.step import INCOMPLETE, rows_of
from inpaintbench.download import utc_now
from inpaintbench.errors import Gone, Rejected
from inpaintbench.executors.base import Executor, Outcome, Step, Task
from inpaintbench.types import Download, Plain
from inpaintbench.workspace import Blobs, Workspace

VERSION = "1"
TABLE = "licence_checks"


@dataclass(frozen=True)
class LicenceCheck:
    """What upstream says now of the licence of one obtained piece of footage. The proof of then stays in ``downloads``."""

    name: str
    fetcher: str
    status: str
    """``same``; ``changed``; ``gone`` (a tombstone: upstream has it no longer); ``refused`` (upstream does not say); ``unlisted``
    (its whole address is no longer listed, so that nobody could be asked); ``failed`` (for now)."""
    reason: str | None
    """Why there is no licence of now; None where there is one."""
    licence_then: str | None
    licence_now: str | None
    licence_url_now: str | None
    licence_history: Plain = field(default_factory=dict)
    """``{"changes": [...]}`` as upstream records them."""
    obtained_at: str | None = None
    checked_at: str | None = None
    """Both UTC, ISO 8601."""

    @property
    def words(self) -> str | None:
        """What is not as it was, in a few words; None where nothing is known to have changed."""
        told = {"changed": f"changed to {self.licence_now or 'none stated'}", "gone": "gone", "refused": "not told any more",
                "unlisted": "no longer listed"}  # fmt: skip
        return told.get(self.status)


def recheck(executor: Executor, leaf_name: str, *, constants: Plain, stamp: str, label: str = "") -> list[LicenceCheck]:
    """Ask for the licence of everything that a fetch obtained, into the table ``licence_checks``, beside all earlier answers.

    Args:
        executor: who does the work.
        leaf_name: one of ``FETCHERS``.
        constants: its constructor arguments.
        stamp: names this check, such as its time; the same stamp goes on with a check that was stopped.
        label: as given to ``fetch``.

    Returns:
        A row for each obtained piece of footage, in name order.

    Raises:
        InputError: a list, whose word on licences counts and which holds whole addresses, cannot be read any more.
    """
    rows = [row for row in rows_of(executor.workspace, leaf_name, label) if row.status == "obtained"]
    leaf: Fetcher = FETCHERS.get(leaf_name)(**constants)
    listed = leaf.reads_list or any(INCOMPLETE in row.details for row in rows)
    whole = {candidate.name: candidate for candidate in leaf.candidates()} if listed and rows else {}
    step = Step(
        name=f"recheck.{leaf_name}" + (f".{label}" if label else ""),
        version=f"{VERSION}.{leaf.version}",
        table=TABLE,
        record=LicenceCheck,
        function="inpaintbench.curation.fetching.recheck:recheck_one",
        parameters={"leaf": leaf_name},
    )
    tasks = [_task(row, whole.get(row.name), constants, stamp) for row in rows]
    parts = (f"{step.name}.earlier", f"{step.name}.failed", step.name)
    before = {_moment(check): check for part in parts for check in executor.workspace.table(TABLE, LicenceCheck, step=part)}
    executor.workspace.write_table(TABLE, parts[0], list(before.values()), LicenceCheck)
    outcome = executor.run(step, tasks)
    missing = _without_answer(rows, outcome)
    executor.workspace.write_table(TABLE, parts[1], missing, LicenceCheck)
    now = {_moment(check) for check in outcome.records}
    earlier = [check for moment, check in before.items() if moment not in now]
    executor.workspace.write_table(TABLE, parts[0], earlier, LicenceCheck)
    return sorted([*outcome.records, *missing], key=lambda check: check.name)


def _moment(check: LicenceCheck) -> tuple[str, str, str | None]:
    return check.name, check.status, check.checked_at


def latest_checks(workspace: Workspace) -> dict[str, LicenceCheck]:
    """Name as a source (see ``uri_of``) -> the last check that got an answer."""
    found: dict[str, LicenceCheck] = {}
    for check in workspace.table(TABLE, LicenceCheck):  # earlier ones first, by the names of their tables
        uri = uri_of(check.fetcher, check.name)
        if check.status != "failed" and (uri not in found or (check.checked_at or "") >= (found[uri].checked_at or "")):
            found[uri] = check
    return found


def _task(row: Download, listed: Candidate | None, constants: Plain, stamp: str) -> Task:
    candidate = listed or (None if INCOMPLETE in row.details else _candidate(row))
    payload = {"row": asdict(row), "candidate": asdict(candidate) if candidate else None, "constants": dict(constants)}
    return Task(row.name, stamp, payload, row.name)


def recheck_one(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[LicenceCheck]:  # noqa: ARG001 - step signature
    """One row of what upstream says now.

    Raises:
        NetworkError: nothing for now.
    """
    row = Download(**payload["row"])
    if payload["candidate"] is None:
        return [_check(row, "unlisted", "its address is no longer in the list")]
    leaf: Fetcher = FETCHERS.get(parameters["leaf"])(**payload["constants"])
    try:
        now = leaf.licence_of(Candidate(**payload["candidate"]))
    except Gone as error:
        return [_check(row, "gone", str(error))]
    except Rejected as error:
        return [_check(row, "refused", str(error))]
    check = LicenceCheck(
        row.name, row.fetcher, "same" if now.name == row.licence else "changed", None, row.licence, now.name, now.url,
        {"changes": [dict(change) for change in now.changes]}, row.retrieved_at, now.checked_at or utc_now(),
    )  # fmt: skip
    return [check]


def _candidate(row: Download) -> Candidate:
    return Candidate(
        name=row.name, url=row.url, content="", licence=row.licence, licence_url=row.licence_url, author=row.author,
        page_url=row.page_url, title=row.title, details=dict(row.details),
    )  # fmt: skip


def _check(row: Download, status: str, reason: str) -> LicenceCheck:
    return LicenceCheck(
        row.name, row.fetcher, status, reason, row.licence, None, None, obtained_at=row.retrieved_at, checked_at=utc_now()
    )


def _without_answer(rows: Sequence[Download], outcome: Outcome) -> list[LicenceCheck]:
    reasons = {refusal.subject_id: refusal.reason for refusal in outcome.rejected}
    return [_check(row, "failed", reasons[row.name]) for row in rows if row.name in reasons]
