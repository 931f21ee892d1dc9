"""Axes hold what they are given, however close it lies together."""

from __future__ import annotations

from pathlib import Path

import pytest

from inpaintbench.pages import save_chart
from inpaintbench.pages.chart import Mark, Panel, Reference, chart, scale


@pytest.mark.parametrize("values", [[58.92, 58.919999999999995], [0.0, 0.0], [5.0], [-3.0, -3.0 - 1e-14], [1e-12, 2e-12]])
def test_values_that_differ_by_rounding_have_an_axis(values: list[float]) -> None:
    ticks = scale(values, from_zero=False)
    assert ticks[0] <= min(values)
    assert ticks[-1] >= max(values)
    assert len({f"{tick:.6g}" for tick in ticks}) == len(ticks) > 1


def test_panels_without_names_of_rows_show_references(tmp_path: Path) -> None:
    marks = (Mark(0.5, "0.50", "#0072B2", few=True), Mark(0.6, "0.60", "#E69F00", few=True))
    blank = Reference("blank", (0.55, 0.55), ("0.55", "0.55"), "#7A8793")
    panel = Panel("Sharpness", "Sharpness", marks, bars=False, references=(blank,))
    drawn = chart(title="Methods", sentences=["Dots."], rows=["telea", "navier_stokes"], panels=[panel] * 4)
    assert "dashed: blank" in save_chart(drawn, tmp_path / "figure.svg").read_text()
