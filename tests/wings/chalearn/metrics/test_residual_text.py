"""Residual text with a detector that takes dark boxes for lines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import skimage.data

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.base import Measurement
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.models import detectors, weights
from inpaintbench.view import ItemView
from inpaintbench.wings.chalearn.metrics.residual_text import ResidualText, _share_found

SHAPE = (6, 60, 120)
LINE = (slice(None), slice(40, 50), slice(20, 100))
CONSTANTS: dict[str, Any] = {**PROTOCOLS.get("decaption/text").metrics["residual_text"], "frame_step": 1}


def dark_boxes(frame: np.ndarray, **_: Any) -> list[tuple[np.ndarray, float]]:
    """A box for each dark piece of the frame."""
    count, _, facts, _ = cv2.connectedComponentsWithStats((frame[..., 0] < 50).astype(np.uint8))
    found = []
    for left, top, width, height, _ in facts[1:count].tolist():
        right, bottom = left + width, top + height
        found.append((np.array([[left, top], [right, top], [right, bottom], [left, bottom]], float) + 0.25, 1.0))
    return found


@pytest.fixture
def scene(monkeypatch: pytest.MonkeyPatch) -> dict[str, np.ndarray]:
    """Clips with a line of text drawn on them, and the same line in the scene elsewhere."""
    monkeypatch.setattr(detectors, "text_boxes", dark_boxes)
    truth = np.full((*SHAPE, 3), 200, np.uint8)
    truth[:, 5:15, 10:60] = 0
    given, hole = truth.copy(), np.zeros(SHAPE, np.bool_)
    given[LINE], hole[LINE] = 0, True
    return {"truth": truth, "input": given, "hole": hole}


def measured(scene: dict[str, np.ndarray], prediction: np.ndarray, **constants: Any) -> Measurement:
    metric = ResidualText(**{**CONSTANTS, **constants}, regions=("frame", "hole"), band_radius_pixels=8)
    view = ItemView.of_arrays(**scene, composite=prediction)
    [(region, found)] = metric.measure(view.declaring(metric.name, metric.parts)).items()
    assert region == "hole"
    return found


def test_no_trace_all_of_it_and_half_of_it(scene: dict[str, np.ndarray]) -> None:
    assert measured(scene, scene["truth"]).value == 0
    assert measured(scene, scene["input"]).value == 1
    half = scene["truth"].copy()
    half[:, 40:50, 20:60] = 0
    assert measured(scene, half).value == pytest.approx(0.5, abs=0.02)
    some_frames = scene["truth"].copy()
    some_frames[:2] = scene["input"][:2]
    assert measured(scene, some_frames).value == pytest.approx(2 / 6)


def test_lines_elsewhere_do_not_count_and_new_ones_in_the_boxes_do(scene: dict[str, np.ndarray]) -> None:
    elsewhere = scene["truth"].copy()
    elsewhere[:, 20:30, 20:100] = 0
    assert measured(scene, elsewhere).value == 0
    beside = scene["truth"].copy()
    beside[:, 40:50, 106:118] = 0
    assert measured(scene, beside).value == 0
    near = scene["truth"].copy()
    near[:, 36:54, 16:104] = 0  # as far as the boxes reach
    assert 1 < float(measured(scene, near).value or 0) <= 2
    # Text of the scene that the truth has there too is no residue.
    scene["truth"][:, 42:46, 30:50] = 0
    assert measured(scene, scene["truth"]).value == 0
    without = np.full_like(scene["truth"], 200)
    assert measured(scene, without).value == 0  # never below


def test_letters_that_the_detector_cannot_see_have_no_value(scene: dict[str, np.ndarray]) -> None:
    pale = scene["truth"].copy()
    pale[LINE] = 90
    for shown, moved in ((pale, False), (pale, True)):
        given = {**scene, "input": shown}
        if moved:  # a second text, that is seen: half of the texts
            given = {name: part.copy() for name, part in given.items()}
            given["hole"][3:] = False
            given["hole"][3:, 25:35, 60:110] = True
            given["input"][3:] = given["truth"][3:]
            given["input"][3:, 25:35, 60:110] = 0
        found = measured(given, given["input"])
        assert found.details["texts_found"] == (0.5 if moved else 0)
        assert (found.value is None) == (not moved)
    assert "0% of the drawn texts" in str(measured({**scene, "input": pale}, pale).reason)
    empty = {**scene, "hole": np.zeros_like(scene["hole"])}
    assert "no frame has a hole" in str(measured(empty, scene["truth"]).reason)


def test_text_that_the_truth_has_as_well_was_not_drawn(scene: dict[str, np.ndarray]) -> None:
    found = measured({**scene, "truth": scene["input"]}, scene["input"])
    assert (found.value, found.reason) == (None, "the truth shows as much text as the input where it was drawn")
    assert ResidualText.bounds == (0, 2)


def test_a_text_that_is_replaced_by_a_shorter_one_in_its_place_is_another() -> None:
    boxes = np.zeros((2, 10, 40), np.bool_)
    boxes[0], boxes[1, :, :19] = True, True
    assert _share_found(boxes, [1.0, 0.0]) == 0.5
    boxes[1, :, 19] = True
    assert _share_found(boxes, [1.0, 0.0]) == 1


def test_frames_without_text_and_frames_between_are_left_out(scene: dict[str, np.ndarray]) -> None:
    scene["hole"][0] = False
    assert measured(scene, scene["input"]).details["frames"] == 5
    assert measured(scene, scene["input"], frame_step=5).details["frames"] == 1
    with pytest.raises(ValueError, match="frame_step is 0"):
        measured(scene, scene["input"], frame_step=0)


def test_without_weights_there_is_a_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("INPAINTBENCH_WEIGHTS", str(tmp_path))
    frames = np.zeros((1, 40, 40, 3), np.uint8)
    if weights.lacks((detectors.TEXT_WEIGHTS,)):
        with pytest.raises(NotMeasurable, match="ppocr"):
            measured({"truth": frames, "input": frames, "hole": np.ones((1, 40, 40), np.bool_)}, frames)


def test_the_real_detector_reads_what_is_left(monkeypatch: pytest.MonkeyPatch, assets: Path) -> None:
    monkeypatch.setenv("INPAINTBENCH_WEIGHTS", str(assets / "weights"))
    if weights.lacks((detectors.TEXT_WEIGHTS,)):
        pytest.skip("the weights are not there")
    truth = cv2.resize(skimage.data.astronaut(), (256, 256))[None]
    given = truth.copy()
    cv2.putText(given[0], "where are you going?", (20, 225), cv2.FONT_HERSHEY_SIMPLEX, 0.6, (255, 255, 255), 2, cv2.LINE_AA)
    scene = {"truth": truth, "input": given, "hole": (given != truth).any(axis=-1)}
    faint = ((given.astype(int) + truth) // 2).astype(np.uint8)
    values = [measured(scene, prediction, frame_step=5).value for prediction in (truth, faint, given)]
    assert values[0] == 0
    assert values[2] == 1
    assert 0.1 < float(values[1] or 0) < 0.9
