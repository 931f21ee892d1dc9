from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.wings.editboard.given import original, square_mask, write_frames

from inpaintbench import video
from inpaintbench.errors import MediaError
from inpaintbench.wings.editboard import media


def test_frames_are_taken_in_numeric_order_and_another_order_of_text_is_told(tmp_path: Path) -> None:
    frames = original(frames=12)
    folder = write_frames(tmp_path / "numbers", frames, name="frame_{}.png".format)
    found = media.located(folder, name="numbers")
    np.testing.assert_array_equal(media.read(found, side_pixels=None), frames)
    assert "frame_10.png would stand in the place of frame_2.png" in str(media.order_note(found))
    padded = media.located(write_frames(tmp_path / "padded", frames), name="padded")
    assert media.order_note(padded) is None


def test_a_video_and_a_gif_give_the_frames_that_were_written(tmp_path: Path) -> None:
    levels = np.arange(5, dtype=np.uint8) * 40
    frames = np.broadcast_to(levels[:, None, None, None], (5, 32, 48, 3)).copy()
    frames[2] = frames[1]  # GIF writers drop it, readers must not
    video.write_lossless(tmp_path / "clip.mkv", frames, fps=8.0)
    pictures = [Image.fromarray(frame) for frame in frames]
    pictures[0].save(tmp_path / "clip.gif", save_all=True, append_images=pictures[1:], duration=100)
    read = media.read(media.located(tmp_path / "clip.mkv", name="clip"), side_pixels=None)
    np.testing.assert_array_equal(read, frames)
    gif = media.read(media.located(tmp_path / "clip.gif", name="clip"), side_pixels=None)
    assert sorted({int(frame[0, 0, 0]) for frame in gif}) == [0, 40, 120, 160]
    assert gif.shape[1:] == (32, 48, 3)


def test_any_grey_but_0_is_the_object_in_images_and_the_upper_half_in_videos(tmp_path: Path) -> None:
    mask = square_mask()
    images = media.read_mask(media.located(write_frames(tmp_path / "m", mask), name="m"), side_pixels=None)
    np.testing.assert_array_equal(images, mask[..., 0] > 0)
    video.write_lossless(tmp_path / "m.mkv", mask, fps=8.0)
    moving = media.read_mask(media.located(tmp_path / "m.mkv", name="m"), side_pixels=None)
    np.testing.assert_array_equal(moving, mask[..., 0] > 127)


def test_squashing_keeps_no_proportions_and_masks_stay_black_and_white(tmp_path: Path) -> None:
    ramp = np.repeat(np.repeat(np.arange(64, dtype=np.uint8)[None, None, :, None] * 4, 32, axis=1), 3, axis=3)
    found = media.located(write_frames(tmp_path / "ramp", ramp), name="ramp")
    squashed = media.read(found, side_pixels=32)
    assert squashed.shape == (1, 32, 32, 3)
    # Halved, a bilinear sample lies between two pixels; 4 (2i + 0.5) = 8i + 2.
    np.testing.assert_array_equal(squashed[0, 5, :, 1], np.arange(32) * 8 + 2)
    assert media.read(found, side_pixels=None).shape == (1, 32, 64, 3)
    mask = media.read_mask(media.located(write_frames(tmp_path / "m", square_mask()), name="m"), side_pixels=100)
    assert (mask.shape, mask.dtype) == ((4, 100, 100), np.bool_)


@pytest.mark.parametrize("kind", ["missing", "empty", "text"])
def test_what_is_no_video_is_told_by_its_name(tmp_path: Path, kind: str) -> None:
    path = tmp_path / {"missing": "gone", "empty": "folder", "text": "notes.txt"}[kind]
    if kind == "empty":
        path.mkdir()
        (path / ".hidden.png").write_bytes(b"")
    if kind == "text":
        path.write_text("no video")
    with pytest.raises(MediaError, match=path.name):
        media.located(path, name=path.name)


def test_frames_of_two_sizes_are_told(tmp_path: Path) -> None:
    folder = write_frames(tmp_path / "odd", original())
    video.write_image(folder / "00003.png", np.zeros((5, 6, 3), np.uint8))
    with pytest.raises(MediaError, match=r"00003\.png of 'odd' is 6x5, those before it are 64x48"):
        media.read(media.located(folder, name="odd"), side_pixels=None)


def test_the_digest_tells_pixels_and_shapes_apart() -> None:
    frames = original()
    assert media.digest(frames) == media.digest(frames.copy())
    assert len({media.digest(frames), media.digest(frames.reshape(4, 64, 48, 3)), media.digest(frames + 1)}) == 3


def test_frames_without_a_clear_order_are_refused(tmp_path: Path) -> None:
    folder = write_frames(tmp_path / "wild", original())
    (folder / "00002.png").unlink()
    with pytest.raises(MediaError, match=r"^'wild': the order .*: 00003\.png follows 00001\.png"):
        media.located(folder, name="wild")
    video.write_image(folder / "preview.png", original()[0])
    with pytest.raises(MediaError, match=r"preview\.png has no number"):
        media.located(folder, name="wild")
