"""Votes on pairs of methods: which pair to ask about next, and when a ranking needs no more votes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from inpaintbench.annotate.desk.state import State
from inpaintbench.annotate.records import Comparison
from inpaintbench.annotate.study import Study

# Votes of a question between two looks at whether its ranking is stable: a look takes seconds with many votes.
CHECK_EVERY = 25
# New votes, as a share of those that the expected information rests on, after which it is computed again; at least `STEP_VOTES`.
STEP_FRACTION = 0.05
STEP_VOTES = 10


class Finish:
    """Rankings that are stable, as far as has been looked; a look may take long, so it is made outside of any lock."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._looked: dict[str, tuple[int, int]] = {}
        self.settled: frozenset[str] = frozenset()
        """Questions whose ranking is stable: they get no more votes."""

    def due(self, state: State) -> dict[str, tuple[Comparison, ...]]:
        """Question -> comparisons of the rankings to look at now; the same is not named twice."""
        stop, due = self._study.file.stop, {}
        for question, votes in state.compared.items() if stop.kind == "stable_ranking" else ():
            # Exclusions and inclusions change which votes count, so whatever was seen before them says nothing.
            turn = (votes // CHECK_EVERY, state.decisions)
            if (votes >= stop.fewest_votes or question in self.settled) and turn != self._looked.get(question):
                self._looked[question] = turn
                due[question] = tuple(state.comparisons(question).values())
        return due

    def look(self, comparisons: Sequence[Comparison]) -> bool:
        """Return whether the ranking of ``comparisons`` is stable."""
        from inpaintbench.annotate.statistics.stopping import is_stable

        return is_stable(comparisons, level=self._study.file.stop.level, fewest_votes=self._study.file.stop.fewest_votes)

    def note(self, question: str, *, stable: bool) -> None:
        """Keep the outcome of a look."""
        self.settled = self.settled | {question} if stable else self.settled - {question}


class InformationGain:
    """Expected information of one more vote on each pair, kept for each question about pairs."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._computed: dict[str, tuple[int, int, Mapping[tuple[str, str], float]]] = {}

    def of(self, question: str) -> Mapping[tuple[str, str], float]:
        """Pair -> expected information of one more vote, from the votes of a short while ago at the most."""
        from inpaintbench.annotate.statistics.information import expected_information

        votes, decisions = self._state.compared.get(question, 0), self._state.decisions
        rests_on, decided, gains = self._computed.get(question, (None, 0, {}))
        if rests_on is None or decisions != decided or abs(votes - rests_on) >= max(STEP_VOTES, STEP_FRACTION * rests_on):
            tasks = [task for task in self._state.study.tasks if task.question == question and len(task.candidates) == 2]
            counted, none = self._state.pairs.get(question, {}), {"a": 0, "b": 0, "tie": 0}
            pairs = dict.fromkeys((task.candidates[0], task.candidates[1]) for task in tasks)
            names = sorted({name for pair in pairs for name in pair})
            gains = expected_information({pair: counted.get(pair, none) for pair in pairs}, names)
            self._computed[question] = (votes, decisions, gains)
        return gains
