from __future__ import annotations

import hashlib
from pathlib import Path

import hazards
import numpy as np
import pytest
from skimage import data

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


@pytest.mark.parametrize("shape", [(3, 48, 64), (3, 47, 63), (1, 16, 16), (5, 480, 832)])
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
    video.write_image(tmp_path / "b.png", image)
    video.write_image(tmp_path / "a.png", image[::-1])
    assert (video.read_image_folder(tmp_path) == np.stack([image[::-1], image])).all()
    video.write_image(tmp_path / "c.png", image[:5])
    with pytest.raises(MediaError, match="images of 2 different sizes"):
        video.read_image_folder(tmp_path)
    (tmp_path / "d.png").write_text("no")
    with pytest.raises(MediaError, match=r"d\.png cannot be opened as an image"):
        video.read_image(tmp_path / "d.png")
