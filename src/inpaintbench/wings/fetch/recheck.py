"""Licences of what was fetched, asked for again, and the NOTICE text that names them.

What a licence was when the file was fetched stays on record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from urllib.parse import unquote

from inpaintbench.curation.facts import CHECKS, LicenceCheck, uri_of
from inpaintbench.download import utc_now
from inpaintbench.errors import Gone, Rejected
from inpaintbench.executors.base import Executor, Step, Task
from inpaintbench.types import Download, Plain, Source
from inpaintbench.wings.fetch import FETCHERS
from inpaintbench.wings.fetch.base import Candidate, Fetcher, text_url
from inpaintbench.wings.fetch.step import INCOMPLETE, as_held, rows_of
from inpaintbench.workspace import Blobs

VERSION = "1"


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
    found = as_held(list(leaf.candidates()), [row.name for row in rows]) if listed and rows else []
    whole = {candidate.name: candidate for candidate in found if candidate.refused is None}
    step = Step(
        name=f"recheck.{leaf_name}" + (f".{label}" if label else ""), version=f"{VERSION}.{leaf.version}", table=CHECKS,
        record=LicenceCheck, function="inpaintbench.wings.fetch.recheck:recheck_one", parameters={"leaf": leaf_name},
    )  # fmt: skip
    tasks = []
    for row in rows:
        candidate = whole.get(row.name)
        if candidate is None and INCOMPLETE not in row.details:
            candidate = Candidate(
                name=row.name, url=row.url, content="", licence=row.licence, licence_url=row.licence_url, author=row.author,
                page_url=row.page_url, title=row.title, details=dict(row.details),
            )  # fmt: skip
        payload = {"row": asdict(row), "candidate": candidate and asdict(candidate), "constants": dict(constants)}
        tasks.append(Task(row.name, stamp, payload, row.name))
    parts = (f"{step.name}.earlier", f"{step.name}.failed", step.name)
    before = {_moment(check): check for part in parts for check in executor.workspace.table(CHECKS, LicenceCheck, step=part)}
    executor.workspace.write_table(CHECKS, parts[0], list(before.values()), LicenceCheck)
    outcome = executor.run(step, tasks)
    reasons = {refusal.subject_id: refusal.reason for refusal in outcome.rejected}
    missing = [_check(row, "failed", reasons[row.name]) for row in rows if row.name in reasons]
    executor.workspace.write_table(CHECKS, parts[1], missing, LicenceCheck)
    now = {_moment(check) for check in outcome.records}
    earlier = [check for moment, check in before.items() if moment not in now]
    executor.workspace.write_table(CHECKS, parts[0], earlier, LicenceCheck)
    return sorted([*outcome.records, *missing], key=lambda check: check.name)


def _moment(check: LicenceCheck) -> tuple[str, str, str | None]:
    return check.name, check.status, check.checked_at


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


def _check(row: Download, status: str, reason: str) -> LicenceCheck:
    return LicenceCheck(
        row.name, row.fetcher, status, reason, row.licence, None, None, obtained_at=row.retrieved_at, checked_at=utc_now()
    )


CHANGES = "cut, scaled, re-encoded"
_WITHOUT = "No licence stated"
_WITHOUT_NOTE = "The files below state no licence. Ask their authors before passing them on."


@dataclass(frozen=True)
class _Work:
    licence: str | None
    licence_url: str | None
    title: str | None
    author: str | None
    page_url: str | None
    since: str | None = None
    """Later change of the licence, by upstream; None where there is none."""

    def lines(self) -> list[str]:
        by = f"by {self.author}" if self.author else "(author not stated)"
        changes = [] if self.licence is None else [f"  Changes: {CHANGES}."]
        asked = [f"  Licence when asked again: {self.since}."] if self.since else []
        page = [f"  {self.page_url}"] if self.page_url else []
        return [f"* {self.title or '(untitled)'} {by}", *page, *changes, *asked]

    def on_one_line(self) -> _Work:
        """Without line breaks, which would let what others wrote pass for entries of ours."""
        texts = {field.name: getattr(self, field.name) for field in fields(self)}
        return _Work(**{name: " ".join(text.split()) or None if text else text for name, text in texts.items()})


def notice(sources: Sequence[Source], downloads: Sequence[Download], checks: Mapping[str, LicenceCheck] = {}) -> str:
    """NOTICE text, grouped by licence in name order, with what states none at the end.

    Args:
        sources: the footage in use; where there is none yet, everything obtained is named.
        downloads: the ledger of what was fetched, for titles and the addresses of licences.
        checks: as ``latest_checks`` gives them.
    """
    obtained = [row for row in downloads if row.status == "obtained"]
    ledger = {(uri_of(row.fetcher, row.name), row.licence): row for row in obtained}
    # Later changes of the licence, by upstream.
    since = {uri: f"{check.words} ({check.checked_at})" for uri, check in checks.items() if check.words}
    works = []
    for source in sources:
        row = ledger.get((source.uri, source.licence))
        title, url = (row.title, row.licence_url) if row else (None, None)
        works.append(_Work(
            source.licence, url, title or unquote(source.uri), source.author, source.page_url, since.get(source.uri)
        ))  # fmt: skip
    works = works or [
        _Work(row.licence, row.licence_url, row.title or row.name, row.author, row.page_url, since.get(uri))
        for (uri, _), row in ledger.items()
    ]
    works = [work.on_one_line() for work in works]
    groups: dict[tuple[bool, str, str], list[_Work]] = {}
    for work in works:
        url = work.licence_url or (text_url(work.licence) if work.licence else None)
        groups.setdefault((work.licence is None, work.licence or _WITHOUT, url or ""), []).append(work)
    parts = [f"NOTICE\n\nMaterial by others, changed where it is said: {CHANGES}.\n"]
    for (missing, licence, url), members in sorted(groups.items()):
        heading = [licence, "-" * len(licence), *([url] if url else []), *([_WITHOUT_NOTE] if missing else [])]
        lines = [
            line for work in sorted(members, key=lambda work: (work.title or "", work.page_url or "")) for line in work.lines()
        ]
        parts.append("\n".join([*heading, "", *lines]) + "\n")
    return "\n".join(parts)
