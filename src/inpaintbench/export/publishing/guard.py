"""A challenge goes to no repository that shows, or ever showed, what it holds back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from inpaintbench.errors import InputError
from inpaintbench.export import layout
from inpaintbench.export.publishing.client import Repository
from inpaintbench.export.publishing.plan import Plan

# Titles of commits in which a push adds media and removes nothing.
ONLY_ADDS = re.compile(r"Add [0-9]+ media files")
_MOST_COMMITS = 200
_SHOWN = 3
_WAY_OUT = "push to a new repository"


def held_splits(facts: Mapping[str, Any]) -> set[str]:
    """The splits whose truth a dataset holds back."""
    return set((facts.get("held_back") or {}).get("splits", ()))


def check_older(name: str, plan: Plan, facts: Mapping[str, Any]) -> None:
    """Refuse a repository whose manifest holds fewer splits back than the plan.

    Args:
        name: of the repository.
        plan: what is to go there.
        facts: of the dataset that is there.

    Raises:
        InputError: it does.
    """
    old, new = held_splits(facts), held_splits(plan.dataset.facts)
    if shown := sorted(new - old):
        raise InputError(f"{name!r} had the truths of {', '.join(shown)}, which its history keeps; {_WAY_OUT}")


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
    if foreign := _others(plan, there):
        raise InputError(f"{hub.name!r} holds media that this challenge does not ({_shown(foreign)}); {_WAY_OUT}")
    for commit in _commits(hub, revision):
        if foreign := _others(plan, hub.files(commit)):
            raise InputError(
                f"the history of {hub.name!r} holds media that this challenge does not ({_shown(foreign)}, at commit "
                f"{commit[:12]}); {_WAY_OUT}"
            )


def _commits(hub: Repository, revision: str | None) -> list[str]:
    """Commits to look at, each once. Commits of a push that add media remove nothing: the last of them shows what all have."""
    chosen: dict[str, None] = {}
    for name in dict.fromkeys([revision, *(hub.branches() or [])]):
        later = ""
        for commit, title in hub.commits(name) or []:
            if not ONLY_ADDS.fullmatch(later):
                chosen[commit] = None
            later = title
        if len(chosen) > _MOST_COMMITS:
            raise InputError(f"{hub.name!r} has more than {_MOST_COMMITS} commits, too many to look for truths in; {_WAY_OUT}")
    return list(chosen)


def _others(plan: Plan, names: Iterable[str]) -> list[str]:
    folders = set(layout.MEDIA.values())
    return sorted(name for name in names if name.partition("/")[0] in folders and name not in plan.sha256)


def _shown(names: list[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
