"""The table ``selection`` as columns: what was decided, whoever decided it and however long ago."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inpaintbench.curation.facts import Column, Facts, Flags, last_places
from inpaintbench.curation.judging import NO_ANSWER, Judged, Verdict
from inpaintbench.curation.rule_expressions import parse_label
from inpaintbench.types import Selection
from inpaintbench.workspace import Workspace


def stored_selection(workspace: Workspace, facts: Facts) -> Judged:
    """The decisions in ``workspace`` about the clips of ``facts``, a verdict for each rule; without any, all clips are kept.

    Clips that a rule has not judged are kept by it.
    """
    rows = workspace.columns("selection", Selection)
    labels = pc.unique(rows["rule"]).to_pylist()
    return Judged(facts, [_verdict(label, rows.filter(pc.equal(rows["rule"], label)), facts) for label in labels])


def _verdict(label: str, rows: pa.Table, facts: Facts) -> Verdict:
    rows = rows.combine_chunks()
    clip_ids = rows["clip_id"].combine_chunks()
    places = np.arange(len(facts)) if clip_ids.equals(facts.clip_ids) else last_places(clip_ids, facts.clip_ids)
    take = pa.array(places, mask=places < 0)
    taken = {name: rows[name].combine_chunks().take(take) for name in ("value", "value_text", "keep", "reason")}
    numbers = pc.fill_null(taken["value"], np.nan).to_numpy(zero_copy_only=False)
    column = Column(numbers, taken["value_text"], taken["reason"], places >= 0)
    keep = _flags(pc.fill_null(taken["keep"], True))
    waiting = ~keep & _flags(pc.fill_null(pc.equal(taken["reason"], NO_ANSWER), False))
    return Verdict(label, parse_label(label), column, keep, waiting, said=taken["reason"])


def _flags(found: pa.Array) -> Flags:
    flags: Flags = found.to_numpy(zero_copy_only=False).astype(bool)
    return flags
