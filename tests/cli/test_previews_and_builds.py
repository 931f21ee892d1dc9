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
    what = "Degradations" if generator == "fingerprint_degradation" else "Masks"
    assert f"{what} of {generator}" in page
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
        (("build", "reinpaint", "--out", "{tmp}/w"), "give either --sources FOLDER or --demo"),
        (("build", "decaption", "--out", "{tmp}/w", "--demo", "--sources", "{tmp}"), "give either --sources FOLDER or --demo"),
        (("build", "humans", "--out", "{tmp}/w"), "give either --people FORMAT=ANNOTATIONS:IMAGES or --demo"),
        (("build", "humans", "--out", "{tmp}/w", "--people", "mpii"), "is not [SET:]FORMAT=ANNOTATIONS:IMAGES"),
        (("build", "humans", "--out", "{tmp}/w", "--people", "mpi=a:b"), "did you mean 'mpii'?"),
        (("build", "humans", "--out", "{tmp}/w", "--people", "mpii=a:b", "--crop", "gro=1"), "cannot be built"),
        (("build", "humans", "--out", "{tmp}/w", "--originals", "{tmp}"), "belong together"),
        (("build", "humans", "--out", "{tmp}/w", "--originals", "{tmp}", "--blocks", "{tmp}/no.json"), "no.json cannot be read"),
        (("build", "reinpaint", "--out", "{tmp}/w", "--demo", "--bins", "0,x"), "bins '0,x' are not edges in per cent"),
        (("build", "reinpaint", "--out", "{tmp}/w", "--demo", "--bins", "40,20"), "ascending"),
        (("build", "reinpaint", "--out", "{tmp}/w", "--demo", "--ratio", "1.5"), "ratio '1.5' should be"),
        (("build", "reinpaint", "--out", "{tmp}/w", "--demo", "--preset", "thik-512"), "did you mean 'thick-512'?"),
        (("build", "reinpaint", "--out", "{tmp}/w", "--demo", "--reach", "grown"), "unknown reach 'grown', did you mean 'grow'?"),
        (("build", "reinpaint", "--out", "{tmp}/w", "--demo", "--motion", "tube"), "--motion tube is for videos"),
        (("build", "reinpaint", "--out", "{tmp}/w", "--demo", "--saved", "polarity=x"), "--saved-masks FOLDER"),
        (("build", "reinpaint", "--out", "{tmp}/w", "--demo", "--saved-masks", "{tmp}", "--saved", "foo=1"), "no images"),
        (
            ("build", "decaption", "--out", "{tmp}/w", "--demo", "--form", "lossy"),
            "unknown form 'lossy', did you mean 'lossless'?",
        ),
        (("build", "reinpaint", "--out", "{tmp}/w", "--sources", "{tmp}/none"), "does not exist or is not a folder"),
        (("build", "reinpaint", "--out", "{tmp}/w", "--sources", "{tmp}"), "no clips"),
        (("build", "reinpaint", "--out", "{tmp}/w", "--demo", "--saved-masks", "{tmp}/none"), "no folder of masks"),
        (("build", "reinpaint", "--out", "{tmp}/w", "--demo", "--masks-by-turn"), "--saved-masks FOLDER"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(arguments: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    done = run_here(*(part.replace("{tmp}", str(tmp_path)) for part in arguments))
    assert done.returncode in (1, 2), done.stdout + done.stderr
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()[-1]) < 400


def state(workspace: Path) -> dict[str, bytes]:
    """All files but those that say when and how a command ran."""
    files = (path for path in sorted(workspace.rglob("*")) if path.is_file() and path.name != ".lock")
    return {str(path): path.read_bytes() for path in files if path.parent != workspace / "logs"}


def test_a_build_that_cannot_be_done_changes_nothing_and_one_workspace_holds_one_benchmark(tmp_path: Path) -> None:
    out = str(tmp_path / "w")
    demo = (
        "build",
        "reinpaint",
        "--demo",
        "--out",
        out,
        "--size",
        "64",
        "--patch",
        "16",
        "--pictures",
        "2",
        "--second-masks",
        "1",
    )
    done = run_here(*demo)
    assert done.returncode == 0, done.stderr
    before = state(tmp_path / "w")
    for arguments, sentence in (
        (("build", "reinpaint", "--sources", str(tmp_path / "none"), "--size", "96", "--out", out), "does not exist"),
        (("build", "reinpaint", "--demo", "--saved-masks", str(tmp_path / "none"), "--out", out), "no folder of masks"),
        (("build", "humans", "--demo", "--out", out), "holds a 'reinpaint' benchmark; choose another"),
        (("build", "devil", "--sources", str(tmp_path), "--out", out), "holds a 'reinpaint' benchmark; choose another"),
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
def test_fingerprints_are_built_scored_by_their_own_protocol_and_reported(tmp_path: Path) -> None:
    out, run = tmp_path / "w", tmp_path / "run"
    done = run_here("build", "fingerprint", "--fingers", "3", "--law", "whorl=1,arch=2", "--orientations", "--out", str(out))
    assert done.returncode == 0, done.stderr
    folder = str(out / "exports" / "fingerprint")
    assert run_here("export", "verify", folder).returncode == 0
    assert (
        run_here(
            "eval", "run", "--for=predictions", folder, "--run", str(run), "--method", "blank", "--method", "median"
        ).returncode
        == 0
    )
    scored = run_here("eval", "run", "--for=scores", folder, "--run", str(run))
    assert "3 items scored under fingerprint/corrected, 0 without a value" in scored.stdout, scored.stderr
    reported = run_here("eval", "report", folder, "--run", str(run))
    assert reported.returncode == 0, reported.stderr
    shown = run_here("eval", "run", "--for=predictions", folder, "--run", str(run), "--method", "telea", "--oracle-mask")
    assert shown.returncode == 1
    assert "has no holes to show" in shown.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--fingers", "0"], "0 fingers: there must be at least one"),
        (["--fingers", "2", "--impressions", "0"], "0 impressions of each finger: there must be at least one"),
        (
            ["--fingers", "2", "--law", "fair"],
            "there is no class law 'fair': choose natural, uniform, or a weight for each class",
        ),
        (["--fingers", "2", "--law", "arch=0"], "the class law gives no class a weight above 0"),
        (["--fingers", "2", "--law", "whorl=x"], "'x' is not a weight; give numbers, such as whorl=2,arch=1"),
        (["--fingers", "2", "--law", "whorl=1,whorl=2"], "gives whorl two weights"),
        (["--fingers", "2", "--law", "arch=-1,whorl=2"], "gives arch the weight -1.0"),
        (["--demo", "--law", "natural"], "the demo has all classes alike"),
        (["--fingers", "2", "--splits", "9,1"], "splits '9,1' are not three shares for train, validation, test"),
        (["--fingers", "2", "--elastic", "-1"], "elastic is -1.0, give 0 (no field) or more"),
        (["--fingers", "2", "--background", "white", "--background", "wood"], "--background white stands alone"),
        (["--fingers", "2", "--law", "arc=1"], "the class law names 'arc', which is no finger class"),
        (["--fingers", "2", "--size", "40x60"], "a fingerprint of 40x60 pixels is too small for the ridge filter"),
        (["--fingers", "2", "--ppi", "72"], "72"),
        (["--fingers", "2", "--background", "marble"], "unknown background"),
        (["--fingers", "2", "--strength", "9"], "strength is 9.0, give a number from 0 (no effect) to 4"),
        (["--fingers", "2", "--jpeg", "0"], "jpeg_quality is 0, give a whole number from 1 to 100"),
        (["--fingers", "2", "--photographs", "nowhere"], "'nowhere' is not a folder"),
        (["--fingers", "2", "--photographs", "."], "holds no pictures"),
        (["--fingers", "2", "--photographs", ".", "--background", "wood"], "give either --background or --photographs"),
        (["--demo", "--fingers", "2"], "give either --fingers N or --demo"),
        ([], "give either --fingers N or --demo"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_choices_for_fingerprints_are_one_sentence(
    arguments: list[str], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run_here("build", "fingerprint", "--out", "w", *arguments)
    assert done.returncode in (1, 2)
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "w").exists()


def test_a_broken_photograph_is_named_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "photographs").mkdir()
    (tmp_path / "photographs" / "torn.jpg").write_bytes(b"\xff\xd8\xff torn")
    arguments = ("--fingers", "2", "--photographs", str(tmp_path / "photographs"), "--out", str(tmp_path / "w"))
    done = run_here("build", "fingerprint", *arguments)
    assert done.returncode == 1
    assert "torn.jpg" in done.stderr
    assert not (tmp_path / "w").exists()


@pytest.mark.long
def test_other_options_replace_the_dataset_where_that_is_asked_for_and_say_so(tmp_path: Path) -> None:
    build = ("build", "fingerprint", "--size", "120x160", "--out", str(tmp_path / "w"))
    first = run_here(*build, "--fingers", "3", "--splits", "0,0,1")
    assert first.returncode == 0, first.stderr
    again = run_here(*build, "--fingers", "3", "--splits", "0,0,1")
    assert (again.returncode, "-> version" in first.stdout + again.stdout) == (0, False)
    other = ("--fingers", "2", "--strength", "0", "--background", "white")
    refused = run_here(*build, *other)
    assert refused.returncode == 1
    assert "what would take its place (2 items, version 2.0.0) differs: 2 items added; 3 items removed" in refused.stderr
    second = run_here(*build, *other, "--replace")
    assert second.returncode == 0, second.stderr
    assert " -> version 2.0.0: 2 items added; 3 items removed" in second.stdout
    assert re.search("strength-0-13 +│ +2 ", second.stdout)


@pytest.mark.long
def test_footage_that_comes_later_is_added_where_that_is_asked_for(tmp_path: Path) -> None:
    videos = write_sources(tmp_path / "videos", count=2)
    build = ("build", "devil", "--sources", str(videos), "--out", str(tmp_path / "w"), "--size", "64x48", "--per-slice")
    first = run_here(*build, "1")
    assert first.returncode == 0, first.stderr
    before = list(frozen.load(tmp_path / "w" / "exports" / "devil").items)
    write_sources(videos, count=3)
    added = run_here(*build, "3", "--append")
    assert added.returncode == 0, added.stderr
    assert re.search(r" -> version 1\.1\.0: \d+ items added", added.stdout)
    after = {row["item_id"]: row for row in frozen.load(tmp_path / "w" / "exports" / "devil").items}
    assert len(after) > len(before)
    assert all(after[row["item_id"]] == row for row in before)
    for wrong, why in (
        (("3", "--append", "--replace"), "--append keeps what --replace gives up"),
        (("3", "--append", "--append-to", "x"), "give one of them"),
        (("3", "--append-to", "x"), "no published dataset in 'x' to add to"),
        (("3", "--append", "--size", "80x48"), "--append keeps the recipe of"),
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
