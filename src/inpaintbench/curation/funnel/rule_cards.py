"""Each rule with its counts, its threshold in the distribution, and the clips on both sides of it; distributions; calibration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from inpaintbench.curation.calibration import LIMITATION, Calibration, nearest
from inpaintbench.curation.facts import Flags
from inpaintbench.curation.funnel.markup import breakable, count, folded, interval, percent, table, tile, tiles
from inpaintbench.curation.funnel.pictures import Thumbnails
from inpaintbench.curation.funnel.plots import distribution, is_drawable, stacked, states
from inpaintbench.curation.judging import Judged, RuleCount, Verdict
from inpaintbench.curation.reasons import value_text
from inpaintbench.curation.rules import Rule
from inpaintbench.curation.why import unit_and_direction

_SHOWN = 6
_REASONS = 3


def rule_cards(judged: Judged, thumbnails: Thumbnails, names: Mapping[str, str]) -> str:
    """One card a rule; a sentence when there is none."""
    if not judged.verdicts:
        return '<p class="note">No rule has been applied yet: <code>inpaintbench curation select</code> does that.</p>'
    pairs = zip(judged.verdicts, judged.counts(), strict=True)
    return "\n".join(_card(judged, verdict, counted, thumbnails, names) for verdict, counted in pairs)


def _card(judged: Judged, verdict: Verdict, counted: RuleCount, thumbnails: Thumbnails, names: Mapping[str, str]) -> str:
    rule, n = verdict.rule, len(judged.facts)
    title = rule.name if rule and rule.name else verdict.label
    words = f'<p class="expression"><code>{escape(rule.words)}</code></p>' if rule and rule.name else ""
    parts = Counter(kept=counted.kept, waiting=counted.waiting, dropped=counted.dropped)
    return (
        f'<article class="rule"><div class="about"><h3>{breakable(title)}</h3>{words}{stacked(parts, max(1, n))}'
        f'{_numbers(counted, n)}{_without(verdict)}</div><div class="drawn">{_plot(judged, verdict)}</div>'
        f"{_pictures(verdict, thumbnails, names)}</article>"
    )


def _pictures(verdict: Verdict, thumbnails: Thumbnails, names: Mapping[str, str]) -> str:
    """Clips on both sides of the rule, folded: many of them are those of the rules before."""
    sides = _side(verdict, ~verdict.keep, thumbnails, names, "Not kept") + _side(verdict, verdict.keep, thumbnails, names, "Kept")
    kept = int(verdict.keep.sum())
    summary = f"Pictures <small>{len(verdict.keep) - kept:,} not kept, {kept:,} kept</small>"
    return f'<div class="looks">{folded(summary, sides)}</div>'


def _numbers(counted: RuleCount, n: int) -> str:
    told = [
        ("kept", counted.kept, percent(counted.kept, n)),
        ("dropped", counted.dropped, percent(counted.dropped, n)),
        ("by it alone", counted.dropped_alone, percent(counted.dropped_alone, n)),
        ("no value", counted.missing, percent(counted.missing, n)),
    ]
    told += [("waiting", counted.waiting, percent(counted.waiting, n))] if counted.waiting else []
    cells = "".join(f"<div><dt>{name}</dt><dd>{found:,} <small>{share}</small></dd></div>" for name, found, share in told)
    return f'<dl class="numbers">{cells}</dl>'


def _plot(judged: Judged, verdict: Verdict) -> str:
    if verdict.rule is None:
        return ""
    subject = verdict.rule.subject
    bounds = drawable(verdict.rule)
    of = states(verdict.keep, verdict.waiting)
    return distribution(judged.facts.of(subject), of, bounds=bounds, unit=unit_and_direction(subject)[0], name=subject)


def drawable(rule: Rule) -> list[float]:
    """The thresholds of a rule that have a place on an axis of numbers."""
    return [bound for bound in rule.bounds.values() if isinstance(bound, float) and is_drawable(bound)]


def _without(verdict: Verdict) -> str:
    """Why clips have no value, the most frequent reasons."""
    unknown = np.flatnonzero(~verdict.column.known & ~verdict.waiting & ~verdict.keep)
    if not len(unknown):
        return ""
    reasons = Counter(verdict.reasons(unknown)).most_common(_REASONS)
    lines = "".join(f"<li>{breakable(reason)} <b>{n:,}</b></li>" for reason, n in reasons)
    return f'<ul class="reasons">{lines}</ul>'


def _side(verdict: Verdict, side: Flags, thumbnails: Thumbnails, names: Mapping[str, str], title: str) -> str:
    near = [place for place in nearest(verdict, 2 * _SHOWN) if side[place]][:_SHOWN]
    places = near or spread(np.flatnonzero(side).tolist(), _SHOWN)
    if not places:
        return f'<section><h4>{title}</h4><p class="note">None.</p></section>'
    order = "nearest to the threshold first" if near else "spread over all"
    figures = [_tile(verdict, place, thumbnails, names) for place in places]
    return f"<section><h4>{title} <small>{int(side.sum()):,}, {order}</small></h4>{tiles(figures)}</section>"


def _tile(verdict: Verdict, place: int, thumbnails: Thumbnails, names: Mapping[str, str]) -> str:
    state = "kept" if verdict.keep[place] else "waiting" if verdict.waiting[place] else "dropped"
    lines = [said(verdict, place)] if verdict.keep[place] else verdict.reasons(np.array([place]))
    return tile(thumbnails, place, name=source_name(thumbnails.judged, place, names), lines=lines, state=state)


def said(verdict: Verdict, place: int) -> str:
    """What the rule looked at: ``cut_score 0.21``."""
    subject = verdict.rule.subject if verdict.rule else verdict.label
    text, value = verdict.column.texts[place].as_py(), float(verdict.column.numbers[place])
    if text is None and np.isnan(value):
        return f"{subject}: no value"
    return f"{subject} {value_text(value if text is None else text)}"


def source_name(judged: Judged, place: int, names: Mapping[str, str]) -> str:
    """What people call the source of the clip at ``place``."""
    source_id = judged.facts.clips["source_id"][place].as_py()
    return names.get(source_id, source_id)


def spread(places: Sequence[int], shown: int) -> list[int]:
    """At most ``shown`` of ``places``, evenly from first to last."""
    if len(places) <= shown:
        return list(places)
    return [places[round(at)] for at in np.linspace(0, len(places) - 1, shown)]


def distributions(judged: Judged) -> str:
    """Every attribute of the clips and everything that rules ask for, coloured by what became of the clips."""
    bounds: dict[str, list[float]] = {}
    for rule in (one.rule for one in judged.verdicts if one.rule):
        bounds.setdefault(rule.subject, []).extend(drawable(rule))
    others = [subject for subject in judged.facts.attributes_of_clips() if subject not in bounds]
    ruled = _grid([figure(judged, subject, bounds=limits) for subject, limits in bounds.items()])
    rest = _grid([figure(judged, subject, bounds=[]) for subject in others])
    if ruled and rest:
        rest = folded(f"{count(len(others), 'attribute')} without a rule", rest)
    return ruled + rest or '<p class="note">Nothing is measured yet.</p>'


def figure(judged: Judged, subject: str, *, bounds: Sequence[float]) -> str:
    """The distribution of one attribute, coloured by what became of the clips."""
    unit, direction = unit_and_direction(subject)
    own = [one.refused for one in judged.verdicts if one.rule and one.rule.subject == subject]
    by_own_rule = np.logical_or.reduce([np.zeros(len(judged.facts), bool), *own])
    of = states(judged.kept, judged.waiting, by_own_rule=by_own_rule)
    plot = distribution(judged.facts.of(subject), of, bounds=bounds, unit=unit, name=subject)
    caption = f'<figcaption><h3>{breakable(subject)}</h3><p class="note">{escape(direction)}</p></figcaption>'
    return f'<figure class="distribution">{caption}{plot}</figure>'


def _grid(figures: Sequence[str]) -> str:
    return f'<div class="distributions">{"".join(figures)}</div>' if figures else ""


def calibration_table(calibrations: Sequence[Calibration]) -> str:
    """Each rule against the answers of people."""
    if not calibrations:
        words = "No answers of people to compare with: a table of answers to keep or reject makes this one."
        return f'<p class="note">{words}</p>'
    heads = ["Rule", "n", "drop and reject", "drop but keep", "keep but reject", "keep and keep", "Precision", "Recall"]
    rows = [
        [
            breakable(one.rule),
            *(f"{n:,}" for n in (one.n, one.true_positives, one.false_positives, one.false_negatives, one.true_negatives)),
            interval(one.precision),
            interval(one.recall),
        ]
        for one in calibrations
    ]
    few = next((one.reason for rule in calibrations for one in (rule.precision, rule.recall) if one.total and one.reason), None)
    lines = f"Some shares have no interval: {few}." if few else "Lines are 95 % intervals over sources, from 0 to 100 %."
    legend = f'<p class="note">The rule first, people second. {escape(lines)}</p>'
    return table(heads, rows, label="Calibration", numeric=(1, 2, 3, 4, 5)) + legend + f'<p class="note">{escape(LIMITATION)}</p>'
