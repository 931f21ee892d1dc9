from __future__ import annotations

import pytest

from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.results.quantity import Quantity, metric_label, quantity_label
from inpaintbench.wings.align.page import label_of


@pytest.mark.parametrize("quantity", [Quantity("psnr", "hole"), Quantity("lpips", "frame"), Quantity("hole_sharpness", "band")])
def test_a_metric_of_answers_is_called_as_a_report_calls_it(quantity: Quantity) -> None:
    assert label_of(f"{quantity.metric}/{quantity.region}") == quantity_label(quantity)


def test_wings_bring_metrics_with_names_of_their_own() -> None:
    labels = [metric_label(name) for name in METRICS]
    assert len(set(labels)) == len(labels) > 50
