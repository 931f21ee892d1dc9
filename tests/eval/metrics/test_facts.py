"""What tables, ranks and reports go by: which way is better, how many digits are printed, what takes several frames."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from every_metric import built, measured_here
from tiny_networks import add_tiny_clip, edited, noise

from inpaintbench.eval.metrics import METRICS

FACTS = {
    "psnr": (True, 2, 1),
    "ssim": (True, 4, 1),
    "mse": (False, 6, 1),
    "pcons": (True, 2, 2),
    "hole_sharpness": (True, 3, 1),
    "flicker": (False, 5, 2),
    "temporal_difference": (False, 5, 2),
    "warp_error": (False, 6, 2),
    "lpips": (False, 6, 1),
    "pvcs": (False, 4, 2),
    "fid": (False, 2, 1),
    "kid": (False, 6, 1),
    "vfid": (False, 4, 2),
    "vfid_clips": (False, 4, 2),
    "p_ids": (True, 4, 1),
    "u_ids": (True, 4, 1),
    "lama_f1": (True, 4, 1),
    "dssim": (False, 4, 1),
    "ff_alpha": (False, 3, 2),
    "ff_beta": (False, 4, 2),
    "semantic_score": (False, 3, 1),
    "success_rate": (True, 3, 1),
    "clip_similarity": (True, 4, 1),
    "subject_consistency": (True, 4, 2),
    "background_consistency": (True, 4, 2),
    "aesthetic_quality": (True, 4, 1),
    "imaging_quality": (True, 4, 1),
    "musiq": (True, 2, 1),
    "effect_removed": (True, 3, 1),
    "effect_residual": (False, 3, 1),
    "background_preserved": (True, 2, 1),
    "rc_s": (True, 4, 1),
    "rc_t": (False, 4, 2),
    "cmmd": (False, 4, 1),
    "dreamsim": (False, 4, 1),
    "structure_distance": (False, 5, 1),
    "remove": (True, 4, 1),
    "cfd": (False, 4, 1),
    "dover": (True, 4, 1),
    "jedi": (False, 4, 1),
    "second_moment": (False, 6, 2),
    "fvmd": (False, 2, 16),
    "xpsnr": (True, 2, 2),
    "judge": (True, 3, 1),
    "par": (False, 4, 1),
    "niqe": (False, 3, 1),
    "temporal_flickering": (True, 4, 2),
    "motion_fidelity": (True, 4, 2),
    "masked_psnr": (True, 2, 1),
    "masked_ssim": (True, 4, 1),
    "masked_lpips": (False, 6, 1),
    "masked_mse": (False, 6, 1),
    "masked_mae": (False, 6, 1),
    "clip_score": (True, 4, 1),
    "clip_neighbours": (True, 4, 2),
}
"""Metric -> whether higher is better, decimals, the fewest frames of an item that it measures."""
PLAIN = [name for name in METRICS if measured_here(name) and not METRICS.get(name).of_sets]
OF_FRAMES_OR_HOLES = [name for name in PLAIN if {*METRICS.get(name).answers} <= {"frame", "hole"}]


@pytest.fixture(autouse=True)
def _tiny_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    add_tiny_clip(monkeypatch)


def test_every_metric_states_what_is_expected_of_it() -> None:
    told = {name: (leaf.higher_is_better, leaf.decimals, leaf.fewest_frames) for name in METRICS if (leaf := METRICS.get(name))}
    assert {name: told[name] for name in FACTS} == FACTS
    # A new one is expected nothing of but facts of their kinds.
    for name, (higher_is_better, decimals, fewest_frames) in told.items():
        assert higher_is_better in (True, False), name
        assert 0 <= decimals <= 6, name
        assert fewest_frames >= 1, name


def test_values_of_every_metric_lie_between_two_bounds() -> None:
    for low, high in (METRICS.get(name).bounds for name in METRICS):
        assert low < high


@pytest.mark.parametrize("name", [name for name in METRICS if METRICS.get(name).brings])
def test_what_a_user_brings_stands_on_its_page(name: str) -> None:
    page = (Path(__file__).parents[3] / "docs" / "metrics.md").read_text()
    [variable] = re.findall(r"`(INPAINTBENCH_\w+)`", METRICS.get(name).brings)
    assert f"| `{variable}` |" in page
    assert METRICS.get(name).state()


@pytest.mark.parametrize("name", PLAIN)
def test_many_items_have_the_mean_of_their_values(name: str) -> None:
    assert built(name).reduce([0.25, 0.75]) == pytest.approx(0.5)
    assert built(name).reduce([]) is None


@pytest.mark.parametrize("name", OF_FRAMES_OR_HOLES)
def test_where_no_region_is_asked_for_that_it_answers_there_is_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    metric = built(name)
    monkeypatch.setattr(metric, "regions", ())
    frames = noise(3, 40, 40)
    assert metric.measure(edited(frames, truth=frames, composite=frames, hole=np.ones((3, 40, 40), bool))) == {}
