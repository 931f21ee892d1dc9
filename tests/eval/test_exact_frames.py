"""A method that is exact somewhere is never beaten by one that is spoilt everywhere."""

from __future__ import annotations

import numpy as np
import pytest
from of_wings import names_of_the_core
from worlds import pan_clip

from inpaintbench.eval.metrics.base import Metric
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.protocols.base import CEILING_DECIBELS
from inpaintbench.eval.values.permutation import paired
from inpaintbench.eval.values.statistics import rank, summarise
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView

CORRECTED = [
    name for name in names_of_the_core(PROTOCOLS) if name.endswith("/corrected") and "psnr" in PROTOCOLS.get(name).metrics
]
FRAMES, HEIGHT, WIDTH, ITEMS = 12, 64, 80, 8
TEXT_LEVEL = np.uint8(230)
"""Not white: noise can only darken white, which brings a text that is brighter than the truth nearer to it."""
Values = dict[str, list[float | None]]


def clip(item: int) -> tuple[Frames, Hole]:
    """A truth, and where a text lies: on every third frame."""
    truth = pan_clip("coffee", pixels_per_frame=1 + item / 4, frames=FRAMES, width=WIDTH, height=HEIGHT)
    hole = np.zeros(truth.shape[:3], np.bool_)
    hole[item % 3 :: 3, 40:52, 10:70] = True
    return truth, hole


def noisy(frames: Frames, *, levels: int, seed: int) -> Frames:
    """``levels`` up or down at every pixel."""
    signs = np.random.default_rng(seed).choice([-levels, levels], frames.shape)
    return np.clip(frames.astype(int) + signs, 0, 255).astype(np.uint8)


def psnr(protocol: str) -> Metric:
    [metric] = PROTOCOLS.get(protocol).build_metrics(["psnr"])
    return metric


def value(metric: Metric, truth: Frames, hole: Hole, given: Frames) -> float | None:
    return metric.measure(ItemView.of_arrays(truth=truth, hole=hole, composite=given))["frame"].value


def check_first_is_better(protocol: str, values: Values) -> None:
    """By the mean over items, the rank and the paired test."""
    sources = [f"source {item}" for item in range(ITEMS)]
    better, worse = values
    means = {name: summarise(column, clusters=sources, infinite=rule(protocol)).mean for name, column in values.items()}
    assert float(means[better] or 0) > float(means[worse] or 0)
    assert rank(means, higher_is_better=True) == {better: 1, worse: 2}
    [test] = paired(values, sources, higher_is_better=True, seed=0, infinite=rule(protocol))
    assert (test.one, test.n, test.n_infinite) == (better, ITEMS, 0)


def rule(protocol: str) -> str:
    return PROTOCOLS.get(protocol).infinite_rule("psnr")


@pytest.mark.parametrize("protocol", CORRECTED)
def test_noise_on_frames_that_were_exact_never_pays(protocol: str) -> None:
    check_noise_never_pays(protocol)


def check_noise_never_pays(protocol: str) -> None:
    """The input as it came, exact wherever there is no text, against the same with one level of noise everywhere."""
    metric = psnr(protocol)
    values: Values = {"untouched": [], "noisy": []}
    for item in range(ITEMS):
        truth, hole = clip(item)
        shown = np.where(hole[..., None], TEXT_LEVEL, truth)
        values["untouched"].append(value(metric, truth, hole, shown))
        values["noisy"].append(value(metric, truth, hole, noisy(shown, levels=1, seed=item)))
    assert all(float(one or 0) > float(other or 0) for one, other in zip(*values.values(), strict=True))
    check_first_is_better(protocol, values)


@pytest.mark.parametrize("protocol", CORRECTED)
def test_exact_on_half_of_the_items_beats_two_levels_off_on_all(protocol: str) -> None:
    check_exact_on_half(protocol)


def check_exact_on_half(protocol: str) -> None:
    metric = psnr(protocol)
    values: Values = {"half exact": [], "two levels off": []}
    for item in range(ITEMS):
        truth, hole = clip(item)
        values["half exact"].append(value(metric, truth, hole, noisy(truth, levels=0 if item % 2 else 4, seed=item)))
        values["two levels off"].append(value(metric, truth, hole, noisy(truth, levels=2, seed=item)))
    assert values["half exact"][1] == CEILING_DECIBELS
    check_first_is_better(protocol, values)


def test_every_corrected_protocol_with_psnr_is_tried() -> None:
    assert set(CORRECTED) == {"devil/corrected"}
