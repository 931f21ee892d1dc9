"""A leaf whose version is raised is asked again by the step around it; one whose version stays is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from selection_world import fill

from inpaintbench import video
from inpaintbench.curation.attributes.levels import Exposure
from inpaintbench.curation.measuring import measure
from inpaintbench.eval.methods.each_frame import Blank
from inpaintbench.eval.metrics.base import Measurement
from inpaintbench.eval.metrics.psnr import Mse
from inpaintbench.eval.scoring.predict import MethodSpec, predict
from inpaintbench.eval.scoring.score import Predicted, score
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.masks.generators.base import Drawn
from inpaintbench.masks.generators.shapes import HalfFrame
from inpaintbench.masks.render import MaskRequest, render
from inpaintbench.types import Clip, Dataset
from inpaintbench.workspace import Workspace


def raised(
    monkeypatch: pytest.MonkeyPatch, leaf: type, work: str, does: Callable[..., Any], look: Callable[[], Any]
) -> list[Any]:
    """What ``look`` sees at first, after the leaf works otherwise under its old version, and under a new one."""
    seen = [look()]
    monkeypatch.setattr(leaf, work, does)
    seen.append(look())
    monkeypatch.setattr(leaf, "version", f"{leaf.version}-raised")  # type: ignore[attr-defined]
    return [*seen, look()]


def picture(tmp_path: Path) -> Dataset:
    """One picture of grey that is all to be recovered; the input is a level darker."""
    for name, level in (("truth", 100), ("input", 99)):
        video.write_image(tmp_path / f"{name}.png", np.full((40, 30, 3), level, np.uint8))
    row = {
        "item_id": "i", "truth_rgb_sha256": "t", "hole_sha256": None, "input_sha256": "i", "truth_file_name": "truth.png",
        "input_file_name": "input.png", "fill": 0, "hole_is_given": False, "frames": 1, "height": 40, "width": 30, "fps": 25.0,
    }  # fmt: skip
    return Dataset("prints", {}, (row,), (), {}, {}, {})


@pytest.mark.usefixtures("whole_frames_are_known")
def test_a_metric(tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = picture(tmp_path)
    with LocalExecutor(workspace, workers=0) as executor:
        made = predict(executor, dataset, root=tmp_path, method=MethodSpec("blank", "blank"))

        def look() -> float:
            given = [Predicted("blank", made.records, {})]
            found = score(executor, dataset, root=tmp_path, methods=given, protocol="whole/corrected", metrics=["mse"])
            return float(found["blank"].records[0].value)

        seen = raised(monkeypatch, Mse, "measure", lambda self, view: {"frame": Measurement(0.5)}, look)
    assert seen == [pytest.approx(1 / 255**2), seen[0], 0.5]


def test_a_method(tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = picture(tmp_path)
    with LocalExecutor(workspace, workers=0) as executor:

        def look() -> int:
            (made,) = predict(executor, dataset, root=tmp_path, method=MethodSpec("blank", "blank")).records
            return int(video.read_image(workspace.blobs.path(made.blob)).max())

        assert raised(monkeypatch, Blank, "inpaint", lambda self, view: view.input + np.uint8(7), look) == [99, 99, 106]


def test_an_attribute(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    clip, *_ = fill(workspace, count=4).table("clips", Clip)
    with LocalExecutor(workspace, workers=0) as executor:

        def look() -> float:
            (row,) = measure(executor, [clip], leaf="exposure").records
            return float(row.value)

        first, *rest = raised(monkeypatch, Exposure, "measure", lambda self, view: -1.0, look)
    assert first >= 0
    assert rest == [first, -1.0]


def test_a_mask_generator(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    clip, *_ = fill(workspace, count=4).table("clips", Clip)

    def all_but_one_row(self: HalfFrame, view: Any, rng: np.random.Generator) -> Drawn:
        hole = np.ones((view.frames, view.height, view.width), np.bool_)
        hole[:, 0] = False
        return Drawn(hole, {"side": "top"})

    with LocalExecutor(workspace, workers=0) as executor:

        def look() -> float:
            (row,) = render(executor, [MaskRequest(clip, "half_frame", {"side": "left"}, seed=0)]).records
            return round(float(video.read_hole(workspace.blobs.path(row.hole)).mean()), 3)

        assert raised(monkeypatch, HalfFrame, "generate", all_but_one_row, look) == [0.5, 0.5, round(1 - 1 / clip.height, 3)]
