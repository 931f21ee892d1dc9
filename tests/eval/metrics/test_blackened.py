"""Pictures with a black mask, as VideoPainter's and FiVE's released code measures them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tiny_networks import by_formula
from waves import MASK, image

from inpaintbench.compute import Compute, Shared
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.metrics.blackened import through_videopainter
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.view import ItemView

NAMES = ("masked_psnr", "masked_ssim", "masked_lpips", "masked_mse", "masked_mae")


def measured(name: str, protocol: str, view: ItemView) -> dict[str, Any]:
    frozen = PROTOCOLS.get(protocol)
    metric = METRICS.get(name)(regions=frozen.regions, band_radius_pixels=8, **dict[str, Any](frozen.metrics[name]))
    return {region: one.value for region, one in metric.measure(view.declaring(name, metric.parts)).items()}


def view_of(truth: np.ndarray, composite: np.ndarray, mask: np.ndarray) -> ItemView:
    shared = Shared(compute=Compute(device="cpu"))
    return ItemView.of_arrays(shared=shared, truth=truth, composite=composite, hole=mask, object_mask=mask)


@pytest.fixture
def view(monkeypatch: pytest.MonkeyPatch) -> ItemView:
    pytest.importorskip("torch")
    pytest.importorskip("lpips")
    from inpaintbench.models import lpips_networks
    from inpaintbench.models.lpips_layers import LpipsNetwork

    network = LpipsNetwork("squeeze").eval()
    network.load_state_dict(lpips_networks._translated("squeeze", {}), strict=False)
    by_formula(network.trunk)
    monkeypatch.setattr("inpaintbench.eval.metrics.lpips.lpips", lambda net, compute: network)
    return view_of(image(0)[None], image(1)[None], MASK[None])


@pytest.mark.parametrize(
    ("name", "whole", "masked", "unedited"),
    [
        ("masked_psnr", 18.76742935, 14.20880699, 19.13737679),
        ("masked_ssim", 0.859108329, 0.768485308, 0.872662485),
        ("masked_lpips", 0.0200032536, 0.0363043845, 0.0180625878),
        ("masked_mse", 0.0132817999, 0.0379419141, 0.0121972570),
        ("masked_mae", 0.0739779994, 0.109247051, None),
    ],
)
def test_what_the_released_code_gives(name: str, whole: float, masked: float, unedited: float | None, view: ItemView) -> None:
    """MetricsCalculator of VideoPainter at bbab6cd and of FiVE at 737b30e, torchmetrics 1.9, a made-up trunk of SqueezeNet."""
    found = measured(name, "vpbench/as-published", view)
    assert [found["frame"], found["hole"]] == pytest.approx([whole, masked], rel=1e-4)
    if unedited is not None:
        assert measured(name, "five/as-published", view)["object"] == pytest.approx(unedited, rel=1e-4)


def test_a_truth_loses_a_level_on_its_way() -> None:
    levels = np.arange(256)
    lost = levels - through_videopainter()
    assert set(lost.tolist()) == {0, 1}
    assert lost.sum() == 63
    assert lost[1:61].all()
    assert not lost[[0, 255]].any()


def test_what_is_black_is_not_looked_at() -> None:
    truth = np.full((2, 16, 16, 3), 100, np.uint8)
    mask = np.zeros((2, 16, 16), np.bool_)
    mask[:, :, :8] = True
    spoilt = truth.copy()
    spoilt[mask] = 7
    both = measured("masked_mse", "five/as-published", view_of(truth, spoilt, mask))
    assert both["object"] == 0
    assert both["frame"] == pytest.approx((93 / 255) ** 2 / 2)
    one_sided = [measured("masked_mse", "vpbench/as-published", view_of(truth, one, mask))["hole"] for one in (truth, spoilt)]
    assert one_sided[0] == one_sided[1] == pytest.approx((100 / 255) ** 2 / 2)
    with_everything = mask.copy()
    with_everything[:] = True
    assert measured("masked_mse", "five/as-published", view_of(truth, spoilt, with_everything))["object"] is None


def test_every_eighth_frame_is_looked_at() -> None:
    truth = np.zeros((17, 16, 16, 3), np.uint8)
    other = np.full_like(truth, 255)
    other[::8] = 0
    mask = np.zeros((17, 16, 16), np.bool_)
    mask[:, 0] = True
    assert measured("masked_mse", "five/as-published", view_of(truth, other, mask))["object"] == 0


@pytest.mark.parametrize("name", NAMES)
def test_the_weights_are_those_of_the_plain_metric(name: str) -> None:
    constants = PROTOCOLS.get("vpbench/as-published").metrics[name]
    assert METRICS.get(name).weights_of(constants) == (("squeezenet1-1",) if name == "masked_lpips" else ())
