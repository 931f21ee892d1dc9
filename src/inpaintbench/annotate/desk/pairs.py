"""Votes on pairs of methods: which pair to ask about next, and when a ranking needs no more votes."""

from __future__ import annotations

from collections.abc import Mapping
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


# New votes, as a share of those it was made from, after which it is made again; at least `STEP_VOTES`.
STEP_FRACTION = 0.05
STEP_VOTES = 10


class InformationGain:
    """Keeps the expected information of each question about pairs."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._made: dict[str, tuple[int, Mapping[tuple[str, str], float]]] = {}

    def of(self, question: str) -> Mapping[tuple[str, str], float]:
        """Pair -> expected information of one more vote, from the votes of a short while ago at the most."""
        from inpaintbench.annotate.statistics.information import expected_information

        votes = len(self._state.comparisons.get(question, ()))
        made_from, told = self._made.get(question, (None, {}))
        if made_from is None or abs(votes - made_from) >= max(STEP_VOTES, STEP_FRACTION * made_from):
            told = expected_information(*self._counts(question))
            self._made[question] = (votes, told)
        return told

    def _counts(self, question: str) -> tuple[dict[tuple[str, str], Mapping[str, int]], list[str]]:
        tasks = [task for task in self._state.study.tasks if task.question == question and len(task.candidates) == 2]
        found = self._state.pairs.get(question, {})
        none = {"a": 0, "b": 0, "tie": 0}
        pairs = {(task.candidates[0], task.candidates[1]): none for task in tasks}
        return {pair: found.get(pair, none) for pair in pairs}, sorted({name for pair in pairs for name in pair})
