"""The same predictions give the same bytes by the metrics and protocols of wings too."""

from __future__ import annotations

from pathlib import Path

import every_metric
import pytest
from every_metric import OF_NO_PROTOCOL, measured_here, of_a_wing
from laid_out import BYTES_APART, FEW_OFFSETS
from tests.eval.test_same_bytes import check_everywhere_alike, check_one_answer, data, scored_by

from inpaintbench.eval.metrics import METRICS
from inpaintbench.types import Dataset

__all__ = ["data"]
READ_NO_PIXELS = {
    "wnjd": "compares joints; pixels are its estimator's",
    "residual_text": "its detector's parameters are fetched",
}
PIXELS = [
    name for name in METRICS
    if of_a_wing(name) and measured_here(name) and name not in READ_NO_PIXELS and not METRICS.get(name).by_judge
]  # fmt: skip
PROTOCOLS = ("decaption/corrected", "editboard/corrected", "fingerprint/ridges")


@pytest.mark.parametrize("name", PIXELS)
def test_no_metric_depends_on_where_frames_lie_in_memory(name: str) -> None:
    check_everywhere_alike(name, FEW_OFFSETS)


@pytest.mark.long
@pytest.mark.parametrize("name", PIXELS)
def test_no_metric_depends_on_any_offset(name: str) -> None:
    check_everywhere_alike(name, range(BYTES_APART))


@pytest.mark.long
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_workers_and_a_kill_change_no_byte(protocol: str, tmp_path: Path, data: tuple[Path, Dataset]) -> None:
    check_one_answer(tmp_path, data, protocol, scored_by(protocol))


def test_every_metric_is_tried_or_says_why_not() -> None:
    # Without wings the helpers have constants of their own for what no other protocol has.
    assert {name: every_metric._published(name) for name in OF_NO_PROTOCOL} == OF_NO_PROTOCOL
    assert not [name for name in PIXELS if every_metric.runs_network(name)]
    tried = {name for protocol in PROTOCOLS for name in scored_by(protocol)}
    of_no_protocol = {name for name in OF_NO_PROTOCOL if not every_metric.runs_network(name)}
    assert {*PIXELS, *of_no_protocol} <= tried
