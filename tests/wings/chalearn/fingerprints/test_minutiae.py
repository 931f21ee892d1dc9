from __future__ import annotations

import math
import re
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image
from tests.wings.chalearn.fingerprints.stripes import straight

from inpaintbench.wings.chalearn.fingerprints.fingers import draw_finger
from inpaintbench.wings.chalearn.fingerprints.master import master
from inpaintbench.wings.chalearn.fingerprints.records import CLASSES
from inpaintbench.wings.chalearn.metrics.minutiae import Minutia, crossing_numbers, find_minutiae, ridge_skeleton


def everywhere(picture: np.ndarray) -> np.ndarray:
    return np.ones(picture.shape, np.bool_)


def bars(*, side: int = 160, period: int = 8) -> np.ndarray:
    """Horizontal ridges 4 pixels high, one at rows 80 to 83."""
    picture = np.full((side, side), 255, np.uint8)
    for row in range(0, side, period):
        picture[row : row + 4] = 0
    return picture


def test_crossing_numbers_tell_ends_lines_and_forks() -> None:
    skeleton = np.zeros((9, 9), np.bool_)
    skeleton[4, 1:5] = True
    for step in (1, 2, 3):
        skeleton[4 - step, 4 + step] = skeleton[4 + step, 4 + step] = True
    found = crossing_numbers(skeleton)
    assert found[4, 1] == found[1, 7] == found[7, 7] == 1
    assert found[4, 2] == found[4, 3] == found[3, 5] == 2
    assert found[4, 4] == 3
    assert not found[~skeleton].any()


def test_ridges_without_ends_have_no_minutiae() -> None:
    assert find_minutiae(bars(), everywhere(bars())) == ()
    assert find_minutiae(straight(25), everywhere(straight(25))) == ()


def test_a_ridge_that_ends_is_one_minutia_where_it_ends() -> None:
    picture = bars()
    picture[80:84, 70:] = 255
    [found] = find_minutiae(picture, everywhere(picture))
    assert found.kind == "ending"
    assert abs(found.x - 69) <= 4
    assert abs(found.y - 82) <= 1
    assert found.direction == pytest.approx(0, abs=0.15)  # away from the ridge, to the right


def test_a_fork_is_one_minutia_where_it_forks() -> None:
    picture = np.full((160, 160), 255, np.uint8)
    cv2.line(picture, (0, 80), (70, 80), 0, 5)
    for end in (20, 140):
        cv2.line(picture, (70, 80), (159, end), 0, 5)
    [found] = find_minutiae(picture, everywhere(picture))
    assert found.kind == "fork"
    assert abs(found.x - 71) <= 5
    assert abs(found.y - 80) <= 2
    assert found.direction == pytest.approx(math.pi, abs=0.15)  # along the single branch, to the left


@pytest.mark.parametrize("degrees", [0, 40, 90, 135, 215, 300])
def test_directions_turn_with_the_picture(degrees: int) -> None:
    outward = np.array([math.cos(math.radians(degrees)), -math.sin(math.radians(degrees))])
    picture = np.full((160, 160), 255, np.uint8)
    ends = np.rint([[80, 80], 80 - 120 * outward]).astype(int).tolist()
    cv2.line(picture, ends[0], ends[1], 0, 5)
    [ending] = find_minutiae(picture, everywhere(picture))
    assert abs((ending.direction - math.radians(degrees) + math.pi) % math.tau - math.pi) < 0.15
    for turn in (-0.6, 0.6):
        angle = math.radians(degrees) + turn
        away = 80 + 120 * np.array([math.cos(angle), -math.sin(angle)])
        cv2.line(picture, (80, 80), np.rint(away).astype(int).tolist(), 0, 5)
    [fork] = find_minutiae(picture, everywhere(picture))
    assert fork.kind == "fork"
    assert abs((fork.direction - math.radians(degrees + 180) + math.pi) % math.tau - math.pi) < 0.2


def test_breaks_bridges_and_specks_are_none() -> None:
    picture = bars()
    picture[80:84, 70:73] = 255  # a break
    picture[44:48, 100:103] = 0  # a bridge
    picture[61:63, 40:42] = 0  # a speck in a valley
    picture[113:115, 90:92] = 255  # a pore
    assert find_minutiae(picture, everywhere(picture)) == ()


def test_the_rim_is_left_out() -> None:
    picture = bars()
    picture[80:84, 70:] = 255
    mask = everywhere(picture)
    mask[:, 75:] = False
    assert find_minutiae(picture, mask) == ()


def test_resolution_scales_all_lengths() -> None:
    picture = bars()
    picture[80:84, 70:] = 255
    large = cv2.resize(picture, None, fx=2, fy=2, interpolation=cv2.INTER_NEAREST)
    found = find_minutiae(large, everywhere(large), pixels_per_inch=1000)
    assert [one.kind for one in found] == ["ending"]
    assert ridge_skeleton(large, scale=2).sum() < 0.12 * large.size


@pytest.mark.parametrize("name", CLASSES)
def test_synthetic_prints_have_tens_of_them_at_places_of_ridges(name: str) -> None:
    picture = master(draw_finger(np.random.default_rng(2), finger_class=name, seed=6))
    mask = np.zeros(picture.shape, np.bool_)
    mask[15:-15, 15:-15] = True
    found = find_minutiae(picture, mask)
    assert 20 <= len(found) <= 70
    assert {one.kind for one in found} == {"ending", "fork"}
    on_ridges = [picture[int(one.y), int(one.x)] == 0 for one in found]
    assert np.mean(on_ridges) > 0.9
    assert all(isinstance(one, Minutia) for one in found)


@pytest.mark.real
def test_counts_on_anothers_prints_are_near_those_of_another_program(assets: Path) -> None:
    """Five SFinGe prints whose minutiae FingerJetFX counted."""
    folder = assets / "fingerprints" / "fingerprint-nfiq2-sfinge" / "examples"
    ratios = []
    for path in sorted((folder / "images").glob("*.pgm")):
        told = (folder / "output" / f"{path.stem}_output.txt").read_text()
        counted = int(re.findall(r"FingerJetFX_MinutiaeCount: (\d+)", told)[0])
        picture = np.asarray(Image.open(path).convert("L"))
        ratios.append(len(find_minutiae(picture)) / counted)
    assert len(ratios) == 5
    assert 0.5 < min(ratios) <= max(ratios) < 2
    assert 0.8 < np.median(ratios) < 1.3
