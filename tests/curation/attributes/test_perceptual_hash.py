"""Perceptual hashes against the definition, and what they survive."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt
import pytest
from worlds import luma, pan_clip, photograph, sensor_noise

from inpaintbench.curation.attributes.hashes import FLAT, PerceptualHash, frame_hash, hash_words, looked_at
from inpaintbench.errors import InputError, NotMeasurable
from inpaintbench.types import Luma
from inpaintbench.view import ItemView

WIDTH, HEIGHT = 320, 180


def plane(name: str, *, width: int = WIDTH, height: int = HEIGHT) -> npt.NDArray[np.uint8]:
    return luma(photograph(name, width=width, height=height)[None])[0]


def hashes(clip: Luma, *, fps: float = 30.0) -> list[int | None]:
    return hash_words(PerceptualHash().measure(ItemView.of_arrays(luma=clip, fps=fps)))[1]


def of_frame(levels: npt.NDArray[np.uint8]) -> int:
    """The hash of a clip of one frame."""
    (found,) = hashes(levels[None])
    assert found is not None
    return found


def differing(one: int, other: int) -> int:
    return (one ^ other).bit_count()


def by_definition(square: npt.NDArray[np.uint8]) -> int:
    """Sums of cosines, written out."""
    places = np.arange(32)
    frequencies = [*np.ndindex(9, 9)]
    frequencies = [*(pair for pair in frequencies if max(pair) < 8 and any(pair)), (8, 8)]
    waves = [np.cos(np.pi * frequency * (2 * places + 1) / 64) for frequency in range(9)]
    strengths = [
        float(np.sum(square * np.outer(waves[row], waves[column]))) * (2**-0.5 if 0 in (row, column) else 1.0)
        for row, column in frequencies
    ]
    middle = np.median(strengths)
    return int("".join("1" if strength > middle else "0" for strength in strengths), 2)


@pytest.mark.parametrize("name", ["coffee", "rocket", "astronaut"])
def test_equals_its_definition(name: str) -> None:
    square = plane(name, width=32, height=32)
    assert frame_hash(square) == by_definition(square)


@pytest.mark.parametrize(
    ("frames", "fps", "expected"),
    [
        (1, 30.0, [0]),
        (30, 30.0, [0, 5, 10, 15, 20, 25]),
        (31, 30.0, [0, 5, 10, 15, 20, 25, 30]),
        (12, 25.0, [0, 4, 8]),
        (3, 3.0, [0, 0, 1, 1, 2, 2]),
        (4, 6.0, [0, 1, 2, 3]),
    ],
)
def test_the_frames_on_screen_six_times_a_second(frames: int, fps: float, expected: list[int]) -> None:
    assert looked_at(frames, fps=fps, hashes_per_second=6.0).tolist() == expected


def test_one_hash_for_each_time_and_each_its_own() -> None:
    clip = luma(pan_clip("coffee", pixels_per_frame=2, frames=45, width=WIDTH, height=HEIGHT))
    found = hashes(clip)
    assert found == [of_frame(frame) for frame in clip[::5]]
    assert len(set(found)) > 3


def changed(name: str, how: str) -> npt.NDArray[np.uint8]:
    levels = plane(name)
    if how == "smaller":
        return cv2.resize(levels, (128, 72), interpolation=cv2.INTER_AREA)
    if how == "larger":
        return cv2.resize(levels, (480, 270), interpolation=cv2.INTER_CUBIC)
    if how == "squeezed":
        return cv2.resize(levels, (288, 180), interpolation=cv2.INTER_AREA)
    if how == "brighter":
        return np.clip(255 * (levels / 255) ** 0.8 + 10, 0, 255).astype(np.uint8)
    if how == "compressed":
        return cv2.imdecode(cv2.imencode(".jpg", levels, [cv2.IMWRITE_JPEG_QUALITY, 15])[1], cv2.IMREAD_GRAYSCALE)
    if how == "noisy":
        return sensor_noise(levels[None], sigma=8.0, seed=0)[0]
    if how == "cropped":
        return levels[3:-3, 5:-5].copy()
    return cv2.copyMakeBorder(levels, 30, 30, 0, 0, cv2.BORDER_CONSTANT, value=16)


@pytest.mark.parametrize("how", ["smaller", "larger", "squeezed", "brighter", "compressed", "noisy", "cropped", "letterboxed"])
@pytest.mark.parametrize("name", ["coffee", "rocket", "astronaut"])
def test_a_copy_differs_in_few_bits(name: str, how: str) -> None:
    assert differing(of_frame(changed(name, how)), of_frame(plane(name))) <= 8


def test_other_pictures_differ_in_many() -> None:
    found = [of_frame(plane(name)) for name in ("coffee", "rocket", "astronaut", "chelsea")]
    assert min(differing(one, other) for place, one in enumerate(found) for other in found[:place]) >= 20


def test_a_night_sky_is_not_cut_off_as_a_bar() -> None:
    night = np.rint(np.linspace(16, 70, HEIGHT)[:, None] + np.linspace(0, 12, WIDTH)).astype(np.uint8)
    night[150:, 100:130] = 180
    whole, cut = frame_hash(night), frame_hash(night[50:])
    assert whole is not None
    assert cut is not None
    assert differing(of_frame(night), whole) <= 3
    assert differing(cut, whole) > 6


@pytest.mark.parametrize("level", [0, 16, 90, 235])
def test_flat_frames_have_no_hash(level: int) -> None:
    flat = sensor_noise(np.full((12, 90, 160), level, np.uint8), sigma=1.0, seed=0)
    with pytest.raises(NotMeasurable, match="every one of the 3 frames looked at is flat"):
        hashes(flat)


def test_a_flat_frame_leaves_a_gap() -> None:
    clip = np.stack([plane("coffee")] * 15)
    clip[3:8] = 16
    words = PerceptualHash().measure(ItemView.of_arrays(luma=clip, fps=30.0)).split(" ")
    assert words[0] == "6"
    assert words[2] == FLAT
    assert words[1] == words[3] == f"{of_frame(clip[0]):016x}"


@pytest.mark.parametrize("size", [(16, 16), (17, 233), (301, 19)])
def test_small_and_odd_sizes(size: tuple[int, int]) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (10, *size), np.uint8)
    noise[:, : size[0] // 2] //= 4
    assert len(hashes(noise)) == 2


def test_another_rate() -> None:
    clip = np.stack([plane("coffee")] * 30)
    rate, found = hash_words(PerceptualHash(hashes_per_second=2.5).measure(ItemView.of_arrays(luma=clip, fps=30.0)))
    assert (rate, len(found)) == (2.5, 3)


@pytest.mark.parametrize("text", ["", "six 00", "6 xyz"])
def test_what_is_no_hash(text: str) -> None:
    with pytest.raises(InputError, match="is no perceptual hash"):
        hash_words(text)
