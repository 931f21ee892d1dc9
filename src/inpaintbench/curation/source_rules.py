"""Rules on sources, applied before anything is cut from them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from inpaintbench.curation.facts import Facts
from inpaintbench.curation.judging import judge
from inpaintbench.curation.rules import Rule
from inpaintbench.executors.base import Rejection
from inpaintbench.types import Attribute, Clip, Source

STEP = "source_rules"
# Of the attributes that are known of a source before it is cut.
PREFIX = "probe."


def refused(sources: Sequence[Source], facts: Sequence[Attribute], rules: Sequence[Rule]) -> list[Rejection]:
    """The sources that break a rule on what was probed, each with the first reason; other rules are left out."""
    early = [rule for rule in rules if (rule.attribute or "").startswith(PREFIX)]
    # A source is judged as if it were its own clip.
    whole = [Clip(row.source_id, row.source_id, 0, 0, 0.0, 0, 0, 0, "", "", "", None, 0.0) for row in sources]
    found: dict[int, str] = {}
    for verdict in judge(Facts.of_records(whole, facts), early).verdicts:
        places = np.flatnonzero(verdict.refused)
        for place, reason in zip(places.tolist(), verdict.reasons(places), strict=True):
            found.setdefault(place, reason)
    return [Rejection(sources[place].uri, STEP, sources[place].uri, reason) for place, reason in sorted(found.items())]
