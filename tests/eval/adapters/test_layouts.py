"""Each layout, as a program of its own reads and writes it."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pytest
from tests.eval.methods.contract import HEIGHT, WIDTH, corrupted, wandering_hole, world

from inpaintbench.errors import InputError, NotMeasurable, UnknownNameError
from inpaintbench.eval.adapters.layouts import Layout, layout_of, layouts, presets
from inpaintbench.eval.methods.command import Command
from inpaintbench.eval.scoring.predict import run
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView

FRAMES = 2


@dataclass(frozen=True)
class Expected:
    """What a program of the method finds and leaves, in this test's own words."""

    given: tuple[str, ...]
    """Every file of the input folder, frames before holes."""
    wanted: tuple[str, ...]
    """Every file of the output folder."""
    hole_level: int
    mode: str
    size: tuple[int, int]
    frame_by_frame: bool = False


def as_devil(size: tuple[int, int]) -> Expected:
    return Expected(
        ("frame_0000_gt.png", "frame_0001_gt.png", "frame_0000_mask.png", "frame_0001_mask.png"),
        ("frame_0000_pred.png", "frame_0001_pred.png"), hole_level=0, mode="1", size=size,
    )  # fmt: skip


# Items have 50x44 pixels, so that every divisor shows.
METHODS = {
    "devil-jointopt": as_devil((50, 44)),
    "devil-vinet": as_devil((64, 48)),
    "devil-dfcnet": as_devil((64, 64)),
    "devil-cpnet": as_devil((56, 48)),
    "devil-opn": as_devil((56, 48)),
    "devil-sttn": as_devil((432, 240)),
    "devil-fgvc": as_devil((56, 48)),
    "comodgan": Expected(
        ("frame_0000.png", "frame_0001.png", "mask_0000.png", "mask_0001.png"), ("frame_0000.png", "frame_0001.png"),
        hole_level=0, mode="L", size=(512, 512), frame_by_frame=True,
    ),
}  # fmt: skip
OTHERS = {
    "plain": Expected(
        ("frame_0000.png", "frame_0001.png", "hole_0000.png", "hole_0001.png"), ("frame_0000.png", "frame_0001.png"),
        hole_level=255, mode="L", size=(50, 44),
    ),
    "folders": Expected(
        ("frames/00000.png", "frames/00001.png", "masks/00000.png", "masks/00001.png"), ("00000.png", "00001.png"),
        hole_level=255, mode="L", size=(50, 44),
    ),
    "devil": as_devil((50, 44)),
}  # fmt: skip

STUB = """
import json, pathlib, sys
import numpy as np
from PIL import Image

told = json.loads(sys.argv[1])
frames, holes = told["given"][:2], told["given"][2:]

def fill(frame, hole, number):
    with Image.open(frame) as image:
        assert image.mode == "RGB" and list(image.size) == told["size"], image
        levels = np.asarray(image)
    with Image.open(hole) as image:
        assert image.mode == told["mode"] and list(image.size) == told["size"], image
        grey = np.asarray(image.convert("L"))
    assert set(np.unique(grey)) <= {0, 255}
    missing = (grey == told["hole_level"])[..., None]
    return Image.fromarray(np.where(missing, np.uint8([10 + number, 200, 30]), 255 - levels))

if told["frame_by_frame"]:
    frame, hole, result = map(pathlib.Path, sys.argv[2:])
    number = frames.index(frame.name)
    assert hole.name == holes[number] and result.name == told["wanted"][number]
    fill(frame, hole, number).save(result)
else:
    source, target = map(pathlib.Path, sys.argv[2:])
    there = {str(path.relative_to(source)) for path in source.rglob("*") if path.is_file()}
    assert there == set(told["given"]), there
    for number in (0, 1):
        fill(source / frames[number], source / holes[number], number).save(target / told["wanted"][number])
"""


def stub(folder: Path, expected: Expected) -> str:
    (folder / "stub.py").write_text(STUB)
    return shlex.join([sys.executable, str(folder / "stub.py"), json.dumps(asdict(expected))])


def item(*, known_level: int | None = None) -> tuple[Frames, Hole]:
    truth, hole = world()[:FRAMES, :44, :50], wandering_hole()[:FRAMES, :44, :50]
    return corrupted(truth if known_level is None else np.full_like(truth, known_level), hole), hole


@pytest.mark.parametrize("name", [*METHODS, *OTHERS])
def test_a_program_of_that_layout_fills_the_hole(name: str, tmp_path: Path) -> None:
    expected = (METHODS | OTHERS)[name]
    frames, hole = item(known_level=90 if name == "comodgan" else None)
    method = Command(
        command=stub(tmp_path, expected) + " {frame} {hole} {prediction}" * expected.frame_by_frame,
        layout=name,
        folder=str(tmp_path),
        device="any",
    )
    found = run(method, ItemView.of_arrays(input=frames, hole=hole))
    for index in range(FRAMES):
        assert set(map(tuple, found[index][hole[index]])) == {(10 + index, 200, 30)}
    if name == "comodgan":  # beside the hole its resizing mixes
        assert (found[:, :10] == 165).all()
        assert not hole[:, :11].any()
    else:
        np.testing.assert_array_equal(found[~hole], 255 - frames[~hole])


def test_every_layout_says_where_its_facts_come_from() -> None:
    assert set(layouts()) == {*METHODS, *OTHERS, *presets()}
    for name, layout in layouts().items():
        assert layout.source
        assert set(layout.unchecked) <= set(Layout.model_fields) - {"title", "source", "unchecked"}, name


def test_of_a_program_that_takes_no_hole_nothing_is_said_of_one() -> None:
    assert str(layouts()["tokenflow"]).startswith("video.mp4 -> ")
    assert "mask.mp4 (white is hole) -> " in str(layouts()["vace"])


def test_a_shrunken_hole_keeps_every_missing_pixel_from_passing_for_a_picture(tmp_path: Path) -> None:
    """Filling values are white here; none may be left in what the program sees as known."""
    rows = [
        'frame = "{}.png"',
        'hole = "h{}.png"',
        'prediction = "{}.png"',
        'hole_level = "white"',
        "size = [20, 30]",
        "first = 5",
    ]
    (tmp_path / "mine.toml").write_text("\n".join(rows))
    (tmp_path / "peek.py").write_text(
        "import sys, numpy as np\nfrom PIL import Image\nsource, target = sys.argv[1:]\n"
        "for number in (5, 6):\n"
        "    frame, hole = (np.asarray(Image.open(f'{source}/{name}{number}.png')) for name in ('', 'h'))\n"
        "    assert frame.shape == (30, 20, 3) and (hole == 255).any() and (hole == 0).any()\n"
        "    assert (frame[hole == 0] == 90).all()\n"
        "    Image.fromarray(frame).save(f'{target}/{number}.png')\n"
    )
    truth, hole = np.full((2, HEIGHT, WIDTH, 3), 90, np.uint8), wandering_hole()[:2]
    view = ItemView.of_arrays(input=corrupted(truth, hole, fill=255), hole=hole)
    command = Command(command=shlex.join([sys.executable, str(tmp_path / "peek.py")]), layout=str(tmp_path / "mine.toml"))
    assert run(command, view).shape == truth.shape
    before = command.content("item")
    (tmp_path / "mine.toml").write_text("\n".join([*rows, "divisor = 2"]))
    assert command.content("item") != before


def test_a_program_of_frames_says_what_it_lacks(tmp_path: Path) -> None:
    frames, hole = item()
    (tmp_path / "mine.toml").write_text('frame = "f{}.png"\nhole = "h{}.png"\nprediction = "frame_{:04d}.png"\nruns = "frame"\n')
    mine = str(tmp_path / "mine.toml")
    with pytest.raises(NotMeasurable, match="told a file for each hole, which this benchmark does not give"):
        run(Command(command="false", layout=mine), ItemView.of_arrays(input=frames))
    with pytest.raises(NotMeasurable, match="ended with exit status 1"):
        run(Command(command="false", layout=mine), ItemView.of_arrays(input=frames, hole=hole))
    with pytest.raises(NotMeasurable, match=r"the program wrote no frame_0000\.png, wanted 2 frames"):
        run(Command(command="true", layout=mine), ItemView.of_arrays(input=frames, hole=hole))
    slow = Command(command="sh -c 'sleep 0.7' {frame} {hole} {prediction}", layout=mine, time_limit_seconds=1)
    with pytest.raises(NotMeasurable, match="took longer than 1 s and was stopped"):
        run(slow, ItemView.of_arrays(input=frames, hole=hole))
    with pytest.raises(InputError, match=r"names only two of \{frame\}, \{hole\} and \{prediction\}; name all or none"):
        Command(command="true {frame} {hole}", layout=mine)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('frame = "a.png"', r"frame: .*'a\.png' needs a place for a number"),
        ('frame = "../{}.png"', "below the folder"),
        ('frame = "{}.bmp"', r"does not end in \.png, or \.jpg for PNG under that name"),
        ('frame = "{}.png"', "give either prediction or video_out"),
        ('prediction = "{}.png"', "give frame, video_in, or both"),
        ('frame = "{}.png"\nvideo_out = "o.mp4"\nlinks = ["weights"]', 'links are for cwd = "overlay"'),
        ('frame = "{}.png"\nvideo_out = "o.mp4"\ncwd = "here"', "cwd 'here' is none of scratch, overlay, repo"),
        ('frame = "{}.png"\nvideo_out = "o.mp4"\nframes_rule = { overlap = 4 }', "overlap takes a max"),
        ('frame = "{}.png"\nvideo_out = "../o.mp4"', "is no name below the folder"),
        ('colour = "red"', "colour: Extra inputs are not permitted"),
        ("frame = ", "is not TOML"),
    ],
)
def test_a_layout_of_yours_that_is_none_says_why(text: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(InputError, match=reason):
        Command(command="true", layout=str(tmp_path / "mine.toml"))
    with pytest.raises(InputError, match=r"the layout 'none\.toml' cannot be read: No such file"):
        Command(command="true", layout="none.toml")
    with pytest.raises(UnknownNameError, match="unknown layout 'stn', did you mean 'sttn'"):
        Command(command="true", layout="stn")


def test_a_program_may_run_in_its_own_folder(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "go.sh").write_text('#!/bin/sh\n. ./settings\ncp "$1"/frame_* "$2"\n')
    (own / "go.sh").chmod(0o700)
    (own / "settings").touch()
    frames, hole = item()
    view = ItemView.of_arrays(input=frames, hole=hole)
    command = Command(command="./go.sh", folder=str(own))
    np.testing.assert_array_equal(run(command, view), frames)
    before = command.content("item")
    (own / "go.sh").write_text("#!/bin/sh\n")
    assert command.content("item") != before
    weights = tmp_path / "weights"
    (weights / "models").mkdir(parents=True)
    command = Command(command="./go.sh {weights} {input} {output}", folder=str(own), weights=str(weights))
    before = command.content("item")
    (weights / "models" / "best.ckpt").touch()
    assert command.content("item") != before
    with pytest.raises(InputError, match="no folder 'nowhere' to run 'true' in"):
        Command(command="true", folder="nowhere")


def test_the_documentation_has_the_same_table() -> None:
    page = (Path(__file__).parents[3] / "docs" / "methods.md").read_text()
    for name in layouts().keys() - presets().keys():
        layout = layouts()[name]
        divisor, size = ("x".join(map(str, one)) if isinstance(one, tuple) else one for one in (layout.divisor, layout.size))
        assert f"| `{name}` | {layout.hole_level} | {divisor} | {size or 'any'} | {layout.runs} |" in page


def test_the_layout_in_the_documentation_is_one(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "methods.md").read_text()
    text = page.partition("```toml\n")[2].partition("```")[0]
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8-sig")  # as editors of Windows save it
    layout = layout_of(str(tmp_path / "mine.toml"))
    assert (layout.divisor, layout.first, layout.hole_level, layout.prediction) == ((16, 8), 1, "black", "{:05d}.jpg")
