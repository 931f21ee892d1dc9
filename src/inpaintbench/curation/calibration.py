"""Agreement of rules with people: precision and recall of each rule's drops against the answers keep and reject."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from inpaintbench.claims import share_interval
from inpaintbench.curation.facts import OF_CLIP, Flags
from inpaintbench.curation.judging import Judged, Verdict
from inpaintbench.curation.sheets import CHOICES, KEEP_REJECT
from inpaintbench.table_files import csv_bytes
from inpaintbench.types import item_rng

KEEP, REJECT = CHOICES[KEEP_REJECT]
TOGETHER = "all rules together"
LIMITATION = (
    "Precision: of the clips that a rule drops, the share that people reject. Recall: of the clips that people reject, the share "
    "that the rule drops. Both hold for the clips that people looked at. Clips picked near a threshold are the hardest ones and "
    "make both look worse than they are over all clips; only clips picked at random tell them without that bias."
)
_PICKED = ("clip", "source", "start_frame", "end_frame", "picked", "rule", "value", "all_rules_say")
# Filled in, such a table is one that `sheets.import_answers` reads.
AUDIT_COLUMNS = (*_PICKED, "question", "answer", "reason", "rater")


@dataclass(frozen=True)
class Share:
    """``count`` of ``total``, with the 95 % interval of ``claims.share_interval``: sources are drawn, not clips."""

    count: int
    total: int
    value: float | None
    """None with a reason when there is nothing to count."""
    low: float | None
    high: float | None
    reason: str | None
    """Reason why there is no value, or no interval."""


@dataclass(frozen=True)
class Calibration:
    """One rule against people, over the clips that both have judged."""

    rule: str
    true_positives: int
    """Dropped, and people reject them."""
    false_positives: int
    """Dropped, but people keep them."""
    false_negatives: int
    """Not dropped, but people reject them."""
    true_negatives: int
    """Not dropped, and people keep them."""
    precision: Share
    recall: Share

    @property
    def n(self) -> int:
        """Clips that were counted."""
        return self.true_positives + self.false_positives + self.false_negatives + self.true_negatives


def calibrate(drops: Mapping[str, Flags], *, rejected: Flags, answered: Flags, sources: Sequence[str]) -> list[Calibration]:
    """Each rule against people.

    Args:
        drops: name of a rule -> ``[n]``, which clips it drops.
        rejected: ``[n]``, which clips people reject.
        answered: ``[n]``, of which clips people said keep or reject; the others are not counted.
        sources: ``[n]``, what each clip was cut from.
    """
    asked = [source for source, answer in zip(sources, answered, strict=True) if answer]
    refused, rows = rejected[answered], []
    for name, flags in drops.items():
        dropped = flags[answered]
        sets = (dropped & refused, dropped & ~refused, ~dropped & refused, ~dropped & ~refused)
        both, only_rule, only_people, neither = (int(among.sum()) for among in sets)
        precision = _share(refused, dropped, asked, none="the rule drops none of the clips that people looked at")
        recall = _share(dropped, refused, asked, none="people reject none of the clips that they looked at")
        rows.append(Calibration(name, both, only_rule, only_people, neither, precision, recall))
    return rows


def calibrate_judged(judged: Judged) -> list[Calibration]:
    """Each rule on an attribute, and all of them together, against the answers to ``keep_reject``; empty without answers."""
    answers = judged.facts.of(f"answer:{KEEP_REJECT}").texts.to_pylist()
    rejected = np.array([answer == REJECT for answer in answers], bool)
    answered = rejected | np.array([answer == KEEP for answer in answers], bool)
    # A rule on answers would be compared with itself.
    measured = [verdict for verdict in judged.verdicts if verdict.rule is None or verdict.rule.answer is None]
    if not measured or not answered.any():
        return []
    drops = {verdict.label: ~verdict.keep for verdict in measured}
    if len(drops) > 1:
        drops[TOGETHER] = np.logical_or.reduce(list(drops.values()))
    return calibrate(drops, rejected=rejected, answered=answered, sources=judged.facts.sources)


def _share(hits: Flags, among: Flags, sources: Sequence[str], *, none: str) -> Share:
    """Return which share of the clips of ``among`` are hits; ``none`` is the reason where there are no such clips."""
    places = np.flatnonzero(among).tolist()
    if not places:
        return Share(0, 0, None, None, None, none)
    interval = share_interval([float(hits[place]) for place in places], [sources[place] for place in places])
    return Share(int(hits[among].sum()), len(places), interval.value, interval.low, interval.high, interval.reason)


@dataclass(frozen=True)
class Picked:
    """A clip for people to look at."""

    place: int
    """In the order of the clips."""
    why: str
    rule: str | None
    value: float | str | None


def audit(judged: Judged, *, near: int, at_random: int, seed: int = 0) -> list[Picked]:
    """Pick clips for people to look at: ``near`` on the two sides of each threshold, then ``at_random`` of the others.

    Half of those near a threshold are kept by the rule and half dropped, as far as there are any. No clip is picked twice.
    """
    picked: dict[int, Picked] = {}
    for verdict in judged.verdicts:
        for place in nearest(verdict, near):
            picked.setdefault(place, Picked(place, "near a threshold", verdict.label, float(verdict.column.numbers[place])))
    left = np.setdiff1d(np.arange(len(judged.facts)), list(picked))
    rng = item_rng(seed, "audit", "clips")
    for place in rng.choice(left, size=min(at_random, len(left)), replace=False).tolist():
        picked[place] = Picked(place, "at random", None, None)
    return list(picked.values())


def nearest(verdict: Verdict, count: int) -> list[int]:
    """Places of the clips whose value is nearest to a numeric bound of the rule, both sides in turn; ties in order of clips."""
    bounds = [bound for bound in (verdict.rule.bounds.values() if verdict.rule else ()) if isinstance(bound, float)]
    numbers = verdict.column.numbers
    if not bounds or not count:
        return []
    distance = np.min([np.abs(numbers - bound) for bound in bounds], axis=0)
    places = (np.flatnonzero(~np.isnan(distance) & side) for side in (verdict.keep, ~verdict.keep))
    sides = [among[np.argsort(distance[among], kind="stable")[:count]].tolist() for among in places]
    of_kept = min(len(sides[0]), max(count // 2, count - len(sides[1])))
    return [*sides[0][:of_kept], *sides[1][: count - of_kept]]


def audit_csv(judged: Judged, picked: list[Picked], *, names: Mapping[str, str]) -> bytes:
    """The picked clips as CSV with the columns ``AUDIT_COLUMNS``, the answers left open.

    Args:
        judged: what they were picked from.
        picked: by ``audit``.
        names: source id -> what people call it.
    """
    spans = [judged.facts.of(f"{OF_CLIP}{column}").numbers for column in ("start_frame", "end_frame")]
    kept = judged.kept
    rows = []
    for pick in picked:
        source = names.get(judged.facts.clips["source_id"][pick.place].as_py(), "")
        value, verdict = "" if pick.value is None else repr(pick.value), "keep" if kept[pick.place] else "drop"
        span = [int(column[pick.place]) for column in spans]
        verdict_columns = [pick.why, pick.rule or "", value, verdict, KEEP_REJECT, "", "", ""]
        rows.append([judged.clip_ids[pick.place].as_py(), source, *span, *verdict_columns])
    return csv_bytes(AUDIT_COLUMNS, rows, errors="replace")
