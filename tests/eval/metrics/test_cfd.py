"""CFD: numbers of a program, frame by frame."""

from __future__ import annotations

import shlex
import sys
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


STUB = """
import cv2

class AutoModel:
    def __init__(self, *given):
        pass
    @classmethod
    def from_pretrained(cls, name):
        return cls()
    def __call__(self, *given, **named):
        return self
    def to(self, device):
        return self

AutoImageProcessor = SamAutomaticMaskGenerator = AutoModel
sam_model_registry = {"vit_h": AutoModel()}

def calculate_objects(image_path, mask_path, mask_generator, processor, model):
    mask = cv2.imread(mask_path, cv2.IMREAD_GRAYSCALE)
    return float(cv2.imread(image_path)[mask > 127].mean()) / 100 * 2, 2
"""


def test_the_program_of_the_documentation_runs_the_released_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module of its names and signatures stands in for the code, which has no licence."""
    page = Path(__file__).parents[3] / "docs" / "metrics.md"
    (tmp_path / "cfd.py").write_text(page.read_text().partition('```python title="cfd.py"\n')[2].partition("```")[0])
    checkout = tmp_path / "cfd_score"
    checkout.mkdir()
    (checkout / "main.py").write_text(STUB)
    monkeypatch.setenv("CFD_CHECKOUT", str(checkout))
    monkeypatch.setenv(Cfd.brought.variable, shlex.join([sys.executable, str(tmp_path / "cfd.py"), "{input}", "{output}"]))
    metric = Cfd(regions=("frame",), band_radius_pixels=8)
    frames = FRAMES.copy()
    frames[HOLE] = 50
    found = metric.measure(ItemView.of_arrays(composite=frames, hole=HOLE).declaring(metric.name, metric.parts))["frame"]
    assert (found.value, found.details) == (0.5, {"frames": 3, "frames_without_value": 1})


def test_without_the_program_there_is_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(Cfd.brought.variable, raising=False)
    with pytest.raises(NotMeasurable, match="has no licence and is not part of this program: set INPAINTBENCH_CFD to"):
        measured()
