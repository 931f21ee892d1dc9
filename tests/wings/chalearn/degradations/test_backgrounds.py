"""Materials look like what they are named, at any size; photographs are cut to fit, bad folders are named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inpaintbench import video
from inpaintbench.errors import InputError
from inpaintbench.wings.chalearn.degradations import backgrounds as surfaces
from inpaintbench.wings.chalearn.degradations.planes import border_distance

HEIGHT, WIDTH = 400, 275


def draw(kind: str, seed: int = 0, *, height: int = HEIGHT, width: int = WIDTH) -> npt.NDArray[np.uint8]:
    return surfaces.draw_material(kind, height, width, rng=np.random.default_rng(seed))


def grey(picture: npt.NDArray[np.uint8]) -> Any:
    return cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY).astype(float)


def coherence(picture: npt.NDArray[np.uint8]) -> float:
    """How much all edges run in one direction, 0..1, by the structure tensor of the whole picture."""
    plane = cv2.GaussianBlur(grey(picture), (0, 0), 1)
    down, across = np.gradient(plane)
    xx, yy, xy = (across**2).mean(), (down**2).mean(), (across * down).mean()
    return float(np.hypot(xx - yy, 2 * xy) / (xx + yy))


@pytest.mark.parametrize("kind", surfaces.MATERIALS)
def test_the_same_stream_gives_the_same_bytes_and_another_another(kind: str) -> None:
    one, same, other = draw(kind, 1), draw(kind, 1), draw(kind, 2)
    assert one.shape == (HEIGHT, WIDTH, 3)
    assert one.dtype == np.uint8
    np.testing.assert_array_equal(one, same)
    assert np.abs(one.astype(int) - other).mean() > 3


@pytest.mark.parametrize("kind", surfaces.MATERIALS)
def test_no_part_repeats(kind: str) -> None:
    for seed in range(3):
        fine = grey(draw(kind, seed))
        fine -= cv2.blur(fine, (41, 41))
        spectrum = np.abs(np.fft.rfft2(fine)) ** 2
        alike = np.fft.irfft2(spectrum, fine.shape) / spectrum.size
        alike /= alike[0, 0]
        # A texture made of tiles is the same again one tile further: woven threads and brushed lines are not that alike.
        assert alike[60:-60, 60:-60].max() < 0.8, seed


@pytest.mark.parametrize("kind", surfaces.MATERIALS)
def test_ink_can_be_seen_on_them(kind: str) -> None:
    for seed in range(8):
        assert grey(draw(kind, seed)).mean() > 55, seed


def test_paper_is_bright_and_pale() -> None:
    for seed in range(8):
        hsv = cv2.cvtColor(draw("paper", seed), cv2.COLOR_RGB2HSV)
        assert hsv[..., 1].mean() < 130
        assert hsv[..., 2].mean() > 150


def test_wood_and_brushed_metal_run_in_one_direction_and_the_others_do_not() -> None:
    def mean(kind: str) -> float:
        return float(np.mean([coherence(draw(kind, seed)) for seed in range(6)]))

    assert mean("brushed_metal") > 0.5
    assert mean("wood") > 0.8
    for kind in ("paper", "fabric", "cracks", "leather", "saturated_colour"):
        assert mean(kind) < 0.45, kind  # leather is lit from above


def test_wood_is_brown_or_grey_never_blue() -> None:
    for seed in range(8):
        red, _, blue = draw("wood", seed).reshape(-1, 3).mean(axis=0)
        assert red > blue


def test_fabric_has_the_period_of_its_threads() -> None:
    for seed in range(6):
        fine = grey(draw("fabric", seed))
        fine -= cv2.GaussianBlur(fine, (0, 0), 12)
        power = np.abs(np.fft.fftshift(np.fft.fft2(fine))) ** 2
        down, across = np.unravel_index(power.argmax(), power.shape)
        frequency = np.hypot((down - HEIGHT // 2) / HEIGHT, (across - WIDTH // 2) / WIDTH)
        assert 1 / 35 < frequency < 1 / 3, seed  # a thread, or a diagonal of twill


def test_cracks_are_thin_against_what_they_divide() -> None:
    for seed in range(6):
        plane = cv2.cvtColor(draw("cracks", seed), cv2.COLOR_RGB2GRAY)
        away = cv2.absdiff(plane, cv2.medianBlur(plane, 31)) > 30
        assert 0.005 < away.mean() < 0.3, seed
        depth = border_distance(away.astype(np.int32))[away]
        assert np.quantile(depth, 0.8) < 5, seed


def test_saturated_colours_are_saturated() -> None:
    hues = []
    for seed in range(12):
        hsv = cv2.cvtColor(draw("saturated_colour", seed), cv2.COLOR_RGB2HSV)
        assert hsv[..., 1].mean() > 140, seed
        hues.append(float(np.median(hsv[..., 0])))
    assert np.ptp(hues) > 90


@settings(max_examples=40, deadline=None)
@given(
    kind=st.sampled_from(list(surfaces.MATERIALS)), height=st.integers(1, 80), width=st.integers(1, 80), seed=st.integers(0, 99)
)
def test_any_size_of_any_material(kind: str, height: int, width: int, seed: int) -> None:
    picture = draw(kind, seed, height=height, width=width)
    assert picture.shape == (height, width, 3)
    assert picture.dtype == np.uint8
    np.testing.assert_array_equal(picture, draw(kind, seed, height=height, width=width))


def test_materials_grow_with_the_picture() -> None:
    def finest(height: int, width: int) -> float:
        plane = grey(draw("leather", 3, height=height, width=width))
        return float(np.abs(np.diff(cv2.GaussianBlur(plane, (0, 0), 1), axis=1)).mean() / plane.std())

    assert finest(800, 550) < 0.85 * finest(400, 275)


def numbered(height: int, width: int) -> npt.NDArray[np.uint8]:
    """A picture whose every pixel tells where it lies."""
    rows, columns = np.mgrid[:height, :width]
    return np.stack([rows % 256, columns % 256, rows // 256 + 16 * (columns // 256)], axis=-1).astype(np.uint8)


def test_the_largest_part_of_a_photograph_is_taken_at_random_places() -> None:
    picture, lefts = numbered(100, 300), []
    for seed in range(40):
        found = surfaces.fit_photograph(picture, 100, 60, smooth=False, rng=np.random.default_rng(seed))
        columns = found[0, :, 1].astype(int) + 256 * (found[0, :, 2].astype(int) // 16)
        assert (np.diff(columns) == 1).all()
        assert (found[:, 0, 0] == np.arange(100)).all()
        lefts.append(int(columns[0]))
    assert min(lefts) < 30
    assert max(lefts) > 210


def test_photographs_are_shrunk_by_averaging_or_by_taking_pixels() -> None:
    picture = np.random.default_rng(0).integers(0, 2, (400, 300, 3), dtype=np.uint8) * 255
    taken = surfaces.fit_photograph(picture, 40, 30, smooth=False, rng=np.random.default_rng(0))
    assert set(np.unique(taken)) == {0, 255}
    averaged = surfaces.fit_photograph(picture, 40, 30, smooth=True, rng=np.random.default_rng(0))
    expected = picture.reshape(40, 10, 30, 10, 3).mean(axis=(1, 3))
    np.testing.assert_allclose(averaged, expected, atol=0.6)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.integers(1, 50),
    columns=st.integers(1, 50),
    height=st.integers(1, 50),
    width=st.integers(1, 50),
    smooth=st.booleans(),
)
def test_any_photograph_fits_any_size(rows: int, columns: int, height: int, width: int, smooth: bool) -> None:
    picture = np.random.default_rng(0).integers(0, 256, (rows, columns, 3), dtype=np.uint8)
    found = surfaces.fit_photograph(picture, height, width, smooth=smooth, rng=np.random.default_rng(1))
    assert found.shape == (height, width, 3)
    assert found.dtype == np.uint8


def test_folders_list_their_pictures_and_those_below_by_name(tmp_path: Path) -> None:
    (tmp_path / "inside.png").mkdir()
    (tmp_path / "__MACOSX").mkdir()
    for name in ("b.png", "a.jpg", "c.txt", "inside.png/d.PNG", "._a.jpg", "__MACOSX/b.png"):
        (tmp_path / name).write_bytes(b"")
    found = [path.relative_to(tmp_path).as_posix() for path in surfaces.list_photographs(str(tmp_path))]
    assert found == ["a.jpg", "b.png", "inside.png/d.PNG"]


def test_bad_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"folder of backgrounds .*nowhere' is not a folder: give one that holds pictures"):
        surfaces.list_photographs(str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match=r"holds no pictures: put some in it \(.png, .jpg"):
        surfaces.list_photographs(str(tmp_path))


def test_broken_pictures_are_named(tmp_path: Path) -> None:
    video.write_image(tmp_path / "good.png", numbered(4, 5))
    surfaces.check_photographs(str(tmp_path))
    (tmp_path / "zebra.jpg").write_bytes(b"no picture at all")
    with pytest.raises(InputError, match=r"background zebra.jpg cannot be opened .* remove it from its folder or replace it"):
        surfaces.check_photographs(str(tmp_path))
