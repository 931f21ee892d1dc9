"""Rule: comparisons that go round in circles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from inpaintbench.annotate.screening.base import Finding, Panel, ScreeningRule, at_least, share


class Triads(NamedTuple):
    """Triples of methods of which a rater compared all three pairs of one subject, without a tie."""

    circular: int
    """a before b, b before c, c before a."""
    of: int
    consistence: float | None
    """Mean of Kendall's coefficient over subjects of which all pairs were compared; None without any."""


class CircularTriads(ScreeningRule):
    """Circular triads that are far more common than those of the others, by the exact binomial test (one-sided).

    Of a coin one triad of four is circular, whatever stands there (Kendall and Babington Smith 1940). Methods that are nearly
    equal make circles of honest answers too, so raters are compared with each other and nobody is flagged below ``circular``; and
    the rule only proposes: nobody should be left out for it alone. Where a rater compared all methods of subjects, the mean of
    Kendall's coefficient of consistence is told: 1 in line, 0 with as many circles as there can be, 0.5 a coin among four.

    Args:
        p: below it a rater is flagged, 0..1.
        circular: share of circular triads that is honest whatever the others do, 0..1; 0.25 is a coin's.
        least: triads of a rater before anything is said.
    """

    name = "circular_triads"
    version = "1"
    title = "Going round in circles"
    only_proposes = "methods that are nearly equal make circles of honest answers"

    def __init__(self, *, p: float = 0.001, circular: float = 0.15, least: int = 10) -> None:
        self.p, self.circular = share(p, name="p"), share(circular, name="circular")
        self.least = at_least(least, name="least")

    def findings(self, panel: Panel) -> list[Finding]:
        """Raters with more circles than the others."""
        from scipy.stats import binom

        counts = {rater_id: triads_of(_wins(panel, rater_id)) for rater_id in panel.of_rater}
        circular, total = sum(own.circular for own in counts.values()), sum(own.of for own in counts.values())
        found = []
        for rater_id, own in counts.items():
            if own.of < self.least or own.circular < self.circular * own.of or total == own.of:
                continue
            others = (circular - own.circular) / (total - own.of)
            if binom.sf(own.circular - 1, own.of, others) < self.p:
                whole = "" if own.consistence is None else f"; mean consistence {own.consistence:.2f}"
                reason = f"{own.circular} of {own.of} triads are circular, others {others:.0%} of theirs (a coin 25%){whole}"
                found.append(Finding(rater_id, reason))
        return found


# Of one subject and question: (better, worse).
Wins = Sequence[tuple[str, str]]


def _wins(panel: Panel, rater_id: str) -> Iterator[Wins]:
    """What a rater preferred to what, subject by subject."""
    wins: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for vote in panel.of_rater[rater_id]:
        if vote.purpose == "vote" and len(vote.candidates) == 2 and vote.choice in vote.candidates:
            first, second = vote.candidates
            row = (vote.choice, second if vote.choice == first else first)
            wins.setdefault((vote.question, vote.subject_id), []).append(row)
    yield from wins.values()


def triads_of(subjects: Iterable[Wins]) -> Triads:
    """Count the triads of all subjects."""
    circular = total = 0
    whole = []
    for wins in subjects:
        better = set(wins)
        methods = sorted({name for pair in better for name in pair})
        compared = {frozenset(pair) for pair in better}
        for three in combinations(methods, 3):
            if all(frozenset(pair) in compared for pair in combinations(three, 2)):
                total += 1
                circular += all(sum((one, other) in better for other in three) == 1 for one in three)
        if len(methods) > 2 and len(compared) == len(methods) * (len(methods) - 1) // 2:
            whole.append(consistence(Counter(winner for winner, _ in better), methods=len(methods))[1])
    return Triads(circular, total, sum(whole) / len(whole) if whole else None)


def consistence(won: Mapping[str, int], *, methods: int) -> tuple[int, float]:
    """Circular triads among methods that were all compared without a tie, and Kendall's coefficient: 1 in line, 0 most circles.

    Args:
        won: method -> others that it won against; those without a win may be missing.
        methods: that were compared, 3 at least.
    """
    circles = methods * (methods - 1) * (methods - 2) // 6 - sum(wins * (wins - 1) // 2 for wins in won.values())
    return circles, 1 - 24 * circles / (methods**3 - (methods if methods % 2 else 4 * methods))
