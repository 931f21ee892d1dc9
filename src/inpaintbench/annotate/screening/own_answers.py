"""Rules about a rater's own answers: known answers, repeats, sides, times, runs of one button, comparisons in circles."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, groupby
from typing import NamedTuple

import numpy as np

from inpaintbench.annotate.records import Vote, is_right
from inpaintbench.annotate.screening.base import Finding, Panel, ScreeningRule, at_least, share


class FailedGold(ScreeningRule):
    """First answers to gold tasks that are right less often than ``accuracy``, once there are ``least`` of them.

    With 0.7 of 10, a coin passes in 17 % of cases and somebody who is right 19 times of 20 fails in 0.1 %; with 0.6 the coin
    passes in 38 %. Gold with three answers (A, B, neither) lets 2 % of guessers pass.

    Args:
        accuracy: share that must be right, 0..1.
        least: gold answers before anything is said.
    """

    name = "failed_gold"
    version = "1"
    title = "Known answers missed"

    def __init__(self, *, accuracy: float = 0.7, least: int = 10) -> None:
        self.accuracy, self.least = share(accuracy, name="accuracy"), at_least(least, name="least")

    def findings(self, panel: Panel) -> list[Finding]:
        """Raters who fail."""
        found = []
        for rater_id, votes in panel.of_rater.items():
            right = [is_right(panel.study, vote) for vote in votes if vote.purpose == "gold"]
            if len(right) >= self.least and sum(right) < self.accuracy * len(right) - 1e-9:
                found.append(Finding(rater_id, f"{sum(right)} of {len(right)} known answers right, {self.accuracy:.0%} must be"))
        return found


class UnstableRepeats(ScreeningRule):
    """Tasks asked twice that a rater answers alike far less often than the others of the panel answer theirs.

    How often honest people agree with themselves hangs on how hard the question is: of six repeats of close comparisons one in
    ten honest raters answers one alike at most. So the exact binomial test against the share of all others decides, and nobody
    is flagged who agrees at least as often as ``same``.

    Args:
        p: below it (one-sided) a rater is flagged, 0..1.
        same: share of repeats answered as at first that is good enough whatever the others do, 0..1.
    """

    name = "unstable_repeats"
    version = "1"
    title = "Repeats that disagree"

    def __init__(self, *, p: float = 0.001, same: float = 0.6) -> None:
        self.p, self.same = share(p, name="p"), share(same, name="same")

    def findings(self, panel: Panel) -> list[Finding]:
        """Raters who disagree with themselves."""
        from scipy.stats import binom

        counts: dict[str, tuple[int, int]] = {}
        for rater_id, votes in panel.of_rater.items():
            first = {vote.task_id: vote.choice for vote in votes if vote.purpose != "repeat"}
            again = [vote.choice == first[vote.task_id] for vote in votes if vote.purpose == "repeat" and vote.task_id in first]
            counts[rater_id] = sum(again), len(again)
        alike, asked = (sum(column) for column in zip(*counts.values(), strict=True)) if counts else (0, 0)
        found = []
        for rater_id, (own, of) in counts.items():
            if not of or own >= self.same * of or asked == of:
                continue
            others = (alike - own) / (asked - of)
            if binom.cdf(own, of, others) < self.p:
                found.append(Finding(rater_id, f"{own} of {of} repeats answered as at first, others {others:.0%} of theirs"))
        return found


class SideBias(ScreeningRule):
    """Choices of the left of two, against one half by the exact binomial test (two-sided).

    Methods stand left and right equally often for every rater, so a lead is about the person. Verdicts that neither is better are
    no choices; all questions about pairs count together. 34 of 50 gives p = 0.0153, 61 of 90 gives p = 0.00097.

    Args:
        p: below it a rater is flagged, 0..1.
        lead: least distance of the share from one half, so that many votes do not make a habit a fault, 0..0.5.
    """

    name = "side_bias"
    version = "1"
    title = "One side chosen"

    def __init__(self, *, p: float = 0.001, lead: float = 0.25) -> None:
        self.p, self.lead = share(p, name="p"), share(lead, name="lead")

    def findings(self, panel: Panel) -> list[Finding]:
        """Raters who lean to a side."""
        from scipy.stats import binomtest

        found = []
        for rater_id, votes in panel.of_rater.items():
            places = [
                vote.shown.index(vote.choice)
                for vote in votes
                if vote.purpose == "vote" and len(vote.shown) == 2 and vote.choice in vote.shown
            ]
            left, n = places.count(0), len(places)
            if n and abs(left / n - 0.5) > self.lead and (p := binomtest(left, n).pvalue) < self.p:
                found.append(Finding(rater_id, f"chose left {left} times of {n} (p = {p:.2g})"))
        return found


class FasterThanClip(ScreeningRule):
    """Answers that came too soon by the server's clock, whatever the browser says it showed.

    Single answers of that kind never count (see ``Vote.too_soon``); who gives many of them is flagged with all of theirs.

    Args:
        share_too_soon: from this share of the timed answers on, 0..1.
        least: timed answers before anything is said.
    """

    name = "faster_than_clip"
    version = "1"
    title = "Faster than the clip"

    def __init__(self, *, share_too_soon: float = 0.1, least: int = 10) -> None:
        self.share_too_soon = share(share_too_soon, name="share_too_soon")
        self.least = at_least(least, name="least")

    def findings(self, panel: Panel) -> list[Finding]:
        """Raters who cannot have watched."""
        found = []
        for rater_id, votes in panel.of_rater.items():
            timed = [vote.too_soon for vote in votes if vote.available_seconds is not None]
            if len(timed) >= self.least and sum(timed) >= max(self.share_too_soon * len(timed), 1):
                found.append(Finding(rater_id, f"{sum(timed)} of {len(timed)} answers came before the clip was over"))
        return found


class SignsOfAProgram(ScreeningRule):
    """What browsers tell of hands, and times: signs that a program answers, which may well pass known answers.

    A sign is: a button was pressed that people cannot see and that asks programs to press it (a honeypot, as in Goodrich et al.
    2023; language models read the page too, Rilla et al. 2025); the browser says that a program drives it; half of the answers
    have nothing but events that a script made, or mouse clicks to which the pointer jumped (a move a click at most); the middle
    half of the answers took as long, within ``regular`` seconds; ``missed`` answers are not what the pictures themselves asked
    for (``honey`` of ``[crowd]``). Who follows 97 of 100 misses two of two in 0.1 % of cases, who chooses A or B by lot in 25 %,
    who gives the known answer always; programs that read pictures miss none. Assistive technology drives pages too, and programs
    can hide all of this: the rule only proposes.

    Args:
        regular: seconds between the quartiles of the times, below which a rater is flagged.
        least: answers before anything is said of half of them.
        missed: tasks whose pictures say what to choose, answered otherwise.
    """

    name = "signs_of_a_program"
    version = "1"
    title = "Signs of a program"
    only_proposes = "assistive technology gives such signs too"

    def __init__(self, *, regular: float = 0.1, least: int = 10, missed: int = 2) -> None:
        self.regular, self.least = share(regular, name="regular"), at_least(least, name="least", least=4)
        self.missed = at_least(missed, name="missed", least=2)

    def findings(self, panel: Panel) -> list[Finding]:
        """Raters with a sign."""
        said = {rater_id: "; ".join(signs) for rater_id, votes in panel.of_rater.items() if (signs := self._signs(panel, votes))}
        return panel.findings(said)

    def _signs(self, panel: Panel, votes: Sequence[Vote]) -> list[str]:
        told = [Counter(vote.seen) for vote in votes if vote.seen is not None and "driven" in vote.seen]
        clicked = [of for of in told if of["presses"] and not of["keys"] + of["touches"]]
        times = [vote.seconds for vote in votes if vote.seconds is not None]
        signs = [
            f"{words} with {n} of {len(told)} answers"
            for words, n in (
                ("pressed what people cannot see", sum(of["trapped"] > 0 for of in told)),
                ("a program drove the browser", sum(of["driven"] for of in told)),
            )
            if n
        ]
        for words, some in (
            ("answers have nothing but a script's events", [not of["keys"] + of["presses"] + of["touches"] for of in told]),
            ("answers by mouse were jumped to", [of["moves"] <= of["presses"] for of in clicked]),
        ):
            if len(some) >= self.least and 2 * sum(some) >= len(some):
                signs.append(f"{sum(some)} of {len(some)} {words}")
        if len(times) >= self.least and (apart := float(np.subtract(*np.quantile(times, (0.75, 0.25))))) < self.regular:
            signs.append(f"half of {len(times)} answers took as long within {apart:.2f} s")
        followed = [is_right(panel.study, vote) for vote in votes if vote.purpose == "honey"]
        if (missed := followed.count(False)) >= self.missed:
            signs.append(f"{missed} of {len(followed)} answers are not what the pictures asked for")
        return signs


# Kinds of answers that vary in any honest work; a folder may well hold nothing but clips to keep.
_VARYING = ("pair", "best", "grade")


class StraightLining(ScreeningRule):
    """A run of one answer longer than a rater's own answers, in random order, would make; or hardly any other answer at all.

    Answers are the buttons: places of pairs, grades. Runs are compared with independent draws by the rater's own shares, question
    by question; nearly constant answers are a fault of comparisons and grades alone.

    Args:
        quantile: of the longest run by chance, beyond which a rater is flagged, 0..1.
        commonest: share of one answer from which it is called constant, 0..1.
        least: answers to a question before anything is said of it.
    """

    name = "straight_lining"
    version = "1"
    title = "Straight lines"

    def __init__(self, *, quantile: float = 0.999, commonest: float = 0.9, least: int = 15) -> None:
        self.quantile, self.commonest = share(quantile, name="quantile"), share(commonest, name="commonest")
        self.least = at_least(least, name="least")

    def findings(self, panel: Panel) -> list[Finding]:
        """Raters who press one button."""
        said: dict[str, str] = {}
        for label, votes in panel.of_question.items():
            part = panel.study.question_of[label].parts()[0].name
            pressed: dict[str, list[str]] = {}
            for vote in votes:
                pressed.setdefault(vote.rater_id, []).append(vote.given.get(part, vote.choice))
            for rater_id, buttons in pressed.items():
                if len(buttons) >= self.least and (reason := self._reason(buttons, varying=panel.kind(label) in _VARYING)):
                    said.setdefault(rater_id, reason)
        return panel.findings(said)

    def _reason(self, buttons: Sequence[str], *, varying: bool) -> str | None:
        counts = Counter(buttons)
        button, most = counts.most_common(1)[0]
        if varying and most >= self.commonest * len(buttons):
            return f"{most} of {len(buttons)} answers are {button!r}"
        run, of = max((len(list(same)), name) for name, same in groupby(buttons))
        if len(counts) > 1 and longest_run_below(run, counts, draws=len(buttons)) > self.quantile:
            return f"{run} times {of!r} in a row, of {len(buttons)} answers"
        return None


def longest_run_below(length: int, counts: Mapping[str, int], *, draws: int) -> float:
    """Probability that ``draws`` independent draws, by shares as in ``counts``, hold no run of ``length`` equal ones."""
    shares = np.array([count for count in counts.values() if count]) / sum(counts.values())
    if length <= 1:
        return float(draws < 1)
    # [answer, length of the run so far - 1]; a new answer begins a run of its own.
    state = np.zeros((len(shares), length - 1))
    state[:, 0] = shares
    for _ in range(draws - 1):
        ends = state.sum(axis=1)
        after = np.zeros_like(state)
        after[:, 1:] = state[:, :-1] * shares[:, None]
        after[:, 0] = shares * (ends.sum() - ends)
        state = after
    return float(state.sum())


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

        counts = {}
        for rater_id, votes in panel.of_rater.items():
            wins: dict[tuple[str, str], list[tuple[str, str]]] = {}
            for vote in votes:
                if vote.purpose == "vote" and len(vote.candidates) == 2 and vote.choice in vote.candidates:
                    (other,) = (name for name in vote.candidates if name != vote.choice)
                    wins.setdefault((vote.question, vote.subject_id), []).append((vote.choice, other))
            counts[rater_id] = triads_of(wins.values())
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
