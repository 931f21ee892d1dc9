"""Under which licences the footage is, and how much of it was kept."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc

from inpaintbench.curation.facts import kept_sources
from inpaintbench.curation.fetching.recheck import latest_checks
from inpaintbench.curation.judging import Judged
from inpaintbench.types import Source
from inpaintbench.workspace import Workspace


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
    """What upstream says now that is not as it was, and of how many sources."""


def licence_counts(workspace: Workspace, judged: Judged) -> list[LicenceCount]:
    """One row a licence, the one of most sources first; of the sources that became clips, or of all while there are no clips."""
    sources = kept_sources(workspace.columns("sources", Source, columns=["source_id", "uri", "licence", "author"]))
    checks = latest_checks(workspace)
    of_clips = judged.facts.clips["source_id"]
    if len(of_clips):
        sources = sources.filter(pc.is_in(sources["source_id"], value_set=pc.unique(of_clips)))
    kept = judged.kept
    found = []
    for licence in pc.unique(sources["licence"]).to_pylist():
        same = pc.is_null(sources["licence"]) if licence is None else pc.fill_null(pc.equal(sources["licence"], licence), False)
        rows = sources.filter(same)
        own = pc.is_in(of_clips, value_set=rows["source_id"].combine_chunks()).to_numpy()
        authors = len(pc.unique(pc.drop_null(rows["author"])))
        told = Counter(words for uri in rows["uri"].to_pylist() if uri in checks and (words := checks[uri].words))
        since = tuple(sorted(told.items()))
        found.append(LicenceCount(licence, rows.num_rows, authors, int(own.sum()), int(np.sum(kept & own)), since))
    return sorted(found, key=lambda one: (-one.sources, one.licence or ""))
