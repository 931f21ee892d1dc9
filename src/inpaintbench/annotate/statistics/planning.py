"""How many votes a comparison needs before it starts.

Whole studies are simulated and judged as ``ranking`` judges them, but with raters pooled, which is faster and costs hardly any
precision. A study has enough votes when every two neighbours that lie at least the smallest difference apart are told apart, in
the right order, by the interval of their difference.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import stdtrit

from inpaintbench.annotate.statistics.davidson import probabilities
from inpaintbench.annotate.statistics.design import Reals
from inpaintbench.annotate.statistics.simulation import Setting, World
from inpaintbench.annotate.statistics.simulation import power as power_of
from inpaintbench.errors import InputError

# Simulated for each number of votes.
STUDIES = 400
PILOT_STUDIES = 60
# Standard errors of the simulated power by which it must lie above what is wanted.
SAFETY = 1.645
# Votes on one pair of one source, beyond which more sources are the answer.
MOST_PER_TASK = 100
CLOSE_ENOUGH = 1.06


@dataclass(frozen=True)
class Plan:
    """What a comparison needs."""

    votes: int | None
    """None with a reason where no number of votes is enough."""
    per_pair: int | None
    """Votes on each pair of methods, over all sources."""
    raters_per_task: int | None
    """Votes on each pair of each source."""
    hours: float | None
    """Of all raters together."""
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

    return float(brentq(excess, 0, 60)) if win_share > 0.5 else 0.0


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
) -> Plan:
    """Votes after which the share ``power`` of studies has told every two neighbours apart.

    Args:
        methods: log strengths that are expected, or how many methods, one smallest difference apart.
        ties: expected share of all votes, 0..1.
        raters: who take part.
        sources: whose pictures are compared.
        smallest_difference: of log strengths that matters; see ``difference_of`` for win shares.
        level: of intervals.
        power: share of studies.
        seed: of the simulation.
        seconds_per_answer: of one rater.
        world: how much sources and raters differ.

    Raises:
        InputError: a number that makes no study, or strengths of which no two are so far apart.
    """
    setting = _setting(methods, ties, raters, sources, smallest_difference, level=level, seed=seed, world=world or World())
    if not 0 < power < 1:
        raise InputError(f"the power is {power}, give a share between 0 and 1, such as 0.9")
    wanted = min(0.995, power + SAFETY * math.sqrt(power * (1 - power) / STUDIES))
    votes, reached = _fewest(setting, wanted)
    if votes is None:
        return Plan(
            None, None, None, None, reached, _too_few(setting, reached, smallest_difference=smallest_difference, power=power)
        )
    per_task = math.ceil(votes / setting.tasks)
    notes = [f"sources are taken to shift strengths by {setting.world.source_spread:g}; measure it and plan again"]
    if per_task > raters:
        notes.append(f"each rater would see a task {math.ceil(per_task / raters)} times; find {per_task} raters or more sources")
    per_pair = math.ceil(votes / len(setting.pairs))
    return Plan(votes, per_pair, per_task, votes * seconds_per_answer / 3600, reached, None, tuple(notes))


def _setting(
    methods: int | Sequence[float],
    ties: float,
    raters: int,
    sources: int,
    smallest: float,
    *,
    level: float,
    seed: int,
    world: World,
) -> Setting:
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
    quantile = float(stdtrit(sources - 1, (1 + level) / 2))
    log_nu = _log_nu(strengths, ties)
    return Setting(strengths - strengths.mean(), log_nu, raters, sources, world, apart, quantile, seed)


def _log_nu(strengths: Reals, ties: float) -> float:
    """At which the pairs tie in the share ``ties`` on average."""
    one, other = np.triu_indices(len(strengths), 1)
    apart = strengths[one] - strengths[other]
    return float(brentq(lambda t: probabilities(apart, t)[:, 2].mean() - max(ties, 1e-4), -40, 40))


def _fewest(setting: Setting, wanted: float) -> tuple[int | None, float]:
    """The fewest votes that reach the power, within 6 %, and the power; or None and what the most reach."""
    most = setting.tasks * MOST_PER_TASK
    enough = len(setting.pairs) * 8
    while enough < most and power_of(setting, enough, studies=PILOT_STUDIES) < wanted:
        enough = min(2 * enough, most)
    short = enough // 2
    while (reached := power_of(setting, enough, studies=STUDIES)) < wanted:
        if enough >= most:
            return None, reached
        short, enough = enough, min(enough * 5 // 4, most)
    while enough > short * CLOSE_ENOUGH and enough - short > 1:
        middle = round(math.sqrt(enough * short))
        found = power_of(setting, middle, studies=STUDIES)
        if found >= wanted:
            enough, reached = middle, found
        else:
            short = middle
    return enough, reached


def _too_few(setting: Setting, reached: float, *, smallest_difference: float, power: float) -> str:
    # With endless votes only the spread of sources is left, and it shrinks with their root.
    deviation = math.sqrt(2) * setting.world.source_spread / smallest_difference
    needed = max(2 * setting.sources, math.ceil((deviation * (1.96 + 1.65)) ** 2))
    return (
        f"{setting.sources} sources are too few: even {MOST_PER_TASK} votes on each pair of each source tell the methods apart "
        f"in {reached:.0%} of studies, {power:.0%} are wanted; plan with about {needed} sources, or for a larger difference"
    )
