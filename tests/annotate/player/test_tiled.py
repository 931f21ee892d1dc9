"""Videos of others in one file: every frame of it holds the same frame of each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from inpaintbench import video
from inpaintbench.annotate.player import Tiled, tiled
from inpaintbench.errors import InputError, MediaError

RED, GREEN, BLUE = (200, 40, 40), (40, 160, 60), (40, 60, 200)


def clip(
    path: Path, colour: tuple[int, int, int], *, frames: int = 6, size: tuple[int, int] = (64, 48), fps: float = 25.0
) -> Path:
    """One colour, with a white left part that grows by a tenth of the width a frame."""
    width, height = size
    pictures = np.full((frames, height, width, 3), colour, np.uint8)
    for number in range(frames):
        pictures[number, :, : width * (number + 1) // 10] = 255
    if path.suffix == ".png":
        video.write_image(path, pictures[0])
    else:
        video.write_browser(path, pictures, fps=fps)
    return path


def parts(made: Tiled) -> dict[str, np.ndarray]:
    """Label -> its part of every frame."""
    frames = video.read_frames(made.path)
    boxes = {one["label"]: (one["x"], one["y"], one["width"], one["height"]) for one in made.players}
    return {label: frames[:, y : y + height, x : x + width] for label, (x, y, width, height) in boxes.items()}


def edges(pictures: np.ndarray) -> list[float]:
    """Share of the width that is white, a frame."""
    return [float((picture.min(axis=2)[picture.shape[0] // 2] > 230).mean()) for picture in pictures]


def test_every_frame_holds_the_same_frame_of_each_and_the_original_comes_last(tmp_path: Path) -> None:
    given = {
        "Original": clip(tmp_path / "o.mp4", BLUE),
        "ours": clip(tmp_path / "a.mp4", RED),
        "theirs": clip(tmp_path / "b.mp4", GREEN, size=(128, 96)),
    }
    made = tiled(given, folder=tmp_path / "cache", original="Original")
    assert [(one["role"], one["place"], one["label"]) for one in made.players] == [
        ("candidate", 0, "ours"), ("candidate", 1, "theirs"), ("original", None, "Original"),
    ]  # fmt: skip
    assert (made.media["kind"], made.media["frames"], made.media["fps"], made.mime_type) == ("video", 6, 25.0, "video/mp4")
    assert {(one["width"], one["height"]) for one in made.players} == {(64, 48)}
    for label, colour in (("ours", RED), ("theirs", GREEN), ("Original", BLUE)):
        pictures = parts(made)[label]
        assert edges(pictures) == pytest.approx([(number + 1) / 10 for number in range(6)], abs=0.05)
        assert pictures[3, 24, 60].tolist() == pytest.approx(colour, abs=16)


def test_the_same_files_are_put_together_once(tmp_path: Path) -> None:
    given = [clip(tmp_path / "a.mp4", RED), clip(tmp_path / "b.mp4", GREEN)]
    first = tiled(given, folder=tmp_path / "cache")
    made_at = first.path.stat().st_mtime_ns
    again = tiled({"ours": given[0], "theirs": given[1]}, folder=tmp_path / "cache")
    assert [one["label"] for one in first.players] == ["A", "B"]
    assert [one["label"] for one in again.players] == ["ours", "theirs"]
    assert again.path == first.path
    assert again.path.stat().st_mtime_ns == made_at
    assert tiled(given[::-1], folder=tmp_path / "cache").path != first.path
    assert sorted(path.suffix for path in (tmp_path / "cache").iterdir()) == [".mp4", ".mp4"]


def test_images_are_videos_of_one_frame(tmp_path: Path) -> None:
    made = tiled([clip(tmp_path / "a.png", RED), clip(tmp_path / "b.png", GREEN)], folder=tmp_path / "cache")
    assert (made.media["kind"], made.media["frames"], made.path.suffix, made.mime_type) == ("image", 1, ".png", "image/png")
    assert parts(made)["B"][0, 10, 40].tolist() == list(GREEN)


def test_what_cannot_be_compared_is_said_in_one_sentence(tmp_path: Path) -> None:
    first = clip(tmp_path / "a.mp4", RED)
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"no video")
    cases = (
        ([first, clip(tmp_path / "long.mp4", RED, frames=8)], r"'B' has 8 frames and 'A' has 6; cut them to one length"),
        ([first, clip(tmp_path / "quick.mp4", RED, fps=30)], r"'B' has 30 frames a second and 'A' has 25"),
        ([first, clip(tmp_path / "square.mp4", RED, size=(64, 64))], r"'B' is 64x64 and 'A' is 64x48: not one shape"),
        ([], r"0 videos cannot be compared"),
        ([first] * 27, r"27 videos cannot be compared; name 1 to 26"),
        (str(first), r"is one video; name several"),
        ([first, tmp_path / "missing.mp4"], r"'B': there is no file '.*missing\.mp4'"),
    )
    for given, said in cases:
        with pytest.raises(InputError, match=said):
            tiled(given, folder=tmp_path / "cache")
    with pytest.raises(InputError, match=r"no video is called 'truth'; there are 'A'"):
        tiled([first], folder=tmp_path / "cache", original="truth")
    with pytest.raises(MediaError, match=r"'B', broken\.mp4: "):
        tiled([first, broken], folder=tmp_path / "cache")
    assert not (tmp_path / "cache").exists()
