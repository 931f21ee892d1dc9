"""Verdicts by slice: matching rates in each slice, and which metrics are told apart there, or could have been.

Which metrics are tested against which is chosen before anybody looks at a rate, since every test makes the others less sure.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.eval.values.permutation import MOST_ENUMERATED_SOURCES, PairTest, holm, paired
from inpaintbench.pages.words import count
from inpaintbench.wings.align.bootstrap import BOOTSTRAP_95, Bootstrap, Estimate
from inpaintbench.wings.align.matching import differences, matched, matches, pair_shares
from inpaintbench.wings.align.reading import Measured
from inpaintbench.wings.align.votes import Votes

# Name of the slice of all items; one of a dataset's own that is called so is passed over.
EVERYTHING = "all items"
# Fields of a test in files.
_TEST = ("one", "other", "difference", "p", "p_holm", "n", "n_sources", "reason", "least_p")
COMPARISON_COLUMNS = (*_TEST, "least_p_holm", "could_tell", "told_apart")
# The p below which two metrics are told apart.
LEVEL = 0.05
# Each was the usual measure of its field before the metrics that are compared with it: of filled holes, and of edits.
USUAL_BASELINES = ("psnr", "clip_similarity")


@dataclass(frozen=True)
class Family:
    """The comparisons that are tested and corrected for together in each slice."""

    pairs: tuple[tuple[str, str], ...]
    baseline: str | None
    """The metric that stands in every pair; None where pairs were asked for."""

    def among(self, metrics: Collection[str]) -> list[tuple[str, str]]:
        """The pairs of which both metrics are there."""
        return [pair for pair in self.pairs if set(pair) <= set(metrics)]


def against(metrics: Sequence[str], baseline: str | None = None) -> Family:
    """Every metric against one of them.

    Args:
        metrics: their names.
        baseline: the one; by default the first of ``USUAL_BASELINES`` that is there, else the first by name. No value plays a
            part.

    Raises:
        UnknownNameError: ``baseline`` is not among the metrics.
    """
    if baseline is not None and baseline not in metrics:
        raise UnknownNameError(unknown_name("metric", baseline, list(metrics)))
    chosen = baseline or min(metrics, key=_place, default=None)
    return Family(tuple((name, chosen) for name in metrics if chosen is not None and name != chosen), chosen)


def asked_for(metrics: Sequence[str], pairs: Sequence[tuple[str, str]]) -> Family:
    """Pairs that somebody chose.

    Raises:
        InputError: a metric is to be compared with itself.
        UnknownNameError: one is not among the metrics.
    """
    for pair in pairs:
        for name in pair:
            if name not in metrics:
                raise UnknownNameError(unknown_name("metric", name, list(metrics)))
        if pair[0] == pair[1]:
            raise InputError(f"a pair is {pair[0]!r} twice; name two metrics")
    ordered = [(min(pair), max(pair)) for pair in pairs]
    return Family(tuple(dict.fromkeys(ordered)), None)


def _place(name: str) -> tuple[int, bool, str]:
    metric, _, region = name.partition("/")
    usual = USUAL_BASELINES.index(metric) if metric in USUAL_BASELINES else len(USUAL_BASELINES)
    return usual, bool(region) and region != "hole" and usual < len(USUAL_BASELINES), name


@dataclass(frozen=True)
class Comparison:
    """Two metrics, and what a test of them could have said at best."""

    test: PairTest
    """Over the pairs of methods that both metrics have values for; signs flipped source by source, Holm within the slice."""
    least_p_holm: float
    """The smallest p after the correction, had every comparison of the slice come out as clear as its sources allow."""

    @property
    def could_tell(self) -> bool:
        """Return whether any difference between the two could have been told."""
        return self.test.p is not None and self.least_p_holm < LEVEL

    @property
    def told_apart(self) -> bool:
        """Return whether they are."""
        return self.test.p_holm is not None and self.test.p_holm < LEVEL

    def plain(self) -> dict[str, Any]:
        """Fields for files; whether the two are told apart is None where that could not have been."""
        told = {"least_p_holm": self.least_p_holm, "could_tell": self.could_tell}
        return {
            **{name: getattr(self.test, name) for name in _TEST},
            **told,
            "told_apart": self.told_apart if self.could_tell else None,
        }


@dataclass(frozen=True)
class Verdict:
    """The metrics in one slice of one dimension."""

    slice: str
    rates: Mapping[str, Estimate]
    """Metric -> matching rate."""
    baseline: str | None
    """None where pairs were asked for."""
    comparisons: tuple[Comparison, ...]
    reason: str | None
    """Reason why nothing is compared."""

    @property
    def better(self) -> frozenset[str]:
        """Metrics that a test tells to agree with people more often than another."""
        return frozenset(comparison.test.one for comparison in self.comparisons if comparison.told_apart)

    @property
    def could_tell(self) -> bool:
        """Return whether any difference could have been told."""
        return any(comparison.could_tell for comparison in self.comparisons)

    @property
    def least_p(self) -> float | None:
        """The smallest p that the sources allow, before the correction."""
        return min((comparison.test.least_p for comparison in self.comparisons), default=None)

    @property
    def least_p_holm(self) -> float | None:
        """Smallest p that the sources allow, after the correction."""
        return min((comparison.least_p_holm for comparison in self.comparisons), default=None)

    def sentence(self, label: Callable[[str], str] = str) -> str:
        """Sentence of what may be said; ``label`` says how a metric is called."""
        if not self.comparisons:
            return f"No verdict: {self.reason}."
        if not self.could_tell:
            return f"Nothing could be told: it takes a p below {LEVEL:g}, the smallest possible is {self._at_best(label)}."
        told = [self._told(comparison.test, label) for comparison in self.comparisons if comparison.told_apart]
        parts = ["; ".join(told)] if told else []
        for words, some in (
            (
                "Not told apart",
                [comparison for comparison in self.comparisons if comparison.could_tell and not comparison.told_apart],
            ),
            (
                "Too few sources on which they differ",
                [comparison for comparison in self.comparisons if not comparison.could_tell],
            ),
        ):
            if some:
                parts.append(f"{words}: {', '.join(self._pair(one.test, label) for one in some)}")
        return f"{'. '.join(parts)}. Smallest possible p: {self._at_best(label)}."

    def _told(self, test: PairTest, label: Callable[[str], str]) -> str:
        p = f"p {test.p_holm:.2g} after correction"
        if test.one == self.baseline:
            return f"{label(test.other)} agrees with people less often than {label(test.one)} ({p})"
        return f"{label(test.one)} agrees with people more often than {label(test.other)} ({p})"

    def _pair(self, test: PairTest, label: Callable[[str], str]) -> str:
        names = [name for name in (test.one, test.other) if name != self.baseline]
        return " and ".join(map(label, sorted(names)))

    def _at_best(self, label: Callable[[str], str]) -> str:
        tests = [comparison.test for comparison in self.comparisons]
        sources = count(max(test.n_sources for test in tests), "source")
        of = f" with {label(self.baseline)}" if self.baseline else ""
        words = f"{self.least_p:.2g} before correction for {count(len(tests), 'comparison')}{of} over {sources}"
        few = [test for test in tests if 1 < test.n_sources <= MOST_ENUMERATED_SOURCES]
        if any(test.least_p > 2.0 ** (1 - test.n_sources) for test in few):
            words += "; a source on which two metrics agree with people alike counts for nothing"
        return f"{self.least_p_holm:.2g} ({words})"


def verdicts(
    votes: Votes,
    measured: Measured,
    tie_eps: Mapping[str, float],
    *,
    slices: Mapping[str, Sequence[str]],
    family: Family,
    bootstrap: Bootstrap = BOOTSTRAP_95,
) -> list[Verdict]:
    """One for all items, then one for each slice that has answers.

    Args:
        votes: of one dimension.
        measured: values of the metrics.
        tie_eps: metric -> its threshold; metrics without one are left out.
        slices: name -> item ids.
        family: which metrics are compared with which.
        bootstrap: of the intervals; its seed draws the flips too.
    """
    parts = {EVERYTHING: votes} | {name: votes.among(set(items)) for name, items in slices.items() if name != EVERYTHING}
    made = []
    for name, own in parts.items():
        if name != EVERYTHING and not own.answers:
            continue
        rates = {metric: matched(own, measured, metric, tie_eps=eps, bootstrap=bootstrap).rate for metric, eps in tie_eps.items()}
        known = [metric for metric, estimate in rates.items() if estimate.value is not None]
        pairs = family.among(known)
        compared = _compared(_tests(own, measured, tie_eps, pairs, bootstrap.seed)) if pairs else ()
        made.append(Verdict(name, rates, family.baseline, compared, None if pairs else _why_none(known, family)))
    return made


def _why_none(known: Sequence[str], family: Family) -> str:
    if not known:
        return "no metric has values of both methods of any pair"
    if family.baseline is not None and family.baseline not in known:
        return f"the baseline {family.baseline} has no value here"
    return f"{known[0]} alone was measured" if len(known) == 1 else "no pair of metrics that was asked for has values here"


def _compared(tests: Sequence[PairTest]) -> tuple[Comparison, ...]:
    """Tests that had no p count for the correction of the others as little as they do in Holm's."""
    testable = [test for test in tests if test.p is not None]
    at_best = dict(zip(map(id, testable), holm([test.least_p for test in testable]), strict=True))
    return tuple(Comparison(test, at_best.get(id(test), min(1.0, len(tests) * test.least_p))) for test in tests)


def _tests(
    votes: Votes, measured: Measured, tie_eps: Mapping[str, float], pairs: Sequence[tuple[str, str]], seed: int
) -> list[PairTest]:
    """Over pairs of methods; each counts as often as it was answered."""
    shares: dict[str, Mapping[int, float]] = {}
    answers: dict[int, float] = {}
    for metric in dict.fromkeys(metric for pair in pairs for metric in pair):
        delta = differences(votes, measured.values[metric], higher_is_better=measured.higher_is_better[metric])
        shares[metric], of = pair_shares(votes, matches(votes, delta, tie_eps=tie_eps[metric]))
        answers |= of
    places = sorted(answers)
    return paired(
        {metric: [column.get(place) for place in places] for metric, column in shares.items()},
        [votes.sources[votes.source_of_pair[place]] for place in places],
        higher_is_better=True,
        seed=seed,
        weights={metric: [answers[place] for place in places] for metric in shares},
        pairs=pairs,
    )
