"""The tables of the page: slowest items, failures, licences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from inpaintbench.curation.funnel.effort import SlowItem, StepEffort
from inpaintbench.curation.funnel.licences import LicenceCount
from inpaintbench.curation.funnel.markup import breakable, number, percent, table
from inpaintbench.curation.funnel.stages import FailureGroup

_FAILURES = 40


def effort_tables(steps: Sequence[StepEffort], slowest: Sequence[SlowItem], names: Mapping[str, str]) -> str:
    """Where the time went, and the slowest items."""
    if not steps:
        return '<p class="note">No step has run yet.</p>'
    if not any(step.timed for step in steps):
        return '<p class="note">The ledgers tell no times: they were written by an earlier version.</p>'
    most = max(step.total_seconds for step in steps) or 1.0
    rows = [
        [
            breakable(step.step),
            f"{step.tasks:,}",
            _seconds(step.total_seconds) if step.timed else "–",
            f'<span class="bar"><i style="width:{100 * step.total_seconds / most:.1f}%"></i></span>' if step.timed else "",
            *(number(value) if step.timed else "–" for value in (step.median_seconds, step.largest_seconds)),
            number(step.peak_mebibytes),
        ]
        for step in steps
    ]
    heads = ["Step", "tasks", "compute time", "", "median s", "slowest s", "peak MiB"]
    whole = table(heads, rows, label="Time by step", numeric=(1, 2, 4, 5, 6))
    named = [
        [breakable(item.name or names.get(item.subject_id, item.subject_id) or "not told"), breakable(item.step),
         number(item.seconds), number(item.peak_mebibytes)]
        for item in slowest
    ]  # fmt: skip
    items = table(["Item", "Step", "seconds", "peak MiB"], named, label="Slowest items", numeric=(2, 3))
    return f'<div class="pair"><div><h3>By step</h3>{whole}</div><div><h3>Slowest items</h3>{items}</div></div>'


def _seconds(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes < 60 else f"{minutes // 60:,} h {minutes % 60:02} min"


def failure_table(groups: Sequence[FailureGroup]) -> str:
    """Refusals by step and reason."""
    if not groups:
        return '<p class="note">Nothing was refused.</p>'
    rows = [
        [
            breakable(group.step),
            escape(group.reason),
            f"{group.count:,}",
            f"{', '.join(map(breakable, group.examples))}{' …' if group.count > len(group.examples) else ''}",
        ]
        for group in groups[:_FAILURES]
    ]
    rest = len(groups) - _FAILURES
    more = (
        f'<p class="note">and {rest:,} rarer reasons: <code>inpaintbench curation rejected</code> lists all.</p>'
        if rest > 0
        else ""
    )
    return table(["Step", "Reason", "n", "Such as"], rows, label="Failures", numeric=(2,)) + more


def licence_table(counts: Sequence[LicenceCount]) -> str:
    """Licences of the sources."""
    if not counts:
        return '<p class="note">There are no sources yet.</p>'
    sources = sum(one.sources for one in counts)
    rows = [
        [
            escape(one.licence) if one.licence else "<em>none stated</em>",
            f"{one.sources:,}",
            percent(one.sources, sources),
            f"{one.authors:,}",
            f"{one.clips:,}",
            f"{one.kept:,}",
            escape(", ".join(f"{n:,} {words}" for words, n in one.since)),
        ]
        for one in counts
    ]
    heads = ["Licence", "sources", "share", "authors", "clips", "kept", "since then"]
    return table(heads, rows, label="Licences", numeric=(1, 2, 3, 4, 5))
