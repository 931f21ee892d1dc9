"""`masks preview` and the `build` commands that share one form."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from footage import write_sources
from PIL import Image
from program import run_here

from inpaintbench import frozen
from inpaintbench.masks.blob_motion import PRESETS
from inpaintbench.masks.generators import GENERATORS

TOLD_SOMETHING = ("saved_masks", "given_blocks", "devil_blobs")
OF_A_PARENT = ("imperfect_mask", "own_mask", "varied")
"""Make a mask of another one."""


@pytest.mark.parametrize("generator", OF_A_PARENT)
def test_a_mask_of_a_parent_cannot_be_looked_at_alone(generator: str, tmp_path: Path) -> None:
    done = run_here("masks", "preview", generator, "--count", "2", "--size", "96x96", "--out", str(tmp_path / "sheet.html"))
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "this item has no 'object_mask'" in done.stderr
    assert not (tmp_path / "sheet.html").exists()


@pytest.mark.parametrize("generator", [name for name in GENERATORS if name not in (*TOLD_SOMETHING, *OF_A_PARENT)])
def test_every_generator_can_be_looked_at(generator: str, tmp_path: Path) -> None:
    done = run_here("masks", "preview", generator, "--count", "2", "--size", "96x96", "--out", str(tmp_path / "sheet.html"))
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "sheet.html").read_text()
    what = re.findall(f"(Degradations|Masks) of {generator}", page)[0]
    assert page.count(f'id="{what.lower()[:-1]}-1-') == 2


@pytest.mark.parametrize(("axis", "levels"), [("camera_path", ("still", "slow", "fast")), ("displacement", ("low", "high"))])
def test_levels_of_an_axis_can_be_looked_at(axis: str, levels: tuple[str, ...], tmp_path: Path) -> None:
    out = tmp_path / "sheet.html"
    done = run_here("masks", "preview", axis, "--count", "1", "--frames", "12", "--size", "128x96", "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert f"{len(levels)} levels over 1 film" in done.stdout
    page = out.read_text()
    assert f"Levels of {axis}: " in page
    assert re.findall(r'href="#panel-\d">level (\w+)', page)[: len(levels)] == list(levels)
    assert page.count('id="mask-') == len(levels)


def test_a_film_that_an_axis_cannot_show_is_told_with_its_reason(tmp_path: Path) -> None:
    done = run_here("masks", "preview", "camera_path", "--count", "2", "--out", str(tmp_path / "sheet.html"))
    assert "3 levels over 1 film: " in done.stdout
    assert "; not shown: coffee_tripod: the hole is outside the middle of the clip" in done.stdout


def test_an_axis_has_no_constants(tmp_path: Path) -> None:
    done = run_here("masks", "preview", "size", "--set", "level=low", "--out", str(tmp_path / "sheet.html"))
    assert done.returncode == 1
    assert "the axis size has no constants and its own films: leave --set, --vary and --images out" in done.stderr


def test_generators_that_must_be_told_something_can_be_looked_at(tmp_path: Path) -> None:
    hole = np.zeros((96, 96), np.uint8)
    hole[30:50, 40:60] = 255
    Image.fromarray(hole).save(tmp_path / "1.png")
    given = {
        "saved_masks": f"folder={tmp_path}",
        "devil_blobs": f"preset={next(iter(PRESETS))}",
        "given_blocks": "blocks=[[9,9,20]]",
    }
    for generator, constant in given.items():
        out = tmp_path / f"{generator}.html"
        size = ("--count", "2", "--size", "96x96", "--out", str(out))
        done = run_here("masks", "preview", generator, "--set", constant, *size)
        assert done.returncode == 0, done.stderr
        assert out.read_text().count('id="mask-1-') == 2
        assert done.stderr.count("guessed for 2 of 2 masks (white_is_hole); state it: --set polarity=") == (
            generator == "saved_masks"
        )
    stated = run_here("masks", "preview", "saved_masks", "--set", given["saved_masks"], "--set", "polarity=black_is_hole", *size)
    assert (stated.returncode, stated.stderr) == (0, "")


def test_a_missing_constant_is_named_with_its_choices() -> None:
    done = run_here("masks", "preview", "devil_blobs", "--out", "x.html")
    assert done.returncode == 1
    assert "devil_blobs needs a preset: --set preset=... (one of " in done.stderr
    assert all(preset in done.stderr for preset in PRESETS)


def test_the_options_that_a_mask_needs_are_named(tmp_path: Path) -> None:
    Image.fromarray(np.full((64, 64), 255, np.uint8)).save(tmp_path / "white.png")
    preview = ("masks", "preview", "saved_masks", "--set", f"folder={tmp_path}", "--out", str(tmp_path / "sheet.html"))
    small = run_here(*preview, "--size", "96x96")
    assert "masks 'white' are 64x64, the clip 96x96: resize them with --set resize=true, or" in small.stderr
    white = run_here(*preview, "--size", "64x64")
    assert "no mask could be made: masks 'white': cannot tell" in white.stderr
    assert "(all pixels are white): state --set polarity=... (white_is_hole or black_is_hole)" in white.stderr
    assert (small.returncode, white.returncode) == (1, 1)
    assert not (tmp_path / "sheet.html").exists()


def test_a_parameter_is_varied_over_panels(tmp_path: Path) -> None:
    out = tmp_path / "new" / "sheet.html"
    done = run_here(
        "masks", "preview", "patches", "--vary", "ratio=0.2;0.6", "--vary", "size=16;32", "--count", "1", "--out", str(out)
    )
    assert done.returncode == 0, done.stderr
    assert "4 masks" in done.stdout
    page = out.read_text()
    assert all(f"ratio {ratio}, size {size}" in page for ratio in (0.2, 0.6) for size in (16, 32))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("masks", "preview", "brush_bx", "--out", "x.html"),
            "unknown mask generator or axis 'brush_bx', did you mean 'brush_box'?",
        ),
        (("masks", "preview", "patches", "--out", "x.html", "--set", "ratio"), "'ratio' is not NAME=VALUE"),
        (("masks", "preview", "patches", "--out", "x.html", "--set", "sise=3"), "cannot be built"),
        (("masks", "preview", "brush_box", "--out", "x.html", "--set", "area=[0.5,0.2]"), "area"),
        (("masks", "preview", "patches", "--out", "{tmp}"), "is a folder; name the HTML file"),
        (("masks", "preview", "patches", "--out", "x.html", "--images", "{tmp}"), "holds no pictures"),
        (
            ("masks", "preview", "patches", "--out", "x.html", "--set", "size=600"),
            "no mask could be made: a frame of 256x256 is smaller than one patch of 600x600 pixels",
        ),
        (("masks", "preview", "patches", "--out", "/proc/nope/x.html"), "'/proc/nope/x.html' cannot be written"),
        (("masks", "preview", "patches", "--out", "{tmp}/w/x.html", "--images", "{tmp}/none"), "holds no pictures"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(arguments: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    check_refused(arguments, sentence, tmp_path)


def check_refused(arguments: tuple[str, ...], sentence: str, folder: Path) -> None:
    done = run_here(*(part.replace("{tmp}", str(folder)) for part in arguments))
    assert done.returncode in (1, 2), done.stdout + done.stderr
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()[-1]) < 400


def state(workspace: Path) -> dict[str, bytes]:
    """All files but those that say when and how a command ran."""
    files = (path for path in sorted(workspace.rglob("*")) if path.is_file() and path.name != ".lock")
    return {str(path): path.read_bytes() for path in files if path.parent != workspace / "logs"}


def test_a_build_that_cannot_be_done_changes_nothing_and_one_workspace_holds_one_benchmark(tmp_path: Path) -> None:
    out, videos = str(tmp_path / "w"), write_sources(tmp_path / "videos", count=2)
    done = run_here("build", "devil", "--sources", videos, "--out", out, "--size", "64x48", "--per-slice", "1", "--workers", "0")
    assert done.returncode == 0, done.stderr
    before = state(tmp_path / "w")
    for arguments, sentence in (
        (("build", "devil", "--sources", str(tmp_path / "none"), "--size", "96x64", "--out", out), "does not exist"),
        (("build", "devil", "--sources", videos, "--saved-masks", str(tmp_path / "none"), "--out", out), "no folder of masks"),
        (("build", "removal", "--demo", "--out", out), "holds a 'devil' benchmark; choose another"),
    ):
        done = run_here(*arguments)
        assert (done.returncode, sentence in done.stderr) == (1, True), done.stderr
        assert state(tmp_path / "w") == before


def test_items_made_with_other_options_are_not_published(tmp_path: Path) -> None:
    videos, out = write_sources(tmp_path / "videos", count=2), str(tmp_path / "w")
    options = ("--sources", str(videos), "--out", out, "--per-slice", "1", "--workers", "0")
    assert run_here("build", "devil", *options, "--size", "64x48").returncode == 0
    assert run_here("export", "freeze", out).returncode == 0
    assert run_here("curation", "clips", *options, "--size", "80x48").returncode == 0
    done = run_here("export", "freeze", out)
    assert done.returncode == 1
    assert "were made with other options; run `inpaintbench masks pair` first" in done.stderr


@pytest.mark.long
def test_footage_that_comes_later_is_added_where_that_is_asked_for(tmp_path: Path) -> None:
    videos = write_sources(tmp_path / "videos", count=2)
    build = ("build", "devil", "--sources", str(videos), "--out", str(tmp_path / "w"))
    same = ("--size", "64x48", "--per-slice")
    first = run_here(*build, *same, "1")
    assert first.returncode == 0, first.stderr
    before = list(frozen.load(tmp_path / "w" / "exports" / "devil").items)
    write_sources(videos, count=3)
    added = run_here(*build, *same, "3", "--append")
    assert added.returncode == 0, added.stderr
    assert re.search(r" -> version 1\.1\.0: \d+ items added", added.stdout)
    after = {row["item_id"]: row for row in frozen.load(tmp_path / "w" / "exports" / "devil").items}
    assert len(after) > len(before)
    assert all(after[row["item_id"]] == row for row in before)
    for wrong, why in (
        ((*same, "3", "--append", "--replace"), "--append keeps what --replace gives up"),
        ((*same, "3", "--append", "--append-to", "x"), "give one of them"),
        ((*same, "3", "--append-to", "x"), "no published dataset in 'x' to add to"),
        (("--per-slice", "3", "--append", "--size", "80x48"), "--append keeps the recipe of"),
    ):
        done = run_here(*build, *wrong)
        assert done.returncode in (1, 2)
        assert why in done.stderr, done.stderr


def test_slices_by_some_attributes_alone(tmp_path: Path) -> None:
    videos = write_sources(tmp_path / "videos", count=2)
    build = ("build", "devil", "--sources", str(videos), "--size", "64x48", "--per-slice", "1", "--out")
    wrong = run_here(*build, str(tmp_path / "wrong"), "--sliced-by", "poze")
    assert "unknown attribute with slices 'poze', did you mean 'pose'?" in wrong.stderr
    assert (wrong.returncode, wrong.stderr.count("\n"), (tmp_path / "wrong").exists()) == (2, 1, False)
    done = run_here(*build, str(tmp_path / "w"), "--sliced-by", "size", "--sliced-by", "pose")
    assert done.returncode == 0, done.stderr
    dataset = frozen.load(tmp_path / "w" / "exports" / "devil")
    assert {part.name for part in dataset.slices} == {"size-low", "size-high", "pose-low", "pose-high"}
    assert not dataset.left_out
