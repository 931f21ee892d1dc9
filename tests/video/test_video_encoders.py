"""Writing video without libx264: what is kept, what is refused, and who is named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import av
import numpy as np
import pyarrow.parquet as pq
import pytest
from skimage import data

from inpaintbench import video
from inpaintbench.api import installation as doctor
from inpaintbench.errors import InputError
from inpaintbench.eval.adapters.fitting import ceiling_db
from inpaintbench.video import encoding as encoders

VP9 = "libvpx-vp9"


@pytest.fixture(params=["asked", "lacking"])
def without_x264(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """libx264 must not be used, or the FFmpeg in PyAV holds none."""
    if request.param == "asked":
        monkeypatch.setenv(encoders.ENVIRONMENT, VP9)
    else:
        monkeypatch.setattr(encoders, "codecs_available", encoders.codecs_available - {"libx264", "libx264rgb"})


def coded(path: Path) -> tuple[str, str]:
    with av.open(str(path)) as container:
        context = container.streams.video[0].codec_context
        return context.name, context.pix_fmt


def pan(frames: int, *, height: int, width: int) -> np.ndarray:
    return np.stack([data.coffee()[t : t + height, 2 * t : 2 * t + width] for t in range(frames)])


@pytest.mark.usefixtures("without_x264")
@pytest.mark.parametrize("shape", [(3, 48, 64), (4, 47, 33), (2, 1, 1)])
def test_holes_opacities_and_lossless_frames_come_back_exactly(shape: tuple[int, int, int], tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    hole, levels = rng.random(shape) < 0.3, rng.integers(0, 256, shape, dtype=np.uint8)
    frames = rng.integers(0, 256, (*shape, 3), dtype=np.uint8)
    video.write_hole(tmp_path / "hole.mp4", hole, fps=25.0)
    video.write_levels(tmp_path / "levels.mp4", levels, fps=25.0)
    video.write_lossless(tmp_path / "frames.mp4", frames, fps=25.0)
    assert (video.read_hole(tmp_path / "hole.mp4") == hole).all()
    assert (video.read_levels(tmp_path / "levels.mp4") == levels).all()
    assert (video.read_frames(tmp_path / "frames.mp4") == frames).all()
    assert coded(tmp_path / "levels.mp4") == ("vp9", "yuv420p")
    assert coded(tmp_path / "frames.mp4") == ("vp9", "gbrp")


@pytest.mark.usefixtures("without_x264")
@pytest.mark.parametrize("size", [(80, 96), (79, 97)])
def test_truths_have_the_promised_quality_and_name_their_encoder(size: tuple[int, int], tmp_path: Path) -> None:
    frames = pan(12, height=size[0], width=size[1])
    encoded = video.write_clip(tmp_path / "clip.mp4", frames, fps=25.0)
    assert (encoded.encoder, video.chosen_encoder().name) == (VP9, VP9)
    assert 45 <= encoded.psnr_db < 50
    assert (encoded.height, encoded.width) == size
    assert video.decoded_hashes(tmp_path / "clip.mp4") == (encoded.yuv_sha256, encoded.rgb_sha256)
    lossless = video.write_clip(tmp_path / "lossless.mp4", frames, fps=25.0, form="lossless")
    assert (lossless.crf, lossless.encoder) == (0, VP9)
    assert (video.read_frames(tmp_path / "lossless.mp4") == frames).all()
    again = video.write_clip(tmp_path / "again.mp4", frames, fps=25.0)
    assert again == encoded
    assert (tmp_path / "again.mp4").read_bytes() == (tmp_path / "clip.mp4").read_bytes()


def test_previews_lose_about_as_much_with_either_encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frames = pan(16, height=128, width=160)
    for crf in (12, 16, 20, 25):
        kept = {}
        for name in ("libx264", VP9):
            monkeypatch.setenv(encoders.ENVIRONMENT, name)
            video.write_browser(tmp_path / f"{name}.mp4", frames, fps=25.0, crf=crf)
            shown = video.read_frames(tmp_path / f"{name}.mp4").astype(float)
            kept[name] = 10 * np.log10(255**2 / np.mean((shown - frames) ** 2))
        assert abs(kept[VP9] - kept["libx264"]) < 2, (crf, kept)
    with av.open(str(tmp_path / f"{VP9}.mp4")) as container:
        keys = [place for place, packet in enumerate(container.demux(video=0)) if packet.is_keyframe]
    assert keys == [0, 15]


@pytest.mark.usefixtures("without_x264")
def test_what_is_h264_by_definition_is_refused_or_left_out(tmp_path: Path) -> None:
    frames = pan(3, height=32, width=32)
    with pytest.raises(InputError, match=r"^the form challenge is H.264 and needs libx264, but videos are written by libvpx-vp9"):
        video.write_clip(tmp_path / "clip.mp4", frames, fps=25.0, form="challenge")
    assert ceiling_db(frames, "h264-crf10") is None
    assert (ceiling_db(frames, "jpeg") or 0) > 20


def test_no_encoder_and_a_wrong_name_are_told_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hole = np.ones((2, 8, 8), bool)
    monkeypatch.setenv(encoders.ENVIRONMENT, "h264")
    with pytest.raises(InputError, match=r"^INPAINTBENCH_ENCODER is 'h264'; choose from libx264, libvpx-vp9$"):
        video.write_hole(tmp_path / "hole.mp4", hole, fps=25.0)
    monkeypatch.delenv(encoders.ENVIRONMENT)
    monkeypatch.setattr(encoders, "codecs_available", {"png"})
    with pytest.raises(InputError, match=r"holds no libx264 and no libvpx-vp9; pip install .* pictures need neither"):
        video.write_hole(tmp_path / "hole.mp4", hole, fps=25.0)
    video.write_hole(tmp_path / "hole.png", hole[:1], fps=25.0)


def test_doctor_says_in_a_sentence_who_writes_videos(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(encoders.ENVIRONMENT, raising=False)
    assert doctor._encoder(["libx264", VP9]).told == "libx264"
    without = doctor._encoder([VP9])
    assert (without.state, without.told.partition(";")[0]) == ("ok", "libvpx-vp9, since PyAV lacks libx264")
    assert (doctor._encoder([]).state, doctor._encoder([]).core) == ("broken", True)
    monkeypatch.setenv(encoders.ENVIRONMENT, VP9)
    assert doctor._encoder(["libx264", VP9]).told.startswith("libvpx-vp9, as INPAINTBENCH_ENCODER says; ")
    assert doctor._encoder(["libx264"]).told == f"INPAINTBENCH_ENCODER asks for {VP9!r}, and PyAV holds libx264"
    assert list(doctor._ENCODERS) == [encoder.name for encoder in encoders._ENCODERS]


@pytest.mark.long
def test_a_benchmark_without_libx264_is_built_verified_scored_and_says_so(tmp_path: Path) -> None:
    def run(*arguments: str, status: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "inpaintbench", *arguments], cwd=tmp_path, env=os.environ | {encoders.ENVIRONMENT: VP9},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == status, done.stderr
        return done.stderr if status else done.stdout

    refused = run("build", "decaption", "--demo", "--form", "challenge", "--out", "refused", status=1)
    assert refused.count("needs libx264") == 1
    run("build", "decaption", "--demo", "--out", "work")
    assert json.loads(run("export", "verify", "work/exports/decaption", "--json"))["problems"] == []
    run("eval", "run", "work/exports/decaption", "--run", "run", "--method", "decaption_median", "--report")
    videos = [path for folder in ("work", "run") for path in (tmp_path / folder).rglob("*.mp4")]
    assert {coded(path)[0] for path in videos} == {"vp9"}
    assert {coded(path)[1] for path in videos} == {"yuv420p", "gbrp"}
    assert set(pq.read_table(tmp_path / "work/exports/decaption/all.test.parquet")["encoder"].to_pylist()) == {VP9}
    assert (
        "- `encoder`: what wrote the truth (libvpx-vp9; null = libx264)"
        in (tmp_path / "work/exports/decaption/README.md").read_text()
    )
