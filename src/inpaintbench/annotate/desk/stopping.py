"""When a question needs no more votes."""

from __future__ import annotations

from dataclasses import dataclass

from inpaintbench.annotate.desk.records import Comparison
from inpaintbench.annotate.desk.state import State
from inpaintbench.annotate.study import Study

# Votes of a question between two looks at whether its ranking is stable.
CHECK_EVERY = 25


@dataclass(frozen=True)
class Due:
    """A question whose ranking is to be looked at."""

    question: str
    comparisons: tuple[Comparison, ...]


class Finish:
    """Which rankings are stable, as far as has been looked; a look may take long, so it is made outside of any lock."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._looked: dict[str, int] = {}
        self.settled: frozenset[str] = frozenset()
        """Questions whose ranking is stable: they get no more votes."""

    def due(self, state: State) -> list[Due]:
        """What to look at now; the same is not named twice."""
        stop = self._study.file.stop
        if stop.kind != "stable_ranking":
            return []
        found = []
        for question, votes in state.comparisons.items():
            turn = len(votes) // CHECK_EVERY
            if len(votes) >= stop.fewest_votes and turn != self._looked.get(question):
                self._looked[question] = turn
                found.append(Due(question, tuple(votes.values())))
        return found

    def look(self, due: Due) -> bool:
        """Whether a ranking is stable."""
        from inpaintbench.annotate.statistics.stopping import is_stable

        stop = self._study.file.stop
        return is_stable(due.comparisons, level=stop.level, fewest_votes=stop.fewest_votes, seed=self._study.file.seed)

    def note(self, due: Due, *, stable: bool) -> None:
        """Keep what a look gave."""
        self.settled = self.settled | {due.question} if stable else self.settled - {due.question}
