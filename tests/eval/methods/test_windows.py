"""Programs that work on windows of a clip: the result is that of the whole, and what was finished outlasts a stopped run."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from old_format import write_one_file
from program import run_here
from scoring_probes import write_items

from inpaintbench.errors import InputError
from inpaintbench.eval.adapters.layouts import Cut, FramesRule, Layout, Window, layouts
from inpaintbench.eval.adapters.parts import Parts
from inpaintbench.eval.adapters.starting import Usage
from inpaintbench.eval.methods.command import Command
from inpaintbench.eval.scoring.predict import PARTS
from inpaintbench.steps import predict_step
from inpaintbench.types import Frames, Prediction
from inpaintbench.view import ItemView
from inpaintbench.workspace import Workspace

# Each frame becomes the mean of itself, the two before and the one after, as far as they are there. It notes what it was given,
# and waits for ever at the end of the call whose number is named.
PROGRAM = """
import pathlib, sys, time
import numpy as np
from PIL import Image
given, wanted, marks = map(pathlib.Path, sys.argv[1:])
frames = np.stack([np.asarray(Image.open(path)) for path in sorted(given.glob("frame_*.png"))])
for number in range(len(frames)):
    mean = frames[max(number - 2, 0) : number + 2].mean(axis=0)
    Image.fromarray(mean.astype(np.uint8)).save(wanted / f"frame_{number:04d}.png")
stop = marks / "stop at"
if stop.exists() and len(list(marks.glob("call *"))) == int(stop.read_text()):
    (marks / "waits").touch()
    time.sleep(600)
(marks / f"call {time.time_ns()}").write_text(str(len(frames)))
"""
CUT = "cut = { length = 4, before = 2, after = 1 }\n"


def layout(folder: Path, cut: str = CUT) -> Path:
    """A file of a layout whose program notes its calls in ``folder / "marks"``."""
    (folder / "marks").mkdir(exist_ok=True, parents=True)
    if not (folder / "program.py").exists():
        (folder / "program.py").write_text(PROGRAM)
    path = folder / f"{'cut' if cut else 'whole'}.toml"
    command = f"{sys.executable} {folder / 'program.py'} {{input}} {{output}} {folder / 'marks'}"
    names = 'frame = "frame_{:04d}.png"\nhole = "hole_{:04d}.png"\nprediction = "frame_{:04d}.png"\n'
    text = f'{names}command = "{command}"\n{cut}'
    if not path.exists() or path.read_text() != text:  # a file that is written again is another
        path.write_text(text)
    return path


def calls(folder: Path) -> list[int]:
    """Frames of each call."""
    return [int(path.read_text()) for path in sorted((folder / "marks").glob("call *"))]


def clip(frames: int) -> tuple[Frames, ItemView]:
    rng = np.random.default_rng(frames)
    given = rng.integers(0, 256, (frames, 24, 32, 3), dtype=np.uint8)
    return given, ItemView.of_arrays(input=given, hole=np.ones(given.shape[:3], np.bool_), fps=24.0)


def test_windows_cover_every_frame_once_and_meet_in_the_middle_of_what_they_share() -> None:
    assert Cut(length=4, before=2, after=1).windows(9) == [Window(0, 5, 0, 4), Window(2, 9, 4, 8), Window(6, 9, 8, 9)]
    assert Cut(length=4).windows(4) == [Window(0, 4, 0, 4)]
    for overlap, most, frames in ((1, 5, 17), (3, 8, 30), (4, 9, 10)):
        windows = FramesRule(max=most, overlap=overlap).windows(frames)
        assert [number for window in windows for number in range(window.first, window.last)] == list(range(frames))
        assert all(window.start <= window.first < window.last <= window.end for window in windows)
        assert all(window.end - window.start == most for window in windows)
    with pytest.raises(ValueError, match="cut is for programs that take clips of any length"):
        Layout(title="", frame="{}.png", prediction="{}.png", cut=Cut(length=4), frames_rule=FramesRule(max=9))


@pytest.mark.parametrize("frames", [3, 4, 5, 13])
def test_what_windows_give_is_what_the_whole_clip_gives(frames: int, tmp_path: Path) -> None:
    _, view = clip(frames)
    whole, cut = (Command(layout=str(layout(tmp_path, cut))) for cut in ("", CUT))
    np.testing.assert_array_equal(cut.inpaint(view), whole.inpaint(view))
    assert len(calls(tmp_path)) == 1 + -(-frames // 4)


def test_kept_windows_count_only_where_they_are_whole(tmp_path: Path) -> None:
    given, view = clip(10)
    leaf = Command(layout=str(layout(tmp_path)))
    leaf.parts = Parts(tmp_path / "parts", "key")
    first = leaf.inpaint(view)
    assert leaf.usage is not None
    took = leaf.usage.seconds
    assert calls(tmp_path) == [5, 7, 4]
    np.testing.assert_array_equal(leaf.inpaint(view), first)
    assert len(calls(tmp_path)) == 3  # nothing is made again
    assert leaf.usage.seconds == took  # and it took what it took
    notes = sorted((tmp_path / "parts").glob("*.json"))
    clips = sorted(path for path in (tmp_path / "parts").iterdir() if path.suffix != ".json")
    assert (len(notes), len(clips)) == (3, 3)
    notes[0].write_text("{")  # torn
    damaged = bytearray(clips[1].read_bytes())
    damaged[len(damaged) // 2] ^= 1
    clips[1].write_bytes(damaged)
    np.testing.assert_array_equal(leaf.inpaint(view), first)
    assert len(calls(tmp_path)) == 5
    clips[2].unlink()
    notes[0].write_text(json.dumps({"sha256": "0" * 64, "usage": [1.0, None, None]}))
    np.testing.assert_array_equal(leaf.inpaint(view), first)
    assert len(calls(tmp_path)) == 7
    window = Window(0, 5, 0, 4)
    Parts(tmp_path / "parts", "key").keep(window, given[:1], Usage(1.0))  # what is kept is what is given
    kept = Parts(tmp_path / "parts", "key").read(window)
    assert kept is None or len(kept[0]) == 1
    assert Parts(tmp_path / "parts", "other").read(window) is None  # of another method, or another clip
    leaf.parts.forget()
    assert not (tmp_path / "parts").exists()


def test_a_pattern_of_progress_names_what_it_counts(tmp_path: Path) -> None:
    for pattern, why in (("(?P<total>x)", "has no group"), ("(", "is no regular expression")):
        with pytest.raises(InputError, match=why):
            Command(layout=str(layout(tmp_path, f"progress = ['{pattern}']\n")))


@pytest.mark.long
@pytest.mark.parametrize("ends", ["killed", "time is up"])
def test_an_item_goes_on_where_it_was(ends: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    write_one_file(data, write_items(data, count=1, frames=(10,)))
    unkilled, stopped = tmp_path / "unkilled", tmp_path / "stopped"

    def words(folder: Path, *more: str) -> list[str]:
        options = ["--method", f"mine={layout(folder)}", "--workers", "1", "--despite-check", *more]
        return ["eval", "run", str(data), "--run", str(folder / "run"), *options]

    assert run_here(*words(unkilled)).returncode == 0
    wanted = calls(unkilled)
    assert wanted[-3:] == [5, 7, 4]  # an item of three windows; the check tries some before
    before = len(wanted) - 3
    layout(stopped)
    (stopped / "marks" / "stop at").write_text(str(before + 2))
    if ends == "killed":
        with subprocess.Popen([sys.executable, "-m", "inpaintbench", *words(stopped)], stderr=subprocess.DEVNULL) as run:
            until = time.monotonic() + 120
            while not (stopped / "marks" / "waits").exists():
                assert run.poll() is None
                assert time.monotonic() < until
                time.sleep(0.02)
            run.send_signal(signal.SIGKILL)
    else:
        done = run_here(*words(stopped, "--time-limit", "20"))
        assert "took longer than 20 s and was stopped" in done.stdout + done.stderr
    notes = list((stopped / "run" / PARTS).glob("mine/*/*.json"))
    assert len(notes) == 2
    (stopped / "marks" / "stop at").unlink()
    done_before = len(calls(stopped))
    again = run_here(*words(stopped, *(["--time-limit", "60"] if ends != "killed" else [])))
    assert again.returncode == 0, again.stderr
    # The check tries it again where its limit is another; no window of an item is made twice.
    assert calls(stopped)[done_before:][-1:] == wanted[-1:]
    assert len(calls(stopped)) - done_before == (1 if ends == "killed" else before + 1)
    assert list((stopped / "run" / PARTS / "mine").iterdir()) == []
    made = [
        Workspace(folder / "run").table("predictions", Prediction, step=predict_step("mine")) for folder in (unkilled, stopped)
    ]
    assert [row.blob for row in made[0]] == [row.blob for row in made[1]]
    assert len(made[0]) == 1


def propainter(start: int, end: int, *, batch: int) -> list[int]:
    """What each frame of a clip ``start..end`` is made of, as ProPainter's `inference_propainter.py` goes about it with its own
    options: batches of flow, sub-videos of 80 that are completed and propagated, and frames that are made of others."""
    frames = end - start
    flow, done, image, result = [0] * (frames - 1), [0] * (frames - 1), [0] * frames, [0] * frames
    for first in range(0, frames, batch):
        places = range(max(first - 1, 0), min(first + batch, frames))
        for place in places[:-1]:
            flow[place] = hash((start + place, start + places[0], start + places[-1]))
    for first in range(0, frames - 1, 80):
        chunk = hash(tuple(flow[max(first - 5, 0) : first + 85]))
        for place in range(first, min(first + 80, frames - 1)):
            done[place] = hash((start + place, chunk))
    for first in range(0, frames, 80):
        places = range(max(first - 10, 0), min(first + 90, frames))
        chunk = hash((start + places[0], start + places[-1], *done[places[0] : places[-1]]))
        for place in range(first, min(first + 80, frames)):
            image[place] = hash((start + place, chunk))
    for middle in range(0, frames, 5):
        near = range(max(middle - 5, 0), min(middle + 6, frames))
        far = [place for place in range(max(middle - 40, 0), min(middle + 40, frames), 10) if place not in near][:9]
        made = hash((*(image[place] for place in (*near, *far)), *done[near[0] : near[-1]]))
        for place in near:
            result[place] = hash((result[place], made))
    return result


@pytest.mark.parametrize("batch", [12, 8, 4, 2])  # by the width
def test_windows_of_propainter_hold_all_that_its_result_depends_on(batch: int) -> None:
    cut = layouts()["propainter"].cut
    assert cut is not None
    frames = 2500
    whole = propainter(0, frames, batch=batch)

    def same(cut: Cut) -> bool:
        windows = cut.windows(frames)
        assert len(windows) > 2
        made = [propainter(one.start, one.end, batch=batch)[one.first - one.start : one.last - one.start] for one in windows]
        return [result for part in made for result in part] == whole

    assert same(cut)
    assert not same(Cut(length=cut.length, before=cut.before - 80, after=cut.after)), "a sub-video less before"
    assert not same(Cut(length=cut.length, before=cut.before, after=cut.after - 12)), "a batch of flow less after"
    assert not same(Cut(length=cut.length, before=cut.before + 12, after=cut.after)), "sub-videos lie elsewhere"
