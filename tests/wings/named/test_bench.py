"""`bench`: from the data of a paper to a table with its printed rows, and which columns bear that comparison."""

from __future__ import annotations

import csv
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from program import run_here
from trees_made import FRAMES, HEIGHT, WIDTH, films, make, write

from inpaintbench import frozen
from inpaintbench.cli.evaluate_options import results_of
from inpaintbench.errors import InputError, UsageError
from inpaintbench.eval.results.tables import Results
from inpaintbench.eval.scoring.predict import MethodSpec
from inpaintbench.pages.tables import comma_separated
from inpaintbench.types import Dataset, Slice
from inpaintbench.wings.editboard.recipe import EditingRecipe
from inpaintbench.wings.named.commands import _SLICES, _by_item, _called, _grown_twice, _saved_folder
from inpaintbench.wings.named.definition import Expected, Named, named, names, read
from inpaintbench.wings.named.standing import Films, differences_of_columns, differences_of_data, standing
from inpaintbench.workspace import Workspace

FACTS = f"""
title = "Tiny"
about = "For tests."
recipe = "benchmark"
inferred = []
source = {{ paper = "P", authors = "A", venue = "V", data = "none", licence = "not stated" }}
options = {{ size = "{WIDTH}x{HEIGHT}", dilations = 0 }}
expected = {{ clips = 2, frames = {FRAMES}, size = "{WIDTH}x{HEIGHT}", colour_range = "full" }}
[[tree]]
inputs = ["in"]
masks = ["masks"]
[[column]]
label = "PSNR"
better = "higher"
metric = "psnr"
region = "frame"
protocol = "e2fgvi"
as_there = "as here"
same = true
[[column]]
label = "SSIM"
better = "higher"
metric = "ssim"
region = "frame"
protocol = "e2fgvi"
as_there = "as here, of another window"
same = false
why = "another window"
[[column]]
label = "Users"
better = "higher"
as_there = "ratings of people"
same = false
why = "ratings of people"
[[printed]]
source = "Table 1"
columns = ["PSNR", "Users"]
rows = {{ Other = ["11.5", "3.2"], "Third one" = ["90.0", "-"] }}
"""


AS_STATED: Mapping[str, Any] = {"size": f"{WIDTH}x{HEIGHT}", "dilations": 0}


@pytest.fixture(scope="module")
def tiny() -> Named:
    return read(FACTS, name="tiny")


@pytest.fixture(scope="module")
def workspace(tiny: Named, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A benchmark of two clips, with a method run and scored, as `bench` makes it."""
    root = tmp_path_factory.mktemp("tiny")
    make(root / "data", tiny.tree[0])
    out, folder = root / "out", root / "out" / "exports" / "benchmark"
    data = ("--clips", root / "data/in", "--masks", root / "data/masks", "--size", f"{WIDTH}x{HEIGHT}", "--dilations", "0")
    run = ("--run", out / "run", "--workers", "0")
    for words in (
        ("build", "benchmark", *data, "--out", out, "--workers", "0"),
        ("eval", "run", folder, "--method", "telea", "--method", "blank", "--keep-full-frames", *run),
        ("eval", "run", "--for", "scores", folder, "--protocol", "e2fgvi", "--metric", "psnr", "--metric", "ssim", *run),
    ):
        done = run_here(*words)
        assert done.returncode == 0, done.stderr
    return out


@pytest.fixture
def dataset(workspace: Path) -> Dataset:
    return frozen.load(workspace / "exports" / "benchmark")


@pytest.fixture
def results(workspace: Path) -> dict[str, Results]:
    return {"e2fgvi": results_of(workspace / "run", workspace / "exports" / "benchmark", "e2fgvi")}


def test_nothing_differs_of_data_as_the_paper_has_them(tiny: Named, dataset: Dataset, workspace: Path) -> None:
    known = replace(Films.of(Workspace(workspace)), colour_ranges=("full",))
    assert differences_of_data(tiny, dataset, known, given=AS_STATED, stated=AS_STATED) == []
    upright_too = tiny.expected.model_copy(update={"size": f"{HEIGHT}x{WIDTH} or {WIDTH}x{HEIGHT}"})
    either = tiny.model_copy(update={"expected": upright_too})
    assert differences_of_data(either, dataset, known, given=AS_STATED, stated=AS_STATED) == []
    unsaid = tiny.model_copy(update={"expected": Expected()})
    differs = differences_of_data(unsaid, dataset, known, given=AS_STATED, stated=AS_STATED)
    assert differs == ["how many clips the paper measures is not stated"]


def test_edits_that_are_measured_on_squares_say_so(tiny: Named, dataset: Dataset) -> None:
    known, stated = Films((f"{WIDTH}x{HEIGHT}",), ("full",), {}), named("five").options.given()
    edits = tiny.model_copy(update={"recipe": "editing"})
    kept, squares = ({**EditingRecipe(fit=fit).model_dump(), "frames": None} for fit in ("none", "square"))
    for recipe, differs in ((kept, []), (squares, ["frames fitted by square in the place of none"])):
        made = replace(dataset, recipe=recipe)
        given = {"fit": recipe.get("fit", "square")}
        assert differences_of_data(edits, made, known, given=given, stated=stated) == differs


def test_a_tree_says_how_many_clips_are_measured_and_which_table_was_printed_of_them() -> None:
    of = named("vpbench")
    assert [of.of_tree(tree).expected.clips for tree in of.tree] == [100, 16]
    sources = [[table.source for table in of.of_tree(tree).printed] for tree in of.tree]
    assert ["VPBench-S" in sources[0][0], "VPBench-L" in sources[1][0]] == [True, True]
    assert sorted(sources[0]) == sorted(sources[1])


def test_slices_weigh_the_same_where_the_paper_has_it_so(tiny: Named, results: dict[str, Results]) -> None:
    """FiVE prints the mean of the means of its six task files."""
    own = results["e2fgvi"]
    one, two = (item["item_id"] for item in own.dataset.items)
    own.slices = (Slice("task-1", "", (one,)), Slice("task-2", "", (one, two)), Slice("mask-moving", "", (two,)))
    quantity = next(one for one in own.quantities if one.key == "psnr/frame")
    means = [own.summary(part, "telea", quantity).mean for part in own.slices[:2]]
    alike = tiny.model_copy(update={"alike": "task", "printed": ()})
    drawn = standing(alike, results, differences_of_columns(alike, results, {}), [])
    cell = next(row.cells[1] for row in drawn.rows if row.cells[0].text == "telea")
    assert str(cell.text) == f"{np.mean(means):.2f}" != f"{own.summary(own.everything, 'telea', quantity).mean:.2f}"


def test_masks_read_otherwise_mark_every_column(tiny: Named, dataset: Dataset) -> None:
    known = Films((f"{WIDTH}x{HEIGHT}",), ("full",), {})
    given = {**AS_STATED, "mask_values": "black"}
    assert differences_of_data(tiny, dataset, known, given=given, stated=AS_STATED) == [
        "masks read as black in the place of white"
    ]


PLANTED: Sequence[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any], str]] = (
    ("another size of the measurement", {"size": [432, 240]}, {}, {}, "measured at 432x240 in the place of 64x48"),
    ("another way to fit", {"fit": "cover"}, {}, {}, "frames fitted by cover in the place of stretch"),
    ("another filter", {"resample": "opencv-linear"}, {}, {}, "frames scaled by opencv-linear in the place of pillow-bicubic"),
    ("masks that grow", {"dilations": 4}, {}, {}, "masks grown 4 times in the place of 0"),
    ("fewer frames asked for", {"frames": 3}, {}, {}, "the first 3 frames in the place of all"),
    ("fewer clips", {}, {"items": 1}, {}, "1 clip in the place of 2"),
    ("shorter clips", {}, {"frames": 5}, {}, "clips of 5 frames in the place of 6"),
    ("films of another size", {}, {}, {"sizes": ("1920x1080",)}, "films of 1920x1080 in the place of 64x48"),
    ("films of another range of colours", {}, {}, {"colour_ranges": ("limited",)}, "limited range in the place of full"),
    ("films that were refused", {}, {}, {"refused": {"bear": "empty mask"}}, "1 film refused, such as bear"),
)


@pytest.mark.parametrize(("recipe", "items", "of_films", "told"), [row[1:] for row in PLANTED], ids=[row[0] for row in PLANTED])
def test_what_differs_of_the_data_marks_every_column(
    tiny: Named, dataset: Dataset, results: dict[str, Results], recipe: dict[str, Any], items: dict[str, Any],
    of_films: dict[str, Any], told: str,
) -> None:  # fmt: skip
    rows = [dict(row) | ({"frames": items["frames"]} if "frames" in items else {}) for row in dataset.items]
    other = replace(dataset, recipe={**dataset.recipe, **recipe}, items=rows[: items.get("items", len(rows))])
    known = replace(Films((f"{WIDTH}x{HEIGHT}",), ("full",), {}), **of_films)
    differs = differences_of_data(tiny, other, known, given=AS_STATED, stated=AS_STATED)
    assert len(differs) == 1
    assert told in differs[0]
    drawn = standing(tiny, results, differences_of_columns(tiny, results, {}), differs)
    assert all(column.label.endswith("†") for column in drawn.columns[1:])
    assert not any(cell.strong for row in drawn.rows for cell in row.cells)
    assert told in drawn.foot


def test_slices_and_refused_networks_and_other_constants_are_marked(
    tiny: Named, dataset: Dataset, results: dict[str, Results]
) -> None:
    films_of = Films((f"{WIDTH}x{HEIGHT}",), (), {})
    differs = differences_of_data(tiny, dataset, films_of, given=AS_STATED, stated=AS_STATED, slices=["mask-moving"])
    assert differs == ["only items of mask-moving"]
    of_columns = differences_of_columns(tiny, {}, {"e2fgvi": "weights missing"})
    assert of_columns["PSNR"] == "not measured: weights missing"
    results["e2fgvi"].fingerprint = "another"
    assert "constants" in differences_of_columns(tiny, results, {})["PSNR"]


def test_printed_and_measured_rows_stand_together_and_the_best_of_a_comparable_column_is_strong(
    tiny: Named, results: dict[str, Results]
) -> None:
    of_columns = differences_of_columns(tiny, results, {})
    assert of_columns["PSNR"] == ""
    drawn = standing(tiny, results, of_columns, [])
    assert [column.label for column in drawn.columns] == ["Method", "PSNR ↑", "SSIM ↑ †", "Users ↑ †"]
    rows = {str(row.cells[0].text): row.cells for row in drawn.rows}
    assert list(rows)[:2] == ["Other", "Third one"]
    assert str(rows["Other"][1].text) == "11.5"
    own = results["e2fgvi"]
    quantity = next(one for one in own.quantities if one.key == "psnr/frame")
    mean = own.summary(own.everything, "telea", quantity).mean
    assert mean is not None
    assert str(rows["telea"][1].text) == f"{mean:.1f}"  # as many decimals as are printed
    assert [name for name, cells in rows.items() if cells[1].strong] == ["Third one"]
    assert rows["blank"][0].below == "a reference, which does not compete"  # said once, and not beside each number
    assert not any(cell.below for cell in rows["blank"][1:])
    assert not any(cells[2].strong or cells[3].strong for cells in rows.values())
    assert str(rows["telea"][3].text) == "–"
    assert "Users: not measured" in drawn.foot
    assert "SSIM: another window" in drawn.foot


def test_who_is_kept_from_comparison_and_rows_of_no_method_are_never_best(tiny: Named, results: dict[str, Results]) -> None:
    of_columns = differences_of_columns(tiny, results, {})
    source = tiny.printed[0].model_copy(update={"no_methods": ("Third one",)})
    drawn = standing(tiny.model_copy(update={"printed": (source,)}), results, of_columns, [])
    assert [str(row.cells[0].text) for row in drawn.rows if row.cells[1].strong] == ["telea"]
    of_other_settings = tiny.printed[0].model_copy(update={"alike": ("Other",)})
    drawn = standing(tiny.model_copy(update={"printed": (of_other_settings,)}), results, of_columns, [])
    assert "Third one" not in [str(row.cells[0].text) for row in drawn.rows if row.cells[1].strong]
    twice = "grows the masks once more (cross 4)"
    drawn = standing(tiny.model_copy(update={"printed": (source,)}), results, of_columns, [], {"telea": twice})
    assert not any(row.cells[1].strong for row in drawn.rows)
    assert next(row.cells[0].below for row in drawn.rows if row.cells[0].text == "telea") == twice


def test_programs_that_grow_masks_again_are_known_by_their_layout(dataset: Dataset) -> None:
    specs = [
        MethodSpec("telea", "telea"), MethodSpec("plain", "command", {"layout": "plain"}),
        MethodSpec("propainter", "command", {"layout": "propainter"}),
        MethodSpec("grown", "command", {"layout": "propainter-grown"}),
    ]  # fmt: skip
    grown = replace(dataset, recipe={**dataset.recipe, "dilations": 4})
    assert _grown_twice(specs, grown) == {"propainter": "grows the masks once more (cross 4)"}
    assert _grown_twice(specs, replace(dataset, recipe={**dataset.recipe, "dilations": 0})) == {}


def test_edits_and_frames_that_are_not_there_mark_every_column(tiny: Named, dataset: Dataset) -> None:
    known = Films((f"{WIDTH}x{HEIGHT}",), ("full",), {})
    for facts, differs in (
        ({"edits": 3}, ["2 edits in the place of 3"]),
        ({"edits": 2, "all_frames": 2 * FRAMES}, []),
        ({"all_frames": 100}, [f"{2 * FRAMES} frames of all clips in the place of 100"]),
    ):
        more = tiny.model_copy(update={"expected": tiny.expected.model_copy(update=facts)})
        assert differences_of_data(more, dataset, known, given=AS_STATED, stated=AS_STATED) == differs


def test_later_printed_tables_are_shown_and_never_ranked(tiny: Named, results: dict[str, Results]) -> None:
    first = tiny.printed[0]
    second = first.model_copy(update={"source": "Table 9", "rows": {"Better elsewhere": ("99.0", "-")}})
    both = tiny.model_copy(update={"printed": (first, second)})
    drawn = standing(both, results, differences_of_columns(both, results, {}), [])
    rows = {str(row.cells[0].text): row.cells for row in drawn.rows}
    assert str(rows["Better elsewhere"][1].text) == "99.0"
    assert [name for name, cells in rows.items() if cells[1].strong] == ["Third one"]
    assert str(rows["Better elsewhere"][0].below) == "printed [2]"


def saved(folder: Path, label: str = "mine") -> MethodSpec:
    return _saved_folder(f"{label}={folder}")


def test_results_are_found_by_the_names_of_clips_or_items(dataset: Dataset, tmp_path: Path) -> None:
    rows = [dict(row) | {"source_uri": f"{group}/1"} for row, group in zip(dataset.items, ("mirror", "shadow"), strict=True)]
    grouped, results = replace(dataset, items=rows), tmp_path / "results"
    for path in ("mirror/1.mp4", "1.mp4", "1.txt"):
        (results / path).parent.mkdir(parents=True, exist_ok=True)
        (results / path).write_bytes(b"film")
    (results / rows[1]["item_id"]).mkdir()
    found = Path(_by_item(saved(results), grouped, tmp_path / "links").constants["folder"])
    assert {path.name: path.resolve() for path in found.iterdir()} == {
        f"{rows[0]['item_id']}.mp4": results / "mirror/1.mp4", rows[1]["item_id"]: results / rows[1]["item_id"],
    }  # fmt: skip
    (results / "mirror/1.mkv").write_bytes(b"film")
    with pytest.raises(InputError, match="several results of 'mirror/1'"):
        _by_item(saved(results), grouped, tmp_path / "links")
    for label in ("../victim", "/tmp/x", ".hidden"):
        with pytest.raises(UsageError, match="cannot be a file name"):
            saved(results, label)


def test_results_of_several_edits_of_a_clip_are_called_by_their_tasks_too(dataset: Dataset, tmp_path: Path) -> None:
    edits = [("colour", "bus"), ("material", "bus"), ("colour", "cat"), ("colour", "dog"), ("colour", "dog")]
    rows = [
        {"item_id": str(place), "attributes": {}, "source_uri": clip, "task": task} for place, (task, clip) in enumerate(edits)
    ]
    several = replace(dataset, items=rows)
    assert _called(several) == {"0": "colour/bus", "1": "material/bus", "2": "cat", "3": "3", "4": "4"}
    for path in ("colour/bus.mp4", "bus.mp4", "cat.mp4", "4.mp4"):
        (tmp_path / "results" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "results" / path).write_bytes(b"film")
    found = Path(_by_item(saved(tmp_path / "results"), several, tmp_path / "links").constants["folder"])
    assert {path.name for path in found.iterdir()} == {"0.mp4", "2.mp4", "4.mp4"}
    assert (found / "0.mp4").resolve() == tmp_path / "results/colour/bus.mp4"


def test_a_method_that_lacks_items_is_not_best(tiny: Named, workspace: Path, tmp_path: Path) -> None:
    shutil.copytree(workspace, tmp_path / "copy")
    folder, run = tmp_path / "copy/exports/benchmark", tmp_path / "copy/run"
    (tmp_path / "saved").mkdir()
    first = frozen.load(folder).items[0]
    write(tmp_path / "saved" / f"{first['item_id']}.mp4", films(0)["truths"])
    assert run_here("eval", "run", "--for", "predictions", folder, "--run", run, "--saved", f"half={tmp_path / 'saved'}",
                    "--keep-full-frames", "--workers", "0").returncode == 0  # fmt: skip
    run_here("eval", "run", "--for", "scores", folder, "--run", run, "--protocol", "e2fgvi", "--metric", "psnr", "--workers", "0")
    results = {"e2fgvi": results_of(run, folder, "e2fgvi")}
    drawn = standing(tiny, results, differences_of_columns(tiny, results, {}), [])
    cell = next(row.cells[1] for row in drawn.rows if row.cells[0].text == "half")
    assert cell.below == "lacks 1 item"
    assert "lacks 1 item" in comma_separated(drawn)
    assert not cell.strong


@pytest.mark.long
def test_one_command_goes_from_data_to_a_table(tmp_path: Path) -> None:
    of = named("davis-432")
    make(tmp_path / "DAVIS", of.tree[0])
    results = tmp_path / "results"
    for number in range(2):  # named as the clips are, as programs of papers write them
        write(results / f"clip_{number}" / "0.png", films(number)["truths"])
    words = ("bench", "davis-432", "--data", "DAVIS", "--method", "telea", "--saved", "mine=results", "--set", "size=64x48")
    done = run_here(*words, "--out", "table.tex", "--workers", "0", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "warning: no column compares with print: measured at 64x48 in the place of 432x240" in done.stderr
    assert "export verify" not in done.stdout, "what a build says of its dataset is no news here"
    assert done.stdout.count("does not compare with print: Ewarp x1000: flow of FlowNet2 there, DIS here\n") == 1
    text = (tmp_path / "table.tex").read_text()
    assert "measured at 64x48" in text
    assert r"\dagger" in text
    printed = of.printed[0]
    assert all(method.replace("&", r"\&") in text for method in printed.rows)
    assert "\nmine & " in text
    assert (tmp_path / "bench/davis-432/run/report/report.html").exists()
    again = run_here(*words, "--out", "table.csv", "--workers", "0", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    rows = list(csv.reader((tmp_path / "table.csv").read_text().splitlines()))
    assert {"telea", "mine", *printed.rows} <= {row[0] for row in rows}
    (tmp_path / "results" / "clip_1").rename(tmp_path / "results" / "clip_9")
    lacking = run_here(*words, "--slice", "all", "--out", "table.csv", "--workers", "0", cwd=tmp_path)
    assert "mine: 'clip_9' in 'results' is called as no clip; one is called 'clip_1'\n" in lacking.stderr
    assert "  clip_1: no prediction for item 'clip_1' in 'results'" in lacking.stdout
    refused = run_here(*words, "--slice", "mask-moved", "--out", "table.csv", "--workers", "0", cwd=tmp_path)
    assert "unknown slice 'mask-moved'" in refused.stderr
    assert "Slices: all, " not in refused.stdout


def test_wrong_use_is_told_before_any_work(tmp_path: Path) -> None:
    make(tmp_path / "data", named("prove-m").tree[0])
    (tmp_path / "taken.csv").mkdir()
    (tmp_path / "file").touch()
    words = ("bench", "prove-m", "--data", tmp_path / "data", "--method", "telea")
    for more, told in (
        (("--out", "table.png"), "has to end in"),
        (("--out", "t.tex", "--set", "sise=4x4"), "did you mean 'size'"),
        (("--out", "t.tex", "--set", "size"), "is not OPTION=VALUE"),
        (("--out", "t.tex", "--method", "tela"), "did you mean 'telea'"),
        (("--out", "t.tex", "--saved", "mine=nowhere"), "nowhere"),
        (("--out", "t.tex", "--saved", "a=data", "--saved", "a=data"), "two methods are called 'a'"),
        (("--out", "t.tex", "--set", "dilations=3"), "option of PROVE-M"),
        (("--out", "t.tex", "--tree", "9"), "PROVE-M has 1 tree;"),
        (("--out", "taken.csv"), "'taken.csv' is a folder, and a file is wanted there"),
        (("--out", "file/t.tex"), "'file' is a file, and a folder is wanted there"),
        (("--out", "t.tex", "--slice", "objects-0-3"), "PROVE-M has no slice 'objects-0-3'; those that it can have are all, "),
        (("--out", "t.tex", "--columns", "clip=a", "--columns", "task=b"), "--columns is given 2 times"),
    ):
        done = run_here(*words, *more, cwd=tmp_path)
        assert done.returncode in (1, 2)
        assert told in done.stderr
        assert not (tmp_path / "bench").exists()


@pytest.mark.long
@pytest.mark.parametrize("name", names())
def test_every_benchmark_goes_from_a_tree_after_its_card_to_a_table(name: str, tmp_path: Path) -> None:
    of = named(name)
    make(tmp_path / "data", of.tree[0])
    method = "edit_recolour" if of.recipe == "editing" else "telea"
    small = ("--set", "size=64x48") if of.options.size else ()
    words = ("--data", tmp_path / "data", "--method", method, *small, "--no-report", "--workers", "0")
    done = run_here("bench", name, *words, "--out", "table.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    heads, *rows = list(csv.reader((tmp_path / "table.csv").read_text().splitlines()))
    labels = [re.sub(r" [↑↓]( †)?$", "", head) for head in heads if re.search(r" [↑↓]( †)?$", head)]
    assert labels == [column.label for column in of.column]
    assert [row[0] for row in rows] == [*(method for table in of.printed for method in table.rows), method]
    slices = done.stdout.partition("Slices: ")[2].partition("\n")[0].split(", ")
    assert slices[0] == "all"
    assert all(re.match(rf"({_SLICES[of.recipe]})-", part) for part in slices[1:])
