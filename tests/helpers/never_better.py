"""Making pixels worse never makes a score better: what that means for each metric that compares with a truth, and cases of it.

"Worse" is not one thing: a metric of steadiness does not see a constant error, one of structure hardly sees a change of level. So
each metric has the claims that are theorems of its definition, and "graded", which is none but holds for noise of the same
pattern that is four times as strong. Claims are checked item by item and, since what is left out of a mean can turn it round, by
the mean over items, the rank and the direction of the paired test.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import cv2
import numpy as np
from every_metric import (
    RANDOM,
    built,
    constants_of,
    measured,
    measured_here,
    moving_picture,
    of_a_wing,
    view_of,
    wandering_hole,
)

from inpaintbench.compute import Shared
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.metrics.base import Features, Measurement
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.values.permutation import paired
from inpaintbench.eval.values.statistics import InfiniteRule, rank, summarise
from inpaintbench.types import Frames, Hole

EXACT = "exact"
"""Nothing is better than the truth itself."""
FRAMES = "frames"
"""Any damage to frames that were exact, the others as they are: of means over frames whose best value is that of the truth."""
LARGER = "larger"
"""Every error at least as large as before and of the same sign."""
SCALED = "scaled"
"""Every error a whole number of times as large: of what is homogeneous in the error."""
ERASED = "erased"
"""Whole frames become one level: of what compares structures, of which these have none."""
GRADED = "graded"
"""Noise of one pattern four times as strong; no theorem."""
_PIXELWISE = (EXACT, FRAMES, LARGER, SCALED, GRADED)
CLAIMS: Mapping[str, tuple[str, ...]] = {
    "psnr": _PIXELWISE,
    "mse": _PIXELWISE,
    "semantic_score": _PIXELWISE,
    "ssim": (EXACT, FRAMES, GRADED),
    "dssim": (EXACT, FRAMES, GRADED),
    "lpips": (EXACT, FRAMES, GRADED),
    "flicker": (EXACT, SCALED, GRADED),  # damage to one frame can make it fail like its neighbours: steady, though wrong
    "effect_removed": _PIXELWISE,
    "effect_residual": _PIXELWISE,
    "background_preserved": _PIXELWISE,
    "dreamsim": (EXACT, FRAMES),
    "structure_distance": (EXACT, FRAMES),
    "xpsnr": (EXACT, FRAMES, GRADED),  # of luma, to which errors of several channels add up
    "temporal_difference": (EXACT,),  # blur takes change away, noise brings it back
    "cmmd": (EXACT,),
    "pvcs": (EXACT,),
    "fid": (EXACT,),
    "vfid": (EXACT,),
    "vfid_clips": (EXACT,),
    "lama_f1": (EXACT,),
}
"""What holds of each metric: the strongest of the claims that are true of its definition, ``EXACT`` always."""
EXEMPT: Mapping[str, str] = {
    "warp_error": "its best value is that of a frame that moves as the flow says, which real footage does not: blur is steadier, "
    "and reports name the floors that it does not tell a method from",
    "kid": "unbiased, so below 0 by chance: what holds is how far at most, see "
    "test_an_unbiased_distance_is_below_0_by_the_spread_at_most",
    "p_ids": "by the published rule a tie is a loss, so that a perfect copy scores 0; no corrected protocol has it",
    "masked_psnr": "as published an exact frame is infinite, and every mean with it; `masked_mse` has its errors",
    "u_ids": "the share of errors of a machine fitted to the very sets: nothing bounds it by the 0.5 of equal sets",
    "ff_alpha": "the truth is the source of an edit and not its aim",
    "ff_beta": "the truth is the source of an edit and not its aim",
    "second_moment": "as `kid`",
    "jedi": "a program of the user's stands between pixels and vectors, of which holds what holds of `kid`",
    "fvmd": "a program of the user's stands between pixels and tracks, of whose vectors holds what holds of `fid`",
    "motion_fidelity": "a program of the user's stands between pixels and tracks",
    "judge": "a model answers for people; nothing bounds its taste",
}
ROUNDING = 1e-9
"""Of values, relative to 1 or to the value, whichever is more."""
ROUNDING_OF_NETWORKS = 1e-4
"""Batches of other sizes are summed in another order, and a Fréchet distance is a difference of traces."""
KINDS = ("noise", "blur", "shift", "level", "block")


class Case(NamedTuple):
    """What is done to one item."""

    seed: int
    kind: str
    """One of ``KINDS``: the damage that is there, or that is added."""
    strength: int
    """1 to 60."""
    first: tuple[bool, ...]
    """Which frames are damaged before."""
    everywhere: bool
    """Whether all pixels are hole; else a third."""


class Pair(NamedTuple):
    """One item with a prediction and a worse one."""

    truth: Frames
    hole: Hole
    better: Frames
    worse: Frames


def with_truth(names: Iterable[str]) -> list[str]:
    """Those of some metrics that rank and compare a prediction with a truth or an input, one that was added yesterday too."""
    leaves = {name: METRICS.get(name) for name in names}
    return [name for name, leaf in leaves.items() if measured_here(name) and leaf.ranked and {"truth", "input"} & set(leaf.needs)]


def claims() -> dict[str, tuple[str, ...]]:
    """Metric -> its claims."""
    known = with_truth(name for name in METRICS if not of_a_wing(name))
    return {name: CLAIMS.get(name, (EXACT,)) for name in known if name not in EXEMPT}  # of others' leaves, ``EXACT``


def damaged(frames: Frames, case: Case, *, which: Sequence[bool], seed: int) -> Frames:
    """A copy with some frames damaged."""
    rng = np.random.default_rng((case.seed, seed))
    made = frames.copy()
    for at in np.flatnonzero(which):
        made[at] = _damage(made[at], case, rng)
    return made


def _damage(frame: Frames, case: Case, rng: np.random.Generator) -> Frames:
    if case.kind == "noise":
        noise = rng.integers(-case.strength, case.strength + 1, frame.shape)
        return np.clip(frame + noise, 0, 255).astype(np.uint8)
    if case.kind == "blur":
        return np.asarray(cv2.GaussianBlur(frame, (0, 0), 0.3 + case.strength / 10), np.uint8)
    if case.kind == "shift":
        return np.roll(frame, 1 + case.strength % 6, axis=case.strength % 2)
    if case.kind == "level":
        return np.clip(frame.astype(int) + (case.strength if case.seed % 2 else -case.strength), 0, 255).astype(np.uint8)
    top, left = rng.integers(0, frame.shape[0] - 6), rng.integers(0, frame.shape[1] - 6)
    made = frame.copy()
    made[top : top + 6, left : left + 6] = rng.integers(0, 256, 3)
    return made


def _exact(truth: Frames, case: Case) -> tuple[Frames, Frames]:
    return truth, damaged(truth, case, which=case.first, seed=1)


def _frames(truth: Frames, case: Case) -> tuple[Frames, Frames]:
    before = damaged(truth, case, which=case.first, seed=1)
    return before, damaged(before, case, which=[not was for was in case.first], seed=2)


def _larger(truth: Frames, case: Case) -> tuple[Frames, Frames]:
    before = damaged(truth, case, which=case.first, seed=1)
    error = before.astype(int) - truth
    rng = np.random.default_rng((case.seed, 3))
    more = rng.integers(0, case.strength + 1, truth.shape) * (rng.random(truth.shape) < 0.5)
    signs = np.where(error, np.sign(error), rng.choice([-1, 1], truth.shape))
    return before, np.clip(before + signs * more, 0, 255).astype(np.uint8)


def _erased(truth: Frames, case: Case) -> tuple[Frames, Frames]:
    before = damaged(truth, case, which=[True] * len(truth), seed=1)
    after = before.copy()
    after[np.array(case.first)] = case.seed % 256
    return before, after


def _times(factor: int) -> Callable[[Frames, Case], tuple[Frames, Frames]]:
    def made(truth: Frames, case: Case) -> tuple[Frames, Frames]:
        # Levels are 40 to 215, so that nothing is cut off.
        most = min(case.strength, 40 // factor)
        noise = np.random.default_rng((case.seed, 4)).integers(-most, most + 1, truth.shape)
        noise *= np.array(case.first)[:, None, None, None]
        return (truth + noise).astype(np.uint8), (truth + factor * noise).astype(np.uint8)

    return made


WORSE: Mapping[str, Callable[[Frames, Case], tuple[Frames, Frames]]] = {
    EXACT: _exact, FRAMES: _frames, LARGER: _larger, SCALED: _times(2), ERASED: _erased, GRADED: _times(4),
}  # fmt: skip


def pair_of(claim: str, case: Case, *, height: int, width: int) -> Pair:
    """An item, a prediction and one that is worse in the sense of the claim."""
    count = len(case.first)
    truth = moving_picture(count, height=height, width=width, seed=case.seed % 7)
    everywhere = case.everywhere or claim == ERASED
    hole = np.ones(truth.shape[:3], np.bool_) if everywhere else wandering_hole(count, height=height, width=width)
    return Pair(truth, hole, *WORSE[claim](truth, case))


def check(name: str, claim: str, pairs: Sequence[Pair]) -> int:
    """Assert the claim of each item and of all together; how many comparisons that were."""
    metric = built(name)
    found = [_both(metric, pair) for pair in pairs]
    checked = 0
    for region in found[0][0]:
        columns = tuple([of_pair[side][region] for of_pair in found] for side in (0, 1))
        if metric.of_sets:
            columns = tuple([metric.compare(_features(column), _sources(column)).value] for column in columns)
        else:
            columns = tuple([one.value for one in column] for column in columns)
        checked += _check_values(name, claim, region, *columns)
    return checked


def _both(metric: Any, pair: Pair) -> tuple[dict[str, Measurement], dict[str, Measurement]]:
    shared = Shared(compute=RANDOM)
    better, worse = (
        measured(metric, view_of(pair.truth, pair.hole, given, shared=shared)) for given in (pair.better, pair.worse)
    )
    return better, worse


def _features(column: Sequence[Measurement]) -> list[Features]:
    return [one.features for one in column if one.features is not None]


def _sources(column: Sequence[Any]) -> list[str]:
    return [f"source {at}" for at in range(len(column))]


def rounding_of(name: str, value: float) -> float:
    """How far rounding alone may take a value."""
    networks = METRICS.get(name).weights_of(constants_of(name))
    return (ROUNDING_OF_NETWORKS if networks else ROUNDING) * max(1.0, abs(value))


def _check_values(name: str, claim: str, region: str, better: list[float | None], worse: list[float | None]) -> int:
    leaf = METRICS.get(name)
    sign = 1 if leaf.higher_is_better else -1
    where = f"{claim}: {name} in the {region}"
    for one, other in zip(better, worse, strict=True):
        assert (one is None) == (other is None), f"{where}: {one} before, {other} after"
        if one is not None and other is not None:
            assert sign * other <= sign * one + rounding_of(name, one), f"{where}: {one} before, {other} after"
    if any(one is None for one in better):
        return len(better)
    _check_together(name, where, better, worse)
    return len(better) + 1


def _check_together(name: str, where: str, better: Sequence[float | None], worse: Sequence[float | None]) -> None:
    """By the mean over items, the rank by it and the paired test."""
    higher, rule, sources = METRICS.get(name).higher_is_better, _infinite_rule(name), _sources(better)
    means = {
        label: summarise(column, clusters=sources, infinite=rule).mean for label, column in (("before", better), ("after", worse))
    }
    before, after = means["before"], means["after"]
    assert before is not None, where
    assert after is not None, where
    tolerance = rounding_of(name, before)
    assert (after - before) * (1 if higher else -1) <= tolerance, f"{where}: mean {before} before, {after} after"
    if math.isclose(before, after, rel_tol=0, abs_tol=tolerance):
        return
    assert rank(means, higher_is_better=higher) == {"before": 1, "after": 2}, where
    [test] = paired({"before": better, "after": worse}, sources, higher_is_better=higher, seed=0, infinite=rule)
    assert (test.one, test.n) == ("before", len(better)), where


def _infinite_rule(name: str) -> InfiniteRule:
    having = [found for found in map(PROTOCOLS.get, PROTOCOLS) if name in found.metrics]
    corrected = [found for found in having if found.name.endswith("/corrected")]
    return (corrected or having)[0].infinite_rule(name) if having else "count"
