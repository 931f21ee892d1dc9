"""Agreement of metrics with people: thresholds, rates, correlations and verdicts of every dimension."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from inpaintbench.catalogue import unknown_name
from inpaintbench.claims import ENOUGH_SOURCES
from inpaintbench.errors import InputError, NotMeasurable, UnknownNameError
from inpaintbench.pages.words import count
from inpaintbench.wings.align.bootstrap import BOOTSTRAP_95, Bootstrap, Estimate
from inpaintbench.wings.align.by_slice import Family, Verdict, against, verdicts
from inpaintbench.wings.align.matching import Ceiling, Matched, ceiling, matched, tie_threshold
from inpaintbench.wings.align.reading import Answers, Measured
from inpaintbench.wings.align.selection import Selection, selection
from inpaintbench.wings.align.values import digests
from inpaintbench.wings.align.votes import Votes, votes_of
from inpaintbench.wings.align.win_ratios import Point, correlations, points

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
        dimensions.append(
            Dimension(
                name=name,
                answers=sum(ballot.count for ballot in ballots),
                n_pairs=len(votes.pairs),
                n_sources=len({ballot.source for ballot in ballots}),
                n_raters=None if None in raters else len(raters),
                ceiling=ceiling(votes, bootstrap) if votes.rater is not None and votes.answers else None,
                lines=tuple(_line(votes, measured, metric, threshold, bootstrap) for metric, threshold in thresholds.items()),
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


def _line(votes: Votes, measured: Measured, metric: str, threshold: Threshold, bootstrap: Bootstrap) -> Line:
    agreement = matched(votes, measured, metric, tie_eps=threshold.value, bootstrap=bootstrap)
    of_methods = tuple(points(votes, measured, metric))
    return Line(metric, threshold, agreement, correlations(of_methods, bootstrap), of_methods)
