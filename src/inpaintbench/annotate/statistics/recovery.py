"""Quality of clips from grades, with each rater's bias and inconsistency taken into account.

The model of ITU-T P.910 (10/2023, Appendix VI) and P.913: grade = quality of the clip + bias of the rater + their inconsistency
times noise. Its published iteration collapses in small panels: one rater's variance goes to zero, their weight to infinity, and
the qualities become their grades (74 % of simulated panels of six raters). Hence a floor of the variance, and no panels below 8.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from inpaintbench.errors import InputError

Reals = npt.NDArray[np.float64]
# Least standard deviation of a rater, in steps of the scale.
FLOOR = 0.25
# Raters below which single ones decide.
FEWEST_RATERS = 8
_ROUNDS, _TOLERANCE = 1000, 1e-8
# Keeps the weight of a rater without any residual finite where there is no floor, as in the recommendation.
_LEAST_VARIANCE = 1e-8


class Recovered(NamedTuple):
    """Qualities and raters of a panel."""

    quality: Reals
    """``float64[clips]``, in grades."""
    error: Reals
    """``float64[clips]``: standard errors of ``quality``."""
    bias: Reals
    """``float64[raters]``, mean 0."""
    sigma: Reals
    """``float64[raters]``: standard deviation of what quality and bias leave over, the floor at least."""
    floored: int
    """Raters at the floor."""
    rounds: int


def recovered(grades: Reals, *, floor: float, fewest: int = FEWEST_RATERS) -> Recovered:
    """Recover the quality of clips.

    Args:
        grades: ``float64[clips, raters]``; NaN where a rater did not grade a clip. Every clip and every rater has one grade.
        floor: least standard deviation of a rater, in the unit of the grades; 0 gives the published iteration.
        fewest: raters below which nothing is recovered.

    Raises:
        InputError: too few raters, or a clip or a rater without grades.
    """
    known = ~np.isnan(grades)
    if grades.shape[1] < fewest:
        raise InputError(f"{grades.shape[1]} raters are too few to tell quality from raters, {fewest} are needed")
    if not known.any(axis=0).all() or not known.any(axis=1).all():
        raise InputError("a clip or a rater has no grade; leave it out")
    quality = np.nanmean(grades, axis=1)
    bias = np.nanmean(grades - quality[:, None], axis=0)
    for rounds in range(1, _ROUNDS + 1):  # noqa: B007 - told in the result
        residual = grades - quality[:, None] - bias
        sigma = np.maximum(np.nanstd(residual, axis=0), floor)
        weight = np.where(known, 1 / (sigma**2 + (0 if floor else _LEAST_VARIANCE)), 0.0)
        before = quality
        quality = (weight * np.where(known, grades - bias, 0.0)).sum(axis=1) / weight.sum(axis=1)
        bias = np.nanmean(grades - quality[:, None], axis=0)
        if np.linalg.norm(quality - before) < _TOLERANCE:
            break
    error = np.nanstd(residual, axis=1) / np.sqrt(known.sum(axis=1))
    shift = bias.mean()
    return Recovered(quality + shift, error, bias - shift, sigma, int((sigma <= floor).sum()) if floor else 0, rounds)
