"""Counts and tables of the funnel page: stages, failures, compute time of steps, licences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from inpaintbench.curation.facts import kept_sources, latest_checks
from inpaintbench.curation.footage import SAME_BYTES
from inpaintbench.curation.judging import Judged
from inpaintbench.curation.rules import parse_label
from inpaintbench.executors.base import Rejection, is_note
from inpaintbench.files import display_name
from inpaintbench.lazily import lazily
from inpaintbench.pages import Cell, Table
from inpaintbench.pages.tables import simple
from inpaintbench.pages.words import DASH, breakable, count, duration, number, percent, share
from inpaintbench.types import Attribute, Download, Item, Source
from inpaintbench.workspace import Workspace

pc = lazily("pyarrow.compute")

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
    """Number of those after this stage that people have still to answer for."""
    lost: tuple[tuple[str, int], ...] = ()
    """Reason why there are fewer than at the stage before, most frequent first."""
    several: int = 0
    """Number of clips lost, where one may have several reasons and these add up to more."""


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
    dropped = [(rule.label, rule.dropped) for rule in judged.counts() if rule.dropped]
    # Copies of what was obtained already were obtained, too, though only one of each content is a source.
    obtained = len(sources) + sum(reason.startswith(SAME_BYTES) for _, _, reason in rejected)
    uncut = [refusal for step in ("source_rules", "bars", "cut") for refusal in _of_step(rejected, step)]
    return [
        Stage("candidates", "source", obtained + len(missed)),
        Stage("obtained", "source", obtained, lost=_ranked(missed)),
        Stage("probed", "source", len(pc.unique(frames["subject_id"])), lost=_ranked(_of_step(rejected, "probe"))),
        Stage("cut into clips", "source", len(pc.unique(clips["source_id"])), lost=_ranked(uncut)),
        Stage("clips", "clip", clips.num_rows),
        Stage(
            "kept",
            "clip",
            kept,
            int(judged.waiting.sum()),
            tuple(sorted(dropped, key=lambda pair: -pair[1])),
            int(judged.dropped.sum()),
        ),
        # Items of clips that were dropped afterwards are out of date, and not counted.
        Stage("in items", "clip", int((judged.kept & used).sum())),
    ]


def funnel_words(workspace: Workspace, judged: Judged) -> str:
    """One line: sources found and cut, clips kept, and clips that each rule dropped or flagged."""
    bars = {stage.name: stage for stage in stages(workspace, judged)}
    counts = judged.counts()
    parts = [
        f"{count(bars['candidates'].count, 'source')} found",
        f"{bars['cut into clips'].count:,} cut into {count(bars['clips'].count, 'clip')}",
        f"{bars['kept'].count:,} kept",
    ]
    dropped = ", ".join(f"{n:,} by {_rule_name(label)}" for label, n in bars["kept"].lost)
    flagged = ", ".join(f"{rule.flagged:,} by {_rule_name(rule.label)}" for rule in counts if rule.flagged)
    if dropped:
        parts.append(f"{bars['kept'].several:,} dropped ({dropped})")
    if flagged:
        parts.append(f"flagged: {flagged}")
    lacking = ", ".join(
        f"{rule.missing:,} of {len(judged.clip_ids):,} by {_rule_name(rule.label)}" for rule in counts if rule.missing
    )
    if lacking:
        parts.append(f"without a value: {lacking}")
    return "Funnel: " + ", ".join(parts)


def _rule_name(label: str) -> str:
    rule = parse_label(label)
    return rule.name if rule is not None and rule.name else label


def _not_obtained(workspace: Workspace) -> list[Refusal]:
    columns = ("fetcher", "name", "status", "reason")
    rows = workspace.columns("downloads", Download, columns=columns)
    rows = rows.filter(pc.not_equal(rows["status"], OBTAINED))
    return [
        (f"fetch.{fetcher}", name, f"{status}: {reason or 'no reason given'}")
        for fetcher, name, status, reason in _rows(rows, columns)
    ]


def _of_step(refusals: Sequence[Refusal], step: str) -> list[Refusal]:
    return [refusal for refusal in refusals if refusal[0].startswith(step)]


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
    refusals: list[Refusal] = _rows(workspace.columns("rejected", Rejection, columns=columns), columns)
    return [refusal for refusal in refusals if not is_note(refusal[0])]


def grouped(refusals: Iterable[Refusal]) -> list[FailureGroup]:
    """Refusals, each ``(step, name, reason)``, grouped; a lone one keeps its words."""
    groups: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for step, name, reason in refusals:
        groups.setdefault((step, general(reason)), []).append((name, reason))
    failures = [
        FailureGroup(
            step,
            held[0][1] if len({reason for _, reason in held}) == 1 else shared,
            len(held),
            tuple(display_name(name) for name, _ in held[:_EXAMPLES]),
        )
        for (step, shared), held in groups.items()
    ]
    return sorted(failures, key=lambda group: (-group.count, group.step, group.reason))


def _rows(rows: pa.Table, columns: Sequence[str]) -> list[tuple[Any, ...]]:
    return list(zip(*(rows[column].to_pylist() for column in columns), strict=True))


_SUBJECTS = ("subject_id", "clip_id", "corruption_id", "source_id")


@dataclass(frozen=True)
class StepEffort:
    """Compute time of the finished tasks of one step."""

    step: str
    tasks: int
    timed: int
    """Tasks whose time is known."""
    total_seconds: float
    median_seconds: float
    largest_seconds: float
    peak_mebibytes: float | None
    """Largest memory of a worker; None where no task states it."""


@dataclass(frozen=True)
class SlowItem:
    """One finished task."""

    step: str
    subject_id: str
    """Id of the clip, source or corruption; empty where the ledger does not state it."""
    name: str
    """Name of the subject in the ledger; may be empty."""
    seconds: float
    peak_mebibytes: float | None


def efforts(workspace: Workspace, *, slowest: int = 12) -> tuple[list[StepEffort], list[SlowItem]]:
    """Every step with its times, the most expensive first, and the slowest items of all steps."""
    steps: list[StepEffort] = []
    items: list[SlowItem] = []
    # The ledgers of shards, STEP@SHARD, are read together with that of their step.
    for step in sorted({path.stem.partition("@")[0] for path in (workspace.path / "ledger").glob("*.jsonl")}):
        entries = list(workspace.ledger(step).read().values())
        timed = [entry for entry in entries if isinstance(entry.get("seconds"), int | float)]
        seconds = np.array([entry["seconds"] for entry in timed] or [0.0])
        peaks = [entry["peak_mebibytes"] for entry in timed if isinstance(entry.get("peak_mebibytes"), int | float)]
        steps.append(StepEffort(
            step, len(entries), len(timed), float(seconds.sum()), float(np.median(seconds)), float(seconds.max()),
            max(peaks, default=None),
        ))  # fmt: skip
        timed.sort(key=lambda entry: -entry["seconds"])
        for entry in timed[:slowest]:
            records = (entry, (entry.get("rows") or [{}])[0])
            # A source that was cut names its clips; the source is what took the time.
            keys = ("source_id", *_SUBJECTS) if step == "cut" else _SUBJECTS
            subject = next((str(record[key]) for key in keys for record in records if record.get(key)), "")
            peak, name = entry.get("peak_mebibytes"), display_name(str(entry.get("name") or ""))
            took = float(entry["seconds"])
            items.append(SlowItem(step, subject, name, took, float(peak) if isinstance(peak, int | float) else None))
    steps.sort(key=lambda row: (-row.total_seconds, row.step))
    return steps, sorted(items, key=lambda row: (-row.seconds, row.step, row.subject_id))[:slowest]


@dataclass(frozen=True)
class LicenceCount:
    """One licence."""

    licence: str | None
    """None where nothing is stated."""
    sources: int
    authors: int
    clips: int
    kept: int
    since: tuple[tuple[str, int], ...] = ()
    """Changes that upstream states since, each with its number of sources."""


def licence_counts(workspace: Workspace, judged: Judged) -> list[LicenceCount]:
    """One row a licence, the one of most sources first; of the sources that became clips, or of all while there are no clips."""
    sources = kept_sources(workspace.columns("sources", Source, columns=["source_id", "uri", "licence", "author"]))
    checks = latest_checks(workspace)
    of_clips = judged.facts.clips["source_id"]
    if len(of_clips):
        sources = sources.filter(pc.is_in(sources["source_id"], value_set=pc.unique(of_clips)))
    kept = judged.kept
    counts = []
    for licence in pc.unique(sources["licence"]).to_pylist():
        same = pc.is_null(sources["licence"]) if licence is None else pc.fill_null(pc.equal(sources["licence"], licence), False)
        rows = sources.filter(same)
        own = pc.is_in(of_clips, value_set=rows["source_id"].combine_chunks()).to_numpy()
        authors = len(pc.unique(pc.drop_null(rows["author"])))
        wordings = Counter(words for uri in rows["uri"].to_pylist() if uri in checks and (words := checks[uri].words))
        since = tuple(sorted(wordings.items()))
        counts.append(LicenceCount(licence, rows.num_rows, authors, int(own.sum()), int(np.sum(kept & own)), since))
    return sorted(counts, key=lambda row: (-row.sources, row.licence or ""))


# Rows of the table; `curation rejected` lists all.
FAILURES = 40


def effort_table(steps: Sequence[StepEffort]) -> Table | None:
    """Return where the time went; None before any step."""
    most = max((step.total_seconds for step in steps), default=0.0) or 1.0
    rows: list[list[object]] = [
        [
            breakable(step.step),
            number(step.tasks),
            Cell(duration(step.total_seconds), title=f"{number(step.total_seconds)} s", bar=step.total_seconds / most)
            if step.timed
            else DASH,
            *(number(value) if step.timed else DASH for value in (step.median_seconds, step.largest_seconds)),
            number(step.peak_mebibytes),
        ]
        for step in steps
    ]
    heads = ("Step", "tasks", "compute time", "median s", "slowest s", "peak MiB")
    return simple(heads, rows, label="Time by step", numeric=(1, 2, 3, 4, 5)) if rows else None


def slowest_table(slowest: Sequence[SlowItem], names: Mapping[str, str]) -> Table:
    """The tasks that took longest."""
    rows: list[list[object]] = [
        [breakable(item.name or names.get(item.subject_id, item.subject_id) or "not told"), breakable(item.step),
         number(item.seconds), number(item.peak_mebibytes)]
        for item in slowest
    ]  # fmt: skip
    return simple(("Item", "Step", "seconds", "peak MiB"), rows, label="Slowest items", numeric=(2, 3))


def failure_table(groups: Sequence[FailureGroup]) -> Table | None:
    """Refusals by step and reason; None where there are none."""
    rows: list[list[object]] = [
        [breakable(group.step), group.reason, number(group.count),
         breakable(", ".join(group.examples) + (" …" if group.count > len(group.examples) else ""))]
        for group in groups[:FAILURES]
    ]  # fmt: skip
    return simple(("Step", "Reason", "n", "Such as"), rows, label="Failures", numeric=(2,)) if rows else None


def licence_table(counts: Sequence[LicenceCount]) -> Table | None:
    """Licences of the sources; None without sources."""
    sources = sum(count.sources for count in counts)
    rows: list[list[object]] = [
        [
            Cell(count.licence) if count.licence else Cell(note="none stated"),
            number(count.sources),
            percent(share(count.sources, sources)),
            *map(number, (count.authors, count.clips, count.kept)),
            ", ".join(f"{n:,} {words}" for words, n in count.since),
        ]
        for count in counts
    ]
    heads = ("Licence", "sources", "share", "authors", "clips", "kept", "since then")
    return simple(heads, rows, label="Licences", numeric=(1, 2, 3, 4, 5)) if rows else None
