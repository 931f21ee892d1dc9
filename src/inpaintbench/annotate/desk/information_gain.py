"""What one more vote on each pair would tell, made again as votes come in."""

from __future__ import annotations

from collections.abc import Mapping

from inpaintbench.annotate.desk.state import State

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
