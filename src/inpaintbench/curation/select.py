"""Decide over stored measurements: which clips to keep, and which are low or high. Touches no pixels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from inpaintbench.types import Attribute, Clip, Selection

VERSION = "1"


def top_share(numbers: Mapping[str, float], *, attribute: str, share: float) -> list[Selection]:
    """Keep the clips with the highest numbers: ``ceil(share * n)`` of n, ties in order of clip id.

    Args:
        numbers: clip id -> its number.
        attribute: what the rule calls it.
        share: of the clips, above 0 and at most 1.
    """
    order = sorted(numbers, key=lambda clip_id: (-numbers[clip_id], clip_id))
    best = set(order[: math.ceil(share * len(order) - 1e-9)])
    rule = f"{attribute} among the highest {share:.0%}"
    return [
        Selection(
            clip_id, rule, number, keep=clip_id in best, reason=None if clip_id in best else f"{attribute} {number:.4g} is not"
        )
        for clip_id, number in numbers.items()
    ]


def kept(clips: Sequence[Clip], selections: Sequence[Selection]) -> list[Clip]:
    """The clips that no rule drops and that wait for nobody."""
    dropped = {selection.clip_id for selection in selections if not selection.keep}
    return [clip for clip in clips if clip.clip_id not in dropped]


def rank_levels(
    clips: Sequence[Clip], measured: Sequence[Attribute], *, level: str, share: float = 0.16, at_most: int = 150
) -> list[Attribute]:
    """Label the lowest and highest clips by rank: DEVIL's rule for motion labels (CVPR 2022, section 4.2).

    The ``floor(share * n)`` lowest of the n clips with a value are candidates for low, as many of the highest for high (at
    least one of each, never the same clip). Candidates are ordered round-robin over their sources, the most extreme clip of
    every source first, and the first ``at_most`` get the label; every other clip gets ``None`` with the reason.

    Args:
        clips: the kept clips.
        measured: one attribute row a clip, any order; rows of other clips are ignored.
        level: name of the attribute to write.
        share: of the scored clips, in 0..0.5.
        at_most: labels of each kind.

    Returns:
        One ``Attribute`` a clip with value ``low``, ``high`` or None, in the order of ``clips``.
    """
    values = {row.subject_id: row for row in measured}
    numbers = {c.clip_id: v.value for c in clips if (v := values.get(c.clip_id)) and isinstance(v.value, int | float)}
    scored = sorted((clip for clip in clips if clip.clip_id in numbers), key=lambda clip: (numbers[clip.clip_id], clip.clip_id))
    count = max(1, math.floor(share * len(scored))) if len(scored) > 1 else 0
    low = _round_robin(scored[:count])[:at_most]
    high = _round_robin(scored[::-1][:count])[:at_most]
    labels = {clip.clip_id: "low" for clip in low} | {clip.clip_id: "high" for clip in high}
    return [_level(clip, level, labels, values, len(scored), count) for clip in clips]


def _round_robin(extreme_first: Sequence[Clip]) -> list[Clip]:
    turns: dict[str, int] = {}
    keyed = []
    for place, clip in enumerate(extreme_first):
        turn = turns.get(clip.source_id, 0)
        turns[clip.source_id] = turn + 1
        keyed.append(((turn, place), clip))
    return [clip for _, clip in sorted(keyed, key=lambda pair: pair[0])]


def _level(
    clip: Clip, level: str, labels: Mapping[str, str], values: Mapping[str, Attribute], scored: int, count: int
) -> Attribute:
    label = labels.get(clip.clip_id)
    row = values.get(clip.clip_id)
    if label is not None:
        reason = None
    elif row is None or row.value is None:
        reason = f"not scored: {row.reason if row else 'not measured'}"
    elif scored < 2:
        reason = "only 1 clip has a score; low and high need two"
    else:
        reason = f"not among the {count} lowest or {count} highest of {scored} scored clips"
    return Attribute(clip.clip_id, level, label, reason, "rank", VERSION)


def inherited_levels(clips: Sequence[Clip], labels: Sequence[Attribute], *, level: str) -> list[Attribute]:
    """Labels called ``level`` for clips: their own, else their source's; clips without either get no row."""
    by_subject = {row.subject_id: row for row in labels if row.name == level}
    labelled = ((clip, by_subject.get(clip.clip_id) or by_subject.get(clip.source_id)) for clip in clips)
    return [
        Attribute(clip.clip_id, level, row.value, row.reason, row.producer, row.producer_version) for clip, row in labelled if row
    ]
