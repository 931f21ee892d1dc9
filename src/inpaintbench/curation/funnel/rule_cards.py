"""Each rule with its counts, its threshold in the distribution, and the clips on both sides of it; distributions; calibration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from inpaintbench.curation.calibration import Calibration, Share, nearest
from inpaintbench.curation.facts import Flags
from inpaintbench.curation.funnel.pictures import Thumbnails
from inpaintbench.curation.funnel.plots import Distribution, distribution, is_drawable, states, told
from inpaintbench.curation.judging import Judged, RuleCount, Verdict
from inpaintbench.curation.rules import Rule, value_text
from inpaintbench.curation.why import unit_and_direction
from inpaintbench.pages import Cell, Column, Row, Table, Tile
from inpaintbench.pages.words import breakable, number, percent, percents

_SHOWN = 6
_REASONS = 3


@dataclass(frozen=True)
class Side:
    """Clips with something in common, some of them as pictures."""

    total: int
    tiles: tuple[Tile, ...]
    order: str = ""
    """In which those that are shown come."""


@dataclass(frozen=True)
class RuleCard:
    """One rule on the funnel page."""

    title: str
    expression: str
    """The rule itself, where the title is its name."""
    n: int
    """Clips of the workspace."""
    counted: RuleCount
    reasons: tuple[tuple[str, int], ...]
    """Reason why clips have no value, the most frequent reasons."""
    distribution: Distribution | None
    refused: Side
    kept: Side

    @property
    def states(self) -> dict[str, int]:
        """State (kept, waiting, dropped) -> number of clips."""
        return {"kept": self.counted.kept, "waiting": self.counted.waiting, "dropped": self.counted.dropped}

    @property
    def label(self) -> str:
        """The states in words."""
        return told(self.states)


def rule_cards(judged: Judged, thumbnails: Thumbnails) -> list[RuleCard]:
    """One card a rule."""
    pairs = zip(judged.verdicts, judged.counts(), strict=True)
    return [_card(judged, verdict, counted, thumbnails) for verdict, counted in pairs]


def _card(judged: Judged, verdict: Verdict, counted: RuleCount, thumbnails: Thumbnails) -> RuleCard:
    rule = verdict.rule
    return RuleCard(
        title=rule.name if rule and rule.name else verdict.label,
        expression=rule.words if rule and rule.name else "",
        n=len(judged.facts),
        counted=counted,
        reasons=tuple(_without(judged, verdict)),
        distribution=_distribution(judged, verdict),
        refused=_side(verdict, ~verdict.keep | verdict.flagged, thumbnails),
        kept=_side(verdict, verdict.keep & ~verdict.flagged, thumbnails),
    )


def _distribution(judged: Judged, verdict: Verdict) -> Distribution | None:
    if verdict.rule is None:
        return None
    subject = verdict.rule.subject
    of = states(verdict.keep, verdict.waiting)
    unit = unit_and_direction(subject)[0]
    return distribution(judged.facts.of(subject), of, bounds=drawable(verdict.rule), unit=unit, name=subject)


def drawable(rule: Rule) -> list[float]:
    """The thresholds of a rule that have a place on an axis of numbers."""
    return [bound for bound in rule.bounds.values() if isinstance(bound, float) and is_drawable(bound)]


def _without(judged: Judged, verdict: Verdict) -> list[tuple[str, int]]:
    unknown = np.flatnonzero(~verdict.column.known & ~verdict.waiting)
    if verdict.rule is None or not len(unknown):
        return Counter(verdict.reasons(unknown)).most_common(_REASONS) if len(unknown) else []
    # Those that the rule keeps for want of a value have no reason of their own in the selection.
    reasons = judged.facts.of(verdict.rule.subject).reasons.take(pa.array(unknown)).to_pylist()
    return Counter(f"{verdict.rule.subject} has no value: {reason or 'not measured'}" for reason in reasons).most_common(_REASONS)


def _side(verdict: Verdict, side: Flags, thumbnails: Thumbnails) -> Side:
    near = [place for place in nearest(verdict, 2 * _SHOWN) if side[place]][:_SHOWN]
    places = near or spread(np.flatnonzero(side).tolist(), _SHOWN)
    order = "nearest to the threshold first" if near else "spread over all"
    return Side(int(side.sum()), tuple(_tile(verdict, place, thumbnails) for place in places), order)


def _tile(verdict: Verdict, place: int, thumbnails: Thumbnails) -> Tile:
    state = "kept" if verdict.keep[place] else "waiting" if verdict.waiting[place] else "dropped"
    lines = [said(verdict, place)] if verdict.keep[place] and not verdict.flagged[place] else verdict.reasons(np.array([place]))
    return thumbnails.tile(place, lines=lines, state=state)


def said(verdict: Verdict, place: int) -> str:
    """Subject of the rule and the clip's value: ``cut_score 0.21``."""
    subject = verdict.rule.subject if verdict.rule else verdict.label
    text, value = verdict.column.texts[place].as_py(), float(verdict.column.numbers[place])
    if text is None and np.isnan(value):
        return f"{subject}: no value"
    return f"{subject} {value_text(value if text is None else text)}"


def spread(places: Sequence[int], shown: int) -> list[int]:
    """At most ``shown`` of ``places``, evenly from first to last."""
    if len(places) <= shown:
        return list(places)
    return [places[round(at)] for at in np.linspace(0, len(places) - 1, shown)]


def distributions(judged: Judged) -> tuple[list[Distribution], list[Distribution]]:
    """Distributions of attributes that rules ask for, and of every other one, coloured by what became of the clips."""
    bounds: dict[str, list[float]] = {}
    for rule in (verdict.rule for verdict in judged.verdicts if verdict.rule):
        bounds.setdefault(rule.subject, []).extend(drawable(rule))
    others = [subject for subject in judged.facts.attributes_of_clips() if subject not in bounds]
    ruled = [of_attribute(judged, subject, bounds=limits) for subject, limits in bounds.items()]
    return ruled, [of_attribute(judged, subject, bounds=[]) for subject in others]


def of_attribute(judged: Judged, subject: str, *, bounds: Sequence[float]) -> Distribution:
    """The distribution of one attribute, coloured by what became of the clips."""
    unit, direction = unit_and_direction(subject)
    own = [verdict.refused for verdict in judged.verdicts if verdict.rule and verdict.rule.subject == subject]
    by_own_rule = np.logical_or.reduce([np.zeros(len(judged.facts), bool), *own])
    of = states(judged.kept, judged.waiting, by_own_rule=by_own_rule)
    return distribution(judged.facts.of(subject), of, bounds=bounds, unit=unit, name=subject, direction=direction)


def calibration_table(calibrations: Sequence[Calibration]) -> Table | None:
    """Each rule against the answers of people; None without."""
    heads = ["n", "drop and reject", "drop but keep", "keep but reject", "keep and keep"]
    shares = (Column(head, sorts=True) for head in ("Precision", "Recall"))
    columns = (Column("Rule", sorts=True, falling=False), *(Column(head, numeric=True, sorts=True) for head in heads), *shares)
    rows = tuple(
        Row((
            Cell(breakable(row.rule), row.rule),
            *(Cell(number(n), n) for n in (
                row.n, row.true_positives, row.false_positives, row.false_negatives, row.true_negatives,
            )),
            _share(row.precision), _share(row.recall),
        ))
        for row in calibrations
    )  # fmt: skip
    return Table(columns, rows, label="Calibration") if rows else None


def _share(share: Share) -> Cell:
    """A share with its 95 % interval where it has one: words, and a line from 0 to 1."""
    if share.value is None:
        return Cell(note=share.reason or "")
    words, of = percent(share.value, 0), f"{share.count} of {share.total}"
    if share.low is None or share.high is None:
        return Cell(words, share.value, note=of)
    return Cell(
        words, share.value, note=f"{percents(share.low, share.high)} · {of}", whisker=(share.value, share.low, share.high)
    )


def calibration_words(calibrations: Sequence[Calibration]) -> str:
    """Legend of the table's rows and interval lines."""
    few = next(
        (ratio.reason for rule in calibrations for ratio in (rule.precision, rule.recall) if ratio.total and ratio.reason), None
    )
    lines = f"Some shares have no interval: {few}." if few else "Lines are 95 % intervals over sources, from 0 to 100 %."
    return f"The rule first, people second. {lines}"
