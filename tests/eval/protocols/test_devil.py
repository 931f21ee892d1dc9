from __future__ import annotations

import pytest

from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.regions import REGIONS


@pytest.mark.parametrize("name", [name for name in PROTOCOLS if name.startswith("devil/")])
def test_a_listed_protocol_bears_its_name_and_builds_all_metrics_for_all_regions(name: str) -> None:
    protocol = PROTOCOLS.get(name)
    assert protocol.name == name
    metrics = protocol.build_metrics()
    assert {metric.name for metric in metrics} == set(METRICS)
    assert all(metric.regions == REGIONS for metric in metrics)


@pytest.mark.parametrize(("name", "digits"), [("devil/as-published", "8201941d33ee"), ("devil/corrected", "45371dfcb487")])
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
    assert differences == {
        ("psnr", "infinite"): ("largest_finite", "count"),
        ("ssim", "data_range"): (2.0, 1.0),
        ("pcons", "last_offset_pixels"): (19, 20),
        ("pcons", "infinite"): ("largest_finite", "count"),
    }
    same = {"name", "metrics"}
    assert published.model_dump(exclude=same) == corrected.model_dump(exclude=same)
