from __future__ import annotations

import hashlib
import itertools
from pathlib import Path

import hazards
import numpy as np
import pytest
from skimage import data
from worlds import pan_clip

from inpaintbench import video
from inpaintbench.errors import MediaError


def photographs(frames: int, *, height: int = 120, width: int = 160) -> np.ndarray:
    """A noisy pan over a photograph."""
    noise = np.random.default_rng(0).normal(0, 2, (frames, height, width, 3))
    pan = np.stack([data.coffee()[t : t + height, 2 * t : 2 * t + width] for t in range(frames)])
    return np.clip(pan + noise, 0, 255).astype(np.uint8)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("kind", ["clip", "hole", "lossless", "browser"])
def test_ten_encodes_of_the_same_frames_give_one_hash(kind: str, tmp_path: Path) -> None:
    frames = photographs(40)
    hole = frames[..., 0] > 128
    hashes = set()
    for turn in range(10):
        path = tmp_path / f"{turn}.mp4"
        if kind == "clip":
            video.write_clip(path, frames, fps=30.0)
        elif kind == "hole":
            video.write_hole(path, hole, fps=30.0)
        elif kind == "lossless":
            video.write_lossless(path, frames, fps=30.0)
        else:
            video.write_browser(path, frames, fps=30.0)
        hashes.add(digest(path))
    assert len(hashes) == 1


@pytest.mark.parametrize("shape", [(3, 48, 64), (9, 47, 63), (1, 16, 16), (8, 48, 64), (40, 30, 44), (5, 480, 832)])
def test_holes_and_lossless_frames_come_back_exactly(shape: tuple[int, int, int], tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    hole = rng.random(shape) < 0.3
    video.write_hole(tmp_path / "hole.mp4", hole, fps=25.0)
    assert (video.read_hole(tmp_path / "hole.mp4") == hole).all()
    frames = rng.integers(0, 256, (*shape, 3), dtype=np.uint8)
    video.write_lossless(tmp_path / "frames.mp4", frames, fps=25.0)
    assert (video.read_frames(tmp_path / "frames.mp4") == frames).all()


@pytest.mark.parametrize("size", [(120, 160), (119, 161)])
def test_a_clip_is_encoded_at_no_less_than_the_promised_quality(size: tuple[int, int], tmp_path: Path) -> None:
    frames = photographs(50, height=size[0], width=size[1])
    encoded = video.write_clip(tmp_path / "clip.mp4", frames, fps=30000 / 1001)
    assert encoded.psnr_db >= 45
    decoded = video.read_frames(tmp_path / "clip.mp4")
    assert decoded.shape == frames.shape
    assert np.abs(decoded.astype(int) - frames).mean() < 4
    assert encoded.rgb_sha256 == hashlib.sha256(decoded.tobytes()).hexdigest()
    assert video.decoded_hashes(tmp_path / "clip.mp4") == (encoded.yuv_sha256, encoded.rgb_sha256)
    found = video.probe(tmp_path / "clip.mp4")
    assert found.fps == pytest.approx(30000 / 1001)
    assert (found.frames, found.variable_frame_rate) == (50, False)


def test_luma_is_the_coded_plane(tmp_path: Path) -> None:
    frames = photographs(3)
    video.write_clip(tmp_path / "clip.mp4", frames, fps=30.0)
    luma = video.read_luma(tmp_path / "clip.mp4").astype(float)
    expected = 16 + 219 / 255 * (video.read_frames(tmp_path / "clip.mp4") @ np.array([0.299, 0.587, 0.114]))
    assert np.abs(luma - expected).mean() < 2


@pytest.mark.parametrize("name", hazards.HAZARDS)
def test_a_hazard_is_probed_or_refused_with_a_reason(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    maker, reason = hazards.HAZARDS[name]
    maker(path)
    if reason and "frames decode" not in reason:
        with pytest.raises(MediaError):
            video.probe(path)
    else:
        assert video.probe(path).frames >= 1


def test_probe_tells_what_is_odd(tmp_path: Path) -> None:
    found = {}
    for name in ("rotated.mp4", "variable.mp4", "ten_bit.mp4", "wrong_count.avi", "truncated.mkv", "good.mp4"):
        hazards.HAZARDS[name][0](tmp_path / name)
        found[name] = video.probe(tmp_path / name)
    assert found["rotated.mp4"].rotation_degrees in (90, 270)
    assert found["variable.mp4"].variable_frame_rate
    assert not found["good.mp4"].variable_frame_rate
    assert found["ten_bit.mp4"].bit_depth == 10
    assert (found["wrong_count.avi"].frames, found["wrong_count.avi"].header_frames) == (60, 9999)
    assert 45 <= found["truncated.mkv"].frames < 120


def test_a_file_turned_by_metadata_is_decoded_upright(tmp_path: Path) -> None:
    hazards.rotated(tmp_path / "turned.mp4")
    hazards.good(tmp_path / "straight.mp4")
    turned = next(iter(video.Decoder(tmp_path / "turned.mp4")))
    straight = next(iter(video.Decoder(tmp_path / "straight.mp4"))).to_ndarray(format="rgb24")
    assert straight.shape == (96, 160, 3)
    # The matrix above is the one that telephones write for a picture to be turned clockwise by 90 degrees.
    assert (video.upright(turned) == np.rot90(straight, -1)).all()


def test_images_round_trip_and_bad_ones_are_refused(tmp_path: Path) -> None:
    image = data.coffee()[:20, :30]
    video.write_image(tmp_path / "1.png", image)
    video.write_image(tmp_path / "0.png", image[::-1])
    assert (video.read_image_folder(tmp_path) == np.stack([image[::-1], image])).all()
    video.write_image(tmp_path / "2.png", image[:5])
    with pytest.raises(MediaError, match="images of 2 different sizes"):
        video.read_image_folder(tmp_path)
    (tmp_path / "d.png").write_text("no")
    with pytest.raises(MediaError, match=r"d\.png cannot be opened as an image"):
        video.read_image(tmp_path / "d.png")


def test_a_single_frame_is_a_picture_and_never_video(tmp_path: Path) -> None:
    frames = np.random.default_rng(0).integers(0, 256, (1, 31, 45, 3), dtype=np.uint8)
    path = tmp_path / f"clip{video.suffix_for(1)}"
    encoded = video.write_clip(path, frames, fps=1.0)
    assert path.suffix == ".png"
    assert (video.read_frames(path) == frames).all()
    assert (encoded.crf, encoded.psnr_db) == (0, 99.0)
    assert encoded.yuv_sha256 == encoded.rgb_sha256 == video.decoded_hashes(path)[0]
    probe = video.probe(path)
    assert (probe.width, probe.height, probe.frames) == (45, 31, 1)
    with pytest.raises(ValueError, match="an image holds one frame, not 2"):
        video.write_clip(path, np.concatenate([frames, frames]), fps=1.0)


@pytest.mark.parametrize(("frames", "suffix"), [(1, ".png"), (3, ".mp4")])
def test_grey_tracks_and_holes_come_back_exactly(frames: int, suffix: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    levels = rng.integers(0, 256, (frames, 33, 47), dtype=np.uint8)
    video.write_levels(tmp_path / f"alpha{suffix}", levels, fps=25.0)
    assert (video.read_levels(tmp_path / f"alpha{suffix}") == levels).all()
    hole = levels > 100
    video.write_hole(tmp_path / f"hole{suffix}", hole, fps=25.0)
    assert (video.read_hole(tmp_path / f"hole{suffix}") == hole).all()


def test_lossless_clips_are_exact_and_challenge_clips_are_small(tmp_path: Path) -> None:
    frames = pan_clip("coffee", pixels_per_frame=1, frames=125, width=128, height=128)
    exact = video.write_clip(tmp_path / "exact.mp4", frames, fps=25.0, form="lossless")
    assert (video.read_frames(tmp_path / "exact.mp4") == frames).all()
    assert exact.crf == 0
    assert video.read_luma(tmp_path / "exact.mp4").shape == frames.shape[:3]
    small = video.write_clip(tmp_path / "small.mp4", frames, fps=25.0, form="challenge")
    assert small.crf is None
    assert small.psnr_db < 45
    assert len(video.read_frames(tmp_path / "small.mp4")) == 125
    bits_per_second = 8 * (tmp_path / "small.mp4").stat().st_size / 5
    assert 0.6 * video.CHALLENGE_BITS_PER_SECOND < bits_per_second < 1.4 * video.CHALLENGE_BITS_PER_SECOND


@pytest.mark.parametrize("fps", [30.0, 60.0, 24.0, 12.5, 25.0])
def test_retiming_shows_at_every_moment_the_frame_on_screen(fps: float, tmp_path: Path) -> None:
    count = round(2 * fps)
    numbered = np.repeat(np.arange(count, dtype=np.uint8), 32 * 32 * 3).reshape(count, 32, 32, 3)
    video.write_lossless(tmp_path / "film.mp4", numbered, fps=fps)
    duration = video.probe(tmp_path / "film.mp4").duration_seconds
    assert duration == pytest.approx(2.0, abs=2e-3)
    wanted = video.frames_at(duration, 25.0)
    assert wanted == 50
    shown = [int(frame[0, 0, 0]) for frame, _ in itertools.islice(video.upright_frames(tmp_path / "film.mp4", fps=25.0), wanted)]
    assert shown == [min(count - 1, int(k * fps / 25 + 1e-6)) for k in range(wanted)]
