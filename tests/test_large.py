"""Arrays beyond what a process should hold lie in files, and nothing else about them differs."""

from __future__ import annotations

import mmap
import resource
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from inpaintbench import large, regions, video
from inpaintbench.errors import is_disk_error
from inpaintbench.view import composite_in_place


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Everything of more than some frames is large."""
    monkeypatch.setattr(large, "MOST_IN_MEMORY", 40_000)
    monkeypatch.setenv("TMPDIR", str(tmp_path))


def lies_in_a_file(array: npt.NDArray[np.generic]) -> bool:
    base: object = array
    while isinstance(base, np.ndarray):
        base = base.base
    return isinstance(base.obj if isinstance(base, memoryview) else base, mmap.mmap)


@pytest.mark.parametrize("frames", [3, 60])
def test_clips_and_holes_of_any_length_are_read_exactly(frames: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    clip = rng.integers(0, 256, (frames, 34, 46, 3), dtype=np.uint8)
    hole = clip[..., 0] > 200
    video.write_lossless(tmp_path / "clip.mkv", clip, fps=25.0)
    video.write_hole(tmp_path / "hole.mp4", hole, fps=25.0)
    found, inside = video.read_frames(tmp_path / "clip.mkv"), video.read_hole(tmp_path / "hole.mp4")
    assert (found == clip).all()
    assert (inside == hole).all()
    assert inside.dtype == np.bool_
    assert [lies_in_a_file(array) for array in (found, inside)] == [frames == 60] * 2
    made = composite_in_place(clip[::-1], inside, found)
    assert np.shares_memory(made, found)
    assert (made == np.where(hole[..., None], clip, clip[::-1])).all()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["clip.mkv", "hole.mp4"]


def test_bands_of_long_holes_are_those_of_their_frames() -> None:
    rows, columns = np.mgrid[:34, :46]
    hole = np.stack([(rows - 17) ** 2 + (columns - 10 - place / 3) ** 2 < 90 for place in range(60)])
    band = regions.boundary_band(hole, radius=2)
    assert lies_in_a_file(band)
    assert (band == np.concatenate([regions.boundary_band(frame[None], radius=2) for frame in hole])).all()
    assert (band & hole).any(axis=(1, 2)).all()
    assert (band & ~hole).any(axis=(1, 2)).all()


@pytest.mark.parametrize("has_effect", [False, True])
def test_regions_of_long_removals_are_those_of_their_frames(has_effect: bool) -> None:
    hole, inside, shadow = np.random.default_rng(4).random((3, 60, 34, 46)) < [[[[0.01]]], [[[0.004]]], [[[0.01]]]]
    for region in ("rest", "effect") if has_effect else ("rest",):
        masks = {"object_mask": inside} | ({"effect_mask": shadow} if has_effect else {})
        pixels = regions.select(hole, region, band_radius=2, **masks)
        assert lies_in_a_file(pixels)
        for place in range(60):
            one = {name: mask[place, None] for name, mask in masks.items()}
            assert (pixels[place] == regions.select(hole[place, None], region, band_radius=2, **one)[0]).all()
        changed = inside | (shadow if has_effect else hole)
        assert (pixels == (~regions.dilate(changed, radius=2) if region == "rest" else shadow & ~inside)).all()


@pytest.mark.parametrize("room", [0, 10_000, 60_000])
def test_a_full_disk_is_an_error_that_ends_the_run(room: int, tmp_path: Path) -> None:
    """The system grows no file beyond its limit, as on a disk without room."""
    video.write_lossless(tmp_path / "clip.mkv", np.random.default_rng(3).integers(0, 256, (40, 34, 46, 3), np.uint8), fps=25.0)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        with pytest.raises(OSError, match=r"File too large: '0.0 GB for .* in TMPDIR or /var/tmp'") as told:
            video.read_frames(tmp_path / "clip.mkv")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert is_disk_error(told.value)


def test_where_the_folder_for_large_files_cannot_be_written_they_lie_in_the_usual_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMPDIR")
    monkeypatch.setattr(large, "_FOLDER", Path("/proc"))
    assert lies_in_a_file(large.zeros((50, 30, 40)))
