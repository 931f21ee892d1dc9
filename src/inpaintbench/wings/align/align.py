"""Agreement of metrics with people: thresholds, rates, correlations and verdicts of every dimension."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from inpaintbench.catalogue import unknown_name
from inpaintbench.claims import ENOUGH_SOURCES
from inpaintbench.errors import InputError, NotMeasurable, UnknownNameError
from inpaintbench.eval.values.permutation import MOST_ENUMERATED_SOURCES, PairTest, holm, paired
from inpaintbench.pages.words import count
from inpaintbench.wings.align.bootstrap import BOOTSTRAP_95, Bootstrap, Estimate
from inpaintbench.wings.align.reading import Answers, Measured, digests
from inpaintbench.wings.align.win_ratios import (
    Ceiling,
    Matched,
    Point,
    Selection,
    Votes,
    ceiling,
    correlations,
    hits_of,
    matched,
    pair_shares,
    points,
    rate_of_hits,
    selection,
    tie_threshold,
    votes_of,
)

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

    def place(name: str) -> tuple[int, bool, str]:
        metric, _, region = name.partition("/")
        usual = USUAL_BASELINES.index(metric) if metric in USUAL_BASELINES else len(USUAL_BASELINES)
        return usual, bool(region) and region != "hole" and usual < len(USUAL_BASELINES), name

    chosen = baseline or min(metrics, key=place, default=None)
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
    return Family(tuple(dict.fromkeys((min(pair), max(pair)) for pair in pairs)), None)


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
        told_apart = self.told_apart if self.could_tell else None
        told = (*(getattr(self.test, name) for name in _TEST), self.least_p_holm, self.could_tell, told_apart)
        return dict(zip(COMPARISON_COLUMNS, told, strict=True))


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
        unclear = [one for one in self.comparisons if one.could_tell and not one.told_apart]
        blind = [one for one in self.comparisons if not one.could_tell]
        for words, some in (("Not told apart", unclear), ("Too few sources on which they differ", blind)):
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
        hits = {metric: hits_of(own, measured, metric, tie_eps=eps) for metric, eps in tie_eps.items()}
        rates = {metric: rate_of_hits(own, of, bootstrap) for metric, of in hits.items()}
        known = [metric for metric, estimate in rates.items() if estimate.value is not None]
        pairs = [pair for pair in family.pairs if set(pair) <= set(known)]
        tests: list[PairTest] = []
        reason = None
        if pairs:
            # Over pairs of methods; each counts as often as it was answered.
            shares = {metric: pair_shares(own, hits[metric]) for pair in pairs for metric in pair}
            answers = {place: of for _, counts in shares.values() for place, of in counts.items()}
            places = sorted(answers)
            tests = paired(
                {metric: [share.get(place) for place in places] for metric, (share, _) in shares.items()},
                [own.sources[own.source_of_pair[place]] for place in places],
                higher_is_better=True,
                seed=bootstrap.seed,
                weights={metric: [answers[place] for place in places] for metric in shares},
                pairs=pairs,
            )
        elif not known:
            reason = "no metric has values of both methods of any pair"
        elif family.baseline is not None and family.baseline not in known:
            reason = f"the baseline {family.baseline} has no value here"
        elif len(known) == 1:
            reason = f"{known[0]} alone was measured"
        else:
            reason = "no pair of metrics that was asked for has values here"
        # Tests that had no p count for the correction of the others as little as they do in Holm's.
        testable = [test for test in tests if test.p is not None]
        at_best = dict(zip(map(id, testable), holm([test.least_p for test in testable]), strict=True))
        compared = [Comparison(test, at_best.get(id(test), min(1.0, len(tests) * test.least_p))) for test in tests]
        made.append(Verdict(name, rates, family.baseline, tuple(compared), reason))
    return made


# What the numbers are, a paragraph each; written into every output.
DEFINITION = (
    "Matching rate: matches / answers. An answer matches when the person chose the method that the metric prefers, its direction "
    "minded, or called the two hard to distinguish while the metric's values differ by less than its tie threshold. Equal values "
    "have no winner: a preference of people then does not match. Pairs of which the metric lacks a value are left out, and "
    "counted.",
    "Preferences alone: the same over the answers that prefer one of the two; no threshold plays a part.",
    "Within the threshold a pair matches both its ties and the answers for its winner, so a wide threshold raises the rate. "
    "Compare rates under thresholds of the same kind, and look at preferences alone beside them.",
    "Win ratio of a method on an item: (wins + ties / 2) / comparisons, by people over their answers, by the metric over the "
    "same comparisons with equal values as ties. Pearson, Spearman and Kendall (tau-b) correlate both over points, one for each "
    "method and item.",
    "A metric that compares sets of items (FID, say) has one value of a method for all items, which stands for each of them.",
    "Ceiling: the share of answers that say what most of the other raters of the pair said; where k answers are equally frequent "
    "among them, one counts 1 / k.",
    "Intervals: the bootstrap resamples sources whole and gives the standard error of a rate's logit or a correlation's Fisher "
    "z, times sqrt(G / (G - 1)) for G sources; the variance over raters is added for rates; Student's t with G - 1 degrees of "
    f"freedom. Correlations take the raters as they are. With fewer than {ENOUGH_SOURCES} sources there is no interval.",
    "Comparisons: metrics against one baseline, which is named before any rate is known, or the pairs asked for. Two metrics are "
    "told apart where a paired sign-flip test over sources has p < 0.05 after Holm's correction for the slice's comparisons. "
    "The smallest p is what such flips could give at best; where it is not below 0.05 after the correction nothing could be "
    "told, and nothing is said.",
)


class Threshold(NamedTuple):
    """Difference from which on two values of a metric count as different."""

    value: float
    origin: str
    """Origin: ``given``, or ``quantile 0.1 of ...``."""


@dataclass(frozen=True)
class Line:
    """One metric under one dimension."""

    metric: str
    threshold: Threshold
    matched: Matched
    correlations: Mapping[str, Estimate]
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Dimension:
    """Results of all metrics against the answers to one question."""

    name: str
    answers: int
    n_pairs: int
    n_sources: int
    n_raters: int | None
    """None where raters are unknown."""
    ceiling: Ceiling | None
    """None where raters are unknown, or nobody compared pairs."""
    lines: tuple[Line, ...]
    verdicts: tuple[Verdict, ...]
    selection: Selection | None
    unmeasured: Mapping[str, str] = field(default_factory=dict)
    """Metrics that have no number here -> why."""

    @property
    def asked(self) -> str:
        """Amount of answers in words: ``900 answers of 30 raters to 30 pairs, 10 sources``."""
        raters = ", raters unknown" if self.n_raters is None else f" of {count(self.n_raters, 'rater')}"
        pairs = f" to {count(self.n_pairs, 'pair')}" if self.n_pairs else ""
        return f"{count(self.answers, 'answer')}{raters}{pairs}, {count(self.n_sources, 'source')}"


@dataclass(frozen=True)
class Alignment:
    """Results of all dimensions."""

    title: str
    dimensions: tuple[Dimension, ...]
    left_out: Mapping[str, int]
    """Reason -> answers."""
    unmeasured: Mapping[str, str]
    """Metrics without values or direction -> why."""
    bootstrap: Bootstrap
    family: Family
    fingerprint: str = ""
    """Of the protocol whose scores these were; empty for those of others."""
    digests: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Metric -> method that was compared -> a hash of its values."""
    notes: tuple[str, ...] = ()
    """Sentences to know before a rate is believed."""


def align(
    answers: Answers,
    measured: Measured,
    *,
    tie_eps: Mapping[str, float] | None = None,
    tie_quantile: float | None = None,
    slices: Mapping[str, Sequence[str]] | None = None,
    family: Family | None = None,
    title: str = "Metrics and people",
    bootstrap: Bootstrap = BOOTSTRAP_95,
    fingerprint: str = "",
    notes: Sequence[str] = (),
) -> Alignment:
    """Compare every metric with the answers of every dimension.

    Args:
        answers: of people.
        measured: values of metrics.
        tie_eps: metric -> threshold, in its unit; wins over the quantile.
        tie_quantile: sets the other thresholds, see ``matching.tie_threshold``. Without it every metric needs one in ``tie_eps``.
        slices: name -> item ids.
        family: which metrics are compared with which; by default all with the usual baseline.
        title: of the pages.
        bootstrap: of the intervals.
        fingerprint: of the scores of a run.
        notes: sentences to know before a rate is believed.

    Raises:
        InputError: a metric has no threshold, a threshold makes no sense, or answers and scores have nothing in common.
        UnknownNameError: a threshold of a metric that has no scores.
    """
    given = dict(tie_eps or {})
    for name, eps in given.items():
        if name not in measured.values:
            raise UnknownNameError(unknown_name("metric", name, list(measured.values)))
        if not eps >= 0:
            raise InputError(f"the tie threshold of {name} is {eps:g}, it must be 0 or more")
    _check_common(answers, measured)
    chosen = family or against(list(measured.values))
    dimensions = []
    for name in sorted({ballot.dimension for ballot in answers.ballots}):
        ballots = [ballot for ballot in answers.ballots if ballot.dimension == name]
        votes = votes_of(name, ballots)
        thresholds, unmeasured = _thresholds(votes, measured, given, tie_quantile)
        limits = {metric: threshold.value for metric, threshold in thresholds.items()}
        told = verdicts(votes, measured, limits, slices=slices or {}, family=chosen, bootstrap=bootstrap) if limits else []
        raters = {ballot.rater for ballot in ballots}
        lines = []
        for metric, threshold in thresholds.items():
            agreement = matched(votes, measured, metric, tie_eps=threshold.value, bootstrap=bootstrap)
            of_methods = tuple(points(votes, measured, metric))
            lines.append(Line(metric, threshold, agreement, correlations(of_methods, bootstrap), of_methods))
        dimensions.append(
            Dimension(
                name=name,
                answers=sum(ballot.count for ballot in ballots),
                n_pairs=len(votes.pairs),
                n_sources=len({ballot.source for ballot in ballots}),
                n_raters=None if None in raters else len(raters),
                ceiling=ceiling(votes, bootstrap) if votes.rater is not None and votes.answers else None,
                lines=tuple(lines),
                verdicts=tuple(told),
                selection=selection(name, ballots, measured, bootstrap=bootstrap),
                unmeasured=unmeasured,
            )
        )
    shown = {method for ballot in answers.ballots for method in ballot.candidates}
    compared = {
        name: {method: digest for method, digest in digests(values).items() if method in shown}
        for name, values in measured.values.items()
    }
    return Alignment(
        title, tuple(dimensions), answers.left_out, measured.unmeasured, bootstrap, chosen, fingerprint, compared, tuple(notes)
    )


def _check_common(answers: Answers, measured: Measured) -> None:
    scored = {key for column in measured.values.values() for key in column}
    asked = {(ballot.item, method) for ballot in answers.ballots for method in ballot.candidates}
    if not scored & asked:
        item, method = min(asked)
        other = min(scored, default=("no item", "no method"))
        raise InputError(
            f"answers and scores have no item and method in common: answers are about method {method!r} on item {item!r}, scores "
            f"about {other[1]!r} on {other[0]!r}"
        )


def _thresholds(
    votes: Votes, measured: Measured, given: Mapping[str, float], quantile: float | None
) -> tuple[dict[str, Threshold], dict[str, str]]:
    """The threshold of each metric; those that cannot have one, with the reason."""
    thresholds, lost = {}, {}
    for metric in measured.values if votes.answers else ():
        if metric in given:
            thresholds[metric] = Threshold(given[metric], "given")
        elif quantile is None:
            raise InputError(
                f"metric {metric!r} has no tie threshold, and no default is right; add --tie {metric}=VALUE, or --tie-quantile Q "
                "for a quantile of its differences"
            )
        else:
            try:
                value = tie_threshold(votes, measured.values[metric], quantile=quantile)
                thresholds[metric] = Threshold(value, f"quantile {quantile:g} of the differences of the pairs asked")
            except NotMeasurable as error:
                lost[metric] = str(error)
    return thresholds, lost
