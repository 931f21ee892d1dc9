"""Verdict of several votes on one question.

* The answer that most votes gave wins; a draw has no answer.
* Of numbers it is the ordinary median of the votes that have one: the mean of the middle two where there are two. They agree
  with it when they are at most one step of the scale away; a median between two steps is half a step from both. Votes without a
  number decide where they are more than half, and make a draw where they are half.
* Less agreement than asked for is no answer.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Verdict:
    """Answer that several votes give, or why there is none."""

    answer: str | None
    reason: str | None
    """Why there is none, or what more there is to say."""
    votes: int
    agreement: float | None
    """Share of the votes that gave it or, of those with a number, that came near enough, 0..1; None where nobody was asked."""
    against_gold: bool = False
    """Whether there is no answer because it is known that theirs is wrong."""


def majority(choices: Sequence[str], *, least_agreement: float) -> Verdict:
    """Majority of ``choices``, at least one.

    Args:
        choices: one a vote.
        least_agreement: share of them that must be the answer, 0..1.
    """
    counts = Counter(choices).most_common()
    answer, most = counts[0]
    if len(counts) > 1 and counts[1][1] == most:
        counted = ", ".join(f"{count} {choice}" for choice, count in counts)
        return Verdict(None, f"no answer has most of the {len(choices)} votes: {counted}", len(choices), most / len(choices))
    return _checked(Verdict(answer, None, len(choices), most / len(choices)), f"{len(choices)} votes", least_agreement)


def median(choices: Sequence[str], *, steps: Sequence[str], unsure: Collection[str], least_agreement: float) -> Verdict:
    """The median of ``choices``, at least one, as a text such as ``25`` or ``17.5``.

    Args:
        choices: one a vote, each of ``steps`` or of ``unsure``.
        steps: numbers of the scale, ascending.
        unsure: choices that are no number.
        least_agreement: share of the votes with a number that must be at most one step from the median, 0..1.
    """
    doubts = Counter(choice for choice in choices if choice in unsure)
    places = [steps.index(choice) for choice in choices if choice not in unsure]
    votes, doubtful = len(choices), doubts.total()
    if doubtful > len(places):
        return Verdict(doubts.most_common(1)[0][0], None, votes, doubtful / votes)
    if doubtful == len(places):
        return Verdict(None, f"as many of the {votes} votes have no number as have one", votes, doubtful / votes)
    middle = statistics.median(places)
    near = sum(abs(place - middle) <= 1 for place in places)
    value = statistics.median(float(steps[place]) for place in places)
    voters = f"{len(places)} votes with a number" if doubtful else f"{votes} votes"
    return _checked(Verdict(f"{value:g}", None, votes, near / len(places)), voters, least_agreement)


def _checked(verdict: Verdict, asked: str, least_agreement: float) -> Verdict:
    """``verdict``, or that too few of those ``asked`` agree."""
    agreement = verdict.agreement or 0.0
    if agreement >= least_agreement:
        return verdict
    reason = f"{agreement:.0%} of {asked} agree, at least {least_agreement:.0%} must"
    return Verdict(None, reason, verdict.votes, agreement)
