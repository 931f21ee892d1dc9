"""Rules that act by themselves, looked at every now and then: a look goes over all answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from inpaintbench.annotate.desk.state import State
from inpaintbench.annotate.records import Vote
from inpaintbench.annotate.study import Study

if TYPE_CHECKING:
    from inpaintbench.annotate.screening.screen import Proposal

# New answers, as a share of those at the last look, after which is looked again; at least `STEP_ANSWERS`.
STEP_FRACTION = 0.05
STEP_ANSWERS = 25


class Screen:
    """When to look at the rules that act by themselves; like a look at a ranking, it is made outside of any lock."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._acts = any(spec.auto for spec in study.file.screening.values())
        self._looked_at = 0

    def due(self, state: State) -> Sequence[Vote] | None:
        """All answers that stand, when it is time to look at them; the same time is not named twice."""
        if not self._acts:
            return None
        known = len(state.submissions)
        if known - self._looked_at < max(STEP_ANSWERS, STEP_FRACTION * self._looked_at):
            return None
        self._looked_at = known
        return state.votes(excluded=True)

    def look(self, votes: Sequence[Vote]) -> list[Proposal]:
        """Return what the rules that act by themselves say."""
        from inpaintbench.annotate.screening.screen import proposals

        return proposals(self._study, votes, auto_only=True)
