"""Every preset, with a stand-in of its program: what it is given, how it is started, and what is read of it."""

from __future__ import annotations

import csv
import itertools
import re
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from tests.eval.adapters.programs import EDITORS, PROGRAMS, cloned

from inpaintbench.errors import InputError, NotMeasurable
from inpaintbench.eval.adapters.checking import COLOUR, FLIP, KNOWN, SHIFT, TIME, UNCHANGED
from inpaintbench.eval.adapters.exchange import write_texts
from inpaintbench.eval.adapters.fitting import ceiling_db
from inpaintbench.eval.adapters.layouts import layouts, presets
from inpaintbench.eval.methods.command import Command
from inpaintbench.eval.scoring.check import made_view, tried
from inpaintbench.eval.scoring.predict import run
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView

QUICK = ("propainter", "propainter-grown", "e2fgvi-hq", "fuseformer", "sttn", "fgvc", "diffueraser", "vace", "lama")
"""Tried on every change; the others in the long lane."""
FILLERS = [name for name in PROGRAMS if name not in EDITORS]
# Sizes that only the divisor of each preset makes fit, and those that programs of one size take as they are.
SIZES = {"fuseformer": (432, 240), "sttn": (432, 240), "e2fgvi": (432, 240), "vinet": (512, 512), "comodgan": (512, 512),
         "cpnet": (424, 240), "opn": (424, 240), "minimax-remover": (832, 480), "effecterase": (832, 480),
         "undereraser": (720, 480), "gen-omnimatte": (672, 384), "void": (672, 384), "videopainter": (720, 480)}  # fmt: skip
# How far a program's own growth reaches beyond the hole, in pixels.
REACH = {
    "cross 4": 4,
    "cross 5 and holes filled": 5,
    "cross 6": 6,
    "cross 1": 1,
    "erode box 1, then box 8": 8,
    "box 11": 5,
    "none": 0,
    "box 10x6": 0,
}


def _takes_weights(name: str) -> bool:
    return any("{weights}" in text for text in (*layouts()[name].started, *layouts()[name].files.values()))


def method(name: str, folder: Path, **constants: Any) -> Command:
    clone = cloned(name, folder, changed=constants.pop("changed", ""))
    weights = {"weights": str(clone / "weights.pth")} if _takes_weights(name) else {}
    return Command(layout=name, folder=str(clone), python=sys.executable, device="any", **weights, **constants)


def item(width: int, height: int, *, frames: int, seed: int = 0) -> tuple[Frames, Hole]:
    """Smooth colours with a checkerboard whose squares tell place and frame, and a hole that looks another when it is turned."""
    rng = np.random.default_rng(seed)
    row, column = np.mgrid[:height, :width]
    smooth = np.stack([row * 90 // height + 60, column * 90 // width + 60, (row + column) * 90 // (height + width) + 60], -1)
    clip = np.empty((frames, height, width, 3), np.uint8)
    for number in range(frames):
        board = ((row + 3 * number) // 24 + column // 24) % 2
        clip[number] = smooth + 40 * board[..., None]
    hole = np.zeros((frames, height, width), np.bool_)
    top, left = int(rng.integers(10, height - 52)), int(rng.integers(10, width - 72))
    for number in range(frames):
        hole[number, top : top + 34, left + number % 5 : left + 50 + number % 5] = True
        hole[number, top + 34 : top + 42, left : left + 20] = True  # a foot on one side
    return np.where(hole[..., None], np.uint8(127), clip), hole


def check(name: str, made: Frames, frames: Frames, hole: Hole) -> None:
    """Colours of holes tell order, polarity and place; known pixels are those that were given."""
    layout = layouts()[name]
    square = cv2.getStructuringElement(cv2.MORPH_RECT, (3, 3))
    inside = np.stack([cv2.erode(missing.view(np.uint8), square, iterations=8 if layout.lossy else 0) > 0 for missing in hole])
    reach = REACH[layout.dilates] + (8 if layout.lossy else 0)
    known = np.stack([cv2.dilate(missing.view(np.uint8), square, iterations=reach + 1) == 0 for missing in hole])
    for number, picture in enumerate(made):
        place = number + layout.frames_rule.lead
        colour = np.array([7 * place % 256, 37, 91])
        off = np.abs(picture[inside[number]].astype(int) - colour)
        if layout.lossy is None:
            assert off.max() == 0, (name, number)
            np.testing.assert_array_equal(picture[known[number]], frames[number][known[number]], err_msg=f"{name} {number}")
        else:
            assert off.max() <= 24, (name, number, off.max())
            assert np.median(off) <= 3, (name, number)
    if layout.lossy is not None:
        error = np.mean((made[known].astype(float) - frames[known]) ** 2)
        assert 10 * np.log10(255**2 / error) > ceiling_db(frames, layout.lossy) - 2  # a painted hole costs bits


def test_every_preset_has_a_stand_in() -> None:
    assert set(presets()) == set(PROGRAMS)
    assert set(QUICK) < set(PROGRAMS)


@pytest.mark.parametrize("name", presets())
def test_a_preset_has_every_fact_or_says_that_nobody_states_it(name: str) -> None:
    layout = presets()[name]
    assert [fact for fact in ("home", "commit", "licence", "needs", "weights", "expect") if not getattr(layout, fact)] == []
    assert layout.expect
    assert layout.expect.startswith("not stated") or re.search(r"\d (GB|s)\b.* by its (README|docs)", layout.expect)
    assert (layout.device == "cuda") == bool(layout.card)
    page = (Path(__file__).parents[3] / "docs" / "methods.md").read_text()
    told = page.partition("**CUDA may be hard-coded**")[2].partition("stops on a machine")[0]
    assert (f"`{name}`" in told) == (layout.card or "").startswith("CUDA is hard-coded")
    assert not layout.unchecked


@pytest.mark.parametrize("name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.long) for name in FILLERS])
def test_a_preset_is_read_where_its_program_writes(name: str, tmp_path: Path) -> None:
    width, height = SIZES.get(name, (150, 106))
    frames, hole = item(width, height, frames=24 if name in ("diffueraser", "vace") else 6)
    leaf = method(name, tmp_path / "clone")
    before = sorted(tmp_path.rglob("*"))
    made = run(leaf, ItemView.of_arrays(input=frames, hole=hole, fps=24.0))
    assert made.shape == frames.shape
    check(name, made, frames, hole)
    assert [path for path in sorted(tmp_path.rglob("*")) if "__pycache__" not in str(path)] == before  # nothing left in the clone


@pytest.mark.long
@pytest.mark.parametrize("name", QUICK)
def test_no_item_is_misplaced(name: str, tmp_path: Path) -> None:
    leaf = method(name, tmp_path / "clone")
    for seed in range(13):
        rng = np.random.default_rng(seed)
        width, height = SIZES.get(name, (int(rng.integers(96, 260)), int(rng.integers(72, 180))))
        frames, hole = item(width, height, frames=int(rng.integers(3, 30)), seed=seed)
        check(name, run(leaf, ItemView.of_arrays(input=frames, hole=hole, fps=24.0)), frames, hole)


FAULTS = {
    "writes nothing": ("\nimport shutil; shutil.rmtree(out)", r"the program wrote no frames/frames/0000\.png, wanted 4 frames"),
    "writes half": ("\nos.remove(out + '/frames/0002.png')", r"the program wrote no frames/frames/0002\.png, wanted 4 frames"),
    "writes one more": ("\nsave(out + '/frames', '{:04d}.png', done[:1], first=4)", r"0004\.png too, wanted 4 frames"),
    "writes another size": ("\nsave(out + '/frames', '{:04d}.png', done[:, :8])", r"0000\.png is 152x8, wanted 152x128"),
    "writes no picture": ("\nopen(out + '/frames/0001.png', 'w').write('x')", r"the program's 0001\.png|frame.*cannot be opened"),
    "hangs": ("\nimport time; print('at work', flush=True); time.sleep(60)", r"took longer than 4 s and was stopped"),
    "fails on standard output": ("\nprint('no memory'); sys.exit(3)", r"ended with exit status 3: .*no memory"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_program_that_fails_is_one_sentence_and_its_words_are_kept(fault: str, tmp_path: Path) -> None:
    line, reason = FAULTS[fault]
    frames, hole = item(150, 106, frames=4)
    leaf = method("propainter", tmp_path / "clone", changed=line, time_limit_seconds=4.0 if fault == "hangs" else None)
    leaf.log = tmp_path / "log.txt"
    with pytest.raises(NotMeasurable, match=reason):
        run(leaf, ItemView.of_arrays(input=frames, hole=hole, fps=24.0))
    said = leaf.log.read_text()
    assert said.startswith("$ cd ")
    assert "inference_propainter.py -i " in said
    assert {"hangs": "at work", "fails on standard output": "no memory"}.get(fault, "") in said
    assert said.endswith(" s\n")


def test_a_video_of_another_length_says_so(tmp_path: Path) -> None:
    frames, hole = item(150, 106, frames=4)
    short = "\nmp4v('results/frames_results.mp4', frames[:3], 24)"
    with pytest.raises(NotMeasurable, match=r"the program's results/frames_results\.mp4 has 3 frames, wanted 4"):
        run(method("e2fgvi-hq", tmp_path / "clone", changed=short), ItemView.of_arrays(input=frames, hole=hole, fps=24.0))


def test_a_clip_that_is_too_long_is_refused_or_cut_into_windows(tmp_path: Path) -> None:
    frames, hole = item(96, 80, frames=90)
    view = ItemView.of_arrays(input=frames, hole=hole, fps=24.0)
    leaf = method("vace", tmp_path / "clone")
    with pytest.raises(NotMeasurable, match=r"takes at most 81 frames, the clip has 90; overlap=N cuts it into windows"):
        run(leaf, view)
    made = run(method("vace", tmp_path / "other", overlap=9), view)
    assert made.shape == frames.shape
    places = [*range(45), *range(36, 81)]  # frames 0 to 80, then 9 to 89: they meet in the middle of what they share
    off = [
        abs(int(np.median(picture[missing][:, 0])) - 7 * place % 256)
        for picture, missing, place in zip(made, hole, places, strict=True)
    ]
    assert max(off) <= 4


def test_what_a_preset_lacks_is_told_before_it_runs(tmp_path: Path) -> None:
    clone = str(cloned("propainter", tmp_path))
    with pytest.raises(InputError, match=r"is no clone of ProPainter: it has no inference_propainter\.py"):
        Command(layout="propainter", folder=str(tmp_path.parent))
    with pytest.raises(InputError, match=r"'propainter' needs the folder of its program: give --program FOLDER"):
        Command(layout="propainter")
    with pytest.raises(
        InputError, match=r"'e2fgvi-hq' needs its weights \(E2FGVI-HQ-CVPR22\.pth, [^)]*\): give --method e2fgvi-hq,weights=PATH"
    ):
        Command(layout="e2fgvi-hq", folder=clone)
    if not any(Path("/dev").glob("nvidia[0-9]*")):
        reason = (
            r"'fgvc' runs on an NVIDIA card alone \(CUDA is hard-coded in tool/video_completion\.py\), and there is none; fgvc,"
        )
        with pytest.raises(InputError, match=reason):
            Command(layout="fgvc", folder=clone)
    lacking = cloned("minimax-remover", tmp_path / "minimax")
    (lacking / "vae").rmdir()
    with pytest.raises(InputError, match=r"has no vae, which 'minimax-remover' looks for \(weights: vae, transformer and"):
        Command(layout="minimax-remover", folder=str(lacking), device="any")


def test_a_table_keeps_the_quotation_marks_of_a_prompt(tmp_path: Path) -> None:
    layout = layouts()["videopainter"]
    for prompt in ('a sign that says "stop", in red', ""):
        write_texts(tmp_path, layout, {"{prompt}": prompt, "{hole_prompt}": f"{prompt}!"}, [])
        with (tmp_path / "captions.csv").open(newline="") as file:
            (row,) = csv.DictReader(file)
        assert row == {"Video_Index": "1", "Video_Caption": f"{prompt} ", "Masked_Target_Caption": f"{prompt}! "}


def test_weights_are_found_beside_the_caller_and_in_the_program_s_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = cloned("e2fgvi-hq", tmp_path / "clone")
    (clone / "release_model" / "hq.pth").write_text("weights")
    monkeypatch.chdir(tmp_path)

    def weights(name: str, given: str, **constants: Any) -> str:
        leaf = Command(layout=name, folder="clone", device="any", **{"weights": given, **constants})
        return next(after for word, after in itertools.pairwise(leaf.arguments) if word == "-c")

    assert weights("e2fgvi-hq", "weights.pth") == str(clone / "weights.pth")
    assert weights("e2fgvi-hq", "hq.pth") == str(clone / "release_model" / "hq.pth")
    (tmp_path / "hq.pth").touch()
    assert weights("e2fgvi-hq", "hq.pth") == str(tmp_path / "hq.pth")
    assert weights("e2fgvi-hq", "OWNER/MODEL") == "OWNER/MODEL"  # a name
    with pytest.raises(InputError, match=r"^no weights 'other\.pth' here, and none in '.*clone'$"):
        weights("e2fgvi-hq", "other.pth")
    takes = r"^DFVI takes no weights=hq\.pth, it looks for them itself \(in pretrained_models/ of its folder"
    with pytest.raises(InputError, match=takes):
        weights("dfvi", "hq.pth")


def test_weights_stand_in_for_the_folder_in_which_a_program_looks_for_them(tmp_path: Path) -> None:
    frames, hole = item(150, 106, frames=4)
    clone = cloned("propainter", tmp_path / "clone", changed="\nprint('finds', *os.listdir('weights'))")
    (clone / "weights").rmdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "raft-things.pth").touch()
    with pytest.raises(InputError, match="has no weights, which 'propainter' looks for"):
        Command(layout="propainter", folder=str(clone), python=sys.executable)
    leaf = Command(layout="propainter", folder=str(clone), python=sys.executable, weights=str(tmp_path / "elsewhere"))
    leaf.log = tmp_path / "log.txt"
    run(leaf, ItemView.of_arrays(input=frames, hole=hole, fps=24.0))
    assert "\nfinds raft-things.pth\n" in leaf.log.read_text()
    with pytest.raises(InputError, match=r"^no weights 'nowhere' here, and none in "):
        Command(layout="propainter", folder=str(clone), python=sys.executable, weights="nowhere")


def test_windows_are_for_programs_that_take_a_limited_number_of_frames(tmp_path: Path) -> None:
    clone = str(cloned("propainter", tmp_path))
    with pytest.raises(InputError, match=r"^'propainter' takes clips of any length: no windows of it can share 16 frames$"):
        Command(layout="propainter", folder=clone, overlap=16)
    with pytest.raises(InputError, match=r"^'vace' takes at most 81 frames: no windows of it can share 81 frames$"):
        Command(layout="vace", folder=clone, weights=clone, device="any", overlap=81)


def test_nothing_of_killed_runs_stays_in_the_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left = tmp_path / "inpaintbench-run-left"
    left.mkdir()
    (left / ".held").touch()  # nobody holds its lock
    (left / "frame.png").touch()
    frames, hole = item(96, 80, frames=3)
    run(Command(command="sh -c 'cp $0/frame_* $1'"), ItemView.of_arrays(input=frames, hole=hole))
    assert list(tmp_path.iterdir()) == []


def test_a_command_runs_in_a_container_that_sees_its_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frames, hole = item(96, 80, frames=3)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="an image needs docker or podman, and neither is on the PATH"):
        Command(command="fill {input} {output}", image="fill:1")
    # Stands for the container program: notes its options, then runs what the image would.
    (tmp_path / "docker").write_text(
        f'#!/bin/sh\n[ "$1" = info ] && [ -e {tmp_path}/ends ] && echo no daemon >&2 && exit 1\n'
        '[ "$1" = info ] && exit\n[ "$1" = image ] && { [ "$3" = fill:1 ] ; exit; }\n'
        f'echo "$@" >> {tmp_path}/told\n[ "$1" = rm ] && exit\n'
        'while [ "$1" != fill:1 ]; do shift; done\n[ "$3" = hang ] && exec /bin/sleep 60\n/bin/cp "$4"/frame_* "$5"\n'
    )
    (tmp_path / "docker").chmod(0o700)
    with pytest.raises(InputError, match=r"^docker has no image 'fill:2': docker pull fill:2, or build it$"):
        Command(command="fill {input} {output}", image="fill:2")
    (tmp_path / "ends").touch()
    with pytest.raises(InputError, match=r"^the image 'fill:2' cannot be run: docker: no daemon$"):
        Command(command="fill {input} {output}", image="fill:2")
    with pytest.raises(InputError, match=r"^no container can be run: docker: no daemon$"):
        Command(command="docker run fill:1 {input} {output}")
    (tmp_path / "ends").unlink()
    weights = tmp_path / "weights.pth"
    weights.touch()
    words: dict[str, Any] = {"image": "fill:1", "weights": str(weights)}
    leaf = Command(command="fill {weights} {input} {output}", **words)
    np.testing.assert_array_equal(run(leaf, ItemView.of_arrays(input=frames, hole=hole)), frames)
    asked = (tmp_path / "told").read_text().splitlines()
    told = asked[0].split()
    assert told[:3] == ["run", "--rm", "--name"]
    scratch = Path(told[-2]).parent
    mounted = [word for before, word in itertools.pairwise(told) if before == "--volume"]
    assert mounted == [f"{scratch}:{scratch}", f"{weights}:{weights}"]
    assert asked[1] == f"rm --force {scratch.name}"
    # What a stopped program asked for is ended too.
    leaf = Command(command="fill hang {input} {output}", time_limit_seconds=1.0, image="fill:1")
    with pytest.raises(NotMeasurable, match="took longer than 1 s"):
        run(leaf, ItemView.of_arrays(input=frames, hole=hole))
    asked = (tmp_path / "told").read_text().splitlines()
    assert asked[-1] == f"rm --force {asked[-2].split()[3]}"


@pytest.mark.parametrize(
    ("how", "decibels"), [("mp4v", 32.35), ("jpeg", 37.93), ("h264-crf25", 30.99), ("h264-crf15", 32.91), ("h264-crf10", 33.28)]
)
def test_the_ceiling_of_a_form_is_that_of_the_program_that_writes_it(how: str, decibels: float) -> None:
    """Golden values: OpenCV's mp4v, Pillow's JPEG 75, and imageio's qualities 5, 7 and 8, on one pattern."""
    t, y, x = np.mgrid[:12, :128, :208].astype(float)
    waves = [np.sin(0.11 * x + 0.05 * t), np.cos(0.07 * y - 0.09 * t), np.sin(0.0013 * x * y + 0.2 * t)]
    frames = np.stack([np.round(127.5 + 127.5 * wave) for wave in waves], -1).astype(np.uint8)
    assert ceiling_db(frames, how) == pytest.approx(decibels, abs=0.5)


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(InputError, match="unknown form 'avi'"):
        ceiling_db(np.zeros((1, 16, 16, 3), np.uint8), "avi")


WRONG = {
    "one pixel off": ("np.roll(done, 1, axis=2)", SHIFT, "1 px to the right off their place"),
    "mirrored": ("done[:, :, ::-1]", FLIP, "mirrored left to right"),
    "a frame off": ("np.roll(done, 1, axis=0)", TIME, "one frame late"),
    "blue first": ("done[..., ::-1]", COLOUR, "red and blue exchanged"),
    "noise": ("np.random.default_rng(0).integers(0, 256, done.shape, np.uint8)", KNOWN, "repainted, or written with loss"),
    "idle": ("frames", UNCHANGED, "nothing is filled"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_check_tells_where_a_result_went_wrong(name: str, tmp_path: Path) -> None:
    change, mistake, words = WRONG[name]
    leaf = method("propainter", tmp_path, changed=f"\nsave(out + '/frames', '{{:04d}}.png', {change})")
    shown = tried(leaf, partial(made_view, "hole")).mistakes
    assert list(shown) == [mistake]
    assert words in shown[mistake]


@pytest.mark.parametrize("name", ["propainter", "e2fgvi-hq"])
def test_a_check_of_a_program_that_works(name: str, tmp_path: Path) -> None:
    assert not tried(method(name, tmp_path), partial(made_view, "hole")).mistakes
