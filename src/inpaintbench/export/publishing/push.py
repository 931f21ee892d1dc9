"""Bring a frozen dataset to the Hub: private unless asked otherwise, once each file, the manifest last."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inpaintbench.errors import InputError, VerifyError
from inpaintbench.executors.base import Progress, unwatched
from inpaintbench.export import layout
from inpaintbench.export.publishing.client import Remote, Repository, opened
from inpaintbench.export.publishing.guard import check_older, check_shown
from inpaintbench.export.publishing.plan import Plan
from inpaintbench.export.publishing.remote import held
from inpaintbench.frozen import MANIFEST

_FEWEST_FILES_A_COMMIT = 100
_MOST_COMMITS = 50  # the Hub counts commits an hour


@dataclass(frozen=True)
class Pushed:
    """Result of a push."""

    url: str
    private: bool
    sent: int
    """Files that the Hub did not have."""
    there: int
    """Files that it had already."""
    removed: int
    """Files of the version before, which the dataset has no longer."""


def push(
    plan: Plan,
    repository: str,
    *,
    public: bool = False,
    revision: str | None = None,
    of_the_hub: Mapping[str, bytes] | None = None,
    progress: Progress | None = None,
) -> Pushed:
    """Upload what the Hub does not have yet, then look whether it holds every file with the right hash.

    Media go first, in commits of at least a hundred files; cards, rows and the manifest follow in the last commit, together
    with the removal of files that an older version had. A push that was killed is called again and goes on. Nothing is
    embedded: slices share the media.

    Args:
        plan: what goes.
        repository: ``OWNER/NAME``; made where there is none.
        public: make a new one public; pushing to one that is public already is refused without.
        revision: branch; made where there is none.
        of_the_hub: files beside the dataset, of ``layout.OF_THE_HUB``; one that is there and not given stays as it is.
        progress: is told (stage, done, total) of files.

    Raises:
        InputError: licences that are unknown or allow too little; no token; a repository that holds something else, is public,
            or ever held what a challenge holds back.
        NetworkError: the Hub refuses, or cannot be reached after several tries.
        VerifyError: the Hub holds other bytes than were sent.
    """
    if obstacles := plan.obstacles():
        raise InputError("; ".join(obstacles))
    with opened(repository) as hub:
        return _push(hub, plan, public, revision, of_the_hub or {}, progress or unwatched)


def _push(
    hub: Repository, plan: Plan, public: bool, revision: str | None, of_the_hub: Mapping[str, bytes], progress: Progress
) -> Pushed:
    hub.require_token()
    private = hub.create(private=not public)
    if not private and not public:
        raise InputError(f"{hub.name!r} is public on the Hub; push there with --public, or to another repository")
    if revision:
        hub.branch(revision)
    there = hub.files(revision)
    old = _old_files(hub, plan, there, revision)
    missing = [name for name in plan.sha256 if not _is_there(plan, name, there)]
    _send(hub, plan, missing, old, revision, progress)
    if other := {name: data for name, data in of_the_hub.items() if name not in there or there[name].git_sha1 != _git_sha1(data)}:
        hub.commit(f"Add {', '.join(other)}", other, revision=revision)
    held = hub.files(revision)
    if wrong := [name for name in plan.sha256 if not _is_there(plan, name, held)]:
        raise VerifyError(f"{hub.name!r} does not hold what was sent: {', '.join(wrong[:10])} differ; push again")
    return Pushed(hub.url, private, len(missing), len(plan.sha256) - len(missing), len(old))


def _send(hub: Repository, plan: Plan, missing: list[str], old: list[str], revision: str | None, progress: Progress) -> None:
    folders = set(layout.MEDIA.values())
    media = [name for name in missing if name.partition("/")[0] in folders]
    last = [name for name in missing if name not in set(media)]
    size, done = max(_FEWEST_FILES_A_COMMIT, -(-len(media) // _MOST_COMMITS)), 0
    for start in range(0, len(media), size):
        part = media[start : start + size]
        # The guard of challenges knows these commits by their title.
        hub.commit(f"Add {len(part)} media files", _contents(plan, part), revision=revision)
        done += len(part)
        progress("upload", done, len(missing))
    if last or old:
        hub.commit(f"Add {plan.dataset.name}", _contents(plan, last), deleted=old, revision=revision)
        progress("upload", len(missing), len(missing))


def _contents(plan: Plan, names: list[str]) -> dict[str, Path | bytes]:
    return {name: plan.rewritten.get(name, plan.folder / name) for name in names}


def _is_there(plan: Plan, name: str, there: Mapping[str, Remote]) -> bool:
    remote = there.get(name)
    if remote is None or remote.bytes != plan.bytes[name]:
        return False
    if remote.sha256 is not None:
        return remote.sha256 == plan.sha256[name]
    data = plan.rewritten.get(name) or (plan.folder / name).read_bytes()  # small: git itself holds it
    return remote.git_sha1 == _git_sha1(data)


def _git_sha1(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _old_files(hub: Repository, plan: Plan, there: Mapping[str, Remote], revision: str | None) -> list[str]:
    """Files of an older version, or of a push that was cut off; anything else there is nobody's to remove."""
    others = sorted(set(there) - set(plan.sha256) - layout.OF_THE_HUB)
    known: set[str] = set()
    if MANIFEST in there and not _is_there(plan, MANIFEST, there):
        name, known, facts = _old_manifest(hub, revision)
        check_older(hub.name, plan, facts)
        if name != plan.dataset.name:
            raise InputError(f"{hub.name!r} holds the dataset {name!r}, not {plan.dataset.name!r}; push to another repository")
    folders = set(layout.MEDIA.values())
    if strangers := [name for name in others if name not in known and name.partition("/")[0] not in folders]:
        raise InputError(
            f"{hub.name!r} holds files that are not of this dataset ({', '.join(strangers[:10])}); remove them there, or push to "
            "another repository"
        )
    check_shown(hub, plan, there, revision)
    return others


def _old_manifest(hub: Repository, revision: str | None) -> tuple[str, set[str], dict[str, Any]]:
    """Name, files and facts."""
    with tempfile.TemporaryDirectory(prefix="inpaintbench-push-") as folder:
        path = hub.download(MANIFEST, commit=hub.commit_of(revision), folder=Path(folder))
        try:
            fields = json.loads(path.read_text())
            files = fields["files"]
            known = set(files if isinstance(files, dict) else held(hub, Path(folder), revision=revision).dataset.files)
            return str(fields["name"]), known, dict(fields.get("facts", {}))
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(
                f"{hub.name!r} holds a {MANIFEST} that is not of a frozen dataset; use another repository"
            ) from error
