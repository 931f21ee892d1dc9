from __future__ import annotations

import contextlib
import itertools
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
import torture
from torture import FPS, MEMBERS, frame_number, numbered

from inpaintbench import video
from inpaintbench.errors import MediaError

WHOLE = [name for name, member in MEMBERS.items() if not member.refused and not member.cut_off]
PEAK_MEMORY_MB = 400


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


def shown(path: Path, **arguments: object) -> list[int | None]:
    return [frame_number(pixels) for pixels, _ in video.upright_frames(path, hdr="tone_map", **arguments)]


def times_of(path: Path) -> list[float]:
    times = [float(frame.pts * frame.time_base) for frame in video.Decoder(path)]
    return [time - times[0] for time in times]


def test_the_code_is_read_at_any_size_and_not_when_turned_or_mixed() -> None:
    assert all(frame_number(numbered(number, width=17, height=16)) == number for number in range(4096))
    turns = (lambda p: p[::-1], lambda p: p[:, ::-1], lambda p: np.rot90(p), lambda p: np.rot90(p, 2), lambda p: np.rot90(p, -1))
    for turn in turns:
        assert sum(frame_number(turn(numbered(number))) == number for number in range(100)) < 15
    mixed = (numbered(3).astype(int) + numbered(900)) // 2
    assert frame_number(mixed.astype(np.uint8)) is None


@pytest.mark.parametrize("name", WHOLE)
def test_exactly_the_frames_that_are_shown_come_upright_in_order(name: str, written: Callable[[str], Path]) -> None:
    member, path = MEMBERS[name], written(name)
    assert shown(path) == list(member.numbers)
    found = video.probe(path)
    assert found.frames == len(member.numbers)
    first, turned = next(video.upright_frames(path, hdr="tone_map"))
    assert first.shape == (member.size[1], member.size[0], 3)
    assert turned == (found.rotation_degrees % 180 != 0)
    for fact, value in member.facts.items():
        assert asdict(found)[fact] == (pytest.approx(value, abs=1e-3) if isinstance(value, float) else value), fact


@pytest.mark.parametrize("name", WHOLE)
def test_every_frame_has_its_time(name: str, written: Callable[[str], Path]) -> None:
    assert times_of(written(name)) == pytest.approx(MEMBERS[name].shown_at(), abs=1.1e-3)


@pytest.mark.parametrize("fps", [10.0, 50.0, 24000 / 1001])
@pytest.mark.parametrize("name", ["plain", "variable", "variable_mkv", "edit_list", "late_start", "open_group", "mpeg4_b_frames"])
def test_a_constant_rate_shows_what_is_on_screen_at_each_moment(name: str, fps: float, written: Callable[[str], Path]) -> None:
    member, path = MEMBERS[name], written(name)
    count = video.frames_at(video.probe(path).duration_seconds, fps)
    starts = np.array(member.shown_at())
    wanted = [member.numbers[int(np.flatnonzero(starts <= k / fps + 1e-3 + 1e-9)[-1])] for k in range(count)]
    frames = itertools.islice(video.upright_frames(path, fps=fps), count)
    assert [frame_number(pixels) for pixels, _ in frames] == wanted


@pytest.mark.parametrize("name", [name for name, member in MEMBERS.items() if member.cut_off])
def test_of_a_file_cut_off_the_right_frames_come_or_a_reason(name: str, written: Callable[[str], Path]) -> None:
    path = written(name)
    numbers = []
    with contextlib.suppress(MediaError):
        numbers = shown(path)
    if not numbers:
        with pytest.raises(MediaError, match=r"not one frame decodes|cannot be opened as video|codec is not known"):
            video.probe(path)
        return
    # A frame may come without those that go before it on screen but after it in the file; its time says so.
    assert None not in numbers
    assert [round(time * FPS) for time in times_of(path)] == [number - numbers[0] for number in numbers]
    assert sorted(set(numbers)) == numbers
    assert video.probe(path).frames == len(numbers)


def test_most_of_a_file_cut_off_late_is_there(written: Callable[[str], Path]) -> None:
    assert all(len(shown(written(name))) > 15 for name in ("cut_off_7", "cut_off_8", "cut_off_9"))


@pytest.mark.parametrize("name", [name for name, member in MEMBERS.items() if member.refused])
def test_what_holds_no_video_is_refused_with_a_reason(name: str, written: Callable[[str], Path]) -> None:
    with pytest.raises(MediaError, match=MEMBERS[name].refused):
        video.probe(written(name))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the peak of one program")
def test_bombs_do_not_take_memory(written: Callable[[str], Path]) -> None:
    paths = [str(written(name)) for name in MEMBERS if name.startswith("bomb_")]
    assert len(paths) >= 6
    assert sum(Path(path).stat().st_size for path in paths) < 1_000_000
    program = """
import json, sys
from pathlib import Path
from inpaintbench import video
for path in sys.argv[1:]:
    try:
        found = video.probe(path).frames
    except video.decoding.MediaError as error:
        found = str(error)
    # Not getrusage: its peak begins with that of the process that started this one.
    peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    print(json.dumps([found, int(peak.split()[1]) / 1024]))
"""
    done = subprocess.run([sys.executable, "-c", program, *paths], capture_output=True, text=True, timeout=60, check=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rows) == len(paths)
    assert all(peak < PEAK_MEMORY_MB for _, peak in rows), rows


@pytest.mark.parametrize("name", [name for name, member in MEMBERS.items() if member.hdr])
def test_hdr_is_never_taken_for_ordinary_video(name: str, written: Callable[[str], Path]) -> None:
    with pytest.raises(MediaError, match=rf"is HDR \({MEMBERS[name].hdr}\): choose tone mapping, or leave it out"):
        next(video.upright_frames(written(name)))


@pytest.mark.long
def test_memory_does_not_grow_with_the_length_of_a_video(tmp_path: Path) -> None:
    frames = torture.pictures(range(150), width=1280, height=720)
    torture.encode(tmp_path / "long.mp4", frames, options={"preset": "ultrafast"})
    program = """
import resource, sys
from inpaintbench import video
for index, _ in enumerate(video.upright_frames(sys.argv[1])):
    if index in (30, 149):
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""
    command = [sys.executable, "-c", program, str(tmp_path / "long.mp4")]
    early, late = map(int, subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout.split())
    assert late - early < 40  # MB; the frames themselves are 330 MB
