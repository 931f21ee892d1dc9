"""CFD: numbers of a program, frame by frame."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import brought
import numpy as np
import pytest

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.brought import Cfd
from inpaintbench.view import ItemView

FRAMES, HOLE = np.zeros((4, 20, 30, 3), np.uint8), np.zeros((4, 20, 30), np.bool_)
HOLE[:3, 5:9, 3:9] = True


def measured(hole: np.ndarray = HOLE) -> Any:
    metric = Cfd(regions=("frame",), band_radius_pixels=8)
    return metric.measure(ItemView.of_arrays(composite=FRAMES, hole=hole).declaring(metric.name, metric.parts))["frame"]


def test_the_mean_over_frames_that_have_a_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = (
        "scores = [1.5, 0.5, None]; assert len(masks) == 3\n(target / 'numbers.json').write_text(json.dumps({'scores': scores}))"
    )
    brought.give(Cfd.brought, body, tmp_path, monkeypatch)
    found = measured()
    assert (found.value, found.details) == (1.0, {"frames": 2, "frames_without_value": 2})
    assert measured(np.zeros_like(HOLE)).reason == "no frame has a hole"


@pytest.mark.parametrize("scores", ["[1.5]", "[1, 2, 9]", "[1, 2, true]", '"none"'])
def test_other_lists_are_refused(scores: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = f'{{"scores": {scores}}}'
    brought.give(Cfd.brought, f"(target / 'numbers.json').write_text({written!r})", tmp_path, monkeypatch)
    with pytest.raises(NotMeasurable, match=r"wrote no list of 3 scores of 0\.\.4 or null"):
        measured()


def test_without_the_program_there_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(Cfd.brought.variable, raising=False)
    with pytest.raises(NotMeasurable, match="has no licence and is not part of this program: set INPAINTBENCH_CFD to"):
        measured()
