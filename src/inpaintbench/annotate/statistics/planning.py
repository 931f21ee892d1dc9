"""Votes that comparisons, labels and selections need, before a study starts.

For comparisons whole studies are simulated, many at once, and judged as ``ranking`` judges them, but with raters pooled,
which is faster and costs hardly any precision. A study has enough votes when every two neighbours that lie at least the
smallest difference apart are told apart, in the right order, and so far that each keeps its rank when a method is judged
against all others at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from inpaintbench.annotate.statistics.davidson import Design, Ints, Reals, fit, probabilities
from inpaintbench.claims import too_few
from inpaintbench.errors import InputError
from inpaintbench.lazily import lazily

optimize, special = lazily("scipy.optimize"), lazily("scipy.special")  # half a second, and most commands plan nothing

# Votes, and rows of all jackknife fits, that are held in memory at once.
CHUNK_VOTES, CHUNK_FITS = 400_000, 200_000


@dataclass(frozen=True)
class World:
    """Assumed differences between raters and between sources; standard deviations in log units."""

    source_spread: float = 0.3
    """Spread of a method's strength between sources."""
    bias_spread: float = 0.3
    """Spread of raters' bias towards one side."""
    tie_spread: float = 0.5
    """Spread of raters' log nu, their readiness to call a tie."""


@dataclass(frozen=True, eq=False)
class Setting:
    """A study to be simulated."""

    strengths: Reals
    log_nu: float
    raters: int
    sources: int
    world: World
    apart: tuple[tuple[int, int], ...]
    standard_errors_apart: float
    """By which a method leads another for certain."""
    seed: int

    @property
    def pairs(self) -> Ints:
        """``int64[pairs, 2]``: the better method first."""
        return np.array(list(combinations(range(len(self.strengths)), 2)), np.int64)

    @property
    def tasks(self) -> int:
        """Pairs of all sources."""
        return len(self.pairs) * self.sources


def power_of(setting: Setting, votes: int, *, studies: int) -> float:
    """Share of so many simulated studies that have enough with ``votes`` votes.

    The first votes of a study are the same whatever their number, so that more votes tell more, and the first studies are the
    same whatever theirs.
    """
    both = np.concatenate([setting.pairs, setting.pairs[:, ::-1]])
    design = Design(len(setting.strengths), both[:, 0], both[:, 1], np.zeros(len(both), np.int64))
    world, methods = setting.world, len(setting.strengths)
    # Effects of sources and raters are the same whatever the number of votes, so that numbers of votes compare fairly.
    bias_rng, tie_rng, source_rng = np.random.default_rng(setting.seed).spawn(3)
    effects = _Effects(
        setting.strengths + source_rng.normal(0, world.source_spread, (studies, setting.sources, methods)),
        bias_rng.normal(0, world.bias_spread, (studies, setting.raters)),
        tie_rng.normal(setting.log_nu, world.tie_spread, (studies, setting.raters)),
    )
    fits_at_once = max(1, CHUNK_FITS // (setting.sources * len(design.first)))
    at_once = max(1, min(studies, CHUNK_VOTES // votes, fits_at_once))
    apart: list[bool] = []
    for start in range(0, studies, at_once):
        some = _Effects(*(effect[start : start + at_once] for effect in effects))
        counts = _counts(setting, votes, some, first_study=start)
        total, sources = counts.sum(axis=1), setting.sources
        fitted = fit(design, total)
        left = fit(design, (total[:, None] - counts).reshape(len(counts) * sources, -1, 3), start=fitted)
        better, worse = np.array(setting.apart).T
        lead = fitted.strengths[:, better] - fitted.strengths[:, worse]
        strengths = left.strengths.reshape(len(counts), sources, -1)
        moved = strengths[..., better] - strengths[..., worse] - lead[:, None]
        errors = np.sqrt((sources - 1) / sources * np.square(moved).sum(axis=1))
        apart += (lead > setting.standard_errors_apart * errors).all(axis=1).tolist()
    return float(np.mean(apart))


class _Effects(NamedTuple):
    strengths: Reals
    """``float64[studies, sources, methods]``."""
    bias: Reals
    """``float64[studies, raters]``."""
    log_nu: Reals


def _counts(setting: Setting, votes: int, effects: _Effects, *, first_study: int) -> Reals:
    """``float64[studies, sources, rows, 3]``: every task gets its votes in turn; sides and raters are drawn."""
    pairs, studies = setting.pairs, len(effects.bias)
    turns, draws = np.empty((studies, setting.tasks), np.int64), np.empty((studies, votes, 3))
    for number in range(studies):
        rng = np.random.default_rng([setting.seed, first_study + number])
        turns[number], draws[number] = rng.permutation(setting.tasks), rng.random((votes, 3))
    # The last, unfinished round of votes goes to some tasks only.
    task = np.tile(turns, (1, votes // setting.tasks + 1))[:, :votes]
    source, pair = task // len(pairs), task % len(pairs)
    swapped = (draws[..., 0] < 0.5).astype(np.int64)
    rater = (draws[..., 1] * setting.raters).astype(np.int64)
    study = np.arange(studies)[:, None]
    lead = effects.strengths[study, source, pairs[pair, 0]] - effects.strengths[study, source, pairs[pair, 1]]
    shares = probabilities(np.where(swapped, -lead, lead) + effects.bias[study, rater], effects.log_nu[study, rater])
    outcome = (draws[..., 2, None] > np.cumsum(shares, axis=-1)[..., :2]).sum(axis=-1)
    rows = 2 * len(pairs)
    place = ((study * setting.sources + source) * rows + swapped * len(pairs) + pair) * 3 + outcome
    counts = np.bincount(place.ravel(), minlength=studies * setting.sources * rows * 3).astype(np.float64)
    return counts.reshape(studies, setting.sources, rows, 3)


# Simulated for each number of votes.
STUDIES = 400
# Studies for the first, rough search.
PILOT_STUDIES = 60
# Standard errors of the simulated power by which it must lie above what is wanted.
SAFETY = 1.645
# Votes on one pair of one source, beyond which more sources are the answer.
MOST_PER_TASK = 100
# Draws of the largest of several differences: its quantiles at 95 % are known to 0.01 standard errors.
LARGEST_DRAWS = 100_000
# From so many on, more sources hardly bring the quantiles of Student's t down.
MANY_SOURCES = 60
# Ratio of two numbers of votes at which the search ends: the power is known no better with so many studies.
CLOSE_ENOUGH = 1.06


@dataclass(frozen=True)
class Tried:
    """A number of votes that was tried, and where the number that is looked for lies since."""

    votes: int
    enough: float
    """Share of the simulated studies for which it was enough."""
    studies: int
    """How many were simulated."""
    above: int
    """More votes than these are needed; 0 while that is not known."""
    at_most: int | None
    """No more than these are; None while that is not known."""


@dataclass(frozen=True)
class Plan:
    """Votes and time that a comparison needs."""

    votes: int | None
    """None with a reason where no number of votes is enough."""
    per_pair: int | None
    """Votes on each pair of methods, over all sources."""
    raters_per_task: int | None
    """Votes on each pair of each source."""
    hours: float | None
    """Working time of all raters together."""
    power: float
    """Share of the simulated studies for which these votes, or the most that were tried, were enough."""
    reason: str | None
    notes: tuple[str, ...] = ()


def difference_of(win_share: float, *, ties: float = 0.0) -> float:
    """The difference of log strengths at which the better of two methods has ``win_share`` of the votes, ties counted half.

    Args:
        win_share: 0.5..1, e.g. 0.55 for 55 % against 45 %.
        ties: share of ties between equal methods, 0..1.

    Raises:
        InputError: no difference gives that share.
    """
    if not 0.5 <= win_share < 1 or not 0 <= ties < 1:
        raise InputError(f"a win share of {win_share} with {ties} ties is not possible; give 0.5 <= share < 1 and 0 <= ties < 1")
    log_nu = math.log(max(2 * ties / (1 - ties), 1e-12))

    def excess(difference: float) -> float:
        first, _, tie = probabilities(difference, log_nu)
        return float(first + tie / 2) - win_share

    return float(optimize.brentq(excess, 0, 60)) if win_share > 0.5 else 0.0


def plan(
    *,
    methods: int | Sequence[float],
    ties: float,
    raters: int,
    sources: int,
    smallest_difference: float,
    level: float = 0.95,
    power: float = 0.9,
    seed: int,
    seconds_per_answer: float = 8.0,
    world: World | None = None,
    tell: Callable[[Tried], None] | None = None,
) -> Plan:
    """Votes after which the share ``power`` of studies has told every two neighbours apart.

    Args:
        methods: log strengths that are expected, or how many methods, one smallest difference apart.
        ties: expected share of all votes, 0..1.
        raters: who take part.
        sources: whose pictures are compared.
        smallest_difference: of log strengths that matters; see ``difference_of`` for win shares.
        level: of intervals and ranks.
        power: share of studies.
        seed: of the simulation.
        seconds_per_answer: of one rater.
        world: how much sources and raters differ.
        tell: hears of every number of votes that was tried.

    Raises:
        InputError: a number that makes no study, or strengths of which no two are so far apart.
    """
    setting = _setting(methods, ties, raters, sources, smallest_difference, level=level, seed=seed, world=world or World())
    if not 0 < power < 1:
        raise InputError(f"the power is {power}, give a share between 0 and 1, such as 0.9")
    if few := too_few(sources):
        return Plan(None, None, None, None, 0.0, few)
    wanted = min(0.995, power + SAFETY * math.sqrt(power * (1 - power) / STUDIES))
    votes, reached = _fewest(setting, wanted, tell=tell)
    if votes is None:
        reason = _too_few(setting, reached, smallest_difference=smallest_difference, level=level, power=power)
        return Plan(None, None, None, None, reached, reason)
    per_task = math.ceil(votes / setting.tasks)
    notes = [f"sources are taken to shift strengths by {setting.world.source_spread:g}; measure it and plan again"]
    if per_task > raters:
        notes.append(f"each rater would see a task {math.ceil(per_task / raters)} times; find {per_task} raters or more sources")
    per_pair = math.ceil(votes / len(setting.pairs))
    return Plan(votes, per_pair, per_task, votes * seconds_per_answer / 3600, reached, None, tuple(notes))


def _setting(
    methods: int | Sequence[float], ties: float, raters: int, sources: int, smallest: float, *, level: float, seed: int,
    world: World,
) -> Setting:  # fmt: skip
    planned = np.arange(methods) * smallest if isinstance(methods, int) else np.array(methods, np.float64)
    strengths = np.sort(planned)[::-1]
    for what, value, least in (("methods", len(strengths), 2), ("sources", sources, 2), ("raters", raters, 1)):
        if value < least:
            raise InputError(f"{value} {what} are too few, a comparison needs {least}")
    if not 0 <= ties < 0.9 or not smallest > 0 or not 0 < level < 1:
        raise InputError(f"ties {ties}, smallest difference {smallest} or level {level} is out of range (0..0.9, above 0, 0..1)")
    apart = tuple((a, a + 1) for a in range(len(strengths) - 1) if strengths[a] - strengths[a + 1] >= smallest - 1e-9)
    if not apart:
        raise InputError(
            f"no two neighbours of the strengths {strengths.tolist()} lie {smallest} apart; plan for a smaller difference"
        )
    first, second = np.triu_indices(len(strengths), 1)
    leads = strengths[first] - strengths[second]
    # Log nu at which the pairs tie in the share `ties` on average; without any it would be minus infinity.
    log_nu = float(optimize.brentq(lambda t: probabilities(leads, t)[:, 2].mean() - max(ties, 1e-4), -40, 40))
    needed = _standard_errors_apart(level, sources - 1, others=len(strengths) - 1)
    return Setting(strengths - strengths.mean(), log_nu, raters, sources, world, apart, needed, seed)


def _standard_errors_apart(level: float, degrees: int, *, others: int) -> float:
    """Standard errors by which a method must lead for a rank of its own among ``others``, as ``ranking`` demands.

    The quantile of the largest of all its differences, which share its own strength (Dunnett 1955); Student's t for one other.
    """
    rng = np.random.default_rng(0)
    own, rest = rng.standard_normal((LARGEST_DRAWS, 1)), rng.standard_normal((LARGEST_DRAWS, others))
    scale = np.sqrt(2 * rng.chisquare(degrees, (LARGEST_DRAWS, 1)) / degrees)
    return float(np.quantile((np.abs(own - rest) / scale).max(axis=1), level))


def _fewest(setting: Setting, wanted: float, *, tell: Callable[[Tried], None] | None) -> tuple[int | None, float]:
    """The fewest votes that reach the power, within 6 %, and the power; or None and what the most reach."""
    short, enough = 0, None

    def reached_by(votes: int, studies: int) -> float:
        nonlocal short, enough
        share = power_of(setting, votes, studies=studies)
        if studies == STUDIES:  # fewer are a hint
            short, enough = (short, votes) if share >= wanted else (votes, enough)
        if tell is not None:
            tell(Tried(votes, share, studies, short, enough))
        return share

    most = setting.tasks * MOST_PER_TASK
    votes = len(setting.pairs) * 8
    while votes < most and reached_by(votes, PILOT_STUDIES) < wanted:
        votes = min(2 * votes, most)
    while (reached := reached_by(votes, STUDIES)) < wanted:
        if votes >= most:
            return None, reached
        votes = min(votes * 5 // 4, most)
    short = short or votes // 2
    while votes > short * CLOSE_ENOUGH and votes - short > 1:
        share = reached_by(round(math.sqrt(votes * short)), STUDIES)
        if share >= wanted:
            assert enough is not None
            votes, reached = enough, share
    return votes, reached


def _too_few(setting: Setting, reached: float, *, smallest_difference: float, level: float, power: float) -> str:
    apart = _standard_errors_apart(level, MANY_SOURCES - 1, others=len(setting.strengths) - 1)
    # With endless votes only the spread of sources is left, and it shrinks with their root.
    deviation = math.sqrt(2) * setting.world.source_spread / smallest_difference
    needed = max(2 * setting.sources, math.ceil((deviation * (apart + 1.65)) ** 2))
    return (
        f"{setting.sources} sources are too few: even {MOST_PER_TASK} votes on each pair of each source tell the methods apart "
        f"in {reached:.0%} of studies, {power:.0%} are wanted; plan with about {needed} sources, or for a larger difference"
    )


# Simulated items: shares are known to 0.8 percentage points (standard error).
SIMULATED_ITEMS = 4000
# Raters of an item that are tried; nobody asks more.
MOST_RATERS = 60


@dataclass(frozen=True)
class LabelPlan:
    """Raters and time that labels need."""

    raters_per_item: int | None
    """None with a reason where no number up to 60 is enough."""
    votes: int | None
    hours: float | None
    agreement: float
    """Expected share of pairs of raters who give the same answer."""
    half_width: float
    """Half width of the interval of that agreement, with these raters, or with the most that were tried."""
    right: float
    """Share of items whose median is within the tolerance of what endless raters would give."""
    reason: str | None


@dataclass(frozen=True)
class SelectionPlan:
    """Tasks and time that picking the best of several needs."""

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
    noisy = places[:, None] + rng.normal(0, spread, (len(places), MOST_RATERS))
    answers = np.clip(np.rint(noisy), 0, options - 1).astype(np.int64)  # [items, raters]
    truth = np.clip(np.rint(places), 0, options - 1)
    quantile = float(special.ndtri((1 + level) / 2))
    for raters in range(2, MOST_RATERS + 1):
        given = answers[:, :raters]
        counts = np.stack([(given == option).sum(axis=1) for option in range(options)], axis=1)
        agreed = (counts * (counts - 1)).sum(axis=1) / (raters * (raters - 1))  # of each item, over pairs of raters
        found_width = quantile * float(agreed.std(ddof=1)) / math.sqrt(items)
        lower_median = np.sort(given, axis=1)[:, (raters - 1) // 2]
        hit = float((np.abs(lower_median - truth) <= within).mean())
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
    tasks = math.ceil(float(special.ndtri((1 + level) / 2)) ** 2 * variance / half_width**2)
    votes = tasks * raters_per_task
    return SelectionPlan(tasks, votes, votes * seconds_per_answer / 3600)
