from __future__ import annotations

import pytest

from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.regions import ALL_REGIONS


@pytest.mark.parametrize("name", [name for name in PROTOCOLS if name.startswith("devil/")])
def test_a_listed_protocol_bears_its_name_and_builds_all_metrics_for_all_regions(name: str) -> None:
    protocol = PROTOCOLS.get(name)
    assert protocol.name == name
    metrics = protocol.build_metrics()
    assert {metric.name for metric in metrics} <= set(METRICS)
    assert all(metric.regions and set(metric.regions) <= set(ALL_REGIONS) for metric in metrics)
    whole = {metric.name for metric in metrics if set(metric.regions) == set(protocol.regions)}
    assert whole >= {"psnr", "ssim", "mse", "lpips"}
    if name not in ("devil/imperfect", "devil/mask_error"):  # which measure what single items have, of pixels alone
        assert "pcons" in whole
        assert {"pvcs", "fid", "vfid", "vfid_clips", "warp_error"} <= {metric.name for metric in metrics}


@pytest.mark.parametrize(("name", "digits"), [("devil/as-published", "0c241ebedb97"), ("devil/corrected", "3bdac9cb86e5")])
def test_published_scores_keep_their_fingerprint(name: str, digits: str) -> None:
    assert PROTOCOLS.get(name).fingerprint == digits


def test_the_two_protocols_differ_in_what_is_corrected_and_nowhere_else() -> None:
    published, corrected = PROTOCOLS.get("devil/as-published"), PROTOCOLS.get("devil/corrected")
    assert published.fingerprint != corrected.fingerprint
    differences = {
        (metric, constant): (value, corrected.metrics[metric][constant])
        for metric, constants in published.metrics.items()
        for constant, value in constants.items()
        if corrected.metrics[metric][constant] != value
    }
    networks = ("pvcs", "vfid", "vfid_clips")
    assert differences == {
        **{(metric, "averaged"): ("decibels", "errors") for metric in ("psnr", "pcons")},
        **{(metric, "ceiling_decibels"): (None, 58.92) for metric in ("psnr", "pcons")},
        **{(metric, "infinite"): ("largest_finite", "keep") for metric in ("psnr", "pcons")},
        ("ssim", "data_range"): (2.0, 1.0),
        ("pcons", "last_offset_pixels"): (19, 20),
        **{(metric, "input_low"): (0.0, -1.0) for metric in networks},
        ("warp_error", "flow"): ("raft_large", "dis"),
        ("warp_error", "size_multiple"): (64, 1),
        ("warp_error", "border"): ("clamp", "leave_out"),
    }
    assert set(corrected.metrics) - set(published.metrics) == {"flicker", "temporal_difference", "kid"}
    same = {"name", "metrics", "primary"}
    assert published.model_dump(exclude=same) == corrected.model_dump(exclude=same)
