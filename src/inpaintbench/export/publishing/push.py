"""Bring a frozen dataset to the Hub: private unless asked otherwise, once each file, the manifest last.

A challenge goes to no repository that shows, or ever showed, what it holds back.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inpaintbench.errors import InputError, VerifyError
from inpaintbench.executors.base import Progress, unwatched
from inpaintbench.export import layout
from inpaintbench.export.publishing.client import Remote, Repository, opened
from inpaintbench.export.publishing.fetch import held
from inpaintbench.export.publishing.plan import Plan
from inpaintbench.frozen import MANIFEST

_FEWEST_FILES_A_COMMIT = 100
_MOST_COMMITS = 50  # the Hub counts commits an hour
# Titles of commits in which a push adds media and removes nothing.
ONLY_ADDS = re.compile(r"Add [0-9]+ media files")
# Commits of a repository in which truths are looked for, and names that an error lists.
_MOST_LOOKED_AT, _SHOWN = 200, 3
_WAY_OUT = "push to a new repository"


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
        hub.require_token()
        private = hub.create(private=not public)
        if not private and not public:
            raise InputError(f"{hub.name!r} is public on the Hub; push there with --public, or to another repository")
        if revision:
            hub.branch(revision)
        there = hub.files(revision)
        old = _old_files(hub, plan, there, revision)
        missing = [name for name in plan.sha256 if not _is_there(plan, name, there)]
        _send(hub, plan, missing, old, revision, progress or unwatched)
        other = {
            name: data
            for name, data in (of_the_hub or {}).items()
            if name not in there or there[name].git_sha1 != _git_sha1(data)
        }
        if other:
            hub.commit(f"Add {', '.join(other)}", other, revision=revision)
        there = hub.files(revision)
        if wrong := [name for name in plan.sha256 if not _is_there(plan, name, there)]:
            raise VerifyError(f"{hub.name!r} does not hold what was sent: {', '.join(wrong[:10])} differ; push again")
        return Pushed(hub.url, private, len(missing), len(plan.sha256) - len(missing), len(old))


def _send(
    hub: Repository, plan: Plan, missing: Sequence[str], old: Sequence[str], revision: str | None, progress: Progress
) -> None:
    contents: dict[str, Path | bytes] = {name: plan.rewritten.get(name, plan.folder / name) for name in missing}
    media = [name for name in missing if layout.is_medium(name)]
    size = max(_FEWEST_FILES_A_COMMIT, -(-len(media) // _MOST_COMMITS))
    for start in range(0, len(media), size):
        part = media[start : start + size]
        # The guard of challenges knows these commits by their title.
        hub.commit(f"Add {len(part)} media files", {name: contents.pop(name) for name in part}, revision=revision)
        progress("upload", start + len(part), len(missing))
    if contents or old:
        hub.commit(f"Add {plan.dataset.name}", contents, deleted=old, revision=revision)
        progress("upload", len(missing), len(missing))


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
        if shown := sorted(held_splits(plan.dataset.facts) - held_splits(facts)):
            raise InputError(f"{hub.name!r} had the truths of {', '.join(shown)}, which its history keeps; {_WAY_OUT}")
        if name != plan.dataset.name:
            raise InputError(f"{hub.name!r} holds the dataset {name!r}, not {plan.dataset.name!r}; push to another repository")
    if strangers := [name for name in others if name not in known and not layout.is_medium(name)]:
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


def held_splits(facts: Mapping[str, Any]) -> set[str]:
    """The splits whose truth a dataset holds back."""
    return set((facts.get("held_back") or {}).get("splits", ()))


def check_shown(hub: Repository, plan: Plan, there: Iterable[str], revision: str | None) -> None:
    """Refuse a repository in which any other medium lies than those of the challenge, or lay at any commit.

    What a manifest says there is not asked: a push that was cut off leaves media without one. The whole history is looked
    at, of all branches and tags, as far as the server lists them.

    Args:
        hub: the repository.
        plan: what is to go there; anything but a challenge may go anywhere.
        there: the files that it has at the revision.
        revision: branch.

    Raises:
        InputError: it does, or has too many commits to look at.
        NetworkError: the Hub refuses, or cannot be reached.
    """
    if not held_splits(plan.dataset.facts):
        return
    if foreign := _foreign(plan, there):
        raise InputError(f"{hub.name!r} holds media that this challenge does not ({foreign}); {_WAY_OUT}")
    # Commits of a push that add media remove nothing: the last of them shows what all have.
    commits: dict[str, None] = {}
    for name in dict.fromkeys([revision, *(hub.branches() or [])]):
        later = ""
        for commit, title in hub.commits(name) or []:
            if not ONLY_ADDS.fullmatch(later):
                commits[commit] = None
            later = title
        if len(commits) > _MOST_LOOKED_AT:
            raise InputError(f"{hub.name!r} has more than {_MOST_LOOKED_AT} commits, too many to look for truths in; {_WAY_OUT}")
    for commit in commits:
        if foreign := _foreign(plan, hub.files(commit)):
            raise InputError(
                f"the history of {hub.name!r} holds media that this challenge does not ({foreign}, at commit "
                f"{commit[:12]}); {_WAY_OUT}"
            )


def _foreign(plan: Plan, names: Iterable[str]) -> str:
    """The first media that are not of the plan, and how many more there are; nothing where there are none."""
    foreign = sorted(name for name in names if layout.is_medium(name) and name not in plan.sha256)
    more = len(foreign) - _SHOWN
    return ", ".join(foreign[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
