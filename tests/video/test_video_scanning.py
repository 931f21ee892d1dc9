from __future__ import annotations

import importlib.util
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torture
from torture import MEMBERS, frame_number
from worlds import pan_clip

from inpaintbench import video
from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.video.scanning import ChildError, DecordProcess

needs_decord = pytest.mark.skipif(importlib.util.find_spec("decord") is None, reason="decord is not installed")
NOT_FOR_DECORD = {
    # member -> part of the reason; decord gives other frames of these, or none
    "transport_stream": "decord failed", "mpeg4_b_frames": "refer across key frames", "edit_list": "edit list",
    "edit_list_ends": "edit list", "turned_90": "turned", "turned_180": "turned", "turned_270": "turned", "mirrored": "turned",
    "mirrored_and_turned": "turned", "open_group": "open groups", "open_group_mkv": "open groups",
    "open_group_hevc": "open groups", "open_group_cut": "edit list", "open_group_cut_hevc": "edit list",
    "interlaced_mpeg2": "refer across key frames", "alpha_rle": "not opaque", "alpha_png": "not opaque",
    "alpha_vp9": "not opaque", "gif": "decord failed", "bomb_vp9": "damaged", "bomb_vp9_later": "damaged",
    "pq": "more than 8 bits",
    "hlg": "more than 8 bits", "ten_bit": "more than 8 bits", "ten_bit_hevc": "more than 8 bits",
}  # fmt: skip
WHOLE = [name for name, member in MEMBERS.items() if not member.refused and not member.cut_off]
SLEEPER = """
import sys, time
sys.stdout.write('{"frames": 3}\\n'); sys.stdout.flush()
time.sleep(600)
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Writes a member once and gives its path."""
    folder = tmp_path_factory.mktemp("torture")
    paths: dict[str, Path] = {}

    def path(name: str) -> Path:
        if name not in paths:
            paths[name] = MEMBERS[name].write(folder, name)
        return paths[name]

    return path


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@needs_decord
@pytest.mark.parametrize("name", WHOLE)
def test_decord_gives_the_right_frames_or_is_not_used(name: str, written: Callable[[str], Path]) -> None:
    path = written(name)
    # Dense at the front, then jumps: one child for both.
    count = len(MEMBERS[name].numbers)
    indices = [*range(min(count, 12)), *range(13, min(count, 400), 5)]
    scan = video.scan(path, probed=video.probe(path), indices=indices, reader="decord", hdr="tone_map")
    frames = list(scan)
    assert [(index, frame_number(pixels)) for index, pixels in frames] == [(i, MEMBERS[name].numbers[i]) for i in indices]
    assert all(pixels.shape[1::-1] == MEMBERS[name].size for _, pixels in frames)
    if name in NOT_FOR_DECORD:
        assert scan.reader == "pyav"
        assert NOT_FOR_DECORD[name] in (scan.note or "")
    else:
        assert (scan.reader, scan.note) == ("decord", None)


@needs_decord
@pytest.mark.parametrize("name", ["cut_off_6", "cut_off_8", "cut_off_9"])
def test_of_a_file_cut_off_both_readers_give_the_same(name: str, written: Callable[[str], Path]) -> None:
    path = written(name)
    found = video.probe(path)
    own, other = (list(video.scan(path, probed=found, reader=reader)) for reader in video.READERS)
    assert [index for index, _ in own] == [index for index, _ in other] == list(range(found.frames))
    assert [frame_number(pixels) for _, pixels in own] == [frame_number(pixels) for _, pixels in other]


@needs_decord
@pytest.mark.parametrize("width", [None, 100])
def test_both_readers_give_the_same_pixels(width: int | None, tmp_path: Path) -> None:
    frames = pan_clip("coffee", pixels_per_frame=2, frames=40, width=320, height=240)
    video.write_browser(tmp_path / "clip.mp4", frames, fps=25.0)
    found = video.probe(tmp_path / "clip.mp4")
    scans = [video.scan(tmp_path / "clip.mp4", probed=found, every=6, width=width, reader=reader) for reader in video.READERS]
    (own, other) = (list(scan) for scan in scans)
    assert [scan.reader for scan in scans] == ["pyav", "decord"]
    assert [index for index, _ in own] == [index for index, _ in other] == list(range(0, 40, 6))
    for (_, one), (_, two) in zip(own, other, strict=True):
        assert one.shape == two.shape == ((240, 320, 3) if width is None else (75, 100, 3))
        assert np.abs(one.astype(int) - two).max() <= 3


@needs_decord
def test_colours_that_decord_takes_for_others_are_not_read_by_it(tmp_path: Path) -> None:
    # Untagged, and large: BT.709 for players and for us, BT.601 for decord.
    colours = np.zeros((4, 720, 1280, 3), np.uint8) + np.array([30, 180, 60], np.uint8)
    torture.encode(tmp_path / "large.mp4", colours, options={"preset": "ultrafast"})
    scan = video.scan(tmp_path / "large.mp4", probed=video.probe(tmp_path / "large.mp4"), reader="decord")
    assert len(list(scan)) == 4
    assert scan.reader == "pyav"
    assert "levels between decord and PyAV" in (scan.note or "")


def test_a_child_that_hangs_is_killed(tmp_path: Path) -> None:
    (tmp_path / "sleeper.py").write_text(SLEEPER)
    with DecordProcess(tmp_path / "any.mp4", time_limit_seconds=0.5, program=tmp_path / "sleeper.py") as child:
        assert child.frames == 3
        assert alive(child.pid)
        with pytest.raises(ChildError, match=r"did not answer within 0\.5 s and was stopped"):
            list(child.frames_at([0], width=None))
        assert not alive(child.pid)


def test_a_child_that_dies_or_is_killed_says_so(tmp_path: Path) -> None:
    (tmp_path / "dies.py").write_text("raise SystemExit(7)")
    with pytest.raises(ChildError, match=r"ended without an answer \(exit status 7\)"):
        DecordProcess(tmp_path / "any.mp4", time_limit_seconds=20, program=tmp_path / "dies.py").__enter__()
    (tmp_path / "sleeper.py").write_text(SLEEPER)
    with DecordProcess(tmp_path / "any.mp4", time_limit_seconds=20, program=tmp_path / "sleeper.py") as child:
        os.kill(child.pid, 9)
        with pytest.raises(ChildError, match=r"ended without an answer \(exit status -9\)"):
            list(child.frames_at([0], width=None))


@pytest.mark.long
@needs_decord
def test_decord_itself_hangs_on_a_bomb_and_is_stopped(written: Callable[[str], Path]) -> None:
    # Where it hangs differs: now and then it opens the file and hangs at the first frame.
    child = DecordProcess(written("bomb_png_8_gb"), time_limit_seconds=2)
    with pytest.raises(ChildError, match=r"was stopped|decord failed"), child:
        list(child.frames_at([0], width=None))
    assert not alive(child.pid)


@needs_decord
def test_a_child_does_not_outlive_its_parent(tmp_path: Path, written: Callable[[str], Path]) -> None:
    if (parent := os.fork()) == 0:  # a parent that dies without closing anything
        child = DecordProcess(written("bomb_png_8_gb"), time_limit_seconds=20)
        (tmp_path / "pid.part").write_text(str(child.pid))
        (tmp_path / "pid.part").rename(tmp_path / "pid")
        time.sleep(1.5)  # until the child runs
        os._exit(0)
    os.waitpid(parent, 0)
    pid = int((tmp_path / "pid").read_text())
    for _ in range(50):
        if not alive(pid):
            break
        time.sleep(0.1)
    assert not alive(pid)


def test_chosen_frames_come_by_their_numbers(written: Callable[[str], Path]) -> None:
    path = written("plain")
    found = video.probe(path)
    numbers = [frame_number(pixels) for _, pixels in video.scan(path, probed=found, indices=[0, 3, 29])]
    assert numbers == [0, 3, 29]
    assert list(video.scan(path, probed=found, indices=[])) == []


def test_a_picture_is_scanned_too(tmp_path: Path) -> None:
    picture = np.random.default_rng(0).integers(0, 256, (40, 60, 3), dtype=np.uint8)
    video.write_image(tmp_path / "one.png", picture)
    scan = video.scan(tmp_path / "one.png", probed=video.probe(tmp_path / "one.png"), reader="pyav")
    ((index, pixels),) = scan
    assert index == 0
    assert (pixels == picture).all()


def test_what_makes_no_sense_is_refused(written: Callable[[str], Path]) -> None:
    path = written("plain")
    found = video.probe(path)
    with pytest.raises(UnknownNameError, match=r"opencv.*decord, pyav"):
        video.scan(path, probed=found, reader="opencv")
    with pytest.raises(InputError, match="there is no frame 30: the video has 30"):
        video.scan(path, probed=found, indices=[2, 30])
    with pytest.raises(InputError, match="there is no frame -1"):
        video.scan(path, probed=found, indices=[-1, 3])
    with pytest.raises(InputError, match="in ascending order, each once"):
        video.scan(path, probed=found, indices=[4, 4])
    with pytest.raises(InputError, match="give 1 or more"):
        video.scan(path, probed=found, every=0)
