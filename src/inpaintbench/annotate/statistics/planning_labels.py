"""How many answers labels and selections need before a study starts."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from inpaintbench.annotate.statistics.design import Ints, Reals
from inpaintbench.errors import InputError

SIMULATED_ITEMS = 4000
MOST_RATERS = 60


@dataclass(frozen=True)
class LabelPlan:
    """What labels need."""

    raters_per_item: int | None
    """None with a reason where no number up to 60 is enough."""
    votes: int | None
    hours: float | None
    agreement: float
    """Expected share of pairs of raters who give the same answer."""
    half_width: float
    """Of the interval of that agreement, with these raters, or with the most that were tried."""
    right: float
    """Share of items whose median is within the tolerance of what endless raters would give."""
    reason: str | None


@dataclass(frozen=True)
class SelectionPlan:
    """What picking the best of several needs."""

    tasks: int
    votes: int
    hours: float


def plan_labels(
    *,
    items: int,
    options: int,
    spread: float,
    half_width: float = 0.05,
    within: int = 0,
    right: float = 0.9,
    level: float = 0.95,
    seed: int,
    seconds_per_answer: float = 8.0,
) -> LabelPlan:
    """Raters an item needs on an ordered scale, so that agreement is known well enough and medians are right.

    Items are spread evenly over the scale; a rater answers the step nearest to the item's own place plus a normal error.

    Args:
        items: to be labelled.
        options: steps of the scale, at least 2.
        spread: standard deviation of a rater's error, in steps.
        half_width: wanted of the interval of the agreement, over items.
        within: steps that a median may be off.
        right: wanted share of items whose median is not further off.
        level: of the interval.
        seed: of the simulation.
        seconds_per_answer: of one rater.

    Raises:
        InputError: a number that makes no study.
    """
    if items < 2 or options < 2 or spread <= 0 or half_width <= 0 or not 0 < right < 1:
        raise InputError(
            f"items {items}, options {options}, spread {spread}, half width {half_width} or right {right} is out of range "
            "(2 or more, 2 or more, above 0, above 0, 0..1)"
        )
    rng = np.random.default_rng(seed)
    places = rng.uniform(-0.5, options - 0.5, SIMULATED_ITEMS)
    answers = _answers(places, rng, options=options, spread=spread)
    truth = np.clip(np.rint(places), 0, options - 1)
    quantile = float(ndtri((1 + level) / 2))
    for raters in range(2, MOST_RATERS + 1):
        given = answers[:, :raters]
        agreed = _agreement(given, options)
        found_width = quantile * float(agreed.std(ddof=1)) / math.sqrt(items)
        hit = float((np.abs(_lower_median(given) - truth) <= within).mean())
        if found_width <= half_width and hit >= right:
            votes = raters * items
            return LabelPlan(raters, votes, votes * seconds_per_answer / 3600, float(agreed.mean()), found_width, hit, None)
    what = (
        f"the interval stays {found_width:.3f} wide to each side"
        if found_width > half_width
        else f"{hit:.0%} of medians are right"
    )
    reason = f"even with {MOST_RATERS} raters an item {what}; take more items, allow a step more, or give clearer instructions"
    return LabelPlan(None, None, None, float(agreed.mean()), found_width, hit, reason)


def _answers(places: Reals, rng: np.random.Generator, *, options: int, spread: float) -> Ints:
    """``int64[items, MOST_RATERS]``."""
    noisy = places[:, None] + rng.normal(0, spread, (len(places), MOST_RATERS))
    return np.clip(np.rint(noisy), 0, options - 1).astype(np.int64)


def _agreement(answers: Ints, options: int) -> Reals:
    """``float64[items]``: share of the pairs of raters that agree."""
    raters = answers.shape[1]
    counts = np.stack([(answers == option).sum(axis=1) for option in range(options)], axis=1)
    same: Reals = (counts * (counts - 1)).sum(axis=1) / (raters * (raters - 1))
    return same


def _lower_median(answers: Ints) -> Ints:
    middle: Ints = np.sort(answers, axis=1)[:, (answers.shape[1] - 1) // 2]
    return middle


def plan_selection(
    *,
    half_width: float,
    raters_per_task: int = 1,
    frequency: float = 0.5,
    tasks_per_source: int = 1,
    correlation: float = 0.3,
    level: float = 0.95,
    seconds_per_answer: float = 12.0,
) -> SelectionPlan:
    """Tasks that a selection frequency needs to be known within ``half_width``.

    A task counts once however many raters it had, so more raters make it surer which method a task goes to, but only more tasks
    make the interval smaller.

    Args:
        half_width: of the interval, as a share.
        raters_per_task: who choose.
        frequency: expected of the method; 0.5 needs the most tasks.
        tasks_per_source: that hang together.
        correlation: between the tasks of a source, 0..1.
        level: of the interval.
        seconds_per_answer: of one rater.

    Raises:
        InputError: a share outside 0..1, or fewer than one rater or task.
    """
    if (
        not 0 < half_width < 0.5
        or not 0 < frequency < 1
        or not 0 <= correlation <= 1
        or min(raters_per_task, tasks_per_source) < 1
    ):
        raise InputError(
            f"half width {half_width}, frequency {frequency}, correlation {correlation}, {raters_per_task} raters or "
            f"{tasks_per_source} tasks per source is out of range (0..0.5, 0..1, 0..1, 1 or more, 1 or more)"
        )
    # Kish's design effect of clusters of one size.
    variance = frequency * (1 - frequency) * (1 + (tasks_per_source - 1) * correlation)
    tasks = math.ceil(float(ndtri((1 + level) / 2)) ** 2 * variance / half_width**2)
    votes = tasks * raters_per_task
    return SelectionPlan(tasks, votes, votes * seconds_per_answer / 3600)
