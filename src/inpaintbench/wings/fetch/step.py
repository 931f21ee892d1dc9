"""The step that fetches: every candidate of a fetcher leaf becomes one row of the table ``downloads``, whatever came of it.

Listings are the places that a workspace's footage was fetched from, kept so that their licences can be asked for again.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from inpaintbench import video
from inpaintbench.download import Limits, forget, safe_name, utc_now, without_query
from inpaintbench.errors import Gone, InputError, MediaError, Rejected, WorkspaceError
from inpaintbench.executors.base import Executor, Outcome, Step, Task, task_key
from inpaintbench.files import write_atomically
from inpaintbench.http_client import NotPublic, ServerGone, ServerRefused
from inpaintbench.types import Download, Plain, canonical_json, content_id
from inpaintbench.wings.fetch import FETCHERS
from inpaintbench.wings.fetch.base import Candidate, Fetched, Fetcher, is_allowed, not_allowed
from inpaintbench.workspace import Blobs, Workspace

VERSION = "1"
TABLE = "downloads"
# A detail of rows whose address had a query that tables must not hold: the listing alone has the whole address.
INCOMPLETE = "query_left_out"
# A detail of rows that were refused for an address of one's own network: host and address, which later limits may allow.
NOT_ASKED = "not_asked"
# What names of candidates have in common, whatever they are called: ``Candidate.key``.
_KEY = re.compile(r"-([0-9a-f]{16})(?:\.[a-z0-9]{1,5})?$")
_CHECKING_SECONDS = 1800.0  # for decoding what was fetched
_SUFFIXES = {"video": video.VIDEO_SUFFIXES, "image": video.IMAGE_SUFFIXES}
_MEDIA_TYPES = {
    "video/mp4": ".mp4", "video/quicktime": ".mov", "video/x-matroska": ".mkv", "video/webm": ".webm", "video/x-msvideo": ".avi",
    "image/png": ".png", "image/jpeg": ".jpg", "image/webp": ".webp", "image/tiff": ".tif", "image/bmp": ".bmp",
}  # fmt: skip
_FALLBACK = {"video": ".mp4", "image": ".png"}
_FOLDER = "fetching"  # of the workspace; a file for each listing


@dataclass(frozen=True)
class Listing:
    """One place that footage was fetched from."""

    leaf: str
    label: str
    """Tells two lists of one leaf apart; empty where there is one."""
    constants: Plain
    """Constructor arguments of the leaf; no keys or secrets are among them."""


def step_name(leaf: str, label: str = "") -> str:
    """The step that fetches with a leaf."""
    return f"fetch.{leaf}" + (f".{label}" if label else "")


def remember(workspace: Workspace, listing: Listing) -> None:
    """Keep a listing; another one of the same leaf and label is replaced."""
    path = workspace.path / _FOLDER / f"{step_name(listing.leaf, listing.label)}.json"
    write_atomically(path, canonical_json(asdict(listing)).encode() + b"\n")


def listings(workspace: Workspace) -> list[Listing]:
    """Everything that was fetched into a workspace, in name order.

    Raises:
        WorkspaceError: a file of it is damaged.
    """
    kept_listings = []
    for path in sorted((workspace.path / _FOLDER).glob("*.json")):
        try:
            kept_listings.append(Listing(**json.loads(path.read_text())))
        except (ValueError, TypeError) as error:
            raise WorkspaceError(f"{str(path)!r} is damaged: {error}") from error
    return kept_listings


def fetch(
    executor: Executor, leaf_name: str, *, constants: Plain, limits: Limits, licences: Sequence[str] | None = None,
    label: str = "", candidates: Sequence[Candidate] | None = None, retry_refused: bool = False,
) -> Outcome:  # fmt: skip
    """Bring everything that a fetcher leaf lists into the workspace.

    Files become blobs. What is gone leaves a tombstone, what is refused or cannot be had for now a row with the reason; the
    latter is tried again by the next call, the others are not, but for what was refused for an address that ``limits`` allow
    now. What an earlier call obtained is never lost: its row stays where a new attempt brings no file, and stays as the proof of
    its licence, apart from what is asked for now, where it is no longer listed or its licence is not among those asked for.

    Args:
        executor: who does the work.
        leaf_name: one of ``FETCHERS``.
        constants: its constructor arguments; kept in the workspace for ``recheck``.
        limits: on bytes, time, schemes and addresses.
        licences: names such as ``CC-BY-2.0``, or ``CC-BY`` for every version; everything else is refused before it is fetched.
        label: tells two lists of one leaf apart.
        candidates: what ``listed`` gave, where that was asked before; listed here by default.
        retry_refused: fetch again what an earlier call refused, for example with wider limits.

    Raises what ``listed`` raises.
    """
    leaf: Fetcher = FETCHERS.get(leaf_name)(**constants)
    candidates = listed(leaf_name, constants, label=label) if candidates is None else candidates
    name = step_name(leaf_name, label)
    held = _held(executor.workspace, name)
    candidates = as_held(candidates, held)
    remember(executor.workspace, Listing(leaf_name, label, dict(constants)))
    allowed = [one for one in candidates if one.refused is None and is_allowed(one.licence, licences)]
    step = Step(
        name=name, version=f"{VERSION}.{leaf.version}", table=TABLE, record=Download,
        function="inpaintbench.wings.fetch.step:fetch_one", parameters={"leaf": leaf_name, "media": leaf.media},
        time_limit_seconds=limits.seconds + _CHECKING_SECONDS,
    )  # fmt: skip
    mine = [candidate for candidate in allowed if executor.workspace.takes(candidate.name)]
    tasks = [_task(step, candidate, constants, limits, licences) for candidate in mine]
    _open_again(executor.workspace, step, tasks, limits, everything=retry_refused)
    # Tables are replaced one after the other, so all proof lies in one that no kill on the way can touch.
    executor.workspace.write_table(TABLE, f"{name}.earlier", list(held.values()), Download)
    outcome = executor.run(step, tasks)
    # The row of each task that has one; a new row without a file does not take the place of one whose file is here.
    blobs = executor.workspace.blobs
    new = {row.name: row for row in outcome.records}
    files = {name: row for name, row in held.items() if row.status == "obtained" and row.blob and blobs.has(row.blob)}
    best = {**new, **{name: row for name, row in files.items() if name not in new or new[name].status != "obtained"}}
    standing = [best[task.subject_id] for task in tasks if task.subject_id in best]
    missing = _rows_without_files(step, tasks, candidates, licences, executor, standing)
    # Three tables: what is asked for now, what of it has no file, and the proof of what is not asked for.
    rows = [row for row in standing if row.status != "obtained" or is_allowed(row.licence, licences)]
    present = {row.name: row.status for row in rows}
    without = [row for row in missing if present.get(row.name) != "obtained"]
    proof = {**held, **{row.name: row for row in standing if row.status == "obtained"}}
    earlier = [row for row in proof.values() if present.get(row.name) not in ("obtained", row.status)]
    for part, records in ((name, rows), (f"{name}.failed", without), (f"{name}.earlier", earlier)):
        executor.workspace.write_table(TABLE, part, records, Download)
    return outcome


def listed(leaf_name: str, constants: Plain, *, label: str = "") -> list[Candidate]:
    """Candidates of a fetcher leaf; nothing is written.

    Raises:
        InputError: the leaf's constants or the label make no sense, or its place cannot be listed.
        NetworkError: the server that lists does not answer.
    """
    check_label(label)
    first: dict[str, Candidate] = {}
    for candidate in FETCHERS.get(leaf_name)(**constants).candidates():
        if first.setdefault(candidate.name, candidate) is not candidate:
            raise InputError(f"two pieces of footage are called {candidate.name!r}")
    return list(first.values())


def check_label(label: str) -> None:
    """Raise ``InputError`` for a label that cannot be part of a table's name."""
    if label and (safe_name(label) != label or label.rpartition(".")[2] in ("failed", "earlier")):
        raise InputError(f"the label {label!r} cannot be part of a table's name; use letters, digits, '-' and '_'")


def rows_of(workspace: Workspace, leaf_name: str, label: str = "", *, earlier: bool = True) -> list[Download]:
    """The ledger of one fetch: a row for each candidate, in name order.

    Args:
        workspace: to read.
        leaf_name: one of ``FETCHERS``.
        label: as given to ``fetch``.
        earlier: also what was obtained before and is not asked for any more; it comes before a refusal of the same name.
    """
    name = step_name(leaf_name, label)
    ledger: dict[str, Download] = {}
    for step in (name, f"{name}.failed", *([f"{name}.earlier"] if earlier else [])):
        for row in workspace.table(TABLE, Download, step=step):
            if row.name not in ledger or (row.status == "obtained" and ledger[row.name].status != "obtained"):
                ledger[row.name] = row
    return sorted(ledger.values(), key=lambda row: row.name)


def _held(workspace: Workspace, name: str) -> dict[str, Download]:
    """Name -> row of its file, else of its tombstone: the proof of licences that earlier calls left."""
    proof: dict[str, Download] = {}
    for status in ("gone", "obtained"):
        for step in (f"{name}.earlier", name):
            proof |= {row.name: row for row in workspace.table(TABLE, Download, step=step) if row.status == status}
    return proof


def _task(step: Step, candidate: Candidate, constants: Plain, limits: Limits, licences: Sequence[str] | None) -> Task:
    payload = {
        "candidate": asdict(candidate),
        "constants": dict(constants),
        "limits": asdict(limits),
        "licences": list(licences) if licences is not None else None,
        "part": content_id(step.name, candidate.name, candidate.content),
    }
    return Task(candidate.name, candidate.content, payload, candidate.name)


def as_held(candidates: Sequence[Candidate], names: Iterable[str]) -> list[Candidate]:
    """The candidates, each under the name that it was fetched under before, where its list calls it another."""
    by_key = {key[1]: name for name in names if (key := _KEY.search(name))}
    return [replace(one, name=by_key.get(one.key, one.name)) if one.key else one for one in candidates]


def _open_again(workspace: Workspace, step: Step, tasks: Sequence[Task], limits: Limits, *, everything: bool) -> None:
    """Mark what was refused as not done: all of it, or what was refused for an address that is allowed now.

    The ledger's last word on a task counts.
    """
    ledger = workspace.ledger(step.name)
    entries = ledger.read()
    for key in (task_key(step, task) for task in tasks):
        entry = entries.get(key, {})
        refused = [row for row in entry.get("rows", []) if row["status"] == "refused"]
        told = [json.loads(row["details"]) if isinstance(row["details"], str) else row["details"] for row in refused]
        allowed_now = any(NOT_ASKED in details and limits.why_not(*details[NOT_ASKED]) is None for details in told)
        if allowed_now or (everything and (refused or entry.get("status") == "rejected")):
            ledger.append({"key": key, "finished_at": round(time.time(), 3), "status": "failed", "reason": "to be tried again"})
    ledger.close()


def _rows_without_files(
    step: Step, tasks: Sequence[Task], candidates: Sequence[Candidate], licences: Sequence[str] | None, executor: Executor,
    standing: Sequence[Download],
) -> list[Download]:  # fmt: skip
    """Rows of candidates for which the step has none: not for now, stopped by the executor, or not allowed."""
    entries = executor.workspace.ledger(step.name).read()
    reasons = {}
    for task in tasks:
        entry = entries.get(task_key(step, task), {"status": "failed", "reason": "not tried yet"})
        if entry["status"] != "done":
            reasons[task.subject_id] = ("failed" if entry["status"] == "failed" else "refused", entry["reason"])
    for row in standing:
        if row.status == "obtained" and not is_allowed(row.licence, licences):
            reasons[row.name] = (
                "refused",
                f"{not_allowed(row.licence)}; so it was stated when the file was fetched, and another label fetches it anew",
            )
    for candidate in candidates:
        if candidate.refused is not None:
            reasons[candidate.name] = ("refused", candidate.refused)
        elif not is_allowed(candidate.licence, licences):
            reasons[candidate.name] = ("refused", not_allowed(candidate.licence))
    return [
        replace(_row(candidate, step.parameters["leaf"]), status=reasons[candidate.name][0], reason=reasons[candidate.name][1])
        for candidate in candidates
        if candidate.name in reasons
    ]


def fetch_one(payload: Plain, *, parameters: Plain, blobs: Blobs) -> list[Download]:
    """Fetch one candidate, decode it, and keep it as a blob; one row whatever came of it.

    Raises:
        NetworkError: not for now; the next run goes on with what is there of it.
    """
    # Of a payload that went through JSON: limits hold tuples, and JSON knows lists alone.
    plain = payload["limits"].items()
    stored: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in plain}
    candidate, limits = Candidate(**payload["candidate"]), Limits(**stored)
    leaf: Fetcher = FETCHERS.get(parameters["leaf"])(**payload["constants"])
    part = blobs.partial(payload["part"])
    row = _row(candidate, leaf.name)
    try:
        row = _kept(
            leaf.fetch(candidate, part=part, limits=limits), row, candidate, parameters["media"], payload["licences"], blobs
        )
    except Gone as error:
        row = _without_file(row, "gone", error)
    except Rejected as error:
        row = _without_file(row, "refused", error)
    forget(part)
    return [row]


def _row(candidate: Candidate, fetcher: str) -> Download:
    url = without_query(candidate.url)
    incomplete = {INCOMPLETE: True} if url != candidate.url else {}
    return Download(
        name=candidate.name, fetcher=fetcher, url=url, final_url=None, status="failed", reason=None, http_status=None, tries=0,
        bytes=None, sha256=None, etag=None, media_type=None, blob=None, retrieved_at=None, licence=candidate.licence,
        licence_url=candidate.licence_url, author=candidate.author, page_url=candidate.page_url,
        title=candidate.title, details={**candidate.details, **incomplete},
    )  # fmt: skip


def _without_file(row: Download, status: str, error: Exception) -> Download:
    answered = error if isinstance(error, ServerGone | ServerRefused) else None
    http_status, tries = (answered.http_status, answered.tries) if answered else (None, 1)
    apart = {NOT_ASKED: [error.host, error.address]} if isinstance(error, NotPublic) else {}
    return replace(
        row, status=status, reason=str(error), http_status=http_status, tries=tries, retrieved_at=utc_now(),
        details={**row.details, **apart},
    )  # fmt: skip


def _kept(
    fetched: Fetched, row: Download, candidate: Candidate, media: str, licences: Sequence[str] | None, blobs: Blobs
) -> Download:
    """The row of a file that was fetched, once it is known to decode."""
    received, licence = fetched.received, fetched.licence
    row = replace(
        row, final_url=received.final_url, http_status=received.http_status, tries=received.tries, bytes=received.bytes,
        sha256=received.sha256, etag=received.etag, media_type=received.media_type, retrieved_at=received.retrieved_at,
        rendition=fetched.rendition, title=row.title or fetched.title, author=row.author or fetched.author,
    )  # fmt: skip
    if licence is not None:
        history = {"changes": [dict(change) for change in licence.changes], "checked_at": licence.checked_at}
        row = replace(row, licence=licence.name, licence_url=licence.url, licence_history=history)
    refusal = None if is_allowed(row.licence, licences) else not_allowed(row.licence)
    refusal = refusal or _why_unusable(fetched.path, media)
    if refusal:
        return replace(row, status="refused", reason=refusal)
    # How the blob's name ends: like the file's where that fits, since a name tells images from videos.
    names = (fetched.path.name, urlsplit(fetched.received.final_url).path, urlsplit(without_query(candidate.url)).path)
    suffixes = [Path(name).suffix.lower() for name in names] + [_MEDIA_TYPES.get(fetched.received.media_type or "", "")]
    suffix = next((suffix for suffix in suffixes if suffix in _SUFFIXES[media]), _FALLBACK[media])
    # Moved, not linked: bytes that a later download began anew would change a blob that shares them.
    blob, _ = blobs.put(suffix, lambda target: os.replace(fetched.path, target))
    return replace(row, status="obtained", blob=blob)


def _why_unusable(path: Path, media: str) -> str | None:
    """Decode the file from its first to its last frame; why that fails."""
    try:
        if media == "image":
            video.read_image(path)
            return None
        probe = video.probe(path)
    except MediaError as error:
        return f"it does not decode: {error}"
    # Headers count wrongly now and then, and a damaged packet in the middle costs a frame: neither is a missing end.
    lost = probe.header_frames - probe.frames - probe.damaged_packets
    if probe.truncated or (probe.damaged_packets and lost > 1):
        return f"it ends early: {probe.frames} of {probe.header_frames or 'more'} frames decode"
    return None
