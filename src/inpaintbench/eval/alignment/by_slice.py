"""Which metric to trust where: the best matching rate in each slice, and which others it cannot be told apart from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from inpaintbench.eval.alignment.bootstrap import BOOTSTRAP_95, Bootstrap, Estimate
from inpaintbench.eval.alignment.matching import differences, matched, matches, pair_shares
from inpaintbench.eval.alignment.measured import Measured
from inpaintbench.eval.alignment.votes import Votes
from inpaintbench.eval.comparing import PairTest, paired

EVERYTHING = "all items"
_LEVEL = 0.05


@dataclass(frozen=True)
class Verdict:
    """The metrics in one slice of one dimension."""

    slice: str
    rates: Mapping[str, Estimate]
    """Metric -> matching rate."""
    best: str | None
    """The metric with the highest rate."""
    equals: tuple[str, ...]
    """Metrics that it cannot be told apart from: p by Holm of 0.05 or more, or no test."""
    tests: tuple[PairTest, ...]
    """Every two metrics, over pairs that both have values for; signs flipped source by source, Holm within the slice."""
    reason: str | None
    """Why there is no best one, or why nothing can be told apart."""

    def sentence(self, label: Callable[[str], str] = str) -> str:
        """What to trust, in words; ``label`` says how a metric is called."""
        if self.best is None:
            return f"No verdict: {self.reason}."
        if not self.equals:
            return f"Trust {label(self.best)}." if len(self.rates) > 1 else f"{label(self.best)} alone was measured."
        why = f" ({self.reason})" if self.reason else ""
        return f"{label(self.best)} is highest, not told apart from {', '.join(map(label, self.equals))}{why}."


def verdicts(
    votes: Votes,
    measured: Measured,
    tie_eps: Mapping[str, float],
    *,
    slices: Mapping[str, Sequence[str]],
    bootstrap: Bootstrap = BOOTSTRAP_95,
) -> list[Verdict]:
    """One for all items, then one for each slice that has answers.

    Args:
        votes: of one dimension.
        measured: values of the metrics.
        tie_eps: metric -> its threshold; metrics without one are left out.
        slices: name -> item ids.
        bootstrap: of the intervals; its seed draws the flips too.
    """
    found = [_verdict(EVERYTHING, votes, measured, tie_eps, bootstrap)]
    for name, items in slices.items():
        own = votes.among(set(items))
        if own.answers and name != EVERYTHING:
            found.append(_verdict(name, own, measured, tie_eps, bootstrap))
    return found


def _verdict(name: str, votes: Votes, measured: Measured, tie_eps: Mapping[str, float], bootstrap: Bootstrap) -> Verdict:
    rates = {metric: matched(votes, measured, metric, tie_eps=eps, bootstrap=bootstrap).rate for metric, eps in tie_eps.items()}
    known = {metric: one.value for metric, one in rates.items() if one.value is not None}
    if not known:
        return Verdict(name, rates, None, (), (), "no metric has values of both methods of any pair")
    tests = _tests(votes, measured, {metric: tie_eps[metric] for metric in known}, bootstrap.seed)
    best = max(sorted(known), key=lambda metric: known[metric])
    own = [test for test in tests if best in (test.one, test.other)]
    doubtful = [test for test in own if not _is_clear(test, best)]
    reasons = sorted({test.reason for test in doubtful if test.reason})
    equals = tuple(sorted(test.other if test.one == best else test.one for test in doubtful))
    return Verdict(name, rates, best, equals, tuple(tests), "; ".join(reasons) or None)


def _is_clear(test: PairTest, best: str) -> bool:
    return test.one == best and test.p_holm is not None and test.p_holm < _LEVEL


def _tests(votes: Votes, measured: Measured, tie_eps: Mapping[str, float], seed: int) -> list[PairTest]:
    """Over pairs of methods; each counts as often as it was answered."""
    shares: dict[str, Mapping[int, float]] = {}
    answers: dict[int, float] = {}
    for metric, eps in tie_eps.items():
        delta = differences(votes, measured.values[metric], higher_is_better=measured.higher_is_better[metric])
        shares[metric], of = pair_shares(votes, matches(votes, delta, tie_eps=eps))
        answers |= of
    places = sorted(answers)
    return paired(
        {metric: [column.get(place) for place in places] for metric, column in shares.items()},
        [votes.sources[votes.source_of_pair[place]] for place in places],
        higher_is_better=True,
        seed=seed,
        weights={metric: [answers[place] for place in places] for metric in shares},
    )
