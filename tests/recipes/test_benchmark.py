"""Classic video inpainting: own clips with own masks, at the size and by the rules of the released evaluations."""

from __future__ import annotations

import csv
import json
import shutil
import sys
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from built import built, check_published
from PIL import Image
from program import run_here
from scipy import ndimage

from inpaintbench import frozen, video
from inpaintbench.errors import InputError, RunError
from inpaintbench.eval.methods.command import Command
from inpaintbench.eval.methods.each_frame import Telea
from inpaintbench.eval.scoring.predict import content_of_item
from inpaintbench.executors.base import Rejection
from inpaintbench.recipes.benchmark import BenchmarkRecipe
from inpaintbench.recipes.merging import merge
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.types import Dataset, Frames, Hole, Plain
from inpaintbench.workspace import Workspace

RECIPE = BenchmarkRecipe(size=(96, 64))
FRAMES, HEIGHT, WIDTH = 4, 100, 150
Made = tuple[Workspace, Path, Dataset]


def film(seed: int, frames: int = FRAMES) -> Frames:
    return np.random.default_rng(seed).integers(0, 256, (frames, HEIGHT, WIDTH, 3), dtype=np.uint8)


def square(frames: int = FRAMES, *, speed: int = 0, size: tuple[int, int] = (HEIGHT, WIDTH)) -> Hole:
    hole = np.zeros((frames, *size), bool)
    for place, frame in enumerate(hole):
        frame[20:60, 30 + speed * place : 70 + speed * place] = True
    return hole


def write(folder: Path, frames: np.ndarray, *, step: int = 1, suffix: str = ".png") -> None:
    folder.mkdir(parents=True)
    for place, frame in enumerate(frames):
        video.write_image(folder / f"{step * place:05d}{suffix}", frame)


def write_folders(folder: Path, masks: Mapping[str, Hole]) -> SourceSpec:
    """A film of each name, and its masks."""
    for seed, (name, hole) in enumerate(masks.items()):
        write(folder / "clips" / name, film(seed))
        write(folder / "masks" / name, hole)
    return folders(folder)


def folders(folder: Path, **constants: Any) -> SourceSpec:
    given = {"folder": str(folder / "clips"), "masks": str(folder / "masks"), "masks_of_any_size": True, **constants}
    return SourceSpec("removal_folders", given)


def by_name(dataset: Dataset) -> dict[str, Plain]:
    return {row["source_uri"]: row for row in dataset.items}


def told(workspace: Path) -> dict[str, str]:
    return {row.name: row.reason for row in Workspace(workspace).table("rejected", Rejection)}


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("own")
    spec = write_folders(folder, {"still": square(), "moves": square(speed=6)})
    return built(folder / "workspace", RECIPE, spec)


def test_truths_and_holes_are_those_that_the_released_codes_measure_on(own: Made) -> None:
    _, folder, dataset = own
    assert len(dataset.items) == 2
    for seed, (name, hole) in enumerate({"still": square(), "moves": square(speed=6)}.items()):
        row = by_name(dataset)[name]
        truth, grown = video.read_frames(folder / row["truth_file_name"]), frozen.hole_of(folder, row)
        np.testing.assert_array_equal(truth, [np.asarray(Image.fromarray(frame).resize((96, 64))) for frame in film(seed)])
        small = [np.asarray(Image.fromarray(frame).resize((96, 64), Image.Resampling.NEAREST)) for frame in hole]
        cross = ndimage.generate_binary_structure(2, 1)
        np.testing.assert_array_equal(grown, [ndimage.binary_dilation(frame, cross, iterations=4) for frame in small])
        seen = frozen.input_view(folder, row)
        np.testing.assert_array_equal(seen.input, np.where(grown[..., None], 0, truth))
        assert row["attributes"]["mask.neighbour_iou"] == (1.0 if name == "still" else pytest.approx(0.8, abs=0.1))


def test_slices_say_which_masks_stand_still_and_how_large_they_are(own: Made) -> None:
    _, _, dataset = own
    rows = by_name(dataset)
    slices = {part.name: set(part.item_ids) for part in dataset.slices}
    assert slices["mask-stationary"] == {rows["still"]["item_id"]}
    assert slices["mask-moving"] == {rows["moves"]["item_id"]}
    assert slices["all"] == slices["frames-1-50"] == slices["mask-stationary"] | slices["mask-moving"]
    for name in (name for name in slices if name.startswith("area-")):
        low, high = (int(part) / 100 for part in name.split("-")[1:])
        for row in (row for row in rows.values() if row["item_id"] in slices[name]):
            assert low < row["attributes"]["hole.hole_fraction"] <= high
    assert dataset.left_out["frames-more"] == "no item has frames 'more'"


def test_the_dataset_loads_verifies_and_grows(own: Made, tmp_path: Path) -> None:
    _, folder, dataset = own
    check_published(folder)
    before = {row["item_id"] for row in dataset.items}
    source = tmp_path / "more"
    write_folders(source, {"still": square(), "moves": square(speed=6), "new": square(speed=2), "also": square(speed=3)})
    shutil.rmtree(source / "clips" / "also")
    shutil.copytree(source / "clips" / "still", source / "clips" / "also")  # a published film with another mask
    (tmp_path / "slices.toml").write_text('[[slice]]\nname = "rigid"\nrule = "mask.neighbour_iou >= 1"\n')
    told = ("--dataset", tmp_path / "slices.toml", "--about", "licence=CC-BY-4.0")
    arguments = ("--clips", source / "clips", "--masks", source / "masks", "--size", "96x64", "--workers", "0", *told)
    grown = run_here("build", "benchmark", *arguments, "--append-to", folder, "--out", tmp_path / "grown")
    assert grown.returncode == 0, grown.stderr
    after = frozen.load(tmp_path / "grown" / "exports" / "benchmark")
    assert before < {row["item_id"] for row in after.items}
    assert len(after.items) == 4
    assert {row["attributes"].get("item_name") for row in after.items if row["item_id"] not in before} == {None, "also"}
    assert len({row["source_id"] for row in after.items}) == 3
    slices = {part.name: part.item_ids for part in after.slices}
    assert slices["rigid"] == slices["mask-stationary"]
    assert {row["licence"] for row in after.items if row["item_id"] not in before} == {"CC-BY-4.0"}


def test_workspaces_with_other_masks_of_one_film_are_not_merged(own: Made, tmp_path: Path) -> None:
    write_folders(tmp_path, {"still": square(speed=1)})
    other, _, _ = built(tmp_path / "workspace", RECIPE, folders(tmp_path))
    words = "^masks or inputs of 'still' are others in the first than in the second: build both from one folder$"
    with pytest.raises(InputError, match=words):
        merge(own[0], other, tmp_path / "merged")
    assert not (tmp_path / "merged").exists()


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        ({"resample": "opencv-linear"}, lambda frame: cv2.resize(frame, (96, 64), interpolation=cv2.INTER_LINEAR)),
        ({"fit": "none"}, lambda frame: frame),
    ],
)
def test_frames_get_their_size_as_asked(tmp_path: Path, choices: dict[str, Any], expected: Callable[[Any], Any]) -> None:
    spec = write_folders(tmp_path, {"one": square()})
    recipe = BenchmarkRecipe(**({} if "fit" in choices else {"size": (96, 64)}), **choices, dilations=0)
    _, folder, dataset = built(tmp_path / "workspace", recipe, spec)
    [row] = dataset.items
    np.testing.assert_array_equal(video.read_frames(folder / row["truth_file_name"]), [expected(frame) for frame in film(0)])
    if "fit" in choices:
        np.testing.assert_array_equal(frozen.hole_of(folder, row), square())


def test_one_film_with_two_masks_is_one_source_with_two_items(tmp_path: Path) -> None:
    masks = {"left": square(), "right": square()[:, :, ::-1], "twin": square(), "other": square()}
    write_folders(tmp_path, masks)
    for name in ("right", "twin"):  # the film of "left" under two more names, once with its masks too
        shutil.rmtree(tmp_path / "clips" / name)
        shutil.copytree(tmp_path / "clips" / "left", tmp_path / "clips" / name)
    recipe = BenchmarkRecipe(size=(96, 64), splits={"test": 0.5, "train": 0.5})
    workspace, folder, dataset = built(tmp_path / "workspace", recipe, folders(tmp_path))
    check_published(folder)
    rows = {row["attributes"].get("item_name", row["source_uri"]): row for row in dataset.items}
    assert set(rows) == {"left", "right", "other"}
    for column in ("source_id", "clip_id", "truth_file_name", "split"):
        assert rows["left"][column] == rows["right"][column], column
    assert rows["left"]["source_id"] != rows["other"]["source_id"]
    holes = {name: frozen.hole_of(folder, row) for name, row in rows.items()}
    np.testing.assert_array_equal(holes["left"], holes["other"])
    assert holes["left"][:, :, :30].any()
    assert not holes["right"][:, :, :30].any()
    found = told(workspace.path)
    assert found["right"] == "shares its clip with left: both are items of one source"
    assert found["twin"] == "has the same bytes as left"


# Data sets as they come


def davis(root: Path) -> None:
    """Two objects by the colours of a palette."""
    for seed, name in enumerate(("bear", "dogs-jump")):
        write(root / "JPEGImages/480p" / name, film(seed), suffix=".jpg")
        (root / "Annotations/480p" / name).mkdir(parents=True)
        for place, hole in enumerate(square()):
            numbers = Image.fromarray(hole.astype(np.uint8) * (1 + seed))
            numbers.putpalette([0, 0, 0, 236, 95, 103, 249, 145, 87])
            numbers.save(root / "Annotations/480p" / name / f"{place:05d}.png")


def youtube_vos(root: Path) -> None:
    """All frames, and masks of every fifth."""
    write(root / "train/JPEGImages/003234408d", film(0, 11), suffix=".jpg")
    write(root / "train/Annotations/003234408d", square(3), step=5)


def propainter(root: Path) -> None:
    """A video that is not tested, beside those that are."""
    for seed, name in enumerate(("bear", "blackswan", "train-only")):
        write(root / "JPEGImages_432_240" / name, film(seed), suffix=".jpg")
    for name in ("bear", "blackswan"):
        write(root / "test_masks" / name, square(size=(240, 432)))
    (root / "test.json").write_text(json.dumps({"bear": FRAMES, "blackswan": FRAMES}))


def e2fgvi(root: Path) -> None:
    """Archives of frames."""
    (root / "JPEGImages").mkdir(parents=True)
    for seed, name in enumerate(("bear", "train-only")):
        write(root / "loose" / name, film(seed), suffix=".jpg")
        with zipfile.ZipFile(root / "JPEGImages" / f"{name}.zip", "w") as archive:
            for path in (root / "loose" / name).iterdir():
                archive.write(path, f"{name}/{path.name}")
    write(root / "test_masks/bear", square())
    (root / "test.json").write_text(json.dumps({"bear": FRAMES}), encoding="utf-8-sig")


def vpbench(root: Path) -> None:
    """One object of two, over a span of each film."""
    for seed, name in enumerate(("000005000001.0.mp4", "000000000855_854996.mp4")):
        base, of_videovo = name.partition(".")[0], ".0." in name
        folder = root / (f"videovo/raw_video/{base[:-3]}" if of_videovo else f"pexels/pexels/raw_video/{base[:9]}")
        folder.mkdir(parents=True)
        video.write_lossless(folder / name, film(seed, 9), fps=8)
        masks = root / "video_inpainting" / ("videovo" if of_videovo else "pexels") / base
        masks.mkdir(parents=True)
        np.savez_compressed(masks / "all_masks.npz", square(9).astype(np.uint8) * 2 + ~square(9))
    with (root / "our_video_inpaint.csv").open("w", newline="", encoding="utf-16") as file:  # "Unicode text" of spreadsheets
        table = csv.writer(file)
        table.writerow(["path", "mask_id", "start_frame", "end_frame", "fps", "caption"])
        table.writerows([name, 2, 3, 7, 8, "noise"] for name in ("000005000001.0.mp4", "000000000855_854996.mp4"))


@pytest.mark.parametrize(
    ("layout", "make", "names", "frames"),
    [
        ("davis", davis, {"bear", "dogs-jump"}, 4), ("youtube-vos", youtube_vos, {"003234408d"}, 3),
        ("propainter", propainter, {"bear", "blackswan"}, 4), ("e2fgvi", e2fgvi, {"bear"}, 4),
        ("vpbench", vpbench, {"000005000001_2_3", "000000000855_854996_2_3"}, 4),
    ],
)  # fmt: skip
def test_data_sets_are_read_as_they_come(
    tmp_path: Path, layout: str, make: Callable[[Path], None], names: set[str], frames: int
) -> None:
    make(tmp_path / "set")
    arguments = ("--clips", tmp_path / "set", "--layout", layout, "--size", "96x64", "--dilations", "0", "--workers", "0")
    done = run_here("build", "benchmark", *arguments, "--out", tmp_path / "workspace")
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "workspace" / "exports" / "benchmark"
    dataset = frozen.load(folder)
    assert set(by_name(dataset)) == names
    small = [np.asarray(Image.fromarray(frame).resize((96, 64), Image.Resampling.NEAREST)) for frame in square(frames)]
    for row in dataset.items:
        assert row["frames"] == frames
        if layout != "propainter":
            np.testing.assert_array_equal(frozen.hole_of(folder, row), small)


def test_a_film_of_a_span_shows_that_span(tmp_path: Path) -> None:
    vpbench(tmp_path / "set")
    spec = SourceSpec("removal_folders", {"folder": str(tmp_path / "set"), "layout": "vpbench"})
    _, folder, dataset = built(tmp_path / "workspace", BenchmarkRecipe(fit="none", dilations=0), spec)
    for seed, name in enumerate(("000005000001_2_3", "000000000855_854996_2_3")):
        row = by_name(dataset)[name]
        np.testing.assert_array_equal(video.read_frames(folder / row["truth_file_name"]), film(seed, 9)[3:7])
        assert row["fps"] == 8


def test_vpbench_is_prepared_as_its_evaluation_does_it(tmp_path: Path) -> None:
    """Its loader: every (fps // 8)-th frame of the span; `diffusers`' processors: both by Pillow's Lanczos, masks cut at half."""
    vpbench(tmp_path / "set")
    rows = list(csv.DictReader((tmp_path / "set/our_video_inpaint.csv").read_text(encoding="utf-16").splitlines()))
    with (tmp_path / "set/our_video_inpaint.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, [*rows[0], "video_inpainting_prompt", "image_inpainting_prompt"])
        table.writeheader()
        told = {"fps": 19, "end_frame": 9, "video_inpainting_prompt": "a wall", "image_inpainting_prompt": "a door"}
        table.writerows({**row, **told} for row in rows)
    spec = SourceSpec("removal_folders", {"folder": str(tmp_path / "set"), "layout": "vpbench", "masks_of_any_size": True})
    recipe = BenchmarkRecipe(size=(72, 48), resample="pillow-lanczos", dilations=0, frames=2)
    _, folder, dataset = built(tmp_path / "workspace", recipe, spec)
    row = by_name(dataset)["000005000001_2_3"]
    view = frozen.scoring_views(folder, row, predictions=[lambda: frozen.truth_of(folder, row)])[0]
    for given, found, wanted in ((film(0, 9), view.truth, None), (square(9) * np.uint8(255), view.hole, 127)):
        for frame, made in zip(given[[3, 5]], found, strict=True):
            expected = np.asarray(Image.fromarray(frame).resize((72, 48), Image.Resampling.LANCZOS))
            np.testing.assert_array_equal(made, expected if wanted is None else expected > wanted)
    assert row["fps"] == 9.5
    for seen in (view, frozen.input_view(folder, row)):
        assert (seen.prompts.target, seen.prompts.hole, seen.prompts.source) == ("a wall", "a door", None)


def test_what_people_say_of_a_clip_reaches_programs_that_take_a_prompt(tmp_path: Path) -> None:
    root = tmp_path / "set"
    vpbench(root)
    with (root / "our_video_inpaint.csv").open("w", newline="") as file:
        table = csv.writer(file)
        prompts = ("video_inpainting_prompt", "image_inpainting_prompt")
        table.writerow(["path", "mask_id", "start_frame", "end_frame", "fps", *prompts])
        table.writerow(["000005000001.0.mp4", 2, 3, 7, 8, 'a wall, "in red"', "a door"])
        table.writerow(["000000000855_854996.mp4", 2, 3, 7, 8, "", ""])
    spec = SourceSpec("removal_folders", {"folder": str(root), "layout": "vpbench"})
    _, folder, dataset = built(tmp_path / "workspace", BenchmarkRecipe(fit="none", dilations=0), spec)
    (tmp_path / "mine.py").write_text(
        "import json, pathlib, shutil, sys\n"
        "source, target = map(pathlib.Path, sys.argv[1:3])\n"
        "beside = source / 'prompts.json'\n"
        "print(sys.argv[3:], json.loads(beside.read_text()) if beside.exists() else None)\n"
        "for path in source.glob('frame_*.png'): shutil.copy(path, target / path.name)\n"
    )
    program = f"{sys.executable} {tmp_path / 'mine.py'} {{input}} {{output}} {{prompt}} {{hole_prompt}}"
    run = tmp_path / "run"
    done = run_here("eval", "run", folder, "--method", f"mine={program}", "--run", run, "--workers", "0", "--despite-check")
    assert done.returncode == 0, done.stderr
    rows = by_name(dataset)
    logs = {name: (run / f"logs/methods/mine/{row['item_id']}.txt").read_text() for name, row in rows.items()}
    told = {"source": None, "target": 'a wall, "in red"', "hole": "a door"}
    given = ['a wall, "in red"', "a door"]
    assert f"{given} {told}" in logs["000005000001_2_3"]
    assert "['', ''] None" in logs["000000000855_854996_2_3"]
    # Other words, another result; of methods that read none the same.
    row = rows["000005000001_2_3"]
    other = {**row, "attributes": {**row["attributes"], "caption": "a fence"}}
    contents = [[content_of_item(one, leaf) for one in (row, other)] for leaf in (Command(command=program), Telea())]
    assert [len(set(both)) for both in contents] == [2, 1]


# What cannot be used


def test_names_without_a_partner_are_one_sentence_or_left_out(tmp_path: Path) -> None:
    write_folders(tmp_path, {"one": square(), "two": square()})
    (tmp_path / "masks" / "two").rename(tmp_path / "masks" / "Two")
    with pytest.raises(InputError, match=r"^clips without a partner: 'two'; masks without a partner: 'Two': name them alike"):
        built(tmp_path / "workspace", RECIPE, folders(tmp_path))
    _, _, dataset = built(tmp_path / "workspace", RECIPE, folders(tmp_path, allow_unmatched=True))
    assert set(by_name(dataset)) == {"one"}


def test_bad_masks_are_refused_by_name_with_the_reason_and_the_others_stay(tmp_path: Path) -> None:
    partly = square()
    partly[1:3] = False
    bad = {"good": square(), "short": square()[:2], "none": square() & False, "all": square() | True, "some": partly}
    spec = write_folders(tmp_path, bad)
    _, folder, dataset = built(tmp_path / "workspace", RECIPE, spec)
    assert set(by_name(dataset)) == {"good", "some"}
    check_published(folder)
    assert told(tmp_path / "workspace") == told(tmp_path / "workspace") | {
        "short": "its films have other lengths: input 4, mask 2",
        "none": "its object covers nothing of the clip, once scaled and cropped",
        "all": "its object covers all of the clip, once scaled and cropped",
        "some": "its mask is empty in 2 frames, which count in no score of a hole",
    }


def test_masks_that_fill_the_clip_once_grown_are_refused(tmp_path: Path) -> None:
    hole = square() | True
    hole[:, :2] = False
    spec = write_folders(tmp_path, {"one": hole})
    with pytest.raises(RunError, match="not one mask can be used"):
        built(tmp_path / "workspace", RECIPE, spec)
    assert told(tmp_path / "workspace")["one"] == "its mask, grown 4 times, covers every pixel of the clip"


@pytest.mark.parametrize("recipe", [BenchmarkRecipe(fit="none"), BenchmarkRecipe(size=(96, 64), fit="cover")])
def test_masks_of_another_size_are_refused_unless_both_are_squeezed(tmp_path: Path, recipe: BenchmarkRecipe) -> None:
    write_folders(tmp_path, {"one": square(size=(80, 150)), "good": square()})
    _, _, dataset = built(tmp_path / "workspace", recipe, folders(tmp_path, masks_of_any_size=False))
    assert set(by_name(dataset)) == {"good"}
    why = "its masks are 150x80, its frames 150x100: give masks of the size of the frames"
    assert told(tmp_path / "workspace")["one"] == why
    _, _, squeezed = built(tmp_path / "squeezed", RECIPE, folders(tmp_path))
    assert set(by_name(squeezed)) == {"one", "good"}


def archived(target: Path, names: Iterable[str], frames: Iterable[np.ndarray]) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(target, "w") as archive:
        for name, frame in zip(names, frames, strict=True):
            archive.writestr(name, video.png_bytes(frame))
        archive.writestr(f"__MACOSX/{target.stem}/._0.png", b"of another system")


def test_archives_are_read_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    frames, hole = film(0, 12), square(12, speed=3)
    archived(tmp_path / "clips" / "one.zip", (f"one/{number}.png" for number in range(12)), frames)
    archived(tmp_path / "clips" / "gap.zip", (f"{number}.png" for number in (0, 1, 3, 4)), film(1))
    archived(tmp_path / "clips" / "double.zip", ("0.png", "1.png", "01.png", "2.png"), film(2))
    archived(tmp_path / "clips" / "two.zip", ("a/0.png", "a/1.png", "b/2.png", "b/3.png"), film(3))
    archived(tmp_path / "clips" / "word.zip", ("0.png", "1.png", "2.png", "cover.png"), film(4))
    for name in ("one", "gap", "double", "two", "word"):
        write(tmp_path / "masks" / name, hole if name == "one" else hole[:4])
    _, folder, dataset = built(tmp_path / "workspace", BenchmarkRecipe(fit="none", dilations=0), folders(tmp_path))
    [row] = dataset.items
    np.testing.assert_array_equal(frozen.hole_of(folder, row), hole)
    np.testing.assert_array_equal(video.read_frames(folder / row["truth_file_name"]), frames)
    refused = told(tmp_path / "workspace")
    unclear = "cannot be read: {0}.zip: the order of its images is not clear: "
    assert refused["gap"].startswith(unclear.format("gap") + "3.png follows 1.png")
    assert refused["gap"].endswith("(0.png, 1.png, 3.png, 4.png)")
    assert refused["double"].startswith(unclear.format("double") + "01.png and 1.png have the same number")
    assert refused["word"].startswith(unclear.format("word") + "cover.png has no number")
    assert refused["two"] == "cannot be read: two.zip has pictures in 'a', 'b': keep those of one folder"


@pytest.mark.parametrize("archive", [False, True])
def test_masks_are_of_the_frames_of_their_numbers(tmp_path: Path, archive: bool) -> None:
    numbers = {
        "same": range(4), "from-1": range(1, 5), "fifths": range(0, 20, 5), "later": range(7, 11), "few": range(0, 10, 5),
    }  # fmt: skip
    for seed, (name, of_masks) in enumerate(numbers.items()):
        write(tmp_path / "clips" / name, film(seed))
        names = [f"{number:05d}.png" for number in of_masks]
        if archive:
            archived(tmp_path / "masks" / f"{name}.zip", names, square(len(names)).astype(np.uint8) * 255)
            continue
        (tmp_path / "masks" / name).mkdir(parents=True)
        for number, hole in zip(of_masks, square(len(of_masks)), strict=True):
            video.write_image(tmp_path / "masks" / name / f"{number:05d}.png", hole)
    _, _, dataset = built(tmp_path / "workspace", RECIPE, folders(tmp_path, lengthen="hold"))
    assert set(by_name(dataset)) == {"same", "from-1"}
    way_out = "its frames are 00000.png, 00001.png ...: give the mask of these frames, numbered as they are"
    refused = told(tmp_path / "workspace")
    assert refused["fifths"] == f"its mask is 00000.png, 00005.png ..., {way_out}"
    assert refused["later"] == f"its mask is 00007.png, 00008.png ..., {way_out}"
    assert refused["few"] == f"its mask is 00000.png, 00005.png ..., {way_out}"


def test_masks_that_are_lengthened_are_of_the_first_frames_of_a_film(tmp_path: Path) -> None:
    for seed, (name, numbers) in enumerate({"first": range(2), "later": range(2, 4), "still": range(9, 10)}.items()):
        (tmp_path / "clips").mkdir(exist_ok=True)
        video.write_lossless(tmp_path / "clips" / f"{name}.mkv", film(seed), fps=8)
        (tmp_path / "masks" / name).mkdir(parents=True)
        for number in numbers:
            video.write_image(tmp_path / "masks" / name / f"{number}.png", square(1)[0])
    _, _, dataset = built(tmp_path / "workspace", RECIPE, folders(tmp_path, lengthen="hold"))
    assert set(by_name(dataset)) == {"first", "still"}
    why = "its mask is 2.png, 3.png ..., its film has 4 frames: give the mask of these frames, numbered as they are"
    assert told(tmp_path / "workspace")["later"] == why


@pytest.mark.parametrize(("lengthen", "order"), [("hold", [0, 1, 1, 1]), ("to_and_fro", [0, 1, 0, 1])])
def test_short_masks_are_lengthened_as_asked(tmp_path: Path, lengthen: str, order: list[int]) -> None:
    hole = square(speed=10)
    write_folders(tmp_path, {"one": hole[:2]})
    recipe = BenchmarkRecipe(fit="none", dilations=0)
    _, folder, dataset = built(tmp_path / "workspace", recipe, folders(tmp_path, lengthen=lengthen))
    [row] = dataset.items
    np.testing.assert_array_equal(frozen.hole_of(folder, row), hole[order])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "give --clips FOLDER with --masks FOLDER"),
        (("--demo", "--clips", "."), "give --clips FOLDER with --masks FOLDER"),
        (("--clips", "."), "--clips needs either --masks of the same names, or the --layout"),
        (("--clips", ".", "--layout", "rose"), "build removal --pairs reads them"),
        (("--clips", ".", "--layout", "davos"), "unknown layout 'davos', did you mean 'davis'?"),
        (("--clips", ".", "--layout", "vpbench"), "has the table 'our_video_inpaint.csv'"),
        (("--clips", ".", "--layout", "e2fgvi"), "which has clips in 'JPEGImages', masks in 'test_masks'"),
        (("--demo", "--fit", "none", "--size", "96x64"), "frames keep theirs with --fit none"),
        (("--clips", ".", "--masks", ".", "--lengthen", "loop"), "unknown way to lengthen masks 'loop'"),
    ],
)
def test_what_the_command_cannot_do_is_told_before_there_is_a_folder(
    tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    given = [str(tmp_path) if word == "." else word for word in arguments]
    done = run_here("build", "benchmark", *given, "--out", tmp_path / "workspace")
    assert done.returncode != 0
    assert words in " ".join((done.stdout + done.stderr).split())
    assert not (tmp_path / "workspace").exists()


@pytest.mark.long
def test_the_demo_is_scored_reported_and_ranked(tmp_path: Path) -> None:
    done = run_here("build", "benchmark", "--demo", "--out", tmp_path / "workspace", "--workers", "2")
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "workspace" / "exports" / "benchmark"
    check_published(folder)
    arguments = ("--run", tmp_path / "run", "--method", "telea", "--method", "temporal_median", "--workers", "2", "--report")
    run = run_here("eval", "run", folder, *arguments)
    assert run.returncode == 0, run.stderr
    assert "under e2fgvi" in run.stdout + run.stderr
    assert "Warping error" in (tmp_path / "run" / "report" / "report.html").read_text()
    assert "e2fgvi" in (folder / "README.md").read_text()
    fields = ("title", "summary", "model", "preprocessing", "training_data", "loss")
    (tmp_path / "card.toml").write_text("".join(f'{field} = "none"\n' for field in fields))
    handed = ("--method", "telea", "--card", tmp_path / "card.toml", "--out", tmp_path / "handed" / "telea.zip")
    (tmp_path / "handed").mkdir()
    assert run_here("eval", "submit", folder, "--run", tmp_path / "run", *handed).returncode == 0
    board = run_here("eval", "leaderboard", folder, tmp_path / "handed", "--out", tmp_path / "board")
    assert board.returncode == 0, board.stderr
    assert "telea" in (tmp_path / "board" / "index.html").read_text()
