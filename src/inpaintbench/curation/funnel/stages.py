"""How many sources and clips each stage has left, and why the others are gone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from inpaintbench.curation.footage import SAME_BYTES, display_name
from inpaintbench.curation.judging import Judged
from inpaintbench.executors.base import Rejection
from inpaintbench.types import Attribute, Download, Item, Source
from inpaintbench.workspace import Workspace

OBTAINED = "obtained"
_NUMBER, _QUOTED = re.compile(r"\b[0-9a-f]{12,}\b|\d+(?:\.\d+)?"), re.compile(r"'[^']*'|\"[^\"]*\"")
_EXAMPLES = 3

# Step, name of what was refused, reason.
Refusal = tuple[str, str, str]


@dataclass(frozen=True)
class Stage:
    """One bar of the funnel."""

    name: str
    unit: str
    """``source`` or ``clip``: bars of one unit share a scale."""
    count: int
    waiting: int = 0
    """Of those after this stage that people have still to answer for."""
    lost: tuple[tuple[str, int], ...] = ()
    """Why there are fewer than at the stage before, most frequent first."""
    several: int = 0
    """How many are lost, where one may have several reasons and these add up to more."""


@dataclass(frozen=True)
class FailureGroup:
    """Refusals of one step that differ in numbers and names only."""

    step: str
    reason: str
    count: int
    examples: tuple[str, ...]
    """Names of the first ones."""


def stages(workspace: Workspace, judged: Judged) -> list[Stage]:
    """From candidates to clips in items; tables that are not there count nothing."""
    sources = workspace.columns("sources", Source, columns=["source_id"])["source_id"]
    rejected = _refused(workspace)
    missed = [*_not_obtained(workspace), *_of_step(rejected, "find.")]
    frames = workspace.columns("attributes", Attribute, columns=["subject_id"], where=("name", {"probe.frames"}))
    clips = judged.facts.clips
    in_items = pc.unique(workspace.columns("items", Item, columns=["clip_id"])["clip_id"])
    used = pc.is_in(judged.clip_ids, value_set=in_items).to_numpy(zero_copy_only=False).astype(bool)
    kept = int(judged.kept.sum())
    # Copies of what was obtained already were obtained, too, though only one of each content is a source.
    obtained = len(sources) + sum(reason.startswith(SAME_BYTES) for _, _, reason in rejected)
    uncut = [one for step in ("source_rules", "bars", "cut") for one in _of_step(rejected, step)]
    return [
        Stage("candidates", "source", obtained + len(missed)),
        Stage("obtained", "source", obtained, lost=_ranked(missed)),
        Stage("probed", "source", len(pc.unique(frames["subject_id"])), lost=_ranked(_of_step(rejected, "probe"))),
        Stage("cut into clips", "source", len(pc.unique(clips["source_id"])), lost=_ranked(uncut)),
        Stage("clips", "clip", clips.num_rows),
        Stage("kept", "clip", kept, int(judged.waiting.sum()), _dropped(judged), int(judged.dropped.sum())),
        # Items of clips that were dropped afterwards are out of date, and not counted.
        Stage("in items", "clip", int((judged.kept & used).sum())),
    ]


def _not_obtained(workspace: Workspace) -> list[Refusal]:
    columns = ("fetcher", "name", "status", "reason")
    rows = workspace.columns("downloads", Download, columns=columns)
    rows = rows.filter(pc.not_equal(rows["status"], OBTAINED))
    return [
        (f"fetch.{fetcher}", name, f"{status}: {reason or 'no reason given'}")
        for fetcher, name, status, reason in _rows(rows, columns)
    ]


def _of_step(refusals: Sequence[Refusal], step: str) -> list[Refusal]:
    return [one for one in refusals if one[0].startswith(step)]


def _dropped(judged: Judged) -> tuple[tuple[str, int], ...]:
    counts = [(count.label, count.dropped) for count in judged.counts() if count.dropped]
    return tuple(sorted(counts, key=lambda pair: -pair[1]))


def _ranked(refusals: Sequence[Refusal]) -> tuple[tuple[str, int], ...]:
    return tuple((group.reason, group.count) for group in grouped([("", name, reason) for _, name, reason in refusals]))


def general(reason: str) -> str:
    """A reason without what is different for every file: numbers become ``N`` and quoted names ``…``."""
    return _NUMBER.sub("N", _QUOTED.sub("…", reason))


def failures(workspace: Workspace) -> list[FailureGroup]:
    """Everything that was refused, grouped by step and reason, most frequent first."""
    return grouped([*_refused(workspace), *_not_obtained(workspace)])


def _refused(workspace: Workspace) -> list[Refusal]:
    columns = ("step", "name", "reason")
    found: list[Refusal] = _rows(workspace.columns("rejected", Rejection, columns=columns), columns)
    return found


def grouped(refusals: Iterable[Refusal]) -> list[FailureGroup]:
    """Refusals, each ``(step, name, reason)``, grouped; a lone one keeps its words."""
    groups: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for step, name, reason in refusals:
        groups.setdefault((step, general(reason)), []).append((name, reason))
    found = [
        FailureGroup(
            step,
            held[0][1] if len({reason for _, reason in held}) == 1 else shared,
            len(held),
            tuple(display_name(name) for name, _ in held[:_EXAMPLES]),
        )
        for (step, shared), held in groups.items()
    ]
    return sorted(found, key=lambda group: (-group.count, group.step, group.reason))


def _rows(rows: pa.Table, columns: Sequence[str]) -> list[tuple[Any, ...]]:
    return list(zip(*(rows[column].to_pylist() for column in columns), strict=True))
